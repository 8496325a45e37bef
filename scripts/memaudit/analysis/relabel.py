"""What kept memories are worth under other coverage labels: the selections stay, value and OPT are computed anew.

Packages of one cost model; OPT on the full pool by the exact solver. Source: natural.md, "Reliability and
coverage audit".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..errors import InputError
from ..objective import Instance, Saturation
from ..package import Package
from ..pools import BUILT_IN as POOLS
from ..solve.bnb import OPTIMAL
from ..solve.choose import solve_all
from ..solve.stage import instances_of

ROW = ["package_id", "budget", "writer"]


def dense_coverage(package: Package) -> np.ndarray:
    """Coverage as an array (candidates, units), zeros included."""
    dense = np.zeros((len(package), len(package.units)))
    owner = np.repeat(np.arange(len(package)), np.diff(package.cov_ptr))
    dense[owner, package.cov_unit] = package.cov_value
    return dense


def with_coverage(package: Package, dense: np.ndarray) -> Package:
    """The package with another coverage, an array (candidates, units)."""
    owner, unit = np.nonzero(dense)
    ptr = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(package)))]).astype(np.int64)
    return replace(package, cov_ptr=ptr, cov_unit=unit.astype(np.int64), cov_value=dense[owner, unit])


def override(package: Package, labels: Mapping[tuple[str, str], float]) -> Package:
    """The package with the coverage of some cells, (candidate_id, unit_id) -> value, replaced; 0 removes one.

    Raises InputError naming a cell that the package does not have.
    """
    dense = dense_coverage(package)
    position = {c: i for i, c in enumerate(package.visible.candidate_ids)}
    for (candidate_id, unit_id), value in labels.items():
        if candidate_id not in position or unit_id not in package.unit_index:
            raise InputError(f"package {package.package_id}: no cell ({candidate_id}, {unit_id}) to label")
        dense[position[candidate_id], package.unit_index[unit_id]] = value
    return with_coverage(package, dense)


@dataclass(frozen=True)
class Kept:
    """What writers kept: `rows` (columns package_id, budget, budget_spec, writer, ratio: package by package
    together) and, a package, the selections of its rows as 0/1 array (rows, candidates)."""

    rows: pd.DataFrame
    chosen: Mapping[str, np.ndarray]


def kept_of(packages: Sequence[Package], scores: pd.DataFrame, selections: pd.DataFrame) -> Kept:
    """The rows of `scores` (schema SCORES, one setting) and their memories out of `selections`.

    Raises InputError on a memory that the package does not have.
    """
    rows = scores[[*ROW, "budget_spec", "ratio"]].sort_values(ROW, ignore_index=True)
    place = {key: i for i, key in enumerate(rows[ROW].itertuples(index=False, name=None))}
    first = {p: span[0] for p, span in rows.groupby("package_id").indices.items()}
    sizes = rows["package_id"].value_counts()
    chosen = {p.package_id: np.zeros((sizes.get(p.package_id, 0), len(p)), dtype=np.int64) for p in packages}
    position = {p.package_id: {c: i for i, c in enumerate(p.visible.candidate_ids)} for p in packages}
    for *key, candidate_id in selections[[*ROW, "candidate_id"]].itertuples(index=False, name=None):
        package_id = key[0]
        if candidate_id not in position.get(package_id, ()):
            raise InputError(f"selections name candidate {candidate_id}, not of package {package_id}; score again")
        chosen[package_id][place[tuple(key)] - first[package_id], position[package_id][candidate_id]] = 1
    return Kept(rows, chosen)


def reworth(
    packages: Sequence[Package], kept: Kept, *, saturation: Saturation, k: int, node_limit: int
) -> pd.DataFrame:
    """Columns package_id, budget, writer, value_int, opt_int, proven, new_ratio: rows of `kept` on `packages`.

    new_ratio: NaN where OPT is 0 or not proven within `node_limit` search nodes. Packages without rows are
    left out. Raises InputError where a proven optimum is below what a writer kept.
    """
    packages = sorted((p for p in packages if len(kept.chosen[p.package_id])), key=lambda p: p.package_id)
    table = kept.rows[kept.rows["package_id"].isin([p.package_id for p in packages])][ROW].reset_index(drop=True)
    instances = instances_of(packages, POOLS["full"], saturation)
    optima = _optima(packages, instances, sorted(set(table["budget"])), k, node_limit)
    hashes = {p.package_id: p.content_hash for p in packages}
    found = [optima[hashes[p], b] for p, b in zip(table["package_id"], table["budget"], strict=True)]
    # Rows of `kept` stand package by package, in the order of their ids.
    values = [_values(i, kept.chosen[p.package_id]) for p, i in zip(packages, instances, strict=True)]
    table["value_int"] = np.concatenate([np.zeros(0, np.int64), *values])
    table["opt_int"] = np.array([value for value, _ in found], dtype=np.int64)
    table["proven"] = np.array([proven for _, proven in found], dtype=bool)
    above = table[table["proven"] & (table["value_int"] > table["opt_int"])]
    if len(above):
        raise InputError(f"relabelled {dict(above.iloc[0][ROW])}: a selection is worth more than the optimum")
    usable = (table["proven"] & (table["opt_int"] > 0)).to_numpy()
    table["new_ratio"] = np.where(usable, table["value_int"] / np.where(usable, table["opt_int"], 1), np.nan)
    return table


def _optima(packages, instances, budgets, k, node_limit) -> dict[tuple[str, int], tuple[int, bool]]:
    """(content hash, budget) -> (value_int, proven); equal content is solved once."""
    distinct = {p.content_hash: i for p, i in zip(packages, instances, strict=True)}
    return {
        (digest, budget): (s.value_int, s.status == OPTIMAL)
        for budget in budgets
        for digest, s in zip(distinct, solve_all(list(distinct.values()), budget, k, node_limit), strict=True)
    }


def _values(instance: Instance, chosen: np.ndarray) -> np.ndarray:
    """F_int of each row of 0/1 `chosen` (rows, candidates)."""
    dense = np.zeros((len(instance.cost), len(instance.weight)), dtype=np.int64)
    owner = np.repeat(np.arange(len(instance.cost)), np.diff(instance.cov_ptr))
    dense[owner, instance.cov_unit] = instance.cov
    z = chosen @ dense
    lines = z[:, :, None] * instance.slope + instance.intercept
    return lines.min(axis=2) @ instance.weight
