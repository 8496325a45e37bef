"""Exported stores side by side, a second time: rows of store_compared, and its ranges of budgets in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from .exported import EXACT
from .ledger import LIMIT
from .plan import StorePlan
from .store_means import diagnosed, interval, mean_of

Row = dict[str, Any]
_POINT = ("suite", "cost_model", "k", "saturation", "budget", "budget_spec")
_PAIR = ("suite", "cost_model", "k", "saturation", "kept", "store", "other")
_DIFFERENCES = ("difference", "difference_low", "difference_high")
_FEW = 5
# An end of an interval this near to 0 is not beyond it.
_ZERO = 1e-12


def compared_rows(scores: Mapping[str, Sequence[Row]], plans: Mapping[str, StorePlan]) -> Iterator[Row]:
    """Rows of store_compared. scores: rows of store_scores of every compared store, in the order of `compare_stores`;
    plans: of each."""
    empty = {r["package_id"] for n, rows in scores.items() if plans[n].skip_empty for r in rows if _is_empty(r)}
    cells: dict[tuple, dict[str, dict[str, Row]]] = defaultdict(lambda: defaultdict(dict))
    for name, rows in scores.items():
        shown = diagnosed({row["rule"] for row in rows})
        for row in rows:
            if row["view"] == "" and row["joint_status"] is not None:
                for kept, rule in (("diagnosed", shown), ("upper_exact", EXACT)):
                    if row["rule"] == rule:
                        cells[(*(row[c] for c in _POINT), kept)][name][row["package_id"]] = row
    for key, own in cells.items():
        for store, other in combinations(own, 2):
            at = dict(zip((*_POINT, "kept"), key, strict=True))
            costs = (plans[name].cost_name(at["cost_model"]) for name in (store, other))
            at |= dict(zip(("memory_cost", "other_memory_cost"), costs, strict=True))
            yield at | _pair(own, store, other, plans, empty)


def _is_empty(row: Row) -> bool:
    return row["view"] == "" and row["n_memories"] == 0


def _pair(
    own: Mapping[str, Mapping[str, Row]], store: str, other: str, plans: Mapping[str, StorePlan], empty: set[str]
) -> Row:
    same, undefined, unproven = [], 0, 0
    examples = sorted(set.intersection(*map(set, own.values())))
    for package_id in examples:
        rows = [of[package_id] for of in own.values()]
        if package_id in empty:
            continue
        if all(row["joint_ratio"] is not None for row in rows):
            same.append(package_id)
        elif any(LIMIT in (row["status"], row["joint_status"]) for row in rows):
            unproven += 1
        else:
            undefined += 1
    first, second = ([own[name][i] for i in same] for name in (store, other))
    exact = [_worth(a) - _worth(b) for a, b in _both(first, second)]
    out = {
        "store": store,
        "other": other,
        "labels": plans[store].labels,
        "other_labels": plans[other].labels,
        "rule": next(iter(own[store].values()))["rule"],
        "other_rule": next(iter(own[other].values()))["rule"],
        "n": len(same),
        "left_out_n": sum(i in empty for i in examples),
        "undefined_n": undefined,
        "unproven_n": unproven,
        "wins": sum(value > 0 for value in exact),
        "ties": sum(value == 0 for value in exact),
        "losses": sum(value < 0 for value in exact),
    }
    for name, values in (
        ("ratio", [row["joint_ratio"] for row in first]),
        ("other_ratio", [row["joint_ratio"] for row in second]),
        ("difference", [a["joint_ratio"] - b["joint_ratio"] for a, b in _both(first, second)]),
    ):
        low, high = interval(values, *plans[store].bootstrap)
        out |= {name: mean_of(values), f"{name}_low": low, f"{name}_high": high}
    return out | {"verdict": _verdict(out)}


def _worth(row: Row) -> Fraction:
    return Fraction(row["value_int"], row["scale"])


def _both(first: Sequence[Row], second: Sequence[Row]) -> Iterator[tuple[Row, Row]]:
    return zip(first, second, strict=True)


def _verdict(row: Row) -> str:
    if row["n"] < _FEW:
        return "too_few"
    ahead, behind = row["difference_low"] > _ZERO, row["difference_high"] < -_ZERO
    return "store" if ahead else "other" if behind else "none"


def compared_range_rows(again: Sequence[Row], stored: Sequence[Row]) -> Iterator[Row]:
    """Rows of store_compared_ranges. again: rows of store_compared, made again; stored: as the table has them, whose
    differences are told, rounded as there."""
    found = {tuple(row[c] for c in (*_PAIR, "budget")): row for row in stored}
    pairs: dict[tuple, list[Row]] = defaultdict(list)
    for row in sorted(again, key=lambda r: r["budget"]):
        own = found.get(tuple(row[c] for c in (*_PAIR, "budget")), row)
        as_stored = {c: own[c] for c in _DIFFERENCES if None not in (row[c], own[c])}
        pairs[tuple(row[c] for c in _PAIR)].append(row | as_stored)
    for key, part in pairs.items():
        runs: list[list[Row]] = []
        for row in part:
            if runs and runs[-1][-1]["verdict"] == row["verdict"]:
                runs[-1].append(row)
            else:
                runs.append([row])
        for run in runs:
            first, last = run[0]["budget"], run[-1]["budget"]
            where = f"at {first}"
            if len(run) > 1:
                where = f"from {first}" if last == part[-1]["budget"] else f"at {first} to {last}"
                where = where if len(run) < len(part) else f"at all budgets, {first} to {last}"
            same = {c: run[0][c] for c in ("rule", "other_rule", "labels", "other_labels", "verdict")}
            ends = {"first_budget": first, "last_budget": last, "budgets": len(run)}
            yield dict(zip(_PAIR, key, strict=True)) | same | ends | {"text": f"{where}: {_words(run)}"}


def _words(run: Sequence[Row]) -> str:
    verdict, counts = run[0]["verdict"], [row["n"] for row in run]
    n = f"{min(counts):,}" + (f" to {max(counts):,}" if min(counts) < max(counts) else "")
    if verdict == "too_few":
        return f"too few examples to tell (n {n})"
    mean, low, high = _DIFFERENCES
    sign, ends = (-1, (mean, high, low)) if verdict == "other" else (1, (mean, low, high))
    if len(run) == 1:
        mean, low, high = (_three(sign * run[0][name]) for name in ends)
        much = f"{mean}, {low} to {high}"
    else:
        means = [sign * row["difference"] for row in run]
        much = f"means {_three(min(means))} to {_three(max(means))}"
    what = "no difference is shown" if verdict == "none" else f"{run[0][verdict]} keeps more"
    return f"{what} ({much}; n {n})"


def _three(value: float) -> str:
    text = f"{value:.3f}"
    return text.removeprefix("-") if text == "-0.000" else text
