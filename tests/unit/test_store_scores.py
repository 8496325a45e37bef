"""Scores, losses and lost units of exported stores, against exhaustive search; their means and sentences."""

from dataclasses import replace
from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_cases import CONSTANTS, PACKAGE, STORE, UNITS, judged_case, memory, score, solve, solved, words
from test_check_stores import PLAN, rows_of
from test_store_union import stores

from memaudit.analysis.store_scores import LOSSES, Solved, case, score_store, usable_rules, worths
from memaudit.analysis.store_summary import (
    Declared,
    anatomy,
    covered_units,
    diagnosis,
    first_to_change,
    most_lost,
    summarise,
)
from memaudit.analysis.store_verdicts import verdict_rows
from memaudit.check.compare import row_faults
from memaudit.check.store_means import advice_faults, anatomy_rows, diagnosis_rows, range_rows
from memaudit.errors import InputError
from memaudit.objective import CAP1, scale
from memaudit.package import Candidate, TextSize, build
from memaudit.schemas import TABLES
from memaudit.stores.labelled import labelled_stores, refuse_strange_units
from memaudit.stores.labels import labels
from memaudit.stores.model import Ingest, IngestReport, Memory, Store
from memaudit.stores.tables_io import read_labelled, write_labelled
from memaudit.stores.union import Labelled, union
from memaudit.stores.unions import union_suite
from memaudit.table_io import to_table
from reference import value
from strategies import packages


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_values_and_losses_are_those_of_the_selections(data):
    package = data.draw(packages(max_groups=2, max_per_group=2, max_units=3))
    store, budget = data.draw(stores(package)), data.draw(st.integers(1, 10))
    both = union(package, [store], words)
    made = score(package, store, [budget], ["recency", "full_store", "upper_greedy", "upper_exact"])
    for name, frame in (("scores", made.scores), ("selections", made.selections), ("losses", made.losses)):
        assert to_table(f"store_{name}", frame).num_rows == len(frame)
    position = {c: i for i, c in enumerate(both.visible.candidate_ids)}
    optimum = Fraction(*solve(both, budget)[0][both.package_id][:2])
    everything = [i for c, i in position.items() if c.startswith("store:")]
    whole = value(both, everything, CAP1)
    for row in made.scores[made.scores["view"] == ""].to_dict("records"):
        kept = made.selections[(made.selections["rule"] == row["rule"]) & (made.selections["view"] == "")]
        worth = value(both, [position[c] for c in kept["candidate_id"]], CAP1)
        assert Fraction(row["value_int"], row["scale"]) == worth
        assert row["union_ratio"] == float(worth / optimum) if optimum else pd.isna(row["union_ratio"])
        losses = made.losses[made.losses["rule"] == row["rule"]].iloc[0]
        assert sum(losses[name] for name in LOSSES) == pytest.approx(float(optimum - worth))
        assert losses["missing"] == float(optimum - min(optimum, whole)) and min(losses[list(LOSSES)]) >= 0
        lost = made.lost[made.lost["rule"] == row["rule"]]["lost"].sum() if len(made.lost) else 0
        assert lost >= sum(losses[name] for name in LOSSES) - 1e-9
    for row in made.lost.to_dict("records"):
        (losses,) = made.losses[made.losses["rule"] == row["rule"]].to_dict("records")
        assert sum(row[name] for name in LOSSES) == pytest.approx(row["lost"]) and row["lost"] > 0
        assert row["gap"] == pytest.approx(sum(losses[name] for name in LOSSES)) and row["gap"] > 0
        # Where an example loses nothing to a cause, none of its units does, nor what is stale among them.
        assert all(row[name] == 0 == losses[f"{name}_invalidation"] for name in LOSSES if losses[name] == 0)
        assert all(0 <= losses[f"{name}_invalidation"] <= losses[name] for name in LOSSES)
    assert (made.scores.query("rule == 'upper_exact'")["value"] >= made.scores.query("view == ''")["value"].max()).all()


@given(st.data())
def test_worths_sum_to_the_objective(data):
    package = data.draw(packages())
    instance = scale(package)
    chosen = data.draw(st.sets(st.integers(0, len(package) - 1))) if len(package) else set()
    assert worths(instance, sorted(chosen)).sum() == instance.value_int(chosen)


def test_each_loss_is_told_with_its_units():
    made = score(PACKAGE, STORE, [8, 4])
    row = made.losses.query("budget == 8 and rule == 'recency'").iloc[0]
    # O = new + gone + tea = 2.5, the whole store 1, within 8 all of it fits, and both are kept.
    assert [row[name] for name in LOSSES] == [1.5, 0, 0] and row["missing_invalidation"] == 0.5
    row = made.losses.query("budget == 4 and rule == 'recency'").iloc[0]
    # m2 (newest, 4 words) takes the whole budget; the best of the store is m1.
    assert row["selection"] == 1.0 and row["optimum_int"] / row["scale"] == 1.0
    lost = made.lost.query("budget == 8 and rule == 'recency'").set_index("unit_id")
    assert lost.loc["gone", "kept_instead"] == 'c (tombstone, cost 2) "not red"'
    assert lost.loc["gone", "store_best"] is None and set(lost.index) == {"gone", "tea"}
    assert lost["missing"].equals(lost["lost"]) and (lost["gap"] == 1.5).all()
    assert (lost[["size", "selection"]] == 0).all(axis=None)


