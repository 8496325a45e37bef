"""Every registered table: its numbers, its caption and remarks, and the same bytes on every run."""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import present_frames as frames
import pytest

from memaudit.errors import InputError
from memaudit.present import style
from memaudit.present.figures_io import draw
from memaudit.present.registry import TABLES, Item
from memaudit.present.results import Results, RunInfo, SuiteInfo, WriterInfo, focus_budget, overall
from memaudit.present.tables import Document, Section, published_document
from memaudit.present.tables_io import make, to_latex, to_markdown, write
from memaudit.present.wanted import table_files, wanted_tables

RUNS = {"paper": frames.paper_like(n=20), "tiny": frames.tiny()}
CASES = [(run, *pair) for run, results in RUNS.items() for pair in wanted_tables(results.info)]


def test_every_registered_table_is_made_here():
    assert {name for _, name, _ in CASES} == set(TABLES)


@pytest.mark.parametrize(("run", "name", "suite"), CASES)
def test_captions_files_and_bytes(tmp_path, run, name, suite):
    results = RUNS[run]
    paths = write(results, name, suite, tmp_path / "a")
    again = write(results, name, suite, tmp_path / "b")
    assert [str(p.relative_to(tmp_path / "a")) for p in paths] == table_files(name, suite)
    assert [p.read_bytes() for p in paths] == [p.read_bytes() for p in again]
    markdown = paths[1].read_text(encoding="utf-8")
    caption = markdown.splitlines()[0]
    assert caption.startswith("**") and "n = " in caption and "suite" in caption
    assert suite is None or f"suite {suite}" in caption
    assert not pd.read_csv(paths[0]).empty
    document = make(results, name, suite)
    assert all(isinstance(cell, str) for section in document.sections for cell in section.frame.to_numpy().flat)


def test_summary_cells_and_numbers():
    document = make(RUNS["paper"], "summary", "small")
    rows = RUNS["paper"].frame("summary").query("suite == 'small'")
    one = rows.query("writer == 'greedy' and budget == 4").iloc[0]
    shown = document.sections[0].frame.set_index("Writer")
    assert shown.loc["Greedy", "B = 4"] == f"{one.mean_ratio:.3f} [{one.ci_low:.3f}, {one.ci_high:.3f}]"
    assert list(shown.columns) == [f"B = {b}" for b in (1, 2, 4, 8, 16)]
    assert len(shown) == 22
    csv = pd.read_csv(io.StringIO(document.tidy.to_csv(index=False)))
    assert set(csv["mean_ratio"]) == set(rows["mean_ratio"])
    assert (csv.query("writer == 'mem0_extract'")["writer_label"] == "Mem0-style (proxy)").all()


def test_opt_zero_stands_beside_the_mean():
    document = make(RUNS["paper"], "stress", "stress")
    first = document.sections[0].frame.set_index("Writer")
    assert document.sections[0].heading == "B = 1"
    assert first["Scope shift"].str.contains(r"\(z = [12]0\)$").all()
    assert not first["Base"].str.contains("z").any()
    assert any(remark.startswith("(z = N)") for remark in document.notes)


def test_missing_ratios_are_said():
    whole = RUNS["paper"]
    summary = whole.frame("summary").copy()
    hit = (summary["suite"] == "small") & (summary["writer"] == "greedy") & (summary["budget"] == 4)
    summary.loc[hit, ["mean_ratio", "ci_low", "ci_high", "n", "n_unproven"]] = [float("nan")] * 3 + [0, 20]
    document = make(Results(whole.info, {"summary": summary}), "summary", "small")
    assert document.sections[0].frame.set_index("Writer").loc["Greedy", "B = 4"] == "n/a"
    assert any("not proven" in remark and "20" in remark for remark in document.notes)
    assert "n = 20 packages" in document.caption
    assert {"Greedy: n = 0 to 20 packages.", "Estimated GVT, learned: n = 10 packages."} <= set(document.notes)


