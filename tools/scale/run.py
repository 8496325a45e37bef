"""Time against size: this solver beside HiGHS, CBC, SCIP, CP-SAT and a plain-Python search, on generated families.

    python tools/scale/run.py [--quick] [--only FAMILY] [--hours H] [--readme] [FOLDER]

FOLDER: default results/scale, with --quick results/scale_quick. All solvers get the same instances one after the other,
each solve in a process of its own that is stopped at its limit. Every solve is a record, a file in FOLDER/records
written at once, so a run that was stopped goes on where it was (the same code and machine provided). When the hours
are over, what is left is `not run`; a later run with more hours takes it up. Then report.py writes FOLDER/report.md.
Linux only. Never part of the pipeline or its tests: seconds depend on the machine and its load, so read the ratios.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: processes are forked, without its threads

import argparse
import gc
import hashlib
import json
import multiprocessing
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / part) for part in ("scripts", "tests", "tools")]

from memaudit.errors import InputError  # noqa: E402
from memaudit.table_io import write_text  # noqa: E402
from scale import plan as plans  # noqa: E402
from scale.plan import Job, Plan  # noqa: E402

GRACE = (5.0, 0.25)  # seconds, and share of the limit, beyond it before a process is killed: CBC counts its own time
REPEAT_FOR = 0.2  # seconds: a shorter solve is repeated so long, and its median counts
MOST_REPEATS = 50
RESERVE = 120.0  # seconds kept for measuring the start and for the report
# What a record depends on.
_CODE = (
    *(f"scripts/memaudit/{part}" for part in ("solve", "objective.py", "package.py", "batch.py", "synthetic")),
    *(f"scripts/memaudit/check/{part}.py" for part in ("model", "mip", "cp_sat", "rows")),
    *("tests/reference.py", "tools/scale/families.py", "tools/scale/solvers.py"),
)


# ---- One solve


def noise() -> float:
    """Seconds of a fixed loop: what the machine does with the same work from one solve to the next."""
    start = time.perf_counter()
    total = 0
    for i in range(200_000):
        total += i & 7
    return time.perf_counter() - start


def measure(job: Job, task: Any) -> dict[str, Any]:
    """The record of one solve (without its wall time), judged; the solve runs in a process of its own."""
    from scale.solvers import SOLVERS

    answer = _in_process(lambda: _timed(SOLVERS[job.solver], task, job), job)
    found = answer.pop("found", None)
    sizes = {
        "groups": sum(len(p.visible.group_ids) for p in task.packages),
        "candidates": sum(map(len, task.packages)),
        "units": sum(len(p.units) for p in task.packages),
        "budget": max(task.budgets),
        "solves": len(task.packages) * len(task.budgets),
    }
    return {**job._asdict(), **sizes, **answer, **({} if found is None else judge(found, task))}


def _timed(solve: Callable, task: Any, job: Job) -> dict[str, Any]:
    before, loop = _memory("VmRSS"), noise()
    seconds, cpu = [], []
    while not seconds or (sum(seconds) < REPEAT_FOR and len(seconds) < MOST_REPEATS):
        wall, processor = time.perf_counter(), time.process_time()
        found = solve(task, job.limit, job.effort)
        seconds.append(time.perf_counter() - wall)
        cpu.append(time.process_time() - processor)
        if len(seconds) == 1:
            peak = _memory("VmHWM")
    solves = len(task.packages) * len(task.budgets)
    return {
        "seconds": statistics.median(seconds) / solves, "cpu": statistics.median(cpu) / solves,
        "repeats": len(seconds), "noise": loop, "peak_mib": max(0.0, peak - before),
        "found": list(found),
    }  # fmt: skip


def _memory(entry: str) -> float:
    """MiB of this process: VmRSS now, VmHWM at most so far (a forked process starts anew)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(entry + ":"))


def patience(job: Job) -> float:
    """Seconds after which a process is killed. A proof after the limit does not count (tables.py), a bound does; the
    plain search has none to show."""
    return job.limit if job.solver == plans.PLAIN else job.limit + GRACE[0] + GRACE[1] * job.limit


def _in_process(work: Callable[[], dict[str, Any]], job: Job) -> dict[str, Any]:
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)

    def child() -> None:
        receive.close()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # some solvers print whatever they are told
        send.send(work())

    process = context.Process(target=child, daemon=True)
    process.start()
    send.close()
    try:
        if not receive.poll(patience(job)):
            return {"status": "killed", "seconds": job.limit}
        return receive.recv()
    except EOFError:
        process.join()
        return {"status": "died", "seconds": job.limit, "exit": process.exitcode}
    finally:
        process.kill()
        process.join()
        receive.close()


def judge(found: Iterable[Any], task: Any) -> dict[str, Any]:
    """Status, value and bound of a task (of a batch: sums; of a curve: at its largest budget), every value recomputed
    in integers from the selection. `fault`: what is infeasible or is not worth what its solver says."""
    found = list(found)
    problems = task.problems if len(task.problems) > 1 else task.problems * len(found)
    rounds = len(found) // len(problems)
    faults, values, bounds = [], [], []
    for at, (one, problem) in enumerate(zip(found, problems * rounds, strict=True)):
        value = None
        if one.selection is not None:
            value = Fraction(problem.scaled.value(one.selection), problem.scaled.scale)
            faults += _faults(one, problem, value, f"solve {at}")
        values.append(value)
        bounds.append(one.bound)
    last = slice(-1, None) if len(task.problems) == 1 else slice(None)
    solved = all(one.status == "optimal" for one in found)
    return {
        "status": "optimal" if solved else "limit", "value": _total(values[last]), "bound": _total(bounds[last]),
        **({"fault": "; ".join(faults)} if faults else {}),
    }  # fmt: skip


