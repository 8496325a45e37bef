"""Labelling by passes a1, a2 and b: what labellers are shown, what is taken from them, the packages made of it."""

import json
from collections import Counter

import pandas as pd
import pytest

from memaudit.analysis import agreement
from memaudit.errors import InputError
from memaudit.labels_io import read_sources
from memaudit.natural import labelled, labelling
from memaudit.natural.conversations import parse_examples
from memaudit.natural.coverage_package import CoverageOptions, build_coverage
from memaudit.natural.coverage_package_io import load_coverage_package, write_coverage_package
from memaudit.natural.pointers import Sessions, session_text
from memaudit.package_io import package_tables, read_packages, write_packages

BARN = [
    {
        "role": "user",
        "content": "My barn is  green.\nLast week I painted the old barn door a deep shade of teal after all.",
    },
    {"role": "assistant", "content": " ".join(["A long piece of general advice on paint."] * 12)},
]
HENS = [{"role": "user", "content": "I now keep seven hens, two more than before.", "has_answer": True}]


def example(question_id, question_type, sessions):
    return {
        "question_id": question_id,
        "question_type": question_type,
        "question": "How many hens are kept in the yard behind the house these days?",
        "answer": "seven",
        "question_date": "2023/06/01 (Thu) 10:00",
        "haystack_session_ids": list(sessions),
        "haystack_dates": [f"2023/05/{20 - n} (Sat) 10:00" for n in range(len(sessions))],
        "haystack_sessions": list(sessions.values()),
        "answer_session_ids": list(sessions),
    }


@pytest.fixture
def frame():
    rows = [example("q1", "update", {"hens": HENS, "barn": BARN}), example("q2_abs", "update", {"hens": HENS})]
    return labelling.frame_of(parse_examples((f"row {n}", row) for n, row in enumerate(rows)))


def a1_rows(**barn):
    unit = {"kind": "update", "text": "The barn door is teal now.", "turn": 0, "quote": "a deep shade of teal"}
    barn = {"session": "S001", "units": [unit], "candidates": memories("Teal barn door.", "A barn got teal."), **barn}
    unit = {"kind": "current_fact", "text": "The user has 7 hens.", "turn": 0, "quote": "keep seven hens"}
    return [barn, {"session": "S002", "units": [unit], "candidates": memories("7 hens.", "There are hens.")}]


def memories(*texts):
    return [{"type": kind, "text": text} for kind, text in zip(("atomic_fact", "summary"), texts, strict=True)]


def a2_rows(**q1):
    first = {
        "query": "Q001", "derived": [], "required": ["S002.u1"], "stale": ["S001.u1"], "note": "",
        "coverage": [["S002.c1", "S002.u1", 1.0], ["S002.c2", "S002.u1", 0.5], ["S001.c1", "S001.u1", 1]],
    }  # fmt: skip
    derived = {
        "kind": "abstention",
        "text": "No geese are told of.",
        "session": "S002",
        "turn": 0,
        "quote": "seven hens",
    }
    second = {"query": "Q002", "derived": [derived], "required": ["Q002.d1"], "coverage": [["S002.c1", "Q002.d1", 0.5]]}
    return [{**first, **q1}, second]


def taken(frame):
    a1 = labelling.take_a1(a1_rows(), frame.sessions)
    made = {row["session"]: row for row in a1}
    return a1, labelling.take_a2(a2_rows(), frame, made, list(frame.queries))


def test_sessions_are_named_once_by_date(frame):
    assert [s.session_id for s in frame.sessions.values()] == ["barn", "hens"]  # barn's date is the earlier one
    assert frame.sessions_of["Q001"] == ("S001", "S002")
    assert frame.sessions_of["Q002"] == ("S002",)  # the same text on the same date


def test_a_session_on_another_date_is_another():
    rows = [example("q1", "update", {"hens": HENS}), example("q2", "update", {"hens": HENS})]
    rows[1]["haystack_dates"] = ["2023/04/01 (Sat) 10:00"]
    frame = labelling.frame_of(parse_examples((f"row {n}", row) for n, row in enumerate(rows)))
    assert frame.sessions_of == {"Q001": ("S001",), "Q002": ("S002",)}


