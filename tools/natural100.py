"""Make natural100: choose its examples, write the labellers' bundles, take labels in, assemble the packages.

    python tools/natural100.py choose FILE IDS         data/natural100/choice.json
    python tools/natural100.py bundles PASS FILE OUT   what labellers of a pass are given, into folder OUT
    python tools/natural100.py submit PASS BATCH FILE LABELS
                                                       check what a labeller handed in (JSON lines) and keep it as
                                                       data/natural100/labels/PASS/BATCH.jsonl
    python tools/natural100.py assemble                data/natural100/primary and /adjudicated from the labels
    python tools/natural100.py text FILE OUT           both packages with all texts filled in, into folder OUT

PASS: a1, a2, b; then the second round's narrow, again_a, again_b (memaudit.natural.second_round).
FILE: LongMemEval-S support slices (JSON); IDS: {"question_ids": [...]} of the paper's Natural-200 draw.
The labels hold no text of FILE: quotes become pointers. See data/natural100/README.md.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

from memaudit.analysis.agreement import draw_frame  # noqa: E402
from memaudit.errors import InputError  # noqa: E402
from memaudit.natural import labelled, labelling, second_round  # noqa: E402
from memaudit.natural.conversations import SEPARATOR, Example  # noqa: E402
from memaudit.natural.conversations_io import load_examples  # noqa: E402
from memaudit.natural.coverage_package import build_coverage  # noqa: E402
from memaudit.natural.coverage_package_io import (  # noqa: E402
    load_coverage_package,
    write_coverage_package,
)
from memaudit.natural.coverage_rows import MANIFEST, PARENT_DECISIONS, TABLE_FILES  # noqa: E402
from memaudit.natural.label_files import check_labels  # noqa: E402
from memaudit.natural.pointers import Sessions  # noqa: E402
from memaudit.natural.strict_json import loads  # noqa: E402
from memaudit.table_io import write_text  # noqa: E402

DATA = ROOT / "data" / "natural100"
CHOICE = DATA / "choice.json"
BUNDLES = DATA / "bundles.json"
INDEX = DATA / "index.json"
PASSES = ("a1", "a2", "b", "narrow", "again_a", "again_b")
# Pass -> those whose labels its bundles are made of.
BEFORE = {
    "a1": (),
    "a2": ("a1",),
    "b": ("a1", "a2"),
    "corrections": ("a1", "a2", "b"),
    "narrow": ("a1", "a2", "b", "corrections"),
    "again_a": ("a1", "a2", "b", "corrections", "narrow"),
    "again_b": ("a1", "a2", "b", "corrections", "narrow"),
}
CORRECTION_FILES = ("units", "coverage", "own_words")
COUNTS_BEGIN, COUNTS_END = "<!-- counts -->", "<!-- end of counts -->"
COUNT, SEED = 100, 0
BATCHES_OF_SESSIONS, QUERIES_A_BATCH = 8, 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    choose_ = commands.add_parser("choose")
    choose_.add_argument("file")
    choose_.add_argument("ids")
    bundles_ = commands.add_parser("bundles")
    bundles_.add_argument("labelling_pass", choices=PASSES)
    bundles_.add_argument("file")
    bundles_.add_argument("out")
    submit_ = commands.add_parser("submit")
    submit_.add_argument("labelling_pass", choices=(*PASSES, "corrections"))
    submit_.add_argument("batch")
    submit_.add_argument("file")
    submit_.add_argument("labels")
    commands.add_parser("assemble")
    text_ = commands.add_parser("text")
    text_.add_argument("file")
    text_.add_argument("out")
    arguments = parser.parse_args()
    try:
        {"choose": choose, "bundles": bundles, "submit": submit, "assemble": assemble, "text": text}[arguments.command](
            arguments
        )
    except InputError as error:
        raise SystemExit(f"error: {error}") from error


def choose(arguments: argparse.Namespace) -> None:
    ids = set(loads(Path(arguments.ids).read_text())["question_ids"])
    examples = [e for e in load_examples(arguments.file) if e.question_id in ids]
    missing = sorted(ids - {e.question_id for e in examples})
    chosen, strata = labelling.choose_stratified(examples, COUNT, SEED)
    content = {
        "rule": "the paper's Natural-200 ids that stand in the LongMemEval-S file; strata: question type / number of "
        "sessions (3 = three or more) / abstention; in proportion to the strata, by largest remainder (ties by name); "
        "inside a stratum sorted by id, shuffled by random.Random('{seed}:{stratum}'), the first ones",
        "seed": SEED,
        "not_in_the_file": missing,
        "of": len(examples),
        "strata": strata,
        "question_ids": [e.question_id for e in chosen],
    }
    write_text(CHOICE, json.dumps(content, indent=1) + "\n")
    print(f"{len(chosen)} of {len(examples)} examples: {strata}")


def frame(file: str) -> labelling.Frame:
    ids = set(loads(CHOICE.read_text())["question_ids"])
    return labelling.frame_of([e for e in load_examples(file) if e.question_id in ids])


def labels(labelling_pass: str) -> list[Mapping[str, Any]]:
    """All labels of a pass that were taken in, by batch."""
    return [row for _, row in placed_labels(labelling_pass)]


def placed_labels(labelling_pass: str) -> list[tuple[str, Any]]:
    """The same with the file and line of each."""
    files = sorted((DATA / "labels" / labelling_pass).glob("*.jsonl"))
    return [(f"{file}, line {n}", row) for file in files for n, row in rows_of(file)]


def rows_of(file: Path) -> Iterable[tuple[int, Any]]:
    """(line, value) of each line of JSON that is not blank; InputError naming file and line where one is none."""
    try:
        lines = file.read_text("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: no UTF-8 text ({error}); take the file from the release again") from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield number, loads(line)
            except ValueError as error:
                raise InputError(f"{file}, line {number}: no JSON ({error}); give the whole line") from error


def index() -> Mapping[str, Any]:
    return loads(INDEX.read_text("utf-8"))


def made_by_a1() -> dict[str, Mapping[str, Any]]:
    return {row["session"]: row for row in labels("a1")}


def batches(labelling_pass: str, whole: labelling.Frame) -> dict[str, list[str]]:
    """Batch -> names of the sessions (a1) or queries (other passes) in it.

    Sessions of one query fall into several batches, so that nobody labels one with the other in view.
    """
    if labelling_pass == "a1":
        parts = [list(whole.sessions)[n::BATCHES_OF_SESSIONS] for n in range(BATCHES_OF_SESSIONS)]
    else:
        names = list(whole.queries)
        parts = [names[n : n + QUERIES_A_BATCH] for n in range(0, len(names), QUERIES_A_BATCH)]
    return {f"batch_{n:02d}": part for n, part in enumerate(parts, start=1)}


def check_passes(names: Sequence[str]) -> None:
    """InputError on a label file of these passes that is damaged."""
    if names:
        check_labels(index(), {name: placed_labels(name) for name in names})


def check_again() -> None:
    """InputError where the second round's labels are not of the cells that were to be labelled again."""
    wanted = again_cells()
    for name in ("again_a", "again_b"):
        for row in labels(name):
            odd = {(c, u) for c, u, _ in row["cells"]} ^ set(wanted[row["query"]])
            if odd:
                c, u = min(odd)
                where = f"{DATA / 'labels' / name}: query {row['query']}: cell {c} {u}"
                raise InputError(f"{where} is missing or none of those to label; take the file from the release again")


