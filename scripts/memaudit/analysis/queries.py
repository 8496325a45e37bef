"""What writers keep, query by query: the required units of each, and results by category of query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..objective import CAP1, scale
from ..package import Package
from ..schemas import CATEGORIES, QUERY_SCORES
from .bootstrap import mean, mean_interval
from .relabel import kept_of
from .scores import unit_coverage

ALL = "all"
# Stands for the category of a query that has none.
NO_CATEGORY = "none given"
_PROBLEM = ["cost_model", "k", "saturation", "budget_spec", "budget"]


def query_scores(packages: Sequence[Package], scores: pd.DataFrame, selections: pd.DataFrame) -> pd.DataFrame:
    """Schema QUERY_SCORES: a row a query, setting, budget and writer of `scores` (schema SCORES).

    required: number of units the query requires; covered: sum over them of min(1, summed coverage of what the
    writer kept); all_covered: each of them has summed coverage >= 1, None where none is required. Sums are
    exact integers until one last division.
    """
    parts = []
    exact = {p.package_id: _covered_units(p) for p in packages}
    for setting, own in scores.groupby(["cost_model", "k", "saturation"]):
        mine = selections[(selections[["cost_model", "k", "saturation"]] == list(setting)).all(axis=1)]
        kept = kept_of(packages, own, mine)
        for package in packages:
            if len(kept.chosen[package.package_id]):
                rows = kept.rows[kept.rows["package_id"] == package.package_id]
                part = _query_rows(package, rows, kept.chosen[package.package_id], *exact[package.package_id])
                parts.append(part.assign(**dict(zip(("cost_model", "k", "saturation"), setting, strict=True))))
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=QUERY_SCORES.schema.names)
    return table[QUERY_SCORES.schema.names].sort_values(list(QUERY_SCORES.key), ignore_index=True)


def _covered_units(package: Package) -> tuple[np.ndarray, int]:
    """Coverage as integers (candidates, units), and the integer that stands for coverage 1."""
    instance = scale(package, CAP1)
    dense = np.zeros((len(package), len(package.units)), dtype=np.int64)
    owner = np.repeat(np.arange(len(package)), np.diff(package.cov_ptr))
    dense[owner, package.cov_unit] = instance.cov
    return dense, unit_coverage(package, instance)


def _query_rows(package: Package, rows: pd.DataFrame, chosen: np.ndarray, dense: np.ndarray, one: int) -> pd.DataFrame:
    """Queries of one package under each of its rows of kept memories."""
    mass = np.minimum(chosen @ dense, one)  # (rows, units)
    parts = []
    for query in package.queries:
        own = mass[:, [package.unit_index[u] for u in query.required]]
        parts.append(
            pd.DataFrame({
                "suite": package.suite,
                "package_id": package.package_id,
                "query_id": query.query_id,
                "category": query.category or NO_CATEGORY,
                "budget_spec": rows["budget_spec"].to_numpy(),
                "budget": rows["budget"].to_numpy(),
                "writer": rows["writer"].to_numpy(),
                "required": len(query.required),
                "covered": own.sum(axis=1) / one,
                "all_covered": list(map(bool, (own == one).all(axis=1))) if query.required else None,
            })
        )  # fmt: skip
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=QUERY_SCORES.schema.names)


def by_category(queries: pd.DataFrame, scores: pd.DataFrame, *, resamples: int = 1000, seed: int = 0) -> pd.DataFrame:
    """Schema CATEGORIES, from schemas QUERY_SCORES and SCORES of one suite; category "all" holds all queries.

    Of the queries that require a unit: mean_covered is the mean share of their required mass that is covered;
    share_all, share_none the share of those with all units covered, with none of their mass; intervals resample
    whole packages (one query each, or one conversation). mean_ratio: of the n packages whose ratio is defined and
    all of whose queries are of the category (null where there is none).
    """
    alone = queries.groupby("package_id")["category"].agg(["nunique", "first"])
    only = alone["first"].where(alone["nunique"] == 1)
    by = [*_PROBLEM, "writer"]
    ratios = dict(list(scores[scores["ratio"].notna()].groupby(by)))
    rows = []
    for key, part in queries.groupby(by, sort=True):
        own = ratios.get(key, scores.iloc[:0])
        names = sorted(set(part["category"]))
        for category in [*names, *([ALL] if len(names) > 1 else [])]:
            asked = part if category == ALL else part[part["category"] == category]
            ratio = own if category == ALL else own[own["package_id"].map(only) == category]
            head = {"suite": part["suite"].iloc[0], "category": category, **dict(zip(by, key, strict=True))}
            rows.append(head | _share_numbers(asked, resamples, seed) | _ratio_numbers(ratio, resamples, seed))
    return pd.DataFrame(rows, columns=CATEGORIES.schema.names).sort_values(list(CATEGORIES.key), ignore_index=True)


def _share_numbers(asked: pd.DataFrame, resamples: int, seed: int) -> dict:
    numbers = {"packages": asked["package_id"].nunique(), "queries": len(asked)}
    required = asked[asked["required"] > 0].sort_values(["package_id", "query_id"])
    numbers["without_requirement"] = len(asked) - len(required)
    if required.empty:
        return numbers
    numbers["share_none"] = mean((required["covered"] == 0).to_numpy(dtype=np.float64))
    clusters = required["package_id"].to_numpy()
    means = {
        ("share_all", "share_low", "share_high"): required["all_covered"].astype(bool),
        ("mean_covered", "covered_low", "covered_high"): required["covered"] / required["required"],
    }
    for names, values in means.items():
        interval = mean_interval(values.to_numpy(dtype=np.float64), resamples, seed, clusters)
        numbers |= dict(zip(names, interval, strict=True))
    return numbers


def _ratio_numbers(scores: pd.DataFrame, resamples: int, seed: int) -> dict:
    if scores.empty:
        return {"n": 0}
    ratio = scores.sort_values("package_id")["ratio"].to_numpy(dtype=np.float64)
    interval = mean_interval(ratio, resamples, seed)
    return {"n": len(ratio)} | dict(zip(("mean_ratio", "ci_low", "ci_high"), interval, strict=True))
