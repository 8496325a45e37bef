"""What every writer keeps of every package of a suite at each budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..objective import Instance, Saturation
from ..package import Package
from ..pools import Pool
from ..solve.stage import instances_of
from .learned import is_held_out, is_training
from .registry import Writer, check_feasible, fitted, run

# (pool, package_id) -> candidate ids of the exact optimum, from table `solution_selections`.
Optima = Mapping[tuple[str, str], Sequence[str]]


def kept(
    writers: Sequence[Writer],
    packages: Sequence[Package],
    training: Sequence[Package],
    *,
    pools: Mapping[str, Pool],
    saturation: Saturation,
    k: int,
    optima: Mapping[int, Optima],
) -> Iterator[tuple[Writer, int, list[Package], list[list[int]]]]:
    """For each writer and budget of `optima`: the packages it is scored on and, a package, its positions (ascending,
    feasible).

    A writer that fits itself trains on the even-seed packages of `training` and is scored on odd seeds only.
    """
    restricted = {name: _restricted(pools[name], packages, saturation) for name in sorted({w.pool for w in writers})}
    for writer in writers:
        parameters = dict(writer.parameters)
        if writer.learns:
            examples = [pools[writer.pool](p) for p in training if is_training(p)]
            parameters = fitted(writer, examples, saturation)
        scored = [
            (package, own)
            for package, own in zip(packages, restricted[writer.pool], strict=True)
            if not writer.learns or is_held_out(package)
        ]
        for budget, solved in optima.items():
            selections = []
            for package, (inner, instance, positions) in scored:
                if writer.rule.sees == "solution":
                    index = {c: i for i, c in enumerate(package.visible.candidate_ids)}
                    chosen = [index[c] for c in solved.get((writer.pool, package.package_id), ())]
                    selection = check_feasible(package, chosen, budget, writer.name, k)
                else:
                    selection = [int(positions[i]) for i in run(writer, inner, instance, budget, parameters)]
                selections.append(selection)
            yield writer, budget, [package for package, _ in scored], selections


def _restricted(
    pool: Pool, packages: Sequence[Package], saturation: Saturation
) -> list[tuple[Package, Instance, np.ndarray]]:
    """Each package within the pool, in exact integers, and its candidates' positions in the full package."""
    instances = instances_of(packages, pool, saturation)
    masks = [pool.mask(p.visible.representation_type) for p in packages]
    return [(pool(p), i, np.flatnonzero(m)) for p, i, m in zip(packages, instances, masks, strict=True)]
