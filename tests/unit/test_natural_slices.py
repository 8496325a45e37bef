"""Choice of questions, distractors, the word limit and knowledge updates, on invented conversations."""

from collections import Counter
from dataclasses import replace
from datetime import datetime
from random import Random

import pytest

from memaudit.errors import InputError
from memaudit.natural.build import BuildOptions, build_packages
from memaudit.natural.conversations import Example, Session, Turn
from memaudit.natural.slices import choose, cut, take_sessions
from memaudit.natural.turns import spans


def session(name, *turns, day=1, position=0):
    """Turns are texts of the user; one that starts with * is marked."""
    made = tuple(Turn("user", text.lstrip("*"), text.startswith("*")) for text in turns)
    return Session(name, name, position, f"2024/01/{day:02}", datetime(2024, 1, day), made)


def example(*sessions, answers=None, question_id="q", question_type="knowledge-update"):
    placed = tuple(replace(s, position=n) for n, s in enumerate(sessions))
    ids = tuple(s.session_id for s in sessions) if answers is None else tuple(answers)
    return Example(question_id, question_type, "What now?", "x", datetime(2024, 2, 1), placed, ids)


def built(made, **options):
    result = build_packages([made], "s", BuildOptions(**options))
    return result, result.packages[0] if result.packages else None


def kinds(result):
    return Counter(w["kind"] for w in result.warnings)


def covered(package):
    """Candidate name -> covered unit names, both without the question, of candidates that cover something."""
    rows = {
        name.removeprefix("q::"): {unit.removeprefix("q::") for unit in package.coverage_row(i)}
        for i, name in enumerate(package.visible.candidate_ids)
    }
    return {name: units for name, units in rows.items() if units}


# ---- which questions


def some(n, question_type="t"):
    return [example(session("s", "*x"), question_id=f"q{i:02}", question_type=question_type) for i in range(n)]


def test_all_are_taken_by_default_in_the_order_of_ids():
    assert [e.question_id for e in choose(reversed(some(3)))] == ["q00", "q01", "q02"]


def test_limit_is_the_papers_draw():
    ids = [e.question_id for e in some(9)]
    Random(5).shuffle(ids)
    assert [e.question_id for e in choose(reversed(some(9)), limit=4, seed=5)] == sorted(ids[:4])
    assert len(choose(some(3), limit=7)) == 3


def test_question_types():
    mixed = [*some(3), example(session("s", "*x"), question_id="z", question_type="u")]
    assert [e.question_id for e in choose(mixed, ["u"])] == ["z"]
    with pytest.raises(InputError, match="no question is of type v; types in the files: t, u"):
        choose(mixed, ["u", "v"])


# ---- which sessions


def haystack(n=8):
    others = [session(f"other{i}", "chat", day=2 + i) for i in range(n)]
    return example(*others[:3], session("answer", "*x", day=3), *others[3:], answers=["answer"])


def test_support_slice_by_default():
    assert [s.session_id for s in take_sessions(haystack())] == ["answer"]


def test_distractors_are_drawn_by_seed_and_question_and_stand_by_date():
    drawn = {
        (seed, q): tuple(s.session_id for s in take_sessions(replace(haystack(), question_id=q), 3, seed))
        for seed in range(4)
        for q in ("a", "b", "c")
    }
    assert len(set(drawn.values())) > 6
    assert drawn[1, "b"] == tuple(s.session_id for s in take_sessions(replace(haystack(), question_id="b"), 3, 1))
    for names in drawn.values():
        assert len(set(names)) == 4 and "answer" in names
    dates = [s.date for s in take_sessions(haystack(), 3)]
    assert dates == sorted(dates)


def test_distractors_are_groups_without_units():
    result, package = built(haystack(), distractors=8)
    assert len(package.visible.group_ids) == 9 and len(package.units) == 1
    assert kinds(result) == {}
    # other0 is of day 2; answer and other1 share day 3 and keep the listed order.
    assert package.visible.group_ids[:3] == ("q::other0", "q::other1", "q::answer")


def test_too_few_distractors_are_all_taken_with_a_warning():
    result, package = built(haystack(2), distractors=5)
    assert len(package.visible.group_ids) == 3
    assert result.warnings == [
        {
            "source_id": "q",
            "kind": "fewer_distractors",
            "detail": "5 distractor sessions wanted, the haystack has 2",
        }
    ]


def test_every_occurrence_of_a_repeated_answer_session_is_kept_out_of_the_draw():
    made = haystack()
    again = replace(made.sessions[3], experience_id="answer#9", position=9)
    made = replace(made, sessions=(*made.sessions, again))
    assert [s.experience_id for s in take_sessions(made)] == ["answer", "answer#9"]
    assert len({s.experience_id for s in take_sessions(made, 8)}) == 10


# ---- how much of a session


@pytest.mark.parametrize(
    ("limit", "contents"),
    [
        # "user: a b c" are 4 words, "user: d e f" words 5 to 8; the blank turn has none.
        (1, []),
        (2, ["a ..."]),
        (3, ["a b ..."]),
        (4, ["a b c", " "]),
        (5, ["a b c", " "]),
        (6, ["a b c", " ", "d ..."]),
        (8, ["a b c", " ", "d e f"]),
        (9, ["a b c", " ", "d e f"]),
        (None, ["a b c", " ", "d e f"]),
    ],
)
def test_word_limit(limit, contents):
    short = cut(session("s", "*a b c", " ", "*d e f"), limit)
    assert [t.content for t in short.turns] == contents
    # A turn that lost words lost its mark.
    assert short.marked_turns == [n for n, text in enumerate(contents) if text in ("a b c", "d e f")]