def bundles(arguments: argparse.Namespace) -> None:
    whole, which = frame(arguments.file), arguments.labelling_pass
    check_passes(BEFORE[which])
    texts = bundle_texts(which, whole)
    for batch, names in batches(which, whole).items():
        write_text(Path(arguments.out) / f"{batch}.txt", "\n\n".join(texts[name] for name in names))
        print(f"{batch}: {len(names)} from {names[0]} to {names[-1]}")
    if which == "a1":
        write_text(INDEX, json.dumps(labelled.index_of(whole), indent=1) + "\n")
    hashes = loads(BUNDLES.read_text()) if BUNDLES.exists() else {}
    hashes[which] = hashes_of(texts)
    hashes["instructions"] = instruction_hashes()
    write_text(BUNDLES, json.dumps(hashes, indent=1, sort_keys=True) + "\n")


def instruction_hashes() -> dict[str, str]:
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted((DATA / "instructions").glob("*"))
    }


def bundle_texts(which: str, whole: labelling.Frame) -> dict[str, str]:
    """Name of each session (a1) or query (other passes) -> what its labeller is given."""
    if which in ("again_a", "again_b"):
        return again_texts(which, whole)
    if which == "narrow":
        units = {name: unit_texts(name) for name in whole.queries}
        return {
            name: second_round.narrow_bundle(name, whole, {u: units[name][u] for u in required})
            for name, required in required_by_either().items()
        }
    derived = {row["query"]: row["derived"] for row in labels("a2")} if which == "b" else {}
    cells = audit_frame() if which == "b" else {}
    return {
        name: bundle(which, name, whole, derived.get(name, ()), cells.get(name, ()))
        for part in batches(which, whole).values()
        for name in part
    }