def of_texts(texts, coverage, **more):
    """A store of memories m1, m2, ... with these texts, each covering the units named."""
    memories = tuple(
        memory(f"m{i}", text, i, **{k: v[i - 1] for k, v in more.items()}) for i, text in enumerate(texts, 1)
    )
    cells = {(f"m{i}", ""): dict.fromkeys(units, 1.0) for i, units in enumerate(coverage, 1) if units}
    return Labelled(Store("s", "mem0", "q", memories), cells)


EMPTY = build("talks", "q", "d", None, [], UNITS, {}, [])


def test_an_even_exchange_loses_no_unit():
    """Within 3 the store may keep tea or new, which are worth the same: keeping new is not losing tea."""
    store = of_texts(["tea", "it is blue"], [["tea"], ["new"]])
    made = score(EMPTY, store, [3])
    assert made.selections.query("rule == 'recency'")["candidate_id"].tolist() == ["store:s::m2"]
    assert made.selections.query("rule == 'upper_exact'")["candidate_id"].tolist() == ["store:s::m1"]
    assert made.lost.empty and (made.losses[list(LOSSES)] == 0).all(axis=None)
    # Where something else is lost, nothing is told as lost to selection: the optimum has tea and gone for new.
    package = build("talks", "q", "d", None, [Candidate("c", "g", "tombstone", 1, 0)], UNITS, {("c", "gone"): 1.0}, [])
    made = score(package, store, [3])
    row = made.losses.query("rule == 'recency'").iloc[0]
    assert [row[name] for name in LOSSES] == [0, 0.5, 0]
    lost = made.lost.query("rule == 'recency'").set_index("unit_id")
    assert lost["size"].to_dict() == {"gone": 0.5, "tea": 1.0} == lost["lost"].to_dict() and lost["gap"].eq(0.5).all()
    assert lost.loc["gone", "kept_instead"] == "c (tombstone, cost 1)"  # without a text


@pytest.mark.parametrize(
    ("theirs", "ours", "loss", "stale"),
    [
        ({"gone": 1.0, "tea": 0.75}, "new", 0.25, 0.25),  # 0.5 in gone, 0.75 in tea, and new is held in exchange
        ({"new": 1.0}, "gone", 0.5, 0.0),
        ({"gone": 1.0, "tea": 1.0, "new": 0.5}, "new", 1.0, 0.5),
    ],
)
def test_the_stale_part_of_a_loss_is_at_most_the_loss(theirs, ours, loss, stale):
    cells = {("c", unit): value for unit, value in theirs.items()}
    package = build("talks", "q", "d", None, [Candidate("c", "g", "compound_update", 3, 0)], UNITS, cells, [])
    (row,) = (
        score(package, of_texts(["it is blue"], [[ours]]), [3], ["recency"])
        .losses.query("rule == 'recency'")
        .to_dict("records")
    )
    assert (row["missing"], row["missing_invalidation"]) == (loss, stale)


def test_the_optimum_that_is_told_of_is_the_stores_own_where_that_is_one():
    store = of_texts(["tea at four", "nothing of use"], [["tea"], []])
    made = score(PACKAGE, store, [3])
    lost = made.lost.query("rule == 'recency'").iloc[0]
    assert [lost[name] for name in LOSSES] == [0, 0, 1] and lost["kept_instead"].startswith("store:s::m1 (")
    assert lost["store_best"] == 'store:s::m1 (coverage 1, cost 3) "tea at four"'


def test_texts_are_whole_on_one_line_and_a_judge_s_word_is_called_so():
    text = "tea at\nfour " + "and more " * 20
    store = of_texts([text], [["tea"]])
    package = build("talks", "q", "d", None, [Candidate("d", "h", "fact", 3, 1)], UNITS, {("d", "tea"): 1.0}, [])
    cases, at = [case(union(package, [store], words), package, store, words)], {9: solved(package, store, 9)}
    made = score_store(cases, ["recency"], at, CONSTANTS, {9: "9"}, CAP1, "proxy")
    assert made.lost.iloc[0]["store_best"] == f'store:s::m1 (judged 1, cost 43) "tea at four{" and more" * 20}"'


def test_what_the_optimum_keeps_has_a_line_a_candidate():
    cells = {("c", "tea"): 0.5, ("d", "tea"): 0.5}
    candidates = [Candidate("c", "g", "fact", 1, 0, "half\nof it"), Candidate("d", "h", "fact", 1, 1)]
    made = score(build("talks", "q", "d", None, candidates, UNITS, cells, []), of_texts(["no"], [[]]), [2], ["recency"])
    assert made.lost.iloc[0]["kept_instead"].split("\n") == ['c (fact, cost 1) "half of it"', "d (fact, cost 1)"]


def test_views_are_also_scored_alone_but_for_the_exact_subset():
    views = (memory("m", "it is blue now", view="full"), memory("m", "blue", view="metadata"))
    store = Labelled(Store("s", "amem", "q", views), {("m", "full"): {"new": 1.0}, ("m", "metadata"): {"new": 0.5}})
    made = score(PACKAGE, store, [2], ["recency", "upper_exact"])
    found = made.scores.set_index(["view", "rule"])["value"].to_dict()
    assert found == {
        ("", "recency"): 0.5,
        ("", "upper_exact"): 0.5,
        ("full", "recency"): 0,
        ("metadata", "recency"): 0.5,
    }


