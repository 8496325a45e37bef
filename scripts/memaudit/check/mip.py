"""The independent check by a mixed-integer solver of the OR-Tools wheel: HiGHS, CBC or SCIP."""

from __future__ import annotations

import math

from ortools.linear_solver import pywraplp

from ..errors import InputError
from .model import PATIENCE, Answer, Problem, Scaled, answer

# Absolute gap 0 where the solver has the setting (CBC's own default is 1e-10). HiGHS prints a banner
# unless told not to; it takes its settings but reports False.
_SETTINGS = {
    "highs": ("HIGHS", "output_flag=false\nmip_abs_gap=0"),
    "cbc": ("CBC", ""),
    "scip": ("SCIP", "limits/absgap = 0"),
}
SOLVERS = tuple(_SETTINGS)


def solve_mip(problem: Problem, budget: int, solver: str, limit: float | None = None) -> Answer:
    """Solve one problem within `budget` by "highs", "cbc" or "scip".

    `limit`: seconds; PATIENCE times as many of the clock, since these solvers count no others.

    The solver works in doubles, so its objective is not believed: the value is recomputed in integers from
    its selection. F_int is whole; the optimum counts as proved when the solver ends as optimal at
    relative gap 0 and its bound lies less than half a unit above the value.
    """
    if solver not in _SETTINGS:
        raise InputError(f"solver {solver!r} is not one of {SOLVERS}")
    if not problem.costs:
        return answer(problem, budget, (), 0)  # HiGHS calls a model without variables unsolved
    mip, x = _build(problem.scaled, budget, *_SETTINGS[solver])
    parameters = pywraplp.MPSolverParameters()
    parameters.SetDoubleParam(parameters.RELATIVE_MIP_GAP, 0.0)
    if limit is not None:
        mip.set_time_limit(math.ceil(PATIENCE * limit * 1000))
    status = mip.Solve(parameters)
    if status not in (mip.OPTIMAL, mip.FEASIBLE):
        return answer(problem, budget, None, None)
    selection = tuple(i for i, v in enumerate(x) if v.solution_value() > 0.5)
    return answer(problem, budget, selection, _bound(mip.Objective().BestBound()))


def _bound(reported: float) -> int | None:
    """The whole upper bound that a reported double means: rounded up only past half a unit."""
    return math.ceil(reported - 0.5) if math.isfinite(reported) else None


def _build(scaled: Scaled, budget: int, solver: str, settings: str):
    """The solver with its model (as in cp_sat, y continuous), and its x variables."""
    mip = pywraplp.Solver.CreateSolver(solver)
    if mip is None:
        raise RuntimeError(f"this build of OR-Tools has no {solver}")
    mip.SetNumThreads(1)
    if settings and not mip.SetSolverSpecificParametersAsString(settings) and solver != "HIGHS":
        raise RuntimeError(f"{solver} refuses the settings {settings!r}")
    x = [mip.BoolVar("") for _ in scaled.costs]
    spend = mip.Constraint(0, budget)
    for variable, cost in zip(x, scaled.costs, strict=True):
        spend.SetCoefficient(variable, cost)
    start = 0
    for size in scaled.group_sizes:
        at_most = mip.Constraint(0, scaled.k)
        for variable in x[start : start + size]:
            at_most.SetCoefficient(variable, 1)
        start += size
    objective = mip.Objective()
    objective.SetMaximization()
    for unit, column in scaled.columns.items():
        y = mip.NumVar(0, scaled.h(sum(a for _, a in column)), "")
        objective.SetCoefficient(y, scaled.weights[unit])
        for slope, intercept in scaled.lines:
            if slope:
                line = mip.Constraint(-intercept, mip.infinity())
                line.SetCoefficient(y, -1)
                for i, a in column:
                    line.SetCoefficient(x[i], slope * a)
    return mip, x
