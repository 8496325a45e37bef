"""Packages from conversations, on the invented file, with expectations worked out by hand."""

from dataclasses import fields, replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.natural.build import LABEL_SOURCE, build_packages
from memaudit.natural.conversations import Session, Turn
from memaudit.natural.conversations_io import load_examples
from memaudit.natural.slices import take_sessions
from memaudit.natural.turns import RAW_SPAN_WORDS, spans
from memaudit.package_io import package_tables, read_packages, write_packages

INVENTED = Path(__file__).parents[1] / "fixtures" / "longmemeval_invented.json"


@pytest.fixture(scope="module")
def examples():
    return {example.question_id: example for example in load_examples(INVENTED)}


@pytest.fixture(scope="module")
def result(examples):
    return build_packages(examples.values(), "natural")


@pytest.fixture(scope="module")
def packages(result):
    return {package.package_id: package for package in result.packages}


def rows(package):
    """(id, type, cost, time index, covered units) in package order; ids without the question."""
    v, prefix = package.visible, f"{package.package_id}::"
    return [
        (
            v.candidate_ids[i].removeprefix(prefix),
            v.representation_type[i],
            int(v.cost[i]),
            int(v.time_index[i]),
            [unit.removeprefix(prefix) for unit in package.coverage_row(i)],
        )
        for i in range(len(package))
    ]


def session(*turns, marked=()):
    made = tuple(Turn(role, content, n in marked) for n, (role, content) in enumerate(turns))
    return Session("s", "s", 0, "2024/01/01", datetime(2024, 1, 1), made)


def test_scored_and_unscored(result):
    assert [p.package_id for p in result.packages] == [
        "inv_choir",
        "inv_ferry",
        "inv_kiln",
        "inv_kites",
        "inv_quince",
    ]
    assert result.unscored == [
        {
            "source_id": "inv_heron_abs",
            "category": "knowledge-update",
            "reason": "abstention question, marked turns not counted",
        },
        {
            "source_id": "inv_oboe_abs",
            "category": "temporal-reasoning",
            "reason": "abstention question, no marked turn",
        },
        {
            "source_id": "inv_unmarked",
            "category": "knowledge-update",
            "reason": "no marked turn in its answer sessions",
        },
    ]
    assert [(w["source_id"], w["kind"]) for w in result.warnings] == [
        ("inv_choir", "answer_session_without_mark"),
        ("inv_kiln", "weekday_mismatch"),
        ("inv_kiln", "blank_turn"),
        ("inv_kiln", "blank_turn"),
    ]


def test_package_of_two_sessions_listed_out_of_date_order(packages):
    kites = packages["inv_kites"]
    assert (kites.suite, kites.distribution, kites.seed) == ("natural", "knowledge-update", None)
    # The distractor session gives nothing; the earlier session comes first though it is listed last.
    assert kites.visible.group_ids == ("inv_kites::answer_kites_1", "inv_kites::answer_kites_2")
    first, second = "answer_kites_1::turn0", "answer_kites_2::turn0"
    assert rows(kites) == [
        ("answer_kites_1::turn2", "turn", 1, 0, []),
        ("answer_kites_1::turn0", "turn", 9, 0, [first]),
        ("answer_kites_1::raw", "raw_span", 16, 0, [first]),
        ("answer_kites_1::window0", "turn_window", 16, 0, [first]),
        ("answer_kites_2::turn2", "turn", 5, 1, []),
        ("answer_kites_2::turn0", "turn", 12, 1, [second]),
        ("answer_kites_2::window1", "turn_window", 15, 1, []),
        ("answer_kites_2::window0", "turn_window", 23, 1, [second]),
        ("answer_kites_2::raw", "raw_span", 28, 1, [second]),
    ]
    assert kites.visible.text[3] == (
        "user: I own three kites and want to store them.\nassistant: Roll them loosely.\nuser: Thanks!"
    )
    assert [(u.unit_id, u.weight, u.role, u.kind, u.text) for u in kites.units] == [
        (
            "inv_kites::answer_kites_1::turn0",
            1.0,
            "current",
            "answer_turn",
            "I own three kites and want to store them.",
        ),
        (
            "inv_kites::answer_kites_2::turn0",
            1.0,
            "current",
            "answer_turn",
            "My cousin mailed me another kite so the collection is now four.",
        ),
    ]
    (query,) = kites.queries
    assert (query.query_id, query.category) == ("inv_kites", "knowledge-update")
    assert query.required == tuple(u.unit_id for u in kites.units)
    assert (query.text, query.answer) == ("How many kites are in my collection?", "4")


