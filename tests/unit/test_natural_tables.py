"""Queries by category, sensitivity, downstream answers, construction counts and cell audits on invented data."""

from __future__ import annotations

import natural_cases as cases
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from memaudit.analysis.bootstrap import mean_interval
from memaudit.analysis.construction import construction
from memaudit.analysis.downstream import downstream, parse_answers, wilson
from memaudit.analysis.downstream_io import read_answers
from memaudit.analysis.queries import NO_CATEGORY, by_category, query_scores
from memaudit.analysis.sensitivity import sensitivity
from memaudit.errors import InputError
from memaudit.natural.audit_io import audit_files, load_audit
from memaudit.package_io import package_tables
from memaudit.table_io import to_table

# One conversation of four queries beside packages of one each.
CHAT = cases.package(
    "chat",
    {(0, 0): 1.0, (2, 1): 0.5, (3, 1): 0.5, (4, 2): 1.0},
    queries={"q1": ("one hop", (0,)), "q2": ("one hop", (1, 2)), "q3": ("many", (0, 1, 2)), "q4": ("none", ())},
)
SUITE = [*cases.TALK, CHAT]


@pytest.fixture(scope="module")
def stage():
    scores, selections = cases.scored(SUITE)
    return scores, selections, query_scores(SUITE, scores, selections)


# ---- queries


def test_query_rows_by_hand(stage):
    queries = stage[2]
    to_table("query_scores", queries.to_dict("list"))
    assert len(queries) == (3 + 4) * 2 * 2
    kept = queries[(queries["writer"] == "oracle_gvt") & (queries["budget"] == 4)].set_index("query_id")
    # Facts of the first two groups: c0 and c2.
    assert kept.loc["q1", ["required", "covered", "all_covered"]].tolist() == [1, 1.0, True]
    assert kept.loc["q2", ["required", "covered", "all_covered"]].tolist() == [2, 0.5, False]
    assert kept.loc["q3", ["required", "covered", "all_covered"]].tolist() == [3, 1.5, False]
    assert kept.loc["q4", ["required", "covered"]].tolist() == [0, 0.0] and kept.loc["q4", "all_covered"] is None
    assert kept.loc["p2", "covered"] == 1.6 and kept.loc["p1", "covered"] == 1.5


def test_query_rows_agree_with_the_scores(stage):
    scores, _, queries = stage
    asked = queries[queries["required"] > 0]
    counted = asked.groupby(["package_id", "budget", "writer"])["all_covered"].agg(["size", "sum"]).reset_index()
    both = scores.merge(counted, on=["package_id", "budget", "writer"])
    assert len(both) == len(scores)
    assert (both["queries"] == both["size"]).all() and (both["queries_covered"] == both["sum"]).all()


def test_halves_cover_a_unit_together_and_only_once():
    both = cases.scored([CHAT], budgets=(9,), writers={"both": lambda p, b: [2, 3]}, k=2)
    rows = query_scores([CHAT], *both).set_index("query_id")
    assert rows.loc["q2", "covered"] == 1.0 and not rows.loc["q2", "all_covered"]
    assert query_scores([CHAT], *[frame.iloc[:0] for frame in both]).empty


def test_categories(stage):
    scores, _, queries = stage
    table = by_category(queries, scores, resamples=100)
    to_table("categories", table.to_dict("list"))
    at = table[(table["writer"] == "oracle_gvt") & (table["budget"] == 4)].set_index("category")
    assert set(at.index) == {"fact", "update", "one hop", "many", "none", "all"}
    assert at.loc["one hop", ["packages", "queries", "share_all", "share_none"]].tolist() == [1, 2, 0.5, 0.0]
    assert at.loc["one hop", "mean_covered"] == (1 + 0.25) / 2
    assert at.loc["one hop", "covered_low"] == at.loc["one hop", "covered_high"] == (1 + 0.25) / 2
    assert at.loc["all", "covered_low"] < at.loc["all", "mean_covered"] < at.loc["all", "covered_high"]
    assert at.loc["one hop", "share_low"] == at.loc["one hop", "share_high"] == 0.5  # one conversation
    assert at.loc["none", "without_requirement"] == 1 and np.isnan(at.loc["none", "share_all"])
    assert at.loc["many", "n"] == 0 and np.isnan(at.loc["many", "mean_ratio"])
    own = scores[(scores["writer"] == "oracle_gvt") & (scores["budget"] == 4)].set_index("package_id")["ratio"]
    assert at.loc["update", "mean_ratio"] == pytest.approx((own["p2"] + own["p3"]) / 2)
    assert at.loc["all", "mean_ratio"] == pytest.approx(own.mean()) and at.loc["all", "n"] == 4
    assert at.loc["all", ["queries", "without_requirement"]].tolist() == [7, 1]
    assert at.loc["all", "share_low"] < at.loc["all", "share_all"] < at.loc["all", "share_high"]


