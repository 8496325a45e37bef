"""The solvers that are compared, behind one call: task, seconds, effort -> what was found for each solve.

All start from the same integers (the scaling of coverage and weights is done before, once for all) and run on one
thread. Making the solver's own model counts as its time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from memaudit.check.cp_sat import CpSatModel
from memaudit.check.mip import solve_mip
from memaudit.check.model import PATIENCE, Answer, Problem, curve
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
from .plan import CURVE, MIPS, OURS, PLAIN, SMALL_BUDGETS, Job

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


def ours(task: Task, seconds: float, effort: float) -> list[Found]:
    """Each budget by itself; a batch as the pipeline does it. The limits count work, so `seconds` are the caller's
    business."""
    nodes, work = max(1, round(effort * DEFAULT_NODE_LIMIT)), max(1, round(effort * DEFAULT_WORK_LIMIT))
    if len(task.budgets) == 1:
        rounds = [solve_all(task.instances, task.budgets[0], 1, nodes, work)]
    else:
        swept = sweep(task.instances, task.budgets, 1, nodes, work_limit=work)
        rounds = [[one.solutions[at] for one in swept] for at in range(len(task.budgets))]
    return [
        Found(s.status, budget, s.selection, Fraction(s.value_int, s.scale), Fraction(s.bound_int, s.scale))
        for budget, solutions in zip(task.budgets, rounds, strict=True)
        for s in solutions
    ]


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


def cp_sat(task: Task, seconds: float, effort: float) -> list[Found]:
    """With the model and the parameters of the check, which were chosen by measurement."""
    return _each(task, lambda problem, budget: CpSatModel(problem.scaled).solve(problem, budget, None, clock=seconds))


def plain(task: Task, seconds: float, effort: float) -> list[Found]:
    """The search that the tests compare with: no limits, so the caller stops it."""
    sys.setrecursionlimit(10**6)
    found = []
    for budget in task.budgets:
        for package in task.packages:
            value, selection = plain_search(package, budget)
            claimed = Fraction(value).limit_denominator(10**6)
            found.append(Found("optimal", budget, selection, claimed, claimed))
    return found


SOLVERS: dict[str, Callable[[Task, float, float], list[Found]]] = {
    OURS: ours,
    CURVE: ours_curve,
    **{name: _mip(name) for name in MIPS},
    "cp_sat": cp_sat,
    PLAIN: plain,
}
