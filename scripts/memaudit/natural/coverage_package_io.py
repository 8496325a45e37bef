"""Coverage packages as folders: reading, writing, and the command that checks one."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import InputError, count_of
from ..objective import scale
from ..table_io import write_text
from . import strict_json
from .conversations_io import load_examples
from .coverage_check import check_package
from .coverage_package import DEFAULT_OPTIONS, CoverageOptions, CoveragePackage, build_coverage, unscored
from .coverage_rows import MANIFEST, NEEDED, PARENT_DECISIONS, TABLE_FILES, Finding, Place, PlacedRow, parse_table
from .pointers import Sessions, fill_in
from .rows_io import read_bytes

# Human audits and external stores: read by the tables and suites that use them, only listed here.
OTHER_FILES = (
    "annotation_cells.csv",
    "human_a_labels.csv",
    "human_b_labels.csv",
    "written_stores.jsonl",
    "coverage_scoring_calls.jsonl",
    "salience_scoring_calls.jsonl",
    "adjudication_summary.json",
)
# Packages of the release that are not in the layout keep weights here.
NOT_READ = ("instance.json",)
SCHEMA_VERSION = "1"
# Errors that one exception shows; `memaudit check-package` shows all.
_SHOWN = 20
# What str.splitlines and some editors break lines at, escaped when written.
_ESCAPED = {ord(c): f"\\u{ord(c):04x}" for c in "\x7f\x85\u2028\u2029"}


def load_coverage_package(
    folder: str | Path,
    options: CoverageOptions = DEFAULT_OPTIONS,
    conversations: str | Path | Sequence[str | Path] | None = None,
) -> CoveragePackage:
    """The package in `folder`, checked; its `findings` are then warnings and notes only.

    `conversations`: LongMemEval-form file or folder that pointers are filled in from (see `pointers`).
    Raises InputError with file, line and id of the errors that the structural check finds.
    """
    package = read_coverage_package(folder, conversations)
    findings = check_package(package, options)
    errors = [f for f in findings if f.severity == "error"]
    if errors:
        more = [f"and {len(errors) - _SHOWN} more"] if len(errors) > _SHOWN else []
        head = f"{folder}: {count_of(len(errors), 'error')}; `memaudit check-package` lists everything"
        raise InputError("\n  ".join([head, *map(str, errors[:_SHOWN]), *more]))
    return replace(package, findings=tuple(findings))


def read_coverage_package(
    folder: str | Path, conversations: str | Path | Sequence[str | Path] | None = None
) -> CoveragePackage:
    """The rows of `folder`, texts filled in, not yet checked: what could not be read is among the findings.

    Only a folder that is not there and bad conversations raise InputError.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; name one in the coverage-package layout")
    findings: list[Finding] = []
    paths = {table: _file(folder, name, findings) for table, name in TABLE_FILES.items()}
    strange = {f.file.removesuffix(".gz") for f in findings}
    for table in NEEDED:
        if paths[table] is None and TABLE_FILES[table] not in strange:
            findings.append(
                Finding(TABLE_FILES[table], 0, "missing", "", "there is no such file (.jsonl or .jsonl.gz)")
            )
    tables = {t: parse_table(t, list(_rows(p, findings)) if p else (), findings) for t, p in paths.items()}
    parent = _file(folder.absolute().parent, PARENT_DECISIONS, findings)
    manifest = _file(folder, MANIFEST, findings)
    hashed = [path for path in (*paths.values(), *_other_files(folder)) if path is not None]
    for name in NOT_READ:
        if (folder / name).is_file():
            findings.append(Finding(name, 0, "not_read", "", "is not part of the layout; weights in it are not used"))
    package = CoveragePackage(
        **tables,
        parent_decisions=parse_table("decisions", list(_rows(parent, findings)) if parent else (), findings),
        manifest=_manifest(manifest, findings) if manifest else None,
        file_hashes={name: digest for path in hashed for name, digest in _hashes(path).items()},
        other_files=tuple(path.name for path in _other_files(folder)),
        findings=tuple(findings),
    )
    return fill_in(package, None if conversations is None else Sessions(load_examples(conversations)))


