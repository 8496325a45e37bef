"""What the tables of a union's packages must hold: a suite's rows and those of exported memories (protocol, "Optimum
and ratios": one more candidate each, in groups of their own)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .exported import MemoryRow, candidate_rows

Rows = list[dict[str, Any]]
# Table -> its key within a package, and the columns that a union keeps of its suite's rows (None: all).
TABLES: dict[str, tuple[tuple[str, ...], tuple[str, ...] | None]] = {
    "packages": ((), ("distribution", "seed")),
    "candidates": (("candidate_id",), None),
    "units": (("unit_id",), None),
    "coverage": (("candidate_id", "unit_id"), None),
    "queries": (("query_id",), ("query_id", "category", "text", "answer")),
    "requirements": (("query_id", "unit_id"), ("query_id", "unit_id")),
}


class Member:
    """One exported store as a member of unions. stores: example -> memories; coverage: example -> rows of table
    `store_coverage`; cost: of its memories where costs are declared."""

    def __init__(self, stores: Mapping[str, Sequence[MemoryRow]], coverage: Mapping[str, Rows], cost: Any):
        self.stores, self._coverage, self._cost = stores, coverage, cost

    def candidates(self, package_id: str, start: int) -> Rows:
        return list(candidate_rows(self.stores[package_id], start, self._cost))

    def cells(self, package_id: str) -> Iterator[dict[str, Any]]:
        for row in self._coverage.get(package_id, ()):
            candidate_id = f"store:{row['store']}:{row['view']}:{row['memory_id']}"
            yield {"candidate_id": candidate_id, "unit_id": row["unit_id"], "coverage": row["coverage"]}


def union_rows(base: Mapping[str, Rows], members: Sequence[Member], alone: bool) -> dict[str, Rows]:
    """Table -> rows of a union (with package_id, without suite). base: the tables of the suite; alone: without its
    candidates. Only examples that each member has a store for."""
    shared = [row["package_id"] for row in base["packages"] if all(row["package_id"] in m.stores for m in members)]
    made: dict[str, Rows] = {}
    for table, (_, columns) in TABLES.items():
        own = [row for row in base[table] if row["package_id"] in set(shared)]
        made[table] = [
            {c: v for c, v in row.items() if c == "package_id" or (c != "suite" and (columns is None or c in columns))}
            for row in own
        ]
    candidates: dict[str, Rows] = defaultdict(list)
    for row in made["candidates"]:
        candidates[row["package_id"]].append(row)
    start = {i: max((row["time_index"] for row in candidates[i]), default=-1) + 1 for i in shared}
    if alone:
        made["candidates"], made["coverage"] = [], []
    for member in members:
        for i in shared:
            own = member.candidates(i, start[i])
            start[i] = max([start[i] - 1, *(row["time_index"] for row in own)]) + 1
            made["candidates"] += [{"package_id": i, **row} for row in own]
            made["coverage"] += [{"package_id": i, **row} for row in member.cells(i)]
    return made
