"""Tables and the figure of exported stores, on an invented store that is scored here."""

import re
from itertools import pairwise

import pandas as pd
import pytest
import store_frames
from store_cases import CONSTANTS

from memaudit.present.figures_io import draw
from memaudit.present.registry import TABLES
from memaudit.present.results import NothingToShow, Results, RunInfo, Setting, StoreInfo, SuiteInfo
from memaudit.present.tables_io import make, to_index, to_markdown
from memaudit.present.wanted import wanted_figures, wanted_tables
from memaudit.schemas import STORE_TABLES
from memaudit.stores.judge_io import judge_named

WORDS = Setting("words")


def results(*stores, settings=(WORDS,)):
    suite = SuiteInfo("talks", source="longmemeval", settings=settings, analyses=STORE_TABLES, stores=stores)
    return Results(RunInfo((suite,)), store_frames.frames("talks", stores))


SHOWN = results(StoreInfo("zeta"), StoreInfo("alpha", demonstration=True))
NAMES = ("external_denominators", "store_diagnosis", "store_lost_units", "store_units", "store_anatomy")


def test_constants_are_those_of_the_setting():
    assert Setting(CONSTANTS["cost_model"]) == SHOWN.info.suite("talks").settings[0]


def test_only_suites_with_stores_have_them():
    tables = {name for name, suite in wanted_tables(SHOWN.info) if suite == "talks"}
    assert set(NAMES) <= tables and "store_costs" not in tables
    assert ("store_diagnostic", "talks") in wanted_figures(SHOWN.info)
    bare = RunInfo((SuiteInfo("talks", source="longmemeval"),))
    assert not {*NAMES, "store_costs"} & {name for name, _ in wanted_tables(bare)}
    several = results(StoreInfo("zeta"), settings=(WORDS, Setting("bytes")))
    assert ("store_costs", "talks") in wanted_tables(several.info)


@pytest.mark.parametrize("name", NAMES)
def test_stores_stand_as_configured_and_demonstrations_are_named(name):
    document = make(SHOWN, name, "talks")
    headings = [section.heading for section in document.sections]
    first = [h.split()[1].rstrip(",") for h in headings]
    assert first == sorted(first, key=["zeta", "alpha"].index) and set(first) == {"zeta", "alpha"}
    assert "alpha is a demonstration: a scripted model wrote the memories" in document.caption
    assert all("demonstration" in h for h in headings if "alpha" in h)
    assert "suite talks, n = " in document.caption and to_markdown(document)
    assert TABLES[name].suites(SHOWN.info) == ["talks"]


def cells(name, section=0):
    return make(SHOWN, name, "talks").sections[section].frame


