"""Tables `scores`, `selections` and `summary` computed a second time from what was kept."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..schemas import SUMMARY
from .compare import CLOSE
from .places import named
from .worth import COLUMNS as WORTH
from .worth import Meter

ALL = "all"
_ROW = (
    "package_id",
    "writer",
    "pool",
    "budget",
    "distribution",
    "value_int",
    "scale",
    "value",
    "opt_status",
    "opt_int",
    "opt",
    "ratio",
)
_KEY = ("suite", "distribution", "cost_model", "pool", "k", "saturation", "budget", "budget_spec", "writer")
# Mean column of the summary -> column of the scores.
_MEANS = {
    "mean_value": "value",
    "mean_cost": "cost",
    "mean_current_covered": "current_covered",
    "mean_invalidation_covered": "invalidation_covered",
    "mean_stale_covered": "stale_covered",
    "mean_selected": "n_selected",
    "mean_validity_selected": "n_validity_selected",
    "mean_ratio": "ratio",
}
# What the summary is made of.
SUMMARISED = (*_KEY, "opt_status", "opt_int", "opt", "queries", "queries_covered", *_MEANS.values())


@dataclass(frozen=True)
class Optimum:
    """The solution that scores are measured against; status as scores say it."""

    value: Fraction
    status: str


@dataclass(frozen=True, eq=False)
class Measured:
    """A package as scores see it: positions and types by candidate id."""

    meter: Meter
    position: Mapping[str, int]
    types: Mapping[str, str]
    distribution: str


def score_faults(
    scores: pa.Table,
    selections: pa.Table,
    measured: Callable[[str], Measured | None],
    optima: Mapping[str, Optimum],
    chosen: Mapping[tuple[str, str], frozenset[str]],
    pools: Mapping[str, Mapping[str, Any]],
    writers: Mapping[str, Mapping[str, Any]] | None,
) -> Iterator[str]:
    """Lines on one file of scores and its selections.

    measured: package by id, None where unknown; optima: by package id, on the full pool; chosen: (pool, package id)
    -> candidates of the exact solution; pools: definitions; writers: name -> configured entry, None where unknown.
    """
    kept: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in zip(*_columns(selections, "package_id", "writer", "candidate_id", "representation_type"), strict=True):
        package_id, writer, candidate_id, kind = row
        kept[package_id, writer].append(candidate_id)
        package = measured(package_id)
        if package is None or package.types.get(candidate_id) != kind:
            name = named({"package_id": package_id, "writer": writer, "candidate_id": candidate_id})
            yield f"selections: {name}: the package has no such candidate of type {kind}"
    for row in zip(*_columns(scores, *_ROW), zip(*_columns(scores, *WORTH), strict=True), strict=True):
        (package_id, writer, pool, *_), worth = row[:-1], row[-1]
        name = named({"package_id": package_id, "pool": pool, "writer": writer})
        package, optimum, ids = measured(package_id), optima.get(package_id), kept.pop((package_id, writer), [])
        if package is None or optimum is None:
            yield f"{name}: no such package, or no optimum of it on pool full"
        elif package.position.keys() >= set(ids):  # unknown candidates were told above
            for fault in _row_faults(row[:-1], worth, package, ids, optimum):
                yield f"{name}: {fault}"
            yield from (f"{name}: {fault}" for fault in _outside(pool, ids, package, pools))
            entry = {} if writers is None else writers.get(writer, {})
            if entry and entry["pool"] != pool:
                yield f"{name}: the writer's pool is {entry['pool']}"
            if entry.get("rule") == "opt" and chosen.get((pool, package_id)) != frozenset(ids):
                yield f"{name}: rule opt keeps what the solution does, and this is something else"
    for package_id, writer in kept:
        yield f"selections: {named({'package_id': package_id, 'writer': writer})}: no row in scores"


def _columns(table: pa.Table, *names: str) -> list[list]:
    return [table.column(name).to_pylist() for name in names]


def _row_faults(row: tuple, worth: tuple, package: Measured, ids: list[str], optimum: Optimum) -> Iterator[str]:
    _, _, _, budget, distribution, value_int, scale, value, opt_status, opt_int, opt, ratio = row
    found = package.meter.of(tuple(sorted(package.position[c] for c in ids)))
    if found.breach:
        yield f"the selection may not be kept: {found.breach}"
    if found.columns[0] > budget:
        yield f"the selection costs {found.columns[0]} of a budget of {budget}"
    if worth != found.columns:
        for column, stored, again in zip(WORTH, worth, found.columns, strict=True):
            if stored != again:
                yield f"{column} is {stored!r}, computed again {again!r}"
    if distribution != package.distribution:
        yield f"distribution is {distribution!r}, its package's {package.distribution!r}"
    if scale < 1:
        yield f"scale is {scale}"
        return
    for column, number, integer, exact in (
        ("value", value, value_int, found.value),
        ("opt", opt, opt_int, optimum.value),
    ):
        if integer * exact.denominator != exact.numerator * scale or number != integer / scale:
            yield f"{column} is {number!r} = {integer} / {scale}, computed again {exact}"
    if opt_status != optimum.status:
        yield f"opt_status is {opt_status!r}; by solutions and checks {optimum.status!r}"
    expected = _ratio(found.value, optimum)
    if ratio != expected:
        yield f"ratio is {ratio!r}, computed again {expected!r}"
    if optimum.status != "limit" and found.value > optimum.value:
        yield f"it is worth {found.value}, more than the optimum {optimum.value}"


def _ratio(value: Fraction, optimum: Optimum) -> float | None:
    if optimum.status == "limit":
        return None
    return float(value / optimum.value) if optimum.value else 1.0


def _outside(pool: str, ids: list[str], package: Measured, pools: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    if pool not in pools:
        return
    include, exclude = pools[pool].get("include"), pools[pool].get("exclude") or ()
    for candidate_id in ids:
        kind = package.types[candidate_id]
        if kind in exclude or (include is not None and kind not in include):
            yield f"candidate {candidate_id} of type {kind} is not in its pool"


def summary_faults(summary: pa.Table, scores: pa.Table) -> Iterator[str]:
    """Lines on the `summary` of all `scores` (columns SUMMARISED, one budget_spec an amount): rows, counts and means;
    not the intervals and notes."""
    again = _summary_rows(scores)
    key = [c for c in SUMMARY.key if c != "budget"] + ["budget", "budget_spec"]
    for row in summary.to_pylist():
        name = ", ".join(str(row[c]) for c in SUMMARY.key)
        found = again.pop(tuple(row[c] for c in key), None)
        if found is None:
            yield f"row {name}: there are no such scores"
            continue
        for column, value in found.items():
            stored = row[column]
            same = stored == value if value is None or stored is None else math.isclose(stored, value, **CLOSE)
            if not same:
                yield f"row {name}: {column} is {stored!r}, from the scores {value!r}"
    for missing in again:
        yield f"no row for the scores of {', '.join(map(str, missing))}"


def _summary_rows(scores: pa.Table) -> dict[tuple, dict[str, Any]]:
    """Counts and means by the summary's key."""
    proven = pc.not_equal(scores.column("opt_status"), "limit")
    asked = pc.greater(scores.column("queries"), 0)
    share = pc.divide(pc.cast(scores.column("queries_covered"), pa.float64()), scores.column("queries"))
    rated = pc.is_valid(scores.column("ratio"))
    columns = {name: scores.column(column) for name, column in _MEANS.items()}
    columns |= {
        "mean_opt": pc.if_else(proven, scores.column("opt"), None),
        "mean_queries_covered": pc.if_else(asked, share, None),
        "mean_ratio_opt_positive": pc.if_else(pc.greater(scores.column("opt_int"), 0), scores.column("ratio"), None),
    }
    counts = {
        "n": rated,
        "undefined_n": pc.and_(proven, pc.invert(rated)),
        "n_unproven": pc.invert(proven),
        "opt_zero_n": pc.and_(proven, pc.equal(scores.column("opt_int"), 0)),
    }
    columns |= {name: pc.cast(flag, pa.int64()) for name, flag in counts.items()}
    key = [c for c in SUMMARY.key if c != "budget"] + ["budget", "budget_spec"]
    table = pa.table({**{c: scores.column(c) for c in key}, **columns})
    wanted = [(name, "sum" if name in counts else "mean") for name in columns]
    rows: dict[tuple, dict[str, Any]] = {}
    for part in (table, _of_all_distributions(table)):
        for row in part.group_by(key).aggregate(wanted).to_pylist():
            rows[tuple(row[c] for c in key)] = {name: row[f"{name}_{how}"] for name, how in wanted}
    return rows


def _of_all_distributions(table: pa.Table) -> pa.Table:
    """The rows of suites with several distributions, under the name of all."""
    pairs = table.group_by(["suite", "distribution"]).aggregate([]).column("suite").to_pylist()
    several = sorted({suite for suite in pairs if pairs.count(suite) > 1})
    part = table.filter(pc.is_in(table.column("suite"), value_set=pa.array(several, pa.string())))
    at = part.schema.get_field_index("distribution")
    return part.set_column(at, "distribution", pa.array([ALL] * len(part), pa.string()))
