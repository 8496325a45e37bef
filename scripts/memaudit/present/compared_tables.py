"""The table of stores side by side, where a suite compares any; stores stand as configured, never by their results."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import pandas as pd

from ..analysis.store_summary import MIN_EXAMPLES
from ..stores.pruning import CALLED
from .registry import table
from .results import Results, RunInfo, SuiteInfo
from .store_tables import RULE_LABELS, judgements
from .tables import MISSING, Document, Section

_FRAME, _RANGES = "store_compared", "store_compared_ranges"
_SETTING = ["cost_model", "k", "saturation"]
_NOTES = (
    "Joint ratio: F / OPT of the package and the memories of all compared stores: one denominator for all of them.",
    "Every number of a row is over the same n examples: those of which each compared store has a store, with a joint "
    "ratio for each.",
    "A - B: mean of A's joint ratio less B's, example by example; above 0 where A keeps more. [low, high]: 95 % "
    "percentile bootstrap interval over examples, the same resamples in every row; not shown of fewer than "
    f"{MIN_EXAMPLES} examples.",
    "A store is said to keep more where the interval of the difference is beyond 0. Where none is shown the two may "
    "still differ. Each interval stands for itself: of many some are beyond 0 by chance.",
    "In words: the difference of the store that keeps more less the other; where none is shown, of the first less the "
    "second. Ranges hold at the budgets that were scored in them; of several the smallest and largest mean are told.",
)


def has_comparison(suite: SuiteInfo, run: RunInfo) -> bool:
    """Whether a suite compares exported stores."""
    return _FRAME in suite.analyses and bool(suite.compared)


@table(has_comparison, latex=True, of_stores=True)
def store_compared(results: Results, suite: str) -> Document:
    """Joint ratios of the compared stores over the same examples, their paired differences, and these in words."""
    names = results.info.suite(suite).compared
    frame, ranges = results.natural(_FRAME, suite), results.natural(_RANGES, suite)
    sections = []
    for setting in results.info.suite(suite).settings:
        part, told = (_at(f, setting) for f in (frame, ranges))
        if len(part):
            heading = f"{_costs(setting.cost_model, part, names)}, k = {setting.k}, h = {setting.saturation}"
            sections.append(Section(heading, _side_by_side(part, names)))
            sections.append(Section(f"{heading}: in words", _in_words(results, suite, told)))
    low, high = (int(frame["n"].min()), int(frame["n"].max())) if len(frame) else (0, 0)
    n = f"{high:,}" if low == high else f"{low:,} to {high:,}"
    caption = f"Stores compared: {', '.join(names)}; suite {suite}, n = {n} example{'s' * (n != '1')} a row."
    caption += f" {judgements(results, suite)}" if _judged(results, suite) else ""
    notes = (*_NOTES, *_left_out_notes(frame), *_judge_notes(results, suite))
    return Document(caption, _tidy(frame, ranges), tuple(sections), notes)


def _at(frame: pd.DataFrame, setting) -> pd.DataFrame:
    own = [frame[name].eq(getattr(setting, name)) for name in _SETTING]
    return frame[own[0] & own[1] & own[2]]


def _costs(cost_model: str, part: pd.DataFrame, names: tuple[str, ...]) -> str:
    """How packages cost, and memories where that is otherwise."""
    costs = {r.store: r.memory_cost for r in part.itertuples()}
    costs |= {r.other: r.other_memory_cost for r in part.itertuples()}
    if set(costs.values()) == {cost_model}:
        return f"{cost_model} costs"
    if len(set(costs.values())) == 1:
        return f"{cost_model} costs (memories: {next(iter(costs.values()))})"
    return f"{cost_model} costs (memories: {', '.join(f'{costs[n]} of {n}' for n in names if n in costs)})"


def _side_by_side(part: pd.DataFrame, names: tuple[str, ...]) -> pd.DataFrame:
    """A row for what is kept of each store and a budget: n, every store's mean, the difference of every two."""
    rows = []
    for (_, budget), at in part.groupby(["kept", "budget"], sort=True):
        pairs = {(r.store, r.other): r for r in at.itertuples()}
        means = {store: _interval(r, "ratio") for (store, _), r in pairs.items()}
        means |= {other: _interval(r, "other_ratio") for (_, other), r in pairs.items()}
        differences = (_interval(pairs[p], "difference") if p in pairs else MISSING for p in combinations(names, 2))
        n = f"{int(at['n'].iloc[0]):,}"
        rows.append((_kept(at, names), f"{budget:,}", n, *(means.get(name, MISSING) for name in names), *differences))
    heads = ["Kept by", "B", "n", *names, *(f"{a} - {b}" for a, b in combinations(names, 2))]
    return pd.DataFrame(rows, columns=heads)