def test_the_cells_are_the_numbers():
    rows = cells("external_denominators").set_index(["Kept by", "B"])
    assert rows.loc[("Newest first", "8"), "F"] == "1.000"
    assert rows.loc[("Newest first", "8"), "Union ratio"] == "0.400"  # no interval of one example
    assert "Joint ratio" not in rows
    told = cells("store_diagnosis").set_index("B")
    assert told.loc["8", "Missing"] == "1.500 (stale 0.500)" and told.loc["8", "Largest loss"] == "Missing"
    assert told.loc["4", "Largest loss"] == "Selection"
    change = cells("store_diagnosis", 1)
    # Of each budget the verdict and the advice on what is lost; the first three lines are of all budgets.
    assert change["Loss"].tolist() == ["First", "Export", "Units", "Verdict", "Selection", "Verdict", "Missing"]
    assert change["Change"].str.contains("60 %").any()
    assert change.iloc[0].tolist() == [
        "all", "First", "At 4: selection (choose better what is kept); at 8: missing (write what the lost units say). "
        "So few examples say nothing about others.",
    ]  # fmt: skip
    assert change.iloc[1].tolist() == ["any", "Export", "The export: 1 store of scored examples; nothing odd."]
    assert change.iloc[2].tolist() == [
        "any", "Units",
        "Of the 3 units that count 2 are said by no memory (1.500 of 2.500 of the weight): q tea, q gone "
        "(table store_units).",
    ]  # fmt: skip
    assert change["Change"].iloc[5] == (
        "Kept by newest first, the store loses most to extraction (missing), by its labels (1 example). So few "
        "examples say nothing about others."
    )
    notes = " ".join(make(SHOWN, "store_diagnosis", "talks").notes)
    assert "(stale x): " in notes and "OPT of the union: the most that any choice within B" in notes
    lost = cells("store_lost_units", 1)  # B = 8
    assert lost["Unit"].tolist() == ["tea", "gone"]
    assert lost["The optimum keeps"].iloc[1] == 'c (tombstone, cost 2) "not red"'
    assert lost[["Lost", "Missing", "Size", "Selection", "Example loses"]].iloc[1].tolist() == [
        "0.500", "0.500", "0.000", "0.000", "1.500",
    ]  # fmt: skip
    assert make(SHOWN, "store_lost_units", "talks").sections[1].heading.endswith("B = 8, kept by: newest first")
    unsaid = cells("store_units")
    assert unsaid["Unit"].tolist() == ["tea", "gone"] and unsaid["Text"].tolist() == ["n/a", "no longer red"]
    assert unsaid[["Covered", "Lacks"]].values.tolist() == [["0.000", "1.000"], ["0.000", "0.500"]]
    held = cells("store_anatomy").set_index(["What", "Which"])["Value"]
    assert held["Share of memories that fit", "B = 4"] == "100.0 %"
    notes = make(SHOWN, "external_denominators", "talks").notes
    assert "Scored examples without a store, left out: 2 of alpha, 2 of zeta." in notes


@pytest.mark.parametrize(
    ("covered", "line", "listed"),
    [
        ({"new": 1, "tea": 1, "gone": 1}, "All 3 units that count are said in full.", []),
        (
            {"new": 0.5, "tea": 0.75, "gone": 1},
            "All 3 units that count are said, 2 in part only: q new, q tea (table store_units).",
            ["new", "tea"],
        ),
        (
            {"new": 0.25, "tea": 0, "gone": 0.5},
            "Of the 3 units that count 1 is said by no memory (1.000 of 2.500 of the weight): q tea; 2 in part only: "
            "q new, q gone (table store_units).",
            ["tea", "new", "gone"],
        ),
    ],
)
def test_units_said_in_part_are_told_apart_from_those_that_nothing_says(covered, line, listed):
    units = SHOWN.frames["store_units"]
    frames = {**SHOWN.frames, "store_units": units.assign(covered=units["unit_id"].map(covered).astype(float))}
    shown = Results(SHOWN.info, frames)
    change = make(shown, "store_diagnosis", "talks").sections[1].frame.set_index("Loss")["Change"]
    assert change["Units"] == line
    section = make(shown, "store_units", "talks").sections[0]
    assert section.frame["Unit"].tolist() == listed
    named = units.assign(unit_id="q::" + units["unit_id"], covered=0.0)
    frames = {**SHOWN.frames, "store_units": named}
    change = make(Results(SHOWN.info, frames), "store_diagnosis", "talks").sections[1].frame.set_index("Loss")["Change"]
    assert ": q::new, q::tea, q::gone (" in change["Units"]