def test_each_setting_has_its_section():
    document = make(RUNS["tiny"], "summary", "mine")
    assert [s.heading for s in document.sections] == [
        "declared costs, k = 1, h = cap1",
        "words costs, k = 2, h = linear",
    ]
    assert list(document.sections[1].frame.columns) == ["Writer", "B = 40", "B = 80"]


def test_solver_audit_in_latex():
    text = to_latex(make(RUNS["paper"], "solver_audit", None), "tab:solver_audit")
    assert r"CP-SAT & 1,200 & 392 & 1,200 & 0 & 0 \\" in text
    assert r"suite solver\_audit, n = 1,200" in text
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 1
    whole = RUNS["paper"]
    audit = whole.frame("audit").assign(max_difference=[0.0, 1e-9, float("nan")])
    shown = make(Results(whole.info, {"audit": audit}), "solver_audit", None).sections[0].frame
    assert list(shown["Largest difference"]) == ["0", "1.00e-09", "n/a"]


def test_published_counts_and_decimals():
    document = published_document(frames.published())
    assert "1 reproduced, 0 differs, 1 needs data" in document.caption
    text = to_markdown(document)
    assert "0.98312" in text and "needs the natural set" in text and "MemGPT/Letta-style (proxy)" in text
    assert [s.heading for s in document.sections] == ["fig:stress", "tab:natural"]


def test_markup_is_escaped():
    frame = pd.DataFrame({"a|b": ["x|y", "50 % & $_"]})
    document = Document("c", frame, (Section("", frame), Section("two", frame)), ())
    assert r"x\|y" in to_markdown(document)
    latex = to_latex(document, "t")
    assert r"50 \% \& \$\_" in latex and r"\label{t}" in latex and r"\label{t-2}" in latex


@pytest.mark.parametrize("name", sorted(TABLES))
def test_no_data_is_an_error(name):
    whole = RUNS["paper"]
    empty = {key: (f() if callable(f) else f).iloc[:0] for key, f in whole.frames.items()}
    suite = None if TABLES[name].when_run else "stress"
    with pytest.raises(InputError):
        make(Results(whole.info, empty), name, suite)


def test_errors_name_what_is_missing():
    whole = RUNS["paper"]
    with pytest.raises(InputError, match="unknown table 'sums'"):
        make(whole, "sums", "small")
    with pytest.raises(InputError, match="'learned'"):
        make(Results(whole.info, {}), "learned", "small")
    with pytest.raises(InputError, match="'all'"):
        overall(whole.frame("summary").query("distribution != 'all'"))


def test_frames_are_loaded_once_and_only_when_needed():
    loads = []

    def load():
        loads.append(1)
        return RUNS["paper"].frame("summary")

    results = Results(RUNS["paper"].info, {"summary": load, "paired": lambda: pytest.fail("not needed")})
    make(results, "summary", "small")
    make(results, "stress", "stress")
    assert loads == [1]


def test_wanted_tables_follow_the_configuration():
    opt, raw = WriterInfo("opt", "opt", "full", "solution"), WriterInfo("recency_raw", "recency_raw")
    fitted = WriterInfo("fitted", "estimated_gvt", learned=True)

    def names(*suites: SuiteInfo, **run) -> list[tuple[str, str | None]]:
        return wanted_tables(RunInfo(suites, **run))

    assert names(SuiteInfo("audit", ()), audit="audit") == [("solver_audit", None), ("status_counts", None)]
    one = [("summary", "s"), ("decomposition", "s"), ("status_counts", None)]
    assert names(SuiteInfo("s", (raw,), ("base",))) == one
    assert ("paired", "s") in names(SuiteInfo("s", (opt, raw), ("base",)))
    assert ("paired", "s") not in names(SuiteInfo("s", (opt, raw), ("base",)), references=("greedy",))
    assert ("stress", "s") in names(SuiteInfo("s", (raw,), ("base", "scope_shift")))
    assert ("learned", "s") in names(SuiteInfo("s", (raw, fitted), ("base",), seeds=range(4)))
    assert ("learned", "s") not in names(SuiteInfo("s", (raw, fitted), ("base",), seeds=(0, 2)))
    assert ("learned", "s") not in names(SuiteInfo("s", (raw, fitted), ("base",)))


