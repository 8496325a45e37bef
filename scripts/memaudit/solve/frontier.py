"""The whole value-budget curve in one pass: components by labels (labels.py), added up by max-plus (merge.py).

A limit counts comparisons and bytes, never seconds: the same call gives the same answer everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import InputError
from ..objective import Instance
from .bnb import Solution, better, solve
from .labels import MEMORY, OK, component_curves, passing_order
from .merge import add_up, walk
from .reduce import Options, components, options_of, reduced

DEFAULT_WORK_LIMIT = 2_000_000_000
MEMORY_LIMIT = 1 << 30  # bytes, of labels and of curves each
MIN_BLOCK = 1  # components between kept curves: fewer make a selection faster, more take less memory


class LimitReached(Exception):
    """The work or memory limit was reached; no curve was proven, or no selection of one."""

    def __init__(self, message: str = "", asked: tuple[Instance, int, int] | None = None):
        """`asked`: the instance, largest budget and k of the curve, where it was not proven."""
        super().__init__(message)
        self._asked = asked

    @cached_property
    def limited(self) -> Solution | None:
        """Of a curve that was not proven: a selection at the largest budget, with a proven bound at most the linear
        relaxation's. Found when first read, since callers that go on to another search do not need it."""
        from .dense import solve_dense  # loaded only where it is used (choose.py)

        if self._asked is None:
            return None
        instance, budget, k = self._asked
        return better(solve(instance, budget, k, node_limit=1), solve_dense(instance, budget, k, cell_limit=0))


@dataclass(frozen=True, eq=False)
class Frontier:
    """OPT at every budget 0..max_budget of one instance, proven.

    `budgets`, `values`, both int64 and rising: F_int jumps to values[j] at budgets[j] (the cost of the cheapest
    selection worth that much); budgets[0] = values[0] = 0. `work`: comparisons made.
    """

    budgets: np.ndarray
    values: np.ndarray
    max_budget: int
    scale: int
    work: int
    _options: Options
    _node: np.ndarray  # of each point of each component
    _parent: np.ndarray
    _option: np.ndarray
    _curves: tuple

    def at(self, budget: int) -> tuple[int, int]:
        """(value_int, cost) of the optimum at `budget`; InputError beyond max_budget."""
        if not 0 <= budget <= self.max_budget:
            raise InputError(f"budget {budget} is outside this curve's 0..{self.max_budget}")
        j = int(np.searchsorted(self.budgets, budget, side="right")) - 1
        return int(self.values[j]), int(self.budgets[j])

    def selection(self, budget: int) -> tuple[int, ...]:
        """Candidate positions, ascending, of the protocol's optimum at `budget`: the cheapest, then the first.

        Raises LimitReached where too many equal optima of overlapping components would have to be compared.
        """
        value, cost = self.at(budget)
        status, picked = walk(cost, value, *self._curves, MEMORY_LIMIT // 64)
        if status != OK:
            raise LimitReached(f"the equal optima at budget {budget} need more than {MEMORY_LIMIT} bytes to compare")
        node = self._node[picked]
        kept: list[int] = []
        while len(node := node[node >= 0]):
            kept += self._option[node].tolist()
            node = self._parent[node]
        return self._options.candidates(kept)


def frontier(instance: Instance, max_budget: int, k: int = 1, work_limit: int = DEFAULT_WORK_LIMIT) -> Frontier:
    """The curve of `instance` up to `max_budget` (>= 0), at most k candidates a group.

    Raises LimitReached (which has an incumbent and a bound at max_budget) where it needs more than `work_limit`
    comparisons or MEMORY_LIMIT bytes.
    """
    if max_budget < 0 or k < 1:
        raise InputError(f"max_budget {max_budget} and k {k}: the budget must be >= 0 and k >= 1")
    options = options_of(instance, k)
    budget = min(max_budget, int(instance.cost.sum()))
    alive, coupled, base = reduced(options, budget)
    number, count = components(options.start, options.ptr, options.unit, alive, coupled)
    order = np.argsort(number, kind="stable")
    order = order[np.count_nonzero(number < 0) :]
    bounds = np.searchsorted(number[order], np.arange(count + 1))  # component c: order[bounds[c]:bounds[c + 1]]
    passing = passing_order(options.start, options.ptr, options.unit, alive, coupled, order, bounds)
    status, c, work, *points, parent, option, node_group = component_curves(
        *options.arrays, passing, bounds, alive, coupled, base, budget, work_limit, MEMORY_LIMIT
    )
    if status != OK:
        size = int(bounds[c + 1] - bounds[c])
        raise _limit(instance, max_budget, k, f"a component of {size} groups", status, work_limit)
    point_at, cost, value, node = points
    block, room = _blocks(point_at, cost, value, budget)
    entries = MEMORY_LIMIT // 24  # arrays double as they grow
    status, steps, at, values, *kept = add_up(point_at, cost, value, budget, block, room, work_limit - work, entries)
    if status != OK:
        raise _limit(instance, max_budget, k, f"adding up {count} components", status, work_limit)
    curves = (
        point_at, cost, value, node, parent, option, node_group, _cuts(order, bounds), block, *kept,
        len(options.start) - 1,
    )  # fmt: skip
    return Frontier(at, values, max_budget, instance.scale, work + steps, options, node, parent, option, curves)


def _limit(instance: Instance, budget: int, k: int, what: str, status: int, work_limit: int) -> LimitReached:
    needs = f"{MEMORY_LIMIT} bytes" if status == MEMORY else f"{work_limit} comparisons"
    return LimitReached(f"{what} needs more than {needs}", (instance, budget, k))


def _blocks(point_at: np.ndarray, cost: np.ndarray, value: np.ndarray, budget: int) -> tuple[int, int]:
    """Components a block, so that the curves kept between blocks fit an eighth of the memory, and an estimate of
    their breakpoints: no more than costs, values or combinations of points allow."""
    last = point_at[1:][::-1] - 1
    combinations = np.exp(np.minimum(np.cumsum(np.log(np.diff(point_at)[::-1])), 60))
    reach = np.minimum(np.minimum(np.cumsum(cost[last]), budget), np.cumsum(value[last])) + 1
    longest = np.minimum(reach, combinations)
    most = MEMORY_LIMIT // 8 // 8
    block = max(MIN_BLOCK, int(np.ceil(longest.sum() / most)))
    return block, int(min(longest[::block].sum() + 64, most))


def _cuts(order: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Whether all groups of components 0..c come before all later ones, for each c."""
    last = np.maximum.accumulate(order[bounds[1:] - 1])
    first = np.append(order[bounds[1:-1]], len(order) and order.max() + 1)[: len(last)]
    return last < first