def test_what_is_odd_in_an_export_stands_under_its_diagnosis_once():
    both = results(StoreInfo("zeta"), StoreInfo("alpha"), settings=(WORDS, Setting("bytes")))
    frames = store_frames.frames("talks", both.info.suite("talks").stores, (WORDS, Setting("bytes")))
    held = frames["store_anatomy"]
    odd = [
        ("examples", "store of no example", 1, "0bb5"), ("examples", "example without a store", 76, "r, t"),
        ("skipped", "no text", 7, "q, r"), ("warning", "several users", 3, "q: 'a': 1, 'b': 2"),
        ("partial", "a page with a next one", 1, "q"), ("labels", "coverage rows of no example", 2, "v"),
    ]  # fmt: skip
    rows = [
        held.query("store == 'zeta'").head(1).assign(what=a, name=b, value=float(n), detail=d) for a, b, n, d in odd
    ]
    shown = Results(both.info, {**frames, "store_anatomy": pd.concat([held, *rows])})
    changes = [section.frame for section in make(shown, "store_diagnosis", "talks").sections[1::2]]
    assert [(change["Loss"] == "Export").sum() for change in changes] == [1, 0, 1, 0]
    assert changes[0].set_index("Loss").loc["Export", "Change"] == (
        "The export: 1 store of scored examples; 1 of no example (0bb5); 7 rows skipped, no text (q, r); partial, a "
        "page with a next one (q); several users, 3 (q: 'a': 1, 'b': 2); 2 coverage rows of no example (v)."
    )
    assert "nothing odd" in changes[2].set_index("Loss").loc["Export", "Change"]


def lost_units(frame, budgets):
    """Sections of the lost units of zeta, of rows of store_most_lost, where these budgets were scored."""
    summary = SHOWN.frames["store_summary"]
    scored = pd.concat([summary.assign(budget=b) for b in budgets])
    info = results(StoreInfo("zeta")).info
    shown = Results(info, {**SHOWN.frames, "store_summary": scored, "store_most_lost": frame})
    return make(shown, "store_lost_units", "talks").sections


def test_lost_units_that_are_the_same_at_neighbouring_budgets_are_listed_once():
    frame = SHOWN.frames["store_most_lost"].query("store == 'zeta' and budget == 8")
    same = pd.concat([frame.assign(budget=b) for b in (8, 16, 32, 128)] + [frame.assign(budget=256, lost=0.25)])
    # Nothing is lost at 64, which was scored: 128 is no neighbour of 32.
    headings = [section.heading.split(", ")[-2] for section in lost_units(same, [8, 16, 32, 64, 128, 256])]
    assert headings == ["B = 8 to 32 (3 budgets)", "B = 128", "B = 256"]


def test_texts_of_memories_are_cut_at_a_word_and_whole_in_the_data():
    text = "the user said, twice, that tea is at four " * 5
    frame = SHOWN.frames["store_most_lost"].query("store == 'zeta' and budget == 8").head(1)
    kept = f'c (fact, cost 2) "{text.strip()}"\nd (fact, cost 3)'
    frame = frame.assign(kept_instead=kept, store_best=f'm (coverage 1, cost 9) "{text.strip()}"')
    (section,) = lost_units(frame, [8])
    once = "the user said, twice, that tea is at four"
    cut = f"{once} {once} the user said, twice, that tea is\u2026"
    assert section.frame["The optimum keeps"].tolist() == [f'c (fact, cost 2) "{cut}"; d (fact, cost 3)']
    assert section.frame["Best in the store"].tolist() == [f'm (coverage 1, cost 9) "{cut}"']
    shown = Results(SHOWN.info, {**SHOWN.frames, "store_most_lost": frame})
    assert make(shown, "store_lost_units", "talks").tidy["kept_instead"].tolist() == [kept]


def test_what_memories_say_does_nothing_in_a_page():
    text = "\x1b[31mred \u202eorder <img src=x> | `code` [here](http://x) *two*"
    frame = SHOWN.frames["store_most_lost"].assign(store_best=f'm (coverage 1, cost 9) "{text}"', unit_text="a\n| b |")
    page = to_markdown(
        make(Results(SHOWN.info, {**SHOWN.frames, "store_most_lost": frame}), "store_lost_units", "talks")
    )
    assert not {"\x1b", "\u202e"} & set(page) and "<img" not in page
    shown = r'"\\u{1b}[31mred \\u{202e}order &lt;img src=x> \| \`code\` [here\](http://x) \*two\*"'
    assert shown in page and r"a \| b \|" in page


