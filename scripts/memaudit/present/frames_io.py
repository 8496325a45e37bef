"""The frames of a run, read from its folder when a table or figure first needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..schemas import NATURAL_TABLES, STORE_TABLES
from ..table_io import concat, read_table
from .results import Illustration, Results, RunInfo

SUITE_FRAMES = (
    "summary",
    "paired",
    "decomposition",
    "representation_mix",
    "learned",
    "status_counts",
    "audit",
    "mean_curves",
    "curve_counts",
)
# query_scores is large, and what is shown of it stands in categories and downstream.
NATURAL_FRAMES = (*(name for name in NATURAL_TABLES if name != "query_scores"), *STORE_TABLES)


def results_of(info: RunInfo, folder: str | Path, package: Callable[[], Illustration] | None = None) -> Results:
    """Results over analysis/{suite}/ of every suite in `info`, below the results folder."""
    frames = {
        name: partial(_frame, name, [Path(folder) / "analysis" / s.name / f"{name}.parquet" for s in info.suites])
        for name in SUITE_FRAMES
    }
    natural = {
        name: partial(_frame, name, [Path(folder) / "analysis" / s.name / f"{name}.parquet" for s in having])
        for name in NATURAL_FRAMES
        if (having := [s for s in info.suites if name in s.analyses])
    }
    return Results(info, frames | natural, package)


def _frame(name: str, files: Iterable[Path]) -> pd.DataFrame:
    return concat(read_table(f, name) for f in files).to_pandas()


def read_illustration(
    package_id: str, tables: str | Path, solutions: Iterable[str | Path], selections: Iterable[str | Path]
) -> Illustration:
    """One package out of a suite's folder `tables`, with its optima on the full pool."""

    def rows(table: pa.Table) -> pd.DataFrame:
        keep = pc.equal(table["package_id"], package_id)
        if "pool" in table.column_names:
            keep = pc.and_(keep, pc.equal(table["pool"], "full"))
        return table.filter(keep).to_pandas()

    candidates, units, coverage = (
        rows(read_table(Path(tables) / f"{n}.parquet", n)) for n in ("candidates", "units", "coverage")
    )
    solved = concat(read_table(f, "solutions") for f in solutions)
    chosen = concat(read_table(f, "solution_selections") for f in selections)
    return Illustration(package_id, candidates, units, coverage, rows(solved), rows(chosen))
