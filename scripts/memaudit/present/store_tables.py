"""The tables of suites with exported stores. Stores stand in the order of the configuration, never by their results."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence

import pandas as pd

from ..analysis.store_summary import MIN_EXAMPLES, UNDEFINED, VIEWS, called, undecided_between
from ..stores.judge_verdict import DRAWS, MIN_KAPPA, MIN_SHARE, UNDECIDED
from ..stores.labels import UNLABELLED
from ..stores.pruning import CALLED
from . import style
from .quoting import shortened
from .registry import table
from .results import Results, RunInfo, Setting, StoreInfo, SuiteInfo
from .tables import MISSING, Document, Section

_FRAME = "store_summary"
# An interval of fewer than MIN_EXAMPLES says little, whatever its width: it is not shown (the data have it, with n).
_CI = f"[low, high]: 95 % percentile bootstrap interval of the mean; not shown of fewer than {MIN_EXAMPLES} examples."
_UNION = (
    "Package ratio: F / OPT of the package (above 1 where memories cover what no candidate does). Union ratio: F / OPT "
    "of the package and the store's memories together, which is another denominator for every store."
)
_JOINT = "Joint ratio: F / OPT of the package and the memories of all compared stores: one denominator for all of them."
_COUNTS = (
    "F: the mean value of what was kept, over all examples that count. OPT: the value of the optimum. Undefined "
    "(package / union): examples without a ratio as that OPT is 0. Empty: examples whose store is empty; they count as "
    "0."
)
_ALL_OR_NOTHING = "All or nothing: the whole store where it fits within B, else nothing."
_VERDICT = (
    f"Verdict: of the {DRAWS} draws of labels from what the judge is known to confuse, the share under which the same "
    f"mean loss is the largest; undecided below {100 * MIN_SHARE:.0f} %, where the judge's kappa (the lower of its "
    f"two) is below {MIN_KAPPA}, or where the draws lean: their mean losses, or a step as long the other way, put "
    "another one ahead. Undecided between two: the loss that is the largest as judged, and the one that these draws "
    "put in its place. A draw whose largest losses tie agrees only with a verdict that is the same tie. On stores with "
    "labels the draws found too much missing (docs/stores.md, Calibration). All this is about what the memories cover, "
    "not about other examples."
)
_STALE = (
    "(stale x): the part of the loss in invalidation units, which say that something no longer holds, by the "
    "selections reported; at most the loss, which is less where other units are gained in exchange."
)
_OF_VIEWS = (
    "Views: a loss to size where all that may be kept at once fits within B. The whole store counts every view of a "
    "memory; a selection has at most k of each, whatever the budget."
)
_LOSS_CI = (
    "[low, high]: 95 % percentile bootstrap interval of the mean loss over examples: how far it would differ on others "
    f"like these, by the same labels; not shown of fewer than {MIN_EXAMPLES} examples, nor of losses of 0."
)
LOSS_LABELS = {"missing": "Missing", "size": "Size", "selection": "Selection"}
RULE_LABELS = {rule: called[0].upper() + called[1:] for rule, called in CALLED.items()}
# Ratio -> the column with its number of examples.
_COUNTED = {"package_ratio": "package_n", "union_ratio": "n", "joint_ratio": "joint_n"}
# Units of a kind that are named in the line on what a whole store lacks, and rows a store of the table of them.
_NAMED_UNITS, _LISTED_UNITS = 5, 20
# How a memory is told of in store_most_lost, and characters of its text that are shown.
_DESCRIBED = re.compile(r'(.*?, cost \d+\)) "(.*)"')
_SHOWN_TEXT = 120


def has_stores(suite: SuiteInfo, run: RunInfo) -> bool:
    """Whether a suite has exported stores."""
    return _FRAME in suite.analyses


def has_judges(suite: SuiteInfo, run: RunInfo) -> bool:
    """Whether a judge says what the memories of an exported store of the suite cover."""
    return has_stores(suite, run) and any(store.judge for store in suite.stores)


def _has_costs(suite: SuiteInfo, run: RunInfo) -> bool:
    return has_stores(suite, run) and len({s.cost_model for s in suite.settings}) > 1


@table(has_stores, latex=True, of_stores=True)
def external_denominators(results: Results, suite: str) -> Document:
    """Raw F of every store and pruning rule, over the optimum of the package, of the union and of the joint union."""
    frame = results.natural(_FRAME, suite)
    sections = []
    ratios = {"Package ratio": "package_ratio", "Union ratio": "union_ratio", "Joint ratio": "joint_ratio"}
    compared = bool((frame["joint_n"] > 0).any())
    if not compared:
        del ratios["Joint ratio"]
    for heading, part in _by_store(results, suite, frame):
        rows = [
            (
                _rule(r),
                r.budget,
                " / ".join(f"{getattr(r, _COUNTED[name]):,}" for name in ratios.values()),
                _number(r.mean_value),
                *(_interval(r, name) for name in ratios.values()),
                f"{r.package_undefined_n} / {r.union_undefined_n}",
                r.empty_n,
            )
            for r in part.itertuples()
        ]
        heads = ["Kept by", "B", "n", "F", *ratios, "Undefined", "Empty"]
        sections.append(Section(heading, _text(heads, rows)))
    notes = [_UNION, _counted(ratios), _COUNTS, _CI, *([_JOINT] if compared else []), _ALL_OR_NOTHING]
    notes += _joint_notes(results, suite, frame)
    notes += [*_counts_notes(frame), *_unlabelled_notes(results, suite)]
    caption = _ratio_caption(results, suite, "Exported stores", frame, list(ratios.values()))
    return Document(caption, frame, tuple(sections), tuple(notes))


@table(has_stores, of_stores=True)
def store_diagnosis(results: Results, suite: str) -> Document:
    """What a store loses against the optimum of its union, and what to change."""
    frame = results.natural("store_diagnosis", suite)
    sections, exports = [], {}
    for heading, part in _by_store(results, suite, frame):
        judged = part["agreement"].notna().any()
        rows = [
            (
                _rule(r),
                r.budget,
                r.n,
                _number(r.mean_opt),
                _number(r.mean_selected),
                *(_with_stale(r, name) for name in LOSS_LABELS),
                _largest(r),
                *([_sure(r), _drawn(r)] if judged else []),
            )
            for r in part.itertuples()
        ]
        heads = ["Kept by", "B", "n", "OPT of the union", "F", *LOSS_LABELS.values(), "Largest loss"]
        heads += ["Verdict (draws that agree)", "Mean of the draws"] if judged else []
        sections.append(Section(heading, _text(heads, rows)))
        store = part["store"].iloc[0]
        told = [*_first_line(results, suite, part)]
        if store not in exports:
            exports[store] = _export_line(results, suite, store)
            told.append(("any", "Export", exports[store]))
        told += [("any", "Units", _unsaid_line(results, suite, store))]
        told += [
            (r.budget, label, getattr(r, name))
            for r in part[part["diagnosed"]].itertuples()
            for label, name in (("Verdict", "verdict_text"), *_advised(r))
        ]
        kept = f" (kept by: {CALLED[part[part['diagnosed']]['rule'].iloc[0]]})" if part["diagnosed"].any() else ""
        sections.append(Section(f"{heading}: what to change{kept}", _text(["B", "Loss", "Change"], told)))
    notes = (
        "Missing: what the whole store, without a budget, is worth less than OPT of the union; 0 in an example where "
        "it is worth more. Size: what its best subset within B is worth less than the whole store, or than that OPT "
        "if it is less. Selection: what was kept "
        "is worth less than the best subset. The three sum to OPT of the union - F. OPT of the union: the most that "
        "any choice within B out of the package's candidates and the store's memories is worth. F: what was kept is "
        "worth. Both in weight of the units covered. Means over examples with both optima proven.",
        "k: how many candidates of one group a choice may have (each memory is a group of its own). h: how a unit's "
        "worth grows with its coverage; under cap1 in proportion, up to its weight.",
        *([_OF_VIEWS] if len(frame) and frame["mean_size_fitting"].gt(0).any() else []),
        *([_STALE] if _has_stale(frame) else []),
        _LOSS_CI,
        "First: the largest loss, which is what to change first, by ranges of the budgets that were scored (between "
        "these nothing is known, nor above the largest).",
        *([_VERDICT] if frame["agreement"].notna().any() else []),
        *_strange_notes(results, suite),
        *_unproven_notes(frame),
        *_unlabelled_notes(results, suite),
    )
    caption = _caption(results, suite, "Diagnosis of exported stores", frame)
    return Document(caption, _told_of_stores(results, suite, frame), tuple(sections), notes)


@table(has_stores, of_stores=True)
def store_lost_units(results: Results, suite: str) -> Document:
    """The ten units of which a store loses most, and what the optimum keeps instead."""
    frame = results.natural("store_most_lost", suite)
    sections = []
    for heading, part in _by_store(results, suite, frame):
        kept = CALLED[part["rule"].iloc[0]]
        for budgets, units in _at_neighbours(part, _scored_budgets(results, suite, part)):
            sections.append(Section(f"{heading}, {_budgets_text(budgets)}, kept by: {kept}", units))
    notes = (
        "Lost: what the unit adds to F of the optimum of the union, less what it adds to F of what was kept; missing, "
        "size and selection are its parts (negative: that step gives the unit back). Example loses: OPT of the union "
        "- F. Where its units lose more than that, what was kept holds other units in exchange. Examples that lose "
        "nothing are left out. Where neighbouring budgets lose the same they have one table. Texts of memories are "
        "cut; the data have them whole.",
        *_unlabelled_notes(results, suite),
    )
    examples = f"n = {_count(frame['package_id'].nunique(), 'example')}"
    caption = f"Most valuable lost units; suite {suite}, {examples}.{_remarks(results, suite)}"
    return Document(caption, _told_of_stores(results, suite, frame), tuple(sections), notes)


def _scored_budgets(results: Results, suite: str, part: pd.DataFrame) -> list[int]:
    """All budgets of the store and setting that `part` is of, those at which nothing is lost too."""
    frame, here = results.natural(_FRAME, suite), part.iloc[0]
    for name in ("store", "cost_model", "k", "saturation"):
        frame = frame[frame[name] == here[name]]
    return sorted(set(frame["budget"]))


def _at_neighbours(part: pd.DataFrame, scored: Sequence[int]) -> list[tuple[list[int], pd.DataFrame]]:
    """Tables of lost units, each with the budgets at which it is the same: neighbours among all that were scored."""
    found: list[tuple[list[int], pd.DataFrame]] = []
    place = {budget: i for i, budget in enumerate(scored)}
    for budget, at in part.groupby("budget"):
        units = _lost_units(at)
        if found and place[found[-1][0][-1]] + 1 == place[budget] and found[-1][1].equals(units):
            found[-1][0].append(budget)
        else:
            found.append(([budget], units))
    return found


def _lost_units(at: pd.DataFrame) -> pd.DataFrame:
    heads = ["", "Example", "Unit", "Role", "Text", "Lost", *LOSS_LABELS.values(), "Example loses"]
    rows = [
        (r.rank, r.package_id, r.unit_id, style.prettify(r.role) or MISSING, _plain(r.unit_text),
         _number(r.lost), *(_number(getattr(r, name)) for name in LOSS_LABELS), _number(r.gap),
         "; ".join(map(_described, r.kept_instead.split("\n"))) or MISSING, _described(r.store_best))
        for r in at.itertuples()
    ]  # fmt: skip
    return _text([*heads, "The optimum keeps", "Best in the store"], rows)


def _described(told: str | None) -> str:
    """A memory with its cost and, where it has one, its text, cut to what it is known by (the data have it whole)."""
    named = _DESCRIBED.fullmatch(_plain(told))
    return f'{named[1]} "{shortened(named[2], _SHOWN_TEXT)}"' if named else _plain(told)


def _budgets_text(budgets: Sequence[int]) -> str:
    return f"B = {budgets[0]}" + (f" to {budgets[-1]} ({len(budgets)} budgets)" if len(budgets) > 1 else "")


@table(has_stores, of_stores=True)
def store_units(results: Results, suite: str) -> Document:
    """The units that count of which the memories of a store say nothing, or a part only, whatever the budget."""
    frame = results.natural("store_units", suite)
    sections = []
    for store in results.info.suite(suite).stores:
        own = frame[frame["store"] == store.name]
        rows = [
            (r.package_id, r.unit_id, style.prettify(r.role) or MISSING, _number(r.weight), _number(r.covered),
             _number(r.lacks), _plain(r.unit_text))
            for r in _lacking(own).head(_LISTED_UNITS).itertuples()
        ]  # fmt: skip
        heads = ["Example", "Unit", "Role", "Weight", "Covered", "Lacks", "Text"]
        sections.append(Section(f"{_heading(store)}, {_said_count(own)}", _text(heads, rows)))
    notes = (
        "Units of weight above 0 that all memories together, whatever the budget, do not cover in full. Covered: by "
        "the whole store, at most 1. Lacks: of the weight, what is not covered, by which they stand in order; the "
        f"first {_LISTED_UNITS} a store (the data have all units that count).",
        *_unlabelled_notes(results, suite),
    )
    examples = f"n = {_count(frame['package_id'].nunique(), 'example')}"
    caption = f"What a whole store does not say, or says in part; suite {suite}, {examples}.{_remarks(results, suite)}"
    return Document(caption, frame, tuple(sections), notes)


def _lacking(own: pd.DataFrame) -> pd.DataFrame:
    """The units of one store (rows of store_units) that are not covered in full, with column `lacks`: how much of the
    weight is not; that is most first."""
    lacking = own[own["covered"] < 1].assign(lacks=lambda rows: rows["weight"] * (1 - rows["covered"]))
    order = {"lacks": False, "package_id": True, "unit_id": True}
    return lacking.sort_values(list(order), ascending=list(order.values()))


def _said_count(own: pd.DataFrame, named: Callable[[pd.DataFrame], str] = lambda units: "") -> str:
    """How many of the units that count a whole store says in full, in part and not at all; named: rows -> what to add
    on which they are."""
    lacking = _lacking(own)
    unsaid, partly = (lacking[found] for found in (lacking["covered"] == 0, lacking["covered"] > 0))
    told = [f"{len(partly):,} in part only{named(partly)}"] if len(partly) else []
    if not len(unsaid):
        return f"all {len(own):,} units that count are said" + (f", {told[0]}" if told else " in full")
    weights = f"{_number(unsaid['weight'].sum())} of {_number(own['weight'].sum())} of the weight"
    are = "are" if len(unsaid) > 1 else "is"
    none = f"of the {len(own):,} units that count {len(unsaid):,} {are} said by no memory ({weights}){named(unsaid)}"
    return "; ".join([none, *told])


def _advised(row) -> Iterator[tuple[str, str]]:
    """(label, column) of the advice on what is lost; that nothing is lost stands in the table above."""
    yield from ((_loss_label(row, n), f"{n}_advice") for n in LOSS_LABELS if getattr(row, f"mean_{n}"))


def _first_line(results: Results, suite: str, part: pd.DataFrame) -> Iterator[tuple[str, str, str]]:
    """What to change first over all budgets, in the setting of `part` (rows of store_diagnosis)."""
    frame = results.natural("store_ranges", suite)
    here = part.iloc[0]
    for name in ("store", "cost_model", "k", "saturation"):
        frame = frame[frame[name] == here[name]]
    if len(frame):
        line = "; ".join(frame.sort_values("first_budget")["text"])
        few = " So few examples say nothing about others." if part["n"].max() < MIN_EXAMPLES else ""
        yield "all", "First", _said(results, suite, here["store"], f"{line}.{few}")


# What is told of an export, as rows of store_anatomy: (what, name; None: any) -> how, by value and name.
_ODD = {
    ("examples", "with an empty store"): "{n} empty",
    ("examples", "store of no example"): "{n} of no example",
    ("skipped", None): "{n} rows skipped, {name}",
    ("partial", None): "partial, {name}",
    ("warning", None): "{name}, {n}",
    ("labels", None): "{n} {name}",
}


def _export_line(results: Results, suite: str, store: str) -> str:
    """What is odd in the export of a store, each with where; a diagnosis is no better than its export."""
    frame = results.natural("store_anatomy", suite)
    own = frame[frame["store"] == store]
    held = int(own[own["what"].eq("examples") & own["name"].eq("with a store")]["value"].sum())
    odd = []
    for (what, name), form in _ODD.items():
        rows = own[own["what"].eq(what) & (own["name"].eq(name) if name else True) & own["value"].gt(0)]
        for r in rows.itertuples():
            where = "" if pd.isna(r.detail) else f" ({_plain(r.detail)})"
            odd.append(form.format(n=f"{r.value:,.0f}", name=r.name) + where)
    return f"The export: {_count(held, 'store')} of scored examples; {'; '.join(odd) or 'nothing odd'}."


def _unsaid_line(results: Results, suite: str, store: str) -> str:
    """What a store lacks whatever the budget, with the units that it lacks most of."""
    frame = results.natural("store_units", suite)
    own = frame[frame["store"] == store]
    listed = " (table store_units)" if len(_lacking(own)) else ""
    return _said(results, suite, store, f"{_said_count(own, _named_units)}{listed}.")


def _named_units(units: pd.DataFrame) -> str:
    named = [_unit_name(r.package_id, r.unit_id) for r in units.head(_NAMED_UNITS).itertuples()]
    more = f" and {len(units) - len(named):,} more" if len(units) > len(named) else ""
    return f": {', '.join(named)}{more}"


def _unit_name(package_id: str, unit_id: str) -> str:
    """The id of a unit, with its example where that is not in it."""
    return unit_id if package_id in unit_id else f"{package_id} {unit_id}"


def _said(results: Results, suite: str, store: str, text: str) -> str:
    """The text as a sentence, which begins with whose word it is where that is a judge's."""
    judged = next((f"By the {s.judge}: " for s in results.info.suite(suite).stores if s.name == store and s.judge), "")
    return f"{judged}{text}" if judged else text[0].upper() + text[1:]


