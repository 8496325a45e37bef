"""One function a table: f(results, suite) -> Document, registered under its name. No matplotlib here.

A document holds the long, tidy numbers (for CSV) and the laid out sections (for Markdown and LaTeX).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd

from ..errors import InputError
from ..schemas import STATUSES
from . import style
from .registry import table
from .remarks import NOTHING_FITS, left_out_notes, n_notes, n_text, opt_zero_notes, retrieval_notes
from .results import Results, RunInfo, Setting, SuiteInfo, WriterInfo, each_distribution, overall

MISSING = "n/a"
_Z = "(z = N): N of the packages have OPT = 0; every package writer scores 1 on those."
_INTERVAL = "[low, high]: 95 % percentile bootstrap interval of the mean."


@dataclass(frozen=True)
class Section:
    """A laid out part of a table: every cell a string. `heading` may be empty."""

    heading: str
    frame: pd.DataFrame


@dataclass(frozen=True)
class Document:
    """A table: its caption (names suite and n), the tidy numbers, the sections to read, and remarks: `notes`
    below, `lead` above."""

    caption: str
    tidy: pd.DataFrame
    sections: tuple[Section, ...]
    notes: tuple[str, ...] = ()
    lead: tuple[str, ...] = ()


def _scored(suite: SuiteInfo, run: RunInfo) -> bool:
    return bool(suite.writers)


def _many_distributions(suite: SuiteInfo, run: RunInfo) -> bool:
    return bool(suite.writers) and len(suite.distributions) > 1


def _compared(suite: SuiteInfo, run: RunInfo) -> bool:
    names = {w.name for w in suite.writers}
    return len(names) > 1 and bool(names & set(run.references))


def _learned(suite: SuiteInfo, run: RunInfo) -> bool:
    """Learned writers train on even seeds and are compared on odd ones."""
    return any(w.learned for w in suite.writers) and {s % 2 for s in suite.seeds} == {0, 1}


@table(_scored)
def summary(results: Results, suite: str) -> Document:
    """Writers by budgets: mean ratio with its interval, all distributions of the suite together."""
    parts = [(setting, overall(part)) for setting, part in _by_setting(results, "summary", suite)]
    return _ratio_document(results, suite, parts, "Mean package ratio by writer and budget")


@table(_learned)
def learned(results: Results, suite: str) -> Document:
    """The learned writers beside all others on the packages that they were not trained on (odd seeds)."""
    parts = [(setting, overall(part)) for setting, part in _by_setting(results, "learned", suite)]
    return _ratio_document(results, suite, parts, "Learned writers and all others, packages of odd seeds only")


@table(_many_distributions)
def stress(results: Results, suite: str) -> Document:
    """Writers by distributions at each budget: mean ratio."""
    info = results.info.suite(suite)
    sections, parts = [], []
    for setting, part in _by_setting(results, "summary", suite):
        parts.append(part)
        names = _distributions(info, part)
        for budget, at in part.groupby("budget"):
            cells = {(r.writer, r.distribution): f"{_number(r.mean_ratio)}{_zero(r)}" for r in at.itertuples()}
            frame = _grid(_writers(info, at), cells, {name: style.prettify(name) for name in names})
            sections.append(Section(_join(_name(info, setting), f"B = {budget:,}"), frame))
    tidy = pd.concat(parts)
    n = n_text(each_distribution(tidy))
    caption = f"Mean package ratio by writer and distribution; suite {suite}, {n} a column."
    return Document(caption, _tidy(info, tidy), tuple(sections), (*_ratio_notes(info, each_distribution(tidy)),))


@table(_compared)
def paired(results: Results, suite: str) -> Document:
    """Ratio of each writer minus that of a reference on the same packages, with wins, ties and losses."""
    info = results.info.suite(suite)
    sections, parts = [], []
    for setting, part in _by_setting(results, "paired", suite):
        part = overall(part)
        parts.append(part)
        for reference, against in part.groupby("reference"):
            cells = {
                (r.writer, r.budget): f"{_interval(r.mean_difference, r.ci_low, r.ci_high, sign='+')} "
                f"{r.wins:.0f}/{r.ties:.0f}/{r.losses:.0f}"
                for r in against.itertuples()
            }
            frame = _grid(_writers(info, against), cells, _budget_heads(against))
            sections.append(Section(_join(_name(info, setting), f"minus {_label(info, reference)}"), frame))
    tidy = pd.concat(parts)
    caption = f"Paired differences of package ratios; suite {suite}, {n_text(tidy)}."
    notes = (
        "wins/ties/losses of the writer by exact value, after the mean difference.",
        _INTERVAL,
        *n_notes(tidy, partial(_label, info)),
        *suite_opt_zero_notes(results, suite, "where every pair is tied at ratio 1"),
    )
    return Document(caption, _tidy(info, tidy), tuple(sections), notes)


@table(_scored)
def decomposition(results: Results, suite: str) -> Document:
    """Required evidence: covered, not written, and not retrieved, at each budget."""
    info = results.info.suite(suite)
    columns = {
        "required_mass": "Required",
        "covered": "Covered",
        "write_failure": "Write failure",
        "beyond_candidates": "Of it, beyond all candidates",
        "retrieval_failure_oracle": "Retrieval failure, all retrieved",
        "retrieval_failure_fixed": "Retrieval failure, three most recent",
    }
    sections, parts = [], []
    for setting, part in _by_setting(results, "decomposition", suite):
        part = overall(part)
        parts.append(part)
        for budget, at in part.groupby("budget"):
            cells = {(r.writer, c): _number(getattr(r, c)) for r in at.itertuples() for c in columns}
            sections.append(
                Section(_join(_name(info, setting), f"B = {budget:,}"), _grid(_writers(info, at), cells, columns))
            )
    tidy = pd.concat(parts)
    what = "Write and retrieval failure, mean mass of current and invalidation units"
    caption = f"{what}; suite {suite}, {n_text(tidy)}."
    kept = [overall(part) for _, part in _by_setting(results, "summary", suite)]
    notes = (
        "Beyond all candidates: what no candidates, at most k a group, cover of a unit at any budget.",
        *n_notes(tidy, partial(_label, info)),
        *retrieval_notes(pd.concat(kept)),
        *suite_opt_zero_notes(results, suite, NOTHING_FITS),
    )
    return Document(caption, _tidy(info, tidy), tuple(sections), notes)


@table(when_run=lambda run: run.audit is not None, latex=True)
def solver_audit(results: Results, suite: None = None) -> Document:
    """Our optima against each independent solver, on the audit suite."""
    frame = results.frame("audit")
    own = frame[frame["suite"] == results.info.audit]
    if own.empty:
        raise InputError(f"frame 'audit' has no rows of suite {results.info.audit!r}")
    heads = {
        "solver": "Solver",
        "rows": "Package-budget rows",
        "distinct": "Distinct instances",
        "objective_matches": "Objective matches",
        "unfinished": "Stopped at its limit",
        "max_difference": "Largest difference",
    }
    problem = {"cost_model": "Costs", "k": "k", "saturation": "h"}
    several = len(own[list(problem)].drop_duplicates()) > 1
    heads = (problem if several else {}) | heads
    shown = own[list(heads)].copy()
    shown["solver"] = [_SOLVERS.get(s, s) for s in shown["solver"]]
    shown["max_difference"] = [_exact(d) for d in shown["max_difference"]]
    for column in ("rows", "distinct", "objective_matches", "unfinished"):
        shown[column] = [f"{int(c):,}" for c in shown[column]]
    rows = f"n = {int(own['rows'].max()):,} package-budget rows"
    caption = f"Exact solver audit against independent solvers; suite {results.info.audit}, {rows}."
    notes = ("Distinct instances: rows of equal content and budget are one instance.",)
    return Document(caption, own, (Section("", shown.rename(columns=heads).astype("str")),), notes)


_SOLVERS = {"cp_sat": "CP-SAT", "highs": "HiGHS", "cbc": "CBC", "scip": "SCIP"}


@table(when_run=lambda run: bool(run.suites))
def status_counts(results: Results, suite: None = None) -> Document:
    """How many solutions are optimal, cross-checked, or hit a limit."""
    frame = results.frame("status_counts")
    problem = {"suite": "Suite", "cost_model": "Costs", "pool": "Pool", "k": "k", "saturation": "h"}
    suites = [s.name for s in results.info.suites if s.name in set(frame["suite"])]
    frame = frame.assign(suite=pd.Categorical(frame["suite"], suites), status=pd.Categorical(frame["status"], STATUSES))
    frame = frame.sort_values([*problem, "status"], ignore_index=True).astype({"suite": str, "status": str})
    cells = frame.assign(cell=[f"{r:,} ({d:,})" for r, d in zip(frame["rows"], frame["distinct"], strict=True)])
    shown = cells.groupby([*problem, "status"], sort=False)["cell"].first().unstack(fill_value="0 (0)")
    shown = shown.reindex(columns=list(STATUSES), fill_value="0 (0)").reset_index().rename(columns=problem)
    rows = f"n = {int(frame['rows'].sum()):,} package-budget rows"
    caption = f"Status of the exact solutions; suites {', '.join(suites)}, {rows}."
    notes = (
        "Package-budget rows (distinct instances: equal content and budget are one).",
        "optimal: our solver closed its search (and no independent solver finished within its limit); cross_checked: "
        "beside that, one proved the same value; limit: not proven, no ratio.",
    )
    return Document(caption, frame, (Section("", shown.astype("str")),), notes)


@table(when_run=lambda run: any(s.curve for s in run.suites))
def curve_counts(results: Results, suite: None = None) -> Document:
    """How many value-budget curves are proven, and how many of their points an independent solver confirms."""
    frame = results.frame("curve_counts")
    names = {"suite": "Suite", "cost_model": "Costs", "pool": "Pool", "k": "k", "saturation": "h", "solver": "Solver"}
    counts = {
        "curves": "Curves",
        "unproven": "Not proven",
        "jumps": "Jumps",
        "points": "Points solved again",
        "equal": "Equal",
        "unfinished": "Stopped at its limit",
    }
    place = {s.name: i for i, s in enumerate(results.info.suites)}
    frame = frame.assign(_place=frame["suite"].map(place)).sort_values(
        ["_place", *names], kind="stable", ignore_index=True
    )
    frame = frame.drop(columns="_place")
    shown = frame.assign(solver=[_SOLVERS.get(s, s) for s in frame["solver"]])
    shown = shown.astype({c: "str" for c in names}).assign(**{c: [f"{n:,}" for n in frame[c]] for c in counts})
    suites = ", ".join(dict.fromkeys(frame["suite"]))
    n = int(frame.groupby([c for c in names if c != "solver"])["curves"].first().sum())
    caption = f"OPT at every budget: curves and their check; suites {suites}, n = {n:,} curves."
    notes = (
        "A curve: OPT of one package and pool at every budget. Jumps: budgets at which OPT rises.",
        "Points: of each distinct curve its end, and of some jumps, drawn by seed, the budget of the jump and the one "
        "below. Declared budgets are checked besides, all of them (status counts).",
    )
    return Document(caption, frame, (Section("", shown.rename(columns=names | counts)),), notes)


def published_document(frame: pd.DataFrame, natural_note: str = "") -> Document:
    """Every published value beside the one produced (rows of schema PUBLISHED); `natural_note`: why suites that
    are declared as the paper's give none (published_natural.natural_values)."""
    counts = frame["status"].map(lambda s: s if s in ("reproduced", "differs") else "needs data").value_counts()
    sections = []
    for item, part in frame.groupby("item", sort=False):
        shown = pd.DataFrame({
            "Suite": part["suite"],
            "Distribution": [_text(d) for d in part["distribution"]],
            "B": [MISSING if pd.isna(b) else str(int(b)) for b in part["budget"]],
            "Method": [style.label(m) if _text(m) else "" for m in part["method"]],
            "Metric": part["metric"],
            "Published": [_as_printed(v, int(d)) for v, d in zip(part["value"], part["decimals"], strict=True)],
            "Produced": [
                MISSING if pd.isna(v) else f"{v:.{int(d) + 2}f}"
                for v, d in zip(part["produced"], part["decimals"], strict=True)
            ],
            "Status": part["status"],
        })  # fmt: skip
        sections.append(Section(str(item), shown.astype("str")))
    tally = ", ".join(f"{counts.get(s, 0)} {s}" for s in ("reproduced", "differs", "needs data"))
    suites = ", ".join(dict.fromkeys(frame["suite"]))
    caption = f"Published values against those produced; suites {suites}, n = {len(frame)} values: {tally}."
    lead = (f"No value is taken of a suite without the counts of the paper's: {natural_note}.",) if natural_note else ()
    return Document(caption, frame, tuple(sections), lead=lead)


