"""Stores that were read once, labelled, as Parquet tables: written, and read back."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..package import TextSize
from ..table_io import read_table, write_table
from .ingest_io import memory_columns
from .judge import Judged
from .judge_record import judge_rows, recorded
from .labelled import LabelledStores
from .model import Memory, Store
from .union import Labelled

STORE_FILES = ("store_memories", "ingest", "store_coverage")
# Of a store whose coverage a judge said: its word on each cell, and what that is worth.
JUDGE_FILES = ("store_judged", "store_judge")
_MEMORY = ("memory_id", "text", "position", "time", "view", "representation_type", "native_order", "salience")
_MEMORY += ("superseded_by", "invalid_at", "user_id")


def write_labelled(folder: str | Path, labelled: LabelledStores, metadata: Mapping[str, str] | None = None) -> None:
    """Write the tables STORE_FILES of one export, and JUDGE_FILES where a judge said what the memories cover."""
    tables = {
        "store_memories": memory_columns(one.store for one in labelled.stores.values()),
        "ingest": _columns([*(row for report in labelled.reports for row in report.rows()), *labelled.notes]),
        "store_coverage": _columns(_coverage_rows(labelled)),
    }
    if labelled.judged is not None:
        tables |= {"store_judged": _judged_columns(labelled), "store_judge": _columns(_judge_rows(labelled))}
    for name, columns in tables.items():
        write_table(Path(folder) / f"{name}.parquet", name, columns, metadata)


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {key: [row[key] for row in rows] for key in rows[0]} if rows else {}


def _coverage_rows(labelled: LabelledStores) -> list[dict[str, Any]]:
    return [
        {
            "store": one.store.name,
            "instance_id": package_id,
            "memory_id": memory_id,
            "view": view,
            "unit_id": unit_id,
            "coverage": value,
            "labels": labelled.labels,
        }
        for package_id, one in labelled.stores.items()
        for (memory_id, view), row in one.coverage.items()
        for unit_id, value in row.items()
    ]


def _judged_columns(labelled: LabelledStores) -> dict[str, list[Any]]:
    """By column: a large store has millions of cells."""
    columns: dict[str, list[Any]] = {name: [] for name in ("store", "instance_id", "memory", "unit", "judged")}
    for package_id, own in labelled.judged.items():
        columns["store"] += [labelled.stores[package_id].store.name] * len(own.rows)
        columns["instance_id"] += [package_id] * len(own.rows)
        columns["memory"] += [memory for memory, _ in own.rows]
        columns["unit"] += [unit for _, unit in own.rows]
        columns["judged"] += own.rows.values()
    return columns


def _judge_rows(labelled: LabelledStores) -> list[dict[str, Any]]:
    """Of the one judge of the stores; none where there is no store."""
    stores = [(labelled.stores[i].store.name, own.judge) for i, own in labelled.judged.items()][:1]
    return [{"store": name, **row} for name, judge in stores for row in judge_rows(judge)]


def read_judged(folder: str | Path, stores: Mapping[str, Labelled]) -> dict[str, Judged]:
    """Example -> what the judge said of its store, of the tables JUDGE_FILES; `stores`: `read_labelled(folder)`."""
    cells, judge = (read_table(Path(folder) / f"{name}.parquet", name) for name in JUDGE_FILES)
    columns = (cells[name].to_pylist() for name in ("instance_id", "memory", "unit", "judged"))
    rows: dict[str, dict[tuple[int, int], str]] = {package_id: {} for package_id in stores}
    for package_id, memory, unit, row in zip(*columns, strict=True):
        rows[package_id][memory, unit] = row
    source = recorded(judge.to_pylist())
    return {package_id: Judged(one.coverage, rows[package_id], source) for package_id, one in stores.items()}


def read_labelled(folder: str | Path) -> dict[str, Labelled]:
    """Example -> its store, labelled, of the tables STORE_FILES; stores without a memory too."""
    memories, ingest, coverage = (
        read_table(Path(folder) / f"{name}.parquet", name).to_pylist() for name in STORE_FILES
    )
    systems = {r["instance_id"]: (r["store"], r["detail"]) for r in ingest if r["what"] == "format"}
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in memories:
        rows[row["instance_id"]].append(row)
    cells: dict[str, dict[tuple[str, str], dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in coverage:
        cells[row["instance_id"]][row["memory_id"], row["view"]][row["unit_id"]] = row["coverage"]
    return {
        package_id: Labelled(
            Store(name, system, package_id, _memories(rows[package_id])),
            {key: dict(row) for key, row in cells[package_id].items()},
        )
        for package_id, (name, system) in sorted(systems.items())
    }


def _memories(rows: list[dict[str, Any]]) -> tuple[Memory, ...]:
    return tuple(
        Memory(
            **{name: row[name] for name in _MEMORY},
            group=row["group_id"],
            details=json.loads(row["details"]) if row["details"] else {},
            size=None if row["n_words"] is None else TextSize(row["n_words"], row["n_chars"], row["n_bytes"]),
        )
        for row in sorted(rows, key=lambda row: row["time_index"])
    )
