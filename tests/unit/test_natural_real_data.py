"""The natural route on LongMemEval-S support slices, where that file is present (it is not shipped)."""

import json
import os
import time
from collections import Counter
from pathlib import Path

import pytest

from memaudit.natural.build import BuildOptions, build_packages
from memaudit.natural.conversations_io import load_examples
from memaudit.natural.slices import choose, take_sessions

REPOSITORY = Path(__file__).parents[2]
DATA = Path(os.environ.get("MEMAUDIT_SHARED_DATA", REPOSITORY.parent / "shared" / "data")) / "longmemeval"
SLICES = DATA / "s_support_slices_ku_tr.json"

pytestmark = pytest.mark.skipif(
    not SLICES.is_file(), reason="no LongMemEval here; MEMAUDIT_SHARED_DATA names the folder that holds it"
)


@pytest.fixture(scope="module")
def examples():
    return load_examples(SLICES)


@pytest.fixture(scope="module")
def result(examples):
    return build_packages(examples, "longmemeval")


def test_counts(examples, result):
    assert Counter(e.question_type for e in examples) == {"knowledge-update": 78, "temporal-reasoning": 132}
    assert sum(len(e.answer_sessions) for e in examples) == sum(len(e.sessions) for e in examples) == 446
    assert sum(isinstance(e.answer, int) for e in examples) == 10
    assert len(result.packages) == 198
    assert Counter((row["category"], row["reason"]) for row in result.unscored) == {
        ("knowledge-update", "abstention question, no marked turn"): 6,
        ("temporal-reasoning", "abstention question, no marked turn"): 1,
        ("temporal-reasoning", "abstention question, marked turns not counted"): 5,
    }
    # Every marked turn of a scored question is a unit of weight 1.
    marks = sum(len(s.marked_turns) for e in examples if not e.is_abstention for s in e.sessions)
    assert sum(p.weight.sum() for p in result.packages) == marks == 395
    assert Counter(w["kind"] for w in result.warnings) == {"answer_session_without_mark": 39}


def test_every_unit_can_be_kept_and_no_question_is_in_a_candidate(result):
    for package in result.packages:
        assert set(package.cov_unit) == set(range(len(package.units)))
        assert not any(package.queries[0].text in text for text in package.visible.text)
        assert package.total_cost == sum(len(text.split()) for text in package.visible.text)


def test_sessions_stand_in_date_order(examples, result):
    reordered = 0
    for example in examples:
        dates = [s.date for s in take_sessions(example)]
        assert dates == sorted(dates)
        reordered += dates != [s.date for s in example.sessions]
    assert reordered > 0


def test_cut_spans_lose_marked_turns(result):
    """Every session passes 220 words, so every raw span is cut and costs 221."""
    costs, covered = set(), 0
    for package in result.packages:
        for i, kind in enumerate(package.visible.representation_type):
            if kind == "raw_span":
                costs.add(int(package.visible.cost[i]))
                covered += len(package.coverage_row(i))
    assert costs == {221}
    assert covered == 240  # of 395 units


def test_it_takes_seconds():
    start = time.perf_counter()
    build_packages(load_examples(SLICES), "longmemeval")
    assert time.perf_counter() - start < 10


@pytest.mark.parametrize(("name", "questions"), [("oracle_gpt4_7a0daae1.json", 1), ("sample_ku16_tr14.json", 30)])
def test_the_other_files_are_read(name, questions):
    examples = load_examples(DATA / name)
    built = build_packages(examples, "s")
    assert len(examples) == len(built.packages) + len(built.unscored) == questions


def test_the_papers_draw(examples):
    """The rule gives the 200 ids of Natural-200, from the slices and the question that they lack."""
    wanted = json.loads((DATA / "natural200_question_ids.json").read_text())["question_ids"]
    every = load_examples([SLICES, DATA / "oracle_gpt4_7a0daae1.json"])
    chosen = choose(every, ["knowledge-update", "temporal-reasoning"], limit=200, seed=0)
    assert [e.question_id for e in chosen] == sorted(wanted)


def test_updates_have_current_stale_and_invalidation_units(examples, result):
    updates = build_packages(examples, "s", BuildOptions(route="updates"))
    assert len(updates.packages) == len(result.packages)
    roles = Counter(u.role for p in updates.packages for u in p.units if p.distribution == "knowledge-update")
    assert roles == {"current": 72, "stale": 72, "invalidation": 72}
    assert Counter(w["kind"] for w in updates.warnings)["update_without_older_turn"] == 2
    plain = {p.package_id: p.content_hash for p in result.packages if p.distribution == "temporal-reasoning"}
    assert plain.items() <= {p.package_id: p.content_hash for p in updates.packages}.items()


def test_word_limit(examples):
    limited = build_packages(examples, "s", BuildOptions(word_limit=1800))
    cut = Counter(w["kind"] for w in limited.warnings)["marked_turn_cut"]
    beyond = [r["source_id"] for r in limited.unscored if r["reason"] == "every marked turn passes the word limit"]
    # The units that nothing covers are the turns that were cut; two questions have no other.
    assert (cut, beyond) == (16, ["9a707b82", "gpt4_fa19884d"])
    assert sum(len(p.units) - len(set(p.cov_unit)) for p in limited.packages) == cut


def test_sessions_can_be_drawn_from_the_haystack_only(examples, result):
    """These files hold answer sessions only: wanted distractors are missed with a warning, not made up."""
    more = build_packages(examples, "longmemeval", BuildOptions(distractors=2))
    assert [p.content_hash for p in more.packages] == [p.content_hash for p in result.packages]
    assert Counter(w["kind"] for w in more.warnings)["fewer_distractors"] == len(result.packages)
