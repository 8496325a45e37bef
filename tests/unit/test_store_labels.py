"""Label and salience rows of an export: what they leave out, and what they say of things that are not there."""

from dataclasses import replace

import pytest
from store_cases import STORE

from memaudit.errors import InputError
from memaudit.stores.labelled import labelled_stores
from memaudit.stores.labels import labels
from memaudit.stores.model import NO_TEXT, Ingest, IngestReport, Store


def ingest(store):
    return Ingest(store, IngestReport(store.name, store.system, "mem0", store.instance_id, 1, 1, 0, 0, {}, {}, (), {}))


def given_labels(*edges):
    rows = [{"memory_id": m, "unit_id": u, "coverage": v} for m, u, v in edges]
    return labels([("f: row 1", {"instance_id": "q", "coverage_edges": rows})], "f")


def given_salience(scores, instance_id="q", **more):
    return labels([("f: row 1", {"instance_id": instance_id, "scores": scores, **more})], "f")


def with_file(salience, *found):
    found = [ingest(one) for one in found] or [ingest(STORE.store)]
    return labelled_stores(found, ["q", "r"], given_labels(("m1", "new", 1), ("m2", "new", 0)), salience, name="s")


def test_salience_of_another_store_is_refused():
    with pytest.raises(
        InputError, match=r"f: no score is of a memory of store s; it has rows of the examples q, and"
    ) as e:
        with_file(given_salience({"x": 1}))
    assert "expected are memories such as m1 (example q), m2 (example q): give the salience of this export" in str(
        e.value
    )
    with pytest.raises(InputError, match="it has rows of the examples elsewhere, and expected"):
        with_file(given_salience({"m1": 1, "m2": 1}, "elsewhere"))
    with pytest.raises(InputError, match=r"f: its scores are of other views of store s \(full\) than the one"):
        with_file(given_salience({"m1": 1, "m2": 1}, memory_view="full"))


def test_salience_that_leaves_memories_out_is_refused():
    """Else they would never be kept, as if they were known to be of no use."""
    with pytest.raises(
        InputError, match="f: 1 of 2 memories of store s have no salience: m2 of example q; give each a"
    ):
        with_file(given_salience({"m1": 1}))
    other = replace(STORE.store, instance_id="r")
    with pytest.raises(
        InputError, match="2 of 4 memories of store s have no salience: m1 of example r, m2 of example r"
    ):
        with_file(given_salience({"m1": 1, "m2": 0}), STORE.store, other)
    rated = with_file(given_salience({"m1": 1, "m2": 0})).stores["q"].store
    assert [m.salience for m in rated.memories] == [1.0, 0.0]


def test_a_file_of_salience_takes_the_place_of_what_the_export_holds():
    own = replace(STORE.store, memories=tuple(replace(m, salience=0.5) for m in STORE.store.memories))
    assert [m.salience for m in with_file(given_salience({"m1": 1, "m2": 0}), own).stores["q"].store.memories] == [1, 0]
    with pytest.raises(InputError, match="1 of 2 memories of store s have no salience"):
        with_file(given_salience({"m1": 1}), own)


def test_label_rows_that_are_of_nothing_here_are_told():
    rows = {"q": [], "r": [], "far": [], "away": []}
    coverage = labels([(f"f: row {i}", {"instance_id": i, "coverage_edges": []}) for i in rows], "f")
    coverage.rows["q"][0][1]["coverage_edges"] = [{"memory_id": "m1", "unit_id": "new", "coverage": 1}]
    scores = {"m1": 1, "m2": {"salience": 0, "memory_view": "full"}, "old": 1}
    salience = [{"instance_id": "q", "scores": scores}, {"instance_id": "q", "scores": {"m1": 0.5, "m2": 0}}]
    salience += [{"instance_id": "x", "scores": {"y": 1}}]
    salience = labels([(f"g: row {i}", row) for i, row in enumerate(salience)], "g")
    made = labelled_stores([ingest(STORE.store)], ["q", "r"], coverage, salience, name="s")
    notes = {(n["instance_id"], n["name"]): (n["count"], n["detail"]) for n in made.notes if n["what"] == "labels"}
    assert notes == {
        ("q", "memories that no label row is of"): (1, "m2"),
        ("", "coverage rows of an example without a store"): (1, "r"),
        ("", "coverage rows of no example"): (2, "away, far"),
        ("q", "scores that stand again"): (1, None),
        ("q", "scores of memories that the store does not hold"): (1, "old"),
        ("q", "scores of views that were not read"): (1, "full"),
        ("", "salience rows of no example"): (1, "x"),
    }
    assert made.stores["q"].store.memories[0].salience == 1  # of two the larger


def test_label_rows_of_other_examples_are_checked_too():
    wrong = [
        ("f: row 1", {"instance_id": "far", "coverage_edges": [{"memory_id": "m", "unit_id": "u", "coverage": 2}]})
    ]
    with pytest.raises(InputError, match=r"f: row 1: coverage is 2; write a number in \[0, 1\]"):
        labelled_stores([ingest(STORE.store)], ["q"], labels(wrong, "f"), name="s")
    with pytest.raises(InputError, match=r"f: row 2: salience of 'y' is 7"):
        salience = given_salience({"m1": 1, "m2": 0})
        salience.rows["far"] = [("f: row 2", {"instance_id": "far", "scores": {"y": 7}})]
        with_file(salience)


def test_memories_of_another_example_by_their_user_are_told():
    store = replace(STORE.store, memories=(replace(STORE.store.memories[0], user_id="r"), STORE.store.memories[1]))
    notes = {n["name"]: (n["instance_id"], n["count"], n["detail"]) for n in with_file(None, store).notes}
    assert notes["memories of another example's user_id"] == ("q", 1, "r: 1")
    own = replace(
        store, memories=(replace(store.memories[0], user_id="q"), replace(store.memories[1], user_id="alice"))
    )
    assert "memories of another example's user_id" not in {n["name"] for n in with_file(None, own).notes}


def test_a_labelled_export_whose_memories_all_lack_a_text_is_no_empty_store():
    empty = ingest(Store("s", "mem0", "q", ()))
    blank = replace(empty, report=replace(empty.report, read=3, kept=0, skipped={NO_TEXT: 3}))
    with pytest.raises(InputError, match="store s: its 3 memories have no text, so there is nothing to score"):
        labelled_stores([blank], ["q"], given_labels(("m1", "new", 1)), name="s")
    assert labelled_stores([empty], ["q"], given_labels(("m1", "new", 1)), name="s").stores["q"].store == empty.store