def test_intervals_are_shown_of_five_examples_or_more():
    frame = SHOWN.frames["store_summary"]
    told = SHOWN.frames["store_diagnosis"]
    for n, cell in ((4, "0.400"), (5, "0.400 [0.400, 0.400]")):
        several = Results(SHOWN.info, {**SHOWN.frames, "store_diagnosis": told.assign(n=n)})
        first, change = (section.frame for section in make(several, "store_diagnosis", "talks").sections[:2])
        interval = " [1.500, 1.500]" if n == 5 else ""
        assert first.set_index("B").loc["8", "Missing"] == f"1.500{interval} (stale 0.500)"
        assert ("So few examples" in change["Change"].iloc[0]) == (n == 4)
        shown = Results(SHOWN.info, {**SHOWN.frames, "store_summary": frame.assign(n=n)})
        rows = make(shown, "external_denominators", "talks").sections[0].frame.set_index(["Kept by", "B"])
        assert rows.loc[("Newest first", "8"), "Union ratio"] == cell
        figure = draw(shown, "store_diagnostic", "talks")
        lines = [line for c in figure.axes[0].collections for line in c.get_segments()]
        assert pd.notna([end[1] for line in lines for end in line]).any() == (n == 5)


def test_equal_losses_and_unlabelled_memories_are_told():
    told = SHOWN.frames["store_diagnosis"].assign(largest="size", tied="selection")
    held = SHOWN.frames["store_anatomy"]
    without = held.head(1).assign(what="labels", name="memories that no label row is of", value=197.0)
    frames = {**SHOWN.frames, "store_diagnosis": told, "store_anatomy": pd.concat([held, without])}
    document = make(Results(SHOWN.info, frames), "store_diagnosis", "talks")
    assert set(document.sections[0].frame["Largest loss"]) == {"Size and selection"}
    expected = "Coverage of 197 memories of zeta is unlabelled and counted 0."
    assert expected in document.notes and expected not in make(SHOWN, "store_diagnosis", "talks").notes


def test_stores_that_no_rule_can_be_diagnosed_of_have_tables():
    frames = {name: SHOWN.frames[name].head(0) for name in ("store_diagnosis", "store_most_lost")}
    shown = Results(SHOWN.info, {**SHOWN.frames, **frames})
    for name in ("store_diagnosis", "store_lost_units"):
        assert "n = 0 examples" in make(shown, name, "talks").caption
    assert len(draw(shown, "store_diagnostic", "talks").axes) == 2


def test_stores_that_are_compared_have_a_joint_ratio():
    summary = SHOWN.frames["store_summary"]
    joint = {"joint_n": 5, "joint_ratio": 0.25, "joint_ratio_low": 0.25, "joint_ratio_high": 0.25}
    compared = summary.assign(**{name: summary["store"].eq("zeta") * value for name, value in joint.items()})
    shown = Results(SHOWN.info, {**SHOWN.frames, "store_summary": compared})
    document = make(shown, "external_denominators", "talks")
    first = document.sections[0].frame
    assert set(first["Joint ratio"]) == {"0.250 [0.250, 0.250]"} and set(first["n"]) == {"1 / 1 / 5"}
    assert "n = 0 to 5 examples a ratio, of 1 example with a store" in document.caption
    assert any(note.startswith("n (package / union / joint): the examples") for note in document.notes)
    assert any(note.startswith("Joint ratio: F / OPT") for note in document.notes)


def test_budgets_of_the_anatomy_stand_in_order():
    frame = SHOWN.frames["store_anatomy"]
    wider = frame[frame["name"] == "B = 8"].assign(name="B = 16")
    shown = Results(SHOWN.info, {**SHOWN.frames, "store_anatomy": pd.concat([wider, frame])})
    rows = make(shown, "store_anatomy", "talks").sections[0].frame
    fits = rows[rows["What"] == "Share of memories that fit"]["Which"]
    assert list(fits) == ["B = 4", "B = 8", "B = 16"]


