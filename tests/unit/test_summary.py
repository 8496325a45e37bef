"""Tables made of scores: by hand, and against plain loops on random scores."""

from __future__ import annotations

from statistics import fmean

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.analysis.bootstrap import mean_interval
from memaudit.analysis.summary import (
    OWN_TEXTS_NOTE,
    audit_table,
    decomposition,
    learned_comparison,
    paired,
    representation_mix,
    status_counts,
    summarise,
    text_notes,
)
from memaudit.errors import InputError
from memaudit.schemas import PAIRED, SCORES, SUMMARY, TABLES
from memaudit.table_io import to_table


def score(package_id, writer="w", value=1, opt=2, **other):
    """One row of scores: ratio value / opt, scale 1."""
    status = other.get("opt_status", "optimal")
    row = {
        "suite": "s", "package_id": package_id, "distribution": "d", "cost_model": "declared", "pool": "full",
        "k": 1, "saturation": "cap1", "budget_spec": "0.1", "budget": 4, "writer": writer, "value_int": value,
        "scale": 1, "value": float(value), "opt_status": status, "opt_int": opt, "opt": float(opt), "cost": 3,
        "n_selected": 2, "n_validity_selected": 1, "current_covered": 0.5, "invalidation_covered": 1.0,
        "stale_covered": 0.25, "current_mass": 2.0, "invalidation_mass": 1.0, "stale_mass": 1.0,
        "coverable_mass": 2.5, "retrieved_fixed": 1.25, "queries": 4, "queries_covered": 1,
        "ratio": None if status == "limit" else value / opt if opt else 1.0,
    }  # fmt: skip
    return row | other


def frame(*rows):
    return pd.DataFrame(rows, columns=SCORES.schema.names)


def table(*rows):
    return to_table("scores", {name: [row[name] for row in rows] for name in SCORES.schema.names})


def one(data):
    assert len(data) == 1
    return data.iloc[0]


def fits(name, data):
    """The result is a table of that schema, and sorted by its key."""
    written = to_table(name, data.to_dict("list"))
    expected = [[None if pd.isna(cell) else cell for cell in row] for row in data[written.column_names].to_numpy()]
    assert [list(row.values()) for row in written.to_pylist()] == expected
    return written


# ---- summarise


def test_summary_row_by_hand():
    rows = [
        score("p1", value=1),
        score("p2", value=2, cost=4, queries_covered=4),
        score("p3", value=0, opt=0),
    ]
    row = one(summarise(table(*rows), resamples=50))
    assert row["n"] == 3 and row["opt_zero_n"] == 1 and row["undefined_n"] == row["n_unproven"] == 0
    assert row["mean_ratio"] == pytest.approx(2.5 / 3)
    assert (row["mean_ratio"], row["ci_low"], row["ci_high"]) == mean_interval([0.5, 1.0, 1.0], 50)
    assert (
        row["mean_value"] == 1 and row["mean_opt"] == pytest.approx(4 / 3) and row["mean_cost"] == pytest.approx(10 / 3)
    )
    assert row["mean_queries_covered"] == pytest.approx(1.5 / 3)
    assert (row["mean_current_covered"], row["mean_invalidation_covered"], row["mean_stale_covered"]) == (
        0.5,
        1,
        0.25,
    )
    assert (row["mean_selected"], row["mean_validity_selected"], row["budget_spec"]) == (2, 1, "0.1")


def test_undefined_and_unproven_ratios_are_left_out_and_counted():
    rows = [
        score("p1", value=1),
        score("p2", value=1, opt=0, ratio=None),
        score("p3", value=7, opt=9, opt_status="limit"),
    ]
    row = one(summarise(frame(*rows), resamples=10))
    assert (row["n"], row["undefined_n"], row["n_unproven"], row["opt_zero_n"]) == (1, 1, 1, 1)
    assert (row["mean_ratio"], row["ci_low"], row["ci_high"]) == (0.5, 0.5, 0.5)
    assert row["mean_value"] == 3 and row["mean_opt"] == 1


