"""Labels of what the scripted stores hold: what labellers are shown, what is taken from them."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from memaudit.errors import InputError
from memaudit.natural import labelling, store_labelling
from memaudit.natural.conversations import parse_examples
from memaudit.natural.store_labelling import StoredMemory
from memaudit.stores.ingest_io import read_labels, read_stores
from memaudit.stores.labels import coverage_of, salience_of

REPOSITORY = Path(__file__).parents[2]
STORES = REPOSITORY / "data" / "natural100" / "stores"
SHARED = Path(os.environ.get("MEMAUDIT_SHARED_DATA", REPOSITORY.parent / "shared" / "data")) / "longmemeval"
SLICES = SHARED / "s_support_slices_ku_tr.json"
needs_source = pytest.mark.skipif(
    not SLICES.is_file(), reason="no LongMemEval here; MEMAUDIT_SHARED_DATA names the folder that holds it"
)

sys.path.insert(0, str(REPOSITORY / "tools"))
import store_labels as tool  # noqa: E402

QUESTION = "How many hens are kept in the yard behind the house these days?"
SAID = "I now keep seven hens, two more than I had before the fox came."
MEMORIES = [
    StoredMemory("x", "1", "Seven hens.\nA fox."),
    StoredMemory("y", "1", "Hens."),
    StoredMemory("x", "0", "Fox"),
]
UNITS = {"S001.u1": {"kind": "update", "canonical_text": "The user has 7 hens now."}}


@pytest.fixture
def frame():
    row = {
        "question_id": "q1",
        "question_type": "update",
        "question": QUESTION,
        "answer": "seven of them",
        "question_date": "2023/06/01 (Thu) 10:00",
        "haystack_session_ids": ["hens"],
        "haystack_dates": ["2023/05/20 (Sat) 10:00"],
        "haystack_sessions": [[{"role": "user", "content": SAID}]],
        "answer_session_ids": ["hens"],
    }
    return labelling.frame_of(parse_examples([("row 1", row)]))


@pytest.fixture
def memories():
    return store_labelling.named_memories("Q001", MEMORIES)


def test_names_do_not_depend_on_the_order_of_stores(memories):
    assert list(memories) == ["m1", "m2", "m3"] and set(memories.values()) == set(MEMORIES)
    assert store_labelling.named_memories("Q001", reversed(MEMORIES)) == memories
    many = [StoredMemory(store, str(n), "t") for store in "xyz" for n in range(5)]
    stores = [m.store for m in store_labelling.named_memories("Q001", many).values()]
    assert stores != sorted(stores)
    assert store_labelling.named_memories("Q002", many) != store_labelling.named_memories("Q001", many)


def test_pass_a_is_shown_all_but_the_stores(frame, memories):
    shown = store_labelling.coverage_bundle("Q001", frame, UNITS, memories)
    for part in (
        "gold answer: seven of them",
        SAID,
        "S001.u1 (update): The user has 7 hens now.",
        "Seven hens.\nA fox.",
    ):
        assert part in shown
    assert [f"### m{n}" in shown for n in (1, 2, 3, 4)] == [True, True, True, False]


def test_pass_b_is_shown_cells_besides(frame, memories):
    given = store_labelling.coverage_bundle("Q001", frame, UNITS, memories)
    shown = store_labelling.frame_bundle(given, "Q001", [("m1", "S001.u1"), ("m3", "S001.u1")])
    assert shown.startswith(given) and sorted(shown[len(given) :].split("\n")[-3:]) == ["", "m1 S001.u1", "m3 S001.u1"]


def test_pass_s_is_shown_question_and_memories_alone(frame, memories):
    shown = store_labelling.salience_bundle("Q001", frame, memories)
    assert QUESTION in shown and "Seven hens.\nA fox." in shown
    assert not any(word in shown for word in ("seven of them", "S001", "2023", "two more", "unit"))


def row_a(**changes):
    return {"query": "Q001", "coverage": [["m2", "S001.u1", 1], ["m1", "S001.u1", 0.5]], **changes}


def take_a(frame, *rows):
    return store_labelling.take_a(rows, frame, {"Q001": UNITS}, {"Q001": ["m1", "m2", "m3"]}, ["Q001"])


def test_a_is_kept_sorted(frame):
    cells = [["m1", "S001.u1", 0.5], ["m2", "S001.u1", 1.0]]
    assert take_a(frame, row_a()) == [{"query": "Q001", "coverage": cells, "note": ""}]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"coverage": [["m4", "S001.u1", 1]]}, "cell m4 S001.u1: no such candidate"),
        ({"coverage": [["m1", "S001.u2", 1]]}, "cell m1 S001.u2: no such unit"),
        ({"coverage": [["m1", "S001.u1", 0]]}, "value 0 is none of 0.5, 1.0"),
        ({"coverage": [["m1", "S001.u1", 1]] * 2}, "stands 2 times"),
        ({"coverage": None}, "must be a list"),
        ({"query": "Q002"}, "query 'Q002' is none of those asked for\nquery Q001 is missing"),
        ({"note": f"It says: {SAID}"}, "note: more than 8 words"),
        ({"note": 5}, "note: the text is missing"),
    ],
)
def test_what_is_wrong_with_a_is_told(frame, changes, says):
    with pytest.raises(labelling.Problems, match=says):
        take_a(frame, row_a(**changes))


def test_a_query_stands_once(frame):
    with pytest.raises(labelling.Problems, match="query Q001 stands 2 times"):
        take_a(frame, row_a(), row_a())


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ([["m1", "S001.u1", 1]], "cell m2 S001.u1 is not labelled"),
        ([["m1", "S001.u1", 1], ["m2", "S001.u1", 0.7]], "value 0.7 is none of 0.0, 0.5, 1.0"),
        ([["m1", "S001.u1", 1], ["m2", "S001.u1", 0], ["m3", "S001.u1", 0]], "m3 S001.u1: no such candidate"),
    ],
)
def test_what_is_wrong_with_b_is_told(frame, cells, says):
    asked = {"Q001": [("m1", "S001.u1"), ("m2", "S001.u1")]}
    with pytest.raises(labelling.Problems, match=says):
        store_labelling.take_b([{"query": "Q001", "cells": cells}], frame, asked)
    labelled = [["m2", "S001.u1", 0], ["m1", "S001.u1", 1]]
    (taken,) = store_labelling.take_b([{"query": "Q001", "cells": labelled}], frame, asked)
    assert taken["cells"] == [["m1", "S001.u1", 1.0], ["m2", "S001.u1", 0.0]]


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        ({"m1": 1}, "scores: memory m2 has none"),
        ({"m1": 1, "m2": 0, "m3": 0}, "'m3' is no memory"),
        ({"m1": 1.1, "m2": 0}, "1.1 of m1 is no number from 0 to 1"),
        ({"m1": True, "m2": "0"}, "True of m1 .*\n.*'0' of m2"),
        ({"m1": float("nan"), "m2": 0}, "nan of m1"),
        ([0, 1], "scores must be an object"),
    ],
)
def test_what_is_wrong_with_s_is_told(frame, scores, says):
    with pytest.raises(labelling.Problems, match=says):
        store_labelling.take_s([{"query": "Q001", "scores": scores}], frame, {"Q001": ["m1", "m2"]}, ["Q001"])
    (taken,) = store_labelling.take_s(
        [{"query": "Q001", "scores": {"m2": 0, "m1": 0.35}}], frame, {"Q001": ["m1", "m2"]}, ["Q001"]
    )
    assert list(taken["scores"].items()) == [("m1", 0.35), ("m2", 0)]


def test_the_index_names_every_memory_that_ships_once():
    index = json.loads((STORES / "index.json").read_text("utf-8"))
    named = [(q["question_id"], *pair) for q in index.values() for pair in q["memories"].values()]
    held = []
    for store in tool.STORES:
        for one in read_stores(STORES / store):
            held += [(one.store.instance_id, store, m.memory_id) for m in one.store.memories]
    assert sorted(named) == sorted(held) and len(index) == 30


def test_the_instructions_are_those_that_labellers_were_given():
    kept = json.loads(tool.BUNDLES.read_text("utf-8"))
    assert tool.instruction_hashes() == kept["instructions"]


def test_both_passes_of_coverage_were_told_the_same_rule():
    texts = [(STORES / "instructions" / f"{name}.md").read_text("utf-8") for name in ("a", "b")]
    rules = [text[text.index("**Coverage** of a unit") : text.index("**Own words.**")] for text in texts]
    assert rules[0] == rules[1]


@pytest.fixture(scope="module")
def labelled():
    return tool.labelled_stores()


def rows_of(kind, store):
    return [json.loads(line) for line in (STORES / kind / f"{store}.jsonl").read_text("utf-8").splitlines()]


def test_the_label_files_of_stores_are_what_the_labels_give(labelled, tmp_path):
    tool.assemble_into(tmp_path, labelled)
    made = sorted(p.relative_to(tmp_path) for p in tmp_path.rglob("*.jsonl"))
    assert len(made) == 2 * len(tool.STORES)
    for file in made:
        assert (tmp_path / file).read_bytes() == (STORES / file).read_bytes(), file


@pytest.mark.parametrize("store", tool.STORES)
def test_every_memory_that_ships_has_labels_and_a_salience(store):
    coverage, salience = (read_labels(STORES / kind / f"{store}.jsonl") for kind in ("coverage", "salience"))
    for one in read_stores(STORES / store):
        found = coverage_of(one.store, coverage, "combined")
        assert (found.unlabelled, found.stale, found.repeats) == ((), (), 0)
        assert not salience_of(one.store, salience, "combined").unrated


def test_the_second_pass_counts_on_the_frame_and_the_first_elsewhere(labelled):
    index, a, b = labelled.index, *(labelled.passes[name] for name in ("a", "b"))
    for store in tool.STORES:
        for query, row in zip(index, rows_of("coverage", store), strict=True):
            ids = {name: i for name, (of, i) in index[query]["memories"].items() if of == store}
            units = {name: unit["unit_id"] for name, unit in labelled.units[query].items()}
            audited = {(ids[m], units[u]): v for m, u, v in b[query]["cells"] if m in ids}
            first = {(ids[m], units[u]): v for m, u, v in a[query]["coverage"] if m in ids}
            given = {(e["memory_id"], e["unit_id"]): e for e in row["coverage_edges"]}
            assert row["instance_id"] == index[query]["question_id"] and audited.keys() <= given.keys()
            for cell, edge in given.items():
                assert edge["coverage"] == audited.get(cell, 0) and edge["a"] == first.get(cell, 0)
                assert edge.get("b") == audited.get(cell)


def test_a_memory_without_a_cell_on_the_frame_gets_one_zero():
    entry = {"question_id": "q", "memories": {"m1": ["x", "i"], "m2": ["x", "j"], "m3": ["y", "k"]}}
    a, b = {"coverage": [["m1", "S001.u2", 0.5]]}, {"cells": [["m1", "S001.u2", 1.0], ["m3", "S001.u1", 0.0]]}
    units = {"S001.u1": "q::1", "S001.u2": "q::2"}
    row = store_labelling.coverage_row(entry, "x", a, b, units)
    assert row["coverage_edges"] == [
        {"memory_id": "i", "unit_id": "q::2", "coverage": 1.0, "a": 0.5, "b": 1.0},
        {"memory_id": "j", "unit_id": "q::1", "coverage": 0.0, "a": 0.0},
    ]
    scores = {"m1": 1, "m2": 0.2, "m3": 0}
    assert store_labelling.salience_row(entry, "x", {"scores": scores})["scores"] == {"i": 1, "j": 0.2}


def test_the_readme_states_the_tables_of_the_labels(labelled):
    text = (STORES / "README.md").read_text("utf-8")
    content = tool.store_label_figures.blocks(labelled.cells(), labelled.index, tool.STORES)
    for name, block in content.items():
        assert f"<!-- {name} -->\n{block}\n<!-- end of {name} -->" in text, name


def with_first(**values):
    return lambda lines: [json.dumps(json.loads(lines[0]) | values), *lines[1:]]


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("a/batch_01", lambda rows: [rows[0][:50], *rows[1:]], "a/batch_01.jsonl, line 1: no JSON"),
        ("a/batch_02", lambda rows: rows[1:], r"labels/a: query Q040 has no row \(1 have none\)"),
        (
            "a/batch_01",
            with_first(coverage=[["m99", "S011.u1", 1]]),
            "line 1: query Q006: coverage: memory 'm99' is not",
        ),
        ("a/batch_01", with_first(coverage=[["m1", "S011.u9", 1]]), "coverage: unit 'S011.u9' is not known"),
        ("a/batch_01", with_first(coverage=[["m1", "S011.u1"]]), r"not \[memory, unit, value\]"),
        ("a/batch_01", with_first(coverage=[["m1", "S011.u1", 1]] * 2), "coverage: m1 S011.u1 stands twice"),
        ("a/batch_01", with_first(coverage=[]), r"b/batch_01.jsonl, line 1: query Q006: cell \S+ \S+ is labelled or"),
        ("b/batch_01", with_first(cells=[["m1", "S011.u1", 0.7]]), "value 0.7 of m1, S011.u1 is none of"),
        ("b/batch_03", with_first(cells=[]), r"b/batch_03.jsonl, line 1: query \S+: cell"),
        ("b/batch_03", with_first(query="Q006"), "batch_03.jsonl, line 1: query Q006 stands already at"),
        ("b/batch_01", with_first(query="Q001"), "line 1: query 'Q001' is not known here"),
        ("s/batch_01", with_first(scores=None), "line 1: scores is no dict"),
        ("s/batch_01", with_first(scores={}), "query Q006: scores: memory m1 has none"),
        ("s/batch_01", with_first(scores={"m1": 1.5}), "scores: 1.5 of m1 is no number from 0 to 1"),
        ("s/batch_01", with_first(scores={"m0": 1}), "scores: memory 'm0' is not known"),
    ],
)
def test_damaged_label_files_are_named(tmp_path, monkeypatch, name, change, says):
    shutil.copytree(STORES / "labels", tmp_path / "labels")
    shutil.copy(STORES / "index.json", tmp_path)
    monkeypatch.setattr(tool, "DATA", tmp_path)
    file = tmp_path / "labels" / f"{name}.jsonl"
    file.write_text("".join(f"{line}\n" for line in change(file.read_text("utf-8").splitlines())), "utf-8")
    with pytest.raises(InputError, match=says):
        tool.labelled_stores()


@needs_source
def test_labellers_were_given_these_bundles():
    kept, task = json.loads(tool.BUNDLES.read_text("utf-8")), tool.task_of(str(SLICES))
    assert task.index() == json.loads((STORES / "index.json").read_text("utf-8"))
    assert [len(queries) for queries in task.batches.values()] == [10, 10, 10]
    for name in sorted(set(kept) - {"instructions"}):
        assert tool.natural100.hashes_of(tool.bundle_texts(name, task)) == kept[name]