def _as_printed(value: float, decimals: int) -> str:
    """At least the decimals that are compared, and those given beyond them."""
    return max(f"{value:.{decimals}f}", repr(float(value)), key=len)


# ---- Shared parts


def suite_opt_zero_notes(results: Results, suite: str, what: str) -> list[str]:
    """How many of a suite's packages have OPT = 0 at which budget, setting by setting; `what` that means here."""
    info = results.info.suite(suite)
    notes = []
    for setting, part in _by_setting(results, "summary", suite):
        name = _name(info, setting) if len(info.settings) > 1 else ""
        notes += [f"{name}: {text}" if name else text for text in opt_zero_notes(overall(part), what)]
    return notes


def _ratio_document(results: Results, suite: str, parts: Sequence[tuple[Setting, pd.DataFrame]], what: str) -> Document:
    info = results.info.suite(suite)
    sections = []
    for setting, part in parts:
        cells = {
            (r.writer, r.budget): f"{_interval(r.mean_ratio, r.ci_low, r.ci_high)}{_zero(r)}" for r in part.itertuples()
        }
        sections.append(Section(_name(info, setting), _grid(_writers(info, part), cells, _budget_heads(part))))
        zero = part[part.groupby("budget")["opt_zero_n"].transform("max") > 0]
        if len(zero):
            cells = {(r.writer, r.budget): _number(r.mean_ratio_opt_positive) for r in zero.itertuples()}
            heading = _join(_name(info, setting), "packages with OPT > 0 only")
            sections.append(Section(heading, _grid(_writers(info, zero), cells, _budget_heads(zero))))
    tidy = pd.concat([part for _, part in parts])
    caption = f"{what}; suite {suite}, {n_text(tidy)}."
    return Document(caption, _tidy(info, tidy), tuple(sections), (_INTERVAL, *_ratio_notes(info, tidy)))


