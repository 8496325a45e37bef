"""A cell audit in the released layout (natural.md, "Human audit folder"): cells, and labels of each by several people.

`annotation_cells.csv` says which cell of which package a cell_id is and, where it has gemini_coverage, what the audited
package said of it; each `{name}_labels.csv` holds the labels of one labeller, named by the file. Rows come with their
line; other columns are ignored.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..errors import InputError

Cell = tuple[str, str, str]
CELL_COLUMNS = ("cell_id", "instance_id", "candidate_id", "unit_id")
LABEL_COLUMNS = ("cell_id", "label")
_ANNOTATOR, _COVERAGE = "annotator_id", "gemini_coverage"
_YES, _NO = {"1", "1.0", "yes", "true"}, {"0", "0.0", "no", "false"}

# (line number, column -> text) of each row of a CSV file.
Rows = Iterable[tuple[int, Mapping[str, str]]]


@dataclass(frozen=True)
class Audit:
    """labels: labeller -> cell (package_id, candidate_id, unit_id) -> 1.0 or 0.0; files: labeller -> file.

    coverage: what the audited package said of cells, where the cells' file tells.
    """

    labels: Mapping[str, Mapping[Cell, float]]
    files: Mapping[str, str] = field(default_factory=dict)
    coverage: Mapping[Cell, float] = field(default_factory=dict)


def parse_cells(rows: Rows, where: str) -> dict[str, Cell]:
    """cell_id -> (package_id, candidate_id, unit_id). Raises InputError with file and line on a missing column
    or value, and on a cell or cell_id that stands twice."""
    cells: dict[str, Cell] = {}
    seen: dict[Cell, int] = {}
    for line, row in rows:
        cell_id, *cell = (_text(row, column, where, line) for column in CELL_COLUMNS)
        key = tuple(cell)
        if cell_id in cells:
            raise InputError(f"{where}, line {line}: cell_id {cell_id} stands twice; cell ids must be unique")
        if key in seen:
            raise InputError(f"{where}, line {line}: the cell of {cell_id} stands already in line {seen[key]}")
        cells[cell_id], seen[key] = key, line
    return cells


def parse_coverage(rows: Rows, cells: Mapping[str, Cell], where: str) -> dict[Cell, float]:
    """Cell -> coverage in the audited package; a blank is none. Raises InputError on what is no number in [0, 1]."""
    coverage: dict[Cell, float] = {}
    for line, row in rows:
        text = row.get(_COVERAGE, "").strip()
        if text:
            coverage[cells[_text(row, "cell_id", where, line)]] = _share(text, where, line)
    return coverage


def _share(text: str, where: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise InputError(f"{where}, line {line}: {_COVERAGE} is {text!r}; write a number in [0, 1], or nothing")
    return value


def parse_labels(rows: Rows, cells: Mapping[str, Cell], where: str) -> dict[Cell, float]:
    """Cell -> 1.0 or 0.0; a blank label is none. Raises InputError with file and line on an unknown or repeated
    cell_id, on a label that is neither 1/yes/true nor 0/no/false, on a second annotator, and where no cell has one."""
    labels: dict[Cell, float] = {}
    seen: dict[str, int] = {}
    annotator = ""
    for line, row in rows:
        cell_id = _text(row, "cell_id", where, line)
        if cell_id not in cells:
            raise InputError(f"{where}, line {line}: cell_id {cell_id} is not in annotation_cells.csv")
        if cell_id in seen:
            raise InputError(f"{where}, line {line}: cell_id {cell_id} is labelled already in line {seen[cell_id]}")
        seen[cell_id] = line
        named = row.get(_ANNOTATOR, "").strip()
        if annotator and named and named != annotator:
            raise InputError(
                f"{where}, line {line}: {_ANNOTATOR} is {named!r}, above it {annotator!r}; give each their own file"
            )
        annotator = annotator or named
        label = row["label"].strip().lower()
        if label and label not in _YES | _NO:
            raise InputError(
                f"{where}, line {line}: label {row['label']!r}; write 1, yes or true, 0, no or false, or nothing"
            )
        if label:
            labels[cells[cell_id]] = float(label in _YES)
    if not labels:
        raise InputError(f"{where}: no cell has a label; fill them in, or remove the file")
    return labels


def _text(row: Mapping[str, str], column: str, where: str, line: int) -> str:
    value = row.get(column)
    if value is None or not value.strip():
        raise InputError(f"{where}, line {line}: {column} is missing or empty; every row needs one")
    return value.strip()
