"""Drawing a registered figure to PDF and PNG: fonts embedded, no dates, the same bytes on every run."""

from __future__ import annotations

import textwrap
from pathlib import Path

from ..errors import InputError
from ..table_io import atomic_path
from . import figures, natural_figures, store_figures  # noqa: F401  (fill the registry)
from .registry import FIGURES
from .results import NothingToShow, Results
from .style import house_style
from .wanted import figure_files

# No date, and no matplotlib version in the PNG; what is left depends on the drawing only.
_METADATA = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}


def draw(results: Results, name: str, suite: str) -> object:
    """The matplotlib Figure `name` of a suite; InputError where it is unknown or has no data."""
    if name not in FIGURES:
        raise InputError(f"unknown figure {name!r}; there are {sorted(FIGURES)}")
    with house_style():
        return FIGURES[name].function(results, suite)


def write_figure(results: Results, name: str, suite: str, folder: str | Path) -> list[Path]:
    """Write {folder}/figures/{suite}/{name}.pdf and .png; returns their paths."""
    try:
        figure = draw(results, name, suite)
    except NothingToShow as why:
        figure = _empty(f"{name}, suite {suite}: nothing to show", str(why))
    paths = [Path(folder) / file for file in figure_files(name, suite)]
    with house_style():
        for path in paths:
            kind = path.suffix[1:]
            with atomic_path(path) as temporary:
                figure.savefig(temporary, format=kind, metadata=_METADATA[kind])
    return paths


def _empty(title: str, why: str):
    """A figure that says why it shows nothing."""
    from matplotlib.figure import Figure

    with house_style():
        figure = Figure(figsize=(6.0, 1.2))
        figure.text(0.02, 0.7, title)
        figure.text(0.02, 0.35, textwrap.fill(why, 90), va="center")
    return figure
