"""Means of exported stores over a suite's examples: denominators, losses with what to change, anatomy, lost units.

An example whose store is empty counts as 0; with `skip_empty` it is left out of every mean (protocol, "Edge cases").
Nothing here orders stores by how well they do.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

from ..costs import DECLARED
from ..stores.judge_verdict import LOSSES, MIN_KAPPA, MIN_SHARE, NO_LOSS, UNDECIDED
from ..stores.labelled import LABELS
from ..stores.model import TOMBSTONE
from ..stores.union import Labelled
from ..stores.unions import Cost
from .bootstrap import mean, mean_interval
from .scores import UNPROVEN
from .store_scores import ALL_VIEWS
from .store_verdicts import BOUNDS

MOST_LOST = 10
# The rules that a system could prune by, the one that is diagnosed first: its own knowledge of what matters, its own
# order, else the newest.
DEPLOYABLE = ("salience", "native_order", "recency")
_KEY = ["suite", "store", "cost_model", "k", "saturation", "budget", "budget_spec"]


@dataclass(frozen=True)
class Declared:
    """What is declared of a store. memory_cost: what memories cost under `declared` costs; labels: who says what they
    cover; demonstration: it shows the method and no system."""

    memory_cost: str
    skip_empty: bool = False
    labels: str = LABELS
    demonstration: bool = False

    def cost_of(self, cost_model: str) -> str:
        """The cost model of memories under a cost model of the suite."""
        return self.memory_cost if cost_model == DECLARED else cost_model


def summarise(
    scores: pd.DataFrame, store: Declared, without: int, *, resamples: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """Schema STORE_SUMMARY of the rows of one store in schema STORE_SCORES; `without`: scored examples that have no
    store."""
    rows = []
    for key, part in scores.groupby([*_KEY, "view", "rule"], sort=True):
        named = dict(zip([*_KEY, "view", "rule"], key, strict=True))
        empty = part["n_memories"] == 0
        counted = part[~empty] if store.skip_empty else part
        named |= {"memory_cost": store.cost_of(named["cost_model"]), "labels": store.labels}
        named |= {"demonstration": store.demonstration, "examples": len(part), "without_n": without}
        named |= {"left_out_n": len(part) - len(counted), "empty_n": 0 if store.skip_empty else int(empty.sum())}
        rows.append(named | _means(counted, resamples, seed))
    return pd.DataFrame(rows)


def _means(part: pd.DataFrame, resamples: int, seed: int) -> dict[str, float | int | None]:
    out: dict[str, float | int | None] = {}
    for name, column in (
        ("mean_value", "value"), ("mean_cost", "cost"), ("mean_kept", "n_selected"), ("mean_memories", "n_memories"),
        ("mean_invalidation_covered", "invalidation_covered"),
    ):  # fmt: skip
        out[name] = mean(part[column].to_numpy(float)) if len(part) else None
    for name, prefix in (("union", "union_"), ("package", "package_")):
        open_ = part[f"{name}_status"].eq(UNPROVEN) | part["status"].eq(UNPROVEN)
        optima = part[part[f"{name}_status"] != UNPROVEN][f"{name}_opt"].to_numpy(float)
        out[f"mean_{name}_opt"] = mean(optima) if len(optima) else None
        out[f"{prefix}unproven_n"] = int(open_.sum())
        out[f"{prefix}undefined_n"] = int((part[f"{name}_ratio"].isna() & ~open_).sum())
    for name, count in (("union_ratio", "n"), ("package_ratio", "package_n"), ("joint_ratio", "joint_n")):
        ratios = part[name].dropna().to_numpy(float)
        out[count] = len(ratios)
        found = mean_interval(ratios, resamples, seed) if len(ratios) else (None, None, None)
        out |= dict(zip((name, f"{name}_low", f"{name}_high"), found, strict=True))
    return out


# ---- diagnosis


def diagnosed_rule(rules: Sequence[str]) -> str:
    """The rule whose selection is diagnosed: the first of DEPLOYABLE that the store was pruned by, else the first of
    `rules`."""
    return next((rule for rule in DEPLOYABLE if rule in rules), sorted(rules)[0])


def diagnosis(
    losses: pd.DataFrame, scores: pd.DataFrame, store: Declared, verdicts: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Schema STORE_DIAGNOSIS of the rows of one store in the schemas STORE_LOSSES and STORE_SCORES: mean losses of
    every rule but the upper bounds, which a system does not have. `verdicts`: the store's rows in schema
    STORE_VERDICTS, of a store that a judge labelled; ValueError where they are of other rows."""
    whole = scores[scores["view"] == ALL_VIEWS]
    empty = set(whole["package_id"][whole["n_memories"] == 0]) if store.skip_empty else set()
    losses = losses[~losses["package_id"].isin(empty) & ~losses["rule"].isin(BOUNDS)]
    examples = whole["package_id"].nunique() - len(empty)
    shown = diagnosed_rule(sorted(set(losses["rule"]))) if len(losses) else None
    judged = {} if verdicts is None else {tuple(r[n] for n in [*_KEY, "rule"]): r for r in verdicts.to_dict("records")}
    rows = []
    for key, part in losses.groupby([*_KEY, "rule"], sort=True):
        named = dict(zip([*_KEY, "rule"], key, strict=True))
        numbers = _mean_losses(part)
        told = _verdict(numbers) if verdicts is None else _judged_verdict(judged.get(key), len(part))
        named |= {"memory_cost": store.cost_of(named["cost_model"]), "labels": store.labels}
        rows.append({
            **named, "diagnosed": named["rule"] == shown,
            "n": len(part), "unproven_n": examples - len(part), **numbers, **told,
            "verdict_text": _verdict_text(told, store.labels),
            **{f"{name}_advice": text
               for name, text in _advice(numbers, named["budget"], named["rule"], store.labels).items()},
        })  # fmt: skip
    return pd.DataFrame(rows)


