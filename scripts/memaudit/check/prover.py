"""One independent solver at work: what it has solved is remembered, and a problem's budgets share a model."""

from __future__ import annotations

from collections.abc import MutableMapping

from ..errors import InputError
from .cp_sat import CpSatModel
from .mip import SOLVERS as MIP_SOLVERS
from .mip import solve_mip
from .model import Answer, Problem, Scaled

SOLVERS = ("cp_sat", *MIP_SOLVERS)

# What has been solved already: (solver, problem in integers, budget) -> its answer.
Solved = MutableMapping[tuple[str, Scaled, int], Answer]


class Prover:
    """Answers of `solver` (one of SOLVERS, else InputError). `limit`: seconds for one solve (deterministic for cp_sat,
    see model.PATIENCE); `solved`: answers that are there already, and that new ones are added to."""

    def __init__(self, solver: str, limit: float | None = None, solved: Solved | None = None):
        if solver not in SOLVERS:
            raise InputError(f"solver {solver!r} is not one of {SOLVERS}")
        self.solver = solver
        self._limit = limit
        self._solved = {} if solved is None else solved
        self._model: tuple[Scaled, CpSatModel] | None = None

    def prove(self, problem: Problem, form: Scaled, budget: int) -> Answer:
        """What the solver says of `problem`, whose integer form is `form`, within `budget`."""
        key = (self.solver, form, budget)
        if key not in self._solved:
            if self.solver == "cp_sat":
                self._solved[key] = self.model(form).solve(problem, budget, self._limit)
            else:
                self._solved[key] = solve_mip(problem, budget, self.solver, self._limit)
        return self._solved[key]

    def model(self, form: Scaled) -> CpSatModel:
        """The form's CP-SAT model; the last one is kept, since the budgets of a problem come one after the other."""
        if self._model is None or self._model[0] is not form:
            self._model = (form, CpSatModel(form))
        return self._model[1]
