"""The packages of a suite, read for verification: their rows, and whether table `packages` says the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError
from ..table_io import read_table
from .identity import content_hash
from .places import misplaced
from .plan import SuitePlan
from .rows import COLUMNS, PackageRows, read_rows, total_cost

_QUERY_COLUMNS = {
    "queries": ("package_id", "query_id"),
    "requirements": ("package_id", "query_id", "unit_id"),
}
_HEAD = ("package_id", "distribution", "seed", "content_hash", "n_groups", "n_queries")


@dataclass(frozen=True, eq=False)
class Packages:
    """A suite's packages by id. `required`: package -> query -> units, of queries that require any;
    `seeds`: null where a package has none."""

    rows: dict[str, PackageRows]
    distribution: dict[str, str]
    seeds: dict[str, int | None]
    required: dict[str, dict[str, list[str]]]

    def budget(self, spec: str, cost_model: str | Mapping[str, float]) -> int:
        """Whole cost units of a budget's spelling; InputError where it is none."""
        if spec.isdigit():
            return int(spec)
        try:
            fraction = Fraction(spec)
        except ValueError:
            raise InputError(f"{spec!r} is not a budget") from None
        return max(1, round(fraction * self.mean_total_cost(cost_model)))

    def total_cost(self, package_id: str, cost_model: str | Mapping[str, float]) -> int:
        return total_cost(self.rows[package_id], cost_model)

    def mean_total_cost(self, cost_model: str | Mapping[str, float]) -> Fraction:
        if not self.rows:
            raise InputError("a suite without packages has no mean total cost")
        return Fraction(sum(total_cost(p, cost_model) for p in self.rows.values()), len(self.rows))


def read_suite(folder: Path, suite: str, plan: SuitePlan | None) -> tuple[Packages, list[str]]:
    """The packages of a suite's folder, and a line for each fault: what table `packages` says is recomputed.

    Raises InputError where a table or a package cannot be read.
    """
    columns = {**COLUMNS, **_QUERY_COLUMNS}
    wanted = {name: ["suite", *(c for c in columns[name] if c != "suite")] for name in columns}
    wanted["packages"] = list(dict.fromkeys([*wanted["packages"], *_HEAD]))
    tables = {name: read_table(folder / f"{name}.parquet", name, wanted[name]) for name in wanted}
    faults = [f"{name}.parquet: {line}" for name, t in tables.items() for line in misplaced(t, {"suite": suite})]
    heads = tables["packages"].to_pylist()
    ids = {row["package_id"] for row in heads}
    faults += [f"{name}.parquet: {line}" for name, table in tables.items() for line in _orphans(table, ids)]
    if len(ids) < len(heads):
        faults.append("packages.parquet: a package_id stands twice")
    rows = read_rows(tables, ids)
    required, unknown = _required(tables)
    faults += [f"requirements.parquet: {line}" for line in unknown]
    n_queries = Counter(tables["queries"].column("package_id").to_pylist())
    for row in heads:
        package = rows[row["package_id"]]
        found = {
            "content_hash": content_hash(package),
            "n_groups": len({c.group_id for c in package.candidates}),
            "n_queries": n_queries[row["package_id"]],
        }
        faults += [
            f"packages.parquet: row package_id {row['package_id']}: {column} is {row[column]!r}, "
            f"by its candidates, units, coverage and queries {value!r}"
            for column, value in found.items()
            if row[column] != value
        ]
    if plan is not None and plan.packages is not None:
        faults += [f"packages.parquet: {line}" for line in _not_as_planned(heads, *plan.packages)]
    by_id = {row["package_id"]: row for row in heads}
    packages = Packages(
        rows,
        {i: row["distribution"] for i, row in by_id.items()},
        {i: row["seed"] for i, row in by_id.items()},
        required,
    )
    return packages, faults


def _orphans(table: pa.Table, ids: set[str]) -> list[str]:
    unknown = sorted(set(pc.unique(table.column("package_id")).to_pylist()) - ids)
    return [f"row package_id {i}: table packages has no such package" for i in unknown]


def _required(tables: Mapping[str, pa.Table]) -> tuple[dict[str, dict[str, list[str]]], list[str]]:
    """package -> query -> required units, and a line for each requirement of an unknown query or unit."""

    def records(name: str, *columns: str) -> list[tuple]:
        return list(zip(*(tables[name].column(c).to_pylist() for c in columns), strict=True))

    queries, units = set(records("queries", "package_id", "query_id")), set(records("units", "package_id", "unit_id"))
    required: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    faults = []
    for package_id, query_id, unit_id in records("requirements", "package_id", "query_id", "unit_id"):
        if (package_id, query_id) in queries and (package_id, unit_id) in units:
            required[package_id][query_id].append(unit_id)
        else:
            faults.append(f"row package_id {package_id}, query_id {query_id}: no such query, or no unit {unit_id}")
    return required, faults


def _not_as_planned(heads: list[dict], distributions: tuple[str, ...], seeds: tuple[int, ...]) -> list[str]:
    found = Counter((row["distribution"], row["seed"]) for row in heads)
    wanted = Counter((d, s) for d in distributions for s in seeds)
    missing, more = wanted - found, found - wanted
    return [f"no package of distribution {d}, seed {s}, which the manifest asks for" for d, s in missing] + [
        f"a package of distribution {d}, seed {s}, which the manifest does not ask for" for d, s in more
    ]