def test_a_query_without_category_is_called_so():
    p = cases.package("p", {(0, 0): 1.0}, queries={"p": (None, (0,))})
    scores, selections = cases.scored([p], budgets=(4,))
    table = by_category(query_scores([p], scores, selections), scores, resamples=5)
    assert set(table["category"]) == {NO_CATEGORY}


# ---- sensitivity


def solutions(**changes):
    parts = [cases.solved(SUITE, 4, pools=("full", "atomic_fact"))]
    parts += [cases.solved(SUITE, 4, k=2), cases.solved(SUITE, 8, cost_model="words", spec="4")]
    frame = pd.concat(pd.DataFrame(part) for part in parts)
    for column, value in changes.items():
        frame[column] = value
    return frame


def test_sensitivity_to_k_costs_and_pools():
    table = sensitivity("talk", solutions(), ["declared", "words"], resamples=50)
    to_table("sensitivity", table.to_dict("list"))
    keys = table[["varied", "value", "reference", "k", "budget", "reference_budget"]].values.tolist()
    assert keys == [
        ["cost_model", "words", "declared", 1, 8, 4],
        ["k", "2", "1", 2, 4, 4],
        ["pool", "atomic_fact", "full", 1, 4, 4],
    ]
    raw = solutions()
    one = raw[(raw["cost_model"] == "declared") & (raw["k"] == 1)].set_index(["pool", "package_id"])["value"]
    pool = table[table["varied"] == "pool"].iloc[0]
    ratios = [one["atomic_fact", p] / one["full", p] for p in ("p1", "p2", "chat")]
    assert (pool["n"], pool["undefined_n"], pool["n_unproven"]) == (3, 1, 0)
    assert pool["mean_ratio"] == pytest.approx(np.mean(ratios)) and pool["max_ratio"] == max(ratios)
    assert pool["min_ratio"] == min(ratios)
    assert pool["mean_value"] == pytest.approx(one["atomic_fact"].mean())
    assert pool["mean_reference"] == pytest.approx(one["full"].mean())
    assert pool["ci_low"] <= pool["mean_ratio"] <= pool["ci_high"]


def test_unproven_optima_have_no_ratio_and_one_setting_none_to_compare():
    table = sensitivity("talk", solutions(status="limit"), ["declared", "words"])
    assert (table["n_unproven"] == 4).all() and table[["mean_ratio", "mean_value"]].isna().all().all()
    alone = pd.DataFrame(cases.solved(SUITE, 4))
    assert sensitivity("talk", alone, ["declared"]).empty


# ---- downstream answers


@pytest.mark.parametrize(("correct", "n"), [(0, 1), (1, 1), (3, 7), (0, 20), (20, 20), (431, 1000)])
def test_wilson_is_that_of_scipy(correct, n):
    interval = binomtest(correct, n).proportion_ci(0.95, method="wilson")
    assert wilson(correct, n) == pytest.approx((interval.low, interval.high), abs=1e-12)


def test_wilson_of_a_published_example():
    # Newcombe (1998), Statistics in Medicine 17:857, table I, method 3.
    assert [round(x, 4) for x in wilson(81, 263)] == [0.2553, 0.3662]
    assert [round(x, 4) for x in wilson(0, 20)] == [0.0, 0.1611]
    assert [round(x, 4) for x in wilson(1, 29)] == [0.0061, 0.1718]
    for correct, n in ((2, 1), (-1, 3), (0, 0)):
        with pytest.raises(InputError):
            wilson(correct, n)


def answers(**columns):
    table = {"query_id": ["q1", "q2", "q3", "q4", "p3"], "system": "mine", "correct": [1, "true", "No", 0.0, "FALSE"]}
    return pd.DataFrame(table | columns)


