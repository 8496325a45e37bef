"""Solving a suite: which packages a shard takes, and its solutions as table columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..costs import DECLARED, cost_of_texts
from ..objective import Instance, Saturation, scale
from ..package import Package
from ..pools import Pool
from .bnb import LIMIT, OPTIMAL, Solution
from .sweep import Curve, sweep


def recost(packages: Sequence[Package], cost_model: str, parameters: Mapping[str, float] | None) -> list[Package]:
    """The packages under a cost model: a built-in name, or linear `parameters` (costs.py)."""
    if cost_model == DECLARED:
        return list(packages)
    return [
        p.with_costs(
            cost_of_texts(
                cost_model,
                p.visible.text,
                p.visible.size,
                parameters,
                f"package {p.package_id} of suite {p.suite}",
            )
        )
        for p in packages
    ]


def in_shard(package: Package, shard: int, shards: int) -> bool:
    """Packages of equal content share a shard, so that each content is solved once."""
    return int(package.content_hash, 16) % shards == shard


def instances_of(packages: Sequence[Package], pool: Pool, saturation: Saturation) -> list[Instance]:
    """Each package, restricted to `pool`, in exact integers; packages of equal content share one Instance."""
    made: dict[str, Instance] = {}
    for package in packages:
        if package.content_hash not in made:
            made[package.content_hash] = scale(pool(package), saturation)
    return [made[p.content_hash] for p in packages]


@dataclass(frozen=True)
class Solved:
    """Columns of the tables `solutions`, `solution_selections` and `curves`."""

    solutions: Mapping[str, Sequence]
    selections: Mapping[str, Sequence]
    curves: Mapping[str, Sequence]


def solve_packages(
    packages: Sequence[Package],
    pools: Sequence[Pool],
    *,
    cost_model: str,
    k: int,
    saturation: Saturation,
    budgets: Mapping[int, str],
    node_limit: int,
    ends: Sequence[int] | None = None,
) -> Solved:
    """Every package and pool at all `budgets` (amount -> spelling); with `ends` also its curve, up to the package's
    end (no rows without).

    An instance that several packages or pools share is solved once (nodes are those of that search).
    """
    per_pool = {pool.name: instances_of(packages, pool, saturation) for pool in pools}
    hashes = {id(i): i.hash for instances in per_pool.values() for i in instances}
    # Equal instances share a search, but for their curves' ends: a pool may leave two packages of unlike cost alike.
    first: dict[tuple[str, int | None], Instance] = {}
    for instances in per_pool.values():
        for instance, end in zip(instances, ends or [None] * len(packages), strict=True):
            first.setdefault((hashes[id(instance)], end), instance)
    swept = sweep(list(first.values()), list(budgets), k, node_limit, None if ends is None else [e for _, e in first])
    found = dict(zip(first, swept, strict=True))
    problem = {"cost_model": cost_model, "k": k, "saturation": saturation.name}
    positions = _kept_positions(packages, pools)
    solutions: dict[str, list] = defaultdict(list)
    selections: dict[str, list] = defaultdict(list)
    curves: list[dict[str, np.ndarray]] = []
    for pool in pools:
        for at, (package, instance) in enumerate(zip(packages, per_pool[pool.name], strict=True)):
            digest, end = hashes[id(instance)], None if ends is None else ends[at]
            one = found[digest, end]
            own = {"suite": package.suite, "package_id": package.package_id, "pool": pool.name, **problem}
            for (budget, spec), s in zip(budgets.items(), one.solutions, strict=True):
                key = own | {"budget": budget}
                names = {
                    "budget_spec": spec,
                    "instance_hash": digest,
                    "solution_id": f"{digest}.k{k}.{saturation.name}.{budget}",
                }
                _add(solutions, **key, **names, **_solution_columns(s))
                kept = positions[pool.name, package.content_hash]
                for i in s.selection:
                    _add(selections, **key, candidate_id=package.visible.candidate_ids[kept[i]])
            if end is not None:
                own |= {"distribution": package.distribution, "max_budget": end}
                curves.append(_curve_columns(one.curve, instance.scale, own))
    joined = {name: np.concatenate([c[name] for c in curves]) for name in curves[0]} if curves else {}
    return Solved(solutions, selections, joined)


def _add(columns: dict[str, list], **values) -> None:
    for name, value in values.items():
        columns[name].append(value)


def _solution_columns(s: Solution) -> dict[str, int | float | str | bool]:
    return {
        "status": s.status,
        "value_int": s.value_int,
        "bound_int": s.bound_int,
        "scale": s.scale,
        "value": s.value_int / s.scale,
        "cost": s.cost,
        "n_selected": len(s.selection),
        "nodes": s.nodes,
        "canonical": s.settled,
    }


def _curve_columns(curve: Curve | None, scale: int, constants: Mapping[str, int | str]) -> dict[str, np.ndarray]:
    """A row a breakpoint; without a proven curve the one of budget 0."""
    budgets, values = (np.zeros(1, np.int64),) * 2 if curve is None else (curve.budgets, curve.values)
    status = LIMIT if curve is None else OPTIMAL
    constants = {**constants, "scale": scale, "status": status}
    rows = {name: np.full(len(budgets), value) for name, value in constants.items()}
    return {**rows, "budget": budgets, "value_int": values, "value": values / scale}


def _kept_positions(packages: Sequence[Package], pools: Sequence[Pool]) -> dict[tuple[str, str], np.ndarray]:
    """(pool, content hash) -> positions in the full package of the candidates that the pool keeps."""
    made: dict[tuple[str, str], np.ndarray] = {}
    for package in packages:
        for pool in pools:
            if (pool.name, package.content_hash) not in made:
                mask = pool.mask(package.visible.representation_type)
                made[pool.name, package.content_hash] = np.flatnonzero(mask)
    return made
