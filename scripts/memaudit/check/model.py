"""One selection problem in exact fractions, its integer form, and the exact judgement of a selection.

This is a second implementation on purpose. It shares no code with the objective or the solver that it
checks, so that a fault there cannot hide here.

    F(X) = sum_r w_r * h(sum_{u in X} a_ur),  cost(X) <= budget,  at most k candidates of a group

(protocol, "Package"). F is scaled by the product of the weights' and h's common denominators, so that both
solvers work on integers; values leave this module as fractions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise

from ..errors import InputError

# Integers up to here are exact as doubles, which the MIP solvers and CP-SAT's objective report.
EXACT_DOUBLE = 2**53
# A solver's limit counts seconds, deterministic ones where it can; after so many times as many of the clock it stops
# whatever it counts.
PATIENCE = 10


@lru_cache(maxsize=1 << 16)
def decimal(number: float) -> Fraction:
    """The shortest decimal that reads back as `number`, as a fraction: 0.1 is 1/10."""
    return Fraction(repr(float(number)))


@dataclass(frozen=True)
class Curve:
    """A concave, nondecreasing h with h(0) = 0: straight between `points` (z, h), then `last_slope`."""

    points: tuple[tuple[Fraction, Fraction], ...]
    last_slope: Fraction

    def __call__(self, z: Fraction) -> Fraction:
        """h(z) on the segment that z >= 0 lies in."""
        for end, slope, intercept in self._segments:
            if end is None or z <= end:
                return slope * z + intercept
        raise AssertionError("the last segment has no end")

    @cached_property
    def _segments(self) -> tuple[tuple[Fraction | None, Fraction, Fraction], ...]:
        """(end, slope, intercept) of each straight part; the last one has no end."""
        slopes = [(h1 - h0) / (z1 - z0) for (z0, h0), (z1, h1) in pairwise(self.points)]
        ends = [z for z, _ in self.points[1:]]
        parts = zip([*ends, None], [*slopes, self.last_slope], self.points, strict=True)
        return tuple((end, slope, h0 - slope * z0) for end, slope, (z0, h0) in parts)

    @property
    def lines(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """(slope, intercept) of the lines whose minimum is h, steepest first."""
        return tuple(dict.fromkeys((slope, intercept) for _, slope, intercept in self._segments))


_ORIGIN = (Fraction(0), Fraction(0))
_NAMED = {
    "cap1": Curve((_ORIGIN, (Fraction(1), Fraction(1))), Fraction(0)),
    "linear": Curve((_ORIGIN,), Fraction(1)),
}


def curve(name: str, definition: str | Sequence[Sequence[float]]) -> Curve:
    """The saturation `name`, defined by "cap1", "linear" or breakpoints [[z, h], ...] (flat after the last).

    Raises InputError on an unknown name, or on breakpoints that do not start at [0, 0] or do not give a
    concave, nondecreasing h.
    """
    if isinstance(definition, str):
        if definition not in _NAMED:
            raise InputError(f"saturation {name}: {definition!r} is not one of {sorted(_NAMED)}; give breakpoints")
        return _NAMED[definition]
    points = tuple((decimal(z), decimal(h)) for z, h in definition)
    made = Curve(points, Fraction(0))
    increasing = all(a[0] < b[0] for a, b in pairwise(points))
    if len(points) < 2 or points[0] != _ORIGIN or not increasing:
        raise InputError(f"saturation {name}: breakpoints must go from [0, 0] on with increasing z")
    slopes = [slope for slope, _ in made.lines]
    if slopes != sorted(slopes, reverse=True):
        raise InputError(f"saturation {name}: the breakpoints are not concave and nondecreasing")
    return made


@dataclass(frozen=True, eq=False)
class Problem:
    """One problem, but for its budget. Positions 0..n-1 are the candidates in the protocol's order: groups
    one after the other, inside a group by (cost, id).

    `label` names it in errors. `groups`: positions of each group. `coverage`: per candidate, unit index to
    a value in (0, 1]. `weights`: one a unit. `costs` are whole cost units. The budget is given apart, since a
    problem is asked under several.
    """

    label: str
    candidate_ids: tuple[str, ...]
    groups: tuple[range, ...]
    costs: tuple[int, ...]
    coverage: tuple[Mapping[int, Fraction], ...]
    weights: tuple[Fraction, ...]
    saturation: Curve
    k: int

    @cached_property
    def position(self) -> dict[str, int]:
        return {candidate_id: i for i, candidate_id in enumerate(self.candidate_ids)}

    def positions(self, candidate_ids: Iterable[str]) -> tuple[int, ...]:
        """Sorted positions of the ids; KeyError names one that is not in the problem."""
        return tuple(sorted(self.position[c] for c in candidate_ids))

    def value(self, selection: Iterable[int]) -> Fraction:
        """F of a selection of positions."""
        mass: dict[int, Fraction] = {}
        for i in selection:
            for unit, a in self.coverage[i].items():
                mass[unit] = mass.get(unit, 0) + a
        return sum((self.weights[unit] * self.saturation(z) for unit, z in mass.items()), Fraction(0))

    def cost(self, selection: Iterable[int]) -> int:
        """Total cost of a selection of positions."""
        return sum(self.costs[i] for i in selection)

    def breach(self, selection: Sequence[int], budget: int) -> str | None:
        """Why a selection of positions is not feasible within `budget`; None where it is."""
        if len(set(selection)) < len(selection):
            return "a candidate is chosen twice"
        if self.cost(selection) > budget:
            return f"it costs {self.cost(selection)} of a budget of {budget}"
        chosen = set(selection)
        for group in self.groups:
            members = [self.candidate_ids[i] for i in group if i in chosen]
            if len(members) > self.k:
                return f"it holds {', '.join(members)} of one group, more than k = {self.k}"
        return None

    @cached_property
    def scaled(self) -> Scaled:
        """The problem in integers; InputError where they pass 2^53."""
        return _scale(self)


@dataclass(frozen=True)
class Scaled:
    """A problem in integers; equal objects are equal problems, position by position.

    F = F_int / scale with F_int = sum_r weights[r] * min over lines (slope, intercept) of
    (slope * z_r + intercept), z_r the summed `coverage` (unit, integer value) of the chosen.
    """

    group_sizes: tuple[int, ...]
    costs: tuple[int, ...]
    coverage: tuple[tuple[tuple[int, int], ...], ...]
    weights: tuple[int, ...]
    lines: tuple[tuple[int, int], ...]
    scale: int
    k: int

    def h(self, z: int) -> int:
        return min(slope * z + intercept for slope, intercept in self.lines)

    @cached_property
    def columns(self) -> dict[int, list[tuple[int, int]]]:
        """Per unit that has weight and coverage: (candidate, integer coverage)."""
        columns: dict[int, list[tuple[int, int]]] = {}
        for i, row in enumerate(self.coverage):
            for unit, a in row:
                if self.weights[unit]:
                    columns.setdefault(unit, []).append((i, a))
        return columns

    def value(self, selection: Iterable[int]) -> int:
        """F_int of a selection of positions."""
        mass = [0] * len(self.weights)
        for i in selection:
            for unit, a in self.coverage[i]:
                mass[unit] += a
        return sum(w * self.h(z) for w, z in zip(self.weights, mass, strict=True))


def _scale(problem: Problem) -> Scaled:
    weight_scale = _common_denominator(problem.weights)
    cell_scale = _common_denominator(a for row in problem.coverage for a in row.values())
    lines = [(slope / cell_scale, intercept) for slope, intercept in problem.saturation.lines]
    line_scale = _common_denominator(number for line in lines for number in line)
    scaled = Scaled(
        group_sizes=tuple(map(len, problem.groups)),
        costs=problem.costs,
        coverage=tuple(
            tuple((unit, _times(row[unit], cell_scale)) for unit in sorted(row)) for row in problem.coverage
        ),
        weights=tuple(_times(w, weight_scale) for w in problem.weights),
        lines=tuple((_times(slope, line_scale), _times(intercept, line_scale)) for slope, intercept in lines),
        scale=weight_scale * line_scale,
        k=problem.k,
    )
    largest = _largest_number(scaled)
    if largest >= EXACT_DOUBLE:
        raise InputError(
            f"{problem.label}: weights and coverages need integers up to {largest}, above 2^53; the "
            f"check cannot hold them exactly; use fewer decimals"
        )
    return scaled


def _common_denominator(numbers: Iterable[Fraction]) -> int:
    return math.lcm(1, *{number.denominator for number in numbers})


def _times(number: Fraction, scale: int) -> int:
    """number * scale, which is whole by the choice of scale."""
    return number.numerator * (scale // number.denominator)


def _largest_number(scaled: Scaled) -> int:
    """The largest sum that a model of `scaled` can contain: value, cost, or one line of one unit."""
    totals = [0] * len(scaled.weights)
    for row in scaled.coverage:
        for unit, a in row:
            totals[unit] += a
    value = sum(w * scaled.h(z) for w, z in zip(scaled.weights, totals, strict=True))
    most = max(totals, default=0)
    line = max(slope * most + intercept for slope, intercept in scaled.lines)
    return max(value, line, sum(scaled.costs))


@dataclass(frozen=True)
class Answer:
    """What a solver says of a problem. status "optimal": it proved `value`; "limit": it stopped before.

    `value` is the exact worth of `selected` (candidate ids; recomputed, not the solver's word), None where
    the solver has no usable selection; `bound` is its upper bound, None where it has none.
    """

    status: str
    value: Fraction | None
    bound: Fraction | None
    selected: tuple[str, ...]


def answer(problem: Problem, budget: int, selection: Sequence[int] | None, bound_int: int | None) -> Answer:
    """The Answer that a selection (positions) and an upper bound on F_int amount to: optimal where they meet.

    Value and feasibility are recomputed in integers. An infeasible selection is no answer (status limit).
    """
    bound = None if bound_int is None else Fraction(bound_int, problem.scaled.scale)
    if selection is None or problem.breach(selection, budget):
        return Answer("limit", None, bound, ())
    value_int = problem.scaled.value(selection)
    return Answer(
        "optimal" if value_int == bound_int else "limit",
        Fraction(value_int, problem.scaled.scale),
        bound,
        tuple(problem.candidate_ids[i] for i in selection),
    )
