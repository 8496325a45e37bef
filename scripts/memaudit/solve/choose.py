"""Which search proves an instance: branch and bound, the whole curve, or the Lagrangian search for dense overlap."""

from __future__ import annotations

from collections.abc import Sequence

from ..batch import batch
from ..objective import Instance
from .bnb import OPTIMAL, Solution, better, solve_batch
from .frontier import DEFAULT_WORK_LIMIT, Frontier, LimitReached, frontier

# A node of branch and bound looks at every candidate: the curve is tried after this many looks.
QUICK_LOOKS = 100_000
# The curve and the Lagrangian search take turns, since either may blow up where the other ends at once: parts (one
# over) of their limits in each round, the last of the curve alone.
ROUNDS = ((100, 20), (10, 1), (1, None))
CELLS_A_NODE = 50  # cells of the Lagrangian search that count as a node: a minute at the default limit


def solve_all(
    instances: Sequence[Instance], budget: int, k: int, node_limit: int, work_limit: int = DEFAULT_WORK_LIMIT
) -> list[Solution]:
    """Each instance's optimum at `budget` (see `bnb.solve_batch`): by a short branch and bound of at most
    `node_limit` nodes, else by its curve within `work_limit` comparisons, or the Lagrangian search (dense.py) within
    CELLS_A_NODE cells for each node of `node_limit`; status `limit` where none closes, with a bound at most the
    linear relaxation's."""
    largest = max((len(i.cost) for i in instances), default=1)
    quick = solve_batch(batch(instances), budget, k, min(node_limit, quick_nodes(largest)))
    return [
        s if s.status == OPTIMAL else _solve_hard(i, s, budget, k, node_limit * CELLS_A_NODE, work_limit)
        for i, s in zip(instances, quick, strict=True)
    ]


def quick_nodes(candidates: int) -> int:
    """Nodes of a short branch and bound over instances of up to so many candidates."""
    return QUICK_LOOKS // max(1, candidates)


def _solve_hard(instance: Instance, quick: Solution, budget: int, k: int, cell_limit: int, work_limit: int) -> Solution:
    from .dense import solve_dense  # its kernels take a tenth of a second to load, and most runs never come here

    found = quick
    for curve_part, search_part in ROUNDS:
        try:
            return on_curve(frontier(instance, budget, k, work_limit // curve_part), instance, quick, budget)
        except LimitReached:
            if search_part is not None:
                found = better(found, solve_dense(instance, budget, k, cell_limit // search_part))
        if found.status == OPTIMAL and found.canonical:
            break
    return found


def on_curve(curve: Frontier, instance: Instance, quick: Solution, budget: int) -> Solution:
    """The instance's optimum at `budget` from its curve; nodes are those of `quick`, the short search before it.
    Raises LimitReached as `Frontier.selection` does."""
    value, cost = curve.at(budget)
    return Solution(OPTIMAL, value, value, instance.scale, cost, curve.selection(budget), quick.nodes)