def test_third_budget_or_the_last():
    assert focus_budget([13, 1, 3, 6, 6]) == 6
    assert focus_budget([2, 1]) == 2


def test_a_table_is_either_of_a_suite_or_of_the_run():
    assert Item("x", print, when_run=lambda run: False).suites(RunInfo(())) == []
    from memaudit.present.registry import table

    with pytest.raises(ValueError, match="not exactly one"):
        table()(lambda results, suite: None)


def test_tables_and_wanted_do_not_import_matplotlib():
    code = "import sys, memaudit.present.wanted, memaudit.present.tables_io; sys.exit('matplotlib' in sys.modules)"
    scripts = Path(__file__).resolve().parents[2] / "scripts"
    subprocess.run([sys.executable, "-c", code], cwd=scripts, check=True)


def test_one_label_source_is_said_and_not_an_error():
    whole = RUNS["tiny"]
    empty = {name: whole.frames[name].iloc[:0] for name in ("agreement", "disagreements", "label_ratios")}
    results = Results(whole.info, {**whole.frames, **empty})
    for name in ("coverage_audit", "disagreements"):
        document = make(results, name, "talk")
        assert "n = 0 comparisons" in document.caption and "one source" in document.notes[0]
        assert to_latex(document, "tab:x").count("tabular") == 2


def test_natural_cells_are_the_frames_numbers():
    whole = RUNS["tiny"]
    agreement = whole.frames["agreement"].query("first == 'human_a' and agreed_with == ''").iloc[0]
    shown = make(whole, "coverage_audit", "talk").sections[0].frame.set_index("Sources").loc["human_a, human_b"]
    assert shown["Cohen's kappa"] == f"{agreement.kappa:.3f} [{agreement.ci_low:.3f}, {agreement.ci_high:.3f}]"
    assert shown["Ordinal alpha"] == f"{agreement.alpha:.3f}" and shown["Cells"] == f"{agreement.cells:,}"
    share = whole.frames["categories"].query("category == 'all' and writer == 'oracle_gvt' and budget == 6").iloc[0]
    counts, *sections = make(whole, "question_types", "talk").sections
    assert counts.frame.set_index("Type").loc["all"].tolist() == ["24", "24", "0", "24"]
    types = {s.heading.split(", ")[-1]: s.frame.set_index("Writer") for s in sections}
    shown = types["all: covered [interval] / all covered / ratio"].loc["Oracle GVT", "B = 6"]
    covered = f"{share.mean_covered:.3f} [{share.covered_low:.3f}, {share.covered_high:.3f}]"
    assert shown == f"{covered} / {share.share_all:.3f} / {share.mean_ratio:.3f}"
    ratios = whole.frames["label_ratios"]
    pooled = ratios[ratios["budget"].isna()].iloc[0]
    first = make(whole, "coverage_audit", "talk").sections[1].frame.iloc[0]
    assert (first["B"], first["Ratio MAD"]) == ("all", f"{pooled.ratio_mad:.3f}")
    assert first["Against own, binary"] == f"{pooled.ratio_mad_binary:.3f}"


def test_binary_labels_are_said_and_stand_beside_own_labels_made_binary():
    whole = RUNS["tiny"]
    document = make(whole, "relabelled", "talk")
    row = whole.frames["relabelled"].query("writer == 'recency_raw' and budget == 9").iloc[0]
    assert "binary" in document.caption and row.mean_own_binary != row.mean_own
    (section,) = document.sections
    assert section.heading == "Labels: human_a = human_b: own / own made binary / these, binary"
    shown = section.frame.set_index("Writer").filter(like="9").loc[style.label("recency_raw")].iloc[0]
    assert shown.startswith(f"{row.mean_own:.3f} / {row.mean_own_binary:.3f} / {row.mean_ratio:.3f} [")
    for name in ("relabelled", "coverage_audit"):
        assert any("Labels of human_a = human_b are binary" in note for note in make(whole, name, "talk").notes)
    plain = whole.frames["relabelled"].assign(mean_own_binary=np.nan, n_binary=pd.NA)
    document = make(Results(whole.info, {**whole.frames, "relabelled": plain}), "relabelled", "talk")
    assert "binary" not in " ".join((document.caption, document.sections[0].heading, *document.notes))


