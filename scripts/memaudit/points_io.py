"""Reading what stands below a suite's settings and budgets.

Paths end in {cost_model}/k{k}.{saturation}/{spec}/{file}.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from .schemas import TABLES
from .table_io import concat, read_table


def read_points(name: str, files: Iterable[str | Path], budgets: str | Path) -> pa.Table:
    """Rows of table `name` in all files, one spec per absolute budget (protocol: duplicates after conversion are
    merged); `budgets`: the suite's table of budgets. No files are a table without rows."""
    rows = read_table(budgets, "budgets").to_pandas()
    merged = rows[rows["budget_spec"] != rows["merged_into"]]
    doubled = set(zip(merged["cost_model"], merged["budget_spec"], strict=True))
    keep = [f for f in files if (Path(f).parts[-4], Path(f).parts[-2]) not in doubled]
    return concat(read_table(f, name) for f in keep) if keep else TABLES[name].schema.empty_table()