def test_costs_side_by_side():
    both = results(StoreInfo("zeta"), settings=(Setting("declared"), WORDS))
    summary = both.frames["store_summary"]
    mixed = summary.assign(cost_model="declared")
    shown = Results(both.info, {**both.frames, "store_summary": pd.concat([summary, mixed])})
    document = make(shown, "store_costs", "talks")
    frame = document.sections[0].frame
    assert any("the paper's mixed setting" in note for note in document.notes)
    same = Results(both.info, {**both.frames, "store_summary": summary})
    assert not any("mixed" in note for note in make(same, "store_costs", "talks").notes)
    assert list(frame.columns) == ["Kept by", "Budget", "declared, memories words", "words"]
    assert frame.set_index(["Kept by", "Budget"]).loc[("Newest first", "8"), "words"] == "0.400 (0.667)"
    fewer = Results(both.info, {**both.frames, "store_summary": summary.assign(examples=6, n=2)})
    document = make(fewer, "store_costs", "talks")
    assert set(document.sections[0].frame["words"].str.partition(", ")[2]) == {"n = 2 (1)"}
    assert "n = 1 to 2 examples a ratio, of 6 examples with a store" in document.caption


def test_staleness_is_explained_only_where_there_is_some():
    told = SHOWN.frames["store_diagnosis"]
    none = {f"mean_{name}_invalidation": 0.0 for name in ("missing", "size", "selection")}
    shown = Results(SHOWN.info, {**SHOWN.frames, "store_diagnosis": told.assign(**none)})
    assert "stale x" not in " ".join(make(shown, "store_diagnosis", "talks").notes)


def test_an_undefined_verdict_is_no_loss_of_nothing():
    frames = store_frames.frames("talks", (StoreInfo("zeta"),), budgets=(1, 8))
    suite = SuiteInfo("talks", settings=(WORDS,), analyses=STORE_TABLES, stores=(StoreInfo("zeta"),))
    first, change = (s.frame for s in make(Results(RunInfo((suite,)), frames), "store_diagnosis", "talks").sections)
    assert first.set_index("B").loc["1", "Largest loss"] == "n/a"
    assert change[change["B"] == "1"]["Loss"].tolist() == ["Verdict"]
    assert change["Change"].iloc[0].startswith("At 1: nothing can be kept (the optimum is 0); at 8: missing")


def test_an_undecided_verdict_names_its_rival():
    told = JUDGED.frames["store_diagnosis"]
    open_ = {"verdict": "undecided", "largest": "missing", "tied": "", "rival": "selection", "leans": True}
    judged = told["store"].eq("guess")
    frame = told.assign(**{name: told[name].mask(judged, value) for name, value in open_.items()}, agreement=0.94)
    document = make(Results(JUDGED.info, {**JUDGED.frames, "store_diagnosis": frame}), "store_diagnosis", "talks")
    cells = set(document.sections[2].frame["Verdict (draws that agree)"])
    assert cells == {"Undecided: missing or selection (94 %, draws lean)"}


def test_the_figure_shows_kept_beside_keepable():
    figure = draw(SHOWN, "store_diagnostic", "talks")
    assert len(figure.axes) == 2
    heights = [bar.get_height() for bar in figure.axes[0].patches]
    assert heights == [1.0, 0.4, 0.0, 0.4]  # best subset at B = 4, 8; kept at B = 4, 8
    assert "demonstration" in figure.axes[1].get_title(loc="left") + figure.axes[1].get_title()


def test_the_figure_tells_no_ratio_from_a_ratio_of_0_and_names_its_costs():
    both = results(StoreInfo("zeta"), settings=(WORDS, Setting("bytes")))
    frames = store_frames.frames("talks", both.info.suite("talks").stores, (WORDS, Setting("bytes")), budgets=(1, 4, 8))
    axes = draw(Results(both.info, frames), "store_diagnostic", "talks").axes[0]
    written = [(round(text.xy[0], 1), text.get_text()) for text in axes.texts]
    # Within 1 nothing fits; within 4 newest first keeps nothing of worth.
    assert sorted(written) == [(-0.2, "no ratio"), (0.2, "no ratio"), (1.2, "0")]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1\nn = 0", "4", "8"]
    figure = draw(Results(both.info, frames), "store_diagnostic", "talks")
    assert "Of the cost models words, bytes the first that a store has is shown" in shown_note(figure)
    assert "cost models" not in shown_note(draw(SHOWN, "store_diagnostic", "talks"))