def _mean_losses(part: pd.DataFrame) -> dict[str, float]:
    """Means over examples, in exact fractions up to one last division: the losses sum to the gap."""

    def exact(values: pd.Series) -> Fraction:
        own = (Fraction(int(v), int(s)) for v, s in zip(values, part["scale"], strict=True))
        return sum(own, Fraction(0)) / len(part)

    optimum, whole, upper, selected = (exact(part[f"{n}_int"]) for n in ("optimum", "whole", "upper", "selected"))
    reached = exact(part[["optimum_int", "whole_int"]].min(axis=1))
    out = {
        "mean_opt": float(optimum),
        "mean_whole": float(whole),
        "mean_upper": float(upper),
        "mean_selected": float(selected),
        "mean_gap": float(optimum - selected),
        "mean_missing": float(optimum - reached),
        "mean_size": float(reached - upper),
        "mean_selection": float(upper - selected),
    }
    return out | {f"mean_{n}_invalidation": mean(part[f"{n}_invalidation"].to_numpy(float)) for n in LOSSES}


# How sure the verdict on a judged store is.
_SURE = ("agreement", "draws", "unproven_draws", "kappa", "leans", *(f"drawn_{name}" for name in LOSSES))


def _verdict(numbers: Mapping[str, float]) -> dict[str, object]:
    """The largest loss (ties: the earlier cause) of a store with labels."""
    largest = max(LOSSES, key=lambda name: (numbers[f"mean_{name}"], -LOSSES.index(name)))
    largest = largest if numbers[f"mean_{largest}"] > 0 else NO_LOSS
    return {"largest": largest, "verdict": largest, **dict.fromkeys(_SURE)}


def _judged_verdict(found: Mapping[str, object] | None, n: int) -> dict[str, object]:
    """The verdict on a store that was judged, by its row in schema STORE_VERDICTS."""
    if found is None or found["n"] != n:
        raise ValueError(f"verdict {found} for a diagnosis of {n} examples; verdicts and losses are not of one run")
    return {name: found[name] for name in ("largest", "verdict", *_SURE)}


_CAUSES = {"missing": "extraction (missing)", "size": "size", "selection": "selection"}


def _verdict_text(told: Mapping[str, object], labels: str) -> str:
    """The verdict as a sentence; under a judge it says whose word it is, and how sure."""
    lost = f"the store loses most to {_CAUSES[told['largest']]}" if told["largest"] != NO_LOSS else "nothing is lost"
    if told["agreement"] is None:
        return f"By its labels {lost}."
    share = f"{100 * told['agreement']:.0f} % of {told['draws']} label draws agree"
    if told["unproven_draws"]:
        share += f", {told['unproven_draws']} are too large to prove or not tried"
    share += f"; kappa {told['kappa']:.2f} (the lower of two)"
    share += "; the draws lean further than it leads" if told["leans"] else ""
    if told["verdict"] != UNDECIDED:
        return f"By the {labels} {lost}: {share}."
    needed = f"{100 * MIN_SHARE:.0f} % and {MIN_KAPPA} are needed"
    return f"Undecided: by the {labels} {lost}, but {share} ({needed})."


def _advice(numbers: Mapping[str, float], budget: int, rule: str, labels: str) -> dict[str, str]:
    """A sentence a loss: how much it is, and what to change; whose word it is where that is not labels'."""
    judged = "" if labels == LABELS else f"By the {labels}: "
    optimum = numbers["mean_opt"]
    causes = {
        "missing": ("is in no memory", "write memories that say it; the lost units show what"),
        "size": (f"is in the store but not within {budget}", "write shorter memories, or split long ones by fact"),
        "selection": (f"fits within {budget} and is not chosen by {rule}", "rank memories by what they say"),
    }
    out = {}
    for name, (where, fix) in causes.items():
        loss, stale = numbers[f"mean_{name}"], numbers[f"mean_{name}_invalidation"]
        if loss == 0:
            out[name] = f"{judged}nothing is lost here." if judged else "Nothing is lost here."
            continue
        part = f", {stale:.3f} of it in units that say what no longer holds" if stale > 0 else ""
        out[name] = f"{judged}{loss:.3f} of {optimum:.3f} ({100 * loss / optimum:.0f} %) {where}{part}: {fix}."
    return out


