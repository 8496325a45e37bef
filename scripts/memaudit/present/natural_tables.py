"""The tables of natural suites only: how they were built, who labelled them, and what depends on that."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import pandas as pd

from . import style
from .registry import table
from .results import Results, RunInfo, Setting, SuiteInfo
from .tables import MISSING, Document, Section

_CI = "[low, high]: 95 % percentile bootstrap interval, whole packages (examples or conversations) resampled."
_SOURCES = "Label sources are named as in the data; what comes with the data says who they are."


def having(name: str) -> Callable[[SuiteInfo, RunInfo], bool]:
    """Whether a suite has the natural table `name`."""
    return lambda suite, run: name in suite.analyses


@table(having("construction"), latex=True)
def reliability(results: Results, suite: str) -> Document:
    """How the suite was built: scored and unscored examples, contents, labels, warnings."""
    frame = results.natural("construction", suite)
    count = frame.set_index(["what", "name"])["count"]
    scored, unscored = int(count["examples", "scored"]), int(count["examples", "unscored"])
    examples = [("Examples", scored + unscored), ("scored", scored), ("not scored", unscored)]
    examples += [(f"  {r.name}", r.count) for r in _of(frame, "unscored")]
    contents = []
    for what in ("queries", "units by kind", "units by role", "units by weight", "candidates", "coverage cells"):
        contents += [(style.prettify(what), r.name, r.count) for r in _of(frame, what)]
    labels = [(r.name, r.count) for r in _of(frame, "labels")]
    warnings = [(style.prettify(r.name), r.count) for r in _of(frame, "warnings")] or [("none", 0)]
    sections = (
        Section("Examples", _text_frame(["", "Count"], examples)),
        Section("Contents of scored packages", _text_frame(["", "Kind", "Count"], contents)),
        Section("Labels (source, pass, status, value)", _text_frame(["Labels", "Count"], labels)),
        Section("Warnings", _text_frame(["Kind", "Count"], warnings)),
    )
    caption = f"Construction and reliability; suite {suite}, n = {_packages(scored)}."
    notes = ("Units of zero weight add nothing to F; an audit still sees them.",)
    return Document(caption, frame, sections, notes)


@table(having("agreement"), latex=True)
def coverage_audit(results: Results, suite: str) -> Document:
    """Agreement of every pair of label sources, and how far package ratios move with the labels."""
    frame = results.natural("agreement", suite)
    ratios = results.natural("label_ratios", suite) if "label_ratios" in results.info.suite(suite).analyses else None
    if frame.empty:
        caption = f"Coverage audit; suite {suite}, n = 0 comparisons."
        return _one_source(caption, suite)
    cells = [
        (
            _pair(r),
            f"{r.packages:,}",
            f"{r.cells:,}",
            _number(r.raw_agreement),
            f"{_number(r.kappa)} [{_number(r.ci_low)}, {_number(r.ci_high)}]",
            _number(r.kappa_weighted),
            _number(r.alpha),
        )
        for r in frame.itertuples()
    ]
    heads = ["Sources", "Packages", "Cells", "Raw agreement", "Cohen's kappa", "Kappa, weighted", "Ordinal alpha"]
    sections = [Section("Cells", _text_frame(heads, cells))]
    parts = [frame.assign(part="cells")]
    if ratios is not None and len(ratios):
        sections.append(Section("Package ratios", _ratio_frame(ratios)))
        parts.append(ratios.assign(part="ratios"))
    kinds = {
        "drawn": "every positive cell and a seeded 20 % of the zero cells of each package",
        "labelled": "the cells that a source labelled one by one",
    }
    notes = (
        f"Frame: {'; '.join(kinds[k] for k in sorted(set(frame['frame'])))}. Binary label: coverage >= .5.",
        "a = b, c: the label that a and b share against that of c, on the cells where they share one.",
        "Weighted: each cell counts for as many of its package and stratum as it stands for. Alpha: Krippendorff's, "
        "ordinal, on 0, .5 and 1.",
        "Ratio MAD: mean absolute difference of package ratios of the writers "
        + ", ".join(map(style.label, ("oracle_gvt", "estimated_gvt", "memgpt_tiered", "mem0_extract", "amem_graph")))
        + " (those that are scored).",
        _CI,
        _SOURCES,
    )
    most = int(frame["cells"].max())
    caption = f"Coverage audit; suite {suite}, n = {most:,} cells at most."
    return Document(caption, pd.concat(parts, ignore_index=True), tuple(sections), notes)


def _ratio_frame(ratios: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for r in ratios.assign(place=ratios["budget"].fillna(0)).sort_values(["labels", "place"]).itertuples():
        kept = MISSING if r.ranking_preserved is None or pd.isna(r.ranking_preserved) else "no"
        kept = "yes" if kept == "no" and r.ranking_preserved else kept
        rows.append((
            r.labels, "all" if pd.isna(r.budget) else str(int(r.budget)), f"{r.packages:,}", f"{r.rows:,}",
            f"{r.dropped:,}", _number(r.ratio_mad), kept, _number(r.spearman),
        ))  # fmt: skip
    heads = ["Other labels", "B", "Packages", "Rows", "Left out", "Ratio MAD", "Ranking preserved", "Spearman"]
    return _text_frame(heads, rows)


@table(having("disagreements"))
def disagreements(results: Results, suite: str) -> Document:
    """Where label sources disagree: by stratum of the frame and by representation type."""
    frame = results.natural("disagreements", suite)
    if frame.empty:
        caption = f"Disagreements of label sources; suite {suite}, n = 0 comparisons."
        return _one_source(caption, suite)
    sections = []
    for by, part in sorted(frame.groupby("by"), reverse=True):
        rows = [
            (_pair(r), style.prettify(r.group), f"{r.cells:,}", f"{r.only_first + r.only_second:,}",
             f"{100 * (r.only_first + r.only_second) / r.cells:.1f} %", f"{r.only_first:,}", f"{r.only_second:,}")
            for r in part.itertuples()
        ]  # fmt: skip
        heads = ["Sources", style.prettify(by), "Cells", "Disagree", "Share", "Only first covers", "Only second covers"]
        sections.append(Section(f"By {style.prettify(by).lower()}", _text_frame(heads, rows)))
    most = int(frame.groupby(["first", "agreed_with", "second", "by"])["cells"].sum().max())
    caption = f"Disagreements of label sources; suite {suite}, n = {most:,} cells at most."
    return Document(caption, frame, tuple(sections), (_SOURCES,))


@table(having("relabelled"))
def relabelled(results: Results, suite: str) -> Document:
    """Mean package ratio under the suite's own labels and under others."""
    frame = results.natural("relabelled", suite)
    sections = []
    for name, part in frame.groupby("labels", sort=True):
        cells = {(r.writer, r.budget): f"{_number(r.mean_own)} / {_interval(r)} (n = {r.n})" for r in part.itertuples()}
        sections.append(Section(str(name), _writer_grid(results, suite, part, cells)))
    caption = f"Mean package ratio, own labels / other labels; suite {suite}, n = {_span(frame['n'])} a cell."
    notes = (
        "Other labels: what writers kept stays, value and OPT are computed anew with the labels in place of the "
        "suite's own (1 is full coverage, 0 none); packages whose new OPT is 0 or not proven are left out.",
        "Another suite: its own selections, values and optima, on the packages that both have.",
        _CI,
    )
    return Document(caption, frame, tuple(sections), notes)


