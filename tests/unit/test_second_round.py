"""The second round of labels: narrower units, cells labelled again, and the packages that come of both rounds."""

import pytest
from test_labelling import CELLS, UNITS, b_rows, hens_and_barn, taken

from memaudit.natural import labelled, labelling, second_round
from memaudit.natural.second_round import NO_SECOND_ROUND, SecondRound

REQUIRED = {"Q001": {"S002.u1": "S002"}, "Q002": {"Q002.d1": "S002"}}
NARROWER = {"replaces": "S002.u1", "kind": "current_fact", "text": "There are 7.", "turn": 0, "quote": "seven hens",
            "reason": "Whose they are is not asked."}  # fmt: skip


@pytest.fixture
def frame():
    return hens_and_barn()


def narrow_rows(**unit):
    return [{"query": "Q001", "units": [{**NARROWER, **unit}]}, {"query": "Q002", "units": []}]


def again_cells(frame):
    """By the rule, of the example in test_labelling."""
    a1, _ = taken(frame)
    types = {f"{r['session']}.{c['candidate']}": c["type"] for r in a1 for c in r["candidates"]}
    kinds = {"S001.u1": "update", "S002.u1": "current_fact", "Q001.n1": "current_fact"}
    return second_round.cells_again(["Q001.n1"], ["Q001.n1"], CELLS["Q001"], types, kinds)


def test_which_cells_are_labelled_again(frame):
    cells = again_cells(frame)
    candidates = {"S001.c1", "S001.c2", "S002.c1", "S002.c2"}
    assert {c for c, u in cells if u == "Q001.n1"} == candidates  # all of them on the narrowed unit
    # an update: what the first round labelled; the replaced unit is neither required nor of a kind
    assert {(c, u) for c, u in cells if u != "Q001.n1"} == {(c, u) for c, u in CELLS["Q001"] if u == "S001.u1"}
    kinds = {"S002.u1": "current_fact"}
    assert second_round.cells_again([], [], [("S002.c1", "S002.u1")], {"S002.c1": "summary"}, kinds) == []
    assert second_round.cells_again([], [], [("S002.c1", "S002.u1")], {"S002.c1": "tombstone"}, kinds) != []
    assert second_round.cells_again(["S002.u1"], [], [("S002.c1", "S002.u1")], {"S002.c1": "summary"}, kinds) != []


def test_what_labellers_of_the_second_round_see(frame):
    a1, _ = taken(frame)
    made = {row["session"]: row for row in a1}
    units = {"S002.u1": made["S002"]["units"][0]}
    shown = second_round.narrow_bundle("Q001", frame, units)
    assert "gold answer: seven" in shown and "S002.u1 (current_fact): The user has 7 hens." in shown
    assert "There are hens." not in shown  # candidates
    cells = [("S002.c1", "S002.u1"), ("S001.c1", "S002.u1")]
    a, b = (second_round.again_bundle("Q001", frame, made, units, cells, seed) for seed in ("a", "b"))
    assert "seven" not in a and "How many" not in a  # neither session nor question
    assert "S002.c2" not in a and sorted(a.splitlines()) == sorted(b.splitlines())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"replaces": "S001.u1"}, "Q001: unit 1: replaces 'S001.u1' is none of S002.u1"),
        ({"kind": "fact"}, "kind 'fact' is none of"),
        ({"text": ""}, "unit 1: text: the text is missing"),
        ({"reason": None}, "unit 1: reason: the text is missing"),
        ({"text": "how many hens are kept in the yard behind the house"}, "unit 1: text: more than 8 words"),
        ({"quote": "eight hens"}, "copy it from the bundle"),
    ],
)
def test_what_is_wrong_with_a_narrowed_unit_is_told(frame, change, says):
    with pytest.raises(labelling.Problems, match=says):
        second_round.take_narrow(narrow_rows(**change), frame, REQUIRED)


