"""The verification of an exported store of a results folder: what was read, its unions, scores, losses and means.

From the store as it was read (stores/{store}/), the suite's packages and the solutions verified before, everything is
computed again: candidates and coverage of the unions, what each pruning rule keeps, values, ratios by every
denominator, losses, lost units, means with intervals, diagnosis, ranges of budgets and anatomy. Not covered: whether
the store was read rightly from its export, columns that nothing depends on (details, user_id, ...), and the words of a
diagnosis' advice.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..errors import InputError
from ..schemas import STORE_TABLES, TABLES
from ..table_io import read_table
from .compare import row_faults
from .draws import JudgedExample
from .exported import EXACT, MemoryRow, memories_of, prune, usable_rules
from .judged_io import JudgedStore
from .ledger import Example, Ledger, Optima, UnitRow, score_row
from .places import misplaced
from .plan import JOIN, Setting, StorePlan
from .report import How, Report
from .store_compared import compared_range_rows, compared_rows
from .store_means import (
    advice_faults,
    anatomy_rows,
    diagnosis_rows,
    most_lost_rows,
    range_rows,
    summary_rows,
    unit_rows,
)
from .suite_io import SuiteRun
from .unions import TABLES as UNION_TABLES
from .unions import Member, union_rows

# Who says what a store covers where no judge does.
_LABELS = "labels"
_READ = ("store_memories", "ingest", "store_coverage")
_SCORED = {"store_scores": "scores", "store_selections": "selections", "store_losses": "losses"}
_SCORED |= {"store_lost_units": "lost_units"}
# What a row of `ingest` may be about.
_WHAT = {"count", "format", "skipped", "warning", "partial", "note", "column", "labels", "judge", "package"}
# Means that are sums of floats.
_CLOSE = {
    "store_summary": {c for c in TABLES["store_summary"].schema.names if c.startswith("mean_") or "_ratio" in c},
    "store_diagnosis": {c for c in TABLES["store_diagnosis"].schema.names if c.startswith(("mean_", "drawn_"))},
    "store_anatomy": {"value"},
    "store_units": {"covered"},
    "store_compared": {f"{c}{end}" for c in ("ratio", "other_ratio", "difference") for end in ("", "_low", "_high")},
}
# The tables of several stores together.
_COMPARED, _COMPARED_RANGES = "store_compared", "store_compared_ranges"


def verify_stores(
    results: Path, plans: Mapping[str, StorePlan], runs: Mapping[str, SuiteRun], report: Report, how: How
) -> None:
    """Check all stores of `plans`; `runs`: the suites and unions, verified before. Faults and unreadable files go to
    the report; counts: stores, store_rows."""
    made: dict[str, StoreRun] = {}
    for name, plan in plans.items():
        try:
            made[name] = StoreRun(results, plan, runs, report, how)
        except InputError as error:
            report.unreadable.append(f"{results / 'stores' / name}: {error}")
    unions = [(plan.union + end, [name], bool(end)) for name, plan in plans.items() for end in ("", f"{JOIN}alone")]
    joint = {f"{plan.suite}{JOIN}joint": plan.compared for plan in plans.values() if plan.compared}
    unions += [(union, list(compared), False) for union, compared in joint.items()]
    for union, members, alone in unions:
        if all(member in made for member in members):
            _verify_union(results, union, [made[member].member for member in members], alone, report)
    if how.scores:
        again: dict[str, dict[str, list[dict]]] = defaultdict(lambda: defaultdict(list))
        for name, run in made.items():
            try:
                for table, rows in run.verify().items():
                    again[plans[name].suite][table] += rows
            except InputError as error:
                report.unreadable.append(f"{results / 'stores' / name}: {error}")
                again[plans[name].suite]["broken"].append({"store": name})
        for suite in dict.fromkeys(plan.suite for plan in plans.values()):
            compared = {name: plans[name] for name in _compared(plans, suite)}
            _verify_means(results, suite, again[suite], report)
            _verify_comparison(results, suite, compared, again[suite], report)
    _left_over(results, plans, report)


def _verify_union(results: Path, union: str, members: Sequence[Member], alone: bool, report: Report) -> None:
    base = results / "packages" / union.partition(JOIN)[0]
    folder = results / "packages" / union
    try:
        tables = {name: read_table(base / f"{name}.parquet", name).to_pylist() for name in UNION_TABLES}
        again = union_rows(tables, members, alone)
        for name, (key, _) in UNION_TABLES.items():
            path = folder / f"{name}.parquet"
            report.add(path, row_faults(read_table(path, name), again[name], ("package_id", *key)))
    except InputError as error:
        report.unreadable.append(f"{folder}: {error}")


def _verify_means(results: Path, suite: str, again: Mapping[str, list[dict]], report: Report) -> None:
    """The tables of single stores of a suite; those of stores that could not be computed again are told before."""
    broken = {row["store"] for row in again.get("broken", ())}
    for name in (name for name in STORE_TABLES if name not in (_COMPARED, _COMPARED_RANGES)):
        path = results / "analysis" / suite / f"{name}.parquet"
        try:
            table = read_table(path, name)
        except InputError as error:
            report.unreadable.append(str(error))
            continue
        stored = table.to_pylist()
        kept = pa.array([row["store"] not in broken for row in stored], pa.bool_())
        faults = list(row_faults(table.filter(kept), again[name], TABLES[name].key, _CLOSE.get(name, ())))
        if name == "store_diagnosis":
            faults += advice_faults(stored, again[name])
        report.add(path, faults)
        report.counts["store_rows"] += len(stored)


def _compared(plans: Mapping[str, StorePlan], suite: str) -> tuple[str, ...]:
    """The stores of a suite's comparison, as configured; none where it has none."""
    return next((plan.compared for plan in plans.values() if plan.suite == suite and plan.compared), ())