def test_agreement_on_the_level_of_coverage_is_shown_or_blank():
    whole = RUNS["tiny"]
    frame = whole.frames["agreement"]
    assert frame["level_kappa"].isna().any()  # the humans' labels are binary
    told = frame.assign(level_cells=40, level_kappa=0.5, level_low=0.4, level_high=0.6)
    for used, cell in ((frame[frame["level_kappa"].isna()], "n/a"), (told, "0.500 [0.400, 0.600]")):
        results = Results(whole.info, {**whole.frames, "agreement": used})
        shown = make(results, "coverage_audit", "talk").sections[0].frame
        assert set(shown["Kappa, full or partial"]) == {cell}
    assert "0.500 [0.400, 0.600] of 40" in notes_of(draw(results, "label_agreement", "talk"))
    assert "Labels are binary" in notes_of(draw(whole, "label_agreement", "talk"))


def notes_of(figure) -> str:
    """The remarks below a figure, in one line."""
    legend = figure.legends[0].get_title().get_text() if figure.legends else figure.get_supxlabel()
    return " ".join(legend.split())


def test_packages_with_an_optimum_of_zero_are_counted_wherever_means_are_over_budgets():
    whole = RUNS["tiny"]
    summary = whole.frames["summary"]
    budget = summary.loc[summary["suite"] == "mine", "budget"].min()
    zero = summary["suite"].isin(["mine", "talk"]) & summary["budget"].isin([budget, 4])
    some = Results(whole.info, {**whole.frames, "summary": summary.assign(opt_zero_n=np.where(zero, 3, 0))})
    none = Results(whole.info, {**whole.frames, "summary": summary.assign(opt_zero_n=0)})
    tables = [(name, "mine", budget) for name in ("summary", "paired", "decomposition")]
    for name, suite, at in [*tables, ("question_types", "talk", 4)]:
        assert f"3 at B = {at}" in " ".join(make(some, name, suite).notes) or name == "summary"
        assert "OPT = 0" not in " ".join(make(none, name, suite).notes)
    for name in ("budget_sweep", "decomposition", "representation_mix", "validity_coverage", "validity_gap"):
        assert f"3 at B = {budget}" in notes_of(draw(some, name, "mine"))
        assert "OPT = 0" not in notes_of(draw(none, name, "mine"))


def test_optima_under_other_costs_at_absolute_budgets_stand_apart():
    whole = RUNS["tiny"]
    heads = [s.heading for s in make(whole, "sensitivity", "talk").sections]
    assert [h for h in heads if h.startswith("Cost models")] == [
        "Cost models, the same on both sides, at the same number of different units"
    ]
    fraction = whole.frames["sensitivity"].assign(budget_spec="0.05")
    shares = Results(whole.info, {**whole.frames, "sensitivity": fraction})
    document = make(shares, "sensitivity", "talk")
    heads = [s.heading for s in document.sections]
    assert "Cost models, the same on both sides, at the same fraction of each one's total" in heads
    assert not any("different units" in text for text in (*heads, *document.notes))
    assert {"Smallest", "Largest"} <= set(document.sections[0].frame)


def test_rankings_of_writers_that_see_no_coverage_come_first():
    whole = RUNS["tiny"]
    first, second, *_ = make(whole, "robustness", "talk").sections
    assert "see no coverage" in first.heading and set(first.frame["Writers"]) == {"2", "3"}
    assert "all writers" in second.heading and set(second.frame["Writers"]) == {"4"}
    ranking = whole.frames["robustness"]
    alone = Results(whole.info, {**whole.frames, "robustness": ranking.assign(
        writers=ranking["writers"].where(ranking["ranked"] == "all", 1))})  # fmt: skip
    assert "all writers" in make(alone, "robustness", "talk").sections[0].heading


