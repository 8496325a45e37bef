"""From the Parquet rows of a suite's packages to `Problem`s, without the pipeline's own package code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError
from .costs import DECLARED, measure
from .model import Curve, Problem, decimal

# The tables of packages/{suite}/ that a check reads, and the columns it uses of each.
COLUMNS = {
    "packages": ("suite", "package_id", "n_candidates", "n_units", "total_cost"),
    "candidates": (
        "package_id",
        "candidate_id",
        "group_id",
        "representation_type",
        "cost",
        "time_index",
        "text",
        "n_words",
        "n_chars",
        "n_bytes",
    ),
    "units": ("package_id", "unit_id", "weight", "role"),
    "coverage": ("package_id", "candidate_id", "unit_id", "coverage"),
}


@dataclass(frozen=True, eq=False)
class CandidateRow:
    """One row of `candidates`, with its non-zero coverage by unit index."""

    candidate_id: str
    group_id: str
    representation_type: str
    cost: int
    time_index: int
    text: str | None
    n_words: int | None
    n_chars: int | None
    n_bytes: int | None
    coverage: dict[int, Fraction] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class PackageRows:
    """One package as its rows say: candidates in any order; unit ids sorted, weights and roles in their order."""

    label: str
    candidates: tuple[CandidateRow, ...]
    unit_ids: tuple[str, ...]
    weights: tuple[Fraction, ...]
    roles: tuple[str, ...]


def read_rows(tables: Mapping[str, pa.Table], package_ids: Collection[str]) -> dict[str, PackageRows]:
    """The named packages by id, from the tables of `COLUMNS` (more columns may be there).

    Raises InputError naming the package where it is absent, a row names an unknown id, a number is out of its
    range, or the counts and total cost in `packages` differ from the rows'.
    """
    wanted = pa.array(sorted(package_ids), pa.string())
    heads = {row[1]: row for row in _records(tables, "packages", wanted)}
    candidates, units, coverage = (
        _by_package(_records(tables, name, wanted)) for name in ("candidates", "units", "coverage")
    )
    made = {}
    for package_id in sorted(package_ids):
        if package_id not in heads:
            raise InputError(f"package {package_id}: solutions name it, table packages does not have it")
        made[package_id] = _package(heads[package_id], candidates[package_id], units[package_id], coverage[package_id])
    return made


def _records(tables: Mapping[str, pa.Table], name: str, wanted: pa.Array) -> Iterable[tuple]:
    table = tables[name].select(COLUMNS[name])
    table = table.filter(pc.is_in(table.column("package_id"), value_set=wanted))
    return zip(*(column.to_pylist() for column in table.columns), strict=True)


def _by_package(records: Iterable[tuple]) -> defaultdict[str, list[tuple]]:
    rows: defaultdict[str, list[tuple]] = defaultdict(list)
    for package_id, *rest in records:
        rows[package_id].append(tuple(rest))
    return rows


def _package(head: tuple, candidates: list[tuple], units: list[tuple], coverage: list[tuple]) -> PackageRows:
    suite, package_id, n_candidates, n_units, total_cost = head
    label = f"package {package_id} of suite {suite}"
    rows = {row[0]: CandidateRow(*row) for row in candidates}
    weight_of = {unit_id: weight for unit_id, weight, _ in units}
    role_of = {unit_id: role for unit_id, _, role in units}
    index = {unit_id: i for i, unit_id in enumerate(sorted(weight_of))}
    if len(rows) != len(candidates) or len(index) != len(units):
        raise InputError(f"{label}: a candidate or a unit stands twice; delete the suite's packages and run again")
    found = (len(rows), len(index), sum(row.cost for row in rows.values()))
    if found != (n_candidates, n_units, total_cost):
        raise InputError(
            f"{label}: its rows have {found[0]} candidates, {found[1]} units and a total cost of {found[2]}; "
            f"table packages says {n_candidates}, {n_units} and {total_cost}; "
            f"delete the suite's packages and run again"
        )
    for row in rows.values():
        if row.cost < 1:
            raise InputError(f"{label}: candidate {row.candidate_id} costs {row.cost}; a cost is at least 1")
    for unit_id, weight in weight_of.items():
        if not 0 <= weight < float("inf"):
            raise InputError(f"{label}: unit {unit_id} has weight {weight}; a weight is a number >= 0")
    for candidate_id, unit_id, a in coverage:
        if candidate_id not in rows or unit_id not in index:
            raise InputError(f"{label}: coverage row ({candidate_id}, {unit_id}) names an unknown id")
        if not 0 <= a <= 1:
            raise InputError(f"{label}: coverage of ({candidate_id}, {unit_id}) is {a}, outside [0, 1]")
        if a:
            rows[candidate_id].coverage[index[unit_id]] = decimal(a)
    return PackageRows(
        label,
        tuple(rows.values()),
        tuple(index),
        tuple(decimal(weight_of[unit_id]) for unit_id in index),
        tuple(role_of[unit_id] for unit_id in index),
    )


def build_problem(
    package: PackageRows,
    *,
    pool: Mapping[str, Collection[str] | None],
    saturation: Curve,
    k: int,
    cost_model: str | Mapping[str, float] = DECLARED,
    costs: Mapping[str, int] | None = None,
) -> Problem:
    """The problem of one package: the candidates that `pool` {"include": types or None, "exclude": types}
    keeps, in the protocol's order (groups by smallest time index, then id; inside by cost, then id).

    Costs: `costs` (by candidate id) where given, else by `cost_model` (see check/costs.py). A group's place
    depends on all its candidates, also those outside the pool.
    """
    place = group_places(package)
    include, exclude = pool.get("include"), pool.get("exclude") or ()
    kept = [
        (row, _cost(package, row, cost_model, costs))
        for row in package.candidates
        if (include is None or row.representation_type in include) and row.representation_type not in exclude
    ]
    kept.sort(key=lambda item: (place[item[0].group_id], item[1], item[0].candidate_id))
    rows = [row for row, _ in kept]
    return Problem(
        label=package.label,
        candidate_ids=tuple(row.candidate_id for row in rows),
        groups=_runs([row.group_id for row in rows]),
        costs=tuple(cost for _, cost in kept),
        coverage=tuple(row.coverage for row in rows),
        weights=package.weights,
        saturation=saturation,
        k=k,
    )


def group_places(package: PackageRows) -> dict[str, tuple[int, str]]:
    """What the package's groups are ordered by: smallest time index, then id."""
    first_time: dict[str, int] = {}
    for row in package.candidates:
        first_time[row.group_id] = min(row.time_index, first_time.get(row.group_id, row.time_index))
    return {group_id: (time, group_id) for group_id, time in first_time.items()}


def total_cost(package: PackageRows, cost_model: str | Mapping[str, float]) -> int:
    """Cost of all candidates under a cost model (see check/costs.py)."""
    return sum(_cost(package, row, cost_model, None) for row in package.candidates)


def _cost(package: PackageRows, row: CandidateRow, cost_model, costs: Mapping[str, int] | None) -> int:
    if costs is not None:
        if row.candidate_id not in costs:
            raise InputError(f"{package.label}: the cost table has no candidate {row.candidate_id}")
        return costs[row.candidate_id]
    if cost_model == DECLARED:
        return row.cost
    sizes = (row.n_words, row.n_chars, row.n_bytes)
    if row.text is None and None in sizes:
        raise InputError(
            f"{package.label}: candidate {row.candidate_id} has neither text nor size; only 'declared' can cost it"
        )
    return measure(cost_model, sizes if row.text is None else row.text)


def _runs(group_ids: list[str]) -> tuple[range, ...]:
    """The positions of each run of equal ids."""
    starts = [i for i in range(len(group_ids)) if i == 0 or group_ids[i] != group_ids[i - 1]]
    return tuple(range(a, b) for a, b in pairwise([*starts, len(group_ids)]))
