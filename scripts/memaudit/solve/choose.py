"""Which search proves an instance: branch and bound, the whole curve, or the Lagrangian search for dense overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..batch import batch
from ..objective import Instance
from .bnb import LIMIT, OPTIMAL, Solution, solve_batch
from .dense import DEFAULT_CELL_LIMIT, solve_dense
from .frontier import DEFAULT_WORK_LIMIT, LimitReached, frontier

# A node of branch and bound looks at every candidate: the curve is tried after this many looks.
QUICK_LOOKS = 2_000_000
# The curve and the Lagrangian search take turns, since either may blow up where the other ends at once: parts (one
# over) of the limits in each round.
ROUNDS = ((100, 20), (10, 1))


def solve_all(
    instances: Sequence[Instance], budget: int, k: int, node_limit: int, work_limit: int = DEFAULT_WORK_LIMIT
) -> list[Solution]:
    """Each instance's optimum at `budget` (see `bnb.solve_batch`): by a short branch and bound of at most
    `node_limit` nodes, else by its curve or by the Lagrangian search (dense.py) within `work_limit`; status `limit`
    where none closes, with a bound at most the linear relaxation's."""
    largest = max((len(i.cost) for i in instances), default=1)
    quick = solve_batch(batch(instances), budget, k, min(node_limit, _quick_nodes(largest)))
    return [
        s if s.status == OPTIMAL else _solve_hard(i, s, budget, k, node_limit, work_limit)
        for i, s in zip(instances, quick, strict=True)
    ]


def _quick_nodes(candidates: int) -> int:
    return QUICK_LOOKS // max(1, candidates)


def _solve_hard(instance: Instance, quick: Solution, budget: int, k: int, node_limit: int, work_limit: int) -> Solution:
    found = quick
    for curve_part, search_part in ROUNDS:
        try:
            return _by_curve(instance, quick, budget, k, node_limit, max(1, work_limit // curve_part))
        except LimitReached:
            pass  # this is what the Lagrangian search is for
        cells = max(1, min(work_limit, DEFAULT_CELL_LIMIT) // search_part)
        found = _better(found, solve_dense(instance, budget, k, cells))
        if found.status == OPTIMAL and found.canonical:
            break
    return found


def _better(a: Solution, b: Solution) -> Solution:
    """What two searches of one instance show together."""
    if b.status == OPTIMAL and (b.canonical or a.status != OPTIMAL):
        return b
    if a.status == OPTIMAL:
        return a
    best = b if (b.value_int, -b.cost) >= (a.value_int, -a.cost) else a
    bound = min(a.bound_int, b.bound_int)
    proven = bound == best.value_int
    return replace(best, status=OPTIMAL if proven else LIMIT, bound_int=bound, canonical=False, nodes=a.nodes + b.nodes)


def _by_curve(instance: Instance, quick: Solution, budget: int, k: int, node_limit: int, work_limit: int) -> Solution:
    """The optimum from the curve; LimitReached where that is too much work."""
    curve = frontier(instance, budget, k, work_limit)
    value, cost = curve.at(budget)
    if curve.interleaved:
        # The curve tells ties apart by component; the search, given the optimum, finds the protocol's first.
        few = min(node_limit, _quick_nodes(len(instance.cost)))
        first = solve_batch(batch([instance]), cost, k, few, [(value, cost)])[0]
        if first.status != LIMIT:
            return first
    return Solution(OPTIMAL, value, value, instance.scale, cost, curve.selection(budget), quick.nodes)
