"""The figure of suites with exported stores: a panel a store, what was kept beside the best that could be kept."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from . import style
from .drawing import grid, note, panels_of, title
from .registry import figure
from .results import NothingToShow, Results
from .store_tables import MIN_EXAMPLES, RULE_LABELS, cost_text, demonstrations, has_stores, judgements

_UPPER = "upper_exact"
_NO_RATIO = "no ratio"
_COLOURS = {"upper": style.SKY, "kept": style.BLUE}


@figure(has_stores)
def store_diagnostic(results: Results, suite: str):
    """Union ratio by budget of the exact best subset of a store and of what was kept of it."""
    from matplotlib.patches import Patch

    frame = results.natural("store_summary", suite)
    told = results.natural("store_diagnosis", suite)
    info = results.info.suite(suite)
    parts = [(store, _first_setting(results, suite, frame[frame["store"] == store.name])) for store in info.stores]
    parts = [(store, part) for store, part in parts if part is not None and part["union_ratio"].notna().any()]
    if not parts:
        raise NothingToShow(f"suite {suite!r}: no exported store has a union ratio; there is nothing to draw")
    # Demonstrations are not to be compared: each has axes of its own, one below the other.
    apart = any(store.demonstration for store, _ in parts)
    rows, columns = grid(len(parts), 1 if apart else 3)
    fig, axes = style.new_figure(max(2.3 * columns + 0.5, 4.2), 2.15 * rows + 1.4, rows, columns, sharey=not apart)
    for i, (ax, (store, part)) in enumerate(zip(panels_of(axes, len(parts)), parts, strict=True)):
        kept = told[(told["store"] == store.name) & told["diagnosed"]]["rule"]
        # Where no rule was kept by that a system follows, the whole store is what there is.
        rule = kept.iloc[0] if len(kept) else "full_store"
        budgets = sorted(set(part["budget"]))
        for side, (name, shift) in {"upper": (_UPPER, -0.2), "kept": (rule, 0.2)}.items():
            own = part[part["rule"] == name].set_index("budget").reindex(budgets)
            x = [at + shift for at in range(len(budgets))]
            ax.bar(x, own["union_ratio"], width=0.38, color=_COLOURS[side])
            low, high = (own[f"union_ratio_{end}"].where(own["n"] >= MIN_EXAMPLES) for end in ("low", "high"))
            ax.vlines(x, low, high, color=style.DARK_GREY, linewidth=0.8)
            _without_height(ax, x, own["union_ratio"])
        fewest = part[part["rule"].isin([_UPPER, rule])].groupby("budget")["n"].min()
        most = part["examples"].max()
        few = {b: f"\nn = {n:,}" for b, n in fewest.items() if n < most}
        ax.set_xticks(range(len(budgets)), [f"{b}{few.get(b, '')}" for b in budgets])
        ax.set_xlim(-0.6, len(budgets) - 0.4)
        ax.set_ylim(0, 1.04)
        ax.grid(axis="y")
        shown = " (demonstration)" if store.demonstration else ""
        judged = f"\ncoverage: {store.judge}" if store.judge else ""
        model = cost_text(part["cost_model"].iloc[0], part)
        ax.set_title(f"{store.name}{shown}\nkept by: {RULE_LABELS[rule].lower()}\n{model}{judged}", fontsize=6.5)
        if i % columns == 0:
            ax.set_ylabel("Union ratio, F / OPT of the union")
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
        f"interval of the mean (of {MIN_EXAMPLES} examples or more). Each store has a denominator of its own. No "
        "ratio: the optimum of the union is 0 in all examples, or not proven; n below a budget: fewer have a ratio.",
        *filter(None, [_costs(results, suite), demonstrations(results, suite), judgements(results, suite)]),
    ])  # fmt: skip
    return fig


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
