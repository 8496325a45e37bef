"""Verdicts under drawn labels, against exhaustive search and judges whose word is known. All texts are invented."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.costs import BUILT_IN
from memaudit.errors import InputError
from memaudit.objective import CAP1, scale
from memaudit.package import Unit, build
from memaudit.stores import judge_verdict
from memaudit.stores.judge import FULL, HALF, LEVELS, NEAR, ROW_LEVEL, ROWS, Judge, Judged
from memaudit.stores.judge_io import proxy_judge
from memaudit.stores.judge_verdict import UNDECIDED, verdict_agreement
from memaudit.stores.model import Memory, Store
from memaudit.stores.pruning import RULES
from memaudit.stores.union import Labelled, losses, store_package, union
from reference import selections, value
from strategies import packages

words = BUILT_IN["words"]
SURE = {row: [float(level == ROW_LEVEL[row]) for level in LEVELS] for row in ROWS}


class Stated(Judge):
    """A judge of known quality."""

    name, kind = "stated", "labels"

    def __init__(self, given=SURE, kappa=0.9, memories=1e9):
        self.provenance = {
            "kappa": kappa, "kappa_all_cells": kappa, "true_given_judged": dict(given), "memories_per_example": memories
        }  # fmt: skip


@st.composite
def judged_stores(draw, package, judge):
    memories = tuple(
        Memory(f"m{i}", "w " * draw(st.integers(1, 4)), i, f"m{i // 2}", view=str(i % 2))
        for i in range(draw(st.integers(0, 4)))
    )
    rows = {
        (i, j): draw(st.sampled_from((NEAR, HALF, FULL)))
        for i in range(len(memories))
        for j in range(len(package.units))
        if draw(st.booleans())
    }
    coverage = {}
    for (i, j), row in rows.items():
        if ROW_LEVEL[row]:
            coverage.setdefault((f"m{i}", str(i % 2)), {})[package.units[j].unit_id] = ROW_LEVEL[row]
    return Store("s", "amem", None, memories), Judged(coverage, rows, judge)


def kept(package, store, judged, budget):
    alone = store_package(package, Labelled(store, judged.coverage), words)
    return RULES["recency"](alone, scale(alone.package), budget)


def run(package, store, judged, budget, **options):
    return verdict_agreement(package, store, judged, words, budget, kept(package, store, judged, budget), **options)


@settings(max_examples=60)
@given(st.data())
def test_a_sure_judges_losses_are_those_of_its_labels(data):
    package = data.draw(packages(max_groups=2, max_per_group=2, max_units=3))
    store, judged = data.draw(judged_stores(package, Stated()))
    budget = data.draw(st.integers(1, 12))
    verdict = run(package, store, judged, budget, draws=3)
    labelled = Labelled(store, judged.coverage)
    both, alone = union(package, [labelled], words), store_package(package, labelled, words).package
    expected = losses(
        max(value(both, s, CAP1) for s in selections(both, budget)),
        value(alone, range(len(alone)), CAP1),
        max(value(alone, s, CAP1) for s in selections(alone, budget)),
        value(alone, kept(package, store, judged, budget), CAP1),
    )
    assert (verdict.losses, verdict.mean, verdict.share) == (expected, expected, 1.0)
    assert verdict.verdict == verdict.largest and verdict.counts == {verdict.largest: 3}


def simple(judge, memories=4, row=FULL):
    """A store of equal memories, each of them judged to cover one unit of its own; nothing else covers it."""
    units = [Unit(f"u{i}", 1.0) for i in range(memories)]
    store = Store("s", "mem0", None, tuple(Memory(f"m{i}", "w w", i, f"m{i}") for i in range(memories)))
    level = ROW_LEVEL[row]
    coverage = {(f"m{i}", ""): {f"u{i}": level} for i in range(memories)} if level else {}
    return (
        build("s", "p", "d", None, [], units, {}, []),
        store,
        Judged(coverage, {(i, i): row for i in range(memories)}, judge),
    )


def test_draws_follow_the_judges_confusion():
    judge = Stated({**SURE, FULL: [0.25, 0.5, 0.25]})
    package, store, judged = simple(judge, memories=50)
    tables = list(judge_verdict._drawn_tables(store, package, judged, 200, 0))
    drawn = np.zeros((200, 50 * 50))
    for row, table in zip(drawn, tables, strict=True):
        row[table.cell] = table.value
    own = drawn[:, np.arange(50) * 51]
    assert [np.mean(own == level) for level in LEVELS] == pytest.approx([0.25, 0.5, 0.25], abs=0.02)
    assert drawn.sum() == own.sum()


@pytest.mark.parametrize(("memories_per_example", "expected"), [(50, 0.04), (5, 0.004)])
def test_far_cells_are_drawn_at_the_rate_of_all_cells_and_the_rarer_the_larger_the_store(
    memories_per_example, expected
):
    judge = Stated({**SURE, "0 far": [0.96, 0.03, 0.01]}, memories=memories_per_example)
    package, store, judged = simple(judge, memories=50)
    values = np.concatenate([t.value for t in judge_verdict._drawn_tables(store, package, judged, 200, 0)])
    cells = [t.cell for t in judge_verdict._drawn_tables(store, package, judged, 200, 0)]
    assert all(len(set(c)) == len(c) and c.min() >= 0 and c.max() < 2500 for c in map(np.asarray, cells))
    far = len(values) - 200 * 50
    assert far / (200 * 2450) == pytest.approx(expected, rel=0.1)
    assert np.mean(values == 0.5) * len(values) / far == pytest.approx(0.75, abs=0.03)


def test_the_r_th_free_cell():
    generator = np.random.Generator(np.random.PCG64(3))
    taken = np.array([0, 2, 3, 7, 9])
    cells, values = judge_verdict._far(generator, 5, taken, [0.0, 1.0, 0.0], 1.0)
    assert sorted(cells) == [1, 4, 5, 6, 8] and set(values) == {0.5}


def test_a_judge_that_often_errs_is_undecided_and_a_weak_one_always():
    # Everything fits; what was kept is one memory: by its labels, selection loses most.
    package, store, judged = simple(Stated(), memories=4)
    options = {"draws": 50}
    assert verdict_agreement(package, store, judged, words, 8, [0], **options).verdict == "selection"
    weak = replace(judged, judge=Stated(kappa=0.39))
    found = verdict_agreement(package, store, weak, words, 8, [0], **options)
    assert (found.verdict, found.largest, found.share) == (UNDECIDED, "selection", 1.0)
    loose = replace(judged, judge=Stated({**SURE, FULL: [0.8, 0.1, 0.1]}))
    found = verdict_agreement(package, store, loose, words, 8, [0], **options)
    assert found.verdict == UNDECIDED and found.share < 0.8 and sum(found.counts.values()) == 50


def test_draws_are_the_same_each_time_and_others_under_another_seed():
    package, store, judged = simple(Stated({**SURE, FULL: [0.3, 0.4, 0.3]}), memories=6)
    one, two, other = (verdict_agreement(package, store, judged, words, 6, [0, 1], seed=s) for s in (0, 0, 1))
    assert one == two and one.mean != other.mean
    assert one.losses == losses(Fraction(3), Fraction(6), Fraction(3), Fraction(2))


def test_a_store_of_nothing_misses_everything():
    package, _, _ = simple(Stated())
    empty = Store("s", "mem0", None, ())
    found = run(package, empty, Judged({}, {}, Stated()), 5, draws=2)
    assert found.verdict == "nothing" and found.losses == losses(*[Fraction(0)] * 4)


def test_the_proxy_says_what_a_verdict_needs():
    package, store, _ = simple(Stated())
    found = run(package, store, Judged({}, {}, proxy_judge()), 4, draws=5)
    assert (found.judge, found.kind, found.draws) == ("proxy", "proxy", 5)
    assert found.kappa == min(proxy_judge().provenance[k] for k in ("kappa", "kappa_all_cells"))


def test_bad_input_is_refused():
    package, store, judged = simple(Stated())
    with pytest.raises(InputError, match="draws is 0"):
        run(package, store, judged, 4, draws=0)
    nameless = Stated()
    nameless.provenance = {"kappa": 1.0}
    with pytest.raises(InputError, match="has no kappa_all_cells, true_given_judged"):
        run(package, store, replace(judged, judge=nameless), 4)
