"""What a run makes of figures and tables, decided from its configuration alone."""

from __future__ import annotations

from . import (  # noqa: F401  (fill the registries)
    compared_tables,
    figures,
    natural_figures,
    natural_tables,
    store_figures,
    store_tables,
    tables,
)
from .registry import FIGURES, TABLES, Item
from .results import RunInfo

Wanted = list[tuple[str, str | None]]


def wanted_figures(run: RunInfo) -> Wanted:
    """(figure, suite) pairs, in order of suites as configured, then of registration."""
    return _wanted(FIGURES, run)


def wanted_tables(run: RunInfo) -> Wanted:
    """(table, suite) pairs; the suite is None for a table of the whole run, and those come last."""
    return _wanted(TABLES, run)


def figure_files(name: str, suite: str) -> list[str]:
    """The files of one figure, below the results folder."""
    return [f"figures/{suite}/{name}.{kind}" for kind in ("pdf", "png")]


def table_files(name: str, suite: str | None) -> list[str]:
    """The files of one table, below the results folder."""
    stem = f"tables/{name}" if suite is None else f"tables/{suite}/{name}"
    return [f"{stem}.{kind}" for kind in ("csv", "md", *(("tex",) if TABLES[name].latex else ()))]


def index_file(suite: str) -> str:
    """The page, below the results folder, that says which of a suite's tables answers what."""
    return f"tables/{suite}/README.md"


def _wanted(registry: dict[str, Item], run: RunInfo) -> Wanted:
    pairs = [(item.name, suite) for item in registry.values() for suite in item.suites(run)]
    place = {suite.name: i for i, suite in enumerate(run.suites)}
    return sorted(pairs, key=lambda pair: place.get(pair[1], len(place)))
