"""LoCoMo rows: every odd shape seen in the real file, malformed rows. All texts invented."""

import copy
import gzip
import json
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.errors import InputError
from memaudit.natural.dates import parse_clock_date
from memaudit.natural.locomo import CATEGORIES, parse_conversation, parse_conversations, turn_ids
from memaudit.natural.locomo_io import load_conversations

INVENTED = Path(__file__).parents[1] / "fixtures" / "locomo_invented.json"


def row(**changes):
    """A well-formed row of two sessions with the given top-level keys replaced."""
    base = {
        "sample_id": "c1",
        "conversation": talk(),
        "observation": {"session_1_observation": {"Ann": [["Ann has a boat.", "D1:1"]]}},
        "session_summary": {"session_1_summary": "Boats.", "session_2_summary": "Bikes."},
        "qa": [{"question": "What has Ann?", "answer": "a boat", "evidence": ["D1:1"], "category": 4}],
    }
    return copy.deepcopy(base | changes)


def talk(**changes):
    base = {
        "speaker_a": "Ann",
        "speaker_b": "Bob",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "I have a boat."},
            {"speaker": "Bob", "dia_id": "D1:2", "text": "Nice."},
        ],
        "session_2_date_time": "2:00 pm on 9 May, 2023",
        "session_2": [{"speaker": "Bob", "dia_id": "D2:1", "text": "I have a bike."}],
    }
    return base | changes


def question(**changes):
    return row(qa=[row()["qa"][0] | changes])


def parse(made):
    return parse_conversation(made, "f.json: row 1")


def kinds(conversation):
    return [warning["kind"] for warning in conversation.warnings]


def ask(**changes):
    conversation = parse(question(**changes))
    return conversation.questions[0], kinds(conversation)


def test_plain_row():
    conversation = parse(row(event_summary={"whatever": 1}))
    assert (conversation.sample_id, conversation.speakers, conversation.warnings) == ("c1", ("Ann", "Bob"), ())
    first, second = conversation.sessions
    assert (first.session_id, first.date, first.summary) == ("session_1", datetime(2023, 5, 8, 13, 56), "Boats.")
    assert [t.turn_id for t in first.turns] == ["D1:1", "D1:2"] and second.turns[0].line == "Bob: I have a bike."
    (seen,) = first.observations
    assert (seen.observation_id, seen.text, seen.turn_ids) == (
        "session_1::observation0",
        "Ann has a boat.",
        ("D1:1",),
    )
    (asked,) = conversation.questions
    assert (asked.query_id, asked.category, asked.answer, asked.evidence) == (
        "c1::q0",
        "single-hop",
        "a boat",
        ("D1:1",),
    )


def test_sessions_stand_by_date_then_number():
    made = talk(session_1_date_time="12:30 pm on 9 May, 2023", session_2_date_time="12:30 am on 9 May, 2023")
    assert [s.number for s in parse(row(conversation=made)).sessions] == [2, 1]
    made = talk(session_10_date_time="2:00 pm on 9 May, 2023", session_10=[])
    conversation = parse(row(conversation=made))
    assert [s.number for s in conversation.sessions] == [1, 2, 10]
    assert kinds(conversation) == ["empty_session", "session_without_summary"]


def test_date_without_session_is_ignored_with_a_warning():
    conversation = parse(row(conversation=talk(session_3_date_time="not even a date")))
    assert len(conversation.sessions) == 2 and kinds(conversation) == ["date_without_session"]


def test_pictures_are_part_of_what_was_said():
    turns = [
        {"speaker": "Ann", "dia_id": "D1:1", "text": "Look!", "blip_caption": "a photo of a cat"},
        {"speaker": "Ann", "dia_id": "D1:2", "text": " ", "blip_caption": "a dog"},
        {"speaker": "Ann", "dia_id": "D1:3", "text": "", "blip_caption": None},
    ]
    conversation = parse(row(conversation=talk(session_1=turns)))
    lines = [(t.line, t.content) for t in conversation.sessions[0].turns]
    assert lines[0] == ("Ann: Look! [shares a photo of a cat]", "Look! a photo of a cat")
    assert lines[1] == ("Ann: [shares a dog]", "a dog")
    assert lines[2][1] == "" and kinds(conversation) == ["blank_turn"]