def test_a_session_is_shown_alone(frame):
    shown = labelling.session_bundle("S002", frame.sessions["S002"])
    assert "I now keep seven hens" in shown and "2023/05/20" in shown
    assert not any(word in shown for word in ("q1", "How many", "has_answer", "answer"))


def test_queries_show_no_labels(frame):
    a1, a2 = taken(frame)
    made = {row["session"]: row for row in a1}
    shown = labelling.query_bundle("Q002", frame, made, a2[1]["derived"])
    assert "Q002.d1 (abstention): No geese are told of." in shown and "gold answer: seven" in shown
    assert "required" not in shown and "0.5" not in shown
    assert "advice on paint. [...]" not in labelling.query_bundle("Q002", frame, made)
    assert "[...]" in labelling.query_bundle("Q001", frame, made)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"units": []}, "candidates without an evidence unit"),
        ({"candidates": memories("a", "b")[:1]}, "at least one atomic_fact and a summary"),
        ({"candidates": [{"type": "essay", "text": "x"}, *memories("a", "b")]}, "type 'essay' is none of"),
        ({"candidates": memories("", "b")}, "candidate 1: the text is missing"),
        ({"candidates": memories("Painted: the OLD barn door, a deep shade of teal!", "b")}, "more than 8 words"),
        ({"units": [{"kind": "fact", "text": "x", "turn": 0, "quote": "teal"}]}, "kind 'fact' is none of"),
        ({"units": [{"kind": "other", "text": "x", "turn": 1, "quote": "shade of teal"}]}, "it stands in turn 0"),
        ({"units": [{"kind": "other", "text": "x", "turn": 0, "quote": "purple"}]}, "copy it from the bundle"),
        ({"units": [{"kind": "other", "text": "x", "turn": 2, "quote": "teal"}]}, "turn 2 is none of"),
        ({"units": [{"kind": "other", "text": str(n), "turn": 0, "quote": "teal"} for n in range(5)]}, "5 units"),
        ({"session": "S009"}, "session 'S009' is none of those asked for"),
        ({"session": "S002"}, "session S002 stands 2 times"),
    ],
)
def test_what_is_wrong_with_a1_is_told(frame, change, says):
    with pytest.raises(labelling.Problems, match=says):
        labelling.take_a1(a1_rows(**change), frame.sessions)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"required": ["S002.u9"]}, "required: 'S002.u9' is no unit of this query"),
        ({"coverage": [["S002.c1", "S002.u1", 0.7]]}, "value 0.7 is none of 0.5, 1.0"),
        ({"coverage": [["S009.c1", "S002.u1", 1]]}, "no such candidate"),
        ({"coverage": [["S002.c1", "S002.u1", 1], ["S002.c1", "S002.u1", 0.5]]}, "stands 2 times"),
        (
            {"derived": [{"kind": "other", "text": "x", "session": "S003", "turn": 0, "quote": "hens"}]},
            "none of the query's",
        ),
        ({"note": "as asked: how many hens are kept in the yard behind the house"}, "more than 8 words"),
        ({"query": "Q007"}, "query Q001 is missing"),
    ],
)
def test_what_is_wrong_with_a2_is_told(frame, change, says):
    made = {row["session"]: row for row in labelling.take_a1(a1_rows(), frame.sessions)}
    with pytest.raises(labelling.Problems, match=says):
        labelling.take_a2(a2_rows(**change), frame, made, ["Q001", "Q002"])


UNITS = {"Q001": ["S001.u1", "S002.u1"], "Q002": ["S002.u1", "Q002.d1"]}
CELLS = {
    "Q001": [("S002.c1", "S002.u1"), ("S002.c2", "S002.u1"), ("S001.c1", "S001.u1"), ("S001.c1", "S002.u1")],
    "Q002": [("S002.c1", "Q002.d1")],
}


