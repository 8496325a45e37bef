"""A suite of packages as Parquet tables: written from, and read back into, `Package` objects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from .errors import InputError
from .package import Candidate, Package, Query, TextSize, Unit, build
from .schemas import BY_ROW
from .table_io import read_table, to_table, write_table

# The tables of a suite's packages, in the order of results/packages/{suite}/.
PACKAGE_TABLES = (
    "packages",
    "candidates",
    "units",
    "queries",
    "requirements",
    "labels",
    "coverage",
    "unscored",
    "warnings",
)
_SIZE = ("n_words", "n_chars", "n_bytes")


def write_packages(
    folder: str | Path, tables: Mapping[str, pa.Table], metadata: Mapping[str, str] | None = None
) -> None:
    """Write the tables of `package_tables` into `folder`."""
    for name, table in tables.items():
        write_table(Path(folder) / f"{name}.parquet", name, table, metadata)


def package_tables(
    packages: Iterable[Package],
    *,
    suite: str,
    label_source: str,
    labels: Iterable[Mapping[str, Any]] | None = None,
    primary: Mapping[tuple[str, str], Collection[str]] | None = None,
    statuses: Mapping[tuple[str, str], str] | None = None,
    unscored: Iterable[Mapping[str, str]] = (),
    warnings: Iterable[Mapping[str, str]] = (),
) -> dict[str, pa.Table]:
    """Every table of `PACKAGE_TABLES` for a suite.

    `labels` rows: the columns of that table but the suite; by default `label_source` labelled the coverage
    (one source, pass "1", the non-zero cells). `primary`: (package_id, query_id) -> its primary required units
    (default: all); `statuses`: what a judge made of it. `unscored` rows: source_id, category, reason. `warnings`
    rows: source_id, kind, detail.
    """
    primary, statuses = primary or {}, statuses or {}
    rows: dict[str, dict[str, list]] = {name: defaultdict(list) for name in PACKAGE_TABLES}

    def add(table: str, **values) -> None:
        for column, value in values.items():
            rows[table][column].append(value)

    for p in packages:
        key = {"suite": p.suite, "package_id": p.package_id}
        v = p.visible
        add(
            "packages",
            **key,
            distribution=p.distribution,
            seed=p.seed,
            content_hash=p.content_hash,
            n_groups=len(v.group_ids),
            n_candidates=len(v),
            n_units=len(p.units),
            n_queries=len(p.queries),
            total_cost=p.total_cost,
        )
        group_of = v.group_of
        for i, candidate_id in enumerate(v.candidate_ids):
            estimated = v.estimated_coverage[i]
            size = v.size[i] or (None, None, None)
            add(
                "candidates",
                **key,
                candidate_id=candidate_id,
                group_id=v.group_ids[group_of[i]],
                representation_type=v.representation_type[i],
                cost=int(v.cost[i]),
                time_index=int(v.time_index[i]),
                confidence=float(v.confidence[i]),
                text=v.text[i],
                **dict(zip(_SIZE, size, strict=True)),
                estimated_value=v.estimated_value[i],
                estimated_coverage=None
                if estimated is None
                else [{"unit_id": u, "coverage": c} for u, c in sorted(estimated.items())],
            )
            for unit_id, value in p.coverage_row(i).items():
                add("coverage", **key, candidate_id=candidate_id, unit_id=unit_id, coverage=value)
                if labels is None:
                    label = {"source": label_source, "pass": "1", "value": value, "status": "accepted"}
                    label |= {"stated": BY_ROW, "line": None}
                    add("labels", **key, candidate_id=candidate_id, unit_id=unit_id, **label)
        for u in p.units:
            add("units", **key, unit_id=u.unit_id, role=u.role, weight=u.weight, kind=u.kind, text=u.text)
        for q in p.queries:
            name = (p.package_id, q.query_id)
            named_first = primary.get(name, q.required)
            add(
                "queries",
                **key,
                query_id=q.query_id,
                category=q.category,
                text=q.text,
                answer=q.answer,
                status=statuses.get(name),
                required_changed=set(named_first) != set(q.required) if name in primary else None,
            )
            for unit_id in q.required:
                is_primary = unit_id in named_first
                add("requirements", **key, query_id=q.query_id, unit_id=unit_id, primary=is_primary)
    for row in labels or ():
        add("labels", suite=suite, **row)
    for row in unscored:
        add("unscored", suite=suite, **row)
    for row in warnings:
        add("warnings", suite=suite, **row)
    return {name: to_table(name, rows[name]) for name in PACKAGE_TABLES}


def read_packages(folder: str | Path) -> list[Package]:
    """The packages of a suite folder, sorted by package_id; InputError where their content is not what was built."""
    tables = {
        name: read_table(Path(folder) / f"{name}.parquet", name).to_pydict()
        for name in ("packages", "candidates", "units", "queries", "requirements", "coverage")
    }
    parts = {name: _by_package(table["package_id"]) for name, table in tables.items()}
    packages = [_one_package(tables, parts, row) for row in range(len(tables["packages"]["package_id"]))]
    for package, recorded in zip(packages, tables["packages"]["content_hash"], strict=True):
        if package.content_hash != recorded:
            raise InputError(
                f"{folder}: package {package.package_id} is not what was built (content hash {package.content_hash}, "
                f"recorded {recorded}); a table was edited: delete the folder and run snakemake again"
            )
    return packages


def _by_package(package_ids: list[str]) -> dict[str, range]:
    """First and last row of each package: rows are sorted by package id."""
    spans: dict[str, range] = {}
    start = 0
    for i in range(1, len(package_ids) + 1):
        if i == len(package_ids) or package_ids[i] != package_ids[start]:
            spans[package_ids[start]] = range(start, i)
            start = i
    return spans


def _one_package(tables: dict, parts: dict, row: int) -> Package:
    head = {column: values[row] for column, values in tables["packages"].items()}
    package_id = head["package_id"]

    def records(name: str, *columns: str) -> Iterable[tuple]:
        span = parts[name].get(package_id, range(0))
        return zip(*(tables[name][c][span.start : span.stop] for c in columns), strict=True)

    candidates = [
        Candidate(
            cid,
            gid,
            kind,
            cost,
            time,
            text,
            confidence,
            value,
            None if cov is None else {c["unit_id"]: c["coverage"] for c in cov},
            None if None in size else TextSize(*size),
        )
        for cid, gid, kind, cost, time, text, confidence, value, cov, *size in records(
            "candidates",
            "candidate_id",
            "group_id",
            "representation_type",
            "cost",
            "time_index",
            "text",
            "confidence",
            "estimated_value",
            "estimated_coverage",
            *_SIZE,
        )
    ]
    units = [Unit(*r) for r in records("units", "unit_id", "weight", "role", "kind", "text")]
    coverage = {(c, u): value for c, u, value in records("coverage", "candidate_id", "unit_id", "coverage")}
    required: dict[str, list[str]] = defaultdict(list)
    for query_id, unit_id in records("requirements", "query_id", "unit_id"):
        required[query_id].append(unit_id)
    queries = [
        Query(query_id, tuple(required[query_id]), category, text, answer)
        for query_id, category, text, answer in records("queries", "query_id", "category", "text", "answer")
    ]
    return build(head["suite"], package_id, head["distribution"], head["seed"], candidates, units, coverage, queries)
