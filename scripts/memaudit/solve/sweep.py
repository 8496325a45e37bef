"""Many instances at many budgets in one pass: a curve instead of a search for each budget, where it closes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..batch import batch
from ..objective import Instance
from .bnb import OPTIMAL, Solution, solve_batch
from .choose import on_curve, quick_nodes, solve_open
from .frontier import DEFAULT_WORK_LIMIT, Frontier, LimitReached, frontier


@dataclass(frozen=True, eq=False)
class Curve:
    """OPT at every budget 0 .. end: `values[j]` from `budgets[j]` on, both int64 and rising from 0."""

    budgets: np.ndarray
    values: np.ndarray


@dataclass(frozen=True)
class Swept:
    """One instance: a solution a budget asked for; its curve, where it was asked for and proven."""

    solutions: tuple[Solution, ...]
    curve: Curve | None = None


def sweep(
    instances: Sequence[Instance],
    budgets: Sequence[int],
    k: int,
    node_limit: int,
    ends: Sequence[int] | None = None,
    work_limit: int = DEFAULT_WORK_LIMIT,
) -> list[Swept]:
    """Each instance's optima at `budgets` (see `choose.solve_all`) and, with `ends`, its curve up to its end.

    A short branch and bound is tried at every budget. What it leaves open is read off one curve up to the largest
    such budget, unless it is a single one and no curve was asked for; where that does not close within `work_limit`,
    each budget is solved by itself: by curves of a tenth of that, the smallest budget first, until one does not close
    either, then by the Lagrangian search. Raises RuntimeError where curve and search prove different values, which
    would be a fault of ours.
    """
    together = batch(instances)
    few = min(node_limit, quick_nodes(max((len(i.cost) for i in instances), default=1)))
    quick = [solve_batch(together, budget, k, few) for budget in budgets]
    if ends is None and all(s.settled for solutions in quick for s in solutions):
        return [Swept(solutions) for solutions in zip(*quick, strict=True)]
    swept = []
    for at, instance in enumerate(instances):
        found = [solutions[at] for solutions in quick]
        end = None if ends is None else ends[at]
        swept.append(_finish(instance, found, budgets, k, node_limit, end, work_limit))
    return swept


def _finish(
    instance: Instance,
    found: list[Solution],
    budgets: Sequence[int],
    k: int,
    node_limit: int,
    end: int | None,
    work_limit: int,
) -> Swept:
    still_open = [b for b, s in zip(budgets, found, strict=True) if not s.settled]
    asked = still_open if end is None else [*still_open, end]
    if not asked:
        return Swept(tuple(found))
    tried = len(asked) > 1 or end is not None
    curve = _closed(instance, max(asked), k, work_limit) if tried else None
    if tried:
        work_limit //= 10  # a curve up to a smaller budget may close sooner; the first that does not is the last tried
    for j in sorted(range(len(budgets)), key=budgets.__getitem__):
        budget = budgets[j]
        if not found[j].settled:
            known = None if curve is None else _read_off(curve, instance, found[j], budget)
            if known is None and tried and work_limit:
                smaller = _closed(instance, budget, k, work_limit)
                known = None if smaller is None else _read_off(smaller, instance, found[j], budget)
                work_limit = 0 if smaller is None else work_limit
            limit = 0 if tried else work_limit
            found[j] = known or solve_open(instance, found[j], budget, k, node_limit, limit)
        proven = found[j].status == OPTIMAL and curve is not None and budget <= curve.max_budget
        if proven and curve.at(budget)[0] != found[j].value_int:
            raise RuntimeError(
                f"instance {instance.hash}, budget {budget}, k = {k}: branch and bound proves {found[j].value_int}, "
                f"the curve {curve.at(budget)[0]}; one of them is wrong, please report this"
            )
    return Swept(tuple(found), None if curve is None or end is None else _up_to(curve, end))


def _closed(instance: Instance, end: int, k: int, work_limit: int) -> Frontier | None:
    try:
        return frontier(instance, end, k, work_limit)
    except LimitReached:
        return None


def _read_off(curve: Frontier, instance: Instance, quick: Solution, budget: int) -> Solution | None:
    """The solution at `budget`; None where its equal optima are too many to compare."""
    try:
        return on_curve(curve, instance, quick, budget)
    except LimitReached:
        return None


def _up_to(curve: Frontier, end: int) -> Curve:
    n = int(np.searchsorted(curve.budgets, end, side="right"))
    return Curve(curve.budgets[:n], curve.values[:n])
