"""Rows of LongMemEval form: every odd shape seen in real files, malformed rows, dates. All texts invented."""

import copy
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.errors import InputError
from memaudit.natural.conversations import parse_example, parse_examples
from memaudit.natural.dates import parse_date

MARK = {"role": "user", "content": "My boat is now red.", "has_answer": True}
PLAIN = {"role": "assistant", "content": "A bold colour.", "has_answer": False}


def row(**changes):
    """A well-formed row of two answer sessions, in date order, with the given keys replaced."""
    base = {
        "question_id": "q1",
        "question_type": "knowledge-update",
        "question": "What colour is my boat?",
        "answer": "red",
        "question_date": "2023/06/01 (Thu) 00:58",
        "haystack_session_ids": ["s1", "s2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/27 (Sat) 10:20"],
        "haystack_sessions": [[MARK, PLAIN], [MARK, PLAIN]],
        "answer_session_ids": ["s1", "s2"],
    }
    return copy.deepcopy(base | changes)


def parse(**changes):
    return parse_example(row(**changes), "f.json: row 1")


def kinds(example):
    return [warning["kind"] for warning in example.warnings]


def test_plain_row():
    example = parse(some_other_key=1)
    assert (example.question_id, example.question_type, example.answer) == ("q1", "knowledge-update", "red")
    assert example.question_date == datetime(2023, 6, 1, 0, 58)
    first = example.sessions[0]
    assert (first.session_id, first.experience_id, first.position) == ("s1", "s1", 0)
    assert (first.date_text, first.date) == ("2023/05/20 (Sat) 02:21", datetime(2023, 5, 20, 2, 21))
    assert [(t.role, t.content, t.marked) for t in first.turns] == [
        ("user", "My boat is now red.", True),
        ("assistant", "A bold colour.", False),
    ]
    assert example.warnings == () and not example.is_abstention


@pytest.mark.parametrize(("answer", "text"), [(3, "3"), (2.5, "2.5"), ("three", "three")])
def test_answer_number_keeps_raw_value_and_has_text(answer, text):
    example = parse(answer=answer)
    assert example.answer == answer and type(example.answer) is type(answer)
    assert example.answer_text == text


def test_answer_with_alternatives_is_verbatim():
    answer = "Four boats. Five (with the dinghy in the shed) would be right as well."
    assert parse(answer=answer).answer_text == answer


def test_abstention_question():
    unmarked = [{"role": "user", "content": "I have a boat."}]
    example = parse(question_id="q1_abs", haystack_sessions=[unmarked, unmarked])
    assert example.is_abstention
    assert [s.marked_turns for s in example.sessions] == [[], []]
    assert kinds(example) == []


def test_answer_session_without_mark_is_kept_with_a_warning():
    example = parse(haystack_sessions=[[MARK], [PLAIN]])
    assert len(example.answer_sessions) == 2
    assert kinds(example) == ["answer_session_without_mark"]
    assert "s2" in example.warnings[0]["detail"] and example.warnings[0]["source_id"] == "q1"


def test_mark_outside_the_answer_sessions_is_a_warning():
    example = parse(answer_session_ids=["s2"])
    assert [s.session_id for s in example.answer_sessions] == ["s2"]
    assert kinds(example) == ["mark_outside_answer_sessions"]


def test_repeated_session_id_gets_a_suffix_and_nothing_is_lost():
    zinc = [{"role": "user", "content": "What is zinc?"}]
    example = parse(
        haystack_session_ids=["chat", "s1", "chat"],
        haystack_dates=["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:21", "2023/05/22 (Mon) 02:21"],
        haystack_sessions=[zinc, [MARK], zinc],
        answer_session_ids=["s1"],
    )
    assert [s.experience_id for s in example.sessions] == ["chat", "s1", "chat#2"]
    assert [s.date.day for s in example.sessions] == [20, 21, 22]
    assert kinds(example) == ["repeated_session_id"]


def test_suffix_never_collides():
    with pytest.raises(InputError, match="question q1: session id 'a#1' collides"):
        parse(
            haystack_session_ids=["a", "a", "a#1"],
            haystack_dates=["2023/05/20 (Sat) 02:21"] * 3,
            haystack_sessions=[[MARK]] * 3,
            answer_session_ids=["a"],
        )


def test_repeated_answer_session_id_counts_once():
    example = parse(answer_session_ids=["s1", "s2", "s1"])
    assert example.answer_session_ids == ("s1", "s2")
    assert kinds(example) == ["repeated_answer_session_id"]


def test_same_session_id_in_two_questions_with_other_dates():
    other = row(question_id="q2", haystack_dates=["2023/04/01 (Sat) 09:00", "2023/04/09 (Sun) 10:20"])
    first, second = parse_examples([("row 1", row()), ("row 2", other)])
    assert first.sessions[0].date != second.sessions[0].date


def test_blank_turns_keep_the_numbering_and_are_no_evidence():
    blank = {"role": "user", "content": " \n", "has_answer": True}
    example = parse(haystack_sessions=[[{"role": "user", "content": ""}, MARK], [blank, MARK]])
    assert [s.marked_turns for s in example.sessions] == [[1], [1]]
    assert kinds(example) == ["blank_turn", "blank_marked_turn"]


def test_session_without_turns_and_unknown_role_are_warnings():
    example = parse(haystack_sessions=[[], [MARK, {"role": "tool", "content": "ok"}]])
    assert kinds(example) == ["empty_session", "answer_session_without_mark", "unknown_role"]


def test_null_mark_means_unmarked():
    example = parse(haystack_sessions=[[MARK | {"has_answer": None}], [MARK]])
    assert [s.marked_turns for s in example.sessions] == [[], [0]]


