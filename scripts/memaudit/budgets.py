"""Budgets: from their YAML spelling to whole cost units (protocol, "Budgets")."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from .errors import InputError
from .package import Package


def mean_total_cost(packages: Sequence[Package]) -> Fraction:
    """Mean over packages of the total cost of all candidates, exactly; InputError for no package."""
    if not packages:
        raise InputError("a fraction budget needs packages to take the mean total cost of, and the suite has none")
    return Fraction(sum(p.total_cost for p in packages), len(packages))


def is_fraction(spec: str) -> bool:
    """A spelling with a decimal point or exponent is a fraction, else it is absolute."""
    return not spec.isdigit()


def absolute(spec: str, mean: Fraction) -> int:
    """Whole cost units of a budget: itself, or max(1, fraction * mean rounded half to even)."""
    return max(1, round(Fraction(Decimal(spec)) * mean)) if is_fraction(spec) else int(spec)


def amounts(specs: Sequence[str], mean: Fraction) -> dict[int, str]:
    """Amount -> the first of `specs` that comes to it, in declared order: duplicates are merged."""
    first: dict[int, str] = {}
    for spec in specs:
        first.setdefault(absolute(spec, mean), spec)
    return first


def budget_rows(suite: str, cost_model: str, specs: Sequence[str], mean: Fraction) -> dict[str, list]:
    """Columns of table `budgets`: in declared order, a later spec of the same budget merges into the first."""
    first = amounts(specs, mean)
    budgets = [absolute(spec, mean) for spec in specs]
    n = len(specs)
    return {
        "suite": [suite] * n,
        "cost_model": [cost_model] * n,
        "budget_spec": list(specs),
        "budget": budgets,
        "merged_into": [first[budget] for budget in budgets],
        "mean_total_cost": [float(mean)] * n,
        "fraction": [float(s) if is_fraction(s) else None for s in specs],
    }