def _by_setting(results: Results, name: str, suite: str) -> Iterator[tuple[Setting, pd.DataFrame]]:
    """The suite's rows of a frame, setting by setting as configured."""
    for setting in results.info.suite(suite).settings:
        yield setting, results.of_suite(name, suite, setting)


def _writers(info: SuiteInfo, frame: pd.DataFrame) -> list[WriterInfo]:
    configured = {w.name: w for w in info.writers}
    return style.ordered(configured.get(name, style.known(name)) for name in sorted(set(frame["writer"])))


def _label(info: SuiteInfo, name: str) -> str:
    return style.label({w.name: w for w in info.writers}.get(name, name))


def _grid(writers: Sequence[WriterInfo], cells: dict, heads: dict) -> pd.DataFrame:
    """Writers as rows; `cells` (writer, column) -> text, `heads` column -> title."""
    columns = {"Writer": [style.label(w) for w in writers]}
    for column, head in heads.items():
        columns[head] = [cells.get((w.name, column), MISSING) for w in writers]
    return pd.DataFrame(columns)


def _budget_heads(frame: pd.DataFrame) -> dict[int, str]:
    return {budget: f"B = {budget:,}" for budget in sorted(set(frame["budget"]))}


def _distributions(info: SuiteInfo, frame: pd.DataFrame) -> list[str]:
    """As configured, others after them, "all" last."""
    place = {name: i for i, name in enumerate(info.distributions)} | {"all": len(info.distributions) + 1}
    return sorted(set(frame["distribution"]), key=lambda name: (place.get(name, len(info.distributions)), name))