def shown_note(figure):
    return " ".join(figure.legends[0].get_title().get_text().split())


def joint(summary, stores):
    """The summary where these stores have a joint ratio."""
    values = {"joint_n": summary["n"], "joint_ratio": summary["union_ratio"] / 2}
    values |= {f"joint_ratio_{end}": summary[f"union_ratio_{end}"] / 2 for end in ("low", "high")}
    return summary.assign(**{n: v.where(summary["store"].isin(stores), summary[n]) for n, v in values.items()})


def test_the_figure_shows_the_joint_ratio_of_compared_stores_and_says_so():
    shown = results(StoreInfo("zeta"), StoreInfo("eta"))
    summary = shown.frames["store_summary"]
    union = draw(shown, "store_diagnostic", "talks")
    assert union.axes[0].get_ylabel() == "Union ratio, F / OPT of the union"
    assert "another denominator for every store" in shown_note(union)
    both = Results(shown.info, {**shown.frames, "store_summary": joint(summary, ["zeta", "eta"])})
    figure = draw(both, "store_diagnostic", "talks")
    assert figure.axes[0].get_ylabel() == "Joint ratio, F / OPT of the joint union"
    assert [bar.get_height() for bar in figure.axes[0].patches] == [0.5, 0.2, 0.0, 0.2]
    assert "one denominator for all of them" in shown_note(figure) and "another" not in shown_note(figure)
    mixed = Results(shown.info, {**shown.frames, "store_summary": joint(summary, ["eta"])})
    axes = draw(mixed, "store_diagnostic", "talks").axes
    titles = [ax.get_title(loc="left") + ax.get_title() for ax in axes]
    assert "F / OPT of the union" in titles[0] and "F / OPT of the joint union" in titles[1]
    assert axes[0].get_ylabel() == "F / OPT (above each panel)"


@pytest.mark.parametrize(("stores", "budgets"), [(1, 2), (3, 12), (6, 40)])
def test_budgets_of_the_figure_do_not_run_into_each_other(stores, budgets):
    names = tuple(StoreInfo(f"s{i}") for i in range(stores))
    shown = results(*names)
    summary = shown.frames["store_summary"].query("budget == 8")
    wide = pd.concat([summary.assign(budget=1000 + 10 * b) for b in range(budgets)])
    figure = draw(Results(shown.info, {**shown.frames, "store_summary": wide}), "store_diagnostic", "talks")
    figure.canvas.draw()
    assert figure.get_figwidth() < 8 and len(figure.axes) == stores
    assert ("Some budgets have no room for a label" in shown_note(figure)) == (budgets > 2)
    for ax in figure.axes:
        boxes = [t.get_window_extent() for t in ax.get_xticklabels() if t.get_text()]
        assert len(boxes) > 1 and all(a.x1 < b.x0 for a, b in pairwise(boxes))


def test_an_index_says_which_page_answers_what():
    index = to_index(["store_diagnosis", "external_denominators", "coverage_audit"], "talks")
    stores, packages = index.split("## Packages and writers")
    assert (
        "- [store_diagnosis](store_diagnosis.md): What a store loses against the optimum of its union, and what"
        in stores
    )
    assert (
        "What to read first: [store_diagnosis](store_diagnosis.md)." in stores and "external_denominators.md" in stores
    )
    assert "[coverage_audit](coverage_audit.md)" in packages and "What to read first" not in packages