def required_by_either() -> dict[str, dict[str, str]]:
    """Query -> units that a2 or b requires -> session of each."""
    b, derived = {row["query"]: row for row in labels("b")}, derived_units()
    return {
        row["query"]: {
            unit: derived[unit]["session"] if unit in derived else unit.partition(".")[0]
            for unit in sorted({*row["required"], *b[row["query"]]["required"]})
        }
        for row in sorted(labels("a2"), key=lambda row: row["query"])
    }


def derived_units() -> dict[str, Mapping[str, Any]]:
    return {f"{row['query']}.{unit['unit']}": unit for row in labels("a2") for unit in row["derived"]}


def unit_texts(query: str) -> dict[str, Mapping[str, Any]]:
    """Name of each unit of a query -> its row (kind and text), corrected; narrowed units too, where there are any."""
    sessions = index()["queries"][query]["sessions"]
    rows = {
        f"{row['session']}.{unit['unit']}": unit
        for row in labels("a1")
        for unit in row["units"]
        if row["session"] in sessions
    }
    rows |= {name: unit for name, unit in derived_units().items() if name.startswith(f"{query}.")}
    mended = labelled.corrected_units(labels("corrections"))
    rows = {name: {**unit, **mended.get(name, {})} for name, unit in rows.items()}
    return rows | second().units(query)


def second() -> second_round.SecondRound:
    return second_round.SecondRound(labels("narrow"), labels("again_a"), labels("again_b"))


def again_cells() -> dict[str, list[tuple[str, str]]]:
    """Query -> the cells of the second round."""
    content, made, given = index(), made_by_a1(), second()
    b, corrections = {row["query"]: row for row in labels("b")}, labels("corrections")
    sessions = {query: entry["sessions"] for query, entry in content["queries"].items()}
    types = {f"{s}.{c['candidate']}": c["type"] for s, row in made.items() for c in row["candidates"]}
    types |= {f"{s}.raw": "raw_span" for s, row in made.items() if row["units"]}
    cells = {}
    for query, required in required_by_either().items():
        own = {name: kind for name, kind in types.items() if name.partition(".")[0] in sessions[query]}
        seen = [(c, u) for c, u, _ in b[query]["cells"]]
        seen += [(r["candidate"], r["unit"]) for r in corrections if r["what"] == "coverage" and r["query"] == query]
        kinds = {name: unit["kind"] for name, unit in unit_texts(query).items()}
        needed = given.required(query, required)
        cells[query] = second_round.cells_again(needed, given.units(query), seen, own, kinds)
    return cells