def _tidy(info: SuiteInfo, frame: pd.DataFrame) -> pd.DataFrame:
    """The numbers in the order of display, with the name a reader sees beside the writer's."""
    place = {w.name: i for i, w in enumerate(_writers(info, frame))}
    order = [c for c in ("cost_model", "k", "saturation", "reference", "budget") if c in frame]
    frame = frame.assign(_place=frame["writer"].map(place)).sort_values(
        [*order, "distribution", "_place"], kind="stable", ignore_index=True
    )
    at = frame.columns.get_loc("writer") + 1
    frame.insert(at, "writer_label", [_label(info, name) for name in frame["writer"]])
    return frame.drop(columns="_place")


def _ratio_notes(info: SuiteInfo, frame: pd.DataFrame) -> list[str]:
    notes = n_notes(frame, partial(_label, info))
    if (frame["opt_zero_n"] > 0).any():
        notes.append(_Z)
    notes += left_out_notes(frame)
    for text in sorted(set(frame["note"].dropna())):
        named = frame[frame["note"] == text]
        notes.append(f"{'; '.join(style.label(w) for w in _writers(info, named))}: {text}.")
    return notes


def _name(info: SuiteInfo, setting: Setting) -> str:
    """The setting, where it is not the one that goes without saying."""
    return str(setting) if len(info.settings) > 1 or setting != Setting() else ""


def _join(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def _zero(row) -> str:
    return f" (z = {int(row.opt_zero_n)})" if row.opt_zero_n > 0 else ""


def _number(value: float, sign: str = "") -> str:
    if value is None or math.isnan(value):
        return MISSING
    text = f"{value:{sign}.3f}"
    return text.replace("-", "") if float(text) == 0 and text.startswith("-") else text


def _interval(mean: float, low: float, high: float, sign: str = "") -> str:
    if mean is None or math.isnan(mean):
        return MISSING
    return f"{_number(mean, sign)} [{_number(low, sign)}, {_number(high, sign)}]"


def _exact(difference: float) -> str:
    """0 only where it is exactly 0."""
    return MISSING if math.isnan(difference) else "0" if difference == 0 else f"{difference:.2e}"


def _text(value: object) -> str:
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else str(value)
