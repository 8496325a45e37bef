"""Reading a folder of cell audit labels."""

from __future__ import annotations

from pathlib import Path

from ..csv_io import read_csv
from ..errors import InputError
from .audit import CELL_COLUMNS, LABEL_COLUMNS, Audit, parse_cells, parse_coverage, parse_labels

CELLS = "annotation_cells.csv"
SUFFIX = "_labels.csv"


def audit_files(folder: str | Path) -> list[str]:
    """The files a folder's labels are read from: the cells first, then each labeller's, sorted by name.

    Hidden files are none of them (systems leave such beside files they copy). Raises InputError where one of the two
    kinds is missing, and on a file of labels that names no labeller.
    """
    folder = Path(folder)
    labels = sorted(str(path) for path in folder.glob(f"*{SUFFIX}") if not path.name.startswith("."))
    if not (folder / CELLS).is_file():
        raise InputError(f"{folder}: no {CELLS}; a cell audit needs it")
    if not labels:
        raise InputError(f"{folder}: no labels, files named {{labeller}}{SUFFIX}; a cell audit needs at least one")
    if (folder / SUFFIX).exists():
        raise InputError(f"{folder / SUFFIX}: names no labeller; call it {{labeller}}{SUFFIX}")
    return [str(folder / CELLS), *labels]


def load_audit(files: list[str]) -> Audit:
    """The labels in the files of `audit_files`; a labeller is named like the file, without the ending.

    Raises InputError as `csv_io` and natural.audit do.
    """
    rows = read_csv(files[0], CELL_COLUMNS)
    cells = parse_cells(rows, files[0])
    by_name = {Path(file).name.removesuffix(SUFFIX): file for file in files[1:]}
    labels = {name: parse_labels(read_csv(file, LABEL_COLUMNS), cells, file) for name, file in by_name.items()}
    return Audit(labels, by_name, parse_coverage(rows, cells, files[0]))