def test_downstream_tables_have_one_shape_and_say_what_counts_where():
    whole = RUNS["tiny"]
    document = make(whole, "downstream", "talk")
    assert {tuple(s.frame.columns) for s in document.sections} == {("System", "Writer", "All", "Some", "None", "Any")}
    assert len(document.sections) == 3 and all("declared costs, k = 1" in s.heading for s in document.sections)
    shown = document.sections[0].frame.set_index("System")["Writer"].to_dict()
    assert shown == {"another system": "Mem0-style (proxy)", "oracle_gvt": "Oracle GVT", "all systems": ""}
    assert "n = 48 answers of 2 systems" in document.caption
    notes = " ".join(document.notes)
    assert "48 answers given without a budget" in notes and "else in the first: declared costs, k = 1" in notes
    own = whole.frames["downstream"].assign(n_any_budget=0)
    given = make(Results(whole.info, {**whole.frames, "downstream": own}), "downstream", "talk")
    assert "without a budget" not in " ".join(given.notes)


def test_packages_of_no_value_have_a_mean_without_them():
    whole = RUNS["tiny"]
    summary = whole.frames["summary"]
    budget = summary.loc[summary["suite"] == "talk", "budget"].min()
    zero = summary["budget"].eq(budget) & summary["suite"].eq("talk")
    changed = summary.assign(opt_zero_n=np.where(zero, 3, 0), mean_ratio_opt_positive=np.where(zero, 0.25, 1.0))
    sections = make(Results(whole.info, {**whole.frames, "summary": changed}), "summary", "talk").sections
    extra = [s for s in sections if s.heading.endswith("packages with OPT > 0 only")]
    assert len(extra) == len(sections) // 2 > 0
    assert list(extra[0].frame)[1:] == [f"B = {budget}"] and set(extra[0].frame[f"B = {budget}"]) == {"0.250"}
    plain = make(Results(whole.info, {**whole.frames, "summary": changed.assign(opt_zero_n=0)}), "summary", "talk")
    assert not any("OPT > 0" in s.heading for s in plain.sections)


def test_reliability_counts_packages_and_queries_apart_and_names_the_disputed():
    whole = RUNS["tiny"]
    queries, artifacts, *_ = make(whole, "reliability", "talk").sections
    counted = {k.strip(): v for k, v in queries.frame.itertuples(index=False, name=None)}
    assert counted == {"Packages": "24", "Queries": "25", "scored": "24", "not scored": "1", "no candidate": "1"}
    assert artifacts.frame["Role"].tolist() == ["the coverage"]
    assert not any("no status of adjudication" in note for note in make(whole, "reliability", "talk").notes)
    names = whole.frames["construction"]["name"].str.replace(", accepted,", ", unstated,")
    unstated = whole.frames["construction"].assign(name=names)
    document = make(Results(whole.info, {**whole.frames, "construction": unstated}), "reliability", "talk")
    assert any("no status of adjudication" in note for note in document.notes)
    rows = [("adjudication", name, n) for name, n in (("accepted", 20), ("corrected", 4), ("rejected", 2))]
    rows += [("required units", "changed", 4), ("required units", "unchanged", 20)]
    frame = pd.DataFrame([("talk", *row) for row in rows], columns=["suite", "what", "name", "count"])
    judged = Results(whole.info, {**whole.frames, "construction": pd.concat([whole.frames["construction"], frame])})
    document = make(judged, "reliability", "talk")
    assert document.sections[1].frame.iloc[0].tolist() == [
        "Queries", "26", "24 (20 + 4)", "2", "0", "scored unless disputed"
    ]  # fmt: skip
    assert "4 of 24" in document.notes[0]


def test_what_a_suite_is_stands_with_its_tables_and_figures():
    plain = RUNS["tiny"]
    first, *others = plain.info.suites
    told = replace(plain, info=replace(plain.info, suites=(replace(first, about="Invented packages."), *others)))
    assert make(told, "summary", first.name).notes == (*make(plain, "summary", first.name).notes, "Invented packages.")
    figure = draw(told, "budget_sweep", first.name)
    assert figure.get_suptitle().splitlines()[-1] == "Invented packages."