@table(having("sensitivity"), latex=True)
def sensitivity(results: Results, suite: str) -> Document:
    """OPT with k = 2, under other costs and on smaller pools, over OPT of the reference."""
    frame = results.natural("sensitivity", suite)
    titles = {"k": "More memories of a group", "cost_model": "Cost models, the same on both sides", "pool": "Pools"}
    sections = []
    for varied, title in titles.items():
        part = frame[frame["varied"] == varied].sort_values(["saturation", "k", "cost_model", "value", "budget"])
        rows = [
            (
                f"{r.value} / {r.reference}" if varied != "k" else f"k = {r.value} / k = {r.reference}",
                _elsewhere(r, varied),
                str(r.budget) if r.budget == r.reference_budget else f"{r.budget} / {r.reference_budget}",
                f"{r.n:,}",
                _number(r.mean_value),
                _number(r.mean_reference),
                _interval(r),
                _number(r.max_ratio),
            )
            for r in part.itertuples()
        ]
        heads = ["Changed / reference", "Setting", "B", "n", "OPT", "OPT, reference", "Mean of ratios", "Largest"]
        if rows:
            sections.append(Section(title, _text_frame(heads, rows)))
    undefined, unproven = int(frame["undefined_n"].max()), int(frame["n_unproven"].max())
    notes = [_CI, "OPT: mean over packages with both optima proven; ratios are means of per-package ratios."]
    notes += [f"Up to {_packages(undefined)} a row with a reference OPT of 0 have no ratio."] if undefined else []
    notes += [f"Up to {_packages(unproven)} a row are left out: an optimum is not proven."] if unproven else []
    caption = f"Sensitivity of OPT; suite {suite}, n = {_span(frame['n'])} a row."
    return Document(caption, frame, tuple(sections), tuple(notes))


