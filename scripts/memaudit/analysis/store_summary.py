"""Means of exported stores over a suite's examples: denominators, losses with what to change, anatomy, lost units.

An example whose store is empty counts as 0; with `skip_empty` it is left out of every mean (protocol, "Edge cases").
Nothing here orders stores by how well they do.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..costs import DECLARED
from ..stores.judge_verdict import EQUAL, LOSSES, MIN_KAPPA, MIN_SHARE, NO_LOSS, UNDECIDED, largest_losses
from ..stores.labelled import LABELS
from ..stores.model import TOMBSTONE, Memory
from ..stores.pruning import CALLED
from ..stores.union import Labelled, Losses
from ..stores.unions import Cost
from .bootstrap import mean, mean_interval
from .budget_ranges import budget_range
from .scores import UNPROVEN
from .store_scores import ALL_VIEWS
from .store_verdicts import BOUNDS

MOST_LOST = 10
# The verdict where the optimum is 0 in every example: no writer could keep anything, so nothing is known of the store.
UNDEFINED = "undefined"
# What fewer examples show says little of others: no interval is shown of them, and sentences say so.
MIN_EXAMPLES = 5
# The rules that a system could follow, the one that is diagnosed first: its own order, else what matters by its
# salience (per cost, the protocol's rule, before whatever the cost), else the newest.
DEPLOYABLE = ("native_order", "salience", "salience_order", "recency")
_SETTING = ["suite", "store", "cost_model", "k", "saturation"]
_KEY = [*_SETTING, "budget", "budget_spec"]


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


def diagnosed_rule(rules: Sequence[str]) -> str | None:
    """The rule whose selection is diagnosed: the first of DEPLOYABLE that the store was pruned by; None of none."""
    return next((rule for rule in DEPLOYABLE if rule in rules), None)


def diagnosis(
    losses: pd.DataFrame,
    scores: pd.DataFrame,
    store: Declared,
    verdicts: pd.DataFrame | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Schema STORE_DIAGNOSIS of the rows of one store in the schemas STORE_LOSSES and STORE_SCORES: mean losses of
    every rule but those that no system follows (`BOUNDS`), with bootstrap intervals over examples. `verdicts`: the
    store's rows in schema STORE_VERDICTS, of a store that a judge labelled; ValueError where they are of other rows."""
    whole = scores[scores["view"] == ALL_VIEWS]
    empty = set(whole["package_id"][whole["n_memories"] == 0]) if store.skip_empty else set()
    losses = losses[~losses["package_id"].isin(empty) & ~losses["rule"].isin(BOUNDS)]
    examples = whole["package_id"].nunique() - len(empty)
    shown = diagnosed_rule(sorted(set(losses["rule"]))) if len(losses) else None
    judged = {} if verdicts is None else {tuple(r[n] for n in [*_KEY, "rule"]): r for r in verdicts.to_dict("records")}
    parts = dict(iter(losses.groupby([*_KEY, "rule"], sort=True)))
    means = {key: _mean_losses(part) for key, part in parts.items()}
    rows = []
    for key, part in parts.items():
        named = dict(zip([*_KEY, "rule"], key, strict=True))
        exact, n = means[key], len(part)
        found = None if verdicts is None else judged.get(key)
        told = _verdict(exact) if verdicts is None else _judged_verdict(found, n)
        told["of_views"] = 0 < exact["mean_size"] == exact["mean_size_fitting"]
        if not exact["mean_opt"]:
            told |= {"verdict": UNDEFINED}
        rival = _rival(found, exact) if told["verdict"] == UNDECIDED else _NO_RIVAL
        told["rival"] = rival.name
        numbers = {name: float(value) for name, value in exact.items()}
        for name in LOSSES:
            _, low, high = mean_interval(part[name].to_numpy(float), resamples, seed)
            numbers |= {f"mean_{name}_low": low, f"mean_{name}_high": high}
        rules = {rule: means[*key[:-1], rule]["mean_selection"] for rule in DEPLOYABLE if (*key[:-1], rule) in means}
        advice = _advice(exact, named, n, rules, store.labels)
        rows.append({
            **named, "memory_cost": store.cost_of(named["cost_model"]), "labels": store.labels,
            "diagnosed": named["rule"] == shown, "n": n, "unproven_n": examples - n, **numbers, **told,
            "verdict_text": _verdict_text(told, rival, named, n, store.labels),
            **{f"{name}_advice": text for name, text in advice.items()},
        })  # fmt: skip
    return pd.DataFrame(rows)


