"""Scores, losses and lost units of exported stores, against exhaustive search; their means and sentences."""

from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_cases import CONSTANTS, PACKAGE, STORE, UNITS, memory, score, solve, solved, words
from test_store_union import stores

from memaudit.analysis.store_scores import LOSSES, Solved, case, score_store, usable_rules, worths
from memaudit.analysis.store_summary import Declared, anatomy, diagnosis, most_lost, summarise
from memaudit.errors import InputError
from memaudit.objective import CAP1, scale
from memaudit.package import Candidate, TextSize, build
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
    assert lost.loc["gone", "kept_instead"] == "c (tombstone, cost 2)" and lost.loc["gone", "store_best"] is None
    assert set(lost["loss"]) == {"missing"} and set(lost.index) == {"gone", "tea"}


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
    assert "salience" in usable_rules([scored, empty], None, "store s")
    assert {"salience", "native_order"} & set(usable_rules([scored, STORE], None, "store s")) == set()
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
    assert row["missing_advice"].startswith("1.500 of 2.500 (60 %) is in no memory, 0.500 of it in units that say")
    assert row["size_advice"] == "Nothing is lost here."
    assert told["diagnosed"].all() and set(told["rule"]) == {"recency"}
    first = most_lost(made.lost, ["recency", "upper_exact"])
    to_table("store_most_lost", first)
    assert first.query("budget == 8")[["rank", "unit_id"]].values.tolist() == [[1, "tea"], [2, "gone"]]


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
    none = pd.DataFrame(columns=["what", "name", "count", "detail"])
    made = anatomy("talks", "s", {"q": STORE}, none, {"words": words}, {"words": [3]}, {"q": ["gone"]})
    to_table("store_anatomy", made)
    found = made.set_index(["what", "name"])["value"]
    assert found["memories", "in all"] == 2 and found["share of memories that fit", "B = 3"] == 0.5
    assert found["validity coverage", "invalidation units"] == 1
    assert found["validity coverage", "covered by the whole store"] == 0
