"""Judge solved instances: every selection re-evaluated in fractions, every optimum proved again.

A row of table `checks` stands for one solution_id. Its status:

- "optimal": the independent solver proved the claimed value; `equal` is true. Only this makes a solution
  `cross_checked`.
- "limit": the independent solver stopped at its limit and nothing contradicts the claim.
- "unclaimed": the solution itself is a `limit` and claims no optimum; its selection, value and bound hold.
- "mismatch": something does not hold. `selected_value` is then "refused: ..." where the fault lies in a
  selection or a row, and `package_id` the package that shows it.

`n_packages` counts the rows of `solutions` that share the solution_id.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pyarrow as pa

from ..errors import InputError
from ..schemas import TABLES
from ..table_io import to_table
from .costs import DECLARED
from .model import Answer, Curve, Problem, Scaled, curve
from .prover import Prover, Solved
from .rows import PackageRows, build_problem, read_rows

CLAIMS_OPTIMUM = ("optimal", "cross_checked")
STATUSES = ("optimal", "limit", "unclaimed", "mismatch")
_REFUSED = "refused: "
_PROBLEM = ("package_id", "cost_model", "pool", "k", "saturation")
_SELECTION_KEY = (*_PROBLEM, "budget")
_COLUMNS = (
    "suite",
    *_SELECTION_KEY,
    "solution_id",
    "status",
    "value_int",
    "bound_int",
    "scale",
    "value",
    "cost",
    "n_selected",
    "canonical",
)


class MismatchError(RuntimeError):
    """A checked solution does not hold. The message names the instance, both values, and the reason."""


@dataclass(frozen=True)
class Definitions:
    """What the names in a solutions table mean.

    pools: name -> {"include": types or None, "exclude": types}; saturations: name -> "cap1", "linear" or
    breakpoints; cost_models: name -> "declared", a measure of check/costs.py or linear rates; costs: cost
    model -> (package_id -> candidate_id -> cost), used instead of a definition.
    """

    pools: Mapping[str, Mapping[str, Any]]
    saturations: Mapping[str, Curve]
    cost_models: Mapping[str, Any]
    costs: Mapping[str, Mapping[str, Mapping[str, int]]]


def define(
    pools: Mapping[str, Any],
    saturations: Mapping[str, Any],
    cost_models: Mapping[str, Any],
    costs: Mapping[str, Any] | None = None,
) -> Definitions:
    """Definitions as they travel in metadata; InputError on a saturation that is none."""
    return Definitions(pools, {n: curve(n, d) for n, d in saturations.items()}, cost_models, costs or {})


def check_solutions(
    solutions: pa.Table,
    selections: pa.Table,
    tables: Mapping[str, pa.Table],
    solver: str,
    pools: Mapping[str, Mapping[str, Any]],
    saturations: Mapping[str, Any],
    cost_models: Mapping[str, Any],
    *,
    costs: Mapping[str, Mapping[str, Mapping[str, int]]] | None = None,
    ties: bool = False,
    limit: float | None = None,
    solved: Solved | None = None,
    problems: Problems | None = None,
) -> pa.Table:
    """Check tables `solutions` and `solution_selections` of one suite against its package `tables`
    (rows.COLUMNS) by `solver` ("cp_sat", "highs", "cbc", "scip"); rows of table `checks`, one a solution_id.

    See `Definitions` for pools, saturations, cost_models, costs. Every row's selection is re-evaluated; the
    problem is solved once for each solution_id (once for each content with a `solved` dict that is passed
    again). `ties`: also demand the selection that the protocol reports among equal optima. `limit`: see Prover.
    `problems`: of an earlier call on the same packages and definitions, instead of both. Raises InputError on unknown
    names and broken package rows.
    """
    prover = Prover(solver, limit, solved)
    rows = solutions.select(_COLUMNS).to_pylist()
    if problems is None:
        packages = read_rows(tables, {row["package_id"] for row in rows})
        problems = Problems(packages, define(pools, saturations, cost_models, costs))
    chosen = _chosen_ids(selections, rows)
    shared: dict[str, list[dict]] = defaultdict(list)
    for row in sorted(rows, key=lambda r: (r["solution_id"], r["package_id"], r["pool"], r["cost_model"])):
        shared[row["solution_id"]].append(row)
    judge = _Judge(prover, problems, chosen, ties)
    checks = [judge.check(same) for same in sorted(shared.values(), key=lambda same: _in_model_order(same[0]))]
    return to_table("checks", {name: [check[name] for check in checks] for name in TABLES["checks"].schema.names})


def _in_model_order(row: dict) -> tuple:
    """Budgets of one problem one after the other: they share a model."""
    return (*(row[name] for name in _PROBLEM), row["budget"], row["solution_id"])


def _chosen_ids(selections: pa.Table, rows: list[dict]) -> dict[tuple, list[str]]:
    chosen: dict[tuple, list[str]] = {tuple(row[name] for name in _SELECTION_KEY): [] for row in rows}
    columns = [selections.column(name).to_pylist() for name in (*_SELECTION_KEY, "candidate_id")]
    for *key, candidate_id in zip(*columns, strict=True):
        if tuple(key) not in chosen:
            raise InputError(
                f"solution_selections: {dict(zip(_SELECTION_KEY, key, strict=True))} has no row in solutions"
            )
        chosen[tuple(key)].append(candidate_id)
    return chosen


class Problems:
    """Problems of `packages` (by id) by solution row, each built once, whatever the budgets."""

    def __init__(self, packages: Mapping[str, PackageRows], definitions: Definitions):
        self._packages = packages
        self._definitions = definitions
        self._built: dict[tuple, tuple[Problem, Scaled]] = {}
        self._alike: dict[Scaled, Scaled] = {}

    def of(self, row: dict) -> tuple[Problem, Scaled]:
        """The row's problem, and its integer form (one object for equal forms)."""
        key = tuple(row[name] for name in _PROBLEM)
        if key not in self._built:
            problem = self._build(row)
            self._built[key] = (problem, self._alike.setdefault(problem.scaled, problem.scaled))
        return self._built[key]

    def _build(self, row: dict) -> Problem:
        definitions, cost_model = self._definitions, row["cost_model"]
        if row["package_id"] not in self._packages:
            raise InputError(f"package {row['package_id']}: solutions name it, table packages does not have it")
        costs = definitions.costs.get(cost_model)
        return build_problem(
            self._packages[row["package_id"]],
            pool=_named(definitions.pools, "pool", row["pool"]),
            saturation=_named(definitions.saturations, "saturation", row["saturation"]),
            k=row["k"],
            cost_model=DECLARED if costs else _named(definitions.cost_models, "cost model", cost_model),
            costs=costs and costs[row["package_id"]],
        )


