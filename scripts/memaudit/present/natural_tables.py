"""The tables of natural suites only: how they were built, who labelled them, and what depends on that."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import pandas as pd

from ..analysis.construction import NO_STATUS
from ..analysis.label_ratios import SUITE
from ..schemas import ALL_SYSTEMS
from . import style
from .registry import table
from .remarks import opt_zero_notes
from .results import NothingToShow, Results, RunInfo, Setting, SuiteInfo, overall
from .tables import MISSING, Document, Section, suite_opt_zero_notes

_CI = "[low, high]: 95 % percentile bootstrap interval, whole packages (examples or conversations) resampled."
_DISPUTED = ("ambiguous", "rejected", "disputed")
_SOURCES = "Label sources are named as in the data; what comes with the data says who they are."


def having(name: str) -> Callable[[SuiteInfo, RunInfo], bool]:
    """Whether a suite has the natural table `name`."""
    return lambda suite, run: name in suite.analyses


@table(having("construction"), latex=True)
def reliability(results: Results, suite: str) -> Document:
    """How the suite was built: packages and queries, what judges said, contents, labels, warnings."""
    frame = results.natural("construction", suite)
    count = {(r.what, r.name): r.count for r in frame.itertuples()}
    packages, unscored = count["packages", "all"], count["queries", "not scored"]
    scored, idle = count["queries", "scored"], count["queries", "nothing required"]
    asked = [("Packages", packages), ("Queries", scored + idle + unscored), ("  scored", scored)]
    asked += [("  nothing required", idle)] if idle else []
    asked += [("  not scored", unscored), *((f"    {r.name}", r.count) for r in _of(frame, "not scored"))]
    contents = []
    kinds = ("queries by category", "units by kind", "units by role", "units by weight", "candidates", "coverage cells")
    for what in kinds:
        contents += [(style.prettify(what), r.name, r.count) for r in _of(frame, what)]
    labels = [(r.name, r.count) for r in _of(frame, "labels")]
    warnings = [(style.prettify(r.name), r.count) for r in _of(frame, "warnings")] or [("none", 0)]
    heads = ["Artifact", "Scope", "Accepted or corrected", "Disputed", "Another or no status", "Role"]
    sections = (
        Section("Packages and queries", _text_frame(["", "Count"], asked)),
        Section("Reliability by artifact", _text_frame(heads, list(_artifacts(frame)))),
        Section("Contents of scored packages", _text_frame(["", "Kind", "Count"], contents)),
        Section("Labels (source, pass, status, value)", _text_frame(["Labels", "Count"], labels)),
        Section("Warnings", _text_frame(["Kind", "Count"], warnings)),
    )
    caption = (
        f"Construction and reliability; suite {suite}, n = {_packages(packages)}, {_count(scored, 'scored query')}."
    )
    notes = [
        "Disputed: ambiguous, rejected or disputed by a judge; such queries are not scored, such labels count as they "
        "are.",
        "Pass: 1 is the only row of a source on a pair of candidate and unit, or the first of several in file order, 2 "
        "the second. What a row stands for (the first round of labelling, or a later one that took its place) is said "
        "by the data's own documentation.",
        "Units of zero weight add nothing to F; an audit still sees them.",
    ]
    if labels and all(name.rsplit(", ", 2)[1] == NO_STATUS for name, _ in labels):
        notes.insert(1, (
            "Labels here carry no status of adjudication, so all of them stand under 'Another or no status': none was "
            "refused, and none accepted one by one. The judgement is of the queries, whose statuses stand above."
        ))  # fmt: skip
    changed = {r.name: r.count for r in _of(frame, "required units")}
    if changed:
        turned, judged = changed.get("changed", 0), sum(changed.values())
        notes.insert(
            0, f"Queries whose required units differ from those of the primary pass: {turned:,} of {judged:,}."
        )
    return Document(caption, frame, sections, tuple(notes))


def _artifacts(frame: pd.DataFrame) -> Iterator[tuple]:
    """A row an artifact that somebody judged or labelled: queries, and the labels of each source and pass."""
    judged = {r.name: r.count for r in _of(frame, "adjudication")}
    if judged:
        yield ("Queries", *_judged(judged), "scored unless disputed")
    unlike = {r.name: r.count for r in _of(frame, "labels unlike the coverage")}
    for source in _of(frame, "label cells"):
        own: dict[str, int] = {}
        for r in _of(frame, "labels"):
            head, status, _ = r.name.rsplit(", ", 2)
            if head == source.name:
                own[status] = own.get(status, 0) + r.count
        n = unlike.get(source.name, 0)
        yield (f"Labels: {source.name}", *_judged(own), f"{n:,} unlike the coverage" if n else "the coverage")


def _judged(counts: dict[str, int]) -> tuple[int, str, int, int]:
    """Scope, accepted or corrected, disputed, rest."""
    accepted, corrected = counts.get("accepted", 0), counts.get("corrected", 0)
    disputed = sum(counts.get(status, 0) for status in _DISPUTED)
    scope = sum(counts.values())
    parts = f" ({accepted:,} + {corrected:,})" if corrected else ""
    return scope, f"{accepted + corrected:,}{parts}", disputed, scope - accepted - corrected - disputed


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
            *_frame_name(frame, r),
            f"{r.cells:,}",
            _number(r.raw_agreement),
            f"{_number(r.kappa)} [{_number(r.ci_low)}, {_number(r.ci_high)}]",
            _number(r.kappa_weighted),
            _number(r.alpha),
            f"{r.level_cells:,}",
            MISSING
            if math.isnan(r.level_kappa)
            else f"{_number(r.level_kappa)} [{_number(r.level_low)}, {_number(r.level_high)}]",
        )
        for r in frame.itertuples()
    ]
    heads = [
        "Sources",
        "Packages",
        *_frame_head(frame),
        "Cells",
        "Raw agreement",
        "Cohen's kappa",
        "Kappa, weighted",
        "Ordinal alpha",
        "Both cover",
        "Kappa, full or partial",
    ]
    sections = [Section("Cells", _text_frame(heads, cells))]
    parts = [frame.assign(part="cells")]
    if ratios is not None and len(ratios):
        sections.append(Section("Package ratios", _ratio_frame(ratios)))
        parts.append(ratios.assign(part="ratios"))
    notes = (
        f"Frame: {frames_text(frame)}. Binary label: coverage >= .5.",
        "a = b, c: the label that a and b share against that of c, on the cells where they share one.",
        "Weighted: each cell counts for as many of its package and stratum as it stands for. Alpha: Krippendorff's, "
        "ordinal, on 0, .5 and 1.",
        "Full or partial: of the cells that both find covered, coverage of 1 against less; n/a where one of the two is "
        "all there is.",
        "Ratio MAD: mean absolute difference of package ratios of the writers "
        + ", ".join(map(style.label, ("oracle_gvt", "estimated_gvt", "memgpt_tiered", "mem0_extract", "amem_graph")))
        + " (those that are scored).",
        *(_binary_notes(ratios) if ratios is not None else []),
        *(_other_suite_notes(results, suite, ratios) if ratios is not None else []),
        _CI,
        _SOURCES,
    )
    caption = f"Coverage audit; suite {suite}, {frame_sizes(frame)}."
    return Document(caption, pd.concat(parts, ignore_index=True), tuple(sections), notes)


def _ratio_frame(ratios: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for r in ratios.assign(place=ratios["budget"].fillna(0)).sort_values(["labels", "place"]).itertuples():
        kept = MISSING if r.ranking_preserved is None or pd.isna(r.ranking_preserved) else "no"
        kept = "yes" if kept == "no" and r.ranking_preserved else kept
        rows.append((
            r.labels, "all" if pd.isna(r.budget) else f"{int(r.budget):,}", f"{r.packages:,}", f"{r.rows:,}",
            f"{r.dropped:,}", _number(r.ratio_mad), _number(r.ratio_mad_binary), kept, _number(r.spearman),
        ))  # fmt: skip
    heads = ["Other labels", "B", "Packages", "Rows", "Left out", "Ratio MAD", "Against own, binary"]
    return _text_frame([*heads, "Ranking preserved", "Spearman"], rows)


def _binary_notes(frame: pd.DataFrame) -> list[str]:
    """Which of the other labels are binary, so that ratios under them differ without any disagreement."""
    column = "ratio_mad_binary" if "ratio_mad_binary" in frame else "mean_own_binary"
    binary = sorted(set(frame["labels"][frame[column].notna()]))
    given = frame[frame[column].notna()]
    other = given["ratio_mad_binary"] if "ratio_mad_binary" in frame else given["mean_own_binary"] - given["mean_ratio"]
    same = (
        "; here it is 0: these labels say nothing but what the own ones, made binary, say" if other.eq(0).all() else ""
    )
    return [
        f"Labels of {', '.join(binary)} are binary: covered (coverage >= .5, a half too) is 1, else 0. The difference "
        "from the suite's own labels is therefore not that of the labels alone; that from own labels made binary on "
        f"the same cells is{same}."
    ] if binary else []  # fmt: skip


def _other_suite_notes(results: Results, suite: str, frame: pd.DataFrame) -> list[str]:
    """That a comparison with another suite has packages without anything to compare (first setting)."""
    if not (frame["kind"] == SUITE).any():
        return []
    summary = overall(results.of_suite("summary", suite, results.info.suite(suite).settings[0]))
    return [
        f"Against another suite: {note[0].lower()}{note[1:]}"
        for note in opt_zero_notes(summary, "where every writer's own ratio is 1 whatever it keeps")
    ]


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
            (_pair(r), *_frame_name(frame, r), style.prettify(r.group), f"{r.cells:,}",
             f"{r.only_first + r.only_second:,}", f"{100 * (r.only_first + r.only_second) / r.cells:.1f} %",
             f"{r.only_first:,}", f"{r.only_second:,}")
            for r in part.itertuples()
        ]  # fmt: skip
        counts = ["Cells", "Disagree", "Share", "Only first covers", "Only second covers"]
        heads = ["Sources", *_frame_head(frame), style.prettify(by), *counts]
        sections.append(Section(f"By {style.prettify(by).lower()}", _text_frame(heads, rows)))
    caption = f"Disagreements of label sources; suite {suite}, {frame_sizes(frame)}."
    return Document(caption, frame, tuple(sections), (f"Frame: {frames_text(frame)}.", _SOURCES))


_KINDS = {
    "drawn": "every positive cell and a seeded 20 % of the zero cells of each package",
    "labelled": "the cells that a source labelled one by one",
}


def frames_text(frame: pd.DataFrame) -> str:
    """What the frames of a table are; named where there are several."""
    kinds = sorted(set(frame["frame"]), reverse=True)
    return "; ".join(f"{kind}: {_KINDS[kind]}" if len(kinds) > 1 else _KINDS[kind] for kind in kinds)


def frame_sizes(frame: pd.DataFrame) -> str:
    """`n = 31 labelled cells and 62 drawn cells`: the most of a comparison in each frame (rows of schema AGREEMENT
    or DISAGREEMENTS)."""
    pair = ["frame", "first", "agreed_with", "second", *(["by"] if "by" in frame else [])]
    most = frame.groupby(pair)["cells"].sum().groupby("frame").max().sort_index(ascending=False)
    return "n = " + " and ".join(_count(int(n), f"{kind} cell") for kind, n in most.items())


def _frame_head(frame: pd.DataFrame) -> list[str]:
    return ["Frame"] if frame["frame"].nunique() > 1 else []


def _frame_name(frame: pd.DataFrame, row) -> list[str]:
    return [row.frame] if frame["frame"].nunique() > 1 else []


@table(having("relabelled"))
def relabelled(results: Results, suite: str) -> Document:
    """Mean package ratio under the suite's own labels and under others."""
    frame = results.natural("relabelled", suite)
    if frame.empty:
        return _one_source(f"Mean package ratio, own labels / other labels; suite {suite}, n = 0 comparisons.", suite)
    sections = []
    for name, part in frame.groupby("labels", sort=True):
        binary = bool(part["mean_own_binary"].notna().any())
        cells = {(r.writer, r.budget): _relabelled_cell(r, binary) for r in part.itertuples()}
        of = ": own / own made binary / these, binary" if binary else ": own / these"
        sections.append(Section(f"Labels: {name}{of}", _writer_grid(results, suite, part, cells)))
    any_binary = " (binary where their heading says so)" if frame["mean_own_binary"].notna().any() else ""
    caption = (
        f"Mean package ratio, own labels / other labels{any_binary}; suite {suite}, n = {_span(frame['n'])} a cell."
    )
    notes = (
        "Other labels: what writers kept stays, value and OPT are computed anew with the labels in place of the "
        "suite's own on the cells that they have (1 is full coverage, 0 none); packages whose new OPT is 0 or not "
        "proven are left out.",
        *_binary_notes(frame),
        "Another suite: its own selections, values and optima, on the packages that both have.",
        *_other_suite_notes(results, suite, frame),
        _CI,
    )
    return Document(caption, frame, tuple(sections), notes)


