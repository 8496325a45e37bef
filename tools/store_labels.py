"""Label what the scripted stores of natural100 hold: write the labellers' bundles, take labels in.

    python tools/store_labels.py bundles PASS FILE OUT   what labellers of pass a, b or s are given, into folder OUT
                                                         (b: after all of a was taken in)
    python tools/store_labels.py submit PASS BATCH FILE LABELS
                                                         check what a labeller handed in (JSON lines) and keep it as
                                                         data/natural100/stores/labels/PASS/BATCH.jsonl
    python tools/store_labels.py assemble                what the labels give, in data/natural100/stores: coverage and
                                                         salience files of each store, the tables in README.md

FILE: LongMemEval-S support slices (JSON). Memories of all three stores stand under neutral names (m1, m2, ...); which
name is which memory says data/natural100/stores/index.json, which labellers do not see. Units have the texts of
natural100's packages. See data/natural100/stores/README.md and memaudit.natural.store_labelling.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tools"), str(ROOT / "tools" / "real_systems")]

import natural100  # noqa: E402
import publish  # noqa: E402
import store_label_figures  # noqa: E402

from memaudit.analysis.agreement import draw_zeros  # noqa: E402
from memaudit.errors import InputError  # noqa: E402
from memaudit.natural import labelled, store_labelling  # noqa: E402
from memaudit.natural.conversations import SEPARATOR, Example  # noqa: E402
from memaudit.natural.label_files import check_frame, check_store_labels  # noqa: E402
from memaudit.natural.labelling import Frame  # noqa: E402
from memaudit.natural.store_labelling import StoredMemory  # noqa: E402
from memaudit.natural.strict_json import loads  # noqa: E402
from memaudit.stores.ingest_io import read_stores  # noqa: E402
from memaudit.table_io import write_text  # noqa: E402

DATA = ROOT / "data" / "natural100" / "stores"
STORES = ("amem-scripted", "letta-scripted", "mem0-scripted")
BUNDLES = DATA / "bundles.json"
PASSES = ("a", "b", "s")
# The view that was labelled, where the format has several renderings of one memory (docs/stores.md).
VIEWS = {"amem-scripted": "full"}
QUERIES_A_BATCH = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    bundles_ = commands.add_parser("bundles")
    bundles_.add_argument("labelling_pass", choices=PASSES)
    bundles_.add_argument("file")
    bundles_.add_argument("out")
    submit_ = commands.add_parser("submit")
    submit_.add_argument("labelling_pass", choices=PASSES)
    submit_.add_argument("batch")
    submit_.add_argument("file")
    submit_.add_argument("labels")
    commands.add_parser("assemble")
    arguments = parser.parse_args()
    try:
        {"bundles": bundles, "submit": submit, "assemble": assemble}[arguments.command](arguments)
    except InputError as error:
        raise SystemExit(f"error: {error}") from error


# ---- What there is to label


@dataclass(frozen=True)
class Task:
    """The queries that the stores are of, by name, with what stands in their bundles.

    frame: all queries of natural100. memories: query -> neutral name -> memory. units: query -> short name -> row of
    the primary package (its texts are the corrected ones).
    """

    frame: Frame
    memories: Mapping[str, Mapping[str, StoredMemory]]
    units: Mapping[str, Mapping[str, Mapping[str, Any]]]

    @property
    def queries(self) -> list[str]:
        return sorted(self.memories)

    @cached_property
    def batches(self) -> dict[str, list[str]]:
        """Batch -> its queries."""
        starts = range(0, len(self.queries), QUERIES_A_BATCH)
        return {f"batch_{n:02d}": self.queries[i : i + QUERIES_A_BATCH] for n, i in enumerate(starts, start=1)}

    def index(self) -> dict[str, Any]:
        """Which memory each neutral name means, without any text."""
        return {
            query: {
                "question_id": self.frame.queries[query].question_id,
                "memories": {name: [m.store, m.memory_id] for name, m in self.memories[query].items()},
            }
            for query in self.queries
        }


def task_of(file: str) -> Task:
    frame = natural100.frame(file)
    found = stored_memories(list(frame.queries.values()))
    names = {example.question_id: name for name, example in frame.queries.items()}
    memories = {
        names[example_id]: store_labelling.named_memories(names[example_id], own)
        for example_id, own in sorted(found.items())
    }
    units = units_by_query()
    return Task(frame, memories, {query: units[frame.queries[query].question_id] for query in memories})


def stored_memories(examples: list[Example]) -> dict[str, list[StoredMemory]]:
    """Example -> the memories of all stores: texts in the default view, A-Mem's notes filled in from the source."""
    found: dict[str, list[StoredMemory]] = {}
    for name in STORES:
        with tempfile.TemporaryDirectory() as folder:
            publish.fill(DATA / name, examples, Path(folder))
            for one in read_stores(folder):
                own = [StoredMemory(name, m.memory_id, m.text) for m in one.store.memories]
                found.setdefault(one.store.instance_id, []).extend(own)
    return found