def b_rows(**q1):
    cells = [["S002.c1", "S002.u1", 1], ["S002.c2", "S002.u1", 0], ["S001.c1", "S001.u1", 1], ["S001.c1", "S002.u1", 0]]
    first = {"query": "Q001", "verdict": "sound", "reason": "Told.", "required": ["S002.u1"], "cells": cells}
    second = {"query": "Q002", "verdict": "rejected", "reason": "Not told.", "required": []}
    return [{**first, **q1}, {**second, "cells": [["S002.c1", "Q002.d1", 0.5]]}]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"verdict": "fine"}, "verdict 'fine' is none of"),
        ({"reason": ""}, "reason: the text is missing"),
        ({"cells": [["S002.c1", "S002.u1", 1]]}, "cell S001.c1 S001.u1 is not labelled"),
        ({"cells": [*b_rows()[0]["cells"], ["S002.c1", "S001.u1", 1]]}, "is not among the cells to label"),
        ({"required": ["Q002.d1"]}, "is no unit of this query"),
    ],
)
def test_what_is_wrong_with_b_is_told(frame, change, says):
    with pytest.raises(labelling.Problems, match=says):
        labelling.take_b(b_rows(**change), frame, UNITS, CELLS)


def packages(frame, tmp_path, by_b, **q1):
    a1, a2 = taken(frame)
    b = labelling.take_b(b_rows(**q1), frame, UNITS, CELLS)
    index = json.loads(json.dumps(labelled.index_of(frame)))
    tables = labelled.package_tables(index, a1, a2, b, by_b=by_b)
    write_coverage_package(
        tmp_path / "made", tables, {"allowed_inputs": ["session"], "forbidden_inputs": ["question", "gold answer"]}
    )
    package = load_coverage_package(tmp_path / "made", CoverageOptions(own=True))
    return tables, build_coverage(package, "s")


def test_the_primary_package_is_what_a_says(frame, tmp_path):
    _, made = packages(frame, tmp_path, by_b=False)
    q1, q2 = made.packages
    assert q1.queries[0].required == ("q1::hens::u1",) and q2.queries[0].required == ("q2_abs::d1",)
    assert q1.coverage_row(q1.visible.candidate_ids.index("q1::hens::c2")) == {"q1::hens::u1": 0.5}
    assert {u.unit_id: (u.role, u.weight) for u in q1.units} == {
        "q1::barn::u1": ("stale", 0.0), "q1::hens::u1": ("current", 1.0)
    }  # fmt: skip
    assert q1.visible.group_ids == ("q1::barn", "q1::hens")
    labels = {(r["source"], r["candidate_id"], r["unit_id"]): r["value"] for r in made.labels}
    assert labels["A", "q1::barn::c1", "q1::hens::u1"] == 0 and labels["B", "q1::hens::c2", "q1::hens::u1"] == 0


@pytest.mark.parametrize(("required", "status"), [(["S002.u1"], "accepted"), (["S001.u1"], "corrected")])
def test_the_adjudicated_package_is_what_b_says(frame, tmp_path, required, status):
    tables, made = packages(frame, tmp_path, by_b=True, required=required)
    (q1,) = made.packages  # b rejected the other
    assert [d["status"] for d in tables["decisions"]] == [status]
    assert q1.queries[0].required == (f"q1::{'hens' if status == 'accepted' else 'barn'}::u1",)
    assert q1.coverage_row(q1.visible.candidate_ids.index("q1::hens::c2")) == {}


@pytest.mark.parametrize(("by_b", "own", "other"), [(False, "A", "B"), (True, "B", "A")])
def test_the_two_passes_are_label_sources_one_of_them_the_packages_own(frame, tmp_path, by_b, own, other):
    _, made = packages(frame, tmp_path, by_b=by_b)
    sources = agreement.sources_of(made.packages, pd.DataFrame(made.labels))
    assert [(s.name, s.by_cell) for s in sources] == [(own, False), (other, True)]
    assert sources[0].whole == {p.package_id for p in made.packages}
    cells, kind = agreement.frame_of(made.packages, sources)
    audited = {cell for cell in sources[1].values if cell[0] == "q1"}
    assert kind == agreement.LABELLED
    assert set(cells[cells["package_id"] == "q1"].iloc[:, :3].itertuples(index=False, name=None)) == audited
    assert len(audited) == len(CELLS["Q001"])


