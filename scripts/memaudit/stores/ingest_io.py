"""Stores from files and folders, their Parquet tables, and the command that ingests one."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from ..errors import InputError, listed, plain, shown
from ..files_io import refuse_irregular
from ..natural.coverage_package_io import query_ids
from ..natural.rows_io import read_rows
from ..table_io import write_table
from .adapters import ADAPTERS
from .builder import NO_SALIENCE, refuse_if_strict
from .documents_io import SUFFIXES, kind_of, read_document, stem_of
from .generic import wanted_columns
from .ingest import Document, foreign_users, ingest, match
from .labels import (
    DEFAULT_SCOPE,
    Labels,
    Rated,
    labels,
    refuse_salience_of_another_store,
    salience_of,
    with_salience,
)
from .model import DEFAULT_OPTIONS, MAX_PARSED, Ingest, IngestOptions, Store, lacking
from .times import to_utc

WRITTEN, COVERAGE, SALIENCE = "written_stores", "coverage_scoring_calls", "salience_scoring_calls"
_SHOWN_FILES = 3
PARTS = tuple(sorted({part for adapter in ADAPTERS.values() for part in adapter.parts}))


def read_stores(
    path: str | Path,
    options: IngestOptions = DEFAULT_OPTIONS,
    parts: Mapping[str, str | Path] | None = None,
    *,
    beside: bool = True,
) -> list[Ingest]:
    """The stores of a file or folder, each with its report.

    `parts`: further files of the one store in a file (`history`, `blocks`, `archival`). A folder holds
    written_stores.jsonl (with salience_scoring_calls.jsonl, if it is there and wanted: `beside`), or one file an
    example: the name before the suffixes is the example's id where the file names none, and `<id>.<part>.json` are its
    further files. Names are compared with ids; none is ever made into a path. Raises InputError as `ingest` and
    `read_document`, and where the salience is of another store.
    """
    path = Path(path)
    if not path.is_dir():
        documents = {name: _document(Path(part), options) for name, part in (parts or {}).items()}
        return ingest(_document(path, options), options, documents)
    if parts:
        raise InputError(f"{path}: is a folder, whose further files are called <id>.<part>.json; name no parts")
    if options.instance_id is not None:
        raise InputError(f"{path}: is a folder of several examples; instance_id fits one file")
    written = _label_file(path, WRITTEN)
    if written is not None:
        found = ingest(_document(written, options), options)
        salience = _label_file(path, SALIENCE) if beside else None
        return found if salience is None else _with_salience(found, read_labels(salience), options)
    return _folder(path, options)


def _document(path: Path, options: IngestOptions) -> Document:
    return read_document(path, wanted_columns(options), options.max_bytes)


def _label_file(folder: Path, name: str) -> Path | None:
    files = (folder / f"{name}{suffix}" for suffix in (".jsonl", ".jsonl.gz"))
    return next((file for file in files if file.is_file()), None)


def read_labels(path: str | Path) -> Labels:
    """Coverage or salience rows of a file in the paper's layout (docs/stores.md)."""
    return labels(read_rows(path, "label rows"), str(path))


def label_file_beside(path: str | Path, name: str) -> Path | None:
    """The labels called `name` (COVERAGE, SALIENCE) in the folder of an export; None without any."""
    path = Path(path)
    return _label_file(path if path.is_dir() else path.parent, name)


def store_files(path: str | Path) -> list[str]:
    """What a job reads of an export: a folder's files of known kinds one by one, so that a changed, new or removed
    one is noticed. InputError on what has the name of one and is none."""
    path = Path(path)
    if not path.is_dir():
        return [str(path)]
    files = sorted(p for p in path.iterdir() if kind_of(p.name) and not p.is_dir())
    for file in files:
        refuse_irregular(file)
    return [str(file) for file in files]


def _with_salience(found: list[Ingest], given: Labels, options: IngestOptions) -> list[Ingest]:
    """The stores as the file rates them; memories that it leaves out are told."""
    stores = {one.store.instance_id or "": one.store for one in found}
    refuse_salience_of_another_store(found[0].store.name if found else "", stores, given, options.view)
    return [_rated(one, salience_of(one.store, given, options.view or DEFAULT_SCOPE), options) for one in found]


