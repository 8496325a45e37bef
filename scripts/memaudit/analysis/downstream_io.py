"""Reading a file of downstream answers."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa

from ..errors import InputError
from .downstream import parse_answers


def read_answers(path: str | Path) -> pd.DataFrame:
    """The answers (columns of `parse_answers`) in a .parquet file, or in a CSV of any other name.

    Raises InputError naming the file where it cannot be read, and as `parse_answers` does.
    """
    try:
        # Ids stay as written: 007 is not 7.
        table = (
            pd.read_parquet(path, partitioning=None)
            if Path(path).suffix == ".parquet"
            else pd.read_csv(path, dtype=str, encoding="utf-8-sig")
        )
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InputError(f"{path}: not readable as a table ({error}); save it as CSV in UTF-8 or Parquet") from error
    return parse_answers(table, str(path))