def _mean_losses(part: pd.DataFrame) -> dict[str, Fraction]:
    """Means over examples, exact: the losses sum to the gap."""

    def exact(values: pd.Series) -> Fraction:
        own = (Fraction(int(v), int(s)) for v, s in zip(values, part["scale"], strict=True))
        return sum(own, Fraction(0)) / len(part)

    optimum, whole, upper, selected = (exact(part[f"{n}_int"]) for n in ("optimum", "whole", "upper", "selected"))
    reached = exact(part[["optimum_int", "whole_int"]].min(axis=1))
    fits = part["fits"].astype(bool)
    return {
        "mean_opt": optimum,
        "mean_whole": whole,
        "mean_upper": upper,
        "mean_selected": selected,
        "mean_gap": optimum - selected,
        "mean_missing": optimum - reached,
        "mean_size": reached - upper,
        "mean_selection": upper - selected,
        # Of these, what is lost in examples of which all that may be kept at once fits.
        "mean_size_fitting": exact((part[["optimum_int", "whole_int"]].min(axis=1) - part["upper_int"]).where(fits, 0)),
        "mean_selection_fitting": exact((part["upper_int"] - part["selected_int"]).where(fits, 0)),
        **{f"mean_{name}_invalidation": _exact_mean(part, f"{name}_invalidation") for name in LOSSES},
    }


def _exact_mean(part: pd.DataFrame, column: str) -> Fraction:
    """Mean of a column of whole parts of `scale` that are held as floats: exact, so that no part passes its loss."""
    own = (Fraction(round(v * s), s) for v, s in zip(part[column], map(int, part["scale"]), strict=True))
    return sum(own, Fraction(0)) / len(part)


# How sure the verdict on a judged store is.
_SURE = ("agreement", "draws", "tied_draws", "unproven_draws", "kappa", "leans", *(f"drawn_{name}" for name in LOSSES))


def _verdict(numbers: Mapping[str, Fraction]) -> dict[str, object]:
    """The largest loss (of equal ones the earlier cause; `tied`: the others) of a store with labels."""
    first, *others = largest_losses(Losses(*(numbers[f"mean_{name}"] for name in LOSSES)))
    return {"largest": first, "tied": "+".join(others), "verdict": first, **dict.fromkeys(_SURE)}


def _judged_verdict(found: Mapping[str, object] | None, n: int) -> dict[str, object]:
    """The verdict on a store that was judged, by its row in schema STORE_VERDICTS."""
    if found is None or found["n"] != n:
        raise ValueError(f"verdict {found} for a diagnosis of {n} examples; verdicts and losses are not of one run")
    return {name: found[name] for name in ("largest", "tied", "verdict", *_SURE)}


class Rival(NamedTuple):
    """name: the loss that may be the largest in place of the judged one, "" where there is none; lean: how the draws
    say so, where they lean."""

    name: str
    lean: str


_NO_RIVAL = Rival("", "")


def _rival(found: Mapping[str, object], exact: Mapping[str, Fraction]) -> Rival:
    """Of an undecided verdict (row in schema STORE_VERDICTS) on mean losses: where the draws lean, the loss that their
    mean, or else the step the other way (`judge_verdict.leans`), puts furthest ahead; otherwise the one that is alone
    the largest in most draws."""
    own = [found["largest"], *filter(None, found["tied"].split("+"))]
    if found["leans"]:
        mean = {name: Fraction(found[f"drawn_{name}"]) for name in LOSSES}
        back = {name: max(Fraction(0), 2 * exact[f"mean_{name}"] - mean[name]) for name in LOSSES}
        for one, how in (
            (mean, "the mean of the draws puts {} ahead"),
            (back, f"the draws lean to {found['largest']}: a step as long the other way puts {{}} ahead"),
        ):
            led = min((one[name] for name in own if name != NO_LOSS), default=Fraction(0))
            most = max(one[name] for name in LOSSES)
            if most > led + EQUAL:
                name = next(name for name in LOSSES if one[name] >= most - EQUAL)
                return Rival(name, how.format(name))
    counts = {name: found[f"{name}_draws"] for name in (*LOSSES, NO_LOSS) if name not in own}
    name = max(counts, key=counts.__getitem__)
    return Rival(name, "") if counts[name] else _NO_RIVAL