def test_rules_need_what_the_store_gives():
    scored = Labelled(Store("s", "mem0", "q", (memory("m", "x", salience=0.5),)))
    empty = Labelled(Store("s", "mem0", "r", ()))
    assert {"salience", "salience_order"} <= set(usable_rules([scored, empty], None, "store s"))
    assert {"salience", "salience_order", "native_order"} & set(usable_rules([scored, STORE], None, "store s")) == set()
    assert usable_rules([scored], ["recency"], "store s") == ["recency", "upper_exact"]
    with pytest.raises(InputError, match="store s: rule salience: the store of example q has no salience"):
        usable_rules([STORE], ["salience"], "store s")


def test_an_unproven_optimum_gives_no_ratio_and_no_loss():
    at = solved(PACKAGE, STORE, 8)
    limit = {"q": (*at.union["q"][:2], "limit")}
    cases = [case(union(PACKAGE, [STORE], words), PACKAGE, STORE, words)]
    made = score_store(
        cases, ["recency"], {8: Solved(at.package, limit, at.store, None, at.union_kept, at.store_kept)}, CONSTANTS,
        {8: "8"}, CAP1,
    )  # fmt: skip
    assert made.scores["union_ratio"].isna().all() and made.scores["package_ratio"].notna().all()
    assert made.losses.empty and made.lost.empty


def test_empty_stores_count_as_nothing_or_are_left_out():
    other = build("talks", "r", "d", None, [Candidate("e", "g", "fact", 2, 0, "two")], UNITS, {("e", "tea"): 1.0}, [])
    empty = Labelled(Store("s", "mem0", "r", ()))
    pairs = [(PACKAGE, STORE), (other, empty)]
    parts = [score(p, s, [1, 8]).scores for p, s in pairs]
    scores = pd.concat(parts, ignore_index=True)
    for skip, n, mean_ratio in ((False, 2, 0.2), (True, 1, 0.4)):
        made = summarise(scores, Declared("words", skip), 3)
        to_table("store_summary", made)
        row = made.query("budget == 8 and rule == 'recency'").iloc[0]
        assert (row["n"], row["union_ratio"], row["without_n"]) == (n, mean_ratio, 3)
        assert (row["empty_n"], row["left_out_n"]) == ((0, 1) if skip else (1, 0))
        assert (made.query("budget == 1")["n"] == 0).all()  # OPT = 0: undefined, not 1
        assert (made.query("budget == 1")["union_undefined_n"] == n).all()


def test_diagnosis_names_the_largest_loss_and_what_to_change():
    made = score(PACKAGE, STORE, [8, 4])
    told = diagnosis(made.losses, made.scores, Declared("words"))
    to_table("store_diagnosis", told)
    assert dict(zip(told["budget"], told["verdict"], strict=True)) == {4: "selection", 8: "missing"}
    row = told.query("budget == 8").iloc[0]
    assert row["missing_advice"] == (
        "Even the whole store, without a budget, lacks 1.500 of the optimum of 2.500 within 8 (60 %), 0.500 "
        "of it in units that say what no longer holds: write memories that say what the lost units say."
    )
    assert row["size_advice"] == "Nothing is lost to size within 8."
    assert row["verdict_text"] == (
        "Kept by newest first, the store loses most to extraction (missing), by its labels (1 example)."
        " So few examples say nothing about others."
    )
    assert told["diagnosed"].all() and set(told["rule"]) == {"recency"}
    first = most_lost(made.lost, ["recency", "upper_exact"])
    to_table("store_most_lost", first)
    assert first.query("budget == 8")[["rank", "unit_id"]].values.tolist() == [[1, "tea"], [2, "gone"]]


def test_what_a_store_has_beyond_one_optimum_makes_up_for_no_other():
    """Whole stores of 2.5 and 0 against optima of 1 each: more in the mean, and yet one lacks all of its own."""
    other = build("talks", "r", "d", None, [Candidate("c", "g", "fact", 3, 0)], UNITS, {("c", "tea"): 1.0}, [])
    none = Labelled(Store("s", "mem0", "r", (memory("m", "of no use"),)))
    made = [score(EMPTY, RANKED, [3], ["recency"]), score(other, none, [3], ["recency"])]
    losses, scores = (pd.concat([getattr(m, name) for m in made], ignore_index=True) for name in ("losses", "scores"))
    row = diagnosis(losses, scores, Declared("words")).iloc[0]
    assert (row["n"], row["mean_missing"], row["mean_opt"]) == (2, 0.5, 1)
    assert row["missing_advice"] == (
        "Even the whole store, without a budget, lacks 0.500 of the optimum of 1.000 within 3 (50 %), example by "
        "example: write memories that say what the lost units say."
    )


RANKED = of_texts(
    ["tea is at four and it is always so", "it is blue", "red no longer"],
    [["tea"], ["new"], ["gone"]],
    native_order=[0, 1, 2], salience=[0.9, 0.8, 0.7],
)  # fmt: skip


def told_of(store, budget, rules, package=EMPTY, labels="labels"):
    made = score(package, store, [budget], [*rules, "upper_exact"])
    told = diagnosis(made.losses, made.scores, Declared("words", labels=labels))
    to_table("store_diagnosis", told)
    return told.set_index("rule")


