"""The published natural values, out of suites that are declared as the paper's own packages.

A suite is believed by its counts: 87 scored examples (adjudicated), else 200 examples (primary) or 100 (seed set).
Of the paper's 100 adjudicated examples 87 were accepted or corrected and 13 disputed. Label sources are told apart
by name: human* (a labeller of the audit), *blind* (the second model's blind cells), "suite *" (another package),
else the package's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from ..errors import InputError
from .agreement import LABELLED
from .published_stores import store_values

SCORED, PRIMARY, SEED_SET = 87, 200, 100
COLUMNS = ("item", "distribution", "budget", "method", "metric", "produced")
_SETTING = {"cost_model": "declared", "k": 1, "saturation": "cap1"}
# What an unscored example's reason starts with where adjudication stopped it.
_DISPUTED = "adjudication:"

Frames = Mapping[str, pd.DataFrame]


def natural_values(suites: Mapping[str, Frames]) -> tuple[pd.DataFrame, str]:
    """(columns COLUMNS, note) of the suites declared as the paper's: suite -> frames by name.

    Frames: construction and summary always; agreement, label_ratios, relabelled and sensitivity where the
    suite has them, store_summary and store_anatomy where it has exported stores. The note names the suites
    whose counts are not the paper's, which give no value; it is empty where there are none. Raises InputError
    where two suites have the counts of one package, or a value comes out twice.
    """
    rows: list[dict] = []
    strange, taken = [], {}
    for suite, frames in suites.items():
        count = frames["construction"].set_index(["what", "name"])["count"]
        scored = int(count["packages", "all"])  # one query each
        examples = scored + int(count["queries", "not scored"])
        kind = _kind(scored, examples)
        if kind is None:
            strange.append(f"suite {suite}, declared as the paper's, has {scored} scored of {examples} examples")
            continue
        if kind in taken:
            raise InputError(
                f"suites {taken[kind]} and {suite} both have the counts of the paper's {kind} package; declare "
                f"paper_package for one of them"
            )
        taken[kind] = suite
        rows += _reliability(kind, frames["construction"], scored, examples)
        rows += _of_scored_package(frames) if kind == "adjudicated" else []
    note = f"{'; '.join(strange)}, not {SCORED}, or {PRIMARY} or {SEED_SET} examples" if strange else ""
    table = pd.DataFrame(rows, columns=COLUMNS).astype({"budget": "Int64", "produced": float})
    _refuse_ambiguous(table, suites)
    return table, note


def _kind(scored: int, examples: int) -> str | None:
    if scored == SCORED:
        return "adjudicated"
    return {PRIMARY: "primary", SEED_SET: "seed_set"}.get(examples)


def _row(item: str, distribution: str, budget, method: str, metric: str, produced: float) -> dict:
    return dict(zip(COLUMNS, (item, distribution, budget, method, metric, produced), strict=True))


def _reliability(kind: str, construction: pd.DataFrame, scored: int, examples: int) -> Iterator[dict]:
    if kind != "adjudicated":
        yield _row("tab:reliability", kind, None, "examples", "schema_valid", examples)
        return
    yield _row("tab:reliability", kind, None, "examples", "accepted_or_corrected", scored)
    own = construction[(construction["what"] == "not scored") & construction["name"].str.startswith(_DISPUTED)]
    disputed = int(own["count"].sum())
    if disputed:  # the folder's parent tells; without it nobody knows how many were disputed
        yield _row("tab:reliability", kind, None, "examples", "disputed", disputed)
        yield _row("tab:reliability", kind, None, "examples", "scope", scored + disputed)


def _of_scored_package(frames: Frames) -> list[dict]:
    rows = list(_ratios(frames["summary"]))
    if "sensitivity" in frames:
        rows += _sensitivity(frames["sensitivity"])
    if "agreement" in frames:
        rows += _agreement(frames["agreement"])
    if "label_ratios" in frames:
        rows += _label_ratios(frames["label_ratios"], frames["relabelled"])
    if "store_summary" in frames:
        rows += (_row(*value) for value in store_values(frames) if not pd.isna(value[-1]))
    return rows


def _ratios(summary: pd.DataFrame) -> Iterator[dict]:
    for column, value in _SETTING.items():
        summary = summary[summary[column] == value]
    if "all" in set(summary["distribution"]):
        summary = summary[summary["distribution"] == "all"]
    for r in summary[summary["n"] == SCORED].itertuples():
        for item in ("fig:systems", "docs:adapters"):
            yield _row(item, "natural87", r.budget, r.writer, "mean_ratio", r.mean_ratio)


def _sensitivity(frame: pd.DataFrame) -> Iterator[dict]:
    """Optima by words and by byte_overhead, k = 2 over k = 1, at full pool and cap1."""
    frame = frame[(frame["pool"] == "full") & (frame["saturation"] == "cap1") & (frame["n_unproven"] == 0)]
    frame = frame[frame["n"] + frame["undefined_n"] == SCORED]
    item = "tab:sensitivity-package"
    k = frame[(frame["varied"] == "k") & (frame["k"] == 2) & (frame["reference"] == "1")]
    for r in k[k["cost_model"] == "words"].itertuples():
        yield _row(item, "natural87", r.budget, "opt_k1@words", "mean_value", r.mean_reference)
        yield _row(item, "natural87", r.budget, "opt_k2@words", "mean_value", r.mean_value)
        yield _row(item, "natural87", r.budget, "k2_over_k1@words", "mean_of_ratios", r.mean_ratio)
    costs = frame[(frame["varied"] == "cost_model") & (frame["k"] == 1) & (frame["value"] == "byte_overhead")]
    for r in costs[(costs["reference"] == "words") & (costs["budget"] == costs["reference_budget"])].itertuples():
        yield _row(item, "natural87", r.budget, "opt_byte_overhead", "mean_value", r.mean_value)
        yield _row(item, "natural87", r.budget, "byte_overhead_over_words", "mean_of_ratios", r.mean_ratio)


def _source(name: str) -> str:
    """What a label source is, by its name."""
    if name.startswith("suite "):
        return "second"
    if name.startswith("human"):
        return "human"
    return "blind" if "blind" in name else "own"


# (kind of first, of agreed_with, of second) -> the paper's name of the comparison.
_COMPARED = {
    ("human", "", "human"): "human-human",
    ("human", "human", "own"): "human-model",
    ("own", "", "second"): "model-model package pass",
    ("human", "human", "second"): "second model-human package pass",
    ("own", "", "blind"): "model-model blind cell pass",
    ("human", "human", "blind"): "second model-human blind cell pass",
}


def _agreement(frame: pd.DataFrame) -> Iterator[dict]:
    """On the cells of the audit where there is one: the paper's frame is what its people labelled."""
    pair = ["first", "agreed_with", "second"]
    frame = frame.sort_values("frame", key=lambda kind: kind != LABELLED, kind="stable").drop_duplicates(pair)
    for r in frame.itertuples():
        kinds = (_source(r.first), _source(r.agreed_with) if r.agreed_with else "", _source(r.second))
        if kinds in _COMPARED:
            for metric, value in (("scope", r.cells), ("kappa", r.kappa), ("raw_agreement", r.raw_agreement)):
                yield _row("tab:coverage-audit", _COMPARED[kinds], None, "cells", metric, value)