@pytest.mark.parametrize("name", sorted(TABLES))
def test_every_table_says_what_it_shows(name):
    (line,) = [line for line in to_index([name], "talks").splitlines() if line.startswith(f"- [{name}]")]
    assert (
        len(line.partition(": ")[2]) > 20
        and ("store" in name or name == "external_denominators") == TABLES[name].of_stores
    )


def test_nothing_to_draw_where_no_ratio_is_defined():
    frames = dict(SHOWN.frames)
    frames["store_summary"] = frames["store_summary"].assign(union_ratio=None)
    with pytest.raises(NothingToShow, match="no exported store has a union ratio"):
        draw(Results(SHOWN.info, frames), "store_diagnostic", "talks")


JUDGED = results(StoreInfo("zeta"), StoreInfo("guess", judge="proxy"))


@pytest.mark.parametrize("name", (*NAMES, "store_judges"))
def test_what_rests_on_the_proxy_says_so_with_its_kappa(name):
    document = make(JUDGED, name, "talks")
    assert "Coverage of guess is judged by the proxy, not labelled (kappa 0." in document.caption
    assert all("by proxy" in s.heading or "Proxy" in s.heading for s in document.sections if "guess" in s.heading)
    assert any("guess" in s.heading for s in document.sections)
    labels = "labels" if name != "store_judges" else "judge"
    assert set(document.tidy[labels][document.tidy["store"] == "guess"]) == {"proxy"}


def test_the_judges_table_holds_kappa_with_its_interval_and_the_confusion():
    assert "store_judges" not in {name for name, _ in wanted_tables(SHOWN.info)}
    document = make(JUDGED, "store_judges", "talks")
    quality, confusion = (section.frame for section in document.sections[:2])
    known = judge_named("proxy").provenance
    low, high = known["kappa_interval"]
    assert quality.set_index("Quality").loc["Kappa", "Value"] == f"{known['kappa']:.2f} [{low:.2f}, {high:.2f}]"
    assert confusion.shape == (3, 4)
    assert confusion.set_index("Label").loc["0.5", "judged 1"] == f"{known['confusion']['0.5']['1']:,.0f}"


def test_a_judged_diagnosis_says_how_sure_it_is():
    document = make(JUDGED, "store_diagnosis", "talks")
    labelled, _, judged, told = (section.frame for section in document.sections)
    assert "Verdict (draws that agree)" in judged.columns and "Verdict (draws that agree)" not in labelled.columns
    verdicts = told[told["Loss"] == "Verdict"]["Change"]
    kappa = min(judge_named("proxy").provenance[key] for key in ("kappa", "kappa_all_cells"))
    ties = JUDGED.frames["store_diagnosis"].query("store == 'guess'").set_index("budget")["tied_draws"]
    assert sorted(ties > 0) == [False, True]
    for text, n in zip(verdicts, ties.sort_index(), strict=True):
        tie = f", the largest losses tie in {n:.0f}" if n else ""
        assert re.search(rf"of 20 label draws agree( \(80 % are needed\))?{tie}; kappa {kappa:.2f}", text)
    assert any("A draw whose largest losses tie agrees only" in note for note in document.notes)
    assert told[told["Loss"] != "Export"]["Change"].str.contains("[Bb]y the proxy").all()
    assert any("undecided below 80 %" in note for note in document.notes)


def test_the_line_over_all_budgets_is_of_its_setting_and_says_whose_word_it_is():
    both = results(StoreInfo("zeta"), StoreInfo("guess", judge="proxy"), settings=(WORDS, Setting("bytes")))
    frames = store_frames.frames("talks", both.info.suite("talks").stores, (WORDS, Setting("bytes")))
    ranges = frames["store_ranges"]
    own = ranges["store"].eq("guess") & ranges["cost_model"].eq("bytes")
    texts = ranges["text"].mask(own & ranges["first_budget"].eq(4), "at 4: nothing is lost")
    shown = Results(both.info, {**frames, "store_ranges": ranges.assign(text=texts)})
    lines = [s.frame.iloc[0].tolist() for s in make(shown, "store_diagnosis", "talks").sections[1::2]]
    assert len(lines) == 4 and all(line[:2] == ["all", "First"] for line in lines)
    assert [line[2].startswith("By the proxy: at 4: ") for line in lines] == [False, False, True, True]
    assert [line[2] for line in lines if "nothing is lost" in line[2]] == [
        "By the proxy: at 4: nothing is lost; at 8: missing (write what the lost units say). So few examples say "
        "nothing about others."
    ]
    notes = make(shown, "store_diagnosis", "talks").notes
    assert any(note.startswith("First: the largest loss") for note in notes)