def test_a_perfect_ranking_is_not_blamed_for_what_another_rule_loses():
    """Within 12 tea and new fit; salience per cost takes new and gone before tea."""
    told = told_of(RANKED, 12, ["native_order", "salience", "salience_order", "recency"])
    assert told.index[told["diagnosed"]].tolist() == ["native_order"]
    assert told.loc["native_order", "mean_selection"] == 0 == told.loc["salience_order", "mean_selection"]
    assert told.loc["native_order", "selection_advice"].startswith("Nothing is lost to selection within 12")
    assert told.loc["native_order", "verdict_text"] == (
        "Kept by own retrieval order, the store loses nothing, by its labels (1 example)."
        " So few examples say nothing about others."
    )
    assert told.loc["salience", "selection_advice"] == (
        "0.500 of 2.000 (25 %) fits within 12 and is not kept by salience per cost: keep by own retrieval order, which "
        "loses 0.000 here."
    )
    alone = told_of(RANKED, 12, ["salience"])
    assert alone.loc["salience", "diagnosed"]
    assert alone.loc["salience", "selection_advice"].endswith(
        "give more salience to what says what the lost units say, or shorten it."
    )


def test_the_whole_store_is_no_choice_to_diagnose():
    told = told_of(RANKED, 12, ["full_store", "recency"])
    assert set(told.index) == {"recency"}
    made = score(EMPTY, RANKED, [12], ["full_store", "upper_exact"])
    assert diagnosis(made.losses, made.scores, Declared("words")).empty
    assert most_lost(made.lost, ["full_store", "upper_exact"]).empty


def test_equal_losses_are_told_together():
    """Within 3 the optimum has new and, of the package, tea; the best of the store new; newest first neither."""
    package = build("talks", "q", "d", None, [Candidate("d", "h", "fact", 1, 1)], UNITS, {("d", "tea"): 1.0}, [])
    store = of_texts(["tea is at four o'clock", "it is", "of no use"], [["tea"], ["new"], []])
    row = told_of(store, 3, ["recency"], package).loc["recency"]
    assert [row[f"mean_{name}"] for name in LOSSES] == [0, 1, 1]
    assert (row["largest"], row["tied"]) == ("size", "selection")
    assert "the store loses most to size and selection equally, by its labels" in row["verdict_text"]


TWO_VIEWS = Labelled(
    Store("s", "amem", "q", (memory("m", "it is blue now", view="full"), memory("m", "it is blue", view="metadata"))),
    {("m", "full"): {"new": 0.5}, ("m", "metadata"): {"new": 0.5}},
)
NEW = build("talks", "q", "d", None, [Candidate("d", "h", "fact", 1, 1)], UNITS, {("d", "new"): 1.0}, [])


def again_of(made, told):
    """What the second computation says of scored rows; its sentences and numbers are those told."""
    again = diagnosis_rows(made.scores.to_dict("records"), made.losses.to_dict("records"), PLAN)
    close = {c for c in told if c.startswith("mean_")}
    assert list(row_faults(to_table("store_diagnosis", told), again, TABLES["store_diagnosis"].key, close)) == []
    assert list(advice_faults(told.to_dict("records"), again)) == []
    return again


def test_what_is_lost_to_views_is_not_called_size():
    """Both views together cover new; one of them may be kept, and the dearer costs 4."""
    made = score(NEW, TWO_VIEWS, [2, 3, 4])
    told = diagnosis(made.losses, made.scores, Declared("words"))
    rows, again = told.set_index("budget"), again_of(made, told)
    assert rows["mean_size"].to_dict() == {2: 1.0, 3: 0.5, 4: 0.5} and set(rows["largest"]) == {"size"}
    assert rows["of_views"].to_dict() == {2: False, 3: False, 4: True}
    assert rows.loc[4, "size_advice"] == (
        "0.500 of 1.000 (50 %) is reached by the whole store with all views of its memories, but not with k = 1 of "
        "each, though these fit within 4: say in one view of a memory what the others say."
    )
    assert (
        "the store loses most to views (of a memory at most k are kept), by its labels" in rows.loc[4, "verdict_text"]
    )
    assert rows.loc[2, "size_advice"].endswith(
        "by no part of it within 2: write shorter memories, or split long ones by fact."
    )
    texts = first_to_change(told, made.scores)["text"].tolist()
    assert texts == ["at 2 to 3: size (write shorter memories)", "at 4: views (say in one view what the others say)"]
    assert [row["text"] for row in range_rows(again, made.scores.to_dict("records"))] == texts


def test_of_a_loss_to_size_the_part_that_is_of_views_is_told():
    made = score(NEW, TWO_VIEWS, [4])
    losses = pd.concat([made.losses, made.losses.assign(package_id="r", fits=False)], ignore_index=True)
    scores = pd.concat([made.scores, made.scores.assign(package_id="r")], ignore_index=True)
    both = replace(made, losses=losses, scores=scores)
    told = diagnosis(both.losses, both.scores, Declared("words"))
    (row,) = told.to_dict("records")
    again_of(both, told)
    assert (row["mean_size"], row["mean_size_fitting"], row["of_views"]) == (0.5, 0.25, False)
    assert row["size_advice"].endswith(
        "within 4; 0.250 of it where all fits, but not all views may be kept: write shorter memories, or split long "
        "ones by fact; say in one view of a memory what the others say."
    )


