"""Time against size: this solver beside HiGHS, CBC, SCIP, CP-SAT and a plain-Python search, on generated families.

    python tools/scale/run.py [--quick] [--only FAMILY] [--limit SECONDS] [FOLDER]     default results/scale

Every solver gets the same instances, one at a time, each in a process of its own that is stopped at the limit. A
row a solve goes to FOLDER/runs.jsonl at once; a run that was stopped goes on where it was. A solver that closed no seed
of a size within the limit is not asked for larger ones of that family (rows say `skipped`). Then `report.py` writes
tables and figures. Not part of the pipeline or its tests: seconds depend on the machine, so read the ratios.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests"), str(Path(__file__).parent)]

import families  # noqa: E402

SEEDS = 3
LIMIT = 60.0
GRACE = 10.0  # seconds beyond the limit before a solver's process is killed
CURVE_SELECTIONS = 100


class Cell(NamedTuple):
    """One instance: a family's generator at a size, a seed, and a budget as a fraction of the total cost."""

    family: str
    size: int
    fraction: float
    seed: int


# Family -> (sizes, fractions of the total cost); quick: the sizes of `make scale-quick`.
FULL = {
    "chains": ([10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000], [0.10]),
    "path": ([10, 50, 200, 1000, 5000], [0.10]),
    "natural_like": ([0, 10, 20, 40, 60], [0.10]),
    "corpus": ([87], [0.05, 0.10]),
    "shared_corpus": ([100, 500, 3500], [0.05, 0.10]),
    "dense": ([30, 60, 100, 200], [0.05, 0.10]),
}
QUICK = {
    "chains": ([10, 50, 200, 2000, 10000], [0.10]),
    "path": ([50, 500], [0.10]),
    "natural_like": ([0, 60], [0.10]),
    "corpus": ([87], [0.10]),
    "shared_corpus": ([500, 3500], [0.10]),
    "dense": ([30, 60], [0.05, 0.10]),
}
QUICK_LIMIT, QUICK_SEEDS = 10.0, 2


# ---- Solvers: (package, budget, limit) -> (status, value, bound, seconds to build the model, seconds to solve)


class Outcome(NamedTuple):
    """status: optimal or limit; value, bound: F as exact fractions, None where there is none."""

    status: str
    value: Fraction | None
    bound: Fraction | None
    seconds: float


def ours(package: Any, budget: int, limit: float) -> Outcome:
    """Proof at one budget. The limits of this solver count work; the process is stopped at `limit` like any other."""
    from memaudit.objective import scale
    from memaudit.solve.choose import solve_all

    start = time.perf_counter()
    (solution,) = solve_all([scale(package)], budget, 1, 10**9)
    seconds = time.perf_counter() - start
    value, bound = (Fraction(x, solution.scale) for x in (solution.value_int, solution.bound_int))
    return Outcome(solution.status, value, bound, seconds)