# ---- evidence


@pytest.mark.parametrize(
    ("written", "ids"),
    [
        (["D8:6; D9:17"], ["D8:6", "D9:17"]),
        (["D9:1 D4:4 D4:6,D2:2"], ["D9:1", "D4:4", "D4:6", "D2:2"]),
        (["D:11:26", "D30:05", "D"], ["D11:26", "D30:5", "D"]),
        ("D3:4, D3:17", ["D3:4", "D3:17"]),
        (["D3:4", "D3:9"], ["D3:4", "D3:9"]),
        ([], []),
        ([" ;, "], []),
    ],
)
def test_turn_ids(written, ids):
    assert [normal for _, normal in turn_ids(written, "here")] == ids


def test_several_ids_in_one_string():
    asked, noted = ask(evidence=["D1:1; D2:1", "D1:1"])
    assert (asked.evidence, asked.unresolved, noted) == (("D1:1", "D2:1"), (), [])


def test_respelled_ids_resolve_with_a_warning():
    asked, noted = ask(evidence=["D:1:1", "D2:01"])
    assert (asked.evidence, asked.unresolved) == (("D1:1", "D2:1"), ())
    assert noted == ["evidence_respelled"] * 2


@pytest.mark.parametrize("bad", ["D", "D4:36", "turn 3"])
def test_what_is_no_turn_is_kept_apart_with_a_warning(bad):
    asked, noted = ask(evidence=["D1:1", bad])
    assert asked.evidence == ("D1:1",) and asked.unresolved == tuple(bad.split())
    assert noted == ["evidence_without_turn"] * len(bad.split())


def test_no_evidence():
    asked, noted = ask(evidence=[])
    assert (asked.evidence, asked.unresolved, noted) == ((), (), [])


# ---- questions


def test_adversarial_answer_is_never_the_answer():
    adversarial = {"question": "What has Bob?", "evidence": ["D1:1"], "category": 5, "adversarial_answer": "a boat"}
    plain, both = parse(row(qa=[adversarial, adversarial | {"answer": "No", "question": "Has he?"}])).questions
    assert (plain.category, plain.answer, plain.evidence) == ("adversarial", None, ("D1:1",))
    assert both.answer == "No"


@pytest.mark.parametrize(("answer", "text"), [(2022, "2022"), (1.5, "1.5"), ("x", "x")])
def test_answer_is_text(answer, text):
    assert ask(answer=answer)[0].answer == text


def test_same_question_twice_has_two_ids():
    asked = row()["qa"][0]
    conversation = parse(row(qa=[asked, asked | {"category": 1}]))
    assert [q.query_id for q in conversation.questions] == ["c1::q0", "c1::q1"]
    assert [w["source_id"] for w in conversation.warnings] == ["c1::q1"] and kinds(conversation) == [
        "repeated_question"
    ]


@pytest.mark.parametrize("number", CATEGORIES)
def test_categories(number):
    assert ask(category=number)[0].category == CATEGORIES[number]


# ---- observations


def observe(ids):
    made = row(observation={"session_1_observation": {"Ann": [["Ann sails.", ids]]}})
    conversation = parse(made)
    return [o.turn_ids for o in conversation.sessions[0].observations], kinds(conversation)


@pytest.mark.parametrize("ids", [["D2:1", "D1:1"], "D2:1, D1:1", ["D1:1, D2:01"]])
def test_provenance_is_a_list_or_a_comma_string(ids):
    assert observe(ids) == ([("D1:1", "D2:1")], [])


