"""What a selection is worth, measured a second time: value, cost, covered masses, queries (protocol, "Metrics")."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .model import Problem
from .rows import PackageRows

_VALIDITY = ("tombstone", "compound_update")
_ROLES = ("current", "invalidation", "stale")
_FIXED_RETRIEVED = 3
# The columns of table `scores` that follow from the package and the selection, in the order of Worth.columns.
COLUMNS = (
    "cost",
    "n_selected",
    "n_validity_selected",
    *(f"{role}_covered" for role in _ROLES),
    *(f"{role}_mass" for role in _ROLES),
    "retrieved_fixed",
    "queries",
    "queries_covered",
)


@dataclass(frozen=True)
class Worth:
    """F as an exact fraction, the columns of `COLUMNS`, and why it may not be kept (whatever the budget)."""

    value: Fraction
    columns: tuple
    breach: str | None

    @property
    def named(self) -> dict[str, int | float]:
        """The columns by name."""
        return dict(zip(COLUMNS, self.columns, strict=True))


class Meter:
    """Measures selections of one package on the full pool; remembers those seen.

    `problem`: the package under a setting; `required`: unit ids by query, of queries that require any.
    """

    def __init__(self, package: PackageRows, problem: Problem, required: Mapping[str, Sequence[str]]):
        self._problem, form = problem, problem.scaled
        rows = {row.candidate_id: row for row in package.candidates}
        ordered = [rows[candidate_id] for candidate_id in problem.candidate_ids]
        unit = {unit_id: i for i, unit_id in enumerate(package.unit_ids)}
        # Coverage 1 in the integers of `form.coverage`.
        self._one = math.lcm(1, *{a.denominator for row in problem.coverage for a in row.values()})
        self._validity = tuple(row.representation_type in _VALIDITY for row in ordered)
        recency = sorted(
            range(len(ordered)), key=lambda i: (-ordered[i].time_index, problem.costs[i], problem.candidate_ids[i])
        )
        self._recency = tuple(rank for _, rank in sorted((i, rank) for rank, i in enumerate(recency)))
        self._roles = package.roles
        self._queries = tuple(tuple(unit[u] for u in units) for _, units in sorted(required.items()))
        self._seen: dict[tuple[int, ...], Worth] = {}
        self._content = (form, self._validity, self._recency, self._roles, self._queries)

    @property
    def content(self) -> tuple:
        """Meters of equal content measure equal positions equally."""
        return self._content

    def of(self, positions: tuple[int, ...]) -> Worth:
        if positions not in self._seen:
            self._seen[positions] = self._measure(positions)
        return self._seen[positions]

    def _measure(self, positions: tuple[int, ...]) -> Worth:
        form, one = self._problem.scaled, self._one
        mass = self._mass(positions)
        recent = sorted(positions, key=self._recency.__getitem__)[:_FIXED_RETRIEVED]
        retrieved = self._covered(self._mass(recent))
        covered = self._covered(mass)
        value = sum(form.weights[unit] * form.h(z) for unit, z in mass.items())
        columns = (
            sum(form.costs[i] for i in positions),
            len(positions),
            sum(self._validity[i] for i in positions),
            *(covered[role] / one for role in _ROLES),
            *(float(self._roles.count(role)) for role in _ROLES),
            (retrieved["current"] + retrieved["invalidation"]) / one,
            len(self._queries),
            sum(all(mass.get(unit, 0) >= one for unit in units) for units in self._queries),
        )
        return Worth(Fraction(value, form.scale), columns, self._problem.breach(positions, sum(form.costs)))

    def _mass(self, positions: Iterable[int]) -> dict[int, int]:
        """Summed integer coverage by unit."""
        mass: dict[int, int] = {}
        for i in positions:
            for unit, a in self._problem.scaled.coverage[i]:
                mass[unit] = mass.get(unit, 0) + a
        return mass

    def _covered(self, mass: Mapping[int, int]) -> dict[str, int]:
        covered = dict.fromkeys(_ROLES, 0)
        for unit, z in mass.items():
            if self._roles[unit] in covered:
                covered[self._roles[unit]] += min(z, self._one)
        return covered