def again_texts(which: str, whole: labelling.Frame) -> dict[str, str]:
    made, texts = made_by_a1(), {}
    for query, cells in again_cells().items():
        shown = {u for _, u in cells}
        units = {name: unit for name, unit in unit_texts(query).items() if name in shown}
        texts[query] = second_round.again_bundle(query, whole, made, units, cells, which)
    return texts


def hashes_of(texts: Mapping[str, str]) -> dict[str, str]:
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


def bundle(which: str, name: str, whole: labelling.Frame, derived: Sequence[Mapping], cells: Sequence[tuple]) -> str:
    if which == "a1":
        return labelling.session_bundle(name, whole.sessions[name])
    if which == "a2":
        return labelling.query_bundle(name, whole, made_by_a1())
    return labelling.query_bundle(name, whole, made_by_a1(), derived) + "\n" + labelling.cells_bundle(cells, name)


def audit_frame() -> dict[str, list[tuple[str, str]]]:
    """Query -> the cells that b labels: the audit frame of a2's coverage (`agreement.draw_frame`).

    Of all queries, also those for which a2 requires nothing: here every unit counts as required.
    """
    content, made, labels_ = index(), labels("a1"), labels("a2")
    tables = labelled.package_tables(content, made, labels_, by_b=False)
    for row in tables["queries"]:
        units = (unit["unit_id"] for unit in tables["units"])
        row["required_unit_ids"] = [u for u in units if u.startswith(row["query_id"] + SEPARATOR)]
    with tempfile.TemporaryDirectory() as folder:
        write_coverage_package(folder, tables)
        drawn = draw_frame(build_coverage(load_coverage_package(folder), "natural100").packages)
    names = labelled.short_names(content, made, labels_)
    query_of = {entry["pointer"]["question_id"]: name for name, entry in content["queries"].items()}
    cells: dict[str, list[tuple[str, str]]] = {name: [] for name in query_of.values()}
    for package_id, c, u in drawn[["package_id", "candidate_id", "unit_id"]].itertuples(index=False):
        cells[query_of[package_id]].append((names[c], names[u]))
    return cells


def submit(arguments: argparse.Namespace) -> None:
    whole, which = frame(arguments.file), arguments.labelling_pass
    known = CORRECTION_FILES if which == "corrections" else batches(which, whole)
    if arguments.batch not in known:
        raise InputError(f"{arguments.batch} is none of {', '.join(known)}")
    check_passes(BEFORE[which])
    names = batches(which, whole).get(arguments.batch, [])
    given = [row for _, row in rows_of(Path(arguments.labels))]
    if which == "corrections":
        taken = labelling.take_corrections(given, whole, made_by_a1(), {r["query"]: r["derived"] for r in labels("a2")})
    elif which == "a1":
        taken = labelling.take_a1(given, {name: whole.sessions[name] for name in names})
    elif which == "narrow":
        taken = second_round.take_narrow(given, whole, {name: required_by_either()[name] for name in names})
    elif which in ("again_a", "again_b"):
        taken = second_round.take_again(given, {name: again_cells()[name] for name in names})
    elif which == "a2":
        taken = labelling.take_a2(given, whole, made_by_a1(), names)
    else:
        derived = {row["query"]: [f"{row['query']}.{d['unit']}" for d in row["derived"]] for row in labels("a2")}
        units = {name: [*labelling.units_of(whole, made_by_a1(), name), *derived[name]] for name in names}
        cells = audit_frame()
        taken = labelling.take_b(given, whole, units, {name: cells[name] for name in names})
    target = DATA / "labels" / which / f"{arguments.batch}.jsonl"
    write_text(target, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in taken))
    print(f"taken: {len(taken)} rows in {target.relative_to(ROOT)}")


def assemble(arguments: argparse.Namespace) -> None:
    print(f"queries: {assemble_into(DATA)}")
    card = (DATA / "README.md").read_text("utf-8")
    before, _, rest = card.partition(COUNTS_BEGIN)
    write_text(DATA / "README.md", before + counts_table() + rest.partition(COUNTS_END)[2])