def test_ambiguous_and_rejected_queries_stand_among_all_decisions(frame):
    _, a2 = taken(frame)
    index = labelled.index_of(frame)
    rows = labelled.decisions(index, a2, labelling.take_b(b_rows(verdict="ambiguous"), frame, UNITS, CELLS))
    assert [(r["query_id"], r["status"]) for r in rows] == [("q1", "ambiguous"), ("q2_abs", "rejected")]


def test_costs_follow_the_declared_rule():
    rule = labelled.declared_cost
    assert [rule("raw_span", n) for n in (3, 221)] == [12, 221]
    assert [rule("atomic_fact", n) for n in (1, 9, 40)] == [4, 9, 20]
    assert [rule("graph_edge", n) for n in (1, 9, 40)] == [8, 9, 35]
    assert [rule("summary", n) for n in (1, 30, 60)] == [10, 30, 45]


def test_no_word_of_the_source_is_in_the_package_and_texts_can_be_filled_in(frame, tmp_path):
    tables, _ = packages(frame, tmp_path, by_b=False)
    whole = json.dumps(tables)
    assert "general advice on paint" not in whole and "keep seven hens" not in whole and "behind the house" not in whole
    sessions = Sessions(frame.queries.values())
    filled = {name: [labelled.with_texts(row, sessions) for row in rows] for name, rows in tables.items()}
    write_coverage_package(tmp_path / "text", filled)
    package = load_coverage_package(tmp_path / "text")
    assert package.queries[0].question == frame.queries["Q001"].question and package.queries[0].answer == "seven"
    assert package.experiences[1].text == session_text(frame.sessions["S002"])
    quotes = {u.unit_id: u.spans[0].text for u in package.units}
    assert quotes["q1::barn::u1"] == "a deep shade of teal" and quotes["q2_abs::d1"] == "seven hens"


def test_a_question_of_other_conversations_is_refused(frame):
    row = {"query_id": "q1", "pointer": labelled.index_of(frame)["queries"]["Q001"]["pointer"] | {"answer_sha256": "0"}}
    with pytest.raises(InputError, match="answer_sha256"):
        labelled.with_texts(row, Sessions(frame.queries.values()))


def test_the_choice_is_in_proportion_to_the_strata():
    sizes = {("u", 1): 7, ("u", 2): 21, ("t", 3): 2}
    rows = []
    for (kind, n), size in sizes.items():
        rows += [example(f"{kind}{n}.{i}", kind, {f"s{j}": HENS for j in range(n)}) for i in range(size)]
    examples = parse_examples((f"row {n}", row) for n, row in enumerate(rows))
    chosen, strata = labelling.choose_stratified(examples, 10, seed=0)
    assert strata == {"t/3": 1, "u/1": 2, "u/2": 7}
    assert Counter(map(labelling.stratum_of, chosen)) == strata
    again, _ = labelling.choose_stratified(reversed(examples), 10, seed=0)
    assert chosen == again != labelling.choose_stratified(examples, 10, seed=1)[0]
    with pytest.raises(InputError, match="31 examples are wanted and there are 30"):
        labelling.choose_stratified(examples, 31, seed=0)


def test_nine_words_in_a_row_are_too_many():
    source = "one two three four five six seven eight nine ten"
    assert labelling.shared_run("One, two three\nfour five-six; seven eight", [source]) is None
    assert labelling.shared_run("x One, two three\nfour five-six; seven eight NINE y", ["", source]) is not None


def corrected(**row):
    return [{"kind": "year missing", "reason": "No year is told.", **row}]


