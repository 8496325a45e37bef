"""LoCoMo's own file, where it is present (it is not shipped)."""

import os
import time
from collections import Counter
from pathlib import Path

import pytest

from memaudit.natural.locomo_build import LocomoOptions, build_locomo
from memaudit.natural.locomo_io import load_conversations
from memaudit.objective import BUILT_IN as SATURATIONS
from memaudit.objective import scale

REPOSITORY = Path(__file__).parents[2]
SHARED = Path(os.environ.get("MEMAUDIT_SHARED_DATA", REPOSITORY.parent / "shared" / "data"))
LOCOMO = SHARED / "locomo" / "locomo10.json"

pytestmark = pytest.mark.skipif(
    not LOCOMO.is_file(), reason="no LoCoMo here; MEMAUDIT_SHARED_DATA names the folder that holds it"
)


@pytest.fixture(scope="module")
def conversations():
    return load_conversations(LOCOMO)


@pytest.fixture(scope="module")
def result(conversations):
    return build_locomo(conversations, "locomo")


def test_counts(conversations, result):
    sessions = [s for c in conversations for s in c.sessions]
    assert len(conversations) == len(result.packages) == 10
    assert len(sessions) == 272 and all(s.summary for s in sessions)
    assert sum(len(s.turns) for s in sessions) == 5882
    assert sum(len(s.observations) for s in sessions) == 2541
    assert sum(len(c.questions) for c in conversations) == 1986
    assert sum(len(p.units) for p in result.packages) == 1430
    kinds = Counter(kind for p in result.packages for kind in p.visible.representation_type)
    assert kinds == {"raw_span": 5882, "atomic_fact": 2541, "summary": 272}
    assert sum(len(p.visible.group_ids) for p in result.packages) == 5882 + 272


def test_every_question_is_a_query_or_listed(result):
    asked = Counter(q.category for p in result.packages for q in p.queries)
    assert asked == {"single-hop": 840, "adversarial": 446, "temporal": 321, "multi-hop": 280, "open-domain": 92}
    assert [(row["source_id"], row["reason"]) for row in result.unscored] == [
        ("conv-26::q30", "no evidence"),
        ("conv-26::q46", "no evidence"),
        ("conv-42::q58", "evidence that is no turn: D10:19"),
        ("conv-42::q88", "evidence that is no turn: D"),
        ("conv-47::q38", "evidence that is no turn: D4:36"),
        ("conv-50::q39", "no evidence"),
        ("conv-50::q42", "no evidence"),
    ]
    assert Counter(w["kind"] for w in result.warnings) == {
        "date_without_session": 16,
        "repeated_question": 12,
        "evidence_without_turn": 3,
        "evidence_respelled": 2,
    }


def test_adversarial_questions_require_nothing_and_two_have_an_answer(result):
    adversarial = [q for p in result.packages for q in p.queries if q.category == "adversarial"]
    assert {q.required for q in adversarial} == {()}
    assert Counter(q.answer for q in adversarial) == {None: 444, "No": 2}
    others = [q for p in result.packages for q in p.queries if q.category != "adversarial"]
    assert all(q.required and q.answer for q in others)


def test_weight_is_the_number_of_queries_that_need_a_turn(conversations, result):
    needs = sum(len(q.required) for p in result.packages for q in p.queries)
    assert sum(p.weight.sum() for p in result.packages) == needs
    assert sum((p.weight == 0).sum() for p in result.packages) == 6
    twisted = build_locomo(conversations, "locomo", LocomoOptions(adversarial="evidence"))
    # What is left are turns that only questions with unresolvable evidence cite.
    assert sum((p.weight == 0).sum() for p in twisted.packages) == 4


def test_coverage_is_whole_for_raw_turns_and_rare_for_rewordings(result):
    values = {"raw_span": [], "atomic_fact": [], "summary": []}
    for p in result.packages:
        for i, kind in enumerate(p.visible.representation_type):
            values[kind].extend(p.coverage_row(i).values())
    assert values["raw_span"] == [1.0] * 1430
    facts, summaries = values["atomic_fact"], values["summary"]
    assert 0.3 < sum(facts) / len(facts) < 0.4
    assert sum(v == 1.0 for v in facts) / len(facts) < 0.02
    assert min(summaries) >= 0.25 and sum(v == 1.0 for v in summaries) / len(summaries) < 0.02
    assert all(round(v * 20) / 20 == v for v in (*facts, *summaries))


def test_writers_see_no_question_and_optima_stay_exact(result):
    for package in result.packages:
        texts = set(package.visible.text)
        assert not texts & {q.text for q in package.queries}
        assert scale(package, SATURATIONS["cap1"]) is not None


def test_it_takes_seconds():
    start = time.perf_counter()
    build_locomo(load_conversations(LOCOMO), "locomo")
    assert time.perf_counter() - start < 10
