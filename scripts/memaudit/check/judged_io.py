"""The verification of an exported store whose coverage a judge said: its words, what it is worth, and the verdicts.

The words are judged again (of large stores a sample of the memories; the coverage in use is compared with all words);
what the judge is worth is compared with the file it ships in; verdicts follow from all draws, and of the draws a sample
is made again, with optima proved by an independent solver.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..schemas import TABLES
from ..table_io import read_table
from .compare import row_faults
from .draws import DRAWS, JudgedExample, Known, verdict_columns
from .exported import MemoryRow
from .ledger import LOSSES
from .places import misplaced
from .plan import Setting, StorePlan
from .prover import Prover
from .proxy import COVERS, ROWS, Proxy, judge_table, refuse_without_text
from .report import How, Report
from .store_means import UPPER, mean_losses

# Judge -> the file, inside the library, that holds all it knows.
_FILES = {"proxy": "stores/proxy.json"}
_OTHER_FILE = "it is not what the judge's file says; a run with another version of it needs that version to be verified"
# Cells of an example that are judged again: memories times units.
_CELLS = 200_000
_CLOSE = {f"drawn_{name}" for name in LOSSES}


class JudgedStore:
    """The judge's word on one store. units: example -> unit id -> text, in the order of ids; cells: rows of
    store_coverage. InputError where its tables cannot be read, or there is no such judge."""

    def __init__(
        self,
        results: Path,
        plan: StorePlan,
        stores: Mapping[str, Sequence[MemoryRow]],
        units: Mapping[str, Mapping[str, str | None]],
        cells: Sequence[Mapping[str, Any]],
        report: Report,
        how: How,
    ):
        if plan.labels not in _FILES:
            raise InputError(f"judge {plan.labels!r} is none that can be checked; known: {', '.join(_FILES)}")
        self._plan, self._stores, self._units, self._report, self._how = plan, stores, units, report, how
        self._folder = results / "stores" / plan.name
        content = json.loads((files("memaudit") / _FILES[plan.labels]).read_text(encoding="utf-8"))
        self._parameters = content["parameters"]
        worth = content["provenance"]
        kappa = min(worth["kappa"], worth["kappa_all_cells"])
        self._known = Known(worth["true_given_judged"], worth["memories_per_example"], kappa)
        self.worth = [{"store": plan.name, **row} for row in judge_table(content, plan.labels)] if stores else []
        judge, judged = (read_table(self._folder / f"{name}.parquet", name) for name in ("store_judge", "store_judged"))
        faults = list(row_faults(judge, self.worth, TABLES["store_judge"].key))
        self._add("store_judge", [*([_OTHER_FILE] if faults else []), *faults])
        self._rows: dict[str, dict[tuple[int, int], str]] = defaultdict(dict)
        columns = (judged[name].to_pylist() for name in ("instance_id", "memory", "unit", "judged"))
        strange = 0
        for package_id, memory, unit, row in zip(*columns, strict=True):
            known = memory in range(len(stores.get(package_id, ()))) and unit in range(len(units.get(package_id, ())))
            if known and row in ROWS:
                self._rows[package_id][memory, unit] = row
            else:
                strange += 1
        twice = len(judged) - strange - sum(map(len, self._rows.values()))
        told = [f"{strange} rows of no memory and unit, or of an unknown word"] if strange else []
        told += [f"{twice} rows stand twice"] if twice else []
        self._add("store_judged", [*misplaced(judged, {"store": plan.name}), *told, *self._word_faults()])
        self._add("store_coverage", self._coverage_faults(cells))

    def _add(self, name: str, faults: Any) -> None:
        self._report.add(self._folder / f"{name}.parquet", faults)

    def counts(self, package_id: str) -> dict[str, int]:
        """Counts of table `ingest` on an example's words; those of 0 stand there too."""
        rows = self._rows.get(package_id, {})
        covering = {memory for (memory, _), row in rows.items() if COVERS[row]}
        memories, words = len(self._stores[package_id]), list(rows.values())
        return {
            "memories": memories,
            "memories that cover nothing": memories - len(covering),
            **{f"cells judged {a:g}": sum(COVERS[row] == a for row in words) for a in (0.5, 1.0)},
        }

    def _word_faults(self) -> Iterator[str]:
        """The words on sampled memories, judged again from the texts."""
        for package_id, memories in sorted(self._stores.items()):
            units = self._units.get(package_id, {})
            refuse_without_text(units, f"example {package_id}")
            judge, rows = Proxy(self._parameters, list(units.values())), self._rows.get(package_id, {})
            own: dict[int, dict[int, str]] = defaultdict(dict)
            for (memory, unit), row in rows.items():
                own[memory][unit] = row
            for i in self._sample(package_id, memories, len(units)):
                again, found = dict(judge.cells(memories[i].text)), own[i]
                for unit in sorted(again.keys() | found):
                    may, told = again.get(unit, {ROWS[0]}), found.get(unit, ROWS[0])
                    if told not in may:
                        where = f"row instance_id {package_id}, memory {i}, unit {unit}"
                        yield f"{where}: judged is {told!r}, computed again {' or '.join(sorted(may))!r}"
                self._report.counts["judged_memories"] += 1

    def _sample(self, package_id: str, memories: Sequence[MemoryRow], units: int) -> list[int]:
        most = max(1, _CELLS // max(1, units))
        if len(memories) <= most:
            return list(range(len(memories)))
        order = sorted(range(len(memories)), key=lambda i: _digest(package_id, memories[i].candidate_id))
        return sorted(order[:most])

    def _coverage_faults(self, cells: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        """The coverage in use is that of the judge's words, all of them."""
        said = {}
        for package_id, rows in self._rows.items():
            ids, memories = list(self._units[package_id]), self._stores[package_id]
            for (memory, unit), row in rows.items():
                if COVERS[row]:
                    said[package_id, memories[memory].memory_id, memories[memory].view, ids[unit]] = COVERS[row]
        names = ("instance_id", "memory_id", "view", "unit_id")
        for cell in cells:
            key = tuple(cell[name] for name in names)
            judged = said.pop(key, 0.0)
            if cell["coverage"] != judged:
                where = ", ".join(f"{name} {value}" for name, value in zip(names, key, strict=True))
                yield f"row {where}: coverage is {cell['coverage']}, judged {judged}"
        for key in said:
            yield f"row {', '.join(f'{n} {v}' for n, v in zip(names, key, strict=True))}: no such row, and it is judged"

    # ---- verdicts

    def rows_of(self, package_id: str) -> Mapping[tuple[int, int], str]:
        return self._rows.get(package_id, {})

    def verdicts(
        self,
        setting: Setting,
        examples: Mapping[str, JudgedExample],
        losses: Sequence[Mapping[str, Any]],
        limit: float | None,
    ) -> list[dict[str, Any]]:
        """Check the tables of verdicts and draws of one setting; rows of store_verdicts, computed again. `losses`: rows
        of store_losses, verified; limit: seconds for one solve. InputError where the draws cannot be read."""
        folder = self._folder / setting.folder
        draws = read_table(folder / "draws.parquet", "store_draws")
        counted = self._counted(losses)
        by_point: dict[tuple[int, str], list[dict[str, Any]]] = defaultdict(list)
        for row in sorted(draws.to_pylist(), key=lambda row: row["draw"]):
            by_point[row["budget"], row["rule"]].append(row)
        proved = self._drawn_again(setting, examples, counted, by_point, limit)
        verdicts, again = [], []
        for (budget, rule), part in counted.items():
            at = {"suite": self._plan.suite, "store": self._plan.name, **setting._asdict(), "budget": budget}
            at |= {"budget_spec": part[0]["budget_spec"], "rule": rule, "judge": self._plan.labels}
            again += [at | {"draw": i} | proved.get((budget, rule, i), {}) for i in range(DRAWS)]
            columns = verdict_columns(mean_losses(part), by_point[budget, rule], self._known.kappa)
            verdicts.append(at | {"kind": "proxy", "n": len(part)} | columns)
        halves = [r for r in draws.to_pylist() if 0 < sum(r[name] is None for name in LOSSES) < len(LOSSES)]
        faults = [
            f"row budget {r['budget']}, rule {r['rule']}, draw {r['draw']}: some losses are missing" for r in halves
        ]
        self._add_at(
            folder / "draws.parquet", [*faults, *row_faults(draws, again, TABLES["store_draws"].key)], len(draws)
        )
        path = folder / "verdicts.parquet"
        try:
            table = read_table(path, "store_verdicts")
        except InputError as error:
            self._report.unreadable.append(str(error))
            return verdicts
        self._add_at(path, row_faults(table, verdicts, TABLES["store_verdicts"].key, _CLOSE), len(table))
        return verdicts

    def _counted(self, losses: Sequence[Mapping[str, Any]]) -> dict[tuple[int, str], list[Mapping[str, Any]]]:
        """(budget, rule) -> its rows of store_losses that a diagnosis counts."""
        found: dict[tuple[int, str], list[Mapping[str, Any]]] = defaultdict(list)
        for row in losses:
            counts = self._stores[row["package_id"]] or not self._plan.skip_empty
            if row["rule"] not in UPPER and counts:
                found[row["budget"], row["rule"]].append(row)
        return dict(sorted(found.items()))

    def _add_at(self, path: Path, faults: Any, rows: int) -> None:
        self._report.add(path, faults)
        self._report.counts["store_rows"] += rows

    def _drawn_again(
        self, setting: Setting, examples: Mapping[str, JudgedExample], counted, stored, limit
    ) -> dict[tuple[int, str, int], dict[str, float]]:
        """(budget, rule, draw) -> mean losses, of sampled draws whose optima are said to be proven, and are."""
        rules: dict[int, dict[str, list[str]]] = defaultdict(dict)
        for (budget, rule), part in counted.items():
            rules[budget][rule] = [row["package_id"] for row in part]
        wanted = self._sampled_draws(setting, rules, stored)
        draws = {draw for _, draw in wanted}
        labels = {i: one.labels(self._plan.name, self._known, draws) for i, one in examples.items()} if draws else {}
        proved: dict[tuple[int, str, int], dict[str, float]] = {}
        for budget, draw in wanted:
            ids = next(iter(rules[budget].values()))
            own = []
            for i in ids:
                one = examples[i].losses(labels[i][draw], budget, list(rules[budget]), Prover(self._how.solver, limit))
                own.append(one)
                if one is None:
                    break
            self._report.counts["draws"] += 1
            if None in own:
                self._report.counts["draws_limit"] += 1
                continue
            for rule in rules[budget]:
                proved[budget, rule, draw] = {
                    name: float(sum(one[rule][name] for one in own) / len(own)) for name in LOSSES
                }
        return proved

    def _sampled_draws(self, setting: Setting, rules, stored) -> list[tuple[int, int]]:
        """(budget, draw), as many as `how.draw_solves` solves allow and at least one, by a hash."""
        said = {
            (budget, row["draw"])
            for (budget, _), rows in stored.items()
            for row in rows
            if budget in rules and row["draw"] in range(DRAWS) and row[LOSSES[0]] is not None
        }
        order = sorted(said, key=lambda point: _digest(self._plan.name, setting.folder, *map(str, point)))
        taken, left = [], self._how.draw_solves
        for budget, draw in order:
            left -= 2 * len(next(iter(rules[budget].values())))
            if taken and left < 0:
                break
            taken.append((budget, draw))
        return taken


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