def test_no_ratio_at_all_is_null_not_zero():
    rows = [score("p1", opt_status="limit", queries=0, queries_covered=0)]
    for scores in (frame(*rows), table(*rows)):
        result = summarise(scores, resamples=10)
        row = one(result)
        assert row["n"] == 0 and row["mean_value"] == 1
        assert row[["mean_ratio", "ci_low", "ci_high", "mean_opt", "mean_queries_covered"]].isna().all()
        assert fits("summary", result)["mean_ratio"].null_count == 1
    assert summarise(table(), resamples=10).columns.tolist() == SUMMARY.schema.names


def test_all_distributions_together_only_where_there_are_several():
    rows = [score("p1", value=0), score("p2", value=2, distribution="e"), score("q", suite="single")]
    result = summarise(table(*rows), resamples=10)
    assert result[["suite", "distribution", "n", "mean_ratio"]].values.tolist() == [
        ["s", "all", 2, 0.5], ["s", "d", 1, 0.0], ["s", "e", 1, 1.0], ["single", "d", 1, 0.5]
    ]  # fmt: skip
    with pytest.raises(InputError, match="a distribution is named 'all'"):
        summarise(frame(score("p1", distribution="all")))


def test_notes_go_to_writers_that_read_texts_where_the_texts_are_ours():
    rows = [
        score("p", "reader"),
        score("p", "blind"),
        score("q", "reader", distribution="e"),
        score("p", "reader", suite="t"),
    ]
    result = summarise(table(*rows), resamples=5, notes=text_notes({"s": ["e"], "t": []}, ["reader"]))
    notes = result.set_index(["suite", "distribution", "writer"])["note"]
    ours = [("s", "e", "reader"), ("s", "all", "reader")]
    assert (notes[ours] == OWN_TEXTS_NOTE).all() and notes.drop(ours).isna().all()
    assert fits("summary", result)["note"].null_count == len(result) - 2


def test_two_specs_of_one_budget_and_repeated_packages_are_refused():
    with pytest.raises(InputError, match=r"budget 4 come under \['0.1', '4'\]"):
        summarise(frame(score("p1"), score("p2", budget_spec="4")))
    with pytest.raises(InputError, match="package p1 stands twice"):
        summarise(frame(score("p1"), score("p1")))


def test_clusters_are_resampled_whole():
    rows = [score(f"p{i}", value=i % 3) for i in range(12)]
    clusters = {"s": {f"p{i}": f"talk{i // 4}" for i in range(12)}}
    row = one(summarise(table(*rows), resamples=100, clusters=clusters))
    ratios = {f"p{i}": i % 3 / 2 for i in range(12)}
    expected = mean_interval(
        [ratios[p] for p in sorted(ratios)], 100, clusters=[clusters["s"][p] for p in sorted(ratios)]
    )
    assert (row["mean_ratio"], row["ci_low"], row["ci_high"]) == expected
    assert expected != mean_interval([ratios[p] for p in sorted(ratios)], 100)


@st.composite
def random_scores(draw):
    """Rows of up to two suites, distributions, budgets and three writers, in any order; some unproven."""
    keys = st.tuples(
        st.sampled_from("st"), st.sampled_from(["p1", "p2", "p3", "p4", "p5"]), st.sampled_from([4, 8]),
        st.sampled_from("abc"),
    )  # fmt: skip
    rows = []
    for suite, package_id, budget, writer in draw(st.lists(keys, unique=True, min_size=1, max_size=25)):
        opt = draw(st.integers(0, 9))
        value = draw(st.integers(0, opt))
        status = "limit" if package_id == "p5" else "optimal"
        distribution = "even" if package_id in ("p2", "p4") else "odd"
        rows.append(
            score(package_id, writer, value, opt, suite=suite, budget=budget, budget_spec=str(budget),
                  distribution=distribution, opt_status=status, cost=draw(st.integers(0, 9)))
        )  # fmt: skip
    return rows


