"""The paper's published figures against what was produced: reproduced, differs, or needs something.

Controlled items (figures and tables on synthetic packages) come from our summary and solver audit. The
rest are of the paper's natural package, external stores and human labels, which are not part of this
project: their status names what must be supplied. `published_natural` makes values of them where it is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from ..errors import InputError
from ..schemas import PUBLISHED

REPRODUCED = "reproduced"
DIFFERS = "differs"
NEEDS = "needs "

# The columns that a file of published figures must have.
COLUMNS = tuple(name for name in PUBLISHED.schema.names if name not in ("status", "produced", "difference"))
# How the paper's suites are called here, and the packages per row that it used.
_SUITE = {"small": "small", "stress": "stress", "audit": "solver_audit"}
_PACKAGES = {"small": 500, "stress": 500}
_AUDIT_ROWS = 1200
# tab:milp compares with a MILP; the paper names no solver, so each MIP solver at hand must agree.
_MIP_SOLVERS = ("highs", "cbc", "scip")
_AUDIT_METRICS = {"rows": ("rows", min), "objective_matches": ("objective_matches", min),
                  "max_diff": ("max_difference", max)}  # fmt: skip
_SUMMARY_METRICS = ("mean_ratio", "mean_invalidation_covered")
# The paper's setting of everything that a published row does not name.
_SETTING = {"cost_model": "declared", "k": 1, "saturation": "cap1"}

_PACKAGE = "the paper's natural package (adjudicated coverage-package folder, 87 examples) named as a suite"
_HUMAN_AUDIT = "the paper's human audit folder (annotation_cells.csv, human_a_labels.csv, human_b_labels.csv)"
_STORES = {"letta": "Letta", "mem0": "Mem0", "amem_metadata": "A-Mem", "amem_full": "A-Mem"}
_LABELS = {
    "human-human": _HUMAN_AUDIT,
    "human-model": _HUMAN_AUDIT,
    "model-model package pass": "the paper's second-model coverage package",
    "second model-human package pass": f"the paper's second-model coverage package, and {_HUMAN_AUDIT}",
    "model-model blind cell pass": "the paper's second-model blind cell labels and its audit cells",
    "second model-human blind cell pass": f"the paper's second-model blind cell labels, and {_HUMAN_AUDIT}",
}
_RELIABILITY = {
    "primary": "the paper's primary coverage-package folder (200 examples)",
    "adjudicated": "the paper's adjudication folder (adjudication_summary.json and the adjudicated package)",
    "spot_check": "the paper's spot-check folder (30 examples judged by a person)",
    "seed_set": "the paper's seed-set coverage-package folder (100 examples)",
}


def compare(
    published: pd.DataFrame,
    summary: pd.DataFrame,
    audit: pd.DataFrame,
    natural: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Schema PUBLISHED: the rows of `published` in their order, with produced, difference and status.

    `published`: the columns of config/published.csv. `summary`: schema SUMMARY. `audit`: as
    `summary.audit_table` makes it. `natural`: values of published_natural.natural_values.
    A row is reproduced when |difference| <= half a unit of its last printed decimal + 1e-9 (protocol, "Edge
    cases"); it `needs` something where what was produced rests on other packages than the published value,
    fewer seeds for instance. Raises InputError naming the row on an item, suite, distribution, method or
    metric that is not known here.
    """
    missing = sorted(set(COLUMNS) - set(published.columns))
    if missing:
        raise InputError(f"published figures: columns {missing} are missing")
    rows = []
    for place, row in enumerate(published.to_dict("records")):
        where = f"published figures, row {place + 1} ({row['item']})"
        row["budget"] = None if pd.isna(row["budget"]) else int(row["budget"])
        if row["item"] not in _ITEMS:
            raise InputError(f"{where}: unknown item; known are {sorted(_ITEMS)}")
        suite, produce = _ITEMS[row["item"]]
        if row["suite"] != suite:
            raise InputError(f"{where}: suite {row['suite']!r}; this item is of suite {suite!r}")
        produced = produce(row, where, summary, audit, natural)
        rows.append(row | _judged(row, produced))
    frame = pd.DataFrame(rows, columns=PUBLISHED.schema.names)
    return frame.astype({"budget": "Int64", "produced": float, "difference": float})


def _judged(row: dict, produced: float | str) -> dict:
    """produced, difference, status; `produced` is a number, or what is needed to have one."""
    if isinstance(produced, str):
        return {"produced": np.nan, "difference": np.nan, "status": NEEDS + produced}
    difference = produced - row["value"]
    close = abs(difference) <= 0.5 * 10.0 ** -int(row["decimals"]) + 1e-9
    return {"produced": produced, "difference": difference, "status": REPRODUCED if close else DIFFERS}


