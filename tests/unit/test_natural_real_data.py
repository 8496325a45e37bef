"""The natural route on LongMemEval-S support slices, where that file is present (it is not shipped)."""

import os
import time
from collections import Counter
from pathlib import Path

import pytest

from memaudit.natural.build import build_packages
from memaudit.natural.conversations_io import load_examples
from memaudit.natural.slices import take_sessions

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