def _elsewhere(row, varied: str) -> str:
    """The setting that both sides share."""
    parts = [f"{row.cost_model} costs" if varied != "cost_model" else "", f"k = {row.k}" if varied != "k" else ""]
    return ", ".join([*(p for p in parts if p), f"h = {row.saturation}"])


@table(having("robustness"))
def robustness(results: Results, suite: str) -> Document:
    """Ranking and ratios of writers under label noise."""
    frame, writers = results.natural("robustness", suite), results.natural("robustness_writers", suite)
    rows = [
        (
            f"{100 * r.rate:g} %",
            str(r.budget),
            f"{_number(r.kendall_tau)} ({_number(r.tau_low)} to {_number(r.tau_high)})",
            MISSING if math.isnan(r.reversed_pairs) else f"{100 * r.reversed_pairs:.1f} %",
            f"{r.n:g}",
            f"{r.n_zero / r.draws:g}",
            f"{r.n_unproven / r.draws:g}",
        )
        for r in frame.itertuples()
    ]
    heads = ["Flipped", "B", "Kendall's tau (draws)", "Pairs reversed", "Packages", "OPT = 0", "Not proven"]
    sections = [Section("Ranking of the writers", _text_frame(heads, rows))]
    for rate, part in writers.groupby("rate"):
        cells = {
            (r.writer, r.budget): f"{_number(r.clean_ratio)} / {_number(r.mean_ratio)} ({_number(r.mean_change, '+')})"
            for r in part.itertuples()
        }
        heading = f"Mean ratio without / with noise (mean change), {100 * rate:g} % flipped"
        sections.append(Section(heading, _writer_grid(results, suite, part, cells)))
    first = frame.iloc[0]
    how = {
        "balanced": "that share of each package's positive cells is lost, and as many zero cells become full coverage",
        "all": "each cell is flipped with that probability",
    }[first["flips"]]
    notes = (
        f"Flipped: {how}; units of zero weight are left alone. Selections stay, values and optima are computed anew.",
        "Packages count where OPT > 0 and proven without and with noise; counts of packages are means of draws.",
        _first_setting(results, suite),
    )
    caption = (
        f"Label noise; suite {suite}, n = {_packages(int(first['packages']))}, {int(first['draws'])} draws a rate."
    )
    both = pd.concat([frame.assign(part="ranking"), writers.assign(part="writers")], ignore_index=True)
    return Document(caption, both, tuple(sections), notes)


@table(having("categories"))
def question_types(results: Results, suite: str) -> Document:
    """Results by type of question: share of queries with all required units covered, and ratios."""
    frame = results.natural("categories", suite)
    sections = []
    for setting in results.info.suite(suite).settings:
        own = _in(frame, setting)
        for category in _categories(own):
            part = own[own["category"] == category]
            asked = int((part["queries"] - part["without_requirement"]).max())
            cells = {
                (r.writer, r.budget): f"{_number(r.share_all)} [{_number(r.share_low)}, {_number(r.share_high)}]"
                + (f"; ratio {_number(r.mean_ratio)}" if r.n else "")
                for r in part.itertuples()
            }
            name = f"{category}: {asked:,} queries" if asked else f"{category}: no query requires a unit"
            heading = ", ".join([*_setting_name(results, suite, setting), name])
            sections.append(Section(heading, _writer_grid(results, suite, part, cells)))
    queries = int(frame.loc[frame["category"] == _categories(frame)[-1], "queries"].max())
    notes = (
        "Share of queries with all required units covered; ratio: mean package ratio, of packages all of whose queries "
        "are of the type.",
        _CI,
        "Queries that require no unit (abstention) are not counted.",
    )
    caption = f"Results by type of question; suite {suite}, n = {queries:,} queries."
    return Document(caption, frame, tuple(sections), notes)