def joined(queries, table, systems=None):
    given = parse_answers(table, "a.csv")
    return downstream("talk", queries, given, systems or {}, "a.csv", setting=cases.SETTING, resamples=50)


def test_accuracy_by_what_was_kept(stage):
    table = joined(stage[2], answers(), {"mine": "oracle_gvt"})
    to_table("downstream", table.to_dict("list"))
    assert set(table["budget"]) == {4, 6} and set(table["writer"]) == {"oracle_gvt"}
    at = table[table["budget"] == 4].set_index("covered")
    assert at[["n", "correct", "accuracy"]].T.to_dict("list") == {
        "all": [1, 1, 1.0], "some": [2, 1, 0.5], "none": [1, 0, 0.0], "nothing required": [1, 0, 0.0],
        "any": [5, 2, 0.4],
    }  # fmt: skip
    assert (at.loc["some", "ci_low"], at.loc["some", "ci_high"]) == wilson(1, 2)


def test_an_answer_at_a_budget_counts_there_only_and_one_without_is_told(stage):
    table = joined(stage[2], answers(system="oracle_gvt", budget=[4, 6, None, "", 4]))
    anything = table[table["covered"] == "any"].set_index("budget")
    assert anything["n"].to_dict() == {4: 4, 6: 3} and anything["n_any_budget"].to_dict() == {4: 2, 6: 2}
    assert set(table["answers"]) == {5}


def test_an_answer_belongs_to_one_setting(stage):
    words = stage[2][stage[2]["budget"] == 4].assign(k=2, cost_model="words", budget=9)
    both = pd.concat([stage[2], stage[2].assign(k=2), words])
    table = joined(both, answers(system="oracle_gvt"))
    assert set(table["k"]) == {1} and set(table["cost_model"]) == {"declared"}
    named = joined(both, answers(system="oracle_gvt", k=[1, 2, 2, None, ""], cost_model=["", None, "words", "", ""]))
    found = named[named["covered"] == "any"].groupby(["cost_model", "k"])["n"].max().to_dict()
    assert found == {("declared", 1): 3, ("declared", 2): 1, ("words", 2): 1}
    for columns, message in (
        ({"k": 3}, "row 1: k 3 is not of suite talk; name one of the suite, or leave it empty"),
        ({"cost_model": "tokens"}, "row 1: cost_model tokens is not of suite talk"),
        ({"budget": 9}, "row 1: budget 9 is not scored with declared costs, k = 1, h = cap1"),
    ):
        with pytest.raises(InputError, match=message):
            joined(both, answers(system="oracle_gvt", **columns))


def test_an_answer_that_names_the_first_setting_is_the_one_that_means_it(stage):
    named = pd.concat([answers(system="oracle_gvt", k=""), answers(system="oracle_gvt", k=1).iloc[2:3]])
    with pytest.raises(InputError, match=r"a.csv, row 6: query q3 of system oracle_gvt is answered twice"):
        joined(stage[2], named)


def test_all_systems_together_with_an_interval_over_queries(stage):
    two = pd.concat([answers(system="oracle_gvt"), answers(system="recency_raw", correct=[1, 0, 1, 0, 1])])
    table = joined(stage[2], two)
    at = table[(table["budget"] == 4) & (table["covered"] == "any")].set_index("system")
    pooled = at.loc["all systems"]
    assert (pooled["n"], pooled["correct"], pooled["answers"], pooled["writer"]) == (10, 5, 10, "")
    correct = {"q1": 2, "q2": 1, "q3": 1, "q4": 0, "p3": 1}  # of two answers each
    by_query = mean_interval(np.array([correct[q] / 2 for q in sorted(correct)]), 50, 0)
    assert (pooled["ci_low"], pooled["ci_high"]) == pytest.approx(by_query[1:])
    assert (at.loc["oracle_gvt", "ci_low"], at.loc["oracle_gvt", "ci_high"]) == wilson(2, 5)
    assert "all systems" not in set(joined(stage[2], answers(system="oracle_gvt"))["system"])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (answers().drop(columns="system"), "a.csv: no column system"),
        (answers(correct=[1, 0, "maybe", 0, 1]), r"a.csv, row 3: correct is 'maybe'"),
        (answers(correct=[1, 0, None, 0, 1]), r"a.csv, row 3: correct is 'empty'"),
        (answers(query_id=["q1", "q1", "q2", "q3", "q4"]), "row 2: query q1 of system mine is answered twice"),
        (answers(query_id=["q1", "", "q2", "q3", "q4"]), "row 2: query_id is empty"),
        (answers(budget=[4, 0.5, None, None, None]), "row 2: budget 0.5 is no whole number"),
        (answers(budget=["4", "four", "", "", ""]), "row 2: budget 'four' is no whole number"),
        (answers(budget=["4", "inf", "", "", ""]), "row 2: budget 'inf' is no whole number"),
        (answers(k=["1", "1.5", "", "", ""]), "row 2: k '1.5' is no whole number from 1 to [0-9]+$"),
        (answers(system="all systems"), "row 1: 'all systems' is the name of all together"),
    ],
)
def test_bad_answers_are_told_by_row(table, message):
    with pytest.raises(InputError, match=message):
        parse_answers(table, "a.csv")


