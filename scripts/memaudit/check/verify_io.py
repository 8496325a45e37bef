"""`memaudit verify results/`: is a finished results folder whole, in its places and right? From its files alone.

Covered: every table of packages/{suite} that a value depends on against its counts and content hash; budgets/; every
file of solutions/ (place, names, definitions, selections re-evaluated, optima proved again by an independent solver;
curves: their form, ends, agreement with the optima, and the run's sample of their points proved again), checks/ (every
solution and sampled point has its check, which says the same) and scores/ (value, cost, ratio, covered masses and
queries of each selection, OPT); that every configured suite, setting, budget, pool, solver, writer and package is there
exactly once (by manifest.json; without one, by budgets/ and the files themselves); summary.parquet (rows, counts and
means) and summary.csv; by the manifest also exported stores: their unions, what each pruning rule keeps, values,
ratios, losses and lost units (stores/), means, diagnosis and anatomy (analysis/), what a judge said and a sample of the
draws of its verdicts. What the run's own check did not finish within its limit need not be finished here. Every file
that the run made, tables, figures and the published comparison too, is there as it was made, by the manifest's hashes.

Not computed again, so that only its hash speaks for it: intervals and notes of the summary, the tables, figures and
published comparison made after it, the rest of analysis/, labels, texts and dates that no value depends on, node
counts. Not covered: how a store was read from its export, what a writer should have kept (a rule is not run again;
`opt` keeps the solution), and whether packages are what their source or generator gives: a folder rewritten
consistently throughout, manifest included, is another run.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..errors import InputError
from ..schemas import TABLES
from ..table_io import concat, read_table
from .files_io import files_of_manifest, verify_files
from .plan import (
    BUILT_IN,
    StorePlan,
    SuitePlan,
    definitions_of_manifest,
    plans_of_manifest,
    stores_of_manifest,
)
from .prover import SOLVERS, Solved
from .report import How, Log, Report
from .scored import SUMMARISED, summary_faults
from .stores_io import verify_stores
from .suite_io import STAGES, SuiteRun, counts_text, curve_counts_text


def verify(
    results: str | Path,
    *,
    solver: str = "cp_sat",
    ties: bool = False,
    limit: float | None = None,
    scores: bool = True,
    log: Log = lambda line: None,
) -> Report:
    """Check everything under `results` that the module docstring names; options as in certify.check_solutions.

    `scores`: also scores/ and the summary. A fault or an unreadable file is recorded and the rest is still checked;
    `log` gets a line a file. Raises InputError where `results` holds no run.
    """
    results, report = Path(results), Report()
    how = How(solver, ties, limit, scores, log)
    plans, definitions, stores, files = _manifest(results, report)
    found = {p.name for stage in ("packages", *STAGES) for p in (results / stage).glob("*") if p.is_dir()}
    if not found:
        raise InputError(f"{results}: no packages/ or solutions/ to verify; name a results folder of a run")
    solved: Solved = {}
    runs = {s: SuiteRun(results, s, plans, definitions, report, solved, how) for s in sorted(found | set(plans or ()))}
    for run in runs.values():
        run.verify()
        report.counts["suites"] += 1
    scored = [table for run in runs.values() for table in run.scored]
    if stores is not None:
        verify_stores(results, stores, runs, report, how)
    elif (results / "stores").exists():
        report.remarks.append(f"{results / 'stores'}: not checked; only a manifest says what belongs there")
    if files is not None:
        verify_files(results, files, report)
        log(f"{results}: {report.counts['hashed']} of {len(files)} files of the manifest are there")
    report.distinct = len(solved)
    if scores:
        _summary(results, scored, report, how.log, planned=bool(plans))
    return report


def _manifest(
    results: Path, report: Report
) -> tuple[dict[str, SuitePlan] | None, dict[str, dict[str, Any]], dict[str, StorePlan] | None, dict[str, str] | None]:
    """What the manifest declares of suites, definitions, stores and files; (None, built-in definitions, None, None)
    where there is none that can be read."""
    path = results / "manifest.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        config, files = content["config"], files_of_manifest(content)
        if files is None:
            report.remarks.append(f"{path}: lists no files; whether tables and figures are whole cannot be told")
        return plans_of_manifest(config), definitions_of_manifest(config), stores_of_manifest(config), files
    except FileNotFoundError:
        report.remarks.append(f"{path}: no such file; what the run had to make is taken from budgets/ and its files")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        report.unreadable.append(f"{path}: not a manifest of a run ({error!r}); run snakemake again")
    return None, BUILT_IN, None, None


def _summary(results: Path, scored: list[pa.Table], report: Report, log: Log, planned: bool) -> None:
    """The summary of all suites, and its copy as CSV."""
    path = results / "summary.parquet"
    if not scored and not planned and not path.exists():
        return
    try:
        summary = read_table(path, "summary")
        text = path.with_suffix(".csv").read_bytes().decode()
    except (InputError, OSError, UnicodeDecodeError) as error:
        report.unreadable.append(f"{path}: {error}")
        return
    empty = TABLES["scores"].schema.empty_table().select(SUMMARISED)
    scores = concat(scored) if scored else empty
    n = report.add(path, summary_faults(summary, scores))
    same = summary.to_pandas().to_csv(index=False, lineterminator="\n").splitlines()
    own = text.splitlines()
    differ = [i for i, (a, b) in enumerate(zip(own, same, strict=False), 1) if a != b]
    if len(own) != len(same) or differ:
        line = differ[0] if differ else min(len(own), len(same)) + 1
        report.faults.append(f"{path.with_suffix('.csv')}: line {line} is not that of {path.name}")
    log(f"{path}: {len(summary)} rows, {n} faults")


def _stores_text(report: Report) -> str:
    stores, rows = report.counts["stores"], report.counts["store_rows"]
    draws, limit = report.counts["draws"], report.counts["draws_limit"]
    drawn = f"{draws} label draws made again, {limit} at the limit; " if draws else ""
    return f"{stores} stores, {rows} rows of them; {drawn}" if stores else ""


def verify_main(argv: Sequence[str] | None = None) -> int:
    """The `verify` command; returns the exit status: 0 when all holds, 1 when not."""
    parser = argparse.ArgumentParser(
        prog="memaudit verify", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, help="results folder of a finished run")
    parser.add_argument("--solver", choices=SOLVERS, default="cp_sat", help="independent solver (cp_sat)")
    parser.add_argument("--deep", action="store_true", help="also check which of the equal optima is reported")
    parser.add_argument("--limit", type=float, help="seconds for one solve, instead of the run's own")
    parser.add_argument("--no-scores", action="store_true", help="leave out scores/ and the summary, to save time")
    args = parser.parse_args(argv)
    report = verify(
        args.results, solver=args.solver, ties=args.deep, limit=args.limit, scores=not args.no_scores, log=print
    )
    for word, lines in (("LEFT OVER", report.left_over), ("REMARK", report.remarks)):
        for line in lines:
            print(f"{word} {line}")
    bad = (("MISMATCH", report.mismatches), ("FAULT", report.faults), ("UNREADABLE", report.unreadable))
    for word, lines in bad:
        for line in lines:
            print(f"{word} {line}", file=sys.stderr)
    print(
        f"{report.counts['files']} files, {counts_text(report.counts)}; "
        f"{report.counts['curves']} curves, {curve_counts_text(report.counts)}; "
        f"{report.distinct} distinct contents solved by {args.solver}; {report.counts['scores']} scores; "
        f"{_stores_text(report)}"
        f"{len(report.faults)} faults, {len(report.unreadable)} files unreadable: "
        f"{'passed' if report.passed else 'FAILED'}"
    )
    return 0 if report.passed else 1