@settings(max_examples=30)
@given(random_scores(), st.booleans())
def test_summary_is_that_of_plain_loops(rows, as_table):
    result = summarise(table(*rows) if as_table else frame(*rows), resamples=20)
    fits("summary", result)
    several = {s for s in "st" if len({r["distribution"] for r in rows if r["suite"] == s}) > 1}
    groups: dict[tuple, list[dict]] = {}
    for row in sorted(rows, key=lambda r: r["package_id"]):
        for distribution in {row["distribution"]} | ({"all"} if row["suite"] in several else set()):
            groups.setdefault((row["suite"], distribution, row["budget"], row["writer"]), []).append(row)
    assert len(result) == len(groups)
    for _, row in result.iterrows():
        own = groups[row["suite"], row["distribution"], row["budget"], row["writer"]]
        ratios = [r["ratio"] for r in own if r["ratio"] is not None]
        assert row["n"] == len(ratios) and row["n_unproven"] == len(own) - len(ratios)
        assert row["mean_value"] == pytest.approx(fmean(r["value"] for r in own))
        assert row["mean_cost"] == pytest.approx(fmean(r["cost"] for r in own))
        if ratios:
            assert (row["mean_ratio"], row["ci_low"], row["ci_high"]) == mean_interval(ratios, 20)


# ---- paired


def test_paired_by_hand():
    rows = [
        score("p1", "a", 2), score("p2", "a", 1), score("p3", "a", 0), score("p4", "a", 1),
        score("p1", "ref", 1), score("p2", "ref", 1), score("p3", "ref", 1, opt_status="limit"),
        score("p9", "ref", 2),
    ]  # fmt: skip
    result = paired(table(*rows), "ref", resamples=30)
    row = one(result)
    # p3 has no ratio for ref, p4 and p9 stand alone.
    assert (row["writer"], row["reference"], row["n"]) == ("a", "ref", 2)
    assert (row["wins"], row["ties"], row["losses"]) == (1, 1, 0)
    assert (row["mean_difference"], row["ci_low"], row["ci_high"]) == mean_interval([0.5, 0.0], 30)
    assert result.columns.tolist() == PAIRED.schema.names
    fits("paired", result)


def test_paired_with_several_references_and_no_defined_pair():
    rows = [score("p1", w, v, opt_status="limit") for w, v in (("a", 1), ("b", 2))]
    result = paired(frame(*rows), ["a", "b"], resamples=5)
    assert result[["writer", "reference", "n", "wins", "losses"]].values.tolist() == [
        ["a", "b", 0, 0, 0], ["b", "a", 0, 0, 0]
    ]  # fmt: skip
    assert result["mean_difference"].isna().all()
    fits("paired", result)


def test_paired_refuses_an_unknown_reference_and_two_scales():
    rows = [score("p1", "a"), score("p1", "b", scale=10)]
    with pytest.raises(InputError, match="reference writer 'c'"):
        paired(frame(*rows), "c")
    with pytest.raises(InputError, match="package p1 of suite s have scale 1 for writer a and 10 for b"):
        paired(frame(*rows), "b")


@settings(max_examples=50)
@given(random_scores())
def test_paired_is_that_of_plain_loops(rows):
    if not any(r["writer"] == "a" for r in rows):
        rows = [*rows, score("p1", "a", budget=16)]
    result = paired(table(*rows), "a", resamples=20)
    fits("paired", result)
    at = {(r["suite"], r["budget"], r["package_id"], r["writer"]): r for r in rows}
    for _, row in result[result["distribution"] != "all"].iterrows():
        mine = [r for r in rows if all(r[c] == row[c] for c in ("suite", "distribution", "budget", "writer"))]
        pairs = [(r, at.get((r["suite"], r["budget"], r["package_id"], "a"))) for r in mine]
        pairs = sorted(
            ((r, o) for r, o in pairs if o and None not in (r["ratio"], o["ratio"])),
            key=lambda p: p[0]["package_id"],
        )
        assert row["n"] == len(pairs) == row["wins"] + row["ties"] + row["losses"]
        assert row["wins"] == sum(r["value_int"] > o["value_int"] for r, o in pairs)
        if pairs:
            expected = mean_interval([r["ratio"] - o["ratio"] for r, o in pairs], 20)
            assert (row["mean_difference"], row["ci_low"], row["ci_high"]) == expected