def test_sessions_of_one_date_keep_the_listed_order_and_have_ranks_of_their_own(packages):
    ferry = packages["inv_ferry"]
    assert ferry.visible.group_ids == ("inv_ferry::answer_ferry_b", "inv_ferry::answer_ferry_a")
    # Two turns: the one window holds both.
    assert rows(ferry) == [
        ("answer_ferry_b::turn0", "turn", 6, 0, ["answer_ferry_b::turn0"]),
        ("answer_ferry_b::raw", "raw_span", 12, 0, ["answer_ferry_b::turn0"]),
        ("answer_ferry_b::window0", "turn_window", 12, 0, ["answer_ferry_b::turn0"]),
        ("answer_ferry_a::turn0", "turn", 5, 1, ["answer_ferry_a::turn0"]),
        ("answer_ferry_a::raw", "raw_span", 8, 1, ["answer_ferry_a::turn0"]),
        ("answer_ferry_a::window0", "turn_window", 8, 1, ["answer_ferry_a::turn0"]),
    ]


def test_cut_span_covers_only_what_lies_whole_before_the_cut(packages):
    # Words with roles: turn 0 has 11 (1..11), turn 1 187 (..198), turn 2 36 (..234, across word 220).
    quince = packages["inv_quince"]
    table = {row[0].removeprefix("answer_quince::"): row for row in rows(quince)}
    covered = {name: [u.removeprefix("answer_quince::") for u in row[4]] for name, row in table.items()}
    assert covered == {
        "raw": ["turn0"],
        "turn0": ["turn0"],
        "turn2": ["turn2"],
        "turn4": [],
        "window0": ["turn0", "turn2"],
        "window1": ["turn2", "turn3"],
        "window2": ["turn2", "turn3"],  # turn 3 is a marked assistant turn: no candidate of its own
        "window3": ["turn3"],
    }
    assert {name: row[2] for name, row in table.items()} == {
        "raw": 221,
        "turn0": 10,
        "turn2": 35,
        "turn4": 5,
        "window0": 11 + 187 + 36,
        "window1": 187 + 36 + 10,
        "window2": 36 + 10 + 6,
        "window3": 10 + 6 + 6,
    }
    raw = quince.visible.text[quince.visible.candidate_ids.index("inv_quince::answer_quince::raw")]
    # Of turn 2, role and 15 words of prose and 6 blossoms: 198 + 1 + 15 + 6 = 220.
    assert raw.endswith(" were blossom0 blossom1 blossom2 blossom3 blossom4 blossom5 ...")


def test_blank_turns_and_odd_characters(packages):
    kiln = packages["inv_kiln"]
    # Turns 0 and 3 are blank: windows are over turns 1, 2, 4, 5.
    assert [row[0].removeprefix("answer_kiln::") for row in rows(kiln)] == [
        "turn5",
        "turn2",
        "window2",
        "window1",
        "raw",
    ]
    assert kiln.visible.text[1] == "Mugs now get 1240 degrees \U0001f3fa\u2028since the \u200bglaze\x0bran."
    assert kiln.visible.text[2] == f"user: {kiln.visible.text[1]}\nassistant: Hot!\nuser: Café mugs too."


def test_single_turn_session_has_no_window_and_unmarked_session_is_a_group(packages):
    choir = packages["inv_choir"]
    names = [row[0] for row in rows(choir)]
    assert names[:2] == ["answer_choir_1::turn0", "answer_choir_1::raw"]
    assert names[2:] == [
        "answer_choir_2::turn2",
        "answer_choir_2::turn0",
        "answer_choir_2::raw",
        "answer_choir_2::window0",
    ]
    assert choir.visible.group_ids[1] == "inv_choir::answer_choir_2"
    assert len(choir.units) == 1


def test_repeated_answer_session_gives_two_groups(examples):
    example = examples["inv_choir"]
    again = replace(example.sessions[0], experience_id="answer_choir_1#2", position=2)
    (package,) = build_packages([replace(example, sessions=(*example.sessions, again))], "s").packages
    assert package.visible.group_ids == (
        "inv_choir::answer_choir_1",
        "inv_choir::answer_choir_1#2",
        "inv_choir::answer_choir_2",
    )
    assert len(package.units) == 2