def test_the_figure_names_the_judge():
    figure = draw(JUDGED, "store_diagnostic", "talks")
    titles = [ax.get_title(loc="left") + ax.get_title() for ax in figure.axes]
    assert "coverage: proxy" in titles[1] and "proxy" not in titles[0]


# ---- what the csv files and notes say of every store


@pytest.mark.parametrize("name", ["store_diagnosis", "store_lost_units", "store_anatomy"])
def test_the_files_say_which_stores_are_demonstrations_and_what_a_judge_is_worth(name):
    shown = results(
        StoreInfo("zeta"), StoreInfo("alpha-scripted", demonstration=True), StoreInfo("guess", judge="proxy")
    )
    tidy = make(shown, name, "talks").tidy.set_index("store")
    assert set(tidy.loc[["alpha-scripted"], "demonstration"]) == {True}
    assert set(tidy.loc[["zeta", "guess"], "demonstration"]) == {False}
    known = judge_named("proxy").provenance
    assert set(tidy.loc[["guess"], "kappa"]) == {min(known["kappa"], known["kappa_all_cells"])}
    assert tidy.loc[["zeta", "alpha-scripted"], "kappa"].isna().all()


def test_a_judged_diagnosis_shows_the_mean_of_the_draws():
    document = make(JUDGED, "store_diagnosis", "talks")
    row = JUDGED.frames["store_diagnosis"].query("store == 'guess'").iloc[0]
    drawn = document.sections[2].frame["Mean of the draws"].iloc[0]
    assert drawn == " / ".join(f"{row[f'drawn_{n}']:.3f}" for n in ("missing", "size", "selection"))
    assert "Mean of the draws" not in document.sections[0].frame


@pytest.mark.parametrize(("nothing", "told"), [(191, True), (180, False)])
def test_a_store_about_something_else_is_asked_about(nothing, told):
    counts = {"memories": 200, "memories that cover nothing": nothing}
    first = JUDGED.frames["store_anatomy"].query("store == 'guess'").iloc[:1]
    rows = [first.assign(what="judge", name=name, value=float(value)) for name, value in counts.items()]
    frames = JUDGED.frames | {"store_anatomy": pd.concat([JUDGED.frames["store_anatomy"], *rows])}
    notes = " ".join(make(Results(JUDGED.info, frames), "store_diagnosis", "talks").notes)
    line = (
        "191 of the 200 memories of guess say nothing of what their examples are about, by the proxy: is it the export"
    )
    assert (line in notes) == told


def test_captions_count_in_singular_and_name_no_long_list():
    stores = [StoreInfo(f"s{i}-scripted", demonstration=True) for i in range(3)]
    caption = make(results(*stores), "store_diagnosis", "talks").caption
    assert "n = 1 example a row" in caption
    assert "All stores are demonstrations" in caption and "s1-scripted" not in caption


def test_demonstrations_have_axes_of_their_own():
    figure = draw(SHOWN, "store_diagnostic", "talks")
    first, second = figure.axes
    assert not first.get_shared_y_axes().joined(first, second)
    assert second.get_ylabel() and second.get_position().y1 < first.get_position().y0
    plain = draw(results(StoreInfo("zeta"), StoreInfo("eta")), "store_diagnostic", "talks")
    assert plain.axes[0].get_shared_y_axes().joined(*plain.axes)