# ---- decomposition, representation mix, learned writers


def test_decomposition_by_hand_without_float_noise():
    rows = [
        score("p1", current_covered=0.7, invalidation_covered=0.1, retrieved_fixed=0.8),
        score("p2", current_covered=2.0, invalidation_covered=1.0, retrieved_fixed=2.0),
    ]
    assert 0.7 + 0.1 != 0.8
    result = decomposition(table(*rows))
    row = one(result)
    assert (row["required_mass"], row["covered"], row["n"]) == (3, pytest.approx(1.9), 2)
    assert row["write_failure"] == 1.1 and row["beyond_candidates"] == 0.5
    assert row["retrieval_failure_fixed"] == 0.5 and row["retrieval_failure_oracle"] == 0
    fits("decomposition", result)


def kept(package_id, *types, **other):
    key = {
        "suite": "s", "package_id": package_id, "cost_model": "declared", "k": 1, "saturation": "cap1",
        "budget": 4, "writer": "w",
    }  # fmt: skip
    return [key | {"candidate_id": f"c{i}", "representation_type": t} | other for i, t in enumerate(types)]


def test_representation_mix_counts_packages_that_kept_nothing():
    scores = table(score("p1"), score("p2"), score("p1", "v"), score("p3", distribution="e"))
    rows = [*kept("p1", "raw", "raw", "fact"), *kept("p3", "skill")]
    result = representation_mix(pd.DataFrame(rows), scores)
    fits("representation_mix", result)
    found = {
        tuple(r[:3]): r[3:] for r in result[["distribution", "writer", "representation_type", "n", "mean_count"]].values
    }
    assert found == {
        ("d", "w", "raw"): pytest.approx([2, 1.0]), ("d", "w", "fact"): pytest.approx([2, 0.5]),
        ("d", "v", "raw"): pytest.approx([1, 0.0]), ("d", "v", "fact"): pytest.approx([1, 0.0]),
        ("e", "w", "skill"): pytest.approx([1, 1.0]),
        ("all", "w", "raw"): pytest.approx([3, 2 / 3]), ("all", "w", "fact"): pytest.approx([3, 1 / 3]),
        ("all", "w", "skill"): pytest.approx([3, 1 / 3]), ("all", "v", "raw"): pytest.approx([1, 0]),
        ("all", "v", "fact"): pytest.approx([1, 0]), ("all", "v", "skill"): pytest.approx([1, 0]),
    }  # fmt: skip
    with pytest.raises(InputError, match=r"'writer': 'ghost'.*have no score"):
        representation_mix(pd.DataFrame(kept("p1", "raw", writer="ghost")), scores)


def packages_table(**seeds):
    return pd.DataFrame([{"suite": "s", "package_id": p, "seed": seed} for p, seed in seeds.items()])


def test_learned_writers_stand_beside_the_others_on_odd_seeds():
    rows = [score(p, w, 2 if w == "l" else 1) for p in ("p1", "p3") for w in ("l", "w")] + [score("p2", "w", 0)]
    rows.append(score("x", "w", suite="other"))
    seeds = packages_table(p1=1, p2=2, p3=3, p4=None)
    result = learned_comparison(table(*rows), seeds, ["l"], resamples=5)
    assert result[["suite", "writer", "n", "mean_ratio"]].values.tolist() == [
        ["s", "l", 2, 1.0],
        ["s", "w", 2, 0.5],
    ]
    assert learned_comparison(table(*rows), seeds, [], resamples=5).empty
    with pytest.raises(InputError, match="package p2 of suite s, which has no odd seed"):
        learned_comparison(table(*rows, score("p2", "l")), seeds, ["l"])


# ---- statuses and the solver audit


