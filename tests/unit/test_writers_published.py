"""The paper's controlled experiment (MEMAUDIT-Small, 500 seeds) at budgets 2 and 4: its rule writers."""

import csv
from functools import cache
from pathlib import Path
from statistics import mean

import pytest

from memaudit import pools
from memaudit.objective import scale
from memaudit.solve.bnb import solve
from memaudit.synthetic import generate
from memaudit.writers.registry import RULES, Writer, run

PUBLISHED = Path(__file__).parents[2] / "config" / "published.csv"
WRITERS = {
    "oracle_gvt": ("gvt", "full"),
    "density_only": ("density_only", "full"),
    "fact_only": ("greedy", "atomic_fact"),
    "summary_only": ("greedy", "summary"),
    "recency_raw": ("recency_raw", "full"),
}


def published_rows():
    with PUBLISHED.open(newline="") as lines:
        return [
            row
            for row in csv.DictReader(lines)
            if row["suite"] == "small" and row["method"] in WRITERS and row["budget"] in {"2", "4"}
        ]


@cache
def small_packages():
    return [generate("small", "base", seed) for seed in range(500)]


@cache
def optimum(seed, budget):
    solution = solve(scale(small_packages()[seed]), budget)
    assert solution.status == "optimal"
    return solution.value_int


def ratio(seed, package, instance, chosen, budget):
    full = scale(small_packages()[seed])
    value = instance.value_int(chosen) / instance.scale
    return value / (optimum(seed, budget) / full.scale)


def invalidation_covered(seed, package, instance, chosen, budget):
    rows = [package.coverage_row(i) for i in chosen]
    units = [unit.unit_id for unit in package.units if unit.role == "invalidation"]
    return sum(min(1.0, sum(row.get(unit, 0.0) for row in rows)) for unit in units)


METRICS = {"mean_ratio": ratio, "mean_invalidation_covered": invalidation_covered}


@pytest.mark.parametrize("row", published_rows(), ids=lambda r: f"{r['method']}-{r['budget']}-{r['metric']}")
def test_published_figure(row):
    rule, pool = WRITERS[row["method"]]
    writer, budget = Writer(row["method"], RULES[rule], pool), int(row["budget"])
    figures = []
    for seed, package in enumerate(small_packages()):
        package = pools.BUILT_IN[pool](package)
        instance = scale(package)
        chosen = run(writer, package, instance, budget, {})
        figures.append(METRICS[row["metric"]](seed, package, instance, chosen, budget))
    assert abs(mean(figures) - float(row["value"])) <= 0.5 * 10 ** -int(row["decimals"]) + 1e-9


def test_there_are_figures_to_compare():
    assert len(published_rows()) == 12
