"""For the tests of the independent check: package tables, and solutions by plain enumeration."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product

import pyarrow as pa

from memaudit.objective import BUILT_IN, piecewise_linear, scale
from memaudit.package import Candidate, Package, Unit, build
from memaudit.table_io import to_table

ALL = {"include": None, "exclude": []}
POOLS = {"full": ALL, "no_validity": {"include": None, "exclude": ["tombstone", "compound_update"]}}
# name -> (definition as it travels in metadata, h itself)
SATURATIONS = {
    "cap1": ("cap1", lambda z: min(z, Fraction(1))),
    "linear": ("linear", lambda z: z),
    "two": ([[0, 0], [1, 1], [2, 1.5]], lambda z: min(z, (z + 1) / 2, Fraction(3, 2))),
    "steep": ([[0, 0], [0.5, 0.75], [1, 1]], lambda z: min(z * 3 / 2, z / 2 + Fraction(1, 2), Fraction(1))),
}
DEFINITIONS = {name: definition for name, (definition, _) in SATURATIONS.items()}
COST_MODELS = {"declared": "declared"}
# Holds every value of the enumerated cases exactly.
SCALE = 10**6


def tables_of(packages: Sequence[Package]) -> dict[str, pa.Table]:
    """The package tables that a check reads."""
    rows: dict[str, list[dict]] = {"packages": [], "candidates": [], "units": [], "coverage": []}
    for p in packages:
        key, v = {"suite": p.suite, "package_id": p.package_id}, p.visible
        rows["packages"].append(
            {
                **key,
                "distribution": p.distribution,
                "content_hash": p.content_hash,
                "n_groups": len(v.group_ids),
                "n_candidates": len(v),
                "n_units": len(p.units),
                "n_queries": 0,
                "total_cost": p.total_cost,
            }
        )
        for i, candidate_id in enumerate(v.candidate_ids):
            rows["candidates"].append(
                {
                    **key,
                    "candidate_id": candidate_id,
                    "group_id": v.group_ids[v.group_of[i]],
                    "representation_type": v.representation_type[i],
                    "cost": int(v.cost[i]),
                    "time_index": int(v.time_index[i]),
                    "confidence": 1.0,
                    "text": v.text[i],
                }
            )
            rows["coverage"] += [
                {**key, "candidate_id": candidate_id, "unit_id": u, "coverage": a} for u, a in p.coverage_row(i).items()
            ]
        rows["units"] += [{**key, "unit_id": u.unit_id, "role": u.role, "weight": u.weight} for u in p.units]
    return {name: to_table(name, _columns(values)) for name, values in rows.items()}


def _columns(rows: list[dict]) -> dict[str, list]:
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def enumerate_best(package: Package, k: int, saturation: str, budget: int) -> tuple[Fraction, tuple[int, ...]]:
    """(optimum, reported positions) by trying every selection: most value, then least cost, then the
    largest 0/1 vector over the positions."""
    start = package.visible.group_start
    per_group = [[c for size in range(k + 1) for c in combinations(range(a, b), size)] for a, b in pairwise(start)]
    best = (Fraction(0), 0, (0,) * len(package))
    for choice in product(*per_group):
        chosen = [int(i) for group in choice for i in group]
        cost = int(package.visible.cost[chosen].sum())
        if cost <= budget:
            vector = tuple(int(i in chosen) for i in range(len(package)))
            best = max(best, (worth(package, saturation, chosen), -cost, vector))
    return best[0], tuple(i for i, x in enumerate(best[2]) if x)


def worth(package: Package, saturation: str, chosen: Sequence[int]) -> Fraction:
    """F of positions by its definition."""
    h = SATURATIONS[saturation][1]
    mass = dict.fromkeys((u.unit_id for u in package.units), Fraction(0))
    for i in chosen:
        for unit_id, a in package.coverage_row(i).items():
            mass[unit_id] += Fraction(str(a))
    return sum((Fraction(str(u.weight)) * h(mass[u.unit_id]) for u in package.units), Fraction(0))


def solution_rows(
    packages: Sequence[Package], budgets: Sequence[int], k: int = 1, saturation: str = "cap1"
) -> tuple[list[dict], list[dict]]:
    """Rows of `solutions` and `solution_selections` (pool full) as a flawless solver would write them."""
    solutions, selections = [], []
    h = BUILT_IN[saturation] if saturation in BUILT_IN else piecewise_linear(saturation, DEFINITIONS[saturation])
    for p in packages:
        instance_hash = scale(p, h).hash
        for budget in budgets:
            value, chosen = enumerate_best(p, k, saturation, budget)
            key = {
                "suite": p.suite,
                "package_id": p.package_id,
                "cost_model": "declared",
                "pool": "full",
                "k": k,
                "saturation": saturation,
                "budget": budget,
            }
            solutions.append(
                {
                    **key,
                    "budget_spec": str(budget),
                    "instance_hash": instance_hash,
                    "solution_id": f"{instance_hash}.k{k}.{saturation}.{budget}",
                    "status": "optimal",
                    "value_int": int(value * SCALE),
                    "bound_int": int(value * SCALE),
                    "scale": SCALE,
                    "value": int(value * SCALE) / SCALE,
                    "cost": int(p.visible.cost[list(chosen)].sum()),
                    "n_selected": len(chosen),
                    "nodes": 1,
                    "canonical": True,
                }
            )
            selections += [{**key, "candidate_id": p.visible.candidate_ids[i]} for i in chosen]
    return solutions, selections


def as_tables(solutions: list[dict], selections: list[dict]) -> tuple[pa.Table, pa.Table]:
    return to_table("solutions", _columns(solutions)), to_table("solution_selections", _columns(selections))


def example(package_id: str = "p1", weight: float = 2.0, suite: str = "s") -> Package:
    """Two groups over three units. At budget 3 three selections are worth weight + 1: b+c and b+d at
    cost 3, a at cost 2; so {a} is the one to report."""
    candidates = [
        Candidate(f"{package_id}:a", "g0", "summary", 2, 0),
        Candidate(f"{package_id}:b", "g0", "atomic_fact", 1, 0),
        Candidate(f"{package_id}:c", "g1", "tombstone", 2, 1),
        Candidate(f"{package_id}:d", "g1", "summary", 2, 1),
    ]
    units = [Unit("u0", weight), Unit("u1", 1.0), Unit("u2", 0.0)]
    cells = {"a": {"u0": 1.0, "u1": 1.0}, "b": {"u0": 1.0}, "c": {"u1": 1.0}, "d": {"u1": 1.0, "u2": 0.5}}
    coverage = {(f"{package_id}:{c}", u): a for c, row in cells.items() for u, a in row.items()}
    return build(suite, package_id, "example", 0, candidates, units, coverage, [])
