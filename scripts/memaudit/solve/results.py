"""Reading finished solutions: their status after the checks, optima and selections by package."""

from __future__ import annotations

from collections import defaultdict

import pyarrow as pa


def merged_status(solutions: pa.Table, checks: pa.Table) -> pa.Table:
    """The solutions with `optimal` raised to `cross_checked` where a check proved the same value."""
    proven = {
        i for i, equal in zip(checks["solution_id"].to_pylist(), checks["equal"].to_pylist(), strict=True) if equal
    }
    status = [
        "cross_checked" if s == "optimal" and i in proven else s
        for s, i in zip(solutions["status"].to_pylist(), solutions["solution_id"].to_pylist(), strict=True)
    ]
    at = solutions.schema.get_field_index("status")
    return solutions.set_column(at, solutions.schema.field(at), pa.array(status, pa.string()))


def optimum_of(solutions: pa.Table, pool: str) -> dict[str, tuple[int, int, str]]:
    """package_id -> (value_int, scale, status) at `pool`; the table holds one problem and budget."""
    columns = solutions.select(["pool", "package_id", "value_int", "scale", "status"]).to_pydict()
    return {
        package: (value, scale, status)
        for p, package, value, scale, status in zip(*columns.values(), strict=True)
        if p == pool
    }


def selected_ids(selections: pa.Table) -> dict[tuple[str, str], list[str]]:
    """(pool, package_id) -> candidate ids of the optimum; the table holds one problem and budget."""
    columns = selections.select(["pool", "package_id", "candidate_id"]).to_pydict()
    chosen: dict[tuple[str, str], list[str]] = defaultdict(list)
    for pool, package, candidate in zip(*columns.values(), strict=True):
        chosen[pool, package].append(candidate)
    return dict(chosen)