def _rated(one: Ingest, rated: Rated, options: IngestOptions) -> Ingest:
    report = replace(one.report, ranked=tuple(dict.fromkeys(["salience", *one.report.ranked])))
    if rated.unrated:
        told = f"the first is {plain(rated.unrated[0][0])}; a run refuses them"
        warnings = {**report.warnings, NO_SALIENCE: (len(rated.unrated), told)}
        report = replace(report, warnings=dict(sorted(warnings.items())))
        refuse_if_strict(report, options)
    return Ingest(with_salience(one.store, rated), report)


def _folder(folder: Path, options: IngestOptions) -> list[Ingest]:
    mains: dict[str, Path] = {}
    further: dict[str, dict[str, Path]] = {}
    for file in map(Path, store_files(folder)):
        if file in (_label_file(folder, COVERAGE), _label_file(folder, SALIENCE)):
            continue
        stem = stem_of(file.name)
        part = next((p for p in PARTS if stem.endswith(f".{p}")), None)
        own = mains if part is None else further.setdefault(stem.removesuffix(f".{part}"), {})
        key = stem if part is None else part
        if key in own:
            raise InputError(f"{file}: {own[key].name} is of the same example; keep one")
        own[key] = file
    if not mains and not further:
        raise InputError(f"{folder}: no file ends in {', '.join(SUFFIXES)}; name a file or another folder")
    out: list[Ingest] = []
    for stem in sorted({*mains, *further}):
        parts = {name: _document(file, options) for name, file in further.get(stem, {}).items()}
        main = _document(mains[stem], options) if stem in mains else Document({}, f"{folder}: {stem}")
        out += ingest(main, options, parts, default_id=stem)
    ids = [one.store.instance_id for one in out]
    twice = next((i for i in ids if ids.count(i) > 1), None)
    if twice is not None:
        raise InputError(f"{folder}: example {plain(twice)} has two stores; keep one")
    return _with_unread(out, folder)


def _with_unread(found: list[Ingest], folder: Path) -> list[Ingest]:
    """The stores; the report of the first says which files of the folder are of no known kind. Hidden ones are not
    told."""
    others = [p.name for p in folder.iterdir() if not p.is_dir() and not kind_of(p.name) and not p.name.startswith(".")]
    if not others or not found:
        return found
    told = f"files of the folder not read ({listed(others, _SHOWN_FILES)})"
    report = replace(found[0].report, notes={**found[0].report.notes, told: len(others)})
    return [replace(found[0], report=report), *found[1:]]


# ---- tables


def memory_columns(stores: Iterable[Store]) -> dict[str, list[Any]]:
    """Columns of table `store_memories`."""
    names = ("memory_id", "view", "representation_type", "position", "text", "time", "native_order", "salience")
    names += ("superseded_by", "invalid_at", "user_id")
    columns: dict[str, list[Any]] = {}
    for store in stores:
        for time_index, memory in enumerate(store.memories):
            row = {name: getattr(memory, name) for name in names}
            row |= {"store": store.name, "system": store.system, "instance_id": store.instance_id or ""}
            row |= {"group_id": memory.group, "time_index": time_index}
            counts = memory.size or (None, None, None)
            row |= dict(zip(("n_words", "n_chars", "n_bytes"), counts, strict=True))
            row["details"] = json.dumps(memory.details, sort_keys=True) if memory.details else None
            for name, value in row.items():
                columns.setdefault(name, []).append(value)
    return columns


def report_columns(found: Iterable[Ingest]) -> dict[str, list[Any]]:
    """Columns of table `ingest`."""
    columns: dict[str, list[Any]] = {}
    for row in (row for one in found for row in one.report.rows()):
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    return columns


def write_stores(folder: str | Path, found: Sequence[Ingest]) -> None:
    """Write store_memories.parquet and ingest.parquet."""
    write_table(Path(folder) / "store_memories.parquet", "store_memories", memory_columns(one.store for one in found))
    write_table(Path(folder) / "ingest.parquet", "ingest", report_columns(found))


