"""The independent check by CP-SAT: the whole problem as one integer model, no hints, no cutoffs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ortools.sat.python.cp_model_helper import CpModelProto, CpSolverStatus, SatParameters, SolveWrapper

from .model import PATIENCE, Answer, Problem, Scaled, answer

# A chosen set is compared this many positions at a time: weights 2^39 .. 1 keep CP-SAT's sums small.
_CHUNK = 40
# The budget is the first constraint of a model, so that its right-hand side can be changed.
_BUDGET = 0
_INFINITY = 2**63 - 1
_FOUND = (CpSolverStatus.OPTIMAL, CpSolverStatus.FEASIBLE)


class CpSatModel:
    """One problem's model, to be solved under several budgets.

    Boolean x_i per candidate; integer y_r per unit of positive weight, y_r <= slope * z_r + intercept for
    every line of h; maximise sum w_r y_r. A unit without weight adds nothing to F and has no y. The
    model is written as protobuf text: a tenth of the time that building it call by call takes.
    """

    def __init__(self, scaled: Scaled):
        self._scaled = scaled
        self._terms = _value_terms(scaled)
        self._model = _parsed(_model_text(scaled) + _objective_text([(i, -w) for i, w in self._terms]))

    def solve(self, problem: Problem, budget: int, limit: float | None = None, clock: float | None = None) -> Answer:
        """Solve `problem`, whose integer form this is, within `budget`. `limit`: deterministic seconds, PATIENCE times
        as many of the clock. `clock`: seconds of the clock instead, for measurements (the answer may vary)."""
        status, solution, bound = _run(self._model, budget, limit, clock)
        if status == CpSolverStatus.UNKNOWN:
            return answer(problem, budget, None, None)
        _demand(status, problem)
        return answer(problem, budget, _chosen(self._scaled, solution), -bound)

    def canonical_selection(self, problem: Problem, budget: int, value_int: int) -> tuple[int, ...] | None:
        """Positions of the selection that the protocol reports among those worth at least `value_int`:
        the cheapest, then the one that compares first position by position. None: there is no such one.

        A chosen candidate precedes a skipped one and an earlier a later one, so the first selection is the
        one with the lexicographically largest 0/1 vector over the positions.
        """
        n = len(self._scaled.costs)
        floor = _linear(self._terms, value_int, _INFINITY)
        costs = list(enumerate(self._scaled.costs))
        model = _parsed(_model_text(self._scaled, floor) + _objective_text(costs))
        status, solution, _ = _run(model, budget, None)
        if status == CpSolverStatus.INFEASIBLE:
            return None
        _demand(status, problem)
        cheapest = problem.cost(_chosen(self._scaled, solution))
        for start in range(0, n, _CHUNK):
            chunk = range(start, min(start + _CHUNK, n))
            model.clear_objective()
            model.merge_text_format(_objective_text([(i, -(1 << (chunk[-1] - i))) for i in chunk]))
            status, solution, _ = _run(model, cheapest, None)
            _demand(status, problem)
            for i in chunk:
                domain = model.variables[i].domain
                domain[0] = domain[1] = solution[i]
        return _chosen(self._scaled, solution)


def solve_cp_sat(problem: Problem, budget: int, limit: float | None = None) -> Answer:
    """Solve one problem within `budget`; `limit`: deterministic seconds (then the status is "limit")."""
    return CpSatModel(problem.scaled).solve(problem, budget, limit)


def canonical_selection(problem: Problem, budget: int) -> tuple[int, ...]:
    """Positions of the optimal selection that the protocol reports (see CpSatModel.canonical_selection)."""
    model = CpSatModel(problem.scaled)
    best = model.solve(problem, budget)
    return model.canonical_selection(problem, budget, problem.scaled.value(problem.positions(best.selected)))


def _model_text(scaled: Scaled, floor: str = "") -> str:
    """Variables and constraints as protobuf text, the budget open; `floor` stands second."""
    n = len(scaled.costs)
    variables = ["variables{domain:[0,1]}"] * n
    constraints = [_linear(list(enumerate(scaled.costs)), 0, 0), floor]
    start = 0
    for size in scaled.group_sizes:
        constraints.append(_at_most(range(start, start + size), scaled.k))
        start += size
    for unit, y in zip(scaled.columns, range(n, n + len(scaled.columns)), strict=True):
        column = scaled.columns[unit]
        most = sum(a for _, a in column)
        variables.append(f"variables{{domain:[0,{scaled.h(most)}]}}")
        for slope, intercept in scaled.lines:
            if slope:
                terms = [(i, slope * a) for i, a in column]
                constraints.append(_linear([*terms, (y, -1)], -intercept, _INFINITY))
    return "\n".join(variables + constraints)


def _value_terms(scaled: Scaled) -> list[tuple[int, int]]:
    """(variable, weight) of F_int: one y a unit, behind the candidates."""
    n = len(scaled.costs)
    return [(n + j, scaled.weights[unit]) for j, unit in enumerate(scaled.columns)]


def _linear(terms: Sequence[tuple[int, int]], low: int, high: int) -> str:
    indexes, coefficients = _split(terms)
    return f"constraints{{linear{{vars:{indexes} coeffs:{coefficients} domain:[{low},{high}]}}}}"


def _at_most(positions: range, k: int) -> str:
    if k == 1:
        return f"constraints{{at_most_one{{literals:{list(positions)}}}}}"
    return _linear([(i, 1) for i in positions], 0, k)


def _objective_text(terms: Sequence[tuple[int, int]]) -> str:
    """Minimise the sum of coefficient * variable."""
    indexes, coefficients = _split(terms)
    return f"objective{{vars:{indexes} coeffs:{coefficients}}}"


def _split(terms: Iterable[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [i for i, _ in terms], [c for _, c in terms]


def _parsed(text: str) -> CpModelProto:
    model = CpModelProto()
    if not model.parse_text_format(text):
        raise RuntimeError("the CP-SAT model text does not parse")
    return model


def _parameters() -> SatParameters:
    """Measured on packages of 20 to 600 candidates: the LP at level 2 decides most at the root, and presolve,
    probing and symmetry detection cost more than they save."""
    parameters = SatParameters()
    parameters.num_workers = 1
    parameters.linearization_level = 2
    parameters.cp_model_presolve = False
    parameters.cp_model_probing_level = 0
    parameters.symmetry_level = 0
    return parameters


def _run(model: CpModelProto, budget: int, limit: float | None, clock: float | None = None):
    """(status, variable values or None, integer lower bound of the minimised objective).

    The helper classes under `cp_model` are used as they are: its Python model costs as much as a small solve.
    """
    model.constraints[_BUDGET].linear.domain[1] = budget
    parameters = _parameters()
    if limit is not None:
        parameters.max_deterministic_time = limit
        parameters.max_time_in_seconds = PATIENCE * limit
    if clock is not None:
        parameters.max_time_in_seconds = clock
    solver = SolveWrapper()
    solver.set_parameters(parameters)
    response = solver.solve(model)
    found = response.status in _FOUND
    return response.status, list(response.solution) if found else None, response.inner_objective_lower_bound


def _chosen(scaled: Scaled, solution: Sequence[int]) -> tuple[int, ...]:
    return tuple(i for i in range(len(scaled.costs)) if solution[i])


def _demand(status, problem: Problem) -> None:
    """The empty selection is always feasible: any other status is a fault of the model itself."""
    if status not in _FOUND:
        raise RuntimeError(f"{problem.label}: CP-SAT ended with status {status}")