# What the rows of a file hold, for the Croissant description: field -> type.
FIELDS = {
    "queries.jsonl": {"query_id": "Text", "category": "Text", "asked_on": "Text", "required_unit_ids": "Text"},
    "experiences.jsonl": {"experience_id": "Text", "session_id": "Text", "timestamp": "Text"},
    "evidence_units.jsonl": {"unit_id": "Text", "kind": "Text", "canonical_text": "Text", "state": "Text"},
    "candidate_memories.jsonl": {
        "candidate_id": "Text",
        "experience_id": "Text",
        "representation_type": "Text",
        "serialized": "Text",
        "cost": "Integer",
    },
    "coverage_matrix.jsonl": {"candidate_id": "Text", "unit_id": "Text", "coverage": "Float"},
}


def file_object(folder: Path, name: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject", "@id": name, "name": name, "contentUrl": name,
        "encodingFormat": "application/jsonlines",
        "sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest(),
    }  # fmt: skip


def croissant(folder: Path) -> dict[str, Any]:
    """The data set as Croissant 1.0 JSON-LD: each file of the packages with its hash, and what its rows hold."""
    files, sets = [file_object(folder, PARENT_DECISIONS)], []
    for package in ("primary", "adjudicated"):
        for name, fields in FIELDS.items():
            file_id = f"{package}/{name}"
            files.append(file_object(folder, file_id))
            table = file_id.removesuffix(".jsonl")
            sets.append({
                "@type": "cr:RecordSet", "@id": table, "name": table,
                "field": [
                    {
                        "@type": "cr:Field", "@id": f"{table}/{field}", "name": field, "dataType": f"sc:{kind}",
                        **({"repeated": True} if field.endswith("_ids") else {}),
                        "source": {"fileObject": {"@id": file_id}, "extract": {"column": field}},
                    }
                    for field, kind in fields.items()
                ],
            })  # fmt: skip
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": "natural100",
        "description": "100 MEMAUDIT packages over LongMemEval-S conversations, labelled in two independent passes by "
        "a language model; conversations, questions and answers are pointers with hashes.",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "license": "https://creativecommons.org/licenses/by/4.0/",
        "version": "1.0.0",
        "datePublished": "2026-11-30",
        "creator": {"@type": "sc:Organization", "name": "The MEMAUDIT developers"},
        "citeAs": "See CITATION.cff, and cite LongMemEval (Wu et al., 2024).",
        "isBasedOn": "LongMemEval (MIT, (c) 2024 Di Wu)",
        "distribution": files,
        "recordSet": sets,
    }


CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "samplingRate": "cr:samplingRate",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def counts_table() -> str:
    """The table of counts in the data card, between its marks."""
    content, made, a2, b = index(), labels("a1"), labels("a2"), labels("b")
    statuses = Counter(row["status"] for row in labelled.decisions(content, a2, b))
    kinds = Counter(candidate["type"] for row in made for candidate in row["candidates"])
    # A cell may stand in both files of corrections, with one value.
    corrected = {
        (row["what"].replace("_", " "), row.get("query"), row.get("candidate"), row["unit"])
        for row in labels("corrections")
    }
    again = {(row["query"], c, u) for row in labels("again_b") for c, u, _ in row["cells"]}
    rows = {
        "queries": len(content["queries"]),
        "sessions": len(content["sessions"]),
        "evidence units of pass A1": sum(len(row["units"]) for row in made),
        "evidence units derived in pass A2": sum(len(row["derived"]) for row in a2),
        "sessions with a raw span": sum(bool(row["units"]) for row in made),
        **{f"candidates: {kind}": n for kind, n in sorted(kinds.items())},
        "positive coverage labels of pass A2": sum(len(row["coverage"]) for row in a2),
        "cells labelled by pass B": sum(len(row["cells"]) for row in b),
        "positive coverage labels of pass B": sum(v > 0 for row in b for _, _, v in row["cells"]),
        **{f"corrections of {what}": n for what, n in sorted(Counter(what for what, *_ in corrected).items())},
        "corrections of coverage that count after the second round": len(
            {(q, c, u) for what, q, c, u in corrected if what == "coverage"} - again
        ),
        "required units (of A2 or B) narrowed": len(
            {(row["query"], unit["replaces"]) for row in labels("narrow") for unit in row["units"]}
        ),
        "cells labelled again by both passes": len(again),
        **{f"queries {status}": n for status, n in sorted(statuses.items())},
    }
    lines = [COUNTS_BEGIN, "| what | number |", "|---|---|", *(f"| {what} | {n:,} |" for what, n in rows.items())]
    return "\n".join([*lines, COUNTS_END])