def _relabelled_cell(row, binary: bool) -> str:
    """`own / own made binary / other [interval] (n = 48)`; the number of the middle one only where it is another."""
    fewer = f" (n = {row.n_binary})" if binary and not pd.isna(row.n_binary) and row.n_binary != row.n else ""
    middle = f"{_number(row.mean_own_binary)}{fewer} / " if binary else ""
    return f"{_number(row.mean_own)} / {middle}{_interval(row)} (n = {row.n})"


@table(having("sensitivity"), latex=True)
def sensitivity(results: Results, suite: str) -> Document:
    """OPT with k = 2, under other costs and on smaller pools, over OPT of the reference."""
    frame = results.natural("sensitivity", suite)
    # A fraction is of each cost model's own total; an absolute budget is so many units of whatever the model counts.
    absolute = frame["budget_spec"].str.isdigit() & frame["varied"].eq("cost_model")
    titles = {
        "k": "More memories of a group",
        "cost_model": "Cost models, the same on both sides, at the same fraction of each one's total",
        "pool": "Pools",
        "absolute": "Cost models, the same on both sides, at the same number of different units",
    }
    frame = frame.assign(part=frame["varied"].mask(absolute, "absolute"))
    sections = []
    for kind, title in titles.items():
        part = frame[frame["part"] == kind].sort_values(["saturation", "k", "cost_model", "value", "budget"])
        varied = "cost_model" if kind == "absolute" else kind
        rows = [
            (
                f"{r.value} / {r.reference}" if varied != "k" else f"k = {r.value} / k = {r.reference}",
                _elsewhere(r, varied),
                f"{r.budget:,}" + (f" / {r.reference_budget:,}" if r.budget != r.reference_budget else ""),
                f"{r.n:,}",
                _number(r.mean_value),
                _number(r.mean_reference),
                _interval(r),
                _number(r.min_ratio),
                _number(r.max_ratio),
            )
            for r in part.itertuples()
        ]
        heads = ["Changed / reference", "Setting", "B", "n", "OPT", "OPT, reference", "Mean of ratios"]
        heads += ["Smallest", "Largest"]
        if rows:
            sections.append(Section(title, _text_frame(heads, rows)))
    undefined, unproven = int(frame["undefined_n"].max()), int(frame["n_unproven"].max())
    notes = [_CI, "OPT: mean over packages with both optima proven; ratios are means of per-package ratios."]
    notes += [f"Up to {_packages(undefined)} a row with a reference OPT of 0 have no ratio."] if undefined else []
    notes += [f"Up to {_packages(unproven)} a row are left out: an optimum is not proven."] if unproven else []
    if absolute.any():
        notes.append(
            "The same number of units is not the same room: a word is no byte. Such a row says what a fixed budget "
            "number buys under each cost model, not how far OPT depends on the model; compare fractions for that."
        )
    caption = f"Sensitivity of OPT; suite {suite}, n = {_span(frame['n'])} a row."
    return Document(caption, frame.drop(columns="part"), tuple(sections), tuple(notes))