# ---- the command


def ingest_main(argv: Sequence[str] | None = None) -> int:
    """The `ingest` command: reads an exported memory store and says what was kept, skipped and odd."""
    parser = argparse.ArgumentParser(prog="memaudit ingest", description=ingest_main.__doc__)
    parser.add_argument("path", type=Path, help=f"a file ({', '.join(SUFFIXES)}), or a folder of one file an example")
    parser.add_argument("--format", choices=sorted(ADAPTERS), help="guessed from the keys where not named")
    parser.add_argument("--name", help="what the store is called in tables (the system's name)")
    parser.add_argument("--view", help="rendering to read, of: " + _views())
    parser.add_argument("--strict", action="store_true", help="a partial export or any warning is an error")
    parser.add_argument("--no-tombstones", dest="tombstones", action="store_false", help="leave tombstones out")
    parser.add_argument("--instance-id", help="the example that the file's one store is of")
    parser.add_argument("--instance-key", help="key of a row that names its example (dotted: metadata.user)")
    parser.add_argument("--time-key", help="key of a row that holds its time (dotted: metadata.timestamp)")
    parser.add_argument("--as-of", help="when the export was made: later invalid_at are not past yet")
    parser.add_argument("--column", action="append", default=[], metavar="ROLE=KEY", help="for rows of any origin")
    parser.add_argument("--part", action="append", default=[], metavar="NAME=FILE", help=f"one of {', '.join(PARTS)}")
    parser.add_argument(
        "--max-bytes", type=int, default=MAX_PARSED, help="of a file, embeddings left out (%(default)s)"
    )
    parser.add_argument("--package", type=Path, help="folder of the coverage package whose examples they are of")
    parser.add_argument("--out", type=Path, help="folder for store_memories.parquet and ingest.parquet")
    args = parser.parse_args(argv)
    given = {f.name: getattr(args, f.name) for f in fields(IngestOptions) if f.name not in ("as_of", "columns")}
    options = IngestOptions(**given, as_of=_as_of(args.as_of), columns=_pairs(args.column, "--column", "ROLE=KEY"))
    found = read_stores(args.path, options, _pairs(args.part, "--part", "NAME=FILE"))
    for one in found:
        print(one.report)
    for line in lacking(one.report for one in found):
        print(line)
    if options.format is None:
        print("The format was guessed; --format names another.")
    print(_compared(found, args.path, args.package))
    if args.out is not None:
        write_stores(args.out, found)
    return 0


def _compared(found: Sequence[Ingest], path: Path, package: Path | None) -> str:
    """Whether the stores are of a package's examples; InputError where none is."""
    if package is None:
        return "Example ids were compared with nothing; --package names a coverage package to compare them with."
    ids = query_ids(package)
    matched = match([one.store for one in found], ids, f"{path}, compared with {package}")
    lines = [f"{len(matched.stores)} of {len(ids)} questions of {package} have a store"]
    lines += [f"of no question there: {listed(matched.unknown)}"] if matched.unknown else []
    for question, store in matched.stores.items():
        users = ", ".join(f"{plain(user)}: {count}" for user, count in foreign_users(store, ids).items())
        lines += [f"memories with the user_id of others in the store of {plain(question)} ({users})"] if users else []
    return "; ".join(lines) + "."


def _views() -> str:
    return "; ".join(f"{a.name}: {', '.join(a.views)}" for a in ADAPTERS.values() if a.views)


def _as_of(text: str | None) -> Any:
    try:
        return to_utc(text)
    except ValueError as error:
        raise InputError(f"--as-of: {error}; write it as 2026-11-30T10:00:00Z") from error


def _pairs(texts: Sequence[str], option: str, form: str) -> dict[str, str]:
    for text in texts:
        if "=" not in text:
            raise InputError(f"{option} {shown(text)}: write {form}")
    pairs = [text.split("=", 1) for text in texts]
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{option}: {shown(twice)} is named twice; keep one")
    return dict(pairs)