def test_narrowed_units_become_pointers(frame):
    (first, other) = second_round.take_narrow(narrow_rows(), frame, REQUIRED)
    (unit,) = first["units"]
    assert unit["unit"] == "n1" and unit["session"] == "S002" and "quote" not in unit and other["units"] == []
    assert unit["pointer"]["n_words"] == 2
    with pytest.raises(labelling.Problems, match="query Q002 is missing"):
        second_round.take_narrow(narrow_rows()[:1], frame, REQUIRED)


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ([["c", "u", 1]], "cell d u is not labelled"),
        ([["c", "u", 1], ["d", "u", 0], ["c", "v", 0]], "cell c v: no such unit"),
        ([["c", "u", 0.7], ["d", "u", 0]], "value 0.7 is none of"),
        ([["c", "u", 1], ["c", "u", 1], ["d", "u", 0]], "cell c u stands 2 times"),
    ],
)
def test_what_is_wrong_with_second_labels_is_told(cells, says):
    with pytest.raises(labelling.Problems, match=says):
        second_round.take_again([{"query": "Q001", "cells": cells}], {"Q001": [("c", "u"), ("d", "u")]})


def test_the_packages_take_the_second_round_where_there_is_one(frame):
    a1, a2 = taken(frame)
    b = labelling.take_b(b_rows(), frame, UNITS, CELLS)
    index = labelled.index_of(frame)
    narrow = second_round.take_narrow(narrow_rows(), frame, REQUIRED)
    cells = {"Q001": again_cells(frame), "Q002": []}

    def labels(value):
        rows = [{"query": q, "cells": [[c, u, value] for c, u in own]} for q, own in cells.items()]
        return second_round.take_again(rows, cells)

    second = SecondRound(narrow, labels(0.5), labels(1))
    corrections = [
        {"what": "coverage", "query": "Q001", "candidate": c, "unit": u, "value": 0, "kind": "k", "reason": "r"}
        for c, u in {*cells["Q001"], *CELLS["Q001"]}
    ]
    primary, final = (labelled.package_tables(index, a1, a2, b, corrections, second, by_b=x) for x in (False, True))
    for tables in (primary, final):
        assert tables["queries"][0]["required_unit_ids"] == ["q1::n1"]
        unit = next(u for u in tables["units"] if u["unit_id"] == "q1::n1")
        assert (unit["canonical_text"], unit["annotator_ids"]) == ("There are 7.", ["narrow"])
    again = {(f"q1::{'barn' if c[:4] == 'S001' else 'hens'}::{c[5:]}", "q1::n1") for c, u in cells["Q001"] if "n" in u}
    for tables, value in ((primary, 0.5), (final, 1.0)):
        rows = {(r["candidate_id"], r["unit_id"]): r for r in tables["coverage"]}
        assert {rows[cell]["coverage"] for cell in again} == {value}  # no correction of the first round
        assert {tuple(sorted(rows[cell]["labels"].items())) for cell in again} == {(("A", 0.5), ("B", 1.0))}
        old = rows["q1::hens::c1", "q1::hens::u1"]  # labelled in the first round only
        assert old["coverage"] == (1.0 if tables is primary else 0.0)
    assert {r["status"] for r in primary["decisions"] if r["query_id"] == "q1"} == {"accepted", "corrected"}
    before = labelled.package_tables(index, a1, a2, b, corrections, NO_SECOND_ROUND, by_b=True)
    assert before["queries"][0]["required_unit_ids"] == ["q1::hens::u1"]


def test_a_required_earlier_state_is_not_stale_when_it_is_narrowed(frame):
    a1, a2 = taken(frame)
    a2 = [{**a2[0], "required": ["S001.u1"], "stale": ["S001.u1"]}, a2[1]]
    narrow = [{"query": "Q001", "units": [{"unit": "n1", **NARROWER, "replaces": "S001.u1", "session": "S001",
               "pointer": a1[0]["units"][0]["pointer"]}]}]  # fmt: skip
    tables = labelled.package_tables(labelled.index_of(frame), a1, a2, second=SecondRound(narrow), by_b=False)
    assert {u["state"] for u in tables["units"] if u["unit_id"].startswith("q1::barn")} == {"active"}