@table(has_stores, of_stores=True)
def store_anatomy(results: Results, suite: str) -> Document:
    """What the stores hold: number and sizes of memories, duplicates, kinds, what fits, invalidation units covered."""
    frame = results.natural("store_anatomy", suite)
    sections = []
    for store in results.info.suite(suite).stores:
        part = frame[frame["store"] == store.name]
        rows = [
            (style.prettify(r.what), r.name, r.cost_model or MISSING, _share(r), _plain(r.detail))
            for r in sorted(part.itertuples(), key=lambda r: (r.cost_model, r.what, *_by_budget(r.name)))
        ]  # fmt: skip
        sections.append(Section(_heading(store), _text(["What", "Which", "Cost model", "Value", "Where"], rows)))
    stores = len(results.info.suite(suite).stores)
    caption = f"Anatomy of exported stores; suite {suite}, n = {_count(stores, 'store')}.{_remarks(results, suite)}"
    notes = (
        "Rows: of the export, duplicates are memories whose text an earlier one has.",
        "Memories: one in several views counts once, with a text a view. Representation, view and costs: of texts. "
        "What fits: a memory by its cheapest text, a store by the cheapest text of each memory (k = 1).",
    )
    return Document(caption, _told_of_stores(results, suite, frame), tuple(sections), notes)


