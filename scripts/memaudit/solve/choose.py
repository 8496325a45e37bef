"""Which search proves an instance: branch and bound, or the whole curve where that would not close."""

from __future__ import annotations

from collections.abc import Sequence

from ..batch import batch
from ..objective import Instance
from .bnb import OPTIMAL, Solution, solve_batch
from .frontier import DEFAULT_WORK_LIMIT, Frontier, LimitReached, frontier

# A node of branch and bound looks at every candidate: the curve is tried after this many looks.
QUICK_LOOKS = 100_000


def solve_all(
    instances: Sequence[Instance], budget: int, k: int, node_limit: int, work_limit: int = DEFAULT_WORK_LIMIT
) -> list[Solution]:
    """Each instance's optimum at `budget` (see `bnb.solve_batch`): by a short branch and bound, else by its curve
    within `work_limit`, else by branch and bound within `node_limit` nodes (status `limit` where that does not
    close)."""
    largest = max((len(i.cost) for i in instances), default=1)
    quick = solve_batch(batch(instances), budget, k, min(node_limit, quick_nodes(largest)))
    return [
        s if s.status == OPTIMAL else _solve_hard(i, s, budget, k, node_limit, work_limit)
        for i, s in zip(instances, quick, strict=True)
    ]


def quick_nodes(candidates: int) -> int:
    """Nodes of a short branch and bound over instances of up to so many candidates."""
    return QUICK_LOOKS // max(1, candidates)


def _solve_hard(instance: Instance, quick: Solution, budget: int, k: int, node_limit: int, work_limit: int) -> Solution:
    few = min(node_limit, quick_nodes(len(instance.cost)))
    try:
        return on_curve(frontier(instance, budget, k, work_limit), instance, quick, budget)
    except LimitReached:
        return quick if node_limit <= few else solve_batch(batch([instance]), budget, k, node_limit)[0]


def on_curve(curve: Frontier, instance: Instance, quick: Solution, budget: int) -> Solution:
    """The instance's optimum at `budget` from its curve; nodes are those of `quick`, the short search before it.
    Raises LimitReached as `Frontier.selection` does."""
    value, cost = curve.at(budget)
    return Solution(OPTIMAL, value, value, instance.scale, cost, curve.selection(budget), quick.nodes)