def _named(definitions: Mapping[str, Any], kind: str, name: str) -> Any:
    if name not in definitions:
        raise InputError(f"{kind} {name!r} of table solutions is not defined; defined are {sorted(definitions)}")
    return definitions[name]


@dataclass(frozen=True)
class _Verdict:
    """What is found of one row: a status of the module docstring, and the worth of its selection."""

    status: str
    selected_value: str


class _Refused(Exception):
    """A row whose selection or numbers do not hold, whatever the optimum is."""


class _Judge:
    """Checks rows that share a solution_id; remembers answers by problem content."""

    def __init__(self, prover: Prover, problems: Problems, chosen: Mapping[tuple, list[str]], ties: bool):
        self._prover = prover
        self._problems = problems
        self._chosen = chosen
        self._ties = ties
        self._canonical: dict[tuple[Scaled, int], tuple[int, ...] | None] = {}

    def check(self, rows: list[dict]) -> dict[str, Any]:
        """The row of table `checks` for the rows of one solution_id."""
        first = rows[0]
        problem, form = self._problems.of(first)
        proved = self._prover.prove(problem, form, first["budget"])
        shown, verdict = first, None
        for row in rows:
            judged = self._judge(row, first, form, proved)
            if verdict is None or judged.status == "mismatch":
                shown, verdict = row, judged
            if judged.status == "mismatch":
                break
        return {
            **{name: shown[name] for name in ("suite", "solution_id", *_SELECTION_KEY)},
            "solver": self._prover.solver,
            "status": verdict.status,
            "value": "" if proved.value is None else str(proved.value),
            "bound": "" if proved.bound is None else str(proved.bound),
            "selected_value": verdict.selected_value,
            "solution_value": fraction_text(shown["value_int"], shown["scale"]),
            "n_packages": len(rows),
            "equal": verdict.status == "optimal",
        }

    def _judge(self, row: dict, first: dict, form: Scaled, proved: Answer) -> _Verdict:
        try:
            value, selection = self._selection_value(row, first, form)
            status = _compare(row, value, proved)
            if self._ties and status == "optimal" and row["canonical"]:
                self._demand_canonical(row, selection)
        except _Refused as refusal:
            return _Verdict("mismatch", f"{_REFUSED}{refusal}")
        return _Verdict(status, str(value))

    def _selection_value(self, row: dict, first: dict, form: Scaled) -> tuple[Fraction, tuple[int, ...]]:
        """Exact worth and positions of a row's selection; _Refused where the row does not hold together."""
        problem, own_form = self._problems.of(row)
        if own_form is not form or row["budget"] != first["budget"]:
            raise _Refused(f"it shares its solution_id with {first['package_id']}, and their problems differ")
        ids = self._chosen[tuple(row[name] for name in _SELECTION_KEY)]
        strange = next((c for c in ids if c not in problem.position), None)
        if strange is not None:
            raise _Refused(f"candidate {strange} is not in the package's pool")
        selection = problem.positions(ids)
        breach = problem.breach(selection, row["budget"])
        if breach:
            raise _Refused(breach)
        if row["scale"] < 1 or row["value"] != row["value_int"] / row["scale"]:
            raise _Refused(f"value {row['value']!r} is not value_int / scale = {row['value_int']} / {row['scale']}")
        for name, found in (("cost", problem.cost(selection)), ("n_selected", len(selection))):
            if row[name] != found:
                raise _Refused(f"{name} is {row[name]} in solutions, {found} by its selection")
        return problem.value(selection), selection

    def _demand_canonical(self, row: dict, selection: tuple[int, ...]) -> None:
        """_Refused unless `selection`, an optimum, is the one that the protocol reports."""
        problem, form = self._problems.of(row)
        key = (form, row["budget"])
        if key not in self._canonical:
            value = form.value(selection)
            self._canonical[key] = self._prover.model(form).canonical_selection(problem, row["budget"], value)
        best = self._canonical[key]
        if best == selection:
            return
        if problem.cost(best) < problem.cost(selection):
            raise _Refused(f"a selection of equal value costs {problem.cost(best)}, not {problem.cost(selection)}")
        names = ", ".join(problem.candidate_ids[i] for i in best)
        raise _Refused(f"of the selections of equal value and cost, {names} comes first")


