"""The figure of suites with exported stores: a panel a store, what was kept beside the best that could be kept."""

from __future__ import annotations

import pandas as pd

from . import style
from .drawing import grid, note, panels_of, title
from .registry import figure
from .results import NothingToShow, Results
from .store_tables import RULE_LABELS, cost_text, demonstrations, has_stores, judgements

_UPPER = "upper_exact"
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
    fig, axes = style.new_figure(max(2.3 * columns + 0.5, 4.2), 2.15 * rows + 1.1, rows, columns, sharey=not apart)
    for i, (ax, (store, part)) in enumerate(zip(panels_of(axes, len(parts)), parts, strict=True)):
        kept = told[(told["store"] == store.name) & told["diagnosed"]]["rule"]
        rule = kept.iloc[0] if len(kept) else "recency"
        budgets = sorted(set(part["budget"]))
        for side, (name, shift) in {"upper": (_UPPER, -0.2), "kept": (rule, 0.2)}.items():
            own = part[part["rule"] == name].set_index("budget").reindex(budgets)
            x = [at + shift for at in range(len(budgets))]
            ax.bar(x, own["union_ratio"], width=0.38, color=_COLOURS[side])
            ax.vlines(x, own["union_ratio_low"], own["union_ratio_high"], color=style.DARK_GREY, linewidth=0.8)
        ax.set_xticks(range(len(budgets)), [str(b) for b in budgets])
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
    title(fig, results, suite, "Exported stores: kept and keepable", f"n = {n} examples at most", of_setting=False)
    note(fig, [
        "Both bars low: the store lacks what matters, or holds it in memories above B. A high one beside a low one: "
        "what was kept is ill chosen. Lines: 95 % interval of the mean. Each store has a denominator of its own.",
        *(text for text in (demonstrations(results, suite), judgements(results, suite)) if text),
    ])  # fmt: skip
    return fig


def _first_setting(results: Results, suite: str, frame: pd.DataFrame) -> pd.DataFrame | None:
    """The rows of all views together in the suite's first setting that the store has."""
    for s in results.info.suite(suite).settings:
        own = frame["cost_model"].eq(s.cost_model) & frame["k"].eq(s.k) & frame["saturation"].eq(s.saturation)
        part = frame[own & frame["view"].eq("")]
        if len(part):
            return part
    return None
