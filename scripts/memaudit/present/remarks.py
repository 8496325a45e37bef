"""What tables and figures say about their numbers: how many packages, and which are special."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import pandas as pd

from .results import focus_budget

# Memories that retrieval takes in the deterministic decomposition (protocol).
_RETRIEVED = 3
Label = Callable[[str], str]


def all_packages(summary: pd.DataFrame) -> pd.DataFrame:
    """The summary with n the number of packages, those without a ratio included."""
    return summary.assign(n=summary["n"] + summary["undefined_n"] + summary["n_unproven"])


def n_text(frame: pd.DataFrame) -> str:
    """`n = 500 packages`: the n of most writers (columns writer, n), as a range where it differs by row."""
    return f"n = {_range(*_usual(_ranges(frame)))}"


def curves_n_text(curves: pd.DataFrame) -> str:
    """The same for mean curves (columns distribution, pool, n)."""
    return f"n = {_range(int(curves['n'].min()), int(curves['n'].max()))}"


def curves_notes(curves: pd.DataFrame, label: Label) -> list[str]:
    """Where points are, and which pools' curves are not proven for all packages."""
    marks = ["Points: declared budgets."] if curves["budget_spec"].notna().any() else []
    missing = curves.groupby(["pool", "distribution"])["unproven_n"].max().groupby("pool").sum()
    named = ", ".join(f"{count:,} of {label(pool).lower()}" for pool, count in missing.items() if count)
    return marks + ([f"Left out because the curve is not proven: {named}."] if named else [])


def n_notes(frame: pd.DataFrame, label: Label) -> list[str]:
    """The writers with another n than most (learned writers are scored on odd seeds only)."""
    ranges = _ranges(frame)
    usual = _usual(ranges)
    return [f"{label(name)}: n = {_range(*ends)}." for name, ends in ranges.items() if ends != usual]


def _ranges(frame: pd.DataFrame) -> dict[str, tuple[int, int]]:
    counts = frame.groupby("writer")["n"].agg(["min", "max"])
    return {name: (int(low), int(high)) for name, low, high in counts.itertuples()}


def _usual(ranges: dict[str, tuple[int, int]]) -> tuple[int, int]:
    often = Counter(ranges.values())
    return max(often, key=lambda ends: (often[ends], ends))


def _range(low: int, high: int) -> str:
    if low == high:
        return f"{low:,} package{'' if low == 1 else 's'}"
    return f"{low:,} to {high:,} packages"


def opt_zero_notes(frame: pd.DataFrame, what: str = "where every writer scores 1") -> list[str]:
    """At which budgets packages have OPT = 0 (protocol, "Edge cases"); `what`: what that means for what is shown.

    `frame`: rows of the summary.
    """
    found = _by_budget(frame, "opt_zero_n")
    return [f"Packages with OPT = 0, {what}: {found}."] if found else []


# For means of masses and counts, in which such packages count like any other.
NOTHING_FITS = "as no candidate of any value fits the budget (they are in the means)"


def focus_notes(budgets: Sequence[int]) -> list[str]:
    """Which budget a figure of one budget shows."""
    ordered = sorted(set(budgets))
    if len(ordered) < 2:
        return []
    shown = focus_budget(ordered)
    place = "the third smallest" if shown != ordered[-1] else "the largest" if len(ordered) > 2 else "the larger"
    return [f"B = {shown:,} is {place} of {len(ordered)} budgets; the tables have all."]


def retrieval_notes(summary: pd.DataFrame) -> list[str]:
    """That three memories out of many are few, where writers keep many."""
    most = summary["mean_selected"].max()
    if not most > 2 * _RETRIEVED:
        return []
    return [
        f"Writers keep up to {most:,.0f} memories on average, and three are retrieved whatever is stored: most of "
        f"the retrieval failure follows from that."
    ]


def left_out_notes(frame: pd.DataFrame) -> list[str]:
    """At which budgets packages have no ratio, and why."""
    reasons = {
        "undefined_n": "Left out because the ratio is undefined",
        "n_unproven": "Left out because the optimum is not proven",
    }
    found = {text: _by_budget(frame, column) for column, text in reasons.items()}
    return [f"{text}: {counts}." for text, counts in found.items() if counts]


def _by_budget(frame: pd.DataFrame, column: str) -> str:
    most = frame.groupby("budget")[column].max()
    return ", ".join(f"{count:,} at B = {budget:,}" for budget, count in most.items() if count > 0)
