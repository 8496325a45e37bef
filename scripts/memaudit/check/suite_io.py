"""The verification of one suite of a results folder: packages, budgets, solutions, checks, scores."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..errors import InputError
from ..table_io import read_metadata, read_table
from .certify import STATUSES, Problems, Solved, check_solutions, count_checks, define, describe
from .packages_io import Packages, read_suite
from .places import Place, misplaced, named, places
from .plan import Point, Setting, SuitePlan
from .report import How, Report
from .scored import SUMMARISED, Measured, Optimum, score_faults
from .stored import budget_faults, check_faults, definition_faults, solution_faults
from .worth import Meter

STAGES = ("solutions", "checks", "scores")


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
        self._places = {stage: list(places(results / stage, suite)) for stage in STAGES}
        self._budgets = self._read_budgets()
        empty = SuitePlan((), ())
        self._plan = plans.get(suite, empty) if plans is not None else self._plan_of_files()
        self._definitions = {part: dict(known) for part, known in definitions.items()}
        self._packages: Packages | None = None
        self._problems: dict[str, Problems] = {}
        self._hashes: dict[int, str] = {}
        # Of each point: its problems, what is there (bundle, pool, package), solutions by (pool, package).
        self._at: dict[Point, Problems] = {}
        self._there: dict[Point, Counter[tuple[str, str, str]]] = defaultdict(Counter)
        self._broken: set[Point] = set()
        self._rows: dict[Point, dict[tuple[str, str], dict]] = defaultdict(dict)
        self._kept: dict[Point, dict[tuple[str, str], list[str]]] = defaultdict(lambda: defaultdict(list))
        self._proven: dict[Point, set[str]] = defaultdict(set)
        self._meters: dict[tuple, Meter] = {}
        self.scored: list[pa.Table] = []

    def verify(self) -> None:
        folder = self._results / "packages" / self._suite
        planned = self._plan if self._plan.settings else None
        try:
            self._packages, faults = read_suite(folder, self._suite, planned)
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
        return self._results / "budgets" / f"{self._suite}.parquet"

    def _plan_of_files(self) -> SuitePlan:
        """Without a manifest: every cost model and budget of budgets/, with every k, saturation and solver found."""
        found = [p for stage in STAGES for p in self._places[stage] if isinstance(p, Place)]
        rows = [] if self._budgets is None else self._budgets.select(["cost_model", "budget_spec"]).to_pylist()
        models = dict.fromkeys([row["cost_model"] for row in rows] or [p.point.cost_model for p in found])
        specs = dict.fromkeys([row["budget_spec"] for row in rows] or [p.point.budget_spec for p in found])
        shapes = sorted({(p.point.k, p.point.saturation) for p in found}) or [(1, "cap1")]
        settings = tuple(Setting(model, *shape) for model in models for shape in shapes)
        solvers = {p.kind for p in self._places["checks"] if isinstance(p, Place)}
        return SuitePlan(settings, tuple(specs), solvers=tuple(sorted(solvers)))

    def _of(self, stage: str, kind: str) -> list[Place]:
        return [p for p in self._places[stage] if isinstance(p, Place) and p.kind == kind]

    def _wanted(self, place: Place, bundles: Iterable[str] | None) -> bool:
        return self._plan.holds(place.point, place.bundle, place.shard, None if bundles is None else list(bundles))

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
                    stage == "checks" and p.kind not in (self._plan.solvers or ())
                ):
                    files[p.path.parent] += 1
        self._report.left_over += [f"{path}: {n} files that are no longer configured" for path, n in files.items()]

    # ---- solutions, their checks, budgets

    def _solutions(self, place: Place) -> None:
        path, point, report = place.path, place.point, self._report
        report.counts["files"] += 1
        try:
            solutions = read_table(path, "solutions")
            selections = read_table(place.sibling("selections"), "solution_selections")
            problem = _problem(solutions)
            budget = self._packages.budget(point.budget_spec, self._cost_model(point.cost_model, problem))
            faults = misplaced(solutions, place.constants())
            faults += misplaced(selections, place.constants("budget_spec"))
            for table in (solutions, selections):
                faults += misplaced(table, {"budget": budget}, "by its packages")
            faults += definition_faults(problem, self._definitions)
            problems = self._problems_of(problem)
            checks = check_solutions(
                solutions, selections, {}, self._how.solver, **problem, ties=self._how.ties, limit=self._how.limit,
                solved=self._solved, problems=problems,
            )  # fmt: skip
            rows = solutions.to_pylist()
            faults += solution_faults(rows, problems, self._hashes)
        except InputError as error:
            self._broken.add(point)
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
            self._at[point] = problems
        self._checks(place, checks)
        if self._is_solution(place):
            bundle = place.bundle if self._plan.bundles is not None else ""
            self._there[point].update((bundle, row["pool"], row["package_id"]) for row in rows)
        elif self._is_planned(point):  # a bundle that is left over beside those that count
            return
        for row in rows:
            self._rows[point][row["pool"], row["package_id"]] = row
        columns = (selections.column(c).to_pylist() for c in ("pool", "package_id", "candidate_id"))
        for pool, package_id, candidate_id in zip(*columns, strict=True):
            self._kept[point][pool, package_id].append(candidate_id)

    def _cost_model(self, name: str, problem: dict[str, Any]) -> Any:
        """The definition of a cost model; without a manifest, that of the first file that has one."""
        known = self._definitions["cost_models"]
        if name not in known:
            if name not in problem["cost_models"]:
                raise InputError(f"its metadata does not define cost model {name!r}")
            known[name] = problem["cost_models"][name]
        return known[name]

    def _is_planned(self, point: Point) -> bool:
        return point[:3] in self._plan.settings and point.budget_spec in self._plan.specs

    def _problems_of(self, problem: dict[str, Any]) -> Problems:
        key = json.dumps(problem, sort_keys=True)
        if key not in self._problems:
            self._problems[key] = Problems(self._packages.rows, define(**problem))
        return self._problems[key]

    def _checks(self, place: Place, again: pa.Table) -> None:
        """The stored checks of a file of solutions against those just made."""
        folder = self._results / "checks" / self._suite / place.point.folder
        there = {p.kind for p in self._places["checks"] if isinstance(p, Place) and self._same_file(p, place)}
        wanted = self._plan.solvers if self._is_solution(place) else ()
        for solver in sorted({*wanted, *there}):
            path = folder / f"{place.stem}.{solver}.parquet"
            try:
                stored = read_table(path, "checks")
                faults = misplaced(stored, place.constants("budget_spec"))
                self._report.add(path, [*faults, *check_faults(stored, again, solver)])
            except InputError as error:
                self._unreadable(path, error)
                continue
            self._proven[place.point].update(stored.filter(stored.column("equal")).column("solution_id").to_pylist())

    @staticmethod
    def _same_file(a: Place, b: Place) -> bool:
        return (a.point, a.stem) == (b.point, b.stem)

    def _budget_table(self) -> None:
        if self._budgets is None:
            return
        faults = misplaced(self._budgets, {"suite": self._suite})
        if self._plan.settings:
            models = self._definitions["cost_models"]
            faults += budget_faults(self._budgets, self._plan, self._planned, self._packages, models)
        self._report.add(self._budget_path, faults)

    def _complete_solutions(self) -> None:
        """Every point's files are there, and hold every package once a pool."""
        plan = self._plan
        pools = {(bundle, pool) for bundle, own in (plan.bundles or {}).items() for pool in own}
        if plan.bundles is None:
            pools = {("", pool) for there in self._there.values() for _, pool, _ in there} | {("", "full")}
        wanted = {(bundle, pool, i) for bundle, pool in pools for i in self._packages.rows}
        for point in plan.points:
            folder = self._results / "solutions" / self._suite / point.folder
            expected = [f"{bundle}.{shard}" for bundle in plan.bundles or () for shard in range(plan.shards or 0)]
            missing = self._missing("solutions", folder, expected, ("solutions", "selections"))
            if missing or point in self._broken:
                continue
            self._report.add(folder, _not_once(self._there[point], wanted, ("bundle", "pool", "package_id")))

    def _missing(self, stage: str, folder: Path, stems: list[str], kinds: tuple[str, ...]) -> bool:
        """Report the files of a planned point that are not there; without known names, that there are none."""
        there = {p.path for p in self._places[stage] if isinstance(p, Place)}
        missing = [path for stem in stems for kind in kinds if (path := folder / f"{stem}.{kind}.parquet") not in there]
        for path in missing:
            self._report.faults.append(f"{path}: no such file, and the run is configured to make it")
        if not stems and not any(path.parent == folder for path in there):
            self._report.faults.append(f"{folder}: no files here, and the suite has this setting and budget")
            return True
        return bool(missing)

    # ---- scores

    def _scores(self) -> None:
        there: dict[Point, Counter[tuple[str, str]]] = defaultdict(Counter)
        broken: set[Point] = set()
        for place in self._of("scores", "scores"):
            try:
                scores = read_table(place.path, "scores")
                selections = read_table(place.sibling("selections"), "selections")
                faults = misplaced(scores, place.constants())
                faults += misplaced(selections, place.constants("budget_spec"))
                if place.point not in self._at:
                    raise InputError("there are no readable solutions of its setting and budget")
                faults += self._score_faults(place, scores, selections)
            except InputError as error:
                broken.add(place.point)
                self._unreadable(place.path, error)
                continue
            n = self._report.add(place.path, faults)
            self._report.counts["scores"] += len(scores)
            self._how.log(f"{place.path}: {len(scores)} scores of {len(selections)} kept memories, {n} faults")
            if self._is_score(place):
                columns = (scores.column(c).to_pylist() for c in ("writer", "package_id"))
                there[place.point].update(zip(*columns, strict=True))
                if place.point not in self._merged:
                    self.scored.append(scores.select(SUMMARISED))
        self._complete_scores(there, broken)

    def _score_faults(self, place: Place, scores: pa.Table, selections: pa.Table) -> list[str]:
        point = place.point
        budget = self._packages.budget(point.budget_spec, self._definitions["cost_models"][point.cost_model])
        faults = [f for t in (scores, selections) for f in misplaced(t, {"budget": budget}, "by its packages")]
        rows = self._rows[point]
        optima = {i: self._optimum(row, point) for (pool, i), row in rows.items() if pool == "full"}
        chosen = {key: frozenset(self._kept[point].get(key, ())) for key in rows}
        made: dict[str, Measured | None] = {}

        def measured(package_id: str) -> Measured | None:
            if package_id not in made:
                made[package_id] = self._measured(package_id, point)
            return made[package_id]

        pools = self._definitions["pools"]
        writers = None if self._plan.writers is None else {name: e for name, (_, e) in self._plan.writers.items()}
        return [*faults, *score_faults(scores, selections, measured, optima, chosen, pools, writers)]

    def _optimum(self, row: dict, point: Point) -> Optimum:
        if row["scale"] < 1:
            raise InputError(f"package {row['package_id']}: its solution has scale {row['scale']}")
        raised = row["status"] == "optimal" and row["solution_id"] in self._proven[point]
        return Optimum(Fraction(row["value_int"], row["scale"]), "cross_checked" if raised else row["status"])

    def _measured(self, package_id: str, point: Point) -> Measured | None:
        package = self._packages.rows.get(package_id)
        if package is None:
            return None
        row = {"package_id": package_id, "pool": "full", **point._asdict()}
        problem, _ = self._at[point].of(row)
        meter = Meter(package, problem, self._packages.required.get(package_id, {}))
        meter = self._meters.setdefault((point[:3], meter.content), meter)
        types = {c.candidate_id: c.representation_type for c in package.candidates}
        return Measured(meter, problem.position, types, self._packages.distribution[package_id])

    @property
    def _merged(self) -> set[Point]:
        """Points whose budget comes to the same amount as an earlier one's: the summary leaves them out."""
        rows = [] if self._budgets is None else self._budgets.to_pylist()
        doubled = {(r["cost_model"], r["budget_spec"]) for r in rows if r["merged_into"] != r["budget_spec"]}
        return {p for p in self._plan.points if (p.cost_model, p.budget_spec) in doubled}

    def _complete_scores(self, there: dict[Point, Counter[tuple[str, str]]], broken: set[Point]) -> None:
        """Every writer has every package once; one that learns from part of them, the held-out ones."""
        plan = self._plan
        names = sorted({w for counts in there.values() for w, _ in counts} if plan.writers is None else plan.writers)
        if not names:
            return
        stems = []
        if plan.writers is not None:
            bundles = sorted({bundle for bundle, _ in plan.writers.values()})
            stems = [f"{bundle}.{shard}" for bundle in bundles for shard in range(plan.shards or 0)]
        all_ids = set(self._packages.rows)
        held_out = {i for i, seed in self._packages.seeds.items() if seed is not None and seed % 2 == 1}
        for point in plan.points:
            folder = self._results / "scores" / self._suite / point.folder
            if self._missing("scores", folder, stems, ("scores", "selections")) or point in broken:
                continue
            wanted = set()
            for name in names:
                own = {i for writer, i in there[point] if writer == name}
                ids = held_out if own == held_out and self._may_learn(name) else all_ids
                wanted |= {(name, i) for i in ids}
            self._report.add(folder, _not_once(there[point], wanted, ("writer", "package_id")))

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
    return "row of " + ", ".join(f"{name} {value}" for name, value in zip(names, key, strict=True) if value)


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