def query_ids(folder: str | Path) -> list[str]:
    """The ids of a folder's queries, scored or not, without the rest of it; InputError where there is none."""
    findings: list[Finding] = []
    if not Path(folder).is_dir():
        raise InputError(f"{folder}: no such folder; name one in the coverage-package layout")
    path = _file(Path(folder), TABLE_FILES["queries"], findings)
    if path is None and not findings:
        raise InputError(f"{folder}: no {TABLE_FILES['queries']} there; {_below(Path(folder))}")
    found = parse_table("queries", list(_rows(path, findings)) if path else (), findings)
    if not found:
        raise InputError(f"{folder}: no query can be read; `memaudit check-package` says what is wrong")
    return sorted({query.query_id for query in found})


def unit_ids(folder: str | Path) -> frozenset[str]:
    """The ids of all units of a folder that can be read, of whatever query."""
    path = _file(Path(folder), TABLE_FILES["units"], [])
    found = parse_table("units", list(_rows(path, [])) if path else (), [])
    return frozenset(unit.unit_id for unit in found)


def _below(folder: Path) -> str:
    """Which folders in it are packages, for messages."""
    found = sorted(str(p) for p in folder.iterdir() if p.is_dir() and _file(p, TABLE_FILES["queries"], []) is not None)
    return f"is it {' or '.join(found[:3])}?" if found else "name a folder in the coverage-package layout"


def package_files(folder: str | Path) -> list[str]:
    """The files that `read_coverage_package` reads of a folder; the first one stands in the folder itself.

    Raises InputError where there is none: what is missing besides is said by the structural check.
    """
    folder = Path(folder)
    names = [*TABLE_FILES.values(), MANIFEST]
    own = [folder / f"{name}{gz}" for name in names for gz in ("", ".gz")]
    own += [folder / f"{name}{gz}" for name in OTHER_FILES for gz in ("", ".gz")]
    own += [folder / name for name in NOT_READ]
    files = [path for path in own if path.is_file()]
    if not files:
        raise InputError(f"{folder}: no file of the coverage-package layout, such as {names[0]}; name its folder")
    files += [p for gz in ("", ".gz") if (p := folder.absolute().parent / f"{PARENT_DECISIONS}{gz}").is_file()]
    return [str(path) for path in files]


def write_coverage_package(
    folder: str | Path, tables: Mapping[str, Sequence[Mapping[str, Any]]], manifest: Mapping[str, Any] | None = None
) -> None:
    """Write rows (`coverage_write.package_rows`: table of `TABLE_FILES` -> rows) in the layout.

    The manifest says `manifest` and, besides, schema_version, counts and the sha256 of each file.
    """
    folder = Path(folder)
    for table, rows in tables.items():
        write_text(folder / TABLE_FILES[table], "".join(f"{_line(row)}\n" for row in rows))
    content = {
        "schema_version": SCHEMA_VERSION,
        "counts": {table: len(rows) for table, rows in tables.items()},
        "files": {TABLE_FILES[table]: _sha256(folder / TABLE_FILES[table]) for table in tables},
        **(manifest or {}),
    }
    write_text(folder / MANIFEST, json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, allow_nan=False).translate(_ESCAPED)


def _file(folder: Path, name: str, findings: list[Finding]) -> Path | None:
    """The file, plain or gzipped; None where there is none."""
    there = [path for path in (folder / name, folder / f"{name}.gz") if os.path.lexists(path)]
    found = [path for path in there if path.is_file()]
    for path in there:
        if path not in found:
            message = "is a folder or a link that leads nowhere; put the file in its place, or remove it"
            findings.append(Finding(path.name, 0, "malformed", "", message))
    if len(found) > 1:
        findings.append(Finding(name, 0, "ambiguous_file", "", f"{name} and {name}.gz are both there; keep one"))
    return found[0] if found else None


def _other_files(folder: Path) -> list[Path]:
    return [p for name in OTHER_FILES for p in (folder / name, folder / f"{name}.gz") if p.is_file()]