def _verify_comparison(
    results: Path, suite: str, plans: Mapping[str, StorePlan], again: Mapping[str, list[dict]], report: Report
) -> None:
    """The tables of compared stores (plans: of each), unless one of these could not be computed again."""
    by_store = {name: [row for row in again["store_scores"] if row["store"] == name] for name in plans}
    if not all(by_store.values()):
        return
    again = list(compared_rows(by_store, plans))
    stored = _checked(results, suite, _COMPARED, again, report)
    _checked(results, suite, _COMPARED_RANGES, compared_range_rows(again, stored), report)


def _checked(results: Path, suite: str, name: str, again: Iterable[Mapping[str, Any]], report: Report) -> list[dict]:
    """The rows of a suite's table, compared; none of one that cannot be read."""
    path = results / "analysis" / suite / f"{name}.parquet"
    try:
        table = read_table(path, name)
    except InputError as error:
        report.unreadable.append(str(error))
        return []
    report.add(path, row_faults(table, again, TABLES[name].key, _CLOSE.get(name, ())))
    report.counts["store_rows"] += len(table)
    return table.to_pylist()


def _left_over(results: Path, plans: Mapping[str, StorePlan], report: Report) -> None:
    names = sorted(p.name for p in (results / "stores").glob("*") if p.is_dir() and p.name not in plans)
    report.left_over += [f"{results / 'stores' / name}: a store that is no longer configured" for name in names]