def units_by_query() -> dict[str, dict[str, Mapping[str, Any]]]:
    """Id of each question of natural100 -> short name -> unit, in the order of sessions."""
    content, made, a2, b = natural100.index(), *(natural100.labels(name) for name in ("a1", "a2", "b"))
    second = natural100.second()
    tables = labelled.package_tables(content, made, a2, b, natural100.labels("corrections"), second, by_b=False)
    names = labelled.short_names(content, made, a2, second)
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in tables["units"]:
        found.setdefault(row["unit_id"].partition(SEPARATOR)[0], {})[names[row["unit_id"]]] = row
    return found


# ---- Bundles


def bundles(arguments: argparse.Namespace) -> None:
    task, which = task_of(arguments.file), arguments.labelling_pass
    texts = bundle_texts(which, task)
    for batch, queries in task.batches.items():
        write_text(Path(arguments.out) / f"{batch}.txt", "\n\n".join(texts[query] for query in queries))
        print(f"{batch}: {len(queries)} from {queries[0]} to {queries[-1]}")
    write_text(DATA / "index.json", json.dumps(task.index(), indent=1) + "\n")
    kept = loads(BUNDLES.read_text("utf-8")) if BUNDLES.exists() else {}
    kept["instructions"] = instruction_hashes()
    kept[which] = natural100.hashes_of(texts)
    write_text(BUNDLES, json.dumps(kept, indent=1, sort_keys=True) + "\n")


def bundle_texts(which: str, task: Task) -> dict[str, str]:
    """Query -> what its labeller is given in a pass."""
    if which == "s":
        return {q: store_labelling.salience_bundle(q, task.frame, task.memories[q]) for q in task.queries}
    texts = {q: store_labelling.coverage_bundle(q, task.frame, task.units[q], task.memories[q]) for q in task.queries}
    if which == "a":
        return texts
    cells = audit_frame(task)
    return {query: store_labelling.frame_bundle(text, query, cells[query]) for query, text in texts.items()}


def instruction_hashes() -> dict[str, str]:
    """sha256 of what the labellers of each pass were told."""
    return {name: hashlib.sha256((DATA / "instructions" / f"{name}.md").read_bytes()).hexdigest() for name in PASSES}


def audit_frame(task: Task) -> dict[str, list[tuple[str, str]]]:
    """Query -> the cells (memory, unit) that b labels."""
    rows = {row["query"]: row for row in labels("a")}
    missing = [query for query in task.queries if query not in rows]
    if missing:
        raise InputError(f"pass a of {', '.join(missing)} was not taken in; submit it before the bundles of b")
    names = {query: (set(task.memories[query]), set(task.units[query])) for query in task.queries}
    return frame_cells(rows, names)


def frame_cells(
    a: Mapping[str, Mapping[str, Any]], names: Mapping[str, tuple[set[str], set[str]]]
) -> dict[str, list[tuple[str, str]]]:
    """Query -> the cells of the frame, by the rule of natural100's audit frame: all that a covers, and a seeded share
    of each query's zero cells. `a`: query -> a's row; `names`: query -> its memories, its units."""
    positive = {query: {(m, u) for m, u, _ in a[query]["coverage"]} for query in names}
    zeros = {
        query: sorted({(m, u) for m in memories for u in units} - positive[query])
        for query, (memories, units) in names.items()
    }
    drawn = draw_zeros(zeros)
    return {query: sorted({*positive[query], *drawn[query]}) for query in names}


# ---- Labels


def labels(labelling_pass: str) -> list[Mapping[str, Any]]:
    """All labels of a pass that were taken in, by batch."""
    return [row for _, row in placed_labels(labelling_pass)]