def test_cut_session_has_the_words_of_the_limit_and_one():
    whole = session("s", *(f"*{i} " + "w " * 30 for i in range(9)))
    assert sum(len(f"{t.role}: {t.content}".split()) for t in cut(whole, 100).turns) == 101
    assert all("..." not in t.content for t in cut(whole, 96).turns)


def test_a_cut_turn_stays_required_and_nothing_covers_it():
    made = example(session("s", "*a b", "*c d e", "f"))
    result, package = built(made, word_limit=5)
    assert [u.unit_id for u in package.units] == ["q::s::turn0", "q::s::turn1"]
    assert package.queries[0].required == ("q::s::turn0", "q::s::turn1")
    assert package.visible.text[package.visible.candidate_ids.index("q::s::turn1")] == "c ..."
    assert covered(package) == {"s::turn0": {"s::turn0"}, "s::raw": {"s::turn0"}, "s::window0": {"s::turn0"}}
    assert package.units[1].text == "c d e"
    assert kinds(result) == {"marked_turn_cut": 1}


def test_nothing_left_of_any_mark_is_unscored():
    result, package = built(example(session("s", "hello", "*a b c")), word_limit=4)
    assert package is None
    assert result.unscored[0]["reason"] == "every marked turn passes the word limit"


# ---- updates

UPDATE = example(
    session("new", "*boat is red", "hm", "hm", "*and fast", day=9),
    session("old", "*boat is blue", "ok", day=2),
    session("none", "no mark", day=20),
    session("older", "*boat is white", day=1),
)


def test_by_default_every_mark_is_a_unit_of_weight_one():
    _, package = built(UPDATE)
    assert [(u.role, u.weight) for u in package.units] == [("current", 1.0)] * 4
    assert len(package.queries[0].required) == 4


def test_unknown_route():
    with pytest.raises(InputError, match="route 'marks' is unknown; write one of marked, updates"):
        BuildOptions(route="marks")


def test_update_has_current_stale_and_invalidation_units():
    result, package = built(UPDATE, route="updates")
    units = {u.unit_id.removeprefix("q::"): (u.role, u.weight, u.kind) for u in package.units}
    assert units == {
        "new::turn0": ("current", 1.0, "answer_turn"),
        "new::turn3": ("current", 1.0, "answer_turn"),
        "old::turn0": ("stale", 0.0, "stale_or_superseded"),
        "old::turn0::no_longer": ("invalidation", 1.0, "invalidation"),
        "older::turn0": ("stale", 0.0, "stale_or_superseded"),
        "older::turn0::no_longer": ("invalidation", 1.0, "invalidation"),
    }
    needed = [unit.removeprefix("q::") for unit in package.queries[0].required]
    assert needed == ["new::turn0", "new::turn3", "old::turn0::no_longer", "older::turn0::no_longer"]
    assert kinds(result) == {}


def test_invalidation_is_covered_by_any_newer_marked_turn_held_whole_and_by_no_older_one():
    gone = {"old::turn0::no_longer", "older::turn0::no_longer"}
    assert covered(built(UPDATE, route="updates")[1]) == {
        "older::turn0": {"older::turn0"},
        "older::raw": {"older::turn0"},
        "old::turn0": {"old::turn0"},
        "old::raw": {"old::turn0"},
        "old::window0": {"old::turn0"},
        "new::turn0": {"new::turn0"} | gone,
        "new::turn3": {"new::turn3"} | gone,
        "new::window0": {"new::turn0"} | gone,
        "new::window1": {"new::turn3"} | gone,
        "new::raw": {"new::turn0", "new::turn3"} | gone,
    }


def test_route_changes_no_candidate():
    plain, updates = built(UPDATE)[1], built(UPDATE, route="updates")[1]
    assert plain.visible.candidate_ids == updates.visible.candidate_ids
    assert plain.visible.text == updates.visible.text


@pytest.mark.parametrize(
    ("made", "warned"),
    [
        (example(session("s", "*a", "*b")), {"update_without_older_turn": 1}),
        (replace(UPDATE, question_type="temporal-reasoning"), {}),
    ],
)
def test_other_questions_stay_as_on_the_other_route(made, warned):
    result, package = built(made, route="updates")
    assert package.content_hash == built(made)[1].content_hash
    assert kinds(result) == warned


def test_a_newer_turn_that_the_limit_cuts_invalidates_nothing():
    made = example(session("old", "*was", day=1), session("new", "*a", "hm", "*b c d e", day=2))
    package = built(made, route="updates", word_limit=7)[1]
    gone = "old::turn0::no_longer"
    assert {name for name, units in covered(package).items() if gone in units} == {
        "new::turn0",
        "new::window0",
        "new::raw",
    }
    cut_new = [s.name for s in spans(cut(made.sessions[1], 7)) if 2 in s.turns]
    assert "turn2" in cut_new and "new::turn2" not in covered(package)
