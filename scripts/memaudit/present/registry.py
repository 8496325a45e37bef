"""The figures and tables by name, each with the rule that says, before a run, where it is wanted.

`figures.py` and `tables.py` fill the registries; `wanted.py` lists what a run makes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .results import RunInfo, SuiteInfo


@dataclass(frozen=True)
class Item:
    """A registered figure or table.

    function(results, suite) makes it (`suite` is None where `when_run` is given: one for the whole run);
    when(suite, run) says whether a suite has it. `latex`: a table also written as LaTeX;
    of_stores: one of exported stores, not of packages and writers.
    """

    name: str
    function: Callable
    when: Callable[[SuiteInfo, RunInfo], bool] | None = None
    when_run: Callable[[RunInfo], bool] | None = None
    latex: bool = False
    of_stores: bool = False

    def suites(self, run: RunInfo) -> list[str | None]:
        """The suites to make it for; [None] for one of the whole run."""
        if self.when_run is not None:
            return [None] if self.when_run(run) else []
        return [s.name for s in run.suites if self.when(s, run)]


FIGURES: dict[str, Item] = {}
TABLES: dict[str, Item] = {}


def figure(when: Callable[[SuiteInfo, RunInfo], bool]):
    """Register a figure function under its own name, wanted for the suites where `when` holds."""
    return _registrar(FIGURES, when=when)


def table(
    when: Callable[[SuiteInfo, RunInfo], bool] | None = None,
    *,
    when_run: Callable[[RunInfo], bool] | None = None,
    latex: bool = False,
    of_stores: bool = False,
):
    """Register a table function: one a suite (`when`) or one of the whole run (`when_run`)."""
    return _registrar(TABLES, when=when, when_run=when_run, latex=latex, of_stores=of_stores)


def _registrar(registry: dict[str, Item], **fields):
    def register(function):
        if function.__name__ in registry or (fields.get("when") is None) == (fields.get("when_run") is None):
            raise ValueError(f"{function.__name__}: name taken, or not exactly one of when and when_run")
        registry[function.__name__] = Item(function.__name__, function, **fields)
        return function

    return register