def placed_labels(labelling_pass: str) -> list[tuple[str, Any]]:
    """The same with the file and line of each."""
    files = sorted((DATA / "labels" / labelling_pass).glob("*.jsonl"))
    return [(f"{file}, line {n}", row) for file in files for n, row in natural100.rows_of(file)]


def submit(arguments: argparse.Namespace) -> None:
    task, which, batch = task_of(arguments.file), arguments.labelling_pass, arguments.batch
    if batch not in task.batches:
        raise InputError(f"{batch} is none of {', '.join(task.batches)}")
    given = [row for _, row in natural100.rows_of(Path(arguments.labels))]
    taken = take(which, given, task, task.batches[batch])
    target = DATA / "labels" / which / f"{batch}.jsonl"
    write_text(target, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in taken))
    print(f"taken: {len(taken)} rows in {target.relative_to(ROOT)}")


def take(which: str, given: list[Mapping[str, Any]], task: Task, queries: list[str]) -> list[dict[str, Any]]:
    memories = {query: list(task.memories[query]) for query in queries}
    if which == "a":
        return store_labelling.take_a(given, task.frame, task.units, memories, queries)
    if which == "s":
        return store_labelling.take_s(given, task.frame, memories, queries)
    cells = audit_frame(task)
    return store_labelling.take_b(given, task.frame, {query: cells[query] for query in queries})


# ---- What the labels give


@dataclass(frozen=True)
class Labelled:
    """All labels, checked: query -> its row in index.json, its units by short name, and the row of each pass."""

    index: Mapping[str, Mapping[str, Any]]
    units: Mapping[str, Mapping[str, Mapping[str, Any]]]
    passes: Mapping[str, Mapping[str, Mapping[str, Any]]]

    def cells(self) -> list[store_label_figures.Cell]:
        """The cells of the frame with the label of both passes."""
        required = required_units()
        found = []
        for query, entry in self.index.items():
            by_a = {(m, u): value for m, u, value in self.passes["a"][query]["coverage"]}
            for memory, unit, value in self.passes["b"][query]["cells"]:
                store, row = entry["memories"][memory][0], self.units[query][unit]
                needed = row["unit_id"] in required
                labels_ = by_a.get((memory, unit), 0.0), value
                found.append(store_label_figures.Cell(query, store, row["kind"], needed, *labels_))
        return found


def labelled_stores() -> Labelled:
    """InputError, naming file, line and id, where a label file is not what the labellers handed in."""
    index, by_id = loads((DATA / "index.json").read_text("utf-8")), units_by_query()
    units = {query: by_id[entry["question_id"]] for query, entry in index.items()}
    names = {query: (set(entry["memories"]), set(units[query])) for query, entry in index.items()}
    rows = {name: placed_labels(name) for name in PASSES}
    check_store_labels(names, rows)
    passes = {name: {row["query"]: row for _, row in placed} for name, placed in rows.items()}
    check_frame(rows["b"], frame_cells(passes["a"], names))
    return Labelled(index, units, passes)


def required_units() -> set[str]:
    """Ids of the units that a question of natural100's adjudicated package requires."""
    file = natural100.DATA / "adjudicated" / "queries.jsonl"
    return {unit for _, row in natural100.rows_of(file) for unit in row["required_unit_ids"]}


def assemble(arguments: argparse.Namespace) -> None:
    found = labelled_stores()
    assemble_into(DATA, found)
    store_label_figures.write(DATA / "README.md", store_label_figures.blocks(found.cells(), found.index, STORES))


def assemble_into(folder: Path, found: Labelled) -> None:
    """Write coverage/STORE.jsonl and salience/STORE.jsonl of every store."""
    ids = {query: {name: row["unit_id"] for name, row in units.items()} for query, units in found.units.items()}
    a, b, s = (found.passes[name] for name in PASSES)
    for store in STORES:
        view = {"memory_view": VIEWS[store]} if store in VIEWS else {}
        coverage = [store_labelling.coverage_row(e, store, a[q], b[q], ids[q]) for q, e in found.index.items()]
        salience = [store_labelling.salience_row(e, store, s[q]) for q, e in found.index.items()]
        for name, rows in (("coverage", coverage), ("salience", salience)):
            lines = (json.dumps({**row, **view}, ensure_ascii=False) + "\n" for row in rows)
            write_text(folder / name / f"{store}.jsonl", "".join(lines))


if __name__ == "__main__":
    main()