def test_where_all_fits_no_other_order_is_advised():
    """Newest first keeps the cheaper view, which says nothing, of a memory of which either would fit."""
    store = replace(TWO_VIEWS, coverage={("m", "full"): {"new": 1.0}})
    made = score(NEW, store, [3, 4])
    told = diagnosis(made.losses, made.scores, Declared("words"))
    rows = told.set_index("budget")
    again_of(made, told)
    assert rows.loc[4, "mean_selection"] == 1.0 == rows.loc[4, "mean_selection_fitting"]
    assert rows.loc[4, "selection_advice"] == (
        "1.000 of 1.000 (100 %) fits within 4, as all else, and is not kept by newest first: keep every memory, of "
        "several views the one that says most."
    )


def test_nothing_lost_is_told_as_such():
    row = told_of(of_texts(["it is"], [["new"]]), 3, ["recency"]).loc["recency"]
    assert (row["largest"], row["tied"]) == ("nothing", "")
    assert row["verdict_text"].startswith("Kept by newest first, the store loses nothing, by its labels (1 example).")
    assert row["missing_advice"].startswith(
        "The whole store, without a budget, is worth as much as the optimum within 3"
    )


@pytest.mark.parametrize("labels", ["labels", "proxy"])
def test_where_nothing_can_be_kept_the_verdict_is_undefined(labels):
    """Within 1 neither a candidate nor a memory fits: the optimum of the union is 0."""
    made = score(PACKAGE, STORE, [1, 8])
    verdicts, by_judge = None, "" if labels == "labels" else " by the proxy"
    if by_judge:
        one, judged = judged_case()
        verdicts = verdict_rows([one], judged, made.losses, made.selections, CONSTANTS, CAP1, k=1, draws=5).verdicts
    told = diagnosis(made.losses, made.scores, Declared("words", labels=labels), verdicts)
    to_table("store_diagnosis", told)
    row = told.set_index("budget").loc[1]
    assert (row["verdict"], row["largest"], row["mean_opt"]) == ("undefined", "nothing", 0)
    whose = "its labels" if labels == "labels" else "the proxy"
    assert row["verdict_text"].startswith(
        f"Undefined: nothing can be kept within 1: the optimum is 0, by {whose} (1 example)."
    )
    sentence = "othing can be kept within 1: the optimum is 0."
    assert all(row[f"{name}_advice"].endswith(sentence) for name in LOSSES)
    assert told.set_index("budget").loc[8, "verdict"] != "undefined"
    again = diagnosis_rows(
        made.scores.to_dict("records"), made.losses.to_dict("records"), replace(PLAN, labels=labels),
        [] if verdicts is None else verdicts.to_dict("records"),
    )  # fmt: skip
    assert [r["verdict_text"] for r in again] == told["verdict_text"].tolist()
    assert list(advice_faults(told.to_dict("records"), again)) == []
    assert first_to_change(told, made.scores)["text"].iloc[0] == "at 1: nothing can be kept (the optimum is 0)"


def judged_row(verdict, losses, drawn, counts, **more):
    """A row of store_verdicts on mean losses (missing, size, selection); counts: draws of each, of none, tied."""
    row = CONSTANTS | {"budget": 4, "budget_spec": "4", "rule": "recency", "n": 1, "judge": "proxy", "kind": "proxy"}
    names = [name for name in LOSSES if losses[name] == max(losses.values())] if any(losses.values()) else ["nothing"]
    row |= {"verdict": verdict, "largest": names[0], "tied": "+".join(names[1:]), "draws": 200, "unproven_draws": 0}
    row |= dict(zip((*(f"{n}_draws" for n in (*LOSSES, "nothing")), "tied_draws"), counts, strict=True))
    agreement = counts[[*LOSSES, "nothing"].index(names[0])] / 200
    return row | {f"drawn_{n}": drawn[n] for n in LOSSES} | {"agreement": agreement, "kappa": 0.66} | more


def undecided(losses, drawn, counts, **more):
    """The diagnosis of an undecided verdict, as both computations have it."""
    made = score(PACKAGE, STORE, [4])
    numbers = {"optimum_int": 6000, "whole_int": 6000 - losses["missing"], "scale": 1000}
    numbers["upper_int"] = numbers["whole_int"] - losses["size"]
    numbers["selected_int"] = numbers["upper_int"] - losses["selection"]
    frame = made.losses.query("rule == 'recency'").assign(**numbers, **{n: losses[n] / 1000 for n in LOSSES})
    verdict = judged_row("undecided", losses, {n: d / 1000 for n, d in drawn.items()}, counts, **more)
    told = diagnosis(frame, made.scores, Declared("words", labels="proxy"), pd.DataFrame([verdict]))
    scores, plan = made.scores.to_dict("records"), replace(PLAN, labels="proxy")
    again = diagnosis_rows(scores, frame.to_dict("records"), plan, [verdict])
    close = {c for c in TABLES["store_diagnosis"].schema.names if c.startswith(("mean_", "drawn_"))}
    stored = to_table("store_diagnosis", told)
    again = [row | {f"{n}_advice": told[f"{n}_advice"].iloc[0] for n in LOSSES} for row in again]
    assert list(row_faults(stored, again, TABLES["store_diagnosis"].key, close)) == []
    return told.iloc[0]


def of(*thousandths):
    return dict(zip(LOSSES, thousandths, strict=True))


