"""A cell audit in the released layout (natural.md, "Human audit folder"): cells, and labels of each by several people.

`annotation_cells.csv` says which cell of which package a cell_id is; each `{name}_labels.csv` holds the labels of
one labeller, named by the file. Rows come with their line; other columns are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..errors import InputError

Cell = tuple[str, str, str]
_CELL_COLUMNS = ("cell_id", "instance_id", "candidate_id", "unit_id")
_LABEL_COLUMNS = ("cell_id", "label")
_YES, _NO = {"1", "1.0", "yes", "true"}, {"0", "0.0", "no", "false"}

# (line number, column -> text) of each row of a CSV file.
Rows = Iterable[tuple[int, Mapping[str, str]]]


def parse_cells(rows: Rows, where: str) -> dict[str, Cell]:
    """cell_id -> (package_id, candidate_id, unit_id). Raises InputError with file and line on a missing column
    or value, and on a cell or cell_id that stands twice."""
    cells: dict[str, Cell] = {}
    seen: dict[Cell, int] = {}
    for line, row in rows:
        cell_id, *cell = (_text(row, column, where, line) for column in _CELL_COLUMNS)
        key = tuple(cell)
        if cell_id in cells:
            raise InputError(f"{where}, line {line}: cell_id {cell_id} stands twice; cell ids must be unique")
        if key in seen:
            raise InputError(f"{where}, line {line}: the cell of {cell_id} stands already in line {seen[key]}")
        cells[cell_id], seen[key] = key, line
    return cells


def parse_labels(rows: Rows, cells: Mapping[str, Cell], where: str) -> dict[Cell, float]:
    """Cell -> 1.0 or 0.0; a blank label is none. Raises InputError with file and line on an unknown or repeated
    cell_id, and on a label that is neither 1/yes/true nor 0/no/false."""
    labels: dict[Cell, float] = {}
    seen: dict[str, int] = {}
    for line, row in rows:
        cell_id = _text(row, "cell_id", where, line)
        if cell_id not in cells:
            raise InputError(f"{where}, line {line}: cell_id {cell_id} is not in annotation_cells.csv")
        if cell_id in seen:
            raise InputError(f"{where}, line {line}: cell_id {cell_id} is labelled already in line {seen[cell_id]}")
        seen[cell_id] = line
        if "label" not in row or row["label"] is None:
            raise InputError(f"{where}, line {line}: no column label; needs {', '.join(_LABEL_COLUMNS)}")
        label = row["label"].strip().lower()
        if label and label not in _YES | _NO:
            raise InputError(
                f"{where}, line {line}: label {row['label']!r}; write 1, yes or true, 0, no or false, or nothing"
            )
        if label:
            labels[cells[cell_id]] = float(label in _YES)
    return labels


def _text(row: Mapping[str, str], column: str, where: str, line: int) -> str:
    value = row.get(column)
    if value is None or not value.strip():
        raise InputError(f"{where}, line {line}: {column} is missing or empty; every row needs one")
    return value.strip()
