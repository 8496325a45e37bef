"""The tables of suites with exported stores. Stores stand in the order of the configuration, never by their results."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from . import style
from .registry import table
from .results import Results, RunInfo, Setting, StoreInfo, SuiteInfo
from .tables import MISSING, Document, Section

_FRAME = "store_summary"
_CI = "[low, high]: 95 % percentile bootstrap interval of the mean."
_UNION = (
    "Package ratio: F / OPT of the package (above 1 where memories cover what no candidate does). Union ratio: F / OPT "
    "of the package and the store's memories together. Joint ratio: F / OPT of the package and the memories of all "
    "compared stores; only this one has one denominator for all."
)
_COUNTS = "Undefined: examples without a ratio as that OPT is 0. Empty: examples whose store is empty; they count as 0."
LOSS_LABELS = {"missing": "Missing", "size": "Size", "selection": "Selection"}
RULE_LABELS = {
    "recency": "Newest first",
    "native_order": "Own retrieval order",
    "salience": "Salience",
    "upper_exact": "Best subset, exact",
    "upper_greedy": "Greedy upper rule (no bound)",
    "full_store": "Whole store",
}


def has_stores(suite: SuiteInfo, run: RunInfo) -> bool:
    """Whether a suite has exported stores."""
    return _FRAME in suite.analyses


def _has_costs(suite: SuiteInfo, run: RunInfo) -> bool:
    return has_stores(suite, run) and len({s.cost_model for s in suite.settings}) > 1


@table(has_stores, latex=True)
def external_denominators(results: Results, suite: str) -> Document:
    """Raw F of every store and pruning rule, over the optimum of the package, of the union and of the joint union."""
    frame = results.natural(_FRAME, suite)
    sections = []
    for heading, part in _by_store(results, suite, frame):
        rows = [
            (
                _rule(r),
                r.budget,
                r.n,
                _number(r.mean_value),
                _interval(r, "package_ratio"),
                _interval(r, "union_ratio"),
                _interval(r, "joint_ratio"),
                f"{r.package_undefined_n} / {r.union_undefined_n}",
                r.empty_n,
            )
            for r in part.itertuples()
        ]
        heads = ["Kept by", "B", "n", "F", "Package ratio", "Union ratio", "Joint ratio", "Undefined", "Empty"]
        sections.append(Section(heading, _text(heads, rows)))
    notes = [_UNION, f"{_COUNTS} Undefined: package / union.", _CI, *_counts_notes(frame)]
    return Document(_caption(results, suite, "Exported stores", frame), frame, tuple(sections), tuple(notes))


@table(has_stores)
def store_diagnosis(results: Results, suite: str) -> Document:
    """What a store loses against the optimum of its union, and what to change."""
    frame = results.natural("store_diagnosis", suite)
    sections = []
    for heading, part in _by_store(results, suite, frame):
        rows = [
            (
                _rule(r),
                r.budget,
                r.n,
                _number(r.mean_opt),
                _number(r.mean_selected),
                *(_with_stale(r, name) for name in LOSS_LABELS),
                LOSS_LABELS.get(r.verdict, "None"),
            )
            for r in part.itertuples()
        ]
        heads = ["Kept by", "B", "n", "OPT of the union", "F", *LOSS_LABELS.values(), "Largest loss"]
        sections.append(Section(heading, _text(heads, rows)))
        told = [
            (r.budget, label, getattr(r, f"{name}_advice"))
            for r in part[part["diagnosed"]].itertuples()
            for name, label in LOSS_LABELS.items()
        ]
        if told:
            rule = RULE_LABELS[part[part["diagnosed"]]["rule"].iloc[0]].lower()
            sections.append(
                Section(f"{heading}: what to change (kept by: {rule})", _text(["B", "Loss", "Change"], told))
            )
    notes = (
        "Missing: in no memory. Size: in the store, but not in its best subset within B. Selection: in the best "
        "subset, and not in what was kept. The three sum to OPT of the union - F. Means over examples with both optima "
        "proven.",
        "(stale x): the part in invalidation units, which say that something no longer holds, by the selections "
        "reported; it is negative where the optimum gives such a unit up for something worth more.",
        *_unproven_notes(frame),
    )
    return Document(_caption(results, suite, "Diagnosis of exported stores", frame), frame, tuple(sections), notes)


@table(has_stores)
def store_lost_units(results: Results, suite: str) -> Document:
    """The ten units of which a store loses most, and what the optimum keeps instead."""
    frame = results.natural("store_most_lost", suite)
    sections = []
    for heading, part in _by_store(results, suite, frame):
        for budget, at in part.groupby("budget"):
            rows = [
                (r.rank, r.package_id, r.unit_id, style.prettify(r.role) or MISSING, _plain(r.unit_text),
                 _number(r.lost), LOSS_LABELS[r.loss], r.kept_instead or MISSING, _plain(r.store_best))
                for r in at.itertuples()
            ]  # fmt: skip
            heads = ["", "Example", "Unit", "Role", "Text", "Lost", "Loss", "The optimum keeps", "Best in the store"]
            sections.append(Section(f"{heading}, B = {budget}", _text(heads, rows)))
    notes = ("Lost: what the unit adds to F of the optimum of the union, less what it adds to F of what was kept.",)
    examples = f"n = {frame['package_id'].nunique():,} examples"
    caption = f"Most valuable lost units; suite {suite}, {examples}.{_of_demonstrations(results, suite)}"
    return Document(caption, frame, tuple(sections), notes)


@table(has_stores)
def store_anatomy(results: Results, suite: str) -> Document:
    """What the stores hold: number and sizes of memories, duplicates, kinds, what fits, invalidation units covered."""
    frame = results.natural("store_anatomy", suite)
    sections = []
    for store in results.info.suite(suite).stores:
        part = frame[frame["store"] == store.name]
        rows = [
            (style.prettify(r.what), r.name, r.cost_model or MISSING, _share(r))
            for r in part.itertuples()
        ]  # fmt: skip
        sections.append(Section(_heading(store), _text(["What", "Which", "Cost model", "Value"], rows)))
    stores = len(results.info.suite(suite).stores)
    caption = f"Anatomy of exported stores; suite {suite}, n = {stores} stores.{_of_demonstrations(results, suite)}"
    notes = ("Rows: of the export, duplicates are memories whose text an earlier one has. Costs: of memories.",)
    return Document(caption, frame, tuple(sections), notes)


@table(_has_costs)
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
            keys = dict.fromkeys((r.view, r.rule, r.budget_spec) for r in own.sort_values("budget").itertuples())
            rows = [
                (_label(view, rule), spec, *(cells.get((view, rule, spec, m), MISSING) for m in models))
                for view, rule, spec in keys
            ]
            costs = own.drop_duplicates("cost_model").set_index("cost_model")["memory_cost"]
            heads = [m if costs[m] == m else f"{m}, memories {costs[m]}" for m in models]
            sections.append(Section(_heading(store, k, saturation), _text(["Kept by", "Budget", *heads], rows)))
    notes = (
        "Union ratio (package ratio). Budgets as written: a fraction is one of each cost model's own mean cost.",
        "declared, memories words: the paper's mixed setting. Declared costs are clipped by type, and memories pay all "
        "their words, so its ratios mean something else than those with one cost model on both sides.",
    )
    caption = _caption(results, suite, "Exported stores by cost model", frame)
    return Document(caption, frame, tuple(sections), notes)


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
    return f"{', '.join(names)} {are}: a scripted model wrote the memories, which say nothing of how a system performs."


def _of_demonstrations(results: Results, suite: str) -> str:
    text = demonstrations(results, suite)
    return f" {text}" if text else ""


def _caption(results: Results, suite: str, what: str, frame: pd.DataFrame) -> str:
    counts = frame["examples"] if "examples" in frame else frame["n"]
    low, high = int(counts.min()), int(counts.max())
    n = f"n = {low:,}" if low == high else f"n = {low:,} to {high:,}"
    return f"{what}; suite {suite}, {n} examples a row.{_of_demonstrations(results, suite)}"


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


def _unproven_notes(frame: pd.DataFrame) -> Iterator[str]:
    most = int(frame["unproven_n"].max())
    if most:
        yield f"Up to {most:,} examples a row are left out: an optimum is not proven."


def _rule(row) -> str:
    return _label(getattr(row, "view", ""), row.rule)


def _label(view: str, rule: str) -> str:
    return f"{RULE_LABELS[rule]} ({view} view)" if view else RULE_LABELS[rule]


def _with_stale(row, name: str) -> str:
    loss, stale = getattr(row, f"mean_{name}"), getattr(row, f"mean_{name}_invalidation")
    return _number(loss) + (f" (stale {_number(stale)})" if stale else "")


def _share(row) -> str:
    return f"{100 * row.value:.1f} %" if row.what.startswith("share") else f"{row.value:,.4g}"


def _two(row) -> str:
    return f"{_number(row.union_ratio)} ({_number(row.package_ratio)})"


def _plain(text: str | None) -> str:
    return MISSING if text is None or text != text else " ".join(str(text).split())


def _text(heads: list[str], rows: list[tuple]) -> pd.DataFrame:
    texts = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    return pd.DataFrame(texts, columns=heads)


def _number(value: float | None) -> str:
    return MISSING if value is None or math.isnan(value) else f"{value:.3f}"


def _interval(row, name: str) -> str:
    mean, low, high = (getattr(row, f"{name}{part}") for part in ("", "_low", "_high"))
    return MISSING if mean is None or math.isnan(mean) else f"{_number(mean)} [{_number(low)}, {_number(high)}]"