# The loss to size of a store that fits (`of_views`): the whole store counts all views of a memory, a selection has k.
VIEWS = "views"
_CAUSES = {
    "missing": "extraction (missing)", "size": "size", "selection": "selection", NO_LOSS: "no loss",
    VIEWS: "views (of a memory at most k are kept)",
}  # fmt: skip


def called(name: str, told: Mapping[str, object]) -> str:
    """What a loss is called of a row in schema STORE_DIAGNOSIS or STORE_RANGES: `size` is VIEWS where budgets have no
    part in it."""
    return VIEWS if name == "size" and told["of_views"] else name


def _causes(told: Mapping[str, object]) -> str:
    names = [_CAUSES[called(name, told)] for name in _judged_causes(told)]
    return names[0] if len(names) == 1 else f"{_and(names)} equally"


def _judged_causes(told: Mapping[str, object]) -> list[str]:
    return [told["largest"], *filter(None, told["tied"].split("+"))]


def undecided_between(told: Mapping[str, object]) -> list[str]:
    """The losses that an undecided verdict (row in schema STORE_DIAGNOSIS or STORE_RANGES) may be: as judged, and the
    rival."""
    return list(dict.fromkeys([*_judged_causes(told), *filter(None, [told["rival"]])]))


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _verdict_text(told: Mapping[str, object], rival: Rival, named: Mapping[str, object], n: int, labels: str) -> str:
    """The verdict in words: kept by which rule, over how many examples, by whose word, under a judge how sure it is,
    and what that leaves out."""
    by = f"by {_whose(labels)} ({n} example{'s' if n > 1 else ''})"
    if told["verdict"] == UNDEFINED:
        return f"Undefined: {_nothing_fits(named['budget'])}, {by}."
    lost = "nothing" if told["largest"] == NO_LOSS else f"most to {_causes(told)}"
    lost = f"ept by {CALLED[named['rule']]}, the store loses {lost}, {by}"
    if told["agreement"] is None:
        return f"K{lost}. {_reach(n, labels)}"
    if told["verdict"] != UNDECIDED:
        return f"K{lost}: {_sureness(told)}. {_reach(n, labels)}"
    between = [_CAUSES[called(name, told)] for name in undecided_between(told)]
    head = f"Undecided between {_and(between)}" if len(between) > 1 else "Undecided"
    lean = f"; {rival.lean}" if rival.lean else ""
    return f"{head}: k{lost}: {_sureness(told)}{lean}. {_reach(n, labels)}"


def _sureness(told: Mapping[str, object]) -> str:
    """How far the draws bear a verdict out; what is needed stands only where it is not met."""
    share = f"{100 * told['agreement']:.0f} % of {told['draws']} label draws agree"
    if told["agreement"] < MIN_SHARE:
        share += f" ({100 * MIN_SHARE:.0f} % are needed)"
    if told["tied_draws"]:
        share += f", the largest losses tie in {told['tied_draws']}"
    if told["unproven_draws"]:
        share += f", {told['unproven_draws']} are too large to prove or not tried"
    needed = f"; {MIN_KAPPA} is needed" if told["kappa"] < MIN_KAPPA else ""
    return f"{share}; kappa {told['kappa']:.2f} (the lower of two{needed})"


def _reach(n: int, labels: str) -> str:
    """What a verdict does not cover: other examples."""
    if n < MIN_EXAMPLES:
        return "So few examples say nothing about others."
    of_labels = "" if labels == LABELS else "That is how sure the labels are: "
    told = f"{of_labels}how far other examples may differ, the intervals of the losses say."
    return told[0].upper() + told[1:]


