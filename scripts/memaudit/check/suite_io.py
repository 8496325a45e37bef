"""The verification of one suite of a results folder: packages, budgets, solutions, checks, scores."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError
from ..table_io import read_metadata, read_table
from .certify import STATUSES, Problems, check_solutions, count_checks, define, describe
from .curves import PROVEN, CurveRows, check_curves, curve_faults, curves_of, mismatches, sampler
from .ledger import Found
from .model import Problem
from .packages_io import Packages, read_suite
from .places import Place, misplaced, named, places
from .plan import Point, Setting, SuitePlan, base_of
from .prover import Prover, Solved
from .report import How, Report
from .scored import SUMMARISED, Measured, Optimum, score_faults
from .stored import (
    budget_faults,
    check_faults,
    curve_check_faults,
    definition_faults,
    end_faults,
    solution_faults,
    spec_faults,
)
from .worth import Meter

STAGES = ("solutions", "checks", "scores")
_CURVES = "-curves"  # behind the solver's name, in the name of a file of curve checks


class SuiteRun:
    """The verification of one suite. `scored`: its score tables that the summary is made of."""

    def __init__(
        self,
        results: Path,
        suite: str,
        plans: dict[str, SuitePlan] | None,
        definitions: dict[str, dict[str, Any]],
        report: Report,
        solved: Solved,
        how: How,
    ):
        self._results, self._suite, self._report, self._solved, self._how = results, suite, report, solved, how
        self._planned = plans is not None
        self._base = base_of(suite)
        self._places = {stage: list(places(results / stage, suite)) for stage in STAGES}
        self._budgets = self._read_budgets()
        empty = SuitePlan((), ())
        self._plan = plans.get(suite, empty) if plans is not None else self._plan_of_files()
        self._definitions = {part: dict(known) for part, known in definitions.items()}
        self._packages: Packages | None = None
        # What fractions are taken of: a union has the budgets of the suite that it is of.
        self._budgeted: Packages | None = None
        self._problems: dict[str, Problems] = {}
        self._hashes: dict[int, str] = {}
        # Of each setting: its problems on the full pool, what is there (bundle, pool, package, budget; of curves
        # without the budget), ids proved by the run's own checks.
        self._at: dict[Setting, Problems] = {}
        self._there: dict[Setting, Counter[tuple[str, str, str, int]]] = defaultdict(Counter)
        self._curves_there: dict[Setting, Counter[tuple[str, str, str]]] = defaultdict(Counter)
        self._broken: set[Setting] = set()
        self._proven: dict[Setting, set[str]] = defaultdict(set)
        # Of each point: solutions and their selections by (pool, package).
        self._rows: dict[Point, dict[tuple[str, str], dict]] = defaultdict(dict)
        self._kept: dict[Point, dict[tuple[str, str], list[str]]] = defaultdict(lambda: defaultdict(list))
        self._meters: dict[tuple, Meter] = {}
        self.scored: list[pa.Table] = []

    @property
    def packages(self) -> Packages:
        """Of a suite that was verified; InputError where they could not be read."""
        if self._packages is None:
            raise InputError(f"the packages of suite {self._suite} cannot be read")
        return self._packages

    @property
    def settings(self) -> tuple[Setting, ...]:
        return self._plan.settings

    def budgets(self, cost_model: str) -> dict[int, str]:
        """Declared amount -> the spelling that stands for it."""
        return self._declared(cost_model)

    def found(self, setting: Setting, budget: int, package_id: str) -> Found:
        """The solution of a package on the full pool, verified before; InputError where there is none."""
        point, key = Point(setting, budget), ("full", package_id)
        if key not in self._rows[point]:
            where = f"suite {self._suite}, setting {setting.folder}, budget {budget}"
            raise InputError(f"there is no readable solution of package {package_id} ({where})")
        row = self._rows[point][key]
        optimum = self._optimum(row, setting)
        return Found(optimum.value, optimum.status, row["scale"], tuple(self._kept[point].get(key, ())))

    def problem(self, setting: Setting, package_id: str) -> Problem:
        """A package under a setting, on the full pool; InputError where no solutions of the setting can be read."""
        if setting not in self._at:
            raise InputError(f"there are no readable solutions of suite {self._suite}, setting {setting.folder}")
        return self._at[setting].of({"package_id": package_id, "pool": "full", **setting._asdict()})[0]

    def verify(self) -> None:
        folder = self._results / "packages" / self._suite
        planned = self._plan if self._plan.settings else None
        try:
            self._packages, faults = read_suite(folder, self._suite, planned)
            self._budgeted = self._packages
            if self._base is not None:
                self._budgeted, _ = read_suite(self._results / "packages" / self._base, self._base, None)
        except InputError as error:
            self._unreadable(folder, error)
            return
        self._report.add(folder, faults)
        self._how.log(f"{folder}: {len(self._packages.rows)} packages, {len(faults)} faults")
        for place in self._of("solutions", "solutions"):
            self._solutions(place)
        self._budget_table()
        self._complete_solutions()
        if self._how.scores:
            self._scores()
        self._left_over()

    # ---- what must be there

    def _read_budgets(self) -> pa.Table | None:
        path = self._budget_path
        try:
            return read_table(path, "budgets")
        except InputError as error:
            self._unreadable(path, error)
            return None

    @property
    def _budget_path(self) -> Path:
        return self._results / "budgets" / f"{self._base or self._suite}.parquet"

    def _plan_of_files(self) -> SuitePlan:
        """Without a manifest: every cost model and budget of budgets/, with every k, saturation and solver found."""
        found = [p for stage in STAGES for p in self._places[stage] if isinstance(p, Place)]
        rows = [] if self._budgets is None else self._budgets.select(["cost_model", "budget_spec"]).to_pylist()
        own = [row["cost_model"] for row in rows] if self._base is None else []  # a union may lack declared costs
        models = dict.fromkeys(own or [p.setting.cost_model for p in found])
        specs = dict.fromkeys(row["budget_spec"] for row in rows)
        shapes = sorted({(p.setting.k, p.setting.saturation) for p in found}) or [(1, "cap1")]
        settings = tuple(Setting(model, *shape) for model in models for shape in shapes)
        solvers = {p.kind.removesuffix(_CURVES) for p in self._places["checks"] if isinstance(p, Place)}
        return SuitePlan(settings, tuple(specs), solvers=tuple(sorted(solvers)))

    def _declared(self, cost_model: str) -> dict[int, str]:
        """Amount -> the spelling that stands for it. Of two, the first as configured; without a manifest, the one that
        budgets/ names."""
        first: dict[int, str] = {}
        rows = [] if self._planned or self._budgets is None else self._budgets.to_pylist()
        merged = {
            r["budget_spec"] for r in rows if r["cost_model"] == cost_model and r["merged_into"] != r["budget_spec"]
        }
        for spec in self._plan.specs:
            if spec not in merged:
                first.setdefault(self._amount(spec, cost_model), spec)
        return first

    def _amount(self, spec: str, cost_model: str) -> int:
        return self._budgeted.budget(spec, self._definitions["cost_models"][cost_model])

    def _of(self, stage: str, kind: str) -> list[Place]:
        return [p for p in self._places[stage] if isinstance(p, Place) and p.kind == kind]

    def _wanted(self, place: Place, bundles: Iterable[str] | None) -> bool:
        return self._plan.holds(place.setting, place.bundle, place.shard, None if bundles is None else list(bundles))

    def _is_solution(self, place: Place) -> bool:
        return self._wanted(place, self._plan.bundles)

    def _is_score(self, place: Place) -> bool:
        writers = self._plan.writers
        return self._wanted(place, None if writers is None else {bundle for bundle, _ in writers.values()})

    def _unreadable(self, path: Path, error: Exception) -> None:
        why = str(error).removeprefix(f"{path}: ")
        self._report.unreadable.append(f"{path}: {why}")
        self._how.log(f"{path}: cannot be checked: {why}")

    def _left_over(self) -> None:
        """Files that the plan does not hold, by folder."""
        files: Counter[Path] = Counter()
        for stage in STAGES:
            for p in self._places[stage]:
                if isinstance(p, Path):
                    files[p] += 1
                elif not (self._is_score(p) if stage == "scores" else self._is_solution(p)) or (
                    stage == "checks" and p.kind.removesuffix(_CURVES) not in (self._plan.solvers or ())
                ):
                    files[p.path.parent] += 1
        self._report.left_over += [f"{path}: {n} files that are no longer configured" for path, n in files.items()]

    # ---- solutions, their checks, budgets

    def _solutions(self, place: Place) -> None:
        path, setting, report = place.path, place.setting, self._report
        report.counts["files"] += 1
        try:
            solutions = read_table(path, "solutions")
            selections = read_table(place.sibling("selections"), "solution_selections")
            problem = _problem(solutions)
            self._know_cost_model(setting.cost_model, problem)
            faults = misplaced(solutions, place.constants) + misplaced(selections, place.constants)
            faults += self._spec_faults(solutions, setting, self._is_solution(place))
            faults += definition_faults(problem, self._definitions)
            problems = self._problems_of(problem)
            checks = check_solutions(
                solutions, selections, {}, self._how.solver, **problem, ties=self._how.ties, limit=self.limit,
                solved=self._solved, problems=problems,
            )  # fmt: skip
            rows = solutions.to_pylist()
            faults += solution_faults(rows, problems, self._hashes)
        except InputError as error:
            self._broken.add(setting)
            self._unreadable(path, error)
            return
        counts = count_checks(checks)
        report.counts.update(counts)
        for row in checks.to_pylist():
            if row["status"] == "mismatch":
                report.mismatches.append(f"{path}: {describe(row)}")
            elif row["status"] == "unclaimed" and row["value"] == row["solution_value"]:
                report.remarks.append(f"{path}: {named(row)} is a limit, and {row['solver']} proves its value optimal")
        n = report.add(path, faults)
        self._how.log(f"{path}: {counts_text(counts)}, {n} faults")
        if "full" in problem["pools"]:
            self._at[setting] = problems
        self._checks(place, checks)
        self._curves(place, rows, problems)
        if self._is_solution(place):
            bundle = place.bundle if self._plan.bundles is not None else ""
            self._there[setting].update((bundle, row["pool"], row["package_id"], row["budget"]) for row in rows)
        elif setting in self._plan.settings:  # a bundle that is left over beside those that count
            return
        for row in rows:
            self._rows[Point(setting, row["budget"])][row["pool"], row["package_id"]] = row
        columns = (selections.column(c).to_pylist() for c in ("budget", "pool", "package_id", "candidate_id"))
        for budget, pool, package_id, candidate_id in zip(*columns, strict=True):
            self._kept[Point(setting, budget)][pool, package_id].append(candidate_id)

    @property
    def limit(self) -> float:
        """Of one solve: as asked for, else the run's own."""
        return self._plan.limit if self._how.limit is None else self._how.limit

    def _spec_faults(self, table: pa.Table, setting: Setting, wanted: bool) -> Iterable[str]:
        """Lines on the budgets of a table; those of files that are no longer configured need not be declared."""
        model = setting.cost_model
        return spec_faults(table, lambda spec: self._amount(spec, model), self._declared(model) if wanted else None)

    def _know_cost_model(self, name: str, problem: dict[str, Any]) -> None:
        """See that a cost model is defined; without a manifest, as the first file has it."""
        known = self._definitions["cost_models"]
        if name not in known:
            if name not in problem["cost_models"]:
                raise InputError(f"its metadata does not define cost model {name!r}")
            known[name] = problem["cost_models"][name]

    # ---- curves

    def _curves(self, place: Place, rows: list[dict], problems: Problems) -> None:
        """The curves of a file of solutions, their sample solved again, and the stored checks of it."""
        path, report = place.sibling("curves"), self._report
        try:
            table = read_table(path, "curves")
            faults = misplaced(table, place.constants)
            curves = curves_of(table)
            faults += curve_faults(curves, rows, problems)
        except InputError as error:
            self._broken.add(place.setting)
            self._unreadable(path, error)
            return
        faults += end_faults(curves, self._packages, self._ends(place.setting.cost_model))
        if report.add(path, faults):
            return  # what is amiss is told; its sample would be told twice
        self._curve_checks(place, curves, problems)
        bundle = place.bundle if self._plan.bundles is not None else ""
        self._curves_there[place.setting].update((bundle, *curve.key) for curve in curves if self._is_solution(place))

    def _ends(self, cost_model: str) -> Callable[[str], int] | None:
        """Where the curve of a package ends, as configured."""
        if not self._plan.curve:
            return None
        spec = self._plan.curve.max_budget
        if spec is not None:
            end = self._amount(spec, cost_model)
            return lambda package_id: end
        return lambda package_id: self._packages.total_cost(package_id, self._definitions["cost_models"][cost_model])

    def _curve_checks(self, place: Place, curves: list[CurveRows], problems: Problems) -> None:
        stored = self._stored_checks(place, "curve_checks", _CURVES)
        budgets = self._declared(place.setting.cost_model)
        if self._plan.curve:
            draw = sampler(budgets, self._plan.curve.sample)
        else:
            there = {(r["pool"], r["package_id"], r["budget"]) for _, t in stored.values() for r in t.to_pylist()}

            def draw(curve: CurveRows, problem: str) -> list[int]:
                end = curve.head["max_budget"]
                return sorted({end, *(b for *key, b in there if tuple(key) == curve.key and 0 <= b <= end)})

        again = check_curves(curves, problems, Prover(self._how.solver, self.limit, self._solved), draw)
        self._report.mismatches += [f"{place.sibling('curves')}: {line}" for line in mismatches(again)]
        status = Counter(again.column("status").to_pylist())
        counts = {"points": len(again), "points_equal": status[PROVEN], "points_limit": status["limit"]}
        self._report.counts.update(counts | {"curves": len(curves)})
        if curves:
            self._how.log(f"{place.sibling('curves')}: {len(curves)} curves, {curve_counts_text(counts)}")
        finished = set()
        for solver, (path, table) in stored.items():
            self._report.add(path, curve_check_faults(table, again, solver))
            rows = table.to_pylist()
            finished |= {(r["pool"], r["package_id"], r["budget"]) for r in rows if r["status"] != "limit"}
        unproved = [r for r in again.to_pylist() if r["status"] == "limit"]
        self._report.counts["unproved"] += sum((r["pool"], r["package_id"], r["budget"]) in finished for r in unproved)

    def _problems_of(self, problem: dict[str, Any]) -> Problems:
        key = json.dumps(problem, sort_keys=True)
        if key not in self._problems:
            self._problems[key] = Problems(self._packages.rows, define(**problem))
        return self._problems[key]

    def _checks(self, place: Place, again: pa.Table) -> None:
        """The stored checks of a file of solutions against those just made."""
        left_at_limit: set[str] = set()
        proven: set[str] = set()
        for solver, (path, stored) in self._stored_checks(place, "checks").items():
            try:
                self._report.add(path, check_faults(stored, again, solver))
            except InputError as error:
                self._unreadable(path, error)
                continue
            proven.update(stored.filter(stored.column("equal")).column("solution_id").to_pylist())
            at_limit = pc.equal(stored.column("status"), "limit")
            left_at_limit.update(stored.filter(at_limit).column("solution_id").to_pylist())
        self._proven[place.setting] |= proven
        limits = {row["solution_id"] for row in again.to_pylist() if row["status"] == "limit"}
        self._report.counts["unproved"] += len(limits - (left_at_limit - proven))

    def _stored_checks(self, place: Place, name: str, suffix: str = "") -> dict[str, tuple[Path, pa.Table]]:
        """Solver -> table `name` of its checks of a file of solutions, of planned solvers and those that are there."""
        folder = self._results / "checks" / self._suite / place.setting.folder
        there = {
            p.kind.removesuffix(_CURVES)
            for p in self._places["checks"]
            if isinstance(p, Place) and (p.setting, p.stem) == (place.setting, place.stem)
        }
        wanted = self._plan.solvers if self._is_solution(place) else ()
        found = {}
        for solver in sorted({*wanted, *there}):
            path = folder / f"{place.stem}.{solver}{suffix}.parquet"
            try:
                found[solver] = path, read_table(path, name)
            except InputError as error:
                self._unreadable(path, error)
                continue
            self._report.add(path, misplaced(found[solver][1], place.constants))
        return found

    def _budget_table(self) -> None:
        if self._budgets is None or self._base is not None:  # a base's own run judges its table
            return
        faults = misplaced(self._budgets, {"suite": self._suite})
        if self._plan.settings:
            models = self._definitions["cost_models"]
            faults += budget_faults(self._budgets, self._plan, self._planned, self._packages, models)
        self._report.add(self._budget_path, faults)

    def _complete_solutions(self) -> None:
        """Every setting's files are there, and hold every package and declared budget once a pool, and its curve."""
        plan = self._plan
        pools = {(bundle, pool) for bundle, own in (plan.bundles or {}).items() for pool in own}
        if plan.bundles is None:
            found = [*self._there.values(), *self._curves_there.values()]
            pools = {("", key[1]) for there in found for key in there} | {("", "full")}
        for setting in plan.settings:
            folder = self._results / "solutions" / self._suite / setting.folder
            expected = [f"{bundle}.{shard}" for bundle in plan.bundles or () for shard in range(plan.shards or 0)]
            missing = self._missing("solutions", folder, expected, ("solutions", "selections", "curves"))
            if missing or setting in self._broken:
                continue
            one = {(bundle, pool, i) for bundle, pool in pools for i in self._packages.rows}
            budgets = self._declared(setting.cost_model)
            wanted = {(*key, budget) for key in one for budget in budgets}
            names = ("bundle", "pool", "package_id", "budget")
            faults = list(_not_once(self._there[setting], wanted, names))
            there = self._curves_there[setting]
            curved = bool(there) if plan.curve is None else plan.curve is not False
            faults += (f"curves: {line}" for line in _not_once(there, one if curved else set(), names[:3]))
            self._report.add(folder, faults)

    def _missing(self, stage: str, folder: Path, stems: list[str], kinds: tuple[str, ...]) -> bool:
        """Report the files of a planned setting that are not there; without known names, that there are none."""
        there = {p.path for p in self._places[stage] if isinstance(p, Place)}
        missing = [path for stem in stems for kind in kinds if (path := folder / f"{stem}.{kind}.parquet") not in there]
        for path in missing:
            self._report.faults.append(f"{path}: no such file, and the run is configured to make it")
        if not stems and not any(path.parent == folder for path in there):
            self._report.faults.append(f"{folder}: no files here, and the suite has this setting")
            return True
        return bool(missing)

    # ---- scores

    def _scores(self) -> None:
        there: dict[Setting, Counter[tuple[str, str, int]]] = defaultdict(Counter)
        broken: set[Setting] = set()
        for place in self._of("scores", "scores"):
            try:
                scores = read_table(place.path, "scores")
                selections = read_table(place.sibling("selections"), "selections")
                faults = misplaced(scores, place.constants) + misplaced(selections, place.constants)
                if place.setting not in self._at:
                    raise InputError("there are no readable solutions of its setting")
                faults += self._spec_faults(scores, place.setting, self._is_score(place))
                faults += self._score_faults(place.setting, scores, selections)
            except InputError as error:
                broken.add(place.setting)
                self._unreadable(place.path, error)
                continue
            n = self._report.add(place.path, faults)
            self._report.counts["scores"] += len(scores)
            self._how.log(f"{place.path}: {len(scores)} scores of {len(selections)} kept memories, {n} faults")
            if self._is_score(place):
                columns = (scores.column(c).to_pylist() for c in ("writer", "package_id", "budget"))
                there[place.setting].update(zip(*columns, strict=True))
                self.scored.append(scores.select(SUMMARISED))
        self._complete_scores(there, broken)

    def _score_faults(self, setting: Setting, scores: pa.Table, selections: pa.Table) -> list[str]:
        made: dict[str, Measured | None] = {}

        def measured(package_id: str) -> Measured | None:
            if package_id not in made:
                made[package_id] = self.measured(package_id, setting)
            return made[package_id]

        pools = self._definitions["pools"]
        writers = None if self._plan.writers is None else {name: e for name, (_, e) in self._plan.writers.items()}
        faults: list[str] = []
        for budget in sorted({*scores.column("budget").to_pylist(), *selections.column("budget").to_pylist()}):
            point = Point(setting, budget)
            rows = self._rows[point]
            optima = {i: self._optimum(row, setting) for (pool, i), row in rows.items() if pool == "full"}
            chosen = {key: frozenset(self._kept[point].get(key, ())) for key in rows}
            here = (t.filter(pc.equal(t.column("budget"), budget)) for t in (scores, selections))
            faults += score_faults(*here, measured, optima, chosen, pools, writers)
        return faults

    def _optimum(self, row: dict, setting: Setting) -> Optimum:
        if row["scale"] < 1:
            raise InputError(f"package {row['package_id']}: its solution has scale {row['scale']}")
        raised = row["status"] == "optimal" and row["solution_id"] in self._proven[setting]
        return Optimum(Fraction(row["value_int"], row["scale"]), "cross_checked" if raised else row["status"])

    def measured(self, package_id: str, setting: Setting) -> Measured | None:
        """What selections of a package are measured by in a setting; None of an unknown package."""
        package = self._packages.rows.get(package_id)
        if package is None:
            return None
        problem = self.problem(setting, package_id)
        meter = Meter(package, problem, self._packages.required.get(package_id, {}))
        meter = self._meters.setdefault((setting, meter.content), meter)
        types = {c.candidate_id: c.representation_type for c in package.candidates}
        return Measured(meter, problem.position, types, self._packages.distribution[package_id])

    def _complete_scores(self, there: dict[Setting, Counter[tuple[str, str, int]]], broken: set[Setting]) -> None:
        """Every writer has every package once a budget; one that learns from part of them, the held-out ones."""
        plan = self._plan
        names = sorted({w for counts in there.values() for w, *_ in counts} if plan.writers is None else plan.writers)
        if not names:
            return
        stems = []
        if plan.writers is not None:
            bundles = sorted({bundle for bundle, _ in plan.writers.values()})
            stems = [f"{bundle}.{shard}" for bundle in bundles for shard in range(plan.shards or 0)]
        all_ids = set(self._packages.rows)
        held_out = {i for i, seed in self._packages.seeds.items() if seed is not None and seed % 2 == 1}
        for setting in plan.settings:
            folder = self._results / "scores" / self._suite / setting.folder
            if self._missing("scores", folder, stems, ("scores", "selections")) or setting in broken:
                continue
            budgets = self._declared(setting.cost_model)
            wanted = set()
            for name in names:
                own = {i for writer, i, _ in there[setting] if writer == name}
                ids = held_out if own == held_out and self._may_learn(name) else all_ids
                wanted |= {(name, i, budget) for i in ids for budget in budgets}
            self._report.add(folder, _not_once(there[setting], wanted, ("writer", "package_id", "budget")))

    def _may_learn(self, name: str) -> bool:
        """Whether a writer may be one that learns, by its configured entry where that is known."""
        if self._plan.writers is None:
            return True
        entry = self._plan.writers[name][1]
        return entry["parameters"].get("profile") == "learned" or ".py:" in entry["rule"]