def _controlled(row: dict, where: str, summary: pd.DataFrame, audit, natural) -> float | str:
    if row["metric"] not in _SUMMARY_METRICS:
        raise InputError(f"{where}: unknown metric {row['metric']!r}; known are {_SUMMARY_METRICS}")
    if row["budget"] is None:
        raise InputError(f"{where}: no budget; write the absolute budget of the published value")
    suite, count = _SUITE[row["suite"]], _PACKAGES[row["suite"]]
    match = summary["suite"] == suite
    for column, value in _SETTING.items():
        match &= summary[column] == value
    needed = f"suite {suite}"
    for column, value, what in (
        ("distribution", row["distribution"], f"with distribution {row['distribution']}"),
        ("budget", row["budget"], f"at budget {row['budget']} with {count} seeds"),
        ("writer", row["method"], f"and writer {row['method']}"),
    ):
        match &= summary[column] == value
        needed += f" {what}"
        if not match.any():
            return needed
    if match.sum() > 1:
        raise InputError(f"{where}: {int(match.sum())} rows of the summary match; it must have one row a key")
    found = summary[match].iloc[0]
    if found["n"] != count:
        unproven = int(found["n_unproven"])
        return f"{needed} (n is {found['n']}" + (f", {unproven} optima are unproven)" if unproven else ")")
    return float(found[row["metric"]])


def _audit(row: dict, where: str, summary, audit: pd.DataFrame, natural) -> float | str:
    if row["method"] != "bnb_vs_milp" or row["metric"] not in _AUDIT_METRICS:
        raise InputError(f"{where}: unknown method or metric {row['method']!r}, {row['metric']!r}; known are "
                         f"bnb_vs_milp and {sorted(_AUDIT_METRICS)}")  # fmt: skip
    match = (audit["suite"] == _SUITE[row["suite"]]) & audit["solver"].isin(_MIP_SOLVERS)
    for column, value in _SETTING.items():
        match &= audit[column] == value
    found = audit[match]
    if found.empty:
        return f"suite solver_audit checked by a MIP solver (solvers: one of {', '.join(_MIP_SOLVERS)})"
    if (found["rows"] != _AUDIT_ROWS).any():
        rows = sorted({int(n) for n in found["rows"]})
        needed = "suite solver_audit with 100 seeds x 3 distributions x 4 budgets"
        return f"{needed} ({rows} rows, not {_AUDIT_ROWS})"
    column, worst = _AUDIT_METRICS[row["metric"]]
    return float(worst(found[column].tolist()))


def _natural(needed: Callable[[dict, str], str]):
    def produce(row: dict, where: str, summary, audit, natural: pd.DataFrame | None) -> float | str:
        what = needed(row, where)
        if natural is None:
            return what
        match = pd.Series(True, index=natural.index)
        for column in ("item", "distribution", "method", "metric"):
            match &= natural[column] == row[column]
        budget = -1 if row["budget"] is None else row["budget"]
        match &= natural["budget"].astype("Int64").fillna(-1) == budget
        if match.sum() > 1:
            raise InputError(f"{where}: {int(match.sum())} produced natural values match; give one")
        return float(natural.loc[match, "produced"].iloc[0]) if match.any() else what

    return produce


def _package_or_store(row: dict, where: str) -> str:
    """What a row of Natural-87 rests on: the package alone, or a store's export beside it."""
    system, colon, _ = row["method"].partition(":")
    if colon and system not in _STORES:
        raise InputError(f"{where}: unknown store {system!r} in the method; known are {sorted(_STORES)}")
    if colon:
        return f"{_PACKAGE}, and the paper's {_STORES[system]} export (written stores, coverage, salience)"
    return _PACKAGE


def _human_labels(row: dict, where: str) -> str:
    return f"{_PACKAGE}, and {_HUMAN_AUDIT}"


def _labels(row: dict, where: str) -> str:
    if row["distribution"] not in _LABELS:
        raise InputError(f"{where}: unknown labels {row['distribution']!r}; known are {sorted(_LABELS)}")
    return f"{_PACKAGE}, and {_LABELS[row['distribution']]}"


def _reliability(row: dict, where: str) -> str:
    if row["distribution"] not in _RELIABILITY:
        raise InputError(f"{where}: unknown set {row['distribution']!r}; known are {sorted(_RELIABILITY)}")
    return _RELIABILITY[row["distribution"]]


# Item of the paper -> its suite in published.csv, and what makes its value.
_ITEMS = {
    "fig:exact": ("small", _controlled),
    "text:controlled": ("small", _controlled),
    "fig:stress": ("stress", _controlled),
    "tab:milp": ("audit", _audit),
    "tab:reliability": ("natural", _natural(_reliability)),
    "tab:coverage-audit": ("natural", _natural(_labels)),
    "fig:systems": ("natural", _natural(_package_or_store)),
    "text:natural": ("natural", _natural(_human_labels)),
    "tab:external-denominators": ("natural", _natural(_package_or_store)),
    "tab:sensitivity-package": ("natural", _natural(_package_or_store)),
    "tab:sensitivity-systems": ("natural", _natural(_package_or_store)),
    "docs:adapters": ("natural", _natural(_package_or_store)),
}