@table(having("downstream"))
def downstream(results: Results, suite: str) -> Document:
    """Accuracy of downstream systems given all, some or none of the required units."""
    frame = results.natural("downstream", suite)
    order = ["all", "some", "none", "nothing required", "any"]
    sections = []
    for setting in results.info.suite(suite).settings:
        for budget, part in _in(frame, setting).groupby("budget"):
            cells = {
                (r.system, r.covered): f"{_number(r.accuracy)} [{_number(r.ci_low)}, {_number(r.ci_high)}] "
                f"({r.correct}/{r.n})"
                for r in part.itertuples()
            }
            shown = [name for name in order if name in set(part["covered"])]
            rows = [(s, *(cells.get((s, c), MISSING) for c in shown)) for s in sorted(set(part["system"]))]
            heading = ", ".join([*_setting_name(results, suite, setting), f"B = {budget}"])
            sections.append(Section(heading, _text_frame(["System", *map(style.prettify, shown)], rows)))
    caption = (
        f"Accuracy by required units kept; suite {suite}, n = {_span(frame['n'][frame['covered'] == 'any'])} answers."
    )
    notes = ("[low, high]: Wilson 95 % interval. All: each required unit is covered; none: nothing of any is.",)
    return Document(caption, frame, tuple(sections), notes)


# ---- Shared parts


def _one_source(caption: str, suite: str) -> Document:
    """What stands in place of comparisons where there is a single source of labels."""
    note = "The suite's labels come from one source; there is nothing to compare them with."
    shown = _text_frame(["Label sources", "Comparisons"], [(1, 0)])
    return Document(caption, pd.DataFrame({"suite": [suite], "label_sources": [1]}), (Section("", shown),), (note,))


def _of(frame: pd.DataFrame, what: str) -> Iterator:
    return frame[frame["what"] == what][["name", "count"]].itertuples(index=False, name="Row")


def _text_frame(heads: list[str], rows: list[tuple]) -> pd.DataFrame:
    texts = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    return pd.DataFrame(texts, columns=heads)


def _writer_grid(results: Results, suite: str, frame: pd.DataFrame, cells: dict) -> pd.DataFrame:
    """Writers in order of display by budgets."""
    configured = {w.name: w for w in results.info.suite(suite).writers}
    writers = style.ordered(configured.get(name, style.known(name)) for name in sorted(set(frame["writer"])))
    budgets = sorted(set(frame["budget"]))
    rows = [(style.label(w), *(cells.get((w.name, b), MISSING) for b in budgets)) for w in writers]
    return _text_frame(["Writer", *(f"B = {b}" for b in budgets)], rows)


def _in(frame: pd.DataFrame, setting: Setting) -> pd.DataFrame:
    own = frame["cost_model"].eq(setting.cost_model) & frame["k"].eq(setting.k)
    return frame[own & frame["saturation"].eq(setting.saturation)]


def _setting_name(results: Results, suite: str, setting: Setting) -> list[str]:
    """The setting, where it is not the one that goes without saying."""
    several = len(results.info.suite(suite).settings) > 1
    return [str(setting)] if several or setting != Setting() else []


def _first_setting(results: Results, suite: str) -> str:
    return f"Setting: {results.info.suite(suite).settings[0]}."


def _categories(frame: pd.DataFrame) -> list[str]:
    """Sorted, "all" last."""
    names = sorted(set(frame["category"]))
    return [name for name in names if name != "all"] + [name for name in names if name == "all"]


def _pair(row) -> str:
    return f"{row.first} = {row.agreed_with}, {row.second}" if row.agreed_with else f"{row.first}, {row.second}"


def _packages(n: int) -> str:
    return f"{n:,} package{'' if n == 1 else 's'}"


def _span(counts: pd.Series) -> str:
    low, high = int(counts.min()), int(counts.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _number(value: float | None, sign: str = "") -> str:
    if value is None or math.isnan(value):
        return MISSING
    text = f"{value:{sign}.3f}"
    return text.replace("-", "").replace("+", "") if float(text) == 0 else text


def _interval(row) -> str:
    if math.isnan(row.mean_ratio):
        return MISSING
    return f"{_number(row.mean_ratio)} [{_number(row.ci_low)}, {_number(row.ci_high)}]"