def _elsewhere(row, varied: str) -> str:
    """The setting that both sides share."""
    parts = [f"{row.cost_model} costs" if varied != "cost_model" else "", f"k = {row.k}" if varied != "k" else ""]
    return ", ".join([*(p for p in parts if p), f"h = {row.saturation}"])


@table(having("robustness"))
def robustness(results: Results, suite: str) -> Document:
    """Ranking and ratios of writers under label noise."""
    frame, writers = results.natural("robustness", suite), results.natural("robustness_writers", suite)
    headings = {
        "blind": "Ranking of the writers that see no coverage and keep anything",
        "all": "Ranking of all writers, the optimum and rules that follow the coverage among them",
    }
    heads = [
        "Flipped",
        "B",
        "Writers",
        "Kendall's tau-b (draws)",
        "Pairs reversed",
        "Packages",
        "OPT = 0",
        "Not proven",
    ]
    sections = [
        Section(heading, _text_frame(heads, [_rank_row(r) for r in part.itertuples()]))
        for ranked, heading in headings.items()
        if (part := frame[frame["ranked"] == ranked])["writers"].max() > 1
    ]
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
        "Tau-b of the order without noise and that with it: a pair that is tied on one side only lowers it; pairs "
        "reversed counts the pairs that are apart without noise and stand the other way round with it. Writers that "
        "always stand at the top or bottom make a ranking look firm, so the first one leaves them out.",
        "Packages count where OPT > 0 and proven without and with noise; counts of packages are means of draws.",
        _first_setting(results, suite),
    )
    caption = (
        f"Label noise; suite {suite}, n = {_packages(int(first['packages']))}, {int(first['draws'])} draws a rate."
    )
    both = pd.concat([frame.assign(part="ranking"), writers.assign(part="writers")], ignore_index=True)
    return Document(caption, both, tuple(sections), notes)