@table(_has_costs, of_stores=True)
def store_costs(results: Results, suite: str) -> Document:
    """Union and package ratios under every cost model, at the same budget as written."""
    frame = results.natural(_FRAME, suite)
    sections = []
    for store in results.info.suite(suite).stores:
        part = frame[frame["store"] == store.name]
        for (k, saturation), own in part.groupby(["k", "saturation"]):
            models = [s.cost_model for s in _settings(results, suite) if (s.k, s.saturation) == (k, saturation)]
            models = [m for m in models if m in set(own["cost_model"])]
            cells = {(r.view, r.rule, r.budget_spec, r.cost_model): _two(r) for r in own.itertuples()}
            keys = dict.fromkeys(
                (r.view, r.rule, r.budget_spec) for r in own.sort_values("budget", kind="stable").itertuples()
            )
            rows = [
                (_label(view, rule), spec, *(cells.get((view, rule, spec, m), MISSING) for m in models))
                for view, rule, spec in keys
            ]
            costs = own.drop_duplicates("cost_model").set_index("cost_model")["memory_cost"]
            heads = [m if costs[m] == m else f"{m}, memories {costs[m]}" for m in models]
            sections.append(Section(_heading(store, k, saturation), _text(["Kept by", "Budget", *heads], rows)))
    notes = [
        "Union ratio (package ratio). Budgets as written: a fraction is one of each cost model's own mean cost.",
        "n = union (package): over how many examples the means are, where these are not all that have a store; in the "
        "others that optimum is 0, or not proven. Means over different examples do not compare.",
        _ALL_OR_NOTHING,
    ]
    if (frame["memory_cost"] != frame["cost_model"]).any():
        notes.append(_MIXED)
    caption = _ratio_caption(results, suite, "Exported stores by cost model", frame, ["union_ratio", "package_ratio"])
    return Document(caption, frame, tuple(sections), tuple(notes))