COVERAGE = {"what": "coverage", "query": "Q001", "candidate": "S002.c2", "unit": "S002.u1", "value": 1}
TEXT = {"what": "unit_text", "unit": "S002.u1", "text": "Seven hens live in the yard."}


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({**COVERAGE, "what": "value"}, "what 'value' is none of"),
        ({**COVERAGE, "candidate": "S002.c9"}, "is no candidate of Q001"),
        ({**COVERAGE, "unit": "Q002.d1"}, "is no unit of Q001"),
        ({**COVERAGE, "value": 0.7}, "value 0.7 is none of 0, 0.5, 1.0"),
        (
            {**TEXT, "text": "the old barn door has had a shade of teal, last week I painted the old barn door a"},
            "more than 8",
        ),
        ({**TEXT, "reason": ""}, "reason: the text is missing"),
        ({"what": "unit_kind", "unit": "S002.u1", "unit_kind": "fact"}, "unit_kind 'fact' is none of"),
        ({"what": "quote", "unit": "S002.u1", "turn": 0, "quote": "eight hens"}, "copy it from the bundle"),
    ],
)
def test_what_is_wrong_with_a_correction_is_told(frame, row, says):
    a1, a2 = taken(frame)
    with pytest.raises(labelling.Problems, match=says):
        take(frame, a1, a2, corrected(**row))


def take(frame, a1, a2, rows):
    made, derived = {row["session"]: row for row in a1}, {row["query"]: row["derived"] for row in a2}
    return labelling.take_corrections(rows, frame, made, derived)


def test_corrections_stand_above_the_passes(frame):
    a1, a2 = taken(frame)
    b = labelling.take_b(b_rows(), frame, UNITS, CELLS)
    rows = [COVERAGE, {**COVERAGE, "candidate": "S002.c1", "unit": "S001.u1", "value": 0.5}, TEXT]
    rows += [{"what": "unit_kind", "unit": "S001.u1", "unit_kind": "context"}]
    rows += [{"what": "quote", "unit": "S002.u1", "turn": 0, "quote": "now keep seven hens"}]
    rows = take(frame, a1, a2, [row for given in rows for row in corrected(**given)])
    index = labelled.index_of(frame)
    primary, final = (labelled.package_tables(index, a1, a2, b, rows, by_b=by_b) for by_b in (False, True))

    def value(tables, candidate, unit):
        found = [r["coverage"] for r in tables["coverage"] if (r["candidate_id"], r["unit_id"]) == (candidate, unit)]
        return found[0] if found else None

    assert value(primary, "q1::hens::c2", "q1::hens::u1") == 0.5 and value(final, "q1::hens::c2", "q1::hens::u1") == 1
    assert (
        value(primary, "q1::hens::c1", "q1::barn::u1") is None and value(final, "q1::hens::c1", "q1::barn::u1") == 0.5
    )
    units = {u["unit_id"]: u for u in final["units"]}
    assert units["q1::hens::u1"]["canonical_text"] == TEXT["text"] and units["q1::barn::u1"]["kind"] == "context"
    sessions = Sessions(frame.queries.values())
    span = labelled.with_texts(units["q1::hens::u1"], sessions)["source_spans"][0]
    assert span["text"] == "now keep seven hens"
    assert len({r["unit_id"] for r in primary["units"]} - {u["unit_id"] for u in final["units"]}) == 2  # q2's, rejected


def test_the_primary_suite_is_no_source_beside_its_own_labels(frame, tmp_path):
    folders = {}
    for name, by_b in (("primary", False), ("adjudicated", True)):
        _, made = packages(frame, tmp_path / name, by_b)
        folders[name] = tmp_path / "results" / name
        write_packages(folders[name], package_tables(made.packages, suite=name, label_source="p", labels=made.labels))
    packages_ = read_packages(folders["adjudicated"])
    sources = read_sources(packages_, folders["adjudicated"] / "labels.parquet", others=[folders["primary"]])
    assert [source.name for source in sources] == ["B", "A"]
    other = read_sources(packages_, folders["adjudicated"] / "labels.parquet", others=[folders["adjudicated"]])
    assert [source.name for source in other] == ["B", "A", "suite adjudicated"]