def _rank_row(r) -> tuple:
    return (
        f"{100 * r.rate:g} %",
        f"{r.budget:,}",
        f"{r.writers:,}",
        f"{_number(r.kendall_tau)} ({_number(r.tau_low)} to {_number(r.tau_high)})" if r.writers > 1 else MISSING,
        MISSING if math.isnan(r.reversed_pairs) else f"{100 * r.reversed_pairs:.1f} %",
        f"{r.n:,g}",
        f"{r.n_zero:,g}",
        f"{r.n_unproven:,g}",
    )


@table(having("categories"))
def question_types(results: Results, suite: str) -> Document:
    """Results by type of question: how much of what queries require is covered, wholly or in part, and ratios."""
    frame = results.natural("categories", suite)
    frame = frame.assign(asked=frame["queries"] - frame["without_requirement"])
    counts = frame.groupby("category")[["packages", "queries", "without_requirement", "asked"]].max()
    names = _categories(frame)
    overview = [(name, *(int(c) for c in counts.loc[name])) for name in names]
    heads = ["Type", "Packages", "Queries", "Requiring nothing", "Counted"]
    sections = [Section("Queries", _text_frame(heads, overview))]
    with_ratio = set()
    for setting in results.info.suite(suite).settings:
        own = _in(frame, setting)
        for category in (name for name in _categories(own) if counts.loc[name, "asked"]):
            part = own[own["category"] == category]
            ratios = bool((part["n"] > 0).any())
            with_ratio.add(ratios)
            cells = {
                (r.writer, r.budget): f"{_number(r.mean_covered)} [{_number(r.covered_low)}, {_number(r.covered_high)}]"
                f" / {_number(r.share_all)}" + (f" / {_number(r.mean_ratio)}" if ratios else "")
                for r in part.itertuples()
            }
            name = f"{category}: covered [interval] / all covered{' / ratio' if ratios else ''}"
            heading = ", ".join([*_setting_name(results, suite, setting), name])
            sections.append(Section(heading, _writer_grid(results, suite, part, cells)))
    notes = [
        "Covered: mean share of a query's required units that is covered, partly covered ones by their part. All "
        "covered: share of the queries each of whose required units is covered in full.",
        "OPT has the largest F of a package, which is neither of these shares: a writer may stand above it.",
        _CI,
    ]
    if True in with_ratio:
        notes.insert(1, "Ratio: mean package ratio, of the packages all of whose queries are of the type.")
        notes += suite_opt_zero_notes(results, suite, "all types together, where every writer's ratio is 1")
    total, asked = (int(counts.loc[names[-1], c]) for c in ("queries", "asked"))
    of = f" of {total:,}" if total != asked else ""
    caption = f"Results by type of question; suite {suite}, n = {_count(asked, 'query')}{of}."
    return Document(caption, frame.drop(columns="asked"), tuple(sections), tuple(notes))


