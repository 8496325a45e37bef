"""Solving a suite: which packages a shard takes, and its solutions as table columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from ..costs import DECLARED, cost_of_texts
from ..objective import Instance, Saturation, scale
from ..package import Package
from ..pools import Pool
from .bnb import Solution
from .choose import solve_all


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


def solve_packages(
    packages: Sequence[Package],
    pools: Sequence[Pool],
    *,
    cost_model: str,
    k: int,
    saturation: Saturation,
    budget_spec: str,
    budget: int,
    node_limit: int,
) -> tuple[dict[str, list], dict[str, list]]:
    """Columns of tables `solutions` and `solution_selections` for every package and pool at one budget.

    An instance that several packages or pools share is solved once (nodes are those of that search).
    """
    per_pool = {pool.name: instances_of(packages, pool, saturation) for pool in pools}
    hashes = {id(i): i.hash for instances in per_pool.values() for i in instances}
    first: dict[str, Instance] = {}
    for instances in per_pool.values():
        for instance in instances:
            first.setdefault(hashes[id(instance)], instance)
    solved: dict[str, Solution] = dict(zip(first, solve_all(list(first.values()), budget, k, node_limit), strict=True))
    positions = _kept_positions(packages, pools)
    solutions: dict[str, list] = defaultdict(list)
    selections: dict[str, list] = defaultdict(list)

    def add(columns: dict[str, list], **values) -> None:
        for name, value in values.items():
            columns[name].append(value)

    for pool in pools:
        for package, instance in zip(packages, per_pool[pool.name], strict=True):
            digest = hashes[id(instance)]
            s = solved[digest]
            key = {
                "suite": package.suite,
                "package_id": package.package_id,
                "cost_model": cost_model,
                "pool": pool.name,
                "k": k,
                "saturation": saturation.name,
                "budget": budget,
            }
            add(
                solutions,
                **key,
                budget_spec=budget_spec,
                instance_hash=digest,
                solution_id=f"{digest}.k{k}.{saturation.name}.{budget}",
                status=s.status,
                value_int=s.value_int,
                bound_int=s.bound_int,
                scale=s.scale,
                value=s.value_int / s.scale,
                cost=s.cost,
                n_selected=len(s.selection),
                nodes=s.nodes,
            )
            kept = positions[pool.name, package.content_hash]
            for i in s.selection:
                add(selections, **key, candidate_id=package.visible.candidate_ids[kept[i]])
    return solutions, selections


def _kept_positions(packages: Sequence[Package], pools: Sequence[Pool]) -> dict[tuple[str, str], np.ndarray]:
    """(pool, content hash) -> positions in the full package of the candidates that the pool keeps."""
    made: dict[tuple[str, str], np.ndarray] = {}
    for package in packages:
        for pool in pools:
            if (pool.name, package.content_hash) not in made:
                mask = pool.mask(package.visible.representation_type)
                made[pool.name, package.content_hash] = np.flatnonzero(mask)
    return made