@pytest.mark.parametrize("text", ["café \U0001f600\u200b \ufffd", "one\u2028two\x0bthree\x02four\x0c\x85"])
def test_odd_characters_stay(text):
    example = parse(haystack_sessions=[[{"role": "user", "content": text}], [MARK]])
    assert example.sessions[0].turns[0].content == text


def without(key):
    changed = row()
    del changed[key]
    return changed


def turn(**changes):
    return row(haystack_sessions=[[MARK], [MARK | changes]])


BAD = [
    ([], "a list where an object"),
    (without("question_id"), "'question_id' is missing"),
    (row(question_id=7), "question_id is a number; write a string"),
    (row(question_id=" "), "question_id is blank"),
    (row(question_id="a::b"), "'::'"),
    *[(without(key), f"question q1: key '{key}' is missing") for key in row() if key != "question_id"],
    (row(question=None), "question q1: question is null; write a string"),
    (row(question="half \ud83d"), "question q1: question holds half of a surrogate pair at character 5"),
    (row(answer=True), "answer is true or false"),
    (row(answer=["red"]), "answer is a list"),
    (row(answer_session_ids="s1"), "answer_session_ids is a string; write a list"),
    (row(answer_session_ids=["s1", "zz"]), "question q1: answer_session_ids names zz, not among"),
    (row(answer_session_ids=[1]), r"answer_session_ids\[0\] is a number"),
    (row(haystack_dates=["2023/05/20 (Sat) 02:21"]), "2 haystack_session_ids, 1 haystack_dates and 2"),
    (row(haystack_sessions=[[MARK]]), "and 1 haystack_sessions"),
    (row(haystack_session_ids=["s1", None]), r"haystack_session_ids\[1\] is null"),
    (row(haystack_dates=["2023/05/20 (Sat) 02:21", 20230527]), r"haystack_dates\[1\] is a number"),
    (row(haystack_dates=["2023/05/20 (Sat) 02:21", "May 27"]), "question q1, session s2: date 'May 27'"),
    (row(question_date="2023/02/30 (Thu) 00:58"), "question q1, question_date: date '2023/02/30"),
    (row(haystack_sessions=[[MARK], "hi"]), r"haystack_sessions\[1\] is a string; a session is a list"),
    (row(haystack_sessions=[[MARK], ["hi"]]), r"haystack_sessions\[1\]\[0\] is a string; a turn is an obj"),
    (turn(content=None), r"question q1, haystack_sessions\[1\]\[0\]: content is null"),
    (turn(role=""), "role is blank"),
    (turn(has_answer="yes"), "has_answer is a string; write true or false"),
    (turn(has_answer=1), "has_answer is a number"),
]


@pytest.mark.parametrize(("bad", "message"), BAD)
def test_malformed_row_names_place_and_fix(bad, message):
    with pytest.raises(InputError, match=message) as caught:
        parse_example(bad, "f.json: row 1")
    assert str(caught.value).startswith("f.json: row 1")


def test_question_id_twice_names_both_places():
    with pytest.raises(InputError, match="b: row 2: question q1 stands already at a: row 1"):
        parse_examples([("a: row 1", row()), ("b: row 2", row(question="Other?"))])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2023/05/20 (Sat) 02:21", datetime(2023, 5, 20, 2, 21)),
        ("2024/02/29 (thu) 23:59:58", datetime(2024, 2, 29, 23, 59, 58)),
        ("2023/5/2", datetime(2023, 5, 2)),
        ("2023-05-20", datetime(2023, 5, 20)),
        ("2023-05-20T02:21:07", datetime(2023, 5, 20, 2, 21, 7)),
        ("2023-05-20T02:21:07Z", datetime(2023, 5, 20, 2, 21, 7)),
        ("2023-05-20T02:21:00+05:00", datetime(2023, 5, 19, 21, 21)),
    ],
)
def test_dates(text, expected):
    assert parse_date(text, "here") == (expected, None)


@pytest.mark.parametrize(
    "text", ["1610123012345", "1701123112", "20230520x0221", "2023-05-20_02:21", "2023-05-20t02:21"]
)
def test_date_and_time_are_parted_by_t_or_a_space(text):
    with pytest.raises(InputError, match=f"here: date '{text}' is not readable"):
        parse_date(text, "here")


@pytest.mark.parametrize("weekday", ["Mon", "Sa", "sábado", ""])
def test_wrong_weekday_is_noted(weekday):
    date, note = parse_date(f"2023/05/20 ({weekday}) 02:21", "here")
    assert date == datetime(2023, 5, 20, 2, 21)
    assert note == f"'2023/05/20 ({weekday}) 02:21' is a Sat"


def test_wrong_weekday_is_a_warning_of_the_example():
    example = parse(haystack_dates=["2023/05/20 (Sun) 02:21", "2023/05/27 (Sat) 10:20"])
    assert kinds(example) == ["weekday_mismatch"]
    assert example.warnings[0]["detail"] == "session s1: '2023/05/20 (Sun) 02:21' is a Sat"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "8 May, 2023",
        "2023/13/01 (Sun) 00:00",
        "2023/05/20 (Sat) 24:00",
        "2023/05/20 (Sat) 02:21 pm",
        "٢٠٢٣/05/20",
        "0001-01-01T00:00:00+14:00",
    ],
)
def test_unreadable_dates(text):
    with pytest.raises(InputError, match=r"here: date .* is not readable"):
        parse_date(text, "here")


@given(st.datetimes(min_value=datetime(1000, 1, 1)))
def test_any_date_in_longmemeval_form_is_read(date):
    date = date.replace(second=0, microsecond=0)
    weekday = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[date.weekday()]
    text = f"{date.year:04}/{date.month:02}/{date.day:02} ({weekday}) {date.hour:02}:{date.minute:02}"
    assert parse_date(text, "here") == (date, None)
