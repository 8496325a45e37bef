"""Whether the files of a results folder are those that its run made, by the manifest's list of them with their hashes.

This is what stands for files that nothing here computes again: tables, figures, the published comparison.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .report import Report

# Folders in which only a run writes, and whose files the other checks do not look for.
_SHOWN = ("analysis", "figures", "tables")


def files_of_manifest(content: Mapping[str, Any]) -> dict[str, str] | None:
    """Place below the results folder -> sha256 of every file that the run made; None where the manifest does not say.
    TypeError where the list is none."""
    if "files" not in content:
        return None
    files = dict(content["files"].items())
    if not files or not all(isinstance(value, str) for pair in files.items() for value in pair):
        raise TypeError(f"files is {content['files']!r:.80}, which does not give files their hashes")
    return files


def verify_files(results: Path, files: Mapping[str, str], report: Report) -> None:
    """Faults: files that are missing, or not those that were made; left over: shown ones that are none of the run's.
    counts: hashed."""
    faults: dict[Path, list[str]] = defaultdict(list)
    for name, expected in sorted(files.items()):
        path = results / name
        if not path.is_file():
            faults[path.parent].append(f"{path.name}: no such file; by manifest.json the run made it")
        elif _sha256(path) != expected:
            faults[path.parent].append(f"{path.name}: is not the file that the run made (sha256, manifest.json)")
        report.counts["hashed"] += path.is_file()
    for folder, told in faults.items():
        report.add(folder, told)
    _left_over(results, files, report)


def _left_over(results: Path, files: Mapping[str, str], report: Report) -> None:
    there = (path for part in _SHOWN for path in (results / part).rglob("*") if path.is_file())
    others: dict[Path, int] = defaultdict(int)
    for path in there:
        others[path.parent] += path.relative_to(results).as_posix() not in files
    report.left_over += [f"{folder}: {n} files that the run did not make" for folder, n in sorted(others.items()) if n]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