@pytest.mark.parametrize(
    ("changes", "systems", "message"),
    [
        ({}, {}, "row 1: system mine: no scored writer 'mine'; name its writer under downstream_systems"),
        ({"query_id": ["q1", "q9", "q2", "q3", "q4"]}, {"mine": "oracle_gvt"}, "row 2: query_id q9 is not of suite"),
        ({"budget": [4, 6, 5, 4, 4]}, {"mine": "oracle_gvt"}, "row 3: budget 5 is not of suite talk"),
    ],
)
def test_answers_to_nothing_are_told(stage, changes, systems, message):
    with pytest.raises(InputError, match=message):
        joined(stage[2], answers(**changes), systems)


def test_a_query_id_of_two_packages_is_refused(stage):
    queries = stage[2].assign(query_id="same")
    with pytest.raises(InputError, match="query same stands in several packages"):
        joined(queries, answers(), {"mine": "oracle_gvt"})


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_answers_from_a_file(tmp_path, kind):
    table = pd.DataFrame({"query_id": ["007", "8"], "system": "mine", "correct": ["1", "0"], "budget": ["4", None]})
    path = tmp_path / f"answers.{kind}"
    table.to_csv(path, index=False) if kind == "csv" else table.to_parquet(path)
    read = read_answers(path)
    assert read["query_id"].tolist() == ["007", "8"] and read["correct"].tolist() == [True, False]
    assert read["budget"].isna().tolist() == [False, True]
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=rf"answers.{kind}: not readable"):
        read_answers(path)


# ---- construction


def test_construction_counts():
    unscored = [{"source_id": f"x{i}", "category": "fact", "reason": r} for i, r in enumerate(["none", "none", "odd"])]
    warnings = [{"source_id": "p1", "kind": "blank", "detail": "d"}]
    tables = package_tables(SUITE, suite="talk", label_source="model", unscored=unscored, warnings=warnings)
    counts = construction("talk", {name: table.to_pandas() for name, table in tables.items()})
    to_table("construction", counts.to_dict("list"))
    found = counts.set_index(["what", "name"])["count"].to_dict()
    expected = {
        ("packages", "all"): 4, ("queries", "scored"): 6, ("queries", "nothing required"): 1,
        ("queries", "not scored"): 3, ("not scored", "none"): 2, ("not scored", "odd"): 1,
        ("queries by category", "one hop"): 2, ("units by role", "current"): 16,
        ("counted units by role", "current"): 12,
        ("units by weight", "zero"): 4, ("candidates", "atomic_fact"): 12, ("coverage cells", "full"): 11,
        ("coverage cells", "partial"): 5, ("labels", "model, pass 1, accepted, positive"): 15, ("warnings", "blank"): 1,
    }  # fmt: skip
    expected["coverage cells", "full"] = sum((p.cov_value >= 1).sum() for p in SUITE)
    expected["coverage cells", "partial"] = sum((p.cov_value < 1).sum() for p in SUITE)
    expected["labels", "model, pass 1, accepted, positive"] = sum(len(p.cov_value) for p in SUITE)
    expected["label cells", "model, pass 1"] = expected["labels", "model, pass 1, accepted, positive"]
    assert {key: found[key] for key in expected} == expected
    assert not {"adjudication", "required units", "labels unlike the coverage"} & set(counts["what"])