def _faults(one: Any, problem: Any, value: Fraction, where: str) -> list[str]:
    breach = problem.breach(one.selection, one.budget)
    faults = [f"{where}: {breach}"] if breach else []
    if one.claimed is not None and abs(one.claimed - value) > Fraction(1, 10**9):
        faults.append(f"{where}: its solver says {one.claimed}, the selection is worth {value}")
    if one.bound is not None and one.bound < value - Fraction(1, 10**9):
        faults.append(f"{where}: the bound {one.bound} is below the value {value} of its own selection")
    return faults


def _total(numbers: list[Fraction | None]) -> str | None:
    return None if None in numbers else str(sum(numbers, Fraction(0)))


# ---- The run


def read_records(folder: Path) -> dict[Job, dict[str, Any]]:
    """The records of a folder by their job."""
    rows = [json.loads(p.read_text(encoding="utf-8")) for p in sorted((folder / "records").glob("*.json"))]
    return {Job(*(row[key] for key in Job._fields)): row for row in rows}


def run(
    folder: Path,
    plan: Plan,
    only: str | None = None,
    make_task: Callable[[Job], Any] | None = None,
    solve: Callable[[Job, Any], dict[str, Any]] = measure,
) -> None:
    """Measure what has no record yet, until the plan's hours are spent (records of earlier runs count)."""
    if make_task is None:
        from scale.solvers import make_task
    records = read_records(folder)
    spent = sum(records[job]["wall"] for job in plans.jobs(plan) if job in records)
    last, task = None, None
    for job in plans.jobs(plan):
        if job in records or only not in (None, job.family) or plans.needless(job, records, plan):
            continue
        if spent + patience(job) > 3600 * plan.hours - RESERVE:
            print(f"the {plan.hours:g} hours are over: what is left is not run", flush=True)
            return
        start = time.perf_counter()
        if job[:4] != last:
            task = None  # the old one goes first
            task, last = make_task(job), job[:4]
            gc.collect()
        row = solve(job, task)
        row["wall"] = time.perf_counter() - start
        write_text(folder / "records" / f"{job.name}.json", json.dumps(row, indent=1) + "\n")
        records[job] = row
        spent += row["wall"]
        print(f"{spent:6.0f} s  {job.name}: {row['status']} {row['seconds']:.3g} s {row.get('fault', '')}", flush=True)


def setting(mode: str, hours: float) -> dict[str, Any]:
    """What a folder's records have in common: code, machine, versions."""
    digest = hashlib.sha256()
    for part in _CODE:
        path = ROOT / part
        for source in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(source.relative_to(ROOT).as_posix().encode() + b"\0" + source.read_bytes() + b"\0")
    cpu = [s for s in Path("/proc/cpuinfo").read_text(errors="replace").splitlines() if s.startswith("model name")]
    return {
        "mode": mode,
        "hours": hours,
        "code": digest.hexdigest()[:16],
        "machine": f"{cpu[0].partition(':')[2].strip() if cpu else platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("numba", "numpy", "ortools")},
    }


def open_folder(folder: Path, now: Mapping[str, Any]) -> None:
    """Write FOLDER/run.json, or compare it: InputError where the records are of other code or another machine."""
    path = folder / "run.json"
    if path.exists():
        before = json.loads(path.read_text(encoding="utf-8"))
        other = [key for key in now if key != "hours" and before.get(key) != now[key]]
        if other:
            raise InputError(
                f"{folder}: its records have another {', '.join(other)}; remove the folder, or name a new one"
            )
    write_text(path, json.dumps(now, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument(
        "--quick", action="store_true", help="fewer sizes and seeds, 10 s a solve, a quarter of an hour"
    )
    parser.add_argument("--only", help="one family")
    parser.add_argument("--hours", type=float, help="of the whole run (default 2, with --quick 0.25)")
    parser.add_argument("--readme", action="store_true", help="write the figures into the README too")
    arguments = parser.parse_args()
    mode = "quick" if arguments.quick else "full"
    plan = plans.PLANS[mode]
    plan = plan._replace(hours=arguments.hours or plan.hours)
    if arguments.only not in (None, *plans.families(plan)):
        parser.error(f"--only: {arguments.only} is not one of {', '.join(plans.families(plan))}")
    folder = arguments.folder or ROOT / "results" / ("scale_quick" if arguments.quick else "scale")
    from scale import report, start

    try:
        open_folder(folder, setting(mode, plan.hours))
        start.measure(folder)
        _load_kernels()
        run(folder, plan, arguments.only)
        report.write(folder, plan, readme=arguments.readme)
    except InputError as error:
        sys.exit(f"error: {error}")


def _load_kernels() -> None:
    """What a first call loads is loaded before processes are forked; how long it takes is measured by start.py."""
    from scale.solvers import SOLVERS, make_task

    for solver in (plans.OURS, plans.CURVE):
        job = Job("dense", 8, 0.1, 0, solver, 5.0, 1.0)
        SOLVERS[solver](make_task(job), 5.0, 1.0)


if __name__ == "__main__":
    main()