def _not_once(there: Counter[tuple], wanted: set[tuple], names: tuple[str, ...]) -> Iterable[str]:
    """Lines on what is not there exactly once."""
    for key in sorted(wanted - there.keys()):
        yield f"no {_key_text(names, key)}"
    for key in sorted(there.keys() - wanted):
        yield f"{_key_text(names, key)} does not belong here"
    for key in sorted(key for key, n in there.items() if n > 1 and key in wanted):
        yield f"{_key_text(names, key)} is there {there[key]} times"


def _key_text(names: tuple[str, ...], key: tuple) -> str:
    return "row of " + ", ".join(f"{name} {value}" for name, value in zip(names, key, strict=True) if value != "")


def _problem(solutions: pa.Table) -> dict[str, Any]:
    """The definitions that travel in a solutions file's metadata."""
    parts = ("pools", "saturations", "cost_models")
    try:
        problem = json.loads(read_metadata(solutions.schema).get("problem", "{}"))
    except json.JSONDecodeError as error:
        raise InputError(f"its metadata key 'problem' is not JSON ({error}); run snakemake again") from error
    missing = [part for part in parts if not isinstance(problem.get(part), dict)]
    if missing:
        raise InputError(f"its metadata key 'problem' lacks {missing}; delete the file and run snakemake again")
    return {part: problem[part] for part in parts}


def counts_text(counts: Counter[str] | dict[str, int]) -> str:
    """Counts of certify.count_checks in words."""
    words = dict(zip(STATUSES, ("equal", "not proved within the limit", "no claim", "mismatches"), strict=True))
    parts = ", ".join(f"{counts[status]} {word}" for status, word in words.items())
    return f"{counts['rows']} rows, {counts['instances']} instances: {parts}"


def curve_counts_text(counts: Counter[str] | dict[str, int]) -> str:
    """Counts of points of curves in words."""
    return (
        f"{counts['points']} points solved again: {counts['points_equal']} equal, "
        f"{counts['points_limit']} not proved within the limit"
    )