def _compare(row: dict, value: Fraction, proved: Answer) -> str:
    """The status of a row whose selection is feasible and worth `value`, given the independent answer."""
    claimed, bound = Fraction(row["value_int"], row["scale"]), Fraction(row["bound_int"], row["scale"])
    if row["status"] not in (*CLAIMS_OPTIMUM, "limit"):
        raise _Refused(f"status {row['status']!r} is none that a solution can have")
    claims = row["status"] in CLAIMS_OPTIMUM
    if bound < claimed or (claims and bound != claimed):
        raise _Refused(f"bound_int {row['bound_int']} does not go with value_int {row['value_int']} ({row['status']})")
    if value != claimed:
        return "mismatch"
    # Both hold for every true claim, whether or not the independent solver finished.
    beaten = proved.value is not None and proved.value > bound
    excluded = proved.bound is not None and proved.bound < claimed
    if beaten or excluded:
        return "mismatch"
    if not claims:
        return "unclaimed"
    return proved.status


def fraction_text(numerator: int, denominator: int) -> str:
    return str(Fraction(numerator, denominator)) if denominator else f"{numerator}/0"


def raise_on_mismatch(checks: pa.Table) -> None:
    """Raise MismatchError for the first mismatch of a table `checks`, naming the instance and both values."""
    bad = [row for row in checks.to_pylist() if row["status"] == "mismatch"]
    if bad:
        more = f" ({len(bad)} mismatches in all)" if len(bad) > 1 else ""
        raise MismatchError(describe(bad[0]) + more)


def describe(check: Mapping[str, Any]) -> str:
    """One line on a row of table `checks`: the instance, the claim, what the solver and the selection say."""
    where = (
        f"suite {check['suite']}, package {check['package_id']}, budget {check['budget']}, "
        f"pool {check['pool']}, cost model {check['cost_model']}, k = {check['k']}, "
        f"saturation {check['saturation']} (solution {check['solution_id']})"
    )
    selected = check["selected_value"]
    selection = selected if selected.startswith(_REFUSED) else f"the selection is worth {selected}"
    proof = f"{check['value'] or 'nothing'} with bound {check['bound'] or 'none'}"
    return f"{where}: solutions say {check['solution_value']}; {check['solver']} finds {proof}; {selection}"


def count_checks(checks: pa.Table) -> dict[str, int]:
    """Counts of a table `checks`: "rows" of solutions, distinct "instances", and instances by status
    ("optimal" are the equal ones, "limit", "unclaimed", "mismatch")."""
    statuses = Counter(checks.column("status").to_pylist())
    return {
        "rows": sum(checks.column("n_packages").to_pylist()),
        "instances": len(checks),
        **{status: statuses[status] for status in STATUSES},
    }