def manifest() -> dict[str, Any]:
    return {
        "generator": labelled.GENERATOR,
        "allowed_inputs": ["the session's turns, cut at 1,800 words", "the session's date"],
        "forbidden_inputs": ["question", "gold answer", "answer marks", "other sessions"],
        "label_files": {
            str(file.relative_to(DATA)): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in sorted((DATA / "labels").rglob("*.jsonl"))
        },
    }


def assemble_into(folder: Path) -> dict[str, int]:
    """Write both packages and all decisions; returns how many queries have each status."""
    content = index()
    check_passes((*PASSES, "corrections"))
    check_again()
    made, a2, b = labels("a1"), labels("a2"), labels("b")
    for name, by_b in (("primary", False), ("adjudicated", True)):
        tables = labelled.package_tables(content, made, a2, b, labels("corrections"), second(), by_b=by_b)
        write_coverage_package(folder / name, tables, manifest())
    rows = labelled.decisions(content, a2, b, second())
    write_text(folder / PARENT_DECISIONS, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    counts = dict(sorted(Counter(row["status"] for row in rows).items()))
    write_text(folder / "adjudication_summary.json", json.dumps(counts, indent=1) + "\n")
    write_text(folder / "croissant.json", json.dumps(croissant(folder), indent=1) + "\n")
    return counts


def refuse_other_dates(examples: Iterable[Example], file: str) -> None:
    """Hashes of pointers are of texts alone; InputError where a session or question has another date than labelled."""
    examples = list(examples)
    sessions = {
        SEPARATOR.join((example.question_id, session.session_id)): session.date_text
        for example in examples
        for session in example.answer_sessions
    }
    questions = {example.question_id: labelled.asked_on(example) for example in examples}
    for name in ("primary", "adjudicated"):
        for table, key, said, dates in (
            ("experiences", "experience_id", "timestamp", sessions),
            ("queries", "query_id", "asked_on", questions),
        ):
            place = DATA / name / TABLE_FILES[table]
            for number, row in rows_of(place):
                date = dates.get(row[key])
                if date != row[said]:
                    found = "missing" if date is None else f"dated {date}"
                    raise InputError(
                        f"{file}: {row[key]} is {found}, and dated {row[said]} in {place}, line {number}; "
                        "name the conversations that natural100 was made from"
                    )


def text(arguments: argparse.Namespace) -> None:
    examples = load_examples(arguments.file)
    sessions = Sessions(examples)
    refuse_other_dates(examples, arguments.file)
    for name in ("primary", "adjudicated"):
        rows = {
            table: [labelled.with_texts(row, sessions) for _, row in rows_of(DATA / name / file)]
            for table, file in TABLE_FILES.items()
            if (DATA / name / file).exists()
        }
        manifest = loads((DATA / name / MANIFEST).read_text("utf-8"))
        kept = {key: value for key, value in manifest.items() if key not in ("schema_version", "counts", "files")}
        write_coverage_package(Path(arguments.out) / name, rows, kept)
        print(f"{Path(arguments.out) / name}: texts filled in")


if __name__ == "__main__":
    main()
