"""Tables made of value-budget curves: their mean over packages, and how many are proven and checked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd
import pyarrow as pa

from ..schemas import CURVE_COUNTS, MEAN_CURVES
from .summary import ALL

_PROBLEM = ["cost_model", "pool", "k", "saturation"]
_PROVEN, _LIMIT = "optimal", "limit"


def mean_curves(curves: pa.Table, solutions: pa.Table) -> pd.DataFrame:
    """Schema MEAN_CURVES, from tables `curves` and `solutions` of one suite.

    A row at 0, at every budget where the mean of some problem rises, and at the declared budgets of `solutions`, up to
    where all curves are known: the suite's `max_budget`, or the largest total cost of its packages. Means are exact
    before their last rounding. Where the suite has several distributions, rows of "all" stand beside those of each.
    """
    frame = curves.to_pandas()
    declared = solutions.select(["cost_model", "budget", "budget_spec"]).to_pandas().drop_duplicates()
    rows = []
    for distribution, part in _distributions(frame):
        for key, own in part.groupby(["suite", *_PROBLEM], sort=True):
            head = {"distribution": distribution, **dict(zip(("suite", *_PROBLEM), key, strict=True))}
            marked = declared[declared["cost_model"] == head["cost_model"]]
            marked = dict(zip(marked["budget"].tolist(), marked["budget_spec"], strict=True))
            rows += [head | row for row in _mean_curve(own, marked)]
    return pd.DataFrame(rows, columns=MEAN_CURVES.schema.names).sort_values(list(MEAN_CURVES.key), ignore_index=True)


def _distributions(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    yield from frame.groupby("distribution", sort=True)
    if frame["distribution"].nunique() > 1:
        yield ALL, frame


def _mean_curve(curves: pd.DataFrame, declared: dict[int, str]) -> Iterator[dict]:
    """Rows of one problem's mean over the packages whose curve is proven; none where there is no such package."""
    unproven = int((curves["status"] == _LIMIT).sum())  # one row each
    proven = curves[curves["status"] == _PROVEN]
    n = proven["package_id"].nunique()
    if not n:
        return
    jumps = _summed_jumps(proven)
    at = 0
    marks = [b for b in declared if b <= proven["max_budget"].max()]
    for budget in sorted({*jumps, *marks}):
        at += jumps.get(budget, 0)
        yield {
            "budget": budget,
            "mean_value": at / (n * _scale(proven)),
            "n": n,
            "unproven_n": unproven,
            "budget_spec": declared.get(budget),
        }


def _scale(proven: pd.DataFrame) -> int:
    return math.lcm(*proven["scale"].unique().tolist())


def _summed_jumps(proven: pd.DataFrame) -> dict[int, int]:
    """Budget -> by how much the packages' values, over one common scale, rise there together; 0 at budget 0."""
    scale = _scale(proven)
    proven = proven.sort_values(["package_id", "budget"], kind="stable")
    values, first = proven["value_int"].to_numpy(), (proven["budget"] == 0).to_numpy()
    rises = np.where(first, 0, np.diff(values, prepend=0)).tolist()
    factors = (scale // s for s in proven["scale"].tolist())  # Python integers: a common scale may pass 64 bits
    return _sums(zip(proven["budget"].tolist(), (r * f for r, f in zip(rises, factors, strict=True)), strict=True))


def _sums(pairs: Iterable[tuple[int, int]]) -> dict[int, int]:
    sums: dict[int, int] = {}
    for key, number in pairs:
        sums[key] = sums.get(key, 0) + number
    return sums


def curve_counts(curves: pa.Table, checks: pa.Table, solvers: Iterable[str]) -> pd.DataFrame:
    """Schema CURVE_COUNTS, from tables `curves` and `curve_checks` of one suite; `solvers`: those that checked it."""
    by = ["suite", *_PROBLEM]
    frame = curves.to_pandas()
    checked = dict(list(checks.to_pandas().groupby([*by, "solver"])))
    rows = []
    for key, own in frame.groupby(by, sort=True):
        proven = own[own["status"] == _PROVEN]
        head = {
            **dict(zip(by, key, strict=True)),
            "curves": own["package_id"].nunique(),
            "unproven": int((own["status"] == _LIMIT).sum()),
            "jumps": int((proven["budget"] > 0).sum()),
        }
        for solver in sorted(solvers):
            counts = {"points": 0, "equal": 0, "unfinished": 0}
            if (*key, solver) in checked:
                part = checked[*key, solver]
                unfinished = int((part["status"] == _LIMIT).sum())
                counts = {"points": len(part), "equal": int(part["equal"].sum()), "unfinished": unfinished}
            rows.append(head | {"solver": solver} | counts)
    return pd.DataFrame(rows, columns=CURVE_COUNTS.schema.names)
