"""Where a file stands, and whether its rows say the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .plan import Setting

_SETTING = re.compile(r"k(?P<k>\d+)\.(?P<saturation>.+)")
_FILE = re.compile(r"(?P<bundle>.+)\.(?P<shard>\d+)\.(?P<kind>[^.]+)\.parquet")
# What names a row within one file.
_NAMES = (
    "package_id",
    "query_id",
    "solution_id",
    "pool",
    "cost_model",
    "budget_spec",
    "budget",
    "writer",
    "candidate_id",
)


@dataclass(frozen=True)
class Place:
    """A file {suite}/{cost_model}/k{k}.{saturation}/{bundle}.{shard}.{kind}.parquet below its stage."""

    path: Path
    suite: str
    setting: Setting
    bundle: str
    shard: int
    kind: str

    @property
    def stem(self) -> str:
        return f"{self.bundle}.{self.shard}"

    def sibling(self, kind: str) -> Path:
        return self.path.with_name(f"{self.stem}.{kind}.parquet")

    @property
    def constants(self) -> dict[str, Any]:
        """The columns that every row of the file shares, by its path."""
        return {"suite": self.suite, **self.setting._asdict()}


def places(stage: Path, suite: str) -> Iterator[Place | Path]:
    """Every Parquet file of a suite below a stage's folder; the bare path where it is none of ours."""
    for path in sorted((stage / suite).rglob("*.parquet")):
        parts = path.relative_to(stage).parts
        setting = _SETTING.fullmatch(parts[2]) if len(parts) == 4 else None
        file = _FILE.fullmatch(parts[-1])
        if setting and file:
            found = Setting(parts[1], int(setting["k"]), setting["saturation"])
            yield Place(path, suite, found, file["bundle"], int(file["shard"]), file["kind"])
        else:
            yield path


def misplaced(table: pa.Table, constants: Mapping[str, Any], why: str = "by its path") -> list[str]:
    """A line for each column that does not hold its constant in every row, with the first such row."""
    faults = []
    for column, expected in constants.items():
        other = pc.not_equal(table.column(column), pa.scalar(expected, table.schema.field(column).type))
        n = pc.sum(other).as_py()
        if n:
            i = pc.index(other, True).as_py()
            more = f" ({n} such rows)" if n > 1 else ""
            found = table.column(column)[i].as_py()
            faults.append(f"{row_name(table, i)}: {column} is {found!r}, {why} {expected!r}{more}")
    return faults


def row_name(table: pa.Table, i: int) -> str:
    """What tells row i from the others of its file."""
    return named({c: table.column(c)[i].as_py() for c in _NAMES if c in table.column_names})


def named(row: Mapping[str, Any]) -> str:
    return "row " + ", ".join(f"{c} {row[c]}" for c in _NAMES if c in row)