@table(having("downstream"))
def downstream(results: Results, suite: str) -> Document:
    """Accuracy of downstream systems given all, some or none of the required units."""
    frame = results.natural("downstream", suite)
    if frame.empty:
        raise NothingToShow(f"suite {suite!r} has no downstream answers")
    present = set(frame["covered"])
    shown = [name for name in COVERED if name != "nothing required" or name in present]
    systems = [s for s in sorted(set(frame["system"])) if s != ALL_SYSTEMS]
    together = [ALL_SYSTEMS] if len(systems) > 1 else []
    names = dict(zip(frame["system"], frame["writer"], strict=True))
    label = labels_of(results, suite)
    sections = []
    for setting in results.info.suite(suite).settings:
        for budget, part in _in(frame, setting).groupby("budget"):
            cells = {
                (r.system, r.covered): f"{_number(r.accuracy)} [{_number(r.ci_low)}, {_number(r.ci_high)}] "
                f"({r.correct:,}/{r.n:,})"
                for r in part.itertuples()
            }
            there = set(part["system"])
            rows = [
                (s, label(names[s]) if names[s] else "", *(cells.get((s, c), MISSING) for c in shown))
                for s in [*systems, *together]
                if s in there
            ]
            heading = ", ".join([*_setting_name(results, suite, setting), f"B = {budget:,}"])
            sections.append(Section(heading, _text_frame(["System", "Writer", *map(style.prettify, shown)], rows)))
    notes = [
        "All: each required unit is covered; none: nothing of any is; some: else. Any: all answers together.",
        f"[low, high]: 95 % interval, Wilson's of one system{', bootstrap over queries of all' if together else ''}.",
        *answer_notes(frame, results.info.suite(suite).settings),
    ]
    caption = f"Accuracy by required units kept; suite {suite}, {answers_text(frame)}."
    return Document(caption, frame, tuple(sections), tuple(notes))