def test_an_undecided_verdict_names_its_rival_and_only_what_is_not_met():
    row = undecided(of(333, 167, 250), of(550, 66, 204), (188, 0, 4, 0, 8), leans=True)
    assert row["rival"] == "selection"
    assert row["verdict_text"].startswith(
        "Undecided between extraction (missing) and selection: kept by newest first, the store loses most to "
        "extraction (missing), by the proxy (1 example): 94 % of 200 label draws agree, the largest losses tie in 8; "
        "kappa 0.66 (the lower of two); the draws lean to missing: a step as long the other way puts selection ahead."
    )
    row = undecided(of(83, 500, 167), of(293, 378, 160), (50, 118, 9, 0, 23), leans=False)
    assert row["rival"] == "missing" and "59 % of 200 label draws agree (80 % are needed), the" in row["verdict_text"]
    row = undecided(of(0, 0, 0), of(0, 0, 72), (0, 0, 50, 150, 0), leans=True)
    assert row["rival"] == "selection" and "Undecided between no loss and selection: kept" in row["verdict_text"]
    assert "; the mean of the draws puts selection ahead." in row["verdict_text"]
    row = undecided(of(0, 500, 0), of(0, 500, 0), (0, 200, 0, 0, 0), leans=False, kappa=0.3)
    assert row["rival"] == "" and row["verdict_text"].startswith("Undecided: kept by newest first")
    assert "100 % of 200 label draws agree; kappa 0.30 (the lower of two; 0.4 is needed)." in row["verdict_text"]


THOUSANDTHS = st.tuples(*[st.sampled_from([0, 100, 200, 300, 650])] * 3).map(lambda drawn: of(*drawn))


@settings(max_examples=60, deadline=None)
@given(
    THOUSANDTHS, THOUSANDTHS, st.permutations([120, 40, 40, 0, 0]).map(tuple), st.booleans(),
    st.sampled_from([0.3, 0.66]),
)  # fmt: skip
def test_rivals_and_sentences_are_the_same_in_both_computations(losses, drawn, counts, lean, kappa):
    row = undecided(losses, drawn, counts, leans=lean, kappa=kappa)
    assert row["rival"] in ("", "nothing", *LOSSES)
    assert row["rival"] == "" or row["rival"] not in (row["largest"], *row["tied"].split("+")) or lean


def test_losses_have_intervals_over_examples():
    made = score(PACKAGE, STORE, [8])
    losses = pd.concat([made.losses.assign(package_id=f"q{i}") for i in range(6)], ignore_index=True)
    halved = [i for i, p in enumerate(losses["package_id"]) if p in ("q0", "q1", "q2")]
    for name in ("missing", "optimum_int", "whole_int", "upper_int", "selected_int"):
        losses.loc[halved, name] = losses.loc[halved, name] // 2
    scores = pd.concat([made.scores.assign(package_id=f"q{i}") for i in range(6)], ignore_index=True)
    (row,) = diagnosis(losses, scores, Declared("words"), resamples=100).to_dict("records")
    assert row["mean_missing_low"] < row["mean_missing"] < row["mean_missing_high"]
    assert (row["mean_size_low"], row["mean_size_high"]) == (0, 0)
    assert row["verdict_text"].endswith(
        "by its labels (6 examples). How far other examples may differ, the intervals of the losses say."
    )


# ---- over all budgets

SETTING = {"suite": "talks", "store": "s", "cost_model": "words", "k": 1, "saturation": "cap1"}


def ranges(verdicts, scored=None):
    """Rows of store_ranges: budget -> (verdict, largest, tied, rival) by newest first; `scored`: budgets, more."""
    scores = pd.DataFrame([SETTING | {"budget": b} for b in scored or verdicts])
    rows = [
        SETTING | {"budget": b, "rule": rule, "labels": "labels", "diagnosed": rule == "recency", "of_views": False}
        | dict(zip(("verdict", "largest", "tied", "rival"), told, strict=True))
        for b, one in verdicts.items()
        for rule, told in (("recency", one), ("salience", ("size", "size", "", "")))
    ]  # fmt: skip
    made = first_to_change(pd.DataFrame(rows), scores)
    again = list(range_rows(rows, scores.to_dict("records")))
    assert list(row_faults(to_table("store_ranges", made), again, TABLES["store_ranges"].key)) == []
    return made


def sure(name):
    return (name, name, "", "")


def test_what_to_change_first_is_told_by_ranges_of_budgets():
    made = ranges(
        {60: sure("missing"), 10: sure("size"), 20: sure("selection"), 30: sure("selection"), 100: sure("missing")}
    )
    assert made[["first_budget", "last_budget", "budgets"]].values.tolist() == [[10, 10, 1], [20, 30, 2], [60, 100, 2]]
    assert made["text"].tolist() == [
        "at 10: size (write shorter memories)",
        "at 20 to 30: selection (choose better what is kept)",
        "from 60: missing (write what the lost units say)",
    ]
    assert set(made["rule"]) == {"recency"}


def test_one_verdict_at_all_budgets_and_one_budget_are_one_range():
    assert ranges({10: sure("size"), 20: sure("size")})["text"].tolist() == [
        "at all budgets, 10 to 20: size (write shorter memories)"
    ]
    assert ranges({10: sure("nothing")})["text"].tolist() == ["at 10: nothing is lost"]


def test_a_range_does_not_reach_over_a_budget_of_which_nothing_is_known():
    """At 20 and 60 no example is proven."""
    made = ranges({b: sure("size") for b in (10, 30, 40)}, scored=[10, 20, 30, 40, 60])
    assert [text.split(":")[0] for text in made["text"]] == ["at 10", "at 30 to 40"]


