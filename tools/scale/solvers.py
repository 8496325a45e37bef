"""The solvers that are compared, behind one call: task, seconds, effort -> what was found for each solve.

All start from the same integers (the scaling of coverage and weights is done before, once for all) and run on one
thread. Making the solver's own model counts as its time.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from memaudit.check.cp_sat import CpSatModel
from memaudit.check.mip import solve_mip
from memaudit.check.model import PATIENCE, Answer, Problem, answer, curve
from memaudit.check.rows import build_problem, read_rows
from memaudit.objective import Instance, scale
from memaudit.package import Package
from memaudit.package_io import package_tables
from memaudit.solve.bnb import DEFAULT_NODE_LIMIT
from memaudit.solve.choose import solve_all
from memaudit.solve.frontier import DEFAULT_WORK_LIMIT, LimitReached, frontier
from memaudit.solve.sweep import sweep
from reference import plain_search

from . import families
from .plan import CURVE, OURS, PLAIN, SMALL_BUDGETS, Job

CURVE_SELECTIONS = 100


@dataclass(frozen=True, eq=False)
class Task:
    """Packages and budgets, each package to be solved at each budget; `problems` are the same packages as the
    independent check reads them, positions alike."""

    packages: list[Package]
    budgets: tuple[int, ...]
    instances: list[Instance]
    problems: list[Problem]


class Found(NamedTuple):
    """One solve. status: optimal or limit. `selection`: positions, None without a usable one; `claimed`: the value
    that the solver itself says the selection has, None where it is not asked; `bound`: on the optimum, None without.
    Values are those of F."""

    status: str
    budget: int
    selection: tuple[int, ...] | None
    claimed: Fraction | None
    bound: Fraction | None


def make_task(job: Job) -> Task:
    """The instance of a job, or the batch of the small suite."""
    made = getattr(families, job.family)(job.size, job.seed)
    if isinstance(made, list):
        return _task(made, SMALL_BUDGETS)
    return _task([made], (max(1, round(job.fraction * made.total_cost)),))


def _task(packages: list[Package], budgets: tuple[int, ...]) -> Task:
    ids = [p.package_id for p in packages]
    rows = read_rows(package_tables(packages, suite=packages[0].suite, label_source="generator"), ids)
    everything, cap1 = {"include": None, "exclude": []}, curve("cap1", "cap1")
    problems = [build_problem(rows[i], pool=everything, saturation=cap1, k=1) for i in ids]
    for package, problem in zip(packages, problems, strict=True):
        if package.visible.candidate_ids != problem.candidate_ids:
            raise RuntimeError(f"{package.package_id}: the check reads the candidates in another order")
        _ = problem.scaled, problem.position  # made here, not on the clock of one solver
    return Task(packages, budgets, [scale(p) for p in packages], problems)


def ours(task: Task, seconds: float, effort: float) -> Iterable[Found]:
    """Each budget by itself; a batch as the pipeline does it. The limits count work, so `seconds` are the caller's
    business."""
    nodes, work = max(1, round(effort * DEFAULT_NODE_LIMIT)), max(1, round(effort * DEFAULT_WORK_LIMIT))
    if len(task.budgets) == 1:
        rounds = [solve_all(task.instances, task.budgets[0], 1, nodes, work)]
    else:
        swept = sweep(task.instances, task.budgets, 1, nodes, work_limit=work)
        rounds = [[one.solutions[at] for one in swept] for at in range(len(task.budgets))]
    # Off the clock: fractions take as long as a small solve, and only the judge wants them.
    return (
        Found(s.status, budget, s.selection, Fraction(s.value_int, s.scale), Fraction(s.bound_int, s.scale))
        for budget, solutions in zip(task.budgets, rounds, strict=True)
        for s in solutions
    )


def ours_curve(task: Task, seconds: float, effort: float) -> list[Found]:
    """Every budget at once up to the largest, and the selections at 100 of them, the largest last."""
    (instance,), end = task.instances, max(task.budgets)
    try:
        made = frontier(instance, end, 1, max(1, round(effort * DEFAULT_WORK_LIMIT)))
        budgets = [end * j // CURVE_SELECTIONS for j in range(1, CURVE_SELECTIONS + 1)]
        selections = [made.selection(budget) for budget in budgets]
    except LimitReached:
        return [Found("limit", end, None, None, None)]
    values = [Fraction(made.at(budget)[0], made.scale) for budget in budgets]
    return [Found("optimal", *row, row[-1]) for row in zip(budgets, selections, values, strict=True)]


def _each(task: Task, solve: Callable[[Problem, int], Answer]) -> list[Found]:
    found = []
    for budget in task.budgets:
        for problem in task.problems:
            a = solve(problem, budget)
            selection = None if a.value is None else problem.positions(a.selected)
            found.append(Found(a.status, budget, selection, None, a.bound))
    return found


def _mip(name: str) -> Callable[[Task, float, float], list[Found]]:
    # The check gives a solver PATIENCE times its limit of the clock; here the clock is the limit.
    return lambda task, seconds, effort: _each(
        task, lambda problem, budget: solve_mip(problem, budget, name, seconds / PATIENCE)
    )


def highs(task: Task, seconds: float, effort: float) -> list[Found]:
    """HiGHS as scipy calls it: OR-Tools, through which the check does, forgets its incumbent and bound at a limit."""
    return _each(task, lambda problem, budget: _highs(problem, budget, seconds))


def _highs(problem: Problem, budget: int, seconds: float) -> Answer:
    scaled = problem.scaled
    model, n, columns = _Rows(), len(scaled.costs), scaled.columns
    model.add(list(enumerate(scaled.costs)), 0, budget)
    start = 0
    for size in scaled.group_sizes:
        model.add([(i, 1) for i in range(start, start + size)], 0, scaled.k)
        start += size
    for y, column in enumerate(columns.values(), n):
        for slope, intercept in scaled.lines:
            if slope:
                model.add([*((i, slope * a) for i, a in column), (y, -1)], -intercept, math.inf)
    worth = np.concatenate([np.zeros(n), [scaled.weights[unit] for unit in columns]])
    most = [scaled.h(sum(a for _, a in column)) for column in columns.values()]
    found = milp(
        -worth,
        integrality=np.arange(len(worth)) < n,
        bounds=Bounds(0, np.concatenate([np.ones(n), most])),
        constraints=model.constraint(len(worth)),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    chosen = None if found.x is None else tuple(np.flatnonzero(found.x[:n] > 0.5).tolist())
    bound = found.mip_dual_bound
    known = bound is not None and math.isfinite(bound)
    # F_int is whole: the bound is rounded up only past half a unit, as the check does.
    return answer(problem, budget, chosen, math.ceil(-bound - 0.5) if known else None)


class _Rows:
    """Sparse rows low <= row <= high, as they are added."""

    def __init__(self) -> None:
        self._values: list[int] = []
        self._columns: list[int] = []
        self._ends, self._low, self._high = [0], [], []

    def add(self, terms: list[tuple[int, int]], low: float, high: float) -> None:
        self._columns += [column for column, _ in terms]
        self._values += [value for _, value in terms]
        self._ends.append(len(self._values))
        self._low.append(low)
        self._high.append(high)

    def constraint(self, width: int) -> LinearConstraint:
        shape = (len(self._low), width)
        rows = csr_array((np.array(self._values, dtype=float), self._columns, self._ends), shape=shape)
        return LinearConstraint(rows, self._low, self._high)


def cp_sat(task: Task, seconds: float, effort: float) -> list[Found]:
    """With the model and the parameters of the check, which were chosen by measurement."""
    return _each(task, lambda problem, budget: CpSatModel(problem.scaled).solve(problem, budget, None, clock=seconds))


def plain(task: Task, seconds: float, effort: float) -> list[Found]:
    """The search that the tests compare with: no limits, so the caller stops it."""
    found = []
    # Whoever calls keeps the limit it has: with a high one, JSON nested too deep ends the process, not the reading.
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10**6)
    try:
        for budget in task.budgets:
            for package in task.packages:
                value, selection = plain_search(package, budget)
                claimed = Fraction(value).limit_denominator(10**6)
                found.append(Found("optimal", budget, selection, claimed, claimed))
    finally:
        sys.setrecursionlimit(before)
    return found


SOLVERS: dict[str, Callable[[Task, float, float], Iterable[Found]]] = {
    OURS: ours,
    CURVE: ours_curve,
    "highs": highs,
    "cbc": _mip("cbc"),
    "scip": _mip("scip"),
    "cp_sat": cp_sat,
    PLAIN: plain,
}