def _label_ratios(ratios: pd.DataFrame, relabelled: pd.DataFrame) -> Iterator[dict]:
    for r in ratios[ratios["ratio_mad"].notna()].itertuples():
        kinds = _kinds_of_set(r.labels)
        pooled = pd.isna(r.budget)
        if kinds == ["human", "human"] and pooled:
            yield _row("tab:coverage-audit", "human-model", None, "ratios", "ratio_mad", r.ratio_mad)
        if kinds == ["second"] and not pooled:
            yield _row("tab:coverage-audit", "model-model package pass", r.budget, "ratios", "ratio_mad", r.ratio_mad)
    for r in relabelled[relabelled["mean_ratio"].notna()].itertuples():
        if _kinds_of_set(r.labels) == ["human", "human"]:
            method = f"{r.writer} under human labels"
            yield _row("text:natural", "natural87", r.budget, method, "mean_ratio", r.mean_ratio)


def _kinds_of_set(labels: str) -> list[str]:
    return [_source(name) for name in labels.split(" = ")]


def _refuse_ambiguous(values: pd.DataFrame, suites: Mapping[str, Frames]) -> None:
    """One published value must be given once (three human labellers would give three)."""
    twice = values[values.duplicated([c for c in COLUMNS if c != "produced"])]
    if len(twice):
        row = twice.iloc[0]
        raise InputError(
            f"suites {', '.join(suites)} give {row['item']}, {row['distribution']}, {row['method']}, {row['metric']} "
            f"more than once; declare paper_package where there are two human labellers and one other suite"
        )