def test_ties_and_undecided_verdicts_are_ranges_of_their_own():
    tie = ("size", "size", "selection", "")
    open_ = ("undecided", "size", "selection", "")
    open_by_rival = {b: ("undecided", "size", "", rival) for b, rival in ((50, ""), (60, "missing"), (70, "nothing"))}
    made = ranges({10: sure("size"), 20: tie, 30: open_, 40: ("undecided", "nothing", "", "missing")} | open_by_rival)
    assert made["text"].tolist() == [
        "at 10: size (write shorter memories)",
        "at 20: size and selection equally (write shorter memories, choose better what is kept)",
        "at 30: undecided between size and selection",
        "at 40: undecided between no loss and missing",
        "at 50: undecided (size as judged)",
        "at 60: undecided between size and missing",
        "at 70: undecided between size and no loss",
    ]


VERDICTS = [
    (verdict, largest, tied, rival)
    for largest, tied in (("missing", ""), ("missing", "size+selection"), ("selection", ""), ("nothing", ""))
    for verdict, rival in ((largest, ""), ("undecided", ""), ("undecided", "selection"))
]


@given(
    st.dictionaries(st.integers(1, 30), st.sampled_from(VERDICTS), min_size=1, max_size=8), st.sets(st.integers(1, 30))
)
def test_ranges_are_the_runs_of_equal_verdicts(verdicts, more):
    scored = sorted({*verdicts, *more})
    made = ranges(verdicts, scored)
    covered = [b for row in made.itertuples() for b in scored if row.first_budget <= b <= row.last_budget]
    assert sorted(covered) == sorted(verdicts) and made["budgets"].sum() == len(verdicts)
    by_budget = {
        b: (r.verdict, r.largest, r.tied, r.rival) for r in made.itertuples() for b in scored
        if r.first_budget <= b <= r.last_budget
    }  # fmt: skip
    assert by_budget == verdicts
    pairs = zip(made.itertuples(), made.iloc[1:].itertuples(), strict=False)
    for one, other in pairs:
        next_scored = scored[scored.index(one.last_budget) + 1]
        assert next_scored != other.first_budget or by_budget[one.last_budget] != by_budget[other.first_budget]


def test_units_that_count_are_told_with_what_the_whole_store_covers():
    units = pd.DataFrame(
        [{"package_id": "q", "unit_id": u, "role": "", "kind": None, "text": None, "weight": w}
         for u, w in (("new", 1.0), ("gone", 0.5), ("tea", 1.0), ("idle", 0.0))]
    )  # fmt: skip
    two = {("m1", ""): {"new": 0.5, "tea": 0.5}, ("m2", ""): {"new": 0.75}}
    stores = {"q": replace(STORE, coverage=two), "r": Labelled(Store("s", "mem0", "r", ()))}
    more = units.assign(package_id="r")
    made = covered_units("talks", "s", stores, pd.concat([units, more]), Declared("words", skip_empty=True))
    to_table("store_units", made)
    assert made.set_index("unit_id")["covered"].to_dict() == {"new": 1.0, "gone": 0.0, "tea": 0.5}
    assert len(covered_units("talks", "s", stores, pd.concat([units, more]), Declared("words"))) == 6


def test_union_suites_and_examples_that_have_no_store():
    other = build("talks", "r", "d", None, [], UNITS, {}, [])
    (made,) = union_suite("talks+s", [PACKAGE, other], [{"q": STORE}], [words])
    assert (made.suite, made.package_id, len(made)) == ("talks+s", "q", 4)
    (alone,) = union_suite("talks+s+alone", [PACKAGE], [{"q": STORE}], [words], alone=True)
    assert len(alone) == 2
    with pytest.raises(InputError, match="no example of the suite has a store in each"):
        union_suite("talks+joint", [PACKAGE, other], [{"q": STORE}, {"r": STORE}], [words, words])


def ingest(store):
    return Ingest(store, IngestReport(store.name, store.system, "mem0", store.instance_id, 1, 1, 0, 0, {}, {}, (), {}))


def given_labels(*edges):
    rows = [{"memory_id": m, "unit_id": u, "coverage": v} for m, u, v in edges]
    return labels([("f: row 1", {"instance_id": "q", "coverage_edges": rows})], "f")


def test_labelled_stores_come_back_from_their_tables(tmp_path):
    empty, strange = Store("s", "mem0", "r", ()), Store("s", "mem0", "nobody", ())
    found = [ingest(s) for s in (STORE.store, empty, strange)]
    made = labelled_stores(found, ["q", "r", "t"], given_labels(("m1", "new", 1), ("old", "new", 1)), name="s")
    assert made.stores == {"q": STORE, "r": Labelled(empty)}
    notes = {(n["instance_id"], n["name"]): (n["count"], n["detail"]) for n in made.notes}
    assert notes == {
        ("q", "memories that the store does not hold"): (1, "old"),
        ("q", "memories that no label row is of"): (1, "m2"),
        ("", "example without a store"): (1, "t"),
        ("", "store of no example"): (1, "nobody"),
    }
    write_labelled(tmp_path, made)
    assert read_labelled(tmp_path) == dict(made.stores)