def test_observation_that_cites_no_turn_is_left_out_with_a_warning():
    assert observe("D1:1, D8:8") == ([("D1:1",)], ["observation_without_turn"])
    assert observe("D8:8") == ([], ["observation_without_turn", "observation_left_out"])
    assert observe([]) == ([], ["observation_left_out"])


def test_left_out_observations_keep_the_numbering():
    statements = [["Gone.", "D8:8"], ["Ann sails.", "D1:1"]]
    conversation = parse(row(observation={"session_1_observation": {"Ann": statements}}))
    assert [o.observation_id for o in conversation.sessions[0].observations] == ["session_1::observation1"]


def test_observations_and_summaries_of_no_session_are_warnings():
    made = row(
        observation={"session_9_observation": {"Ann": [["Ann sails.", "D1:1"]]}},
        session_summary={"session_1_summary": " ", "session_2_summary": "Bikes.", "session_9_summary": "x"},
    )
    conversation = parse(made)
    assert kinds(conversation) == [
        "observation_without_session",
        "summary_without_session",
        "session_without_summary",
    ]
    assert [s.summary for s in conversation.sessions] == [None, "Bikes."]


# ---- malformed rows


def without(key):
    made = row()
    del made[key]
    return made


def talking(**changes):
    return row(conversation=talk(**changes))


def turning(**changes):
    return talking(session_1=[talk()["session_1"][0] | changes])


BAD = [
    ([], "a list where an object"),
    (row(sample_id=3), "sample_id is a number"),
    (row(sample_id="a::b"), "'::'"),
    *[(without(key), f"key '{key}' is missing") for key in row()],
    (row(conversation=[]), "conversation c1: conversation is a list; write an object"),
    (row(conversation={"speaker_a": "A", "speaker_b": "B"}), "no session; add session_1"),
    (talking(speaker_b=""), "speaker_b is blank"),
    (talking(session_1_date_time="8 May"), "session_1_date_time: date '8 May' is not readable"),
    (
        row(conversation={k: v for k, v in talk().items() if k != "session_2_date_time"}),
        "'session_2_date_time' is miss",
    ),
    (talking(session_1="hi"), "session_1 is a string; write a list"),
    (talking(session_1=["hi"]), r"session_1\[0\]: a string; a turn is an object"),
    (turning(dia_id="X1"), r"session_1\[0\]: dia_id 'X1' is no turn id"),
    (turning(text=None), "text is null"),
    (turning(text="half \ud83d"), "half of a surrogate pair"),
    (turning(blip_caption=3), "blip_caption is a number"),
    (turning(dia_id="D2:01"), r"session_2\[0\]: dia_id D2:1 stands already in session_1\[0\]"),
    (row(observation={"session_1_observation": []}), "session_1_observation is a list; write an object"),
    (row(observation={"session_1_observation": {"Ann": [["x"]]}}), r"Ann\[0\]: a list; an observation is a list of"),
    (row(observation={"session_1_observation": {"Ann": [["x", 3]]}}), "turn ids is a number"),
    (row(session_summary={"session_1_summary": None}), "session_1_summary is null"),
    (row(qa={}), "qa is an object; write a list"),
    (row(qa=["why?"]), r"qa\[0\]: a string; a question is an object"),
    (question(question=""), r"qa\[0\]: question is blank"),
    (question(evidence="D1:1"), r"qa\[0\]: evidence is a string; write a list"),
    (question(evidence=[3]), "turn ids is a number"),
    (question(category=6), r"category 6 is unknown; write one of 1 \(multi-hop\)"),
    (question(category="4"), "category '4' is unknown"),
    (question(category=True), "category True is unknown"),
    (question(answer=None), "answer is null"),
    (question(answer=["a"]), "answer is a list"),
]


@pytest.mark.parametrize(("bad", "message"), BAD)
def test_malformed_row_names_place_and_fix(bad, message):
    with pytest.raises(InputError, match=message) as caught:
        parse(bad)
    assert str(caught.value).startswith("f.json: row 1")