_MIXED = (
    "declared, memories words: the paper's mixed setting. Declared costs are clipped by type, and memories pay all "
    "their words, so its ratios mean something else than those with one cost model on both sides."
)


@table(has_judges, of_stores=True)
def store_judges(results: Results, suite: str) -> Document:
    """What the judges of coverage are worth: kappa with its interval, and what they confuse, on their test split."""
    frame = results.natural("store_judges", suite)
    sections = []
    for (judge, kind), part in frame.groupby(["judge", "kind"], sort=True):
        stores = list(dict.fromkeys(part["store"]))
        one = part[part["store"] == stores[0]]
        numbers = {r.what: r.value for r in one.itertuples() if not r.label}
        heading = f"{judge.capitalize()} ({kind}), of {', '.join(stores)}"
        sections.append(Section(heading, _text(["Quality", "Value"], list(_quality(numbers)))))
        for what, title, form in _CONFUSIONS:
            cells = {(r.label, r.judged): r.value for r in one[one["what"] == what].itertuples()}
            labels, judged = (list(dict.fromkeys(key[i] for key in cells)) for i in (0, 1))
            rows = [(label, *(form.format(cells[label, j]) for j in judged)) for label in labels]
            sections.append(Section(f"{judge.capitalize()}: {title}", _text(["Label", *map(_judged_as, judged)], rows)))
    notes = (
        "Binary kappa (label at least 0.5) on the judge's test split, with a 95 % percentile bootstrap interval by "
        "example. The audit frame holds all cells that a first labeller found covered and a sample of the others; 'of "
        "all cells' counts each for as many as it stands for.",
        "Draws of labels follow the last table: each cell gets a true label by the column of what it was judged.",
    )
    stores = _count(frame["store"].nunique(), "store")
    caption = f"Judges of coverage; suite {suite}, n = {stores}.{_remarks(results, suite)}"
    return Document(caption, frame, tuple(sections), notes)