# In order of display.
COVERED = ("all", "some", "none", "nothing required", "any")


def labels_of(results: Results, suite: str) -> Callable[[str], str]:
    """Writer name -> the name a reader sees."""
    configured = {w.name: w for w in results.info.suite(suite).writers}
    return lambda name: style.label(configured.get(name, name))


def answers_text(frame: pd.DataFrame) -> str:
    """`n = 12 answers of 4 systems` (rows of schema DOWNSTREAM)."""
    own = frame[frame["system"] != ALL_SYSTEMS].drop_duplicates("system")
    return f"n = {_count(int(own['answers'].sum()), 'answer')} of {_count(len(own), 'system')}"


def answer_notes(frame: pd.DataFrame, settings: Sequence[Setting]) -> list[str]:
    """Which answers count more than once, and where those without a setting do."""
    own = frame[(frame["system"] != ALL_SYSTEMS) & (frame["covered"] == "any")]
    at = own.groupby(["cost_model", "k", "saturation", "budget"], as_index=False)["n_any_budget"].sum()
    repeated = int(at.groupby(["cost_model", "k", "saturation"])["n_any_budget"].max().sum())
    notes = []
    if len(settings) > 1:
        notes.append(f"An answer counts in the setting that it names, else in the first: {settings[0]}.")
    if repeated and at["budget"].nunique() > 1:
        notes.append(
            f"{_count(repeated, 'answer')} given without a budget: counted at each budget, under what the writer keeps "
            f"there, so the columns move between budgets and the answers do not."
        )
    return notes


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
    return _text_frame(["Writer", *(f"B = {b:,}" for b in budgets)], rows)


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
    return _count(n, "package")


def _count(n: int, noun: str) -> str:
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"


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