def solution(package_id, solution_id, status="optimal", value_int=6, pool="full", **other):
    row = {
        "suite": "s", "package_id": package_id, "cost_model": "declared", "pool": pool, "k": 1,
        "saturation": "cap1", "budget_spec": "4", "budget": 4, "instance_hash": solution_id,
        "solution_id": solution_id, "status": status, "value_int": value_int, "bound_int": value_int,
        "scale": 4, "value": value_int / 4, "cost": 3, "n_selected": 1, "nodes": 1, "canonical": status == "optimal",
    }  # fmt: skip
    return row | other


def check(solution_id, solver="highs", status="optimal", value="3/2", equal=True):
    return {
        "suite": "s", "solution_id": solution_id, "package_id": "p", "cost_model": "declared", "pool": "full",
        "k": 1, "saturation": "cap1", "budget": 4, "solver": solver, "status": status, "value": value,
        "bound": value, "selected_value": value, "solution_value": "3/2", "n_packages": 1, "equal": equal,
    }  # fmt: skip


def of_schema(name, rows):
    return to_table(name, {c: [row[c] for row in rows] for c in TABLES[name].schema.names})


SOLUTIONS = [
    solution("p1", "A"), solution("p2", "A"), solution("p3", "B"), solution("p4", "C", "limit"),
    solution("p1", "D", pool="generic"),
]  # fmt: skip


def test_status_counts_rows_and_distinct_instances():
    checks = of_schema("checks", [check("A"), check("C", status="unclaimed", equal=False)])
    result = status_counts(of_schema("solutions", SOLUTIONS), checks)
    assert result[["pool", "status", "rows", "distinct"]].values.tolist() == [
        ["full", "optimal", 1, 1], ["full", "cross_checked", 2, 1], ["full", "limit", 1, 1],
        ["generic", "optimal", 1, 1], ["generic", "cross_checked", 0, 0], ["generic", "limit", 0, 0],
    ]  # fmt: skip
    to_table("status_counts", result.to_dict("list"))
    assert status_counts(of_schema("solutions", SOLUTIONS))["rows"].tolist() == [3, 0, 1, 1, 0, 0]
    merged = of_schema("solutions", [solution("p1", "A", "cross_checked")])
    assert status_counts(merged)["rows"].tolist() == [0, 1, 0]


def test_status_counts_refuse_a_mismatch_and_an_unknown_status():
    solutions = pd.DataFrame(SOLUTIONS)
    with pytest.raises(InputError, match=r"check of A .package p of suite s. by highs found a mismatch: 2"):
        status_counts(solutions, pd.DataFrame([check("A", status="mismatch", value="2", equal=False)]))
    with pytest.raises(InputError, match=r"\['done'\]"):
        status_counts(pd.DataFrame([solution("p", "A", "done")]))


def test_audit_counts_rows_by_solver_on_one_pool():
    checks = [
        check("A"), check("B"), check("A", "cbc", "limit", "1", equal=False),
        check("B", "cbc", "mismatch", "7/4", equal=False), check("D", "cbc"),
    ]  # fmt: skip
    result = audit_table(of_schema("solutions", SOLUTIONS), of_schema("checks", checks))
    columns = ["suite", "solver", "rows", "distinct", "objective_matches", "max_difference"]
    assert result[columns].values.tolist() == [["s", "cbc", 3, 2, 0, 0.25], ["s", "highs", 3, 2, 3, 0.0]]
    to_table("audit", result.to_dict("list"))


def test_audit_keeps_the_check_that_speaks_against_a_solution_and_proves_nothing_from_a_limit():
    checks = pd.DataFrame([check("A"), check("A", status="mismatch", value="5/2", equal=False)])
    row = one(audit_table(pd.DataFrame(SOLUTIONS), checks))
    assert (row["rows"], row["objective_matches"], row["max_difference"]) == (2, 0, 1.0)
    row = one(audit_table(pd.DataFrame(SOLUTIONS), pd.DataFrame([check("A", status="limit", equal=False)])))
    assert row["objective_matches"] == 0 and np.isnan(row["max_difference"])