_CONFUSIONS = (
    ("confusion", "cells of the audit frame", "{:,.0f}"),
    ("confusion_all_cells", "as many as they stand for", "{:,.0f}"),
    ("true_given_judged", "share of what was judged that has the label", "{:.3f}"),
)


def _judged_as(name: str) -> str:
    return f"judged {name}"


def _quality(numbers: dict[str, float]) -> Iterator[tuple[str, str]]:
    for what, name in (("kappa", "Kappa"), ("kappa_all_cells", "Kappa of all cells")):
        yield name, kappa_text(numbers, what)
    for what in ("test_examples", "test_cells", "train_examples", "train_cells"):
        if what in numbers:
            yield style.prettify(what), f"{numbers[what]:,.0f}"


def kappa_text(numbers: dict[str, float], what: str = "kappa") -> str:
    """A kappa of a judge with its interval, where it has one; `numbers`: column value of store_judges by what."""
    ends = [numbers[f"{what}_{end}"] for end in ("low", "high") if f"{what}_{end}" in numbers]
    return f"{numbers[what]:.2f}" + (f" [{ends[0]:.2f}, {ends[1]:.2f}]" if len(ends) == 2 else "")


# ---- Shared parts


def _settings(results: Results, suite: str) -> tuple[Setting, ...]:
    return results.info.suite(suite).settings


