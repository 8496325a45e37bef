"""The figure of suites with exported stores: a panel a store, what was kept beside the best that could be kept."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from . import style
from .drawing import grid, note, panels_of, title
from .registry import figure
from .results import NothingToShow, Results
from .store_tables import MIN_EXAMPLES, RULE_LABELS, cost_text, demonstrations, has_stores, judgements

_UPPER = "upper_exact"
_NO_RATIO = "no ratio"
# Ratio -> the column with its number of examples, and what F is divided by.
_RATIOS = {"union_ratio": ("n", "OPT of the union"), "joint_ratio": ("joint_n", "OPT of the joint union")}
# Inches of one budget's two bars, of the least and the widest panel, and of a page.
_BARS, _LEAST, _WIDEST, _PAGE = 0.24, 2.3, 6.9, 7.4
_COLOURS = {"upper": style.SKY, "kept": style.BLUE}


@figure(has_stores)
def store_diagnostic(results: Results, suite: str):
    """Ratio by budget of a store's exact best subset and of what was kept: the joint ratio of compared stores."""
    from matplotlib.patches import Patch

    frame = results.natural("store_summary", suite)
    told = results.natural("store_diagnosis", suite)
    info = results.info.suite(suite)
    parts = [(store, _first_setting(results, suite, frame[frame["store"] == store.name])) for store in info.stores]
    parts = [(store, part) for store, part in parts if part is not None and part[_ratio_of(part)].notna().any()]
    if not parts:
        raise NothingToShow(f"suite {suite!r}: no exported store has a union ratio; there is nothing to draw")
    # Demonstrations are not to be compared: each has axes of its own, one below the other.
    apart = any(store.demonstration for store, _ in parts)
    most = max(part["budget"].nunique() for _, part in parts)
    width = min(max(_LEAST, _BARS * most + 0.3), _WIDEST)
    rows, columns = grid(len(parts), 1 if apart else min(3, int(_PAGE / width)))
    fig, axes = style.new_figure(max(width * columns + 0.5, 4.2), 2.15 * rows + 1.4, rows, columns, sharey=not apart)
    ratios, unlabelled = {_ratio_of(part) for _, part in parts}, False
    for i, (ax, (store, part)) in enumerate(zip(panels_of(axes, len(parts)), parts, strict=True)):
        kept = told[(told["store"] == store.name) & told["diagnosed"]]["rule"]
        # Where no rule was kept by that a system follows, the whole store is what there is.
        rule = kept.iloc[0] if len(kept) else "full_store"
        budgets, ratio = sorted(set(part["budget"])), _ratio_of(part)
        counted, over = _RATIOS[ratio]
        for side, (name, shift) in {"upper": (_UPPER, -0.2), "kept": (rule, 0.2)}.items():
            own = part[part["rule"] == name].set_index("budget").reindex(budgets)
            x = [at + shift for at in range(len(budgets))]
            ax.bar(x, own[ratio], width=0.38, color=_COLOURS[side])
            low, high = (own[f"{ratio}_{end}"].where(own[counted] >= MIN_EXAMPLES) for end in ("low", "high"))
            ax.vlines(x, low, high, color=style.DARK_GREY, linewidth=0.8)
            _without_height(ax, x, own[ratio])
        fewest = part[part["rule"].isin([_UPPER, rule])].groupby("budget")[counted].min()
        most = part["examples"].max()
        few = {b: f"\nn = {n:,}" for b, n in fewest.items() if n < most}
        unlabelled |= _label_budgets(ax, [f"{b}{few.get(b, '')}" for b in budgets], width)
        ax.set_xlim(-0.6, len(budgets) - 0.4)
        ax.set_ylim(0, 1.04)
        ax.grid(axis="y")
        shown = " (demonstration)" if store.demonstration else ""
        judged = f"\ncoverage: {store.judge}" if store.judge else ""
        model = cost_text(part["cost_model"].iloc[0], part)
        mixed = f"\nF / {over}" if len(ratios) > 1 else ""
        ax.set_title(f"{store.name}{shown}\nkept by: {RULE_LABELS[rule].lower()}\n{model}{mixed}{judged}", fontsize=6.5)
        if i % columns == 0:
            ax.set_ylabel(
                "F / OPT (above each panel)" if mixed else f"{ratio.split('_')[0].capitalize()} ratio, F / {over}"
            )
        if apart or i + columns >= len(parts):
            ax.set_xlabel("Budget B")
    names = {"upper": "Best subset of the store (exact)", "kept": "What was kept"}
    handles = [Patch(color=_COLOURS[side], label=name) for side, name in names.items()]
    fig.legend(handles=handles, loc="outside lower left", ncols=2)
    n = int(max(part["examples"].max() for _, part in parts))
    examples = f"n = {n} example{'s' * (n != 1)}"
    title(fig, results, suite, "Exported stores: kept and keepable", f"{examples} or fewer", of_setting=False)
    note(fig, [
        "Both bars low: the store lacks what matters, or holds it only in memories that are too long for B (table "
        "store_diagnosis tells these apart). A high one beside a low one: what was kept is ill chosen. Lines: 95 % "
        f"interval of the mean (of {MIN_EXAMPLES} examples or more). No ratio: the optimum is 0 in all examples, or "
        "not proven; n below a budget: fewer have a ratio.",
        *(text for ratio, text in _DENOMINATORS.items() if ratio in ratios),
        *(["Some budgets have no room for a label, or their n; table external_denominators has all."] * unlabelled),
        *filter(None, [_costs(results, suite), demonstrations(results, suite), judgements(results, suite)]),
    ])  # fmt: skip
    return fig