def test_the_size_of_a_text_that_stands_elsewhere_comes_back(tmp_path):
    part = Memory("m1", "content: [9 words that stand elsewhere]", 0, "m1", view="full", size=TextSize(10, 50, 51))
    found = [ingest(Store("s", "amem", "q", (part, Memory("m2", "t", 1, "m2", view="full"))))]
    made = labelled_stores(found, ["q"], given_labels(("m1", "new", 1)), name="s")
    write_labelled(tmp_path, made)
    assert (
        read_labelled(tmp_path) == dict(made.stores)
        and read_labelled(tmp_path)["q"].store.memories[0].size == part.size
    )


def test_labels_of_another_store_or_package_are_refused():
    with pytest.raises(InputError, match="f: no row is of a memory of store s; it labels x, and the store holds m1"):
        labelled_stores([ingest(STORE.store)], ["q"], given_labels(("x", "new", 1)), name="s")
    of_full = given_labels(("m1", "new", 1))
    of_full.rows["q"][0][1]["memory_view"] = "full"
    with pytest.raises(InputError, match="f: its rows are of other views of store s than the one that is read"):
        labelled_stores([ingest(STORE.store)], ["q"], of_full, name="s")
    made = labelled_stores([ingest(STORE.store)], ["q"], given_labels(("m1", "other", 1)), name="s")
    with pytest.raises(InputError, match="example q: the coverage of memory m1 names unit 'other'"):
        refuse_strange_units(made, {"q": ["new"]}, "s")


def test_anatomy_counts_what_the_store_holds():
    none = pd.DataFrame(columns=["instance_id", "what", "name", "count", "detail"])
    made = anatomy("talks", "s", {"q": STORE}, none, {"words": words}, {"words": [3]}, {"q": ["gone"]})
    to_table("store_anatomy", made)
    found = made.set_index(["what", "name"])["value"]
    assert (
        found["memories", "in all"] == 2 == found["texts", "in all"]
        and found["share of memories that fit", "B = 3"] == 0.5
    )
    assert found["validity coverage", "invalidation units"] == 1
    assert found["validity coverage", "covered by the whole store"] == 0


def test_anatomy_counts_a_memory_in_two_views_once():
    """Its texts cost 4 and 3: within 3 the store can be kept whole, as `full_store` does."""
    none = pd.DataFrame(columns=["instance_id", "what", "name", "count", "detail"])
    own, budgets = {"q": TWO_VIEWS}, {"words": [2, 3]}
    made = anatomy("talks", "s", own, none, {"words": words}, budgets, {"q": []})
    found = made.set_index(["what", "name"])["value"]
    assert (found["memories", "in all"], found["memories per example", "mean"], found["texts", "in all"]) == (1, 1, 2)
    assert (found["view", "full"], found["cost of a text", "mean"]) == (1, 3.5)
    for what in ("share of memories that fit", "share of stores that fit"):
        assert [found[what, f"B = {b}"] for b in (2, 3)] == [0, 1]
    scored = score(EMPTY, TWO_VIEWS, [3], ["full_store", "upper_exact"]).scores.set_index(["view", "rule"])
    assert scored.loc[("", "full_store"), ["n_selected", "n_memories"]].tolist() == [1, 1]
    again = anatomy_rows({"q": rows_of(TWO_VIEWS)}, [], {"q": {}}, {"q": []}, budgets, PLAN)
    rows = [row | {"suite": "talks", "store": "s"} for row in again]
    assert list(row_faults(to_table("store_anatomy", made), rows, TABLES["store_anatomy"].key)) == []


def test_anatomy_says_where_an_export_is_odd():
    told = [
        ("", "package", "store of no example", 1, "q7"), ("", "package", "example without a store", 2, "r, t"),
        ("q", "warning", "several users", 3, "'a': 1, 'b': 2"), ("q", "skipped", "no text", 3, None),
        ("r", "skipped", "no text", 4, None), ("q", "count", "kept", 2, None), ("r", "count", "kept", 0, None),
        *((i, "skipped", "history: ADD", 1, None) for i in ("w", "v", "q", "r")),
    ]  # fmt: skip
    rows = [dict(zip(("instance_id", "what", "name", "count", "detail"), one, strict=True)) for one in told]
    stores = {"q": STORE, "r": Labelled(Store("s", "mem0", "r", ()))}
    made = anatomy("talks", "s", stores, pd.DataFrame(rows), {}, {}, {"q": [], "r": []})
    found = made.set_index(["what", "name"])[["value", "detail"]].T.to_dict("list")
    assert found["examples", "store of no example"] == [1, "q7"]
    assert found["examples", "with an empty store"] == [1, "r"]
    assert found["warning", "several users"] == [3, "q: 'a': 1, 'b': 2"]
    assert found["skipped", "no text"] == [7, "q, r"]
    assert found["skipped", "history: ADD"] == [4, "q, r, v and 1 more"]
    assert found["rows", "kept"][0] == 2 and pd.isna(found["rows", "kept"][1])
    memories = {i: rows_of(one) for i, one in stores.items()}
    covered = {i: {u: [v] for u, v in one.coverage.get(("m1", ""), {}).items()} for i, one in stores.items()}
    again = list(anatomy_rows(memories, rows, covered, {"q": [], "r": []}, {}, PLAN))
    own = [row | {"suite": "talks", "store": "s"} for row in again]
    assert list(row_faults(to_table("store_anatomy", made), own, TABLES["store_anatomy"].key)) == []