def test_marks_outside_the_answer_sessions_are_no_units(examples):
    example = replace(examples["inv_kites"], answer_session_ids=("chat_soup",))
    assert build_packages([example], "s").unscored[0]["reason"] == "no marked turn in its answer sessions"
    example = replace(example, answer_session_ids=())
    assert build_packages([example], "s").unscored[0]["reason"] == "no answer session"


def test_candidates_do_not_depend_on_question_answer_or_marks(examples, packages):
    """What the generator is given has no question or answer, and marks do not change what it makes."""
    assert {f.name for f in fields(Session)} == {
        "session_id",
        "experience_id",
        "position",
        "date_text",
        "date",
        "turns",
    }
    for package_id, package in packages.items():
        for s in take_sessions(examples[package_id]):
            flipped = replace(s, turns=tuple(replace(t, marked=not t.marked) for t in s.turns))
            assert spans(flipped) == spans(s)
        other = replace(examples[package_id], question="?", answer="!", question_date=datetime(1999, 1, 1))
        (changed,) = build_packages([other], "natural").packages
        assert changed.visible.text == package.visible.text
        assert changed.visible.candidate_ids == package.visible.candidate_ids
        assert changed.content_hash == package.content_hash


def test_order_of_input_does_not_matter(examples, result):
    again = build_packages(reversed(list(examples.values())), "natural")
    assert [p.content_hash for p in again.packages] == [p.content_hash for p in result.packages]
    assert (again.unscored, again.warnings) == (result.unscored, result.warnings)


def test_tables_keep_texts_exactly(tmp_path, result):
    tables = package_tables(
        result.packages,
        suite="natural",
        label_source=LABEL_SOURCE,
        unscored=result.unscored,
        warnings=result.warnings,
    )
    write_packages(tmp_path, tables)
    for before, after in zip(result.packages, read_packages(tmp_path), strict=True):
        assert after.visible.text == before.visible.text
        assert after.units == before.units and after.queries == before.queries
        assert after.content_hash == before.content_hash


@pytest.mark.parametrize("words", [RAW_SPAN_WORDS - 1, RAW_SPAN_WORDS, RAW_SPAN_WORDS + 1])
def test_span_at_the_word_limit(words):
    # "user:" is a word too.
    content = " ".join(["w"] * (words - 1))
    raw = spans(session(("user", content)))[0]
    if words <= RAW_SPAN_WORDS:
        assert raw.text == f"user: {content}" and raw.turns == {0}
    else:
        assert raw.text == f"user: {' '.join(['w'] * (RAW_SPAN_WORDS - 1))} ..." and raw.turns == set()


def test_blank_end_of_a_session_is_not_cut():
    content = " ".join(["w"] * (RAW_SPAN_WORDS - 1)) + " \n"
    assert spans(session(("user", content)))[0].text == f"user: {content}"


def test_session_of_blank_turns_gives_nothing():
    assert spans(session(("user", " "), ("assistant", ""))) == []


PIECES = st.sampled_from(["a", "b c", " ", "\n", "\u2028", "\x1c", "\x85", "\u200b", "x " * 90])
CONTENTS = st.lists(PIECES, max_size=4).map(" ".join)
TURNS = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), CONTENTS), max_size=6)


@given(TURNS)
def test_spans_hold_their_turns_whole(turns):
    made = session(*turns)
    lines = {n: f"{t.role}: {t.content}" for n, t in enumerate(made.turns) if not t.is_blank}
    made_spans = spans(made)
    assert len({span.name for span in made_spans}) == len(made_spans)
    for span in made_spans:
        assert span.turns <= lines.keys()
        if span.representation_type == "turn":
            (n,) = span.turns
            assert span.text == made.turns[n].content and made.turns[n].role == "user"
        elif span.representation_type == "turn_window":
            assert span.text == "\n".join(lines[n] for n in sorted(span.turns))
            assert len(span.turns) == min(3, len(lines)) > 1
        else:
            # Independent reckoning in words: a turn is whole when the words up to its end are at most 220.
            ends = np.cumsum([len(line.split()) for line in lines.values()])
            assert span.turns == {n for n, end in zip(lines, ends, strict=True) if end <= RAW_SPAN_WORDS}
            assert len(span.text.split()) == min(ends[-1], RAW_SPAN_WORDS + 1)
            assert "\n".join(lines.values()).startswith(span.text.removesuffix(" ..."))