def _nothing_fits(budget: int) -> str:
    return f"nothing can be kept within {budget}: the optimum is 0"


def _whose(labels: str) -> str:
    return "its labels" if labels == LABELS else f"the {labels}"


# What to change in a rule that leaves out what would fit, where no other rule does better.
_RANKING = {
    "native_order": "let the store's own order put first what says what the lost units say",
    "salience": "give more salience to what says what the lost units say, or shorten it",
    "salience_order": "give more salience to what says what the lost units say",
    "recency": "rank memories by what they say, not by their age",
}


def _advice(
    exact: Mapping[str, Fraction], named: Mapping[str, object], n: int, selection: Mapping[str, Fraction], labels: str
) -> dict[str, str]:
    """A sentence a loss: how much it is, and what to change; whose word it is where that is not labels'.

    exact: the mean losses of n examples; named: budget, rule and k; selection: rule -> mean selection loss at the same
    budget, of every rule that a system could follow.
    """
    numbers = {name: float(value) for name, value in exact.items()}
    budget, rule = named["budget"], named["rule"]
    missing, size, kept = (numbers[f"mean_{name}"] for name in LOSSES)
    optimum = numbers["mean_opt"]
    told = {
        "missing": f"the whole store, without a budget, is worth as much as the optimum within {budget}, or more.",
        "size": f"nothing is lost to size within {budget}.",
        "selection": f"nothing is lost to selection within {budget}: no other choice is worth more.",
    }
    if not optimum:
        told = dict.fromkeys(LOSSES, f"{_nothing_fits(budget)}.")
    if missing:
        # In the mean over examples the store may be worth more: what it has beyond an optimum makes up for no other.
        much = f"{missing:.3f} of the optimum of {optimum:.3f} within {budget} ({_share(missing, optimum)})"
        much += ", example by example" if n > 1 else ""
        fix = "write memories that say what the lost units say"
        told["missing"] = f"even the whole store, without a budget, lacks {much}{_stale(numbers, 'missing')}: {fix}."
    if size:
        much = f"{size:.3f} of {optimum:.3f} ({_share(size, optimum)}) is reached by the whole store"
        told["size"] = f"{much}{_size_advice(exact, numbers, named)}."
    if kept:
        fits = exact["mean_selection"] == exact["mean_selection_fitting"]
        much = f"{kept:.3f} of {optimum:.3f} ({_share(kept, optimum)}) fits within {budget}"
        much += ", as all else," if fits else ""
        where = f"and is not kept by {CALLED[rule]}{_stale(numbers, 'selection')}"
        told["selection"] = f"{much} {where}: {_better(rule, selection, fits)}."
    judged = "" if labels == LABELS else f"By the {labels}: "
    return {name: f"{judged}{text}" if judged else text[0].upper() + text[1:] for name, text in told.items()}


def _size_advice(exact: Mapping[str, Fraction], numbers: Mapping[str, float], named: Mapping[str, object]) -> str:
    """Why a selection does not reach what the whole store does, and what to change: too long, or in several views."""
    budget, stale = named["budget"], _stale(numbers, "size")
    if exact["mean_size"] == exact["mean_size_fitting"]:
        why = f"with all views of its memories, but not with k = {named['k']} of each, though these fit within {budget}"
        return f" {why}{stale}: {_ONE_VIEW}"
    fitting = numbers["mean_size_fitting"]
    part = f"; {fitting:.3f} of it where all fits, but not all views may be kept" if fitting else ""
    also = f"; {_ONE_VIEW}" if fitting else ""
    return (
        f", but by no part of it within {budget}{stale}{part}: write shorter memories, or split long ones by fact{also}"
    )


_ONE_VIEW = "say in one view of a memory what the others say"


def _share(loss: float, optimum: float) -> str:
    return f"{100 * loss / optimum:.0f} %"


def _stale(numbers: Mapping[str, float], name: str) -> str:
    part = numbers[f"mean_{name}_invalidation"]
    return f", {part:.3f} of it in units that say what no longer holds" if part > 0 else ""