def test_construction_counts_what_judges_said():
    p1, p2 = cases.TALK[:2]
    cells = [(p.package_id, c, u) for p in (p1, p2) for c in p.visible.candidate_ids for u in p.unit_index]
    labels = [
        {
            "package_id": p,
            "candidate_id": c,
            "unit_id": u,
            "source": "B",
            "pass": "1",
            "value": 0.0,
            "status": "disputed",
            "stated": "cell",
        }
        for p, c, u in cells[:3]
    ]
    tables = package_tables(
        [p1, p2, cases.TALK[2]], suite="talk", label_source="", labels=labels,
        statuses={("p1", "p1"): "accepted", ("p2", "p2"): "corrected"},
        primary={("p1", "p1"): {"p1::u0", "p1::u1"}, ("p2", "p2"): {"p2::u0", "p2::u1", "p2::u2"}},
        unscored=[{"source_id": r, "category": "", "reason": r} for r in (
            "adjudication: ambiguous; no candidate", "adjudication: rejected, not in the package", "no candidate")],
    )  # fmt: skip
    counts = construction("talk", {name: table.to_pandas() for name, table in tables.items()})
    found = {what: part.set_index("name")["count"].to_dict() for what, part in counts.groupby("what")}
    assert found["adjudication"] == {"accepted": 1, "corrected": 1, "unstated": 1, "ambiguous": 1, "rejected": 1}
    assert found["required units"] == {"unchanged": 1, "changed": 1}
    covered = sum(p1.coverage_row(0).get(u, 0) > 0 for _, _, u in cells[:3])
    assert found["labels unlike the coverage"] == {"B, pass 1": covered} and covered > 0
    assert found["labels"] == {"B, pass 1, disputed, zero": 3}


# ---- cell audits


CELLS = (
    "cell_id,instance_id,candidate_id,unit_id,notes\n"
    '1,p1,p1::c0,p1::u0,a\n2,p1,p1::c1,p1::u0,"b\nc"\n3,p2,p2::c0,p2::u0,\n'
)


def folder(path, cells=CELLS, **labels):
    (path / "annotation_cells.csv").write_text(cells)
    for name, text in labels.items():
        (path / f"{name}_labels.csv").write_text("cell_id,annotator_id,label,notes\n" + text)
    return path


def test_an_audit_folder(tmp_path):
    made = folder(tmp_path, human_b="1,b,0,\n2,b,,unsure\n3,b,TRUE,\n", human_a="3,a,no,\n1,a,yes,\n")
    assert load_audit(audit_files(made)).labels == {
        "human_a": {("p2", "p2::c0", "p2::u0"): 0.0, ("p1", "p1::c0", "p1::u0"): 1.0},
        "human_b": {("p1", "p1::c0", "p1::u0"): 0.0, ("p2", "p2::c0", "p2::u0"): 1.0},
    }


@pytest.mark.parametrize(
    ("cells", "labels", "message"),
    [
        (CELLS, "9,a,1,\n", "human_a_labels.csv, line 2: cell_id 9 is not in annotation_cells.csv"),
        (CELLS, "1,a,1,\n1,a,0,\n", "line 3: cell_id 1 is labelled already in line 2"),
        (CELLS, "1,a,1,\n2,a,perhaps,\n", "line 3: label 'perhaps'"),
        (CELLS + "1,p3,c,u,\n", "1,a,1,\n", "annotation_cells.csv, line 6: cell_id 1 stands twice"),
        (CELLS + "4,p1,p1::c0,p1::u0,\n", "1,a,1,\n", "line 6: the cell of 4 stands already in line 2"),
        (CELLS + "4,p1,,p1::u0,\n", "1,a,1,\n", "line 6: candidate_id is missing or empty"),
        ("cell,instance_id\n1,p\n", "1,a,1,\n", "cells.csv: no column cell_id, candidate_id, unit_id; needs"),
    ],
)
def test_a_bad_audit_is_told_by_file_and_line(tmp_path, cells, labels, message):
    with pytest.raises(InputError, match=message):
        load_audit(audit_files(folder(tmp_path, cells, human_a=labels)))


def test_missing_audit_files_and_columns(tmp_path):
    with pytest.raises(InputError, match=r"no annotation_cells.csv"):
        audit_files(tmp_path)
    with pytest.raises(InputError, match="no labels"):
        audit_files(folder(tmp_path))
    (tmp_path / "human_a_labels.csv").write_bytes(b"cell_id,label\n\xff,1\n")
    with pytest.raises(InputError, match="not readable as CSV"):
        load_audit(audit_files(tmp_path))