def _by_store(results: Results, suite: str, frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """(heading, rows) of every store and setting that has rows, in the order of the configuration."""
    for store in results.info.suite(suite).stores:
        for s in _settings(results, suite):
            own = frame["store"].eq(store.name) & frame["cost_model"].eq(s.cost_model)
            part = frame[own & frame["k"].eq(s.k) & frame["saturation"].eq(s.saturation)]
            if len(part):
                yield f"{_heading(store)}, {cost_text(s.cost_model, part)}, k = {s.k}, h = {s.saturation}", part


def cost_text(cost_model: str, part: pd.DataFrame) -> str:
    """How both sides cost, of rows with a column memory_cost (or without one)."""
    own = cost_model if "memory_cost" not in part else part["memory_cost"].iloc[0]
    return f"{cost_model} costs" if own == cost_model else f"{cost_model} costs (memories: {own})"


def _heading(store: StoreInfo, k: int = 1, saturation: str = "cap1") -> str:
    judged = f", coverage by {store.judge}" if store.judge else ""
    shown = ", demonstration" if store.demonstration else ""
    setting = "" if (k, saturation) == (1, "cap1") else f", k = {k}, h = {saturation}"
    return f"Store {store.name}{shown}{judged}{setting}"


def demonstrations(results: Results, suite: str) -> str:
    """The sentence on the stores that show no system; empty where there are none."""
    names = [s.name for s in results.info.suite(suite).stores if s.demonstration]
    if not names:
        return ""
    are = "are demonstrations" if len(names) > 1 else "is a demonstration"
    told = "a scripted model wrote the memories, which say nothing of how a system performs"
    who = _named(results, suite, names).replace(ALL, ALL.capitalize())
    return f"{who} {are}: {told}{' and are not to be compared' if len(names) > 1 else ''}."


def judgements(results: Results, suite: str) -> str:
    """The sentence on the stores whose coverage nobody labelled, with the judge's kappa; empty where there are none."""
    frame = results.natural("store_judges", suite)
    of: dict[str, list[str]] = {}
    for store in results.info.suite(suite).stores:
        if store.judge:
            of.setdefault(store.judge, []).append(store.name)
    told = []
    for judge, stores in of.items():
        rows = frame[(frame["judge"] == judge) & frame["label"].eq("")].drop_duplicates("what")
        numbers = dict(zip(rows["what"], rows["value"], strict=True))
        kappas = f"kappa {kappa_text(numbers)}, of all cells {kappa_text(numbers, 'kappa_all_cells')}"
        told.append(f"Coverage of {_named(results, suite, stores)} is judged by the {judge}, not labelled ({kappas}).")
    return " ".join(told)


ALL = "all stores"


def _named(results: Results, suite: str, stores: list[str]) -> str:
    """The stores by name, or in one word where they are more than two and all of the suite."""
    every = len(stores) == len(results.info.suite(suite).stores) > 2
    return ALL if every else ", ".join(stores)


def _remarks(results: Results, suite: str) -> str:
    """What every caption says of demonstrations and judges."""
    return "".join(f" {text}" for text in (demonstrations(results, suite), judgements(results, suite)) if text)


def _caption(results: Results, suite: str, what: str, frame: pd.DataFrame) -> str:
    return f"{what}; suite {suite}, n = {_span(frame[['n']])} a row.{_remarks(results, suite)}"


def _ratio_caption(results: Results, suite: str, what: str, frame: pd.DataFrame, ratios: Sequence[str]) -> str:
    """The caption of a table of mean ratios: each is over the examples that have one."""
    n, held = _span(frame[[_COUNTED[name] for name in ratios]]), _span(frame[["examples"]])
    return f"{what}; suite {suite}, n = {n} a ratio, of {held} with a store.{_remarks(results, suite)}"


def _span(counts: pd.DataFrame) -> str:
    """The least and the largest of the counts, in words."""
    low, high = (int(counts.min(axis=None)), int(counts.max(axis=None))) if len(counts) else (0, 0)
    return _count(low, "example") if low == high else f"{low:,} to {_count(high, 'example')}"


def _counted(ratios: Sequence[str]) -> str:
    named = " / ".join(name.split()[0].lower() for name in ratios)
    return (
        f"n ({named}): the examples that have that ratio, and over which its mean is. Means over different examples do "
        "not compare."
    )


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}" + ("s" if n != 1 else "")