class StoreRun:
    """One store, as `member` of unions; `verify` checks its tables. InputError where what was read is not there."""

    def __init__(self, results: Path, plan: StorePlan, runs: Mapping[str, SuiteRun], report: Report, how: How):
        self._results, self._plan, self._runs, self._report, self._how = results, plan, runs, report, how
        folder = results / "stores" / plan.name
        tables = {name: read_table(folder / f"{name}.parquet", name) for name in _READ}
        for name, table in tables.items():
            report.add(folder / f"{name}.parquet", misplaced(table, {"store": plan.name}))
        self._ingest = tables["ingest"].to_pylist()
        self._memory_rows = tables["store_memories"].to_pylist()
        self._cells = tables["store_coverage"].to_pylist()
        memories = memories_of(self._memory_rows)
        ids = sorted({row["instance_id"] for row in self._ingest if row["what"] == "format"})
        self._stores: dict[str, list[MemoryRow]] = {i: memories.get(i, []) for i in ids}
        self._base = self._run(plan.suite)
        self._unit_rows = read_table(results / "packages" / plan.suite / "units.parquet", "units").to_pylist()
        self._units: dict[str, dict[str, UnitRow]] = defaultdict(dict)
        for row in self._unit_rows:
            self._units[row["package_id"]][row["unit_id"]] = UnitRow(row["role"], row["kind"], row["text"])
        by_example: dict[str, list[dict]] = defaultdict(list)
        for row in self._cells:
            by_example[row["instance_id"]].append(row)
        self._judge = self._judged_by() if plan.labels != _LABELS else None
        self.member = Member(self._stores, by_example, plan.memory_costs["declared"])
        for name, faults in (
            ("store_memories", self._memory_faults(memories)),
            ("ingest", self._ingest_faults()),
            ("store_coverage", self._coverage_faults()),
        ):
            report.add(folder / f"{name}.parquet", faults)
        report.counts["stores"] += 1

    def _judged_by(self) -> JudgedStore:
        units = {i: {u: own[u].text for u in sorted(own)} for i, own in self._units.items()}
        return JudgedStore(self._results, self._plan, self._stores, units, self._cells, self._report, self._how)

    def _run(self, suite: str) -> SuiteRun:
        if suite not in self._runs:
            raise InputError(f"there is nothing of suite {suite}")
        return self._runs[suite]

    # ---- as it was read

    def _memory_faults(self, memories: Mapping[str, Sequence[MemoryRow]]) -> Iterator[str]:
        for package_id, own in memories.items():
            where = f"row instance_id {package_id}"
            if package_id not in self._stores:
                yield f"{where}: table ingest has no such store"
            if [memory.time_index for memory in own] != list(range(len(own))):
                yield f"{where}: time_index does not count from 0 to {len(own) - 1}"
        last: dict[str, Any] = {}
        for row in sorted(self._memory_rows, key=lambda row: (row["instance_id"], row["time_index"])):
            if row["time"] is not None:
                if row["time"] < last.get(row["instance_id"], row["time"]):
                    where = f"row instance_id {row['instance_id']}, memory_id {row['memory_id']}"
                    yield f"{where}: time is {row['time']}, earlier than that of a memory before it"
                last[row["instance_id"]] = row["time"]

    def _ingest_faults(self) -> Iterator[str]:
        """The counts of each store: they add up, and are those of its memories."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for row in self._ingest:
            counts[row["instance_id"]][row["name"] if row["what"] == "count" else row["what"]] += row["count"]
        systems = {row["instance_id"]: row["detail"] for row in self._ingest if row["what"] == "format"}
        for package_id, own in self._stores.items():
            told, kinds, texts = counts[package_id], defaultdict(set), Counter()
            for memory in own:
                kinds[memory.representation_type == "tombstone"].add(memory.group)
                texts[memory.view, unicodedata.normalize("NFC", memory.text), memory.counts] += 1
            found = {
                "kept": len(kinds[False]),
                "tombstones": len(kinds[True]),
                "duplicates": sum(n - 1 for n in texts.values()),
                "read": len(kinds[False]) + len(kinds[True]) + told["skipped"],
            }
            for name, value in found.items():
                if name not in told or told[name] != value:
                    yield f"row instance_id {package_id}, name {name}: count is {told[name]}, computed again {value}"
        for what in sorted({row["what"] for row in self._ingest} - _WHAT):
            yield f"what is {what!r} in a row, which is none of {', '.join(sorted(_WHAT))}"
        for package_id in sorted(counts.keys() - self._stores.keys() - {""}):
            yield f"row instance_id {package_id}: no row of format says that there is such a store"
        for package_id in sorted(self._stores.keys() - self._base.packages.rows.keys()):
            yield f"row instance_id {package_id}: the suite has no such example"
        yield from self._judge_count_faults()
        for row in self._memory_rows:
            if row["system"] != systems.get(row["instance_id"], row["system"]):
                yield f"row instance_id {row['instance_id']}: detail is not the system {row['system']} of its memories"
        without = sorted(set(self._base.packages.rows) - set(self._stores))
        if counts[""]["package"] < len(without):
            yield f"{len(without)} examples have no store, and no row says so: {', '.join(without[:5])}"

    def _judge_count_faults(self) -> Iterator[str]:
        """What `ingest` counts of a judge's words: each count above 0 has a row, and nothing else has."""
        told = {(r["instance_id"], r["name"]): r["count"] for r in self._ingest if r["what"] == "judge"}
        again = {}
        for package_id in self._stores if self._judge is not None else ():
            again |= {(package_id, name): n for name, n in self._judge.counts(package_id).items() if n}
        for package_id, name in sorted(told.keys() | again):
            found, count = told.get((package_id, name)), again.get((package_id, name))
            if found != count:
                yield f"row instance_id {package_id}, what judge, name {name}: count is {found}, computed again {count}"

    def _coverage_faults(self) -> Iterator[str]:
        known = {(i, m.memory_id, m.view) for i, own in self._stores.items() for m in own}
        for row in self._cells:
            where = ", ".join(f"{c} {row[c]}" for c in ("instance_id", "memory_id", "unit_id"))
            if (row["instance_id"], row["memory_id"], row["view"]) not in known:
                yield f"row {where}: the store has no such memory"
            if row["unit_id"] not in self._units[row["instance_id"]]:
                yield f"row {where}: the example has no such unit"
            if row["labels"] != self._plan.labels:
                yield f"row {where}: labels is {row['labels']!r}, configured is {self._plan.labels!r}"

    # ---- scores, losses and means

    def verify(self) -> dict[str, list[dict]]:
        """Check the tables of every setting; its scores and the rows of the tables of single stores, computed again.
        InputError where a setting has no readable solutions."""
        rules = usable_rules(self._stores.values(), self._plan.rules)
        again: dict[str, list[dict]] = defaultdict(list)
        settings = self._run(self._plan.union).settings
        for setting in settings:
            own, examples = self._setting_rows(setting, rules)
            folder = self._results / "stores" / self._plan.name / setting.folder
            for name, kind in _SCORED.items():
                self._compare(folder / f"{kind}.parquet", name, own[name])
                again[name] += own[name]
            if self._judge is not None:
                limit = self._run(self._plan.union).limit
                again["store_verdicts"] += self._judge.verdicts(setting, examples, own["store_losses"], limit)
            self._how.log(f"{folder}: {len(own['store_scores'])} scores")
        budgets = {s.cost_model: sorted(self._budgets(s)) for s in settings}
        without = len(set(self._base.packages.rows) - set(self._stores))
        scores, losses = again["store_scores"], again["store_losses"]
        constants = {"suite": self._plan.suite, "store": self._plan.name}
        told = diagnosis_rows(scores, losses, self._plan, again["store_verdicts"])
        units = unit_rows(self._stores, self._unit_rows, self._covered(), self._plan)
        return {
            "store_scores": scores,
            "store_summary": list(summary_rows(scores, self._plan, without)),
            "store_diagnosis": told,
            "store_ranges": list(range_rows(told, scores)),
            "store_most_lost": list(most_lost_rows(scores, again["store_lost_units"])),
            "store_units": [constants | row for row in units],
            "store_judges": [] if self._judge is None else [constants | row for row in self._judge.worth],
            "store_anatomy": [constants | row for row in self._anatomy(budgets)],
        }

    def _compare(self, path: Path, name: str, again: Iterable[Mapping[str, Any]]) -> None:
        try:
            table = read_table(path, name)
        except InputError as error:
            self._report.unreadable.append(str(error))
            return
        self._report.add(path, row_faults(table, again, TABLES[name].key))
        self._report.counts["store_rows"] += len(table)

    def _budgets(self, setting: Setting) -> dict[int, str]:
        return self._run(self._plan.union).budgets(setting.cost_model)

    def _setting_rows(
        self, setting: Setting, rules: Sequence[str]
    ) -> tuple[dict[str, list[dict]], dict[str, JudgedExample]]:
        """Table of _SCORED -> its rows in one setting, and of a judged store its examples."""
        made: dict[str, list[dict]] = {name: [] for name in _SCORED}
        constants = {"suite": self._plan.suite, "store": self._plan.name, **setting._asdict()}
        said, examples = {"labels": self._plan.labels}, {}
        views = sorted({memory.view for own in self._stores.values() for memory in own})
        for package_id in sorted(self._stores):
            example = self._example(setting, package_id)
            kept: dict[tuple[int, str], tuple[int, ...]] = {}
            for budget, spec in self._budgets(setting).items():
                optima = self._optima(setting, budget, package_id)
                ledger = Ledger(example, optima, budget)
                at = constants | {"budget_spec": spec, "budget": budget}
                for view, rule in self._chosen_by(views, rules):
                    chosen = _selection(example, optima, view, rule, budget)
                    if view == "":
                        kept[budget, rule] = chosen
                    status = optima.store.status if rule == EXACT else "optimal"
                    made["store_scores"].append(at | said | score_row(example, optima, view, rule, status, chosen))
                    made["store_selections"] += _kept(example, chosen, constants | {"budget": budget}, view, rule)
                    if view == "" and optima.proven:
                        made["store_losses"].append(at | said | ledger.loss_row(rule, chosen))
                        made["store_lost_units"] += [at | said | row for row in ledger.lost_rows(rule, chosen)]
            if self._judge is not None:
                alone = self._run(f"{self._plan.union}{JOIN}alone").problem(setting, package_id)
                examples[package_id] = JudgedExample(example, alone, self._judge.rows_of(package_id), kept)
        return made, examples

    @staticmethod
    def _chosen_by(views: Sequence[str], rules: Sequence[str]) -> Iterator[tuple[str, str]]:
        """(view, rule): all views together, and each of several alone, of which no best subset is solved."""
        yield from (("", rule) for rule in rules)
        if len(views) > 1:
            yield from ((view, rule) for view in views for rule in rules if rule != EXACT)

    def _example(self, setting: Setting, package_id: str) -> Example:
        union = self._run(self._plan.union)
        measured = union.measured(package_id, setting)
        if measured is None:
            raise InputError(f"the union {self._plan.union} has no example {package_id}, which has a store")
        problem, rows = union.problem(setting, package_id), union.packages.rows[package_id]
        memories = self._stores[package_id]
        strange = [m.candidate_id for m in memories if m.candidate_id not in problem.position]
        if strange:
            raise InputError(f"the union {self._plan.union} has no candidate {strange[0]} in example {package_id}")
        texts = {c.candidate_id: c.text for c in rows.candidates}
        word = "judged" if self._judge is not None else "coverage"
        return Example(package_id, measured, problem, memories, self._units[package_id], rows.unit_ids, texts, word)

    def _optima(self, setting: Setting, budget: int, package_id: str) -> Optima:
        plan, joint = self._plan, None
        if plan.compared:
            run = self._run(f"{plan.suite}{JOIN}joint")
            if setting in run.settings and package_id in run.packages.rows:
                joint = run.found(setting, budget, package_id)
        return Optima(
            self._base.found(setting, budget, package_id),
            self._run(plan.union).found(setting, budget, package_id),
            joint,
            self._run(f"{plan.union}{JOIN}alone").found(setting, budget, package_id),
        )

    def _covered(self) -> dict[str, dict[str, list[float]]]:
        """Example -> unit -> coverage by each memory."""
        covered: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for row in self._cells:
            covered[row["instance_id"]][row["unit_id"]].append(row["coverage"])
        return covered

    def _anatomy(self, budgets: Mapping[str, Sequence[int]]) -> Iterator[dict[str, Any]]:
        covered = self._covered()
        stale = {i: [u for u, unit in own.items() if unit.role == "invalidation"] for i, own in self._units.items()}
        return anatomy_rows(self._stores, self._ingest, covered, defaultdict(list, stale), budgets, self._plan)


def _selection(example: Example, optima: Optima, view: str, rule: str, budget: int) -> tuple[int, ...]:
    if rule == EXACT:
        return tuple(sorted(example.problem.position[c] for c in optima.store.kept))
    return prune(rule, [m for m in example.memories if view in ("", m.view)], example.problem, budget)


def _kept(
    example: Example, chosen: Iterable[int], constants: Mapping[str, Any], view: str, rule: str
) -> Iterator[dict[str, Any]]:
    """Rows of store_selections."""
    for at in chosen:
        candidate_id = example.problem.candidate_ids[at]
        own = {"candidate_id": candidate_id, "representation_type": example.measured.types[candidate_id]}
        yield {**constants, "package_id": example.package_id, "view": view, "rule": rule, **own}