def _better(rule: str, selection: Mapping[str, Fraction], fits: bool) -> str:
    """The rule that loses less, where there is one (of equal ones the first of DEPLOYABLE); else what to rank by, or,
    where all fits, that an order is not what is wrong."""
    best = min(selection, key=selection.__getitem__)
    if selection[best] < selection[rule]:
        return f"keep by {CALLED[best]}, which loses {float(selection[best]):.3f} here"
    return "keep every memory, of several views the one that says most" if fits else _RANKING[rule]


# What to change first where a loss is the largest; the sentences by budget say more.
_FIRST = {
    "missing": "write what the lost units say",
    "size": "write shorter memories",
    "selection": "choose better what is kept",
    VIEWS: "say in one view what the others say",
}


def first_to_change(told: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Schema STORE_RANGES of the rows of one store in the schemas STORE_DIAGNOSIS and STORE_SCORES: over all budgets of
    a setting, the ranges in which the diagnosed rule has one verdict. A budget without a diagnosis ends a range."""
    if told.empty:
        return pd.DataFrame()
    scored = {key: sorted(set(part["budget"])) for key, part in scores.groupby(_SETTING)}
    rows = []
    for key, part in told[told["diagnosed"]].groupby(_SETTING, sort=True):
        own = {row["budget"]: row for row in part.to_dict("records")}
        for verdict, run in groupby(scored[key], lambda b, own=own: b in own and _verdict_of(own[b])):
            if verdict:
                budgets = list(run)
                named = {name: own[budgets[0]][name] for name in ("rule", "labels", *_SAME)}
                ends = {"first_budget": budgets[0], "last_budget": budgets[-1], "budgets": len(budgets)}
                text = f"{budget_range(budgets, scored[key])}: {_first_text(named)}"
                rows.append({**dict(zip(_SETTING, key, strict=True)), **ends, **named, "text": text})
    return pd.DataFrame(rows)


# Where one of these changes a range of budgets ends.
_SAME = ("verdict", "largest", "tied", "rival", "of_views")


def _verdict_of(row: Mapping[str, object]) -> tuple[object, ...]:
    return tuple(row[name] for name in _SAME)


def _first_text(told: Mapping[str, object]) -> str:
    causes = [called(name, told) for name in _judged_causes(told)]
    if told["verdict"] == UNDECIDED:
        between = ["no loss" if name == NO_LOSS else called(name, told) for name in undecided_between(told)]
        return f"undecided between {_and(between)}" if len(between) > 1 else f"undecided ({between[0]} as judged)"
    if told["verdict"] == UNDEFINED:
        return "nothing can be kept (the optimum is 0)"
    if told["verdict"] == NO_LOSS:
        return "nothing is lost"
    return f"{_and(causes)}{' equally' if len(causes) > 1 else ''} ({', '.join(_FIRST[name] for name in causes)})"


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


# ---- without a budget


def covered_units(
    suite: str, store: str, stores: Mapping[str, Labelled], units: pd.DataFrame, declared: Declared
) -> pd.DataFrame:
    """Schema STORE_UNITS: what all memories of one export together cover of every unit that counts (weight above 0).

    `stores`: example -> store; `units`: schema UNITS of the suite.
    """
    counted = {i: one for i, one in stores.items() if one.store.memories or not declared.skip_empty}
    amounts: dict[tuple[str, str], list[float]] = defaultdict(list)
    for package_id, one in counted.items():
        for row in one.coverage.values():
            for unit_id, value in row.items():
                amounts[package_id, unit_id].append(value)
    rows = []
    for unit in units[units["package_id"].isin(list(counted)) & (units["weight"] > 0)].to_dict("records"):
        covered = min(1.0, math.fsum(amounts[unit["package_id"], unit["unit_id"]]))
        row = {name: unit[name] for name in ("package_id", "unit_id", "role", "kind", "weight")}
        own = {"suite": suite, "store": store, "labels": declared.labels, "demonstration": declared.demonstration}
        rows.append(row | own | {"unit_text": unit["text"], "covered": covered})
    return pd.DataFrame(rows)


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

    def add(what: str, name: str, value: float, cost_model: str = "", detail: str | None = None) -> None:
        own = {"suite": suite, "store": store, "labels": labels, "cost_model": cost_model}
        rows.append({**own, "what": what, "name": name, "value": value, "detail": detail})

    held = {i: _by_memory(one.store.memories) for i, one in stores.items()}
    sizes = [len(own) for own in held.values()]
    memories = [memory for one in stores.values() for memory in one.store.memories]
    for name, value in _spread(sizes):
        add("memories per example", name, value)
    add("examples", "with a store", len(stores))
    empty = [i for i, one in sorted(stores.items()) if not one.store.memories]
    add("examples", "with an empty store", len(empty), detail=_some_of(empty))
    for what in (*_COUNTED, *_TOLD):
        for name, own in ingest[ingest["what"] == what].groupby("name"):
            detail = _told_of(own) if what in _TOLD else None
            add({"count": "rows", "package": "examples"}.get(what, what), name, own["count"].sum(), detail=detail)
    for name in sorted(set(ingest[ingest["what"] == "format"]["name"])):
        add("format", name, 1)
    add("memories", "in all", sum(sizes))
    kinds = [{text.representation_type for text in texts} for own in held.values() for texts in own.values()]
    add("memories", "tombstones", sum(TOMBSTONE in kind for kind in kinds))
    add("texts", "in all", len(memories))
    for name, count in pd.Series([m.representation_type for m in memories], dtype=str).value_counts(sort=False).items():
        add("representation", name, count)
    for name, count in pd.Series([m.view for m in memories if m.view], dtype=str).value_counts(sort=False).items():
        add("view", name, count)
    for name, value in _validity(stores, invalidation):
        add("validity coverage", name, value)
    for cost_model, cost in costs.items():
        amounts = [cost(memory.whole_size) for memory in memories]
        for name, value in _spread(amounts):
            add("cost of a text", name, value, cost_model)
        cheapest = [min(cost(text.whole_size) for text in own) for one in held.values() for own in one.values()]
        kept = [_kept_at_once(one.store.memories, cost) for one in stores.values()]
        for budget in sorted(set(budgets[cost_model])):
            if cheapest:
                share = sum(amount <= budget for amount in cheapest) / len(cheapest)
                add("share of memories that fit", f"B = {budget}", share, cost_model)
            share = sum(amount <= budget for amount in kept) / len(kept)
            add("share of stores that fit", f"B = {budget}", share, cost_model)
    return pd.DataFrame(rows)


def _by_memory(memories: Sequence[Memory]) -> dict[str, list[Memory]]:
    """Memory id -> its texts: one, or one a view."""
    found: dict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        found[memory.memory_id].append(memory)
    return found


def _kept_at_once(memories: Sequence[Memory], cost: Cost) -> int:
    """What rule `full_store` pays for all of a store: of each group, which views share, the cheapest text."""
    least: dict[str, int] = {}
    for memory in memories:
        own = cost(memory.whole_size)
        least[memory.group] = min(own, least.get(memory.group, own))
    return sum(least.values())


# Counts of table ingest, and what it tells of an export, each time with where.
_COUNTED = ("count", "judge")
_TOLD = ("package", "skipped", "warning", "partial", "labels")
_SHOWN_EXAMPLES = 3


def _told_of(rows: pd.DataFrame) -> str | None:
    """Where rows of table ingest of one name are from: of one its example and detail, of several the examples."""
    if len(rows) == 1:
        (row,) = rows.itertuples()
        return ": ".join(filter(None, [row.instance_id, row.detail if pd.notna(row.detail) else None])) or None
    return _some_of(sorted(rows["instance_id"]))


def _some_of(ids: Sequence[str]) -> str | None:
    more = f" and {len(ids) - _SHOWN_EXAMPLES} more" if len(ids) > _SHOWN_EXAMPLES else ""
    return f"{', '.join(ids[:_SHOWN_EXAMPLES])}{more}" if ids else None


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
