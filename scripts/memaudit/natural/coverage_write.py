"""Packages as rows of the coverage-package layout, so that reading them again gives equal packages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import InputError
from ..package import Package
from .conversations import SEPARATOR
from .coverage_package import NO_CATEGORY
from .coverage_rows import coverage_label, example_of


def package_rows(
    packages: Iterable[Package], experiences: Sequence[Mapping[str, Any]] | None = None
) -> dict[str, list[dict[str, Any]]]:
    """Table of `coverage_rows.TABLE_FILES` -> rows, for `write_coverage_package`.

    `experiences`: rows for that file (a Package does not hold the sessions themselves); default: a row for
    each group with its id alone. Costs, time indexes, weights and roles are written as they are; the key
    `role` is an addition of ours to the layout. Raises InputError on a package that the layout cannot hold:
    more than one query, another package id than the query's, ids that do not begin with it and '::', a
    required unit of weight below 1, a confidence of 0, a seed, a distribution other than the query's category.
    """
    tables: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("queries", "experiences", "units", "candidates", "coverage")
    }
    for package in sorted(packages, key=lambda p: p.package_id):
        _refuse_what_would_change(package)
        tables["queries"].append(_query(package))
        if experiences is None:
            tables["experiences"] += [{"experience_id": group_id} for group_id in package.visible.group_ids]
        tables["units"] += _units(package)
        tables["candidates"] += _candidates(package)
        tables["coverage"] += _coverage(package)
    tables["experiences"] += [dict(row) for row in experiences or ()]
    return tables


def _refuse_what_would_change(package: Package) -> None:
    where = f"package {package.package_id} of suite {package.suite} cannot stand in a coverage package"

    def refuse(wrong: bool, why: str) -> None:
        if wrong:
            raise InputError(f"{where}: {why}")

    refuse(len(package.queries) != 1, f"it has {len(package.queries)} queries, the layout holds one a package")
    (query,) = package.queries
    refuse(query.query_id != package.package_id, f"its query is {query.query_id}; give both one id")
    refuse(package.distribution != (query.category or NO_CATEGORY), "its distribution is not the query's category")
    refuse(package.seed is not None, "it has a seed")
    refuse(not package.units or not len(package) or not query.required, "it has no unit, candidate or required unit")
    v = package.visible
    ids = [*v.candidate_ids, *v.group_ids, *(u.unit_id for u in package.units)]
    example = example_of(package.package_id)
    other = next((i for i in ids if not i.startswith(example + SEPARATOR)), None)
    refuse(other is not None, f"id {other} does not begin with {example + SEPARATOR}; rename it")
    light = next((u.unit_id for u in package.units if u.unit_id in query.required and u.weight < 1), None)
    refuse(light is not None, f"unit {light} is required and its weight is below 1, which would read as 1")
    refuse(bool((v.confidence == 0).any()), "a candidate has confidence 0, which would read as 1")


def _query(package: Package) -> dict[str, Any]:
    (query,) = package.queries
    row = {
        "query_id": query.query_id,
        "question": query.text,
        "answer": query.answer,
        "category": query.category,
        "required_unit_ids": list(query.required),
    }
    return _without_none(row)


def _units(package: Package) -> list[dict[str, Any]]:
    return [
        _without_none(
            {"unit_id": u.unit_id, "kind": u.kind, "canonical_text": u.text, "role": u.role, "unit_weight": u.weight}
        )
        for u in package.units
    ]


def _candidates(package: Package) -> list[dict[str, Any]]:
    v = package.visible
    return [
        _without_none(
            {
                "candidate_id": candidate_id,
                "experience_id": v.group_ids[group],
                "representation_type": v.representation_type[i],
                "text": v.text[i],
                "cost": int(v.cost[i]),
                "confidence": float(v.confidence[i]),
                "time_index": int(v.time_index[i]),
                "estimated_value": v.estimated_value[i],
                "estimated_coverage": None if v.estimated_coverage[i] is None else dict(v.estimated_coverage[i]),
            }
        )
        for i, (candidate_id, group) in enumerate(zip(v.candidate_ids, v.group_of.tolist(), strict=True))
    ]


def _coverage(package: Package) -> list[dict[str, Any]]:
    return [
        {"candidate_id": c, "unit_id": u, "coverage": value, "coverage_label": coverage_label(value)}
        for i, c in enumerate(package.visible.candidate_ids)
        for u, value in sorted(package.coverage_row(i).items())
    ]


def _without_none(row: dict[str, Any]) -> dict[str, Any]:
    """An absent key, as the layout has it."""
    return {key: value for key, value in row.items() if value is not None}
