"""What tables and figures are made from: the shape of a run (known before it), its frames (made by it)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from ..errors import InputError
from ..writers.registry import Writer

# Rules that imitate a published system locally: shown as proxies whatever a configuration names them.
PROXY_RULES = ("mem0_extract", "memgpt_tiered", "amac_admission", "amem_graph")
ALL_DISTRIBUTIONS = "all"


class NothingToShow(InputError):
    """The run is whole, but has no row for a figure or table: it is written all the same, and says so."""


@dataclass(frozen=True)
class WriterInfo:
    """A writer as far as its presentation depends on it (the fields of writers.registry.Writer and Rule)."""

    name: str
    rule: str
    pool: str = "full"
    sees: str = "metadata"
    is_proxy: bool = False
    learned: bool = False

    @classmethod
    def of(cls, writer: Writer) -> WriterInfo:
        return cls(
            writer.name,
            writer.rule.name,
            writer.pool,
            writer.rule.sees,
            writer.is_proxy or writer.rule.name in PROXY_RULES,
            writer.learns,
        )

    @property
    def shown_as_proxy(self) -> bool:
        return self.is_proxy or self.rule in PROXY_RULES or self.name in PROXY_RULES


@dataclass(frozen=True)
class StoreInfo:
    """An exported store as far as its presentation depends on it. demonstration: it shows the method and no system;
    judge: who says what its memories cover, None where labels do."""

    name: str
    demonstration: bool = False
    judge: str | None = None


@dataclass(frozen=True)
class Setting:
    """How costs are counted and units saturate in one series of problems."""

    cost_model: str = "declared"
    k: int = 1
    saturation: str = "cap1"

    def __str__(self) -> str:
        return f"{self.cost_model} costs, k = {self.k}, h = {self.saturation}"


@dataclass(frozen=True)
class SuiteInfo:
    """A suite as configured. `n_budgets` counts the budgets as written; `seeds` is empty for natural suites; `curve`:
    OPT is given at every budget. Figures show the first of `settings`, tables all. `analyses`: the natural tables, and
    those of exported stores, that it has (schemas.py). `about`: what its packages are, said with every table and
    figure. `compared`: those of `stores` that are compared (compare_stores), in that order."""

    name: str
    writers: tuple[WriterInfo, ...] = ()
    distributions: tuple[str, ...] = ()
    n_budgets: int = 1
    source: str = "synthetic"
    seeds: Sequence[int] = ()
    settings: tuple[Setting, ...] = (Setting(),)
    analyses: tuple[str, ...] = ()
    curve: bool = False
    about: str = ""
    stores: tuple[StoreInfo, ...] = ()
    compared: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunInfo:
    """The configured run. `illustration`: the suite whose chosen package is drawn; `audit`: the suite of the
    solver audit; `references`: the writers of the paired differences."""

    suites: tuple[SuiteInfo, ...]
    illustration: str | None = None
    audit: str | None = None
    references: tuple[str, ...] = ("opt",)

    def suite(self, name: str) -> SuiteInfo:
        for suite in self.suites:
            if suite.name == name:
                return suite
        raise InputError(f"suite {name!r} is not configured; the suites are {[s.name for s in self.suites]}")


@dataclass(frozen=True)
class Illustration:
    """One package and what the optimum keeps of it.

    candidates, units, coverage: rows of that package in the tables of these names (schemas.py);
    solutions: its rows of table SOLUTIONS at one pool and setting (budget, value, cost, status);
    selections: the chosen candidates (budget, candidate_id).
    """

    package_id: str
    candidates: pd.DataFrame
    units: pd.DataFrame
    coverage: pd.DataFrame
    solutions: pd.DataFrame
    selections: pd.DataFrame


@dataclass(frozen=True)
class Results:
    """A run's frames by name, each a DataFrame or a function that loads one when it is first needed.

    Names: summary, paired, decomposition, representation_mix, status_counts, audit, learned, mean_curves, curve_counts
    (columns: schemas.py; their meaning: analysis.summary and .curves), and of natural suites schemas.NATURAL_TABLES
    and STORE_TABLES.
    """

    info: RunInfo
    frames: Mapping[str, pd.DataFrame | Callable[[], pd.DataFrame]]
    package: Illustration | Callable[[], Illustration] | None = None
    _loaded: dict[str, pd.DataFrame] = field(default_factory=dict, repr=False, compare=False)

    def frame(self, name: str) -> pd.DataFrame:
        """The whole frame; InputError where the run was given none of this name or it has no rows."""
        frame = self._load(name)
        if frame.empty:
            raise NothingToShow(f"frame {name!r} has no rows; nothing can be shown of it")
        return frame

    def of_suite(self, name: str, suite: str, setting: Setting | None = None) -> pd.DataFrame:
        """The rows of one suite and setting (its first, unless given); InputError if there are none."""
        setting = setting or self.info.suite(suite).settings[0]
        frame = self.frame(name)
        rows = frame[
            (frame["suite"] == suite)
            & (frame["cost_model"] == setting.cost_model)
            & (frame["k"] == setting.k)
            & (frame["saturation"] == setting.saturation)
        ]
        if rows.empty:
            raise NothingToShow(f"frame {name!r} has no rows of suite {suite!r} with {setting}")
        return rows

    def natural(self, name: str, suite: str) -> pd.DataFrame:
        """The suite's rows of a natural frame, which may be none; InputError where the run was given no such frame."""
        frame = self._load(name)
        return frame[frame["suite"] == suite].reset_index(drop=True)

    def _load(self, name: str) -> pd.DataFrame:
        if name not in self._loaded:
            if name not in self.frames:
                raise InputError(f"no frame {name!r} was given; there are {sorted(self.frames)}")
            source = self.frames[name]
            self._loaded[name] = source() if callable(source) else source
        return self._loaded[name]

    def illustration(self) -> Illustration:
        """The package to draw; InputError where none was given."""
        if self.package is None:
            raise InputError("the illustration of a package is asked for and no package was given")
        return self.package() if callable(self.package) else self.package


def overall(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of all distributions together: those marked "all", or of the only distribution there is."""
    names = set(frame["distribution"])
    if ALL_DISTRIBUTIONS in names:
        return frame[frame["distribution"] == ALL_DISTRIBUTIONS]
    if len(names) > 1:
        raise InputError(f"distributions {sorted(names)} have no rows of distribution 'all' beside them")
    return frame


def each_distribution(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of single distributions."""
    rows = frame[frame["distribution"] != ALL_DISTRIBUTIONS]
    return frame if rows.empty else rows


def focus_budget(budgets: Sequence[int]) -> int:
    """The budget that one-budget figures show: the third smallest, or the largest of fewer."""
    ordered = sorted(set(budgets))
    return int(ordered[min(2, len(ordered) - 1)])