def test_sample_id_twice_names_both_places():
    with pytest.raises(InputError, match="b: row 2: conversation c1 stands already at a: row 1"):
        parse_conversations([("a: row 1", row()), ("b: row 2", row())])


# ---- dates


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56)),
        ("12:05 am on 29 February, 2024", datetime(2024, 2, 29, 0, 5)),
        ("12:59 pm on 1 Sep 2023", datetime(2023, 9, 1, 12, 59)),
        ("11:00 AM on 08 december, 2023", datetime(2023, 12, 8, 11)),
        ("8 May, 2023", datetime(2023, 5, 8)),
    ],
)
def test_clock_dates(text, expected):
    assert parse_clock_date(text, "here") == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "13:00 pm on 8 May, 2023",
        "0:10 am on 8 May, 2023",
        "1:60 pm on 8 May, 2023",
        "1:56 on 8 May, 2023",
        "1:56 pm on 31 June, 2023",
        "1:56 pm on 8 Mai, 2023",
        "1:56 pm on 8 Ma, 2023",
        "2023/05/08 (Mon) 13:56",
    ],
)
def test_unreadable_clock_dates(text):
    with pytest.raises(InputError, match=r"here: date .* is not readable .*write '1:56 pm on 8 May, 2023'"):
        parse_clock_date(text, "here")


MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905


@given(st.datetimes(min_value=datetime(1000, 1, 1)))
def test_any_date_in_locomo_form_is_read(date):
    date = date.replace(second=0, microsecond=0)
    clock = f"{(date.hour + 11) % 12 + 1}:{date.minute:02} {'am' if date.hour < 12 else 'pm'}"
    assert parse_clock_date(f"{clock} on {date.day} {MONTHS[date.month - 1]}, {date.year}", "here") == date


# ---- files


def test_file_forms_give_the_same_conversations(tmp_path):
    rows = json.loads(INVENTED.read_text(encoding="utf-8"))
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    whole = load_conversations(INVENTED)
    assert len(whole) == 2 and load_conversations(tmp_path) == whole
    (tmp_path / "b.json").write_text(json.dumps([row()]))
    assert [c.sample_id for c in load_conversations([tmp_path / "b.json", str(INVENTED)])] == ["c1", "inv-1", "inv-2"]
    with pytest.raises(InputError, match=r"a\.jsonl\.gz: line 1: conversation inv-1 stands already at"):
        load_conversations([INVENTED, tmp_path])


def test_file_without_conversations(tmp_path):
    (tmp_path / "a.json").write_text("[]")
    with pytest.raises(InputError, match=r"a\.json: holds no conversation"):
        load_conversations(tmp_path / "a.json")
    with pytest.raises(InputError, match="name a file of conversations"):
        load_conversations(tmp_path / "none.json")


NINES = "9" * 5000


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"conversation": talk(session_01=[], session_01_date_time="8 May, 2023")}, "session_1 and session_01"),
        ({"observation": {"session_1_observation": {}, "session_01_observation": {}}}, "session_01_observation are"),
        ({"session_summary": {"session_1_summary": "a", "session_01_summary": "b"}}, "session_01_summary are keys"),
        ({"conversation": talk(**{f"session_{NINES}": []})}, r"session_9+\.\.\. has a session number of 5000 digits"),
        ({"conversation": talk(session_2=[{"speaker": "B", "dia_id": f"D{NINES}:1", "text": ""}])}, "is no turn id"),
    ],
)  # fmt: skip
def test_two_keys_of_one_session_and_endless_numbers_stop(changes, message):
    with pytest.raises(InputError, match=message):
        parse(row(**changes))


def test_evidence_with_endless_numbers_is_no_turn():
    endless = f"D{NINES}:1"
    assert ask(evidence=[endless])[0].unresolved == (endless,)
