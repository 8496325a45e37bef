"""Means of an exported store over a suite's examples, a second time: rows of store_summary, store_diagnosis,
store_anatomy and store_most_lost, out of the rows of ledger.py and what was read (docs/stores.md)."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from .costs import measure
from .draws import MIN_KAPPA, MIN_SHARE, NO_LOSS, UNDECIDED, largest
from .exported import EXACT, MemoryRow
from .ledger import LIMIT, LOSSES
from .plan import StorePlan

Row = dict[str, Any]
_POINT = ("suite", "store", "cost_model", "k", "saturation", "budget", "budget_spec")
_MEANS = {
    "mean_value": "value",
    "mean_cost": "cost",
    "mean_kept": "n_selected",
    "mean_memories": "n_memories",
    "mean_invalidation_covered": "invalidation_covered",
}
# Ratio -> its number of examples.
_RATIOS = {"union_ratio": "n", "package_ratio": "package_n", "joint_ratio": "joint_n"}
# Rules that are not diagnosed, and those whose selection is diagnosed first, with their names in sentences.
UPPER = (EXACT, "upper_greedy", "full_store")
_FIRST = {
    "native_order": "own retrieval order",
    "salience": "salience per cost",
    "salience_order": "salience order",
    "recency": "newest first",
}
_MOST_LOST = 10
# The verdict where the optimum is 0 in every example.
_UNDEFINED = "undefined"
# Fewer examples say nothing about others. Losses that differ by less are equal.
_FEW, _EQUAL = 5, 1e-9
# How sure the verdict on a judged store is.
_SURE = ("agreement", "draws", "tied_draws", "unproven_draws", "kappa", "leans", *(f"drawn_{name}" for name in LOSSES))
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def _grouped(rows: Sequence[Row], *columns: str) -> dict[tuple, list[Row]]:
    found: dict[tuple, list[Row]] = defaultdict(list)
    for row in rows:
        found[tuple(row[c] for c in columns)].append(row)
    return found


def summary_rows(scores: Sequence[Row], plan: StorePlan, without: int) -> Iterator[Row]:
    """Rows of store_summary. scores: of all settings, by package; `without`: scored examples that have no store."""
    for key, part in _grouped(scores, *_POINT, "view", "rule").items():
        row = dict(zip((*_POINT, "view", "rule"), key, strict=True))
        empty = sum(r["n_memories"] == 0 for r in part)
        counted = [r for r in part if r["n_memories"]] if plan.skip_empty else part
        row |= {
            "memory_cost": plan.cost_name(row["cost_model"]),
            "labels": plan.labels,
            "demonstration": plan.demonstration,
            "examples": len(part),
            "without_n": without,
            "left_out_n": len(part) - len(counted),
            "empty_n": 0 if plan.skip_empty else empty,
        }
        row |= {name: mean_of([r[column] for r in counted]) for name, column in _MEANS.items()}
        for name in ("union", "package"):
            open_ = [LIMIT in (r["status"], r[f"{name}_status"]) for r in counted]
            row[f"mean_{name}_opt"] = mean_of([r[f"{name}_opt"] for r in counted if r[f"{name}_status"] != LIMIT])
            row[f"{name}_unproven_n"] = sum(open_)
            row[f"{name}_undefined_n"] = sum(
                r[f"{name}_ratio"] is None and not o for r, o in zip(counted, open_, strict=True)
            )
        for name, count in _RATIOS.items():
            ratios = [r[name] for r in counted if r[name] is not None]
            low, high = interval(ratios, *plan.bootstrap)
            row |= {count: len(ratios), name: mean_of(ratios), f"{name}_low": low, f"{name}_high": high}
        yield row


def mean_of(values: Sequence[float]) -> float | None:
    """The mean, None of no values."""
    return math.fsum(values) / len(values) if values else None


def interval(values: Sequence[float], resamples: int, seed: int) -> tuple[float | None, float | None]:
    """Percentile bootstrap of a mean (protocol, "Edge cases")."""
    if not values:
        return None, None
    drawn = np.random.Generator(np.random.PCG64(seed)).integers(0, len(values), size=(resamples, len(values)))
    low, high = np.percentile(np.array(values)[drawn].mean(axis=1), (2.5, 97.5))
    return float(low), float(high)


# ---- diagnosis


def diagnosis_rows(
    scores: Sequence[Row], losses: Sequence[Row], plan: StorePlan, verdicts: Sequence[Row] = ()
) -> list[Row]:
    """Rows of store_diagnosis, without its advice. verdicts: of a judged store, rows of store_verdicts."""
    memories = {r["package_id"]: r["n_memories"] for r in scores if r["view"] == ""}
    counted = {i for i, n in memories.items() if n or not plan.skip_empty}
    own = [r for r in losses if r["package_id"] in counted and r["rule"] not in UPPER]
    shown = diagnosed({r["rule"] for r in own})
    points = {tuple(r[c] for c in (*_POINT, "rule")): r for r in verdicts}
    judged = {point: {c: r[c] for c in ("verdict", *_SURE)} for point, r in points.items()}
    rows = []
    for key, part in _grouped(own, *_POINT, "rule").items():
        row = dict(zip((*_POINT, "rule"), key, strict=True))
        numbers = mean_losses(part)
        cause, _, tied = largest(numbers).partition("+")
        told = {"largest": cause, "tied": tied, "verdict": cause, **dict.fromkeys(_SURE)} | judged.get(key, {})
        told |= {} if numbers["opt"] else {"verdict": _UNDEFINED}
        told["of_views"] = numbers["size"] > 0 and numbers["size"] == numbers["size_fitting"]
        undecided = told["verdict"] == UNDECIDED
        told["rival"], lean = _rival(points[key], numbers) if undecided else ("", "")
        row |= {
            "memory_cost": plan.cost_name(row["cost_model"]),
            "labels": plan.labels,
            "diagnosed": row["rule"] == shown,
            "n": len(part),
            "unproven_n": len(counted) - len(part),
            **told,
            "verdict_text": _verdict_text(told, lean, row, len(part), plan.labels),
        }
        row |= {f"mean_{name}": float(number) for name, number in numbers.items()}
        for name in LOSSES:
            low, high = interval([r[name] for r in part], *plan.bootstrap)
            row |= {f"mean_{name}_low": low, f"mean_{name}_high": high}
        stale = (f"{name}_invalidation" for name in LOSSES)
        rows.append(row | {f"mean_{name}": mean_of([r[name] for r in part]) for name in stale})
    return rows


def _rival(found: Row, numbers: Mapping[str, Fraction]) -> tuple[str, str]:
    """Of an undecided row of store_verdicts the loss that may be the largest instead, and what the sentence says of a
    lean; both may be empty."""
    own = set(filter(None, (found["largest"], *found["tied"].split("+"))))
    if found["leans"]:
        drawn = {name: float(found[f"drawn_{name}"]) for name in LOSSES}
        other = {name: max(0.0, 2 * float(numbers[name]) - drawn[name]) for name in LOSSES}
        lean = f"the draws lean to {found['largest']}: a step as long the other way puts"
        for start, losses in (("the mean of the draws puts", drawn), (lean, other)):
            behind = min([losses[name] for name in LOSSES if name in own], default=0.0)
            ahead = [name for name in LOSSES if losses[name] >= max(losses.values()) - _EQUAL]
            if losses[ahead[0]] > behind + _EQUAL:
                return ahead[0], f"; {start} {ahead[0]} ahead"
    alone = [(-found[f"{name}_draws"], name) for name in (*LOSSES, NO_LOSS) if name not in own]
    draws, name = min(alone, key=lambda pair: pair[0])
    return (name if draws else ""), ""


def _verdict_text(told: Row, lean: str, row: Row, n: int, labels: str) -> str:
    """The sentences on a verdict, word by word."""
    causes = [cause for cause in (told["largest"], *told["tied"].split("+")) if cause]
    in_full = dict(_IN_FULL) | ({"size": "views (of a memory at most k are kept)"} if told["of_views"] else {})
    where = _listed([in_full.get(cause, cause) for cause in causes]) + " equally" * (len(causes) > 1)
    who = "its labels" if labels == "labels" else f"the {labels}"
    by = f", by {who} ({n} example" + (")" if n == 1 else "s)")
    if told["verdict"] == _UNDEFINED:
        return f"Undefined: nothing can be kept within {row['budget']}: the optimum is 0{by}."
    lost = f"ept by {_FIRST[row['rule']]}, the store loses " + ("nothing" if NO_LOSS in causes else f"most to {where}")
    lost += by
    rest = "How far other examples may differ, the intervals of the losses say."
    if labels != "labels":
        rest = f"That is how sure the labels are: h{rest[1:]}"
    rest = rest if n >= _FEW else "So few examples say nothing about others."
    if told["agreement"] is None:
        return f"K{lost}. {rest}"
    sure = f"{100 * told['agreement']:.0f} % of {told['draws']} label draws agree"
    sure += " (80 % are needed)" * (told["agreement"] < MIN_SHARE)
    sure += f", the largest losses tie in {told['tied_draws']}" if told["tied_draws"] else ""
    if told["unproven_draws"]:
        sure += f", {told['unproven_draws']} are too large to prove or not tried"
    sure += f"; kappa {told['kappa']:.2f} (the lower of two" + "; 0.4 is needed" * (told["kappa"] < MIN_KAPPA) + ")"
    if told["verdict"] == UNDECIDED:
        between = [{NO_LOSS: "no loss", **in_full}.get(cause, cause) for cause in _between(told)]
        head = f"Undecided between {_listed(between)}" if len(between) > 1 else "Undecided"
        return f"{head}: k{lost}: {sure}{lean}. {rest}"
    return f"K{lost}: {sure}. {rest}"


_IN_FULL = {"missing": "extraction (missing)"}


def _between(told: Row) -> list[str]:
    """What an undecided verdict may be."""
    names = (told["largest"], *told["tied"].split("+"), told["rival"])
    return [name for i, name in enumerate(names) if name and name not in names[:i]]


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def diagnosed(rules: set[str]) -> str | None:
    """Of the rules that a store was pruned by, the one that is diagnosed."""
    return next((rule for rule in _FIRST if rule in rules), None)


def mean_losses(part: Sequence[Row]) -> dict[str, Fraction]:
    def exact(value: Callable[[Row], int]) -> Fraction:
        return sum((Fraction(value(r), r["scale"]) for r in part), Fraction(0)) / len(part)

    opt, whole = exact(lambda r: r["optimum_int"]), exact(lambda r: r["whole_int"])
    upper, selected = exact(lambda r: r["upper_int"]), exact(lambda r: r["selected_int"])
    reached = exact(lambda r: min(r["optimum_int"], r["whole_int"]))
    return {
        "opt": opt,
        "whole": whole,
        "upper": upper,
        "selected": selected,
        "gap": opt - selected,
        "missing": opt - reached,
        "size": reached - upper,
        "selection": upper - selected,
        "size_fitting": exact(lambda r: r["fits"] * (min(r["optimum_int"], r["whole_int"]) - r["upper_int"])),
        "selection_fitting": exact(lambda r: r["fits"] * (r["upper_int"] - r["selected_int"])),
    }


def advice_faults(stored: Sequence[Row], again: Sequence[Row]) -> Iterator[str]:
    """Lines on sentences of store_diagnosis whose numbers are not those of its row; their words are not looked at."""
    point = ("store", "cost_model", "k", "saturation", "budget")
    key = (*point, "rule")
    rows = {tuple(row[c] for c in key): row for row in again}
    least = {at: min(row["mean_selection"] for row in own) for at, own in _grouped(again, *point).items()}
    for told in stored:
        row = rows.get(tuple(told[c] for c in key))
        for name in LOSSES if row is not None else ():
            found = [float(number) for number in _NUMBER.findall(told[f"{name}_advice"])]
            if not _same_numbers(found, _advised(row, name, least[tuple(told[c] for c in point)])):
                where = ", ".join(f"{c} {told[c]}" for c in key)
                yield f"row {where}: {name}_advice is {told[f'{name}_advice']!r}, not with the row's numbers"


def _advised(row: Row, name: str, least: float) -> list[tuple[float, float]]:
    """The numbers of one sentence, each with half a unit of its last digit. least: the selection loss of the rule that
    loses least of those at this budget."""
    loss, stale = row[f"mean_{name}"], row[f"mean_{name}_invalidation"]
    if not loss:
        return [(row["budget"], 0)] + [(0, 0)] * (not row["mean_opt"])
    share, budget = (100 * loss / row["mean_opt"], 0.5), (row["budget"], 0)
    numbers = [(loss, 0.0005), (row["mean_opt"], 0.0005), *((budget, share) if name == "missing" else (share, budget))]
    numbers = [*numbers[:-1], (row["k"], 0), numbers[-1]] if name == "size" and row["of_views"] else numbers
    numbers += [(stale, 0.0005)] if stale > 0 else []
    if name == "size" and row["mean_size_fitting"] and not row["of_views"]:
        numbers.append((row["mean_size_fitting"], 0.0005))
    return numbers + ([(least, 0.0005)] if name == "selection" and least < loss else [])


def _same_numbers(found: Sequence[float], again: Sequence[tuple[float, float]]) -> bool:
    if len(found) != len(again):
        return False
    return all(abs(a - b) <= half + 1e-9 for a, (b, half) in zip(found, again, strict=True))


# Where one of these changes a range of budgets ends.
_SAME = ("verdict", "largest", "tied", "rival", "of_views")
# What the line over all budgets says of a loss.
_CHANGE = {
    "missing": "write what the lost units say",
    "size": "write shorter memories",
    "selection": "choose better what is kept",
    "views": "say in one view what the others say",
}


def range_rows(told: Sequence[Row], scores: Sequence[Row]) -> Iterator[Row]:
    """Rows of store_ranges. told: rows of store_diagnosis; scores: of store_scores, which have all budgets."""
    setting = ("suite", "store", "cost_model", "k", "saturation")
    rows = {tuple(r[c] for c in (*setting, "budget")): r for r in told if r["diagnosed"]}
    for key, part in _grouped(scores, *setting).items():
        scored = sorted({row["budget"] for row in part})
        runs: list[list[Row]] = [[]]
        for budget in scored:
            row = rows.get((*key, budget))
            if row is None or not runs[-1] or any(row[c] != runs[-1][-1][c] for c in _SAME):
                runs.append([])
            if row is not None:
                runs[-1].append(row)
        for run in filter(None, runs):
            yield _range(run, scored) | dict(zip(setting, key, strict=True))


def _range(run: Sequence[Row], scored: Sequence[int]) -> Row:
    first, last, told = run[0]["budget"], run[-1]["budget"], run[0]
    where = f"at {first}"
    if first != last:
        where = f"from {first}" if last == scored[-1] else f"at {first} to {last}"
        where = where if len(run) < len(scored) else f"at all budgets, {first} to {last}"
    name = {"size": "views"} if told["of_views"] else {}
    causes = "+".join(filter(None, (told["largest"], told["tied"]))).split("+")
    causes = [name.get(cause, cause) for cause in causes]
    change = f"{_listed(causes)}{' equally' * (len(causes) > 1)} ({', '.join(_CHANGE.get(c, c) for c in causes)})"
    change = "nothing is lost" if told["verdict"] == NO_LOSS else change
    change = "nothing can be kept (the optimum is 0)" if told["verdict"] == _UNDEFINED else change
    if told["verdict"] == UNDECIDED:
        between = ["no loss" if cause == NO_LOSS else name.get(cause, cause) for cause in _between(told)]
        change = f"undecided between {_listed(between)}" if between[1:] else f"undecided ({between[0]} as judged)"
    own = {c: told[c] for c in ("rule", "labels", *_SAME)}
    ends = {"first_budget": first, "last_budget": last, "budgets": len(run)}
    return own | ends | {"text": f"{where}: {change}"}


def most_lost_rows(scores: Sequence[Row], lost: Sequence[Row]) -> Iterator[Row]:
    """Rows of store_most_lost: of the diagnosed rule, the most worth first, then by example and unit."""
    shown = diagnosed({r["rule"] for r in scores})
    for part in _grouped([r for r in lost if r["rule"] == shown], *_POINT).values():
        ordered = sorted(part, key=lambda r: (-r["lost"], r["package_id"], r["unit_id"]))
        yield from (row | {"rank": rank} for rank, row in enumerate(ordered[:_MOST_LOST], 1))


# ---- without a budget


def unit_rows(
    stores: Mapping[str, Sequence[MemoryRow]],
    units: Sequence[Row],
    covered: Mapping[str, Mapping[str, Sequence[float]]],
    plan: StorePlan,
) -> Iterator[Row]:
    """Rows of store_units. units: rows of table `units`; covered: example -> unit -> coverage by each memory."""
    for unit in units:
        package_id = unit["package_id"]
        if unit["weight"] <= 0 or package_id not in stores or (plan.skip_empty and not stores[package_id]):
            continue
        yield {
            "labels": plan.labels,
            "demonstration": plan.demonstration,
            "package_id": package_id,
            "unit_id": unit["unit_id"],
            "role": unit["role"],
            "kind": unit["kind"],
            "unit_text": unit["text"],
            "weight": unit["weight"],
            "covered": min(1.0, math.fsum(covered[package_id].get(unit["unit_id"], ()))),
        }


# ---- anatomy


def anatomy_rows(
    stores: Mapping[str, Sequence[MemoryRow]],
    ingest: Sequence[Row],
    covered: Mapping[str, Mapping[str, Sequence[float]]],
    invalidation: Mapping[str, Sequence[str]],
    budgets: Mapping[str, Sequence[int]],
    plan: StorePlan,
) -> Iterator[Row]:
    """Rows of store_anatomy. stores: of every example that has one; covered: example -> unit -> coverage by each
    memory; invalidation: example -> invalidation units; budgets: by cost model."""
    memories = [memory for own in stores.values() for memory in own]
    views = {i: _grouped_by(own, lambda memory: memory.memory_id) for i, own in stores.items()}
    parts: list[tuple[str, str, str, float | None, str | None]] = []

    def add(what: str, values: Mapping[str, float | None], cost_model: str = "", detail: str | None = None) -> None:
        parts.extend((what, name, cost_model, value, detail) for name, value in values.items())

    add("memories per example", _spread([len(own) for own in views.values()]))
    empty = sorted(i for i, own in stores.items() if not own)
    add("examples", {"with a store": len(stores)})
    add("examples", {"with an empty store": len(empty)}, detail=_first_three(empty))
    for (what, name), rows in _grouped(ingest, "what", "name").items():
        count = sum(row["count"] for row in rows)
        if what == "format":
            add(what, {name: 1})
        elif what in ("count", "judge"):
            add({"count": "rows"}.get(what, what), {name: count})
        elif what in ("skipped", "warning", "partial", "labels", "package"):
            where = sorted(row["instance_id"] for row in rows)
            one = ": ".join(filter(None, (where[0], rows[0]["detail"]))) or None
            add(
                {"package": "examples"}.get(what, what), {name: count}, detail=_first_three(where) if where[1:] else one
            )
    tombstones = {(i, m.memory_id) for i, own in stores.items() for m in own if m.representation_type == "tombstone"}
    add("memories", {"in all": sum(map(len, views.values())), "tombstones": len(tombstones)})
    add("texts", {"in all": len(memories)})
    add("representation", Counter(memory.representation_type for memory in memories))
    add("view", Counter(memory.view for memory in memories if memory.view))
    shares = [min(1.0, math.fsum(covered[i].get(u, ()))) for i in stores for u in invalidation[i]]
    add("validity coverage", {"invalidation units": len(shares), "covered by the whole store": math.fsum(shares)})
    for cost_model, amounts in budgets.items():
        definition = plan.memory_costs[cost_model]
        add("cost of a text", _spread([measure(definition, memory.measured) for memory in memories]), cost_model)
        least = [_least(texts, definition) for own in views.values() for texts in own.values()]
        groups = [_grouped_by(own, lambda memory: memory.group) for own in stores.values()]
        whole = [sum(_least(texts, definition) for texts in own.values()) for own in groups]
        for b in amounts:
            if least:
                add("share of memories that fit", {f"B = {b}": sum(c <= b for c in least) / len(least)}, cost_model)
            add("share of stores that fit", {f"B = {b}": sum(c <= b for c in whole) / len(whole)}, cost_model)
    for what, name, cost_model, value, detail in parts:
        row = {"labels": plan.labels, "cost_model": cost_model, "what": what, "name": name, "value": value}
        yield row | {"detail": detail}


def _grouped_by(memories: Sequence[MemoryRow], key: Callable[[MemoryRow], str]) -> dict[str, list[MemoryRow]]:
    found: dict[str, list[MemoryRow]] = defaultdict(list)
    for memory in memories:
        found[key(memory)].append(memory)
    return found


def _least(texts: Sequence[MemoryRow], definition: str | Mapping[str, float]) -> int:
    return min(measure(definition, text.measured) for text in texts)


def _first_three(ids: Sequence[str]) -> str | None:
    if not ids:
        return None
    return ", ".join(ids[:3]) + (f" and {len(ids) - 3} more" if len(ids) > 3 else "")


def _spread(values: Sequence[int]) -> dict[str, float]:
    if not values:
        return {}
    median = float(np.median(values))
    return {"least": min(values), "median": median, "mean": mean_of(values), "largest": max(values)}
