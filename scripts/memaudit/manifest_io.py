"""Gathering and writing the manifest of a run."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .errors import InputError
from .provenance import manifest
from .table_io import write_text

_LIBRARY = Path(__file__).parent
# What the results depend on; the lock file holds the rest.
DEPENDENCIES = (
    "numpy",
    "numba",
    "llvmlite",
    "scipy",
    "pandas",
    "pyarrow",
    "ortools",
    "scikit-learn",
    "matplotlib",
    "pydantic",
    "snakemake",
)


def write_manifest(
    path: str | Path,
    *,
    config: Mapping[str, Any],
    inputs: Iterable[str | Path],
    made: Iterable[str | Path],
    code: Mapping[str, str],
    benchmarks: str | Path,
) -> None:
    """Write the manifest of a run to `path`.

    config: JSON-able; inputs: the files that came from outside (configuration, source data); made: all that the run
    made, below the manifest's folder; code: stage -> code hash; benchmarks: the folder of snakemake's benchmark files.
    """
    folder = Path(path).parent
    content = manifest(
        versions=versions(),
        commit=git_commit(),
        config=config,
        inputs={str(p): sha256(p) for p in inputs},
        files={Path(p).relative_to(folder).as_posix(): sha256(p) for p in made},
        code=code,
        host=host(),
        seconds=wall_seconds(benchmarks),
    )
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def versions() -> dict[str, str]:
    """Versions of python, this library and its dependencies, as installed."""
    from . import __version__

    return {
        "python": platform.python_version(),
        "memaudit": __version__,
        **{name: version(name) for name in DEPENDENCIES},
    }


def git_commit() -> str | None:
    """The checkout's commit, with "+changes" where tracked files differ from it; None outside a checkout."""
    commit = _git("rev-parse", "HEAD")
    if commit is None:
        return None
    return commit + ("+changes" if _git("status", "--porcelain", "--untracked-files=no") else "")


def _git(*arguments: str) -> str | None:
    try:
        command = ("git", "-C", str(_LIBRARY), *arguments)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def host() -> dict[str, Any]:
    """Name, system, machine and number of cores."""
    return {
        "name": platform.node(),
        "system": platform.platform(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }


def sha256(path: str | Path) -> str:
    """Hash of a file, or of a folder's files (names and contents, in order of name)."""
    path = Path(path)
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.is_file())
        lines = "".join(f"{sha256(p)}  {p.relative_to(path).as_posix()}\n" for p in files)
        return hashlib.sha256(lines.encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def wall_seconds(folder: str | Path) -> dict[str, float]:
    """Wall time of every job from snakemake's benchmark files (.tsv or .txt, column `s`) under `folder`."""
    seconds = {}
    for path in sorted(p for p in Path(folder).rglob("*") if p.suffix in (".tsv", ".txt")):
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        if not rows or "s" not in rows[0]:
            raise InputError(f"{path}: no snakemake benchmark file (no column `s`); delete it and run again")
        seconds[path.relative_to(folder).with_suffix("").as_posix()] = sum(float(row["s"]) for row in rows)
    return seconds
