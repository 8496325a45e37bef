"""Stores side by side: the same examples, paired differences, ranges in words, the table, the second computation."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_check_stores import PLAN

from memaudit.analysis.store_compared import compared, compared_ranges
from memaudit.analysis.store_summary import Declared
from memaudit.check.compare import row_faults
from memaudit.check.store_compared import compared_range_rows, compared_rows
from memaudit.errors import InputError
from memaudit.present.results import Results, RunInfo, Setting, StoreInfo, SuiteInfo
from memaudit.present.tables_io import make, to_latex, to_markdown
from memaudit.present.wanted import table_files, wanted_tables
from memaudit.schemas import STORE_TABLES, TABLES
from memaudit.table_io import to_table

SETTING = {"suite": "talks", "cost_model": "words", "k": 1, "saturation": "cap1"}
FLOATS = {f"{name}{end}" for name in ("ratio", "other_ratio", "difference") for end in ("", "_low", "_high")}


def score(store, example, value, budget=8, rule="recency", optimum=Fraction(1), memories=2, status="optimal", **more):
    """A row in schema STORE_SCORES, as far as the comparison reads it; optimum None: in no joint union."""
    value = Fraction(value)
    ratio = None if not optimum or "limit" in (status, more.get("joint_status")) else float(value / optimum)
    return SETTING | {
        "store": store, "package_id": example, "budget": budget, "budget_spec": str(budget), "view": "", "rule": rule,
        "value_int": value.numerator, "scale": value.denominator, "n_memories": memories, "status": status,
        "joint_status": None if optimum is None else "optimal", "joint_ratio": ratio, **more,
    }  # fmt: skip


def by_store(rows):
    frame = pd.DataFrame(rows)
    return {store: part.reset_index(drop=True) for store, part in frame.groupby("store", sort=False)}


def tables(rows, resamples=200, **declared):
    """Comparison and ranges of scores; declared: store -> what is declared of it, by default nothing."""
    scores = by_store(rows)
    stores = {name: declared.get(name, Declared("words")) for name in scores}
    told = compared(scores, stores, resamples=resamples)
    return told, compared_ranges(told)


def paired(differences, budget=8, rule="recency", first="notes", other="mem0"):
    """Scores of two stores over as many examples as there are differences."""
    half = Fraction(1, 2)
    for i, d in enumerate(differences):
        yield score(first, f"q{i}", half + Fraction(d), budget, rule)
        yield score(other, f"q{i}", half, budget, rule)


def test_the_difference_is_paired_with_the_protocol_s_interval():
    differences = [Fraction(i, 10) for i in (1, 2, -1, 0, 3, 2)]
    told, _ = tables(paired(differences), resamples=1000)
    (row,) = told.to_dict("records")
    assert to_table("store_compared", told).num_rows == 1
    assert (row["kept"], row["store"], row["other"], row["rule"]) == ("diagnosed", "notes", "mem0", "recency")
    values = np.array([float(Fraction(1, 2) + d) - 0.5 for d in differences])
    index = np.random.Generator(np.random.PCG64(0)).integers(0, 6, size=(1000, 6))
    low, high = np.percentile(values[index].mean(axis=1), (2.5, 97.5))
    assert [row[f"difference{end}"] for end in ("", "_low", "_high")] == pytest.approx([values.mean(), low, high])
    assert (row["n"], row["wins"], row["ties"], row["losses"]) == (6, 4, 1, 1)
    assert row["other_ratio"] == row["other_ratio_low"] == row["other_ratio_high"] == 0.5


@pytest.mark.parametrize(
    ("differences", "verdict", "text"),
    [
        ([0.25] * 5, "store", "at 8: notes keeps more (0.250, 0.250 to 0.250; n 5)"),
        ([-0.25] * 6, "other", "at 8: mem0 keeps more (0.250, 0.250 to 0.250; n 6)"),
        ([0] * 5, "none", "at 8: no difference is shown (0.000, 0.000 to 0.000; n 5)"),
        ([0.25] * 4, "too_few", "at 8: too few examples to tell (n 4)"),
    ],
)
def test_who_keeps_more_is_said_only_where_the_interval_is_beyond_zero(differences, verdict, text):
    told, ranges = tables(paired(differences))
    assert told["verdict"].tolist() == ranges["verdict"].tolist() == [verdict]
    assert ranges["text"].tolist() == [text]


def test_a_wide_interval_shows_no_difference():
    told, ranges = tables(paired([0.5, -0.5, 0.5, -0.4, 0.1]))
    (row,) = told.to_dict("records")
    assert row["difference"] == pytest.approx(0.04) and row["difference_low"] < 0 < row["difference_high"]
    low, high = (f"{row[f'difference_{end}']:.3f}" for end in ("low", "high"))
    assert ranges["text"].tolist() == [f"at 8: no difference is shown (0.040, {low} to {high}; n 5)"]


def test_ranges_join_neighbouring_budgets_of_one_verdict():
    rows = [r for b, d in ((5, 0), (15, 0.25), (30, 0.125), (50, 0), (80, 0)) for r in paired([d] * 5, b)]
    rows += [score(s, "q5", 0.5, 30) for s in ("notes", "mem0")]
    _, ranges = tables(rows)
    assert to_table("store_compared_ranges", ranges).num_rows == 3
    assert ranges["text"].tolist() == [
        "at 5: no difference is shown (0.000, 0.000 to 0.000; n 5)",
        "at 15 to 30: notes keeps more (means 0.104 to 0.250; n 5 to 6)",
        "from 50: no difference is shown (means 0.000 to 0.000; n 5)",
    ]
    assert ranges[["first_budget", "last_budget", "budgets"]].to_numpy().tolist() == [
        [5, 5, 1],
        [15, 30, 2],
        [50, 80, 2],
    ]


def test_examples_are_the_same_for_all_and_the_others_are_counted():
    rows = list(paired([0.25] * 6))
    rows += [score(s, "zero", 0, optimum=Fraction(0)) for s in ("notes", "mem0")]
    rows += [score(s, "open", 1, joint_status="limit") for s in ("notes", "mem0")]
    rows += [score("notes", "alone", 1, optimum=None)]  # mem0 has no store of it: it is in no joint union
    rows += [score("notes", "bare", 0, memories=0), score("mem0", "bare", 1)]
    counts = ["n", "left_out_n", "undefined_n", "unproven_n"]
    told, _ = tables(rows)
    assert told[counts].to_numpy().tolist() == [[7, 0, 1, 1]]
    told, _ = tables(rows, notes=Declared("words", skip_empty=True))
    assert told[counts].to_numpy().tolist() == [[6, 1, 1, 1]] and told["ratio"].tolist() == [0.75]


def test_each_store_s_own_rule_and_its_best_subset_are_compared():
    rows = [score("notes", f"q{i}", 0.5, rule=rule) for i in range(5) for rule in ("recency", "upper_exact")]
    rules = ("recency", "salience", "upper_exact", "full_store")
    rows += [score("mem0", f"q{i}", j / 4, rule=rule) for i in range(5) for j, rule in enumerate(rules)]
    rows += [score("mem0", f"q{i}", 1, rule="recency", view="core") for i in range(5)]  # no comparison of single views
    told = tables(rows)[0].set_index("kept")
    assert told.loc["diagnosed", ["rule", "other_rule", "other_ratio"]].tolist() == ["recency", "salience", 0.25]
    assert told.loc["upper_exact", ["rule", "other_rule", "other_ratio"]].tolist() == ["upper_exact"] * 2 + [0.5]


def test_a_demonstration_is_compared_with_none():
    with pytest.raises(InputError, match="store mem0 is a demonstration and compared with none"):
        tables(paired([0.25] * 5), mem0=Declared("words", demonstration=True))


def test_nothing_compared_has_no_rows():
    for told, ranges in (tables([score("notes", "q", 1, optimum=None), score("mem0", "q", 1, optimum=None)]),):
        assert told.empty and ranges.empty
    assert compared({}, {}).empty
    assert to_table("store_compared", pd.DataFrame()).num_rows == 0


# ---- the second computation

NAMES = ("notes", "mem0", "letta")
CELLS = st.tuples(
    st.integers(0, 4), st.sampled_from([1, 3, 4]), st.sampled_from(["optimal", "limit"]), st.integers(0, 1)
)  # value, scale, status of the best subset, memories


@st.composite
def any_scores(draw):
    """Scores of two or three stores; all of an example have one joint optimum."""
    rows = []
    stores = NAMES[: draw(st.integers(2, 3))]
    for i in range(draw(st.integers(1, 7))):
        optimum = Fraction(draw(st.sampled_from([0, 1, 4, 4, 4, 4])))
        status = draw(st.sampled_from(["optimal", "optimal", "cross_checked", "limit"]))
        joint = draw(st.integers(0, 9)) > 0
        for store in stores:
            memories = draw(st.integers(0, 3))
            for budget in (4, 8, 16):
                for rule in ("recency", *(["salience"] if store == "mem0" else []), "upper_exact"):
                    value, scale, proven, _ = draw(CELLS)
                    own = {"status": proven if rule == "upper_exact" else "optimal", "memories": memories}
                    more = {"joint_status": status if joint else None}
                    made = score(
                        store, f"q{i}", Fraction(value, scale), budget, rule, optimum if joint else None, **own, **more
                    )
                    rows.append(made | {"scale": scale, "value_int": value})
    return rows


@settings(max_examples=60, deadline=None)
@given(any_scores(), st.sampled_from([None, "notes", "mem0"]))
def test_the_second_computation_finds_the_same(rows, skipping):
    scores = by_store(rows)
    stores = {name: Declared("words", skip_empty=name == skipping) for name in scores}
    plans = {
        name: replace(
            PLAN, name=name, own_cost="words", skip_empty=name == skipping, bootstrap=(30, 0), compared=tuple(scores)
        )
        for name in scores
    }
    told = compared(scores, stores, resamples=30)
    listed = {
        name: frame.astype(object).where(frame.notna(), None).to_dict("records") for name, frame in scores.items()
    }
    again = list(compared_rows(listed, plans))
    stored = to_table("store_compared", told)
    assert list(row_faults(stored, again, TABLES["store_compared"].key, FLOATS)) == []
    ranges = to_table("store_compared_ranges", compared_ranges(told))
    made = list(compared_range_rows(again, stored.to_pylist()))
    assert list(row_faults(ranges, made, TABLES["store_compared_ranges"].key)) == []
    assert all(set(row) == set(TABLES["store_compared_ranges"].schema.names) for row in made)


# ---- the table


def results(rows, stores, **declared):
    told, ranges = tables(rows, **declared)
    frames = {"store_compared": told, "store_compared_ranges": ranges}
    empty = {name: pd.DataFrame(columns=TABLES[name].schema.names) for name in STORE_TABLES}
    compared_ = tuple(s.name for s in stores if not s.demonstration)
    how = {"settings": (Setting("words"),), "stores": stores, "compared": compared_}
    suite = SuiteInfo("talks", source="longmemeval", analyses=STORE_TABLES, **how)
    return Results(RunInfo((suite,)), empty | {n: f for n, f in frames.items() if len(f)})


STORES = (StoreInfo("notes"), StoreInfo("mem0"), StoreInfo("x-scripted", demonstration=True))
ROWS = [r for b, d in ((15, 0.25), (50, 0)) for rule in ("recency", "upper_exact") for r in paired([d] * 5, b, rule)]


def test_the_table_stands_side_by_side_and_in_words():
    shown = results(ROWS, STORES)
    document = make(shown, "store_compared", "talks")
    assert document.sections[0].heading == "words costs, k = 1, h = cap1"
    side, words = (section.frame for section in document.sections)
    assert list(side.columns) == ["Kept by", "B", "n", "notes", "mem0", "notes - mem0"]
    assert side.iloc[0].tolist() == [
        "Newest first", "15", "5", "0.750 [0.750, 0.750]", "0.500 [0.500, 0.500]", "+0.250 [+0.250, +0.250]",
    ]  # fmt: skip
    assert side["Kept by"].tolist() == ["Newest first"] * 2 + ["Best subset, exact"] * 2
    assert words.iloc[0].tolist() == [
        "Newest first", "notes and mem0",
        "At 15: notes keeps more (0.250, 0.250 to 0.250; n 5); at 50: no difference is shown (0.000, 0.000 to 0.000; "
        "n 5).",
    ]  # fmt: skip
    assert len(document.tidy) == 4 and document.tidy["text"].str.startswith(("at 15", "at 50")).all()
    assert "Stores compared: notes, mem0; suite talks, n = 5 examples a row." in document.caption
    text = to_markdown(document) + to_latex(document, "tab:x")
    assert "scripted" not in text and "judge" not in text
    assert table_files("store_compared", "talks")[-1].endswith(".tex")


def test_only_suites_that_compare_have_the_table():
    shown = results(ROWS, STORES)
    assert ("store_compared", "talks") in wanted_tables(shown.info)
    bare = replace(shown.info.suite("talks"), compared=())
    assert ("store_compared", "talks") not in wanted_tables(RunInfo((bare,)))


def test_rules_of_its_own_and_few_examples_are_told():
    rows = [score("notes", f"q{i}", 0.5, rule="recency") for i in range(2)]
    rows += [score("mem0", f"q{i}", 0.25, rule="salience") for i in range(2)]
    rows += [score(s, "zero", 0, rule=r, optimum=Fraction(0)) for s, r in (("notes", "recency"), ("mem0", "salience"))]
    document = make(results(rows, STORES), "store_compared", "talks")
    side, words = (section.frame for section in document.sections)
    assert side.iloc[0].tolist() == [
        "notes: newest first; mem0: salience per cost",
        "8",
        "2",
        "0.500",
        "0.250",
        "+0.250",
    ]
    assert words["Keeps more"].tolist() == ["At 8: too few examples to tell (n 2)."]
    assert "Examples without a joint ratio as the joint optimum is 0: up to 1 a row." in document.notes


def test_three_stores_have_three_differences_and_no_order_of_merit():
    rows = [score(name, f"q{i}", Fraction(j, 2)) for j, name in enumerate(NAMES) for i in range(5)]
    document = make(results(rows, tuple(map(StoreInfo, NAMES))), "store_compared", "talks")
    side, words = (section.frame for section in document.sections)
    assert list(side.columns)[3:] == [*NAMES, "notes - mem0", "notes - letta", "mem0 - letta"]
    assert side.iloc[0, 6:].str.slice(0, 6).tolist() == ["-0.500", "-1.000", "-0.500"]
    assert words["Stores"].tolist() == ["notes and mem0", "notes and letta", "mem0 and letta"]
    assert words["Keeps more"].str.contains("At 8: (?:mem0|letta) keeps more").all()


def test_what_memories_cost_is_told_where_it_is_otherwise():
    rows = [{**row, "cost_model": "declared"} for row in ROWS]
    for costs, told in (
        (("words", "words"), "(memories: words)"),
        (("bytes", "words"), "(memories: bytes of notes, wor"),
    ):
        declared = dict(zip(("notes", "mem0"), map(Declared, costs), strict=True))
        shown = results(rows, STORES, **declared)
        suite = replace(shown.info.suite("talks"), settings=(Setting("declared"),))
        document = make(Results(RunInfo((suite,)), shown.frames), "store_compared", "talks")
        assert document.sections[0].heading.startswith(f"declared costs {told}")


def test_a_judge_s_word_is_told():
    shown = results(
        ROWS, (StoreInfo("notes", judge="proxy"), StoreInfo("mem0")), notes=Declared("words", labels="proxy")
    )
    row = {
        "suite": "talks",
        "store": "notes",
        "judge": "proxy",
        "kind": "proxy",
        "label": "",
        "judged": "",
        "value": 0.7,
    }
    rows = [row | {"what": what} for what in ("kappa", "kappa_all_cells")]
    frames = {**shown.frames, "store_judges": pd.DataFrame(rows)}
    document = make(Results(shown.info, frames), "store_compared", "talks")
    assert document.sections[1].frame["Keeps more"].str.startswith("By the proxy: at 15: notes keeps more").sum() == 2
    notes = " ".join(document.notes)
    assert "notes is in the joint union" in notes and "a difference may be one of labels and judge" in notes
    assert "judged by the proxy, not labelled (kappa 0.70" in document.caption
    assert set(document.tidy["labels"]) == {"proxy"} and set(document.tidy["other_labels"]) == {"labels"}