def _rows(path: Path, findings: list[Finding]) -> Iterator[PlacedRow]:
    """The objects of a file with their lines; a line that is no JSON is a finding."""
    try:
        data = read_bytes(path)
    except InputError as error:
        findings.append(Finding(path.name, 0, "malformed", "", str(error).removeprefix(f"{path}: ")))
        return
    # Only \n ends a line: texts hold U+2028, VT, FF and other characters that str.splitlines breaks at.
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            # A number out of range has a finding of its own.
            yield Place(path.name, number), strict_json.loads(text, finite=False)
        except ValueError as error:
            read = line[:60].decode("utf-8", "replace")
            message = f"no JSON object of one line ({error}); it begins {read!r}"
            findings.append(Finding(path.name, number, "malformed", "", message))


def _manifest(path: Path, findings: list[Finding]) -> Mapping[str, Any]:
    try:
        content = strict_json.loads(read_bytes(path).decode("utf-8-sig"))
    except InputError as error:
        findings.append(Finding(path.name, 0, "malformed", "", str(error).removeprefix(f"{path}: ")))
        return {}
    except ValueError as error:
        findings.append(Finding(path.name, 0, "malformed", "", f"no JSON ({error})"))
        return {}
    if not isinstance(content, dict):
        findings.append(Finding(path.name, 0, "wrong_type", "", "must hold one object"))
        return {}
    return content


def _hashes(path: Path) -> dict[str, str]:
    """sha256 by name: of a gzipped file also that of its content, under the plain name, which a manifest has where
    somebody packed the file later. Empty where it cannot be read, which is a finding of its reader."""
    try:
        digests = {path.name: _sha256(path)}
        if path.suffix == ".gz":
            digests[path.stem] = hashlib.sha256(read_bytes(path)).hexdigest()
    except (OSError, InputError):
        return {}
    return digests


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_main(argv: Sequence[str] | None = None) -> int:
    """The `check-package` command: prints the report; exit status 0 without errors, else 1."""
    parser = argparse.ArgumentParser(prog="memaudit check-package", description=check_main.__doc__)
    parser.add_argument("folder", type=Path, help="folder in the coverage-package layout")
    parser.add_argument("--strict", action="store_true", help="every warning is an error")
    parser.add_argument("--own", action="store_true", help="a package built here: ids and quotes must hold")
    parser.add_argument("--paper-defaults", action="store_true", help="a missing or zero cost counts as 1")
    parser.add_argument("--quantize", type=int, help="as in the suite: numbers that exact integers cannot hold pass")
    parser.add_argument("--conversations", type=Path, help="conversations that pointers are filled in from")
    args = parser.parse_args(argv)
    options = CoverageOptions(
        paper_defaults=args.paper_defaults, own=args.own, strict=args.strict, quantize=args.quantize
    )
    package = read_coverage_package(args.folder, args.conversations)
    findings = check_package(package, options)
    passed = not any(f.severity == "error" for f in findings)
    refused = _refused(package, options) if passed else []
    for finding in findings:
        print(f"{finding.severity.upper():<8}{finding}")
    for message in refused:
        print(f"ERROR   {message}")
    for row in unscored(package):
        print(f"not scored: {row['source_id']} ({row['reason']})")
    print(report_summary(package, findings, len(refused)))
    return 0 if passed and not refused else 1


def _refused(package: CoveragePackage, options: CoverageOptions) -> list[str]:
    """What a suite would stop at, package by package, though the rows are right one by one."""
    messages = []
    for made in build_coverage(package, "check-package", options).packages if options.quantize is None else ():
        try:
            scale(made)
        except InputError as error:
            messages.append(str(error))
    return messages


def report_summary(package: CoveragePackage, findings: Sequence[Finding], refused: int = 0) -> str:
    """Rows by table, other files, findings by kind; `refused`: errors beside them."""
    rows = ", ".join(f"{len(getattr(package, table))} {table}" for table in NEEDED)
    kinds = Counter((f.severity, f.kind) for f in findings)
    lines = [rows, *(f"{severity} {kind}: {n}" for (severity, kind), n in sorted(kinds.items()))]
    if package.other_files:
        lines.insert(1, f"also there: {', '.join(package.other_files)}")
    errors, warnings = (sum(f.severity == grade for f in findings) for grade in ("error", "warning"))
    lines.append(f"{count_of(errors + refused, 'error')}, {count_of(warnings, 'warning')}")
    return "\n".join(lines)