def _joint_notes(results: Results, suite: str, frame: pd.DataFrame) -> Iterator[str]:
    """That joint ratios rest on a judge where one of the compared stores does."""
    compared = set(frame["store"][frame["joint_n"] > 0])
    judged = [s.name for s in results.info.suite(suite).stores if s.judge and s.name in compared]
    if judged:
        yield f"Every joint ratio rests on a judge's word too: {', '.join(judged)} is in the joint union."


def _counts_notes(frame: pd.DataFrame) -> Iterator[str]:
    per_store = frame.groupby("store")
    for column, text in (
        ("without_n", "Scored examples without a store, left out"),
        ("left_out_n", "Examples with an empty store, left out"),
    ):
        found = ", ".join(f"{count:,} of {store}" for store, count in per_store[column].max().items() if count)
        if found:
            yield f"{text}: {found}."
    unproven = int(frame["union_unproven_n"].max())
    if unproven:
        yield f"Up to {unproven:,} examples a row have no union ratio as an optimum is not proven."


# An export of which a larger share of the memories covers nothing may be of somebody else.
_STRANGE_SHARE = 0.9


def _strange_notes(results: Results, suite: str) -> Iterator[str]:
    """Whether an export that was judged seems to be about something else."""
    frame = results.natural("store_anatomy", suite)
    counts = frame[frame["what"] == "judge"].set_index(["store", "name"])["value"]
    for store in results.info.suite(suite).stores:
        held, nothing = (counts.get((store.name, name), 0) for name in ("memories", "memories that cover nothing"))
        if held and nothing > _STRANGE_SHARE * held:
            yield (
                f"{nothing:,.0f} of the {held:,.0f} memories of {store.name} say nothing of what their examples are "
                f"about, by the {store.judge}: is it the export of these conversations?"
            )