def _kept(at: pd.DataFrame, names: tuple[str, ...]) -> str:
    """What is kept of the stores of some rows: by one rule, or by which rule of each."""
    rules = {r.store: r.rule for r in at.itertuples()} | {r.other: r.other_rule for r in at.itertuples()}
    if len(set(rules.values())) == 1:
        return RULE_LABELS[next(iter(rules.values()))]
    return "; ".join(f"{name}: {CALLED[rules[name]]}" for name in names if name in rules)


def _in_words(results: Results, suite: str, told: pd.DataFrame) -> pd.DataFrame:
    """A line for what is kept of a pair: what its ranges of budgets say, one after the other."""
    names = results.info.suite(suite).compared
    order = {pair: i for i, pair in enumerate(combinations(names, 2))}
    groups = sorted(told.groupby(["kept", "store", "other"]), key=lambda g: (g[0][0], order[g[0][1:]]))
    rows = []
    for (_, store, other), part in groups:
        line = "; ".join(part.sort_values("first_budget")["text"])
        rows.append((_kept(part, names), f"{store} and {other}", f"{_whose(results, suite)}{line}."))
    if not _judged(results, suite):
        rows = [(*row[:-1], row[-1][0].upper() + row[-1][1:]) for row in rows]
    return pd.DataFrame(rows, columns=["Kept by", "Stores", "Keeps more"])


def _judged(results: Results, suite: str) -> dict[str, str]:
    """Compared store -> its judge, of those that nobody labelled."""
    info = results.info.suite(suite)
    return {s.name: s.judge for s in info.stores if s.judge and s.name in info.compared}


def _whose(results: Results, suite: str) -> str:
    """How a sentence begins that rests on a judge's word."""
    judges = dict.fromkeys(_judged(results, suite).values())
    return f"By the {' and the '.join(judges)}: " if judges else ""


def _judge_notes(results: Results, suite: str) -> Iterator[str]:
    judged, names = _judged(results, suite), results.info.suite(suite).compared
    if judged:
        are = "are" if len(judged) > 1 else "is"
        yield (
            f"Every joint ratio rests on a judge's word: {', '.join(judged)} {are} in the joint union. Intervals are "
            "over examples and know nothing of the judge's errors."
        )
    if judged and len(judged) < len(names):
        labelled = ", ".join(name for name in names if name not in judged)
        yield (
            f"Labels say what {labelled} covers, a judge what {', '.join(judged)} does: a difference may be one of "
            "labels and judge."
        )


def _left_out_notes(frame: pd.DataFrame) -> Iterator[str]:
    for column, text in (
        ("left_out_n", "Examples left out as a store is empty (skip_empty)"),
        ("undefined_n", "Examples without a joint ratio as the joint optimum is 0"),
        ("unproven_n", "Examples without a joint ratio as an optimum is not proven"),
    ):
        most = int(frame[column].max()) if len(frame) else 0
        if most:
            yield f"{text}: up to {most:,} a row."


def _tidy(frame: pd.DataFrame, ranges: pd.DataFrame) -> pd.DataFrame:
    """The rows of the comparison, each with the sentence on the range of budgets that it is in."""
    on = ["suite", *_SETTING, "kept", "store", "other"]
    joined = frame.merge(ranges[[*on, "first_budget", "last_budget", "text"]], on=on, how="left")
    within = joined["budget"].between(joined["first_budget"], joined["last_budget"])
    return joined[within].drop(columns=["first_budget", "last_budget"]).reset_index(drop=True)


def _interval(row, name: str) -> str:
    mean, low, high = (getattr(row, f"{name}{end}") for end in ("", "_low", "_high"))
    if mean is None or math.isnan(mean):
        return MISSING
    form = "{:+.3f}" if name == "difference" else "{:.3f}"
    texts = [form.format(round(number, 3) + 0.0) for number in (mean, low, high)]
    return texts[0] if row.n < MIN_EXAMPLES else f"{texts[0]} [{texts[1]}, {texts[2]}]"
