"""The second computation of a judge's words and of verdicts, against the pipeline's. All texts are invented."""

import json
from dataclasses import replace

import numpy as np
import pytest
from check_cases import tables_of
from hypothesis import given, settings
from hypothesis import strategies as st
from store_cases import CONSTANTS, PACKAGE, STORE, judged_case, score
from test_check_stores import PLAN, example_of

from memaudit.analysis.store_verdicts import seed_of as pipeline_seed_of
from memaudit.analysis.store_verdicts import verdict_rows
from memaudit.check import draws as check_draws
from memaudit.check.draws import JudgedExample, Known, drawn_labels, seed_of, verdict_columns
from memaudit.check.model import curve
from memaudit.check.prover import Prover
from memaudit.check.proxy import FAR, ROWS, Proxy, judge_table
from memaudit.check.rows import build_problem, read_rows
from memaudit.check.store_means import diagnosis_rows, mean_losses
from memaudit.objective import CAP1
from memaudit.package import Unit, build
from memaudit.stores import judge, judge_verdict
from memaudit.stores.judge import Judged
from memaudit.stores.judge_io import SHIPPED, judge_named
from memaudit.stores.judge_record import Recorded, judge_rows
from memaudit.stores.model import Memory, Store

CONTENT = json.loads(SHIPPED.read_text("utf-8"))
PHRASES = (
    "the user lives in Berlin", "moved from Berlin to Oslo", "no longer lives in Oslo", "bought five lemon trees",
    "has 3 lemon trees", "on 25 May 2023", "in May 2024", "since 2023", "never drinks coffee", "stopped drinking tea",
    "drinks coffee and tea", "paid 1,200 dollars", "Anna's bicycle is red", "plans a trip; it was cancelled",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PHRASES), max_size=4).map(". ".join)


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.lists(TEXTS.filter(bool), min_size=1, max_size=5))
def test_words_are_the_pipeline_s(memory, units):
    found = {
        cell.unit: cell.row
        for cell in judge_named("proxy").cells([memory], [Unit(f"u{i}", 1.0, text=t) for i, t in enumerate(units)])
    }
    again = dict(Proxy(CONTENT["parameters"], units).cells(memory))
    assert found.keys() <= again.keys()
    assert all(found.get(unit, FAR) in may for unit, may in again.items())


def test_the_phrases_reach_every_row_and_one_row_each():
    cells = [may for text in PHRASES for _, may in Proxy(CONTENT["parameters"], PHRASES).cells(text)]
    assert {row for may in cells for row in may} >= {"0.5", "1", "0 near"} and all(len(may) == 1 for may in cells)
    assert ROWS == judge.ROWS


def test_what_the_judge_is_worth_is_the_pipeline_s():
    assert list(judge_table(CONTENT, "proxy")) == list(judge_rows(judge_named("proxy")))


GIVEN = {"0 far": [0.9, 0.06, 0.04], "0 low": [0.6, 0.3, 0.1], "0 near": [0.5, 0.3, 0.2], "0.5": [0.2, 0.6, 0.2]}
GIVEN |= {"1": [0.1, 0.3, 0.6]}


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_drawn_labels_are_the_pipeline_s(data):
    n, m = data.draw(st.integers(0, 4)), data.draw(st.integers(1, 4))
    cells = [(i, j) for i in range(n) for j in range(m)]
    rows = {c: data.draw(st.sampled_from(ROWS[1:])) for c in cells if data.draw(st.booleans())}
    per_example, seed = data.draw(st.sampled_from((1.5, 50))), data.draw(st.integers(0, 2**256 - 1))
    source = Recorded("p", "proxy", {"true_given_judged": GIVEN, "memories_per_example": per_example})
    package = build("s", "p", "d", None, [], [Unit(f"u{i}", 1.0) for i in range(m)], {}, [])
    store = Store("s", "mem0", None, tuple(Memory(f"m{i}", "w", i, f"m{i}") for i in range(n)))
    tables = list(judge_verdict._drawn_tables(store, package, Judged({}, rows, source), 6, seed))
    again = dict(drawn_labels(rows, n, m, Known(GIVEN, per_example, 1.0), seed, {0, 2, 5}))
    assert again.keys() == {0, 2, 5}
    for draw, labels in again.items():
        own = {divmod(c, m): v for c, v in zip(tables[draw].cell.tolist(), tables[draw].value.tolist(), strict=True)}
        assert labels == own


def drawn(monkeypatch=None, kappa=0.9, budget=4):
    """Rows of verdicts and draws of the invented store, with its example as the second computation has it."""
    provenance = {"kappa": kappa, "kappa_all_cells": kappa, "true_given_judged": GIVEN, "memories_per_example": 50}
    one, judged = judged_case(Recorded("proxy", "proxy", provenance))
    made = score(PACKAGE, STORE, [budget])
    found = verdict_rows([one], judged, made.losses, made.selections, CONSTANTS, CAP1, k=1)
    example, alone = example_of(PACKAGE, STORE), one.stored.package
    rows = read_rows(tables_of([alone]), ["q"])["q"]
    problem = build_problem(rows, pool={"include": None}, saturation=curve("cap1", "cap1"), k=1)
    kept = made.selections.query("rule == 'recency'")["candidate_id"]
    positions = tuple(sorted(example.problem.position[c] for c in kept))
    again = JudgedExample(example, problem, judged["q"].rows, {(budget, "recency"): positions})
    return made, found, again, Known(GIVEN, 50, kappa)


def test_the_losses_of_draws_are_the_pipeline_s():
    _, found, again, known = drawn()
    assert len(found.draws) == 200 and seed_of("s", "q") == pipeline_seed_of(0, "s", "q")
    labels = again.labels("s", known, range(30))
    assert len({json.dumps(sorted(map(str, own.items()))) for own in labels.values()}) > 5
    for row in found.draws[:30].to_dict("records"):
        losses = again.losses(labels[row["draw"]], 4, ["recency"], Prover("cp_sat"))["recency"]
        assert {name: float(x) for name, x in losses.items()} == {name: row[name] for name in losses}


@pytest.mark.parametrize("kappa", [0.9, 0.39])
def test_verdicts_follow_from_the_draws(kappa):
    made, found, _, _ = drawn(kappa=kappa)
    own = made.losses.query("rule == 'recency'").to_dict("records")
    (row,) = found.verdicts.to_dict("records")
    draws = found.draws.replace({np.nan: None}).to_dict("records")
    again = verdict_columns(mean_losses(own), draws, kappa)
    assert {name: row[name] for name in again if not name.startswith("drawn_")} == {
        name: value for name, value in again.items() if not name.startswith("drawn_")
    }
    assert [row[f"drawn_{n}"] for n in check_draws.LOSSES] == pytest.approx(
        [again[f"drawn_{n}"] for n in check_draws.LOSSES]
    )
    scores = made.scores.to_dict("records")
    told = diagnosis_rows(scores, own, replace(PLAN, labels="proxy"), [row])[0]
    assert told["verdict"] == row["verdict"] and f"kappa {kappa:.2f}" in told["verdict_text"]


def test_draws_that_are_not_proven_agree_with_nothing():
    made, found, _, _ = drawn()
    own = made.losses.query("rule == 'recency'").to_dict("records")
    none = [dict.fromkeys(check_draws.LOSSES)] * 200
    columns = verdict_columns(mean_losses(own), none, 0.9)
    assert (columns["verdict"], columns["agreement"], columns["unproven_draws"]) == ("undecided", 0, 200)
    assert columns["drawn_missing"] is None and len(found.draws) == 200
