"""Reading a file of downstream answers."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ..csv_io import read_csv
from ..errors import InputError
from .downstream import parse_answers


def read_answers(path: str | Path) -> pd.DataFrame:
    """The answers (columns of `parse_answers`) in a .parquet file, or in a CSV of any other name.

    Values stay as written: an id may be NA, and 007 is not 7. Raises InputError naming the file where it cannot be
    read (see `csv_io`), and as `parse_answers` does.
    """
    rows = _parquet_rows(path) if Path(path).suffix == ".parquet" else [row for _, row in read_csv(path)]
    return parse_answers(pd.DataFrame(rows, dtype=object), str(path))


def _parquet_rows(path: str | Path) -> list[dict]:
    try:
        table = pq.ParquetFile(path).read()
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InputError(f"{path}: not readable as a table ({error}); save it as CSV in UTF-8 or Parquet") from error
    names = table.column_names
    if len(set(names)) < len(names):
        raise InputError(f"{path}: column {next(n for n in names if names.count(n) > 1)!r} stands twice; keep one")
    return table.to_pylist()
