"""How a range of the budgets that were scored is called in sentences."""

from __future__ import annotations

from collections.abc import Sequence


def budget_range(budgets: Sequence[int], scored: Sequence[int]) -> str:
    """The range `budgets` among all that were scored, both ascending; the last of several budgets is open."""
    if len(budgets) == 1:
        return f"at {budgets[0]}"
    if len(budgets) == len(scored):
        return f"at all budgets, {budgets[0]} to {budgets[-1]}"
    return f"from {budgets[0]}" if budgets[-1] == scored[-1] else f"at {budgets[0]} to {budgets[-1]}"