_DENOMINATORS = {
    "union_ratio": "OPT of the union: of the package and this store; another denominator for every store.",
    "joint_ratio": "OPT of the joint union: of the package and all compared stores; one denominator for all of them.",
}


def _ratio_of(part: pd.DataFrame) -> str:
    """The joint ratio of a store that is compared, else the union ratio."""
    return "joint_ratio" if part["joint_ratio"].notna().any() else "union_ratio"


def _label_budgets(ax, labels: Sequence[str], inches: float) -> bool:
    """Ticks at all budgets, with as many labels as the panel has room for side by side; whether some have none."""
    letters = max(len(line) for label in labels for line in label.split("\n"))
    step = math.ceil(len(labels) * (0.075 * letters + 0.06) / inches)
    ax.set_xticks(range(len(labels)), [label if i % step == 0 else "" for i, label in enumerate(labels)])
    return step > 1


def _without_height(ax, x: Sequence[float], ratios: pd.Series) -> None:
    """Write where a bar is that has no height: a ratio of 0, or none."""
    for at, ratio in zip(x, ratios, strict=True):
        if pd.isna(ratio) or ratio == 0:
            text = _NO_RATIO if pd.isna(ratio) else "0"
            ax.annotate(
                text, (at, 0), xytext=(0, 1.5), textcoords="offset points", ha="center", va="bottom", fontsize=6,
                rotation=90 if text == _NO_RATIO else 0, color=style.DARK_GREY,
            )  # fmt: skip


def _costs(results: Results, suite: str) -> str:
    """Which cost model is shown, where there are several."""
    models = list(dict.fromkeys(s.cost_model for s in results.info.suite(suite).settings))
    if len(models) == 1:
        return ""
    return f"Of the cost models {', '.join(models)} the first that a store has is shown; the tables have all."


def _first_setting(results: Results, suite: str, frame: pd.DataFrame) -> pd.DataFrame | None:
    """The rows of all views together in the suite's first setting that the store has."""
    for s in results.info.suite(suite).settings:
        own = frame["cost_model"].eq(s.cost_model) & frame["k"].eq(s.k) & frame["saturation"].eq(s.saturation)
        part = frame[own & frame["view"].eq("")]
        if len(part):
            return part
    return None