def _told_of_stores(results: Results, suite: str, frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with what is declared of each store, and the kappa (the lower of two) of its judge, as last columns;
    those that it has already stay."""
    judges = results.natural("store_judges", suite)
    kappas = judges[judges["what"].isin(["kappa", "kappa_all_cells"]) & judges["label"].eq("")]
    lower = kappas.groupby("store")["value"].min()
    shown = {store.name: store.demonstration for store in results.info.suite(suite).stores}
    told = {"demonstration": frame["store"].map(shown).astype(bool), "kappa": frame["store"].map(lower).astype(float)}
    return frame.assign(**{name: column for name, column in told.items() if name not in frame})


def _unproven_notes(frame: pd.DataFrame) -> Iterator[str]:
    most = int(frame["unproven_n"].max()) if len(frame) else 0
    if most:
        yield f"Up to {most:,} examples a row are left out: an optimum is not proven."


def _unlabelled_notes(results: Results, suite: str) -> Iterator[str]:
    """How many memories the labels of each store leave out."""
    frame = results.natural("store_anatomy", suite)
    rows = frame[frame["what"].eq("labels") & frame["name"].eq(UNLABELLED)].set_index("store")["value"]
    for store in results.info.suite(suite).stores:
        if store.name in rows.index:
            n = int(rows[store.name])
            memories = f"{n:,} memor{'y' if n == 1 else 'ies'}"
            yield f"Coverage of {memories} of {store.name} is unlabelled and counted 0."


def _rule(row) -> str:
    return _label(getattr(row, "view", ""), row.rule)


def _label(view: str, rule: str) -> str:
    return f"{RULE_LABELS[rule]} ({view} view)" if view else RULE_LABELS[rule]


def _with_stale(row, name: str) -> str:
    loss, stale = getattr(row, f"mean_{name}"), getattr(row, f"mean_{name}_invalidation")
    interval = ""
    if row.n >= MIN_EXAMPLES and loss:
        interval = f" [{', '.join(_number(getattr(row, f'mean_{name}_{end}')) for end in ('low', 'high'))}]"
    return _number(loss) + interval + (f" (stale {_number(stale)})" if stale else "")


def _has_stale(frame: pd.DataFrame) -> bool:
    return bool((frame[[f"mean_{name}_invalidation" for name in LOSS_LABELS]] != 0).any(axis=None))


def _largest(row) -> str:
    """The largest loss, or all that are equally large; none of an optimum of 0."""
    if row.verdict == UNDEFINED:
        return MISSING
    names = [_loss_label(row, name) for name in (row.largest, *filter(None, row.tied.split("+")))]
    return " and ".join([", ".join(names[:-1]), names[-1].lower()] if len(names) > 1 else names)


def _loss_label(row, name: str) -> str:
    return {**LOSS_LABELS, VIEWS: "Views"}.get(called(name, row._asdict()), "None")


def _drawn(row) -> str:
    """The mean losses of the draws, in the order of LOSS_LABELS."""
    return " / ".join(_number(getattr(row, f"drawn_{name}")) for name in LOSS_LABELS)


def _sure(row) -> str:
    if row.verdict == UNDEFINED:
        return "Undefined"
    share = f"{100 * row.agreement:.0f} %"
    if row.verdict != UNDECIDED:
        return f"{_largest(row)} ({share})"
    names = [_loss_label(row, name) for name in undecided_between(row._asdict())]
    between = f": {' or '.join(map(str.lower, names))}" if len(names) > 1 else ""
    return f"Undecided{between} ({share}{', draws lean' if row.leans else ''})"


def _by_budget(name: str) -> tuple[int, str]:
    """Sorts "B = 80" before "B = 160"."""
    digits = name.removeprefix("B = ")
    return (int(digits) if name != digits else 0), name


def _share(row) -> str:
    return f"{100 * row.value:.1f} %" if row.what.startswith("share") else f"{row.value:,.4g}"


def _two(row) -> str:
    counts = f", n = {row.n:,} ({row.package_n:,})" if {row.n, row.package_n} != {row.examples} else ""
    return f"{_number(row.union_ratio)} ({_number(row.package_ratio)}){counts}"


def _plain(text: str | None) -> str:
    return MISSING if text is None or text != text else " ".join(str(text).split())


def _text(heads: list[str], rows: list[tuple]) -> pd.DataFrame:
    texts = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    return pd.DataFrame(texts, columns=heads)


def _number(value: float | None) -> str:
    return MISSING if value is None or math.isnan(value) else f"{value:.3f}"


def _interval(row, name: str) -> str:
    mean, low, high = (getattr(row, f"{name}{part}") for part in ("", "_low", "_high"))
    if mean is None or math.isnan(mean) or getattr(row, _COUNTED[name]) < MIN_EXAMPLES:
        return _number(mean)
    return f"{_number(mean)} [{_number(low)}, {_number(high)}]"
