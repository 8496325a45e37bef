"""`memaudit verify results/`: repeat the check on finished files alone, without the configuration."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..errors import InputError
from ..table_io import read_metadata, read_table
from .certify import SOLVERS, STATUSES, Solved, check_solutions, count_checks, describe
from .rows import COLUMNS

_SOLUTIONS = ".solutions.parquet"
_SELECTIONS = ".selections.parquet"


@dataclass
class Report:
    """What a verification found. `counts`: files, and those of certify.count_checks summed over files;
    `distinct`: contents solved; `mismatches`: a line each; `unreadable`: why a file could not be checked."""

    counts: Counter[str] = field(default_factory=Counter)
    distinct: int = 0
    mismatches: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Every claimed optimum of every file was proved again (at least one)."""
        bad = self.mismatches or self.unreadable or self.counts["limit"]
        return self.counts["optimal"] > 0 and not bad


def verify(
    results: str | Path,
    *,
    solver: str = "cp_sat",
    ties: bool = False,
    limit: float | None = None,
    log: Callable[[str], None] = lambda line: None,
) -> Report:
    """Check every solutions file under `results`; options as in certify.check_solutions.

    A mismatch or an unreadable file is recorded and the rest is still checked; `log` gets a line a file.
    Raises InputError where `results` has no solutions.
    """
    results = Path(results)
    report, solved = Report(), {}
    packages: dict[str, dict[str, pa.Table]] = {}
    for path in _solution_files(results):
        suite = path.relative_to(results / "solutions").parts[0]
        report.counts["files"] += 1
        try:
            if suite not in packages:
                packages[suite] = _package_tables(results / "packages" / suite)
            checks = _check_file(path, packages[suite], solver, ties, limit, solved)
        except InputError as error:
            report.unreadable.append(f"{path}: {error}")
            log(f"{path}: cannot be checked: {error}")
            continue
        counts = count_checks(checks)
        report.counts.update(counts)
        report.mismatches += [describe(row) for row in checks.to_pylist() if row["status"] == "mismatch"]
        log(f"{path}: {_counts_text(counts)}")
    report.distinct = len(solved)
    return report


def _solution_files(results: Path) -> Iterator[Path]:
    files = sorted((results / "solutions").glob(f"*/**/*{_SOLUTIONS}"))
    if not files:
        raise InputError(f"{results}: no solutions/*/**/*{_SOLUTIONS} to verify; name a results folder of a run")
    yield from files


def _package_tables(folder: Path) -> dict[str, pa.Table]:
    return {name: read_table(folder / f"{name}.parquet", name, list(columns)) for name, columns in COLUMNS.items()}


def _check_file(
    path: Path, tables: dict[str, pa.Table], solver: str, ties: bool, limit: float | None, solved: Solved
) -> pa.Table:
    solutions = read_table(path, "solutions")
    selections = read_table(path.with_name(path.name.removesuffix(_SOLUTIONS) + _SELECTIONS), "solution_selections")
    problem = _problem(solutions)
    return check_solutions(
        solutions,
        selections,
        tables,
        solver,
        problem["pools"],
        problem["saturations"],
        problem["cost_models"],
        ties=ties,
        limit=limit,
        solved=solved,
    )


def _problem(solutions: pa.Table) -> dict[str, Any]:
    """The definitions that travel in a solutions file's metadata."""
    parts = ("pools", "saturations", "cost_models")
    try:
        problem = json.loads(read_metadata(solutions.schema).get("problem", "{}"))
    except json.JSONDecodeError as error:
        raise InputError(f"its metadata key 'problem' is not JSON ({error}); run snakemake again") from error
    missing = [part for part in parts if part not in problem]
    if missing:
        raise InputError(f"its metadata key 'problem' lacks {missing}; delete the file and run snakemake again")
    return problem


def verify_main(argv: Sequence[str] | None = None) -> int:
    """The `verify` command; returns the exit status: 0 when all holds, 1 when not."""
    parser = argparse.ArgumentParser(prog="memaudit verify", description=__doc__)
    parser.add_argument("results", type=Path, help="results folder of a finished run")
    parser.add_argument("--solver", choices=SOLVERS, default="cp_sat", help="independent solver (cp_sat)")
    parser.add_argument("--deep", action="store_true", help="also check which of the equal optima is reported")
    parser.add_argument("--limit", type=float, help="seconds for one solve (cp_sat: deterministic ones)")
    args = parser.parse_args(argv)
    report = verify(args.results, solver=args.solver, ties=args.deep, limit=args.limit, log=print)
    for line in report.mismatches:
        print(f"MISMATCH {line}", file=sys.stderr)
    for line in report.unreadable:
        print(f"UNREADABLE {line}", file=sys.stderr)
    print(
        f"{report.counts['files']} files, {_counts_text(report.counts)}; "
        f"{report.distinct} distinct contents solved by {args.solver}; "
        f"{len(report.unreadable)} files unreadable: {'passed' if report.passed else 'FAILED'}"
    )
    return 0 if report.passed else 1


def _counts_text(counts: Counter[str] | dict[str, int]) -> str:
    words = dict(zip(STATUSES, ("equal", "not proved within the limit", "no claim", "mismatches"), strict=True))
    parts = ", ".join(f"{counts[status]} {word}" for status, word in words.items())
    return f"{counts['rows']} rows, {counts['instances']} instances: {parts}"
