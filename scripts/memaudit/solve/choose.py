"""Which search proves an instance: branch and bound, the whole curve, or the Lagrangian search for dense overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..batch import batch
from ..objective import Instance
from .bnb import OPTIMAL, Solution, better, solve, solve_batch
from .frontier import DEFAULT_WORK_LIMIT, Frontier, LimitReached, frontier

# A node of branch and bound looks at every candidate: after that many looks at once (a tenth of a millisecond) the
# curve is tried, and after the second number, if that is still open, the searches that take longer.
FIRST_LOOKS = 2_500
QUICK_LOOKS = 100_000
LEAST_NODES = 100  # fewer prove next to nothing: packages so large go on to the next round at once


class Round(NamedTuple):
    """The searches take turns, since each may blow up where another ends at once. `curve`, `cells`: one over them, the
    part of its limit that the curve and the Lagrangian search get; `looks`: whether branch and bound gets QUICK_LOOKS.
    """

    curve: int
    looks: bool = False
    cells: int | None = None


ROUNDS = (Round(1000, looks=True), Round(100, cells=20), Round(10, cells=1), Round(1))
LARGE = 4  # one over it: the most of a curve's limit that the first round gives to large packages
CELLS_A_NODE = 50  # cells of the Lagrangian search that count as a node: a minute at the default limit


def solve_all(
    instances: Sequence[Instance], budget: int, k: int, node_limit: int, work_limit: int = DEFAULT_WORK_LIMIT
) -> list[Solution]:
    """Each instance's optimum at `budget` (see `bnb.solve_batch`): by a short branch and bound of at most
    `node_limit` nodes, else by its curve within `work_limit` comparisons, or the Lagrangian search (dense.py) within
    CELLS_A_NODE cells for each node of `node_limit`; status `limit` where none closes, with a bound at most the
    linear relaxation's."""
    largest = max((len(i.cost) for i in instances), default=1)
    first = min(node_limit, quick_nodes(largest, min(FIRST_LOOKS, QUICK_LOOKS)))
    quick = solve_batch(batch(instances), budget, k, first)
    return [
        s if s.settled else solve_open(i, s, budget, k, node_limit, work_limit)
        for i, s in zip(instances, quick, strict=True)
    ]


def quick_nodes(candidates: int, looks: int | None = None) -> int:
    """Nodes of a short branch and bound (of QUICK_LOOKS unless said otherwise) over instances of up to so many
    candidates."""
    return (QUICK_LOOKS if looks is None else looks) // max(1, candidates)


def solve_open(
    instance: Instance, quick: Solution, budget: int, k: int, node_limit: int, work_limit: int = DEFAULT_WORK_LIMIT
) -> Solution:
    """As `solve_all`, of one instance that a short branch and bound left open with `quick`. No curve is tried where
    `work_limit` is 0."""
    found, tried = quick, 0
    nodes = quick_nodes(len(instance.cost))
    for turn in ROUNDS:
        if turn.looks and nodes < LEAST_NODES:
            continue
        work = max(work_limit // turn.curve, min(work_limit // LARGE, _adding_up(instance, budget)))
        if work > tried:
            tried = work
            try:
                return on_curve(frontier(instance, budget, k, work), instance, quick, budget)
            except LimitReached:
                pass  # another search, or a later round
        if turn.looks and min(node_limit, nodes) > found.nodes:
            found = better(found, solve(instance, budget, k, min(node_limit, nodes)))
        if turn.cells is not None and not found.settled:
            found = better(found, _dense(instance, budget, k, node_limit * CELLS_A_NODE // turn.cells))
        if found.settled:
            break
    return found


def _adding_up(instance: Instance, budget: int) -> int:
    """Comparisons that components of a few groups each take to be added up, and more: their number times budgets."""
    return len(instance.cost) * min(budget, int(instance.cost.sum())) // 2


def _dense(instance: Instance, budget: int, k: int, cell_limit: int) -> Solution:
    from .dense import solve_dense  # its kernels take a tenth of a second to load, and most runs never come here

    return solve_dense(instance, budget, k, cell_limit)


def on_curve(curve: Frontier, instance: Instance, quick: Solution, budget: int) -> Solution:
    """The instance's optimum at `budget` from its curve; nodes are those of `quick`, the short search before it.
    Raises LimitReached as `Frontier.selection` does."""
    value, cost = curve.at(budget)
    return Solution(OPTIMAL, value, value, instance.scale, cost, curve.selection(budget), quick.nodes)
