"""Seconds per solve of the exact solver, CP-SAT, HiGHS and a plain-Python branch and bound, in one run.

Usage: python tools/bench.py [FOLDER]    (default results/benchmarks; writes solvers.csv and solvers.md)

Every solver gets the same packages at the same budgets and must agree on the optimum. The solvers that build
a model are timed with it; ours is timed as the pipeline calls it, a batch at a time. Read the ratios: they come
from one run on one machine.
"""

from __future__ import annotations

import sys
import time
from fractions import Fraction
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

from memaudit.batch import batch  # noqa: E402
from memaudit.check.cp_sat import solve_cp_sat  # noqa: E402
from memaudit.check.mip import solve_mip  # noqa: E402
from memaudit.check.model import curve  # noqa: E402
from memaudit.check.rows import build_problem, read_rows  # noqa: E402
from memaudit.objective import scale  # noqa: E402
from memaudit.package_io import package_tables  # noqa: E402
from memaudit.solve.bnb import solve_batch  # noqa: E402
from memaudit.synthetic import generate  # noqa: E402
from memaudit.table_io import write_text  # noqa: E402
from memaudit.warm import warm  # noqa: E402
from reference import plain_branch_and_bound  # noqa: E402

SEEDS = 40
OURS = "memaudit"
CASES = {
    "small": (["base"], [1, 2, 4, 8, 16]),
    "stress": (
        ["density_trap", "scope_shift", "summary_tradeoff", "redundancy_heavy", "abstention_hard"],
        [1, 3, 6, 13],
    ),
}


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "results/benchmarks")
    warm()
    rows = [row for suite, case in CASES.items() for row in measure(suite, *case)]
    frame = pd.DataFrame(rows)
    write_text(folder / "solvers.csv", frame.to_csv(index=False, lineterminator="\n"))
    write_text(folder / "solvers.md", frame.to_markdown(index=False, floatfmt=".4g") + "\n")
    print(frame.to_string(index=False, float_format="%.4g"))
    print(f"written: {folder / 'solvers.csv'}, {folder / 'solvers.md'}")


def measure(suite: str, distributions: list[str], budgets: list[int]) -> list[dict]:
    """One row a solver: seconds per solve over all packages and budgets, and the ratio to ours."""
    packages = [generate(suite, d, seed) for d in distributions for seed in range(SEEDS)]
    solved = {
        OURS: ours(packages, budgets),
        "cp_sat": model_solver(packages, budgets, solve_cp_sat),
        "highs": model_solver(packages, budgets, lambda problem, budget: solve_mip(problem, budget, "highs")),
        "plain_python": plain(packages, budgets),
    }
    expected = solved[OURS][1]
    for name, (_, values) in solved.items():
        wrong = [i for i, (a, b) in enumerate(zip(expected, values, strict=True)) if abs(a - b) > Fraction(1, 10**9)]
        if wrong:
            raise SystemExit(f"{name} disagrees with {OURS} on solve {wrong[0]} of suite {suite}")
    base = solved[OURS][0]
    return [
        {"suite": suite, "solver": name, "solves": len(expected), "seconds_per_solve": s, "ratio_to_memaudit": s / base}
        for name, (s, _) in solved.items()
    ]


def ours(packages, budgets):
    instances = batch([scale(p) for p in packages])
    repeats = 20  # a batch is over in milliseconds

    def once():
        return [solve_batch(instances, budget) for budget in budgets]

    start = time.perf_counter()
    for _ in range(repeats):
        solutions = once()
    seconds = (time.perf_counter() - start) / repeats
    values = [Fraction(s.value_int, s.scale) for per_budget in solutions for s in per_budget]
    return seconds / len(values), values


def model_solver(packages, budgets, solve):
    rows = read_rows(
        package_tables(packages, suite=packages[0].suite, label_source="generator"), [p.package_id for p in packages]
    )
    problems = [
        build_problem(rows[p.package_id], pool={"include": None, "exclude": []}, saturation=curve("cap1", "cap1"), k=1)
        for p in packages
    ]
    start = time.perf_counter()
    values = [[solve(problem, budget).value for problem in problems] for budget in budgets]
    seconds = time.perf_counter() - start
    flat = [v for per_budget in values for v in per_budget]
    return seconds / len(flat), flat


def plain(packages, budgets):
    start = time.perf_counter()
    values = [plain_branch_and_bound(p, budget) for budget in budgets for p in packages]
    return (time.perf_counter() - start) / len(values), [Fraction(v) for v in values]


if __name__ == "__main__":
    main()
