"""Small invented packages, and what writers keep of them, as the stages' tables."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa

from memaudit.analysis.scores import Scorer
from memaudit.objective import CAP1
from memaudit.package import Candidate, Package, Query, Unit, build
from memaudit.pools import BUILT_IN as POOLS
from memaudit.solve.results import optimum_of
from memaudit.solve.stage import instances_of, solve_packages
from memaudit.table_io import to_table

SETTING = {"cost_model": "declared", "k": 1, "saturation": "cap1"}


def package(package_id: str, coverage: dict, *, queries=None, groups=3, suite: str = "talk", kind="fact") -> Package:
    """Groups of a fact (cost 2) and a raw span (cost 5), units u0..u3 of which u3 weighs 0.

    coverage: (candidate, unit) -> value, candidates numbered fact 0, raw 0, fact 1, ...; queries: id -> (category,
    required units); default: one that requires u0 and u1.
    """
    types = {0: ("atomic_fact", 2), 1: ("raw_span", 5)}
    candidates = [
        Candidate(f"{package_id}::c{i}", f"{package_id}::g{i // 2}", *types[i % 2], i // 2, f"words of {i}")
        for i in range(2 * groups)
    ]
    units = [Unit(f"{package_id}::u{i}", float(i < 3), "current", "fact", f"unit {i}") for i in range(4)]
    cells = {(f"{package_id}::c{c}", f"{package_id}::u{u}"): v for (c, u), v in coverage.items()}
    queries = queries or {package_id: (kind, (0, 1))}
    asked = [
        Query(q, tuple(f"{package_id}::u{u}" for u in required), category, f"question {q}?", "answer")
        for q, (category, required) in queries.items()
    ]
    return build(suite, package_id, kind, None, candidates, units, cells, asked)


TALK = [
    package("p1", {(0, 0): 1.0, (1, 0): 1.0, (1, 1): 1.0, (2, 1): 0.5, (4, 2): 1.0}),
    package("p2", {(0, 0): 0.6, (2, 1): 1.0, (3, 1): 1.0, (3, 2): 0.4, (5, 3): 1.0}, kind="update"),
    package("p3", {(5, 3): 1.0}, kind="update"),  # nothing that counts is covered: OPT = 0
]


def first_facts(p: Package, budget: int) -> list[int]:
    return [i for i, t in enumerate(p.visible.representation_type) if t == "atomic_fact"][: budget // 2]


def last_raw(p: Package, budget: int) -> list[int]:
    return [i for i, t in enumerate(p.visible.representation_type) if t == "raw_span"][-(budget // 5) :] * (budget >= 5)


def scored(packages, budgets=(4, 6), writers=None, k: int = 1) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(scores, selections) of writers (name -> function of package and budget)."""
    writers = writers or {"oracle_gvt": first_facts, "recency_raw": last_raw}
    scores, selections = [], []
    instances = instances_of(packages, POOLS["full"], CAP1)
    for budget in budgets:
        solutions = pa.table(solved(packages, budget, k=k))
        for name, rule in writers.items():
            rows, memories = Scorer(packages, instances).rows(
                [rule(p, budget) for p in packages], writer=name, pool="full", budget_spec=str(budget), budget=budget,
                opt=optimum_of(solutions, "full"), **(SETTING | {"k": k}),
            )  # fmt: skip
            scores.append(to_table("scores", rows))
            selections.append(to_table("selections", memories))
    return pa.concat_tables(scores).to_pandas(), pa.concat_tables(selections).to_pandas()


def solved(packages, budget: int, *, pools=("full",), k: int = 1, cost_model: str = "declared", spec=None) -> dict:
    """Columns of table solutions."""
    return solve_packages(
        packages, [POOLS[p] for p in pools], cost_model=cost_model, k=k, saturation=CAP1,
        budgets={budget: spec or str(budget)}, node_limit=10**6,
    ).solutions  # fmt: skip