def ours_curve(package: Any, budget: int, limit: float) -> Outcome:
    """Every budget up to `budget`, with the selection at 100 of them."""
    from memaudit.objective import scale
    from memaudit.solve.frontier import LimitReached, frontier

    start = time.perf_counter()
    try:
        curve = frontier(scale(package), budget)
    except LimitReached:
        return Outcome("limit", None, None, time.perf_counter() - start)
    for j in range(1, CURVE_SELECTIONS + 1):
        curve.selection(budget * j // CURVE_SELECTIONS)
    seconds = time.perf_counter() - start
    value = Fraction(curve.at(budget)[0], curve.scale)
    return Outcome("optimal", value, value, seconds)


def _model(package: Any) -> Any:
    from memaudit.check.model import curve
    from memaudit.check.rows import build_problem, read_rows
    from memaudit.package_io import package_tables

    rows = read_rows(package_tables([package], suite="scale", label_source="generator"), [package.package_id])
    pool = {"include": None, "exclude": []}
    return build_problem(rows[package.package_id], pool=pool, saturation=curve("cap1", "cap1"), k=1)


def _timed(package: Any, solve: Callable[[Any], Any]) -> Outcome:
    """The scaling to integers and the solver's own model count; reading the package does not."""
    problem = _model(package)
    start = time.perf_counter()
    answer = solve(problem)
    return Outcome(answer.status, answer.value, answer.bound, time.perf_counter() - start)


def _mip(name: str) -> Callable[[Any, int, float], Outcome]:
    def solve(package: Any, budget: int, limit: float) -> Outcome:
        from memaudit.check.mip import solve_mip

        return _timed(package, lambda problem: solve_mip(problem, budget, name, limit))

    return solve


def cp_sat(package: Any, budget: int, limit: float) -> Outcome:
    """As the pipeline's check uses it; its own limit counts deterministic seconds, of about one second each."""
    from memaudit.check.cp_sat import solve_cp_sat

    return _timed(package, lambda problem: solve_cp_sat(problem, budget, limit))


def plain_python(package: Any, budget: int, limit: float) -> Outcome:
    from reference import plain_branch_and_bound

    start = time.perf_counter()
    value = Fraction(round(plain_branch_and_bound(package, budget) * 10**6), 10**6)
    return Outcome("optimal", value, value, time.perf_counter() - start)


SOLVERS: dict[str, Callable[[Any, int, float], Outcome]] = {
    "memaudit": ours,
    "memaudit_curve": ours_curve,
    "highs": _mip("highs"),
    "cbc": _mip("cbc"),
    "scip": _mip("scip"),
    "cp_sat": cp_sat,
    "plain_python": plain_python,
}


def noise() -> float:
    """Seconds of a fixed loop: what the machine does with the same work from one solve to the next."""
    start = time.perf_counter()
    total = 0
    for i in range(200_000):
        total += i & 7
    return time.perf_counter() - start


# ---- One process a solver


def serve(name: str, pipe: Any) -> None:
    """Answer (cell, limit) with a row, until the pipe closes."""
    from memaudit.warm import warm

    warm()
    first = families.chains(10, 0)
    SOLVERS[name](first, first.total_cost // 10, 5.0)  # loads what a first call loads
    pipe.send("ready")
    while True:
        try:
            cell, limit = pipe.recv()
        except EOFError:
            return
        package = getattr(families, cell.family)(cell.size, cell.seed)
        budget = max(1, round(cell.fraction * package.total_cost))
        pipe.send("built")
        loop = noise()
        outcome = SOLVERS[name](package, budget, limit)
        pipe.send({
            "groups": len(package.visible.group_ids), "candidates": len(package), "units": len(package.units),
            "budget": budget, "status": outcome.status,
            "value": None if outcome.value is None else str(outcome.value),
            "bound": None if outcome.bound is None else str(outcome.bound),
            "seconds": outcome.seconds, "noise": loop,
            "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        })  # fmt: skip


class Worker:
    """A solver's process, started anew after it was killed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._process: Any = None

    def solve(self, cell: Cell, limit: float) -> dict[str, Any]:
        if self._process is None:
            self._start()
        self._pipe.send((cell, limit))
        self._wait(120)  # the generator
        if not self._pipe.poll(limit + GRACE):
            self.stop()
            return {"status": "killed", "seconds": limit}
        try:
            return self._pipe.recv()
        except EOFError:
            self.stop()
            return {"status": "died", "seconds": limit}

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=serve, args=(self.name, other), daemon=True)
        self._process.start()
        other.close()
        self._wait(300)

    def _wait(self, seconds: float) -> None:
        if not self._pipe.poll(seconds):
            raise RuntimeError(f"{self.name}: its process does not answer")
        self._pipe.recv()

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None


# ---- The run


def cells(plan: dict[str, tuple[list[int], list[float]]], seeds: int) -> Iterator[Cell]:
    for family, (sizes, fractions) in plan.items():
        for size in sizes:
            for fraction in fractions:
                yield from (Cell(family, size, fraction, seed) for seed in range(seeds))


def run(folder: Path, plan: dict[str, Any], seeds: int, limit: float, only: str | None) -> None:
    log = folder / "runs.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    done = {(Cell(*(row[key] for key in Cell._fields)), row["solver"], row["limit"]) for row in rows}
    closed = {key: _closed(rows, key) for key in {(r["family"], r["fraction"], r["solver"], r["size"]) for r in rows}}
    workers = {name: Worker(name) for name in SOLVERS}
    with log.open("a", encoding="utf-8") as out:
        for cell in cells(plan, seeds):
            if only not in (None, cell.family):
                continue
            for name, worker in workers.items():
                if (cell, name, limit) in done:
                    continue
                smaller = [s for s in plan[cell.family][0] if s < cell.size]
                last = (cell.family, cell.fraction, name, max(smaller, default=-1))
                skip = bool(smaller) and not closed.get(last, 0)
                found = {"status": "skipped"} if skip else worker.solve(cell, limit)
                row = {**cell._asdict(), "solver": name, "limit": limit, **found}
                key = (cell.family, cell.fraction, name, cell.size)
                closed[key] = closed.get(key, 0) + (row["status"] == "optimal")
                out.write(json.dumps(row) + "\n")
                out.flush()
                print(f"{cell} {name}: {row['status']} {row.get('seconds', 0):.3g} s", flush=True)
    for worker in workers.values():
        worker.stop()


def _closed(rows: list[dict[str, Any]], key: tuple) -> int:
    return sum((r["family"], r["fraction"], r["solver"], r["size"]) == key and r["status"] == "optimal" for r in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "results" / "scale")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=sorted(FULL))
    parser.add_argument("--limit", type=float)
    arguments = parser.parse_args()
    plan, seeds = (QUICK, QUICK_SEEDS) if arguments.quick else (FULL, SEEDS)
    limit = arguments.limit or (QUICK_LIMIT if arguments.quick else LIMIT)
    run(arguments.folder, plan, seeds, limit, arguments.only)

    import report

    report.write(arguments.folder)


if __name__ == "__main__":
    main()