def most_lost(lost: pd.DataFrame, rules: Sequence[str]) -> pd.DataFrame:
    """Schema STORE_MOST_LOST of the rows of one store in schema STORE_LOST_UNITS: of the diagnosed rule (out of
    `rules`) the MOST_LOST units of most worth at each budget; ties by example, then unit."""
    rows = lost[lost["rule"] == diagnosed_rule(rules)] if len(lost) else lost
    if rows.empty:
        return pd.DataFrame()
    order = {**dict.fromkeys(_KEY, True), "lost": False, "package_id": True, "unit_id": True}
    rows = rows.sort_values(list(order), ascending=list(order.values()))
    rows = rows.assign(rank=rows.groupby(_KEY).cumcount() + 1)
    return rows[rows["rank"] <= MOST_LOST].reset_index(drop=True)


# ---- anatomy


def anatomy(
    suite: str,
    store: str,
    stores: Mapping[str, Labelled],
    ingest: pd.DataFrame,
    costs: Mapping[str, Cost],
    budgets: Mapping[str, Sequence[int]],
    invalidation: Mapping[str, Sequence[str]],
    labels: str = LABELS,
) -> pd.DataFrame:
    """Schema STORE_ANATOMY of one export.

    `stores`: example -> store; `ingest`: schema INGEST; `costs`: the suite's cost model -> what a memory costs under
    it; `budgets`: cost model -> amounts; `invalidation`: example -> ids of its invalidation units;
    `labels`: whose word coverage is.
    """
    rows: list[dict] = []

    def add(what: str, name: str, value: float, cost_model: str = "") -> None:
        own = {"suite": suite, "store": store, "labels": labels, "cost_model": cost_model}
        rows.append({**own, "what": what, "name": name, "value": value})

    sizes = [len(one.store.memories) for one in stores.values()]
    memories = [memory for one in stores.values() for memory in one.store.memories]
    for name, value in _spread(sizes):
        add("memories per example", name, value)
    add("examples", "with a store", len(stores))
    add("examples", "with an empty store", sum(size == 0 for size in sizes))
    for note in ingest[ingest["what"] == "package"].itertuples():
        add("examples", note.name, note.count)
    for what in ("count", "skipped", "warning", "partial", "labels", "judge"):
        for name, count in ingest[ingest["what"] == what].groupby("name")["count"].sum().items():
            add({"count": "rows"}.get(what, what), name, count)
    for name in sorted(set(ingest[ingest["what"] == "format"]["name"])):
        add("format", name, 1)
    add("memories", "in all", len(memories))
    add("memories", "tombstones", sum(m.representation_type == TOMBSTONE for m in memories))
    for name, count in pd.Series([m.representation_type for m in memories], dtype=str).value_counts(sort=False).items():
        add("representation", name, count)
    for name, count in pd.Series([m.view for m in memories if m.view], dtype=str).value_counts(sort=False).items():
        add("view", name, count)
    for name, value in _validity(stores, invalidation):
        add("validity coverage", name, value)
    for cost_model, cost in costs.items():
        amounts = [cost(memory.whole_size) for memory in memories]
        for name, value in _spread(amounts):
            add("cost of a memory", name, value, cost_model)
        for budget in sorted(set(budgets[cost_model])):
            if amounts:
                share = sum(amount <= budget for amount in amounts) / len(amounts)
                add("share of memories that fit", f"B = {budget}", share, cost_model)
            whole = [sum(cost(m.whole_size) for m in one.store.memories) <= budget for one in stores.values()]
            add("share of stores that fit", f"B = {budget}", sum(whole) / len(whole), cost_model)
    return pd.DataFrame(rows)


def _spread(values: Sequence[int]) -> Iterator[tuple[str, float]]:
    if values:
        array = np.array(values, dtype=float)
        yield from (("least", float(array.min())), ("median", float(np.median(array))), ("mean", mean(array)))
        yield "largest", float(array.max())


def _validity(stores: Mapping[str, Labelled], invalidation: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, float]]:
    """How many invalidation units the examples with a store have, and how much of them the whole store covers."""
    covered = [
        min(1.0, math.fsum(row.get(unit_id, 0.0) for row in one.coverage.values()))
        for package_id, one in stores.items()
        for unit_id in invalidation[package_id]
    ]
    yield "invalidation units", len(covered)
    yield "covered by the whole store", math.fsum(covered)
