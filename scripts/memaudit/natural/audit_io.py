"""Reading a folder of cell audit labels."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from ..errors import InputError
from .audit import Cell, parse_cells, parse_labels

CELLS = "annotation_cells.csv"
SUFFIX = "_labels.csv"


def audit_files(folder: str | Path) -> list[str]:
    """The files a folder's labels are read from: the cells first, then each labeller's, sorted by name.

    Raises InputError where one of the two kinds is missing.
    """
    folder = Path(folder)
    labels = sorted(str(path) for path in folder.glob(f"*{SUFFIX}"))
    if not (folder / CELLS).is_file():
        raise InputError(f"{folder}: no {CELLS}; a cell audit needs it")
    if not labels:
        raise InputError(f"{folder}: no labels, files named {{labeller}}{SUFFIX}; a cell audit needs at least one")
    return [str(folder / CELLS), *labels]


def load_audit(files: list[str]) -> dict[str, dict[Cell, float]]:
    """Labeller -> cell (package_id, candidate_id, unit_id) -> 1.0 or 0.0, of the files of `audit_files`.

    A labeller is named like the file, without the ending. Raises InputError as natural.audit does.
    """
    cells = parse_cells(_rows(files[0]), files[0])
    return {Path(f).name.removesuffix(SUFFIX): parse_labels(_rows(f), cells, f) for f in files[1:]}


def _rows(file: str) -> Iterator[tuple[int, dict[str, str]]]:
    """(last line of the row, its fields); a byte order mark is dropped."""
    try:
        with open(file, encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            for row in reader:
                yield reader.line_num, row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{file}: not readable as CSV in UTF-8 ({error}); save it as such") from error
