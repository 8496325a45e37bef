"""Exported stores side by side: joint ratios over the same examples, and how every two of them differ.

Each store's union has a denominator of its own, so only joint ratios compare (protocol, "External stores"). Differences
are paired, example by example, with the protocol's interval (bootstrap.py). Stores stand in the order given, never by
how well they do. Demonstrations show no system and are compared with none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, groupby

import numpy as np
import pandas as pd

from ..errors import InputError
from .bootstrap import mean_interval
from .budget_ranges import budget_range
from .scores import UNPROVEN
from .store_scores import ALL_VIEWS, UPPER
from .store_summary import MIN_EXAMPLES, Declared, diagnosed_rule

# What is compared of each store: what the rule that its diagnosis is of keeps, and the best subset (UPPER).
DIAGNOSED = "diagnosed"
# Verdicts: which of a pair keeps more, or why that is not said.
STORE, OTHER, NONE, TOO_FEW = "store", "other", "none", "too_few"
# An end of an interval is beyond 0 by more than what sums of floats may differ by.
_BEYOND = 1e-12
_SETTING = ["cost_model", "k", "saturation"]
_POINT = [*_SETTING, "budget", "budget_spec", "kept"]
_PAIR = ["kept", "store", "other"]
_INTERVAL = ("", "_low", "_high")


def compared(
    scores: Mapping[str, pd.DataFrame], stores: Mapping[str, Declared], *, resamples: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """Schema STORE_COMPARED (no rows where nothing is compared).

    scores: rows in schema STORE_SCORES of each compared store of one suite; stores: what is declared of each, in the
    order in which they stand. Examples are those of the joint union, less those where any of the stores is empty and
    `skip_empty`. InputError on a demonstration.
    """
    for name, declared in stores.items():
        if declared.demonstration:
            raise InputError(f"store {name} is a demonstration and compared with none; leave it out of compare_stores")
    parts = [part for name in stores for part in _chosen(scores[name])]
    if not parts:
        return pd.DataFrame()
    empty = {i for name, declared in stores.items() if declared.skip_empty for i in _empty(scores[name])}
    rows = []
    for key, part in pd.concat(parts).groupby(_POINT, sort=True):
        named = {"suite": part["suite"].iloc[0], **dict(zip(_POINT, key, strict=True))}
        own = {name: of.set_index("package_id").sort_index() for name, of in part.groupby("store")}
        own = {name: own[name] for name in stores if name in own}
        if len(own) > 1:
            rows += [named | pair | _declared(pair, named, stores) for pair in _pairs(own, empty, resamples, seed)]
    return pd.DataFrame(rows)


def _declared(
    pair: Mapping[str, object], named: Mapping[str, object], stores: Mapping[str, Declared]
) -> dict[str, object]:
    """Whose word coverage is and what memories cost, of both stores of a pair."""
    first, second = stores[pair["store"]], stores[pair["other"]]
    costs = {
        "memory_cost": first.cost_of(named["cost_model"]),
        "other_memory_cost": second.cost_of(named["cost_model"]),
    }
    return {"labels": first.labels, "other_labels": second.labels, **costs}


def _chosen(scores: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """The rows of the two selections that are compared, over all views, where there is a joint union."""
    rows = scores[scores["view"].eq(ALL_VIEWS) & scores["joint_status"].notna()]
    for kept, rule in ((DIAGNOSED, diagnosed_rule(sorted(set(scores["rule"])))), (UPPER, UPPER)):
        if rule is not None:
            yield rows[rows["rule"] == rule].assign(kept=kept)


def _empty(scores: pd.DataFrame) -> set[str]:
    whole = scores[scores["view"] == ALL_VIEWS]
    return set(whole["package_id"][whole["n_memories"] == 0])


def _pairs(own: Mapping[str, pd.DataFrame], empty: set[str], resamples: int, seed: int) -> Iterator[dict[str, object]]:
    """A row for every two stores, over the examples of which all have a joint ratio. own: store -> its rows by example,
    at one budget."""
    ratios = pd.DataFrame({name: rows["joint_ratio"] for name, rows in own.items()})
    limited = {n: rows["status"].eq(UNPROVEN) | rows["joint_status"].eq(UNPROVEN) for n, rows in own.items()}
    counted = ~ratios.index.isin(list(empty))
    defined, proven = ratios.notna().all(axis=1), ~pd.DataFrame(limited).any(axis=1)
    counts = {
        "n": int((counted & defined).sum()),
        "left_out_n": int((~counted).sum()),
        "undefined_n": int((counted & ~defined & proven).sum()),
        "unproven_n": int((counted & ~defined & ~proven).sum()),
    }
    same = {name: rows[counted & defined] for name, rows in own.items()}
    for store, other in combinations(own, 2):
        first, second = same[store], same[other]
        found = {
            "store": store, "other": other, **counts,
            "rule": own[store]["rule"].iloc[0], "other_rule": own[other]["rule"].iloc[0],
        }  # fmt: skip
        for name, values in (
            ("ratio", first["joint_ratio"]),
            ("other_ratio", second["joint_ratio"]),
            ("difference", first["joint_ratio"] - second["joint_ratio"]),
        ):
            numbers = mean_interval(values.to_numpy(float), resamples, seed) if len(values) else (None,) * 3
            found |= {f"{name}{end}": number for end, number in zip(_INTERVAL, numbers, strict=True)}
        yield found | _order(first, second) | {"verdict": _verdict(found)}


def _order(first: pd.DataFrame, second: pd.DataFrame) -> dict[str, int]:
    """In how many examples the first is worth more, as much and less, by exact value."""
    values = (frame[name].tolist() for frame in (first, second) for name in ("value_int", "scale"))
    signs = np.array([(a * t > b * s) - (a * t < b * s) for a, s, b, t in zip(*values, strict=True)], dtype=int)
    return {"wins": int((signs > 0).sum()), "ties": int((signs == 0).sum()), "losses": int((signs < 0).sum())}


def _verdict(found: Mapping[str, object]) -> str:
    if found["n"] < MIN_EXAMPLES:
        return TOO_FEW
    if found["difference_low"] > _BEYOND:
        return STORE
    return OTHER if found["difference_high"] < -_BEYOND else NONE


# ---- in words


def compared_ranges(told: pd.DataFrame) -> pd.DataFrame:
    """Schema STORE_COMPARED_RANGES of rows in schema STORE_COMPARED: the ranges of budgets in which a pair has one
    verdict."""
    if told.empty:
        return pd.DataFrame()
    rows = []
    for key, part in told.groupby(["suite", *_SETTING, *_PAIR], sort=True):
        named = dict(zip(["suite", *_SETTING, *_PAIR], key, strict=True))
        part = part.sort_values("budget")
        scored = part["budget"].tolist()
        for verdict, run in groupby(part.to_dict("records"), lambda row: row["verdict"]):
            own = list(run)
            budgets = [row["budget"] for row in own]
            named |= {name: own[0][name] for name in ("rule", "other_rule", "labels", "other_labels")}
            ends = {"first_budget": budgets[0], "last_budget": budgets[-1], "budgets": len(budgets)}
            text = f"{budget_range(budgets, scored)}: {_text(own)}"
            rows.append({**named, **ends, "verdict": verdict, "text": text})
    return pd.DataFrame(rows)


def _text(run: Sequence[Mapping[str, object]]) -> str:
    """What neighbouring budgets with one verdict say of a pair."""
    verdict = run[0]["verdict"]
    n = _span(sorted({row["n"] for row in run}), "{:,}")
    if verdict == TOO_FEW:
        return f"too few examples to tell (n {n})"
    what = "no difference is shown" if verdict == NONE else f"{run[0][verdict]} keeps more"
    return f"{what} ({_differences(run, -1 if verdict == OTHER else 1)}; n {n})"


def _differences(run: Sequence[Mapping[str, object]], sign: int) -> str:
    """The difference with its interval at one budget, the smallest and largest of several."""
    means = sorted(sign * row["difference"] for row in run)
    if len(run) > 1:
        return f"means {_number(means[0])} to {_number(means[-1])}"
    low, high = sorted(sign * run[0][f"difference_{end}"] for end in ("low", "high"))
    return f"{_number(means[0])}, {_number(low)} to {_number(high)}"


def _span(values: Sequence[int], form: str) -> str:
    ends = [form.format(value) for value in (values[0], values[-1])]
    return ends[0] if values[0] == values[-1] else f"{ends[0]} to {ends[1]}"


def _number(value: float) -> str:
    return f"{round(value, 3) + 0.0:.3f}"  # + 0.0: no -0.000
