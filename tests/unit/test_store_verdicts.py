"""Stores that a judge labelled: from texts to verdicts over several examples, and through their files."""

import tomllib
from dataclasses import replace
from fnmatch import fnmatch
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest
from store_cases import CONSTANTS, PACKAGE, STORE, judged_case, memory, score, words

from memaudit.analysis import store_verdicts
from memaudit.analysis.store_scores import case
from memaudit.analysis.store_summary import Declared, diagnosis
from memaudit.analysis.store_verdicts import seed_of, verdict_rows
from memaudit.errors import InputError
from memaudit.objective import CAP1
from memaudit.package import Unit, build
from memaudit.schemas import TABLES
from memaudit.solve.frontier import frontier
from memaudit.stores import judge_io, judge_verdict
from memaudit.stores.judge import FULL, LEVELS, ROW_LEVEL, ROWS, Judged
from memaudit.stores.judge_io import judge_hash, judge_named
from memaudit.stores.judge_record import Recorded, judge_rows, recorded
from memaudit.stores.judge_verdict import conclude, drawn_losses
from memaudit.stores.labelled import judged_stores
from memaudit.stores.labels import labels
from memaudit.stores.model import NO_TEXT, Ingest, IngestReport, Store
from memaudit.stores.tables_io import JUDGE_FILES, read_judged, read_labelled, write_labelled
from memaudit.stores.union import Labelled, Losses, union
from memaudit.table_io import to_table

SURE = {row: [float(level == ROW_LEVEL[row]) for level in LEVELS] for row in ROWS}


def source(given=SURE, kappa=0.9):
    return Recorded("stated", "labels", {"kappa": kappa, "kappa_all_cells": kappa, "true_given_judged": given})


def rows(judge=None, cases=None, judged=None, budgets=(8, 4), **options):
    made = score(PACKAGE, STORE, budgets)
    one, own = judged_case(judge)
    options = {"k": 1, "draws": 40} | options
    found = verdict_rows(cases or [one], judged or own, made.losses, made.selections, CONSTANTS, CAP1, **options)
    return made, found.verdicts


def test_a_sure_judges_verdicts_are_the_diagnosis_of_its_labels():
    made, found = rows(source())
    assert to_table("store_verdicts", found).num_rows == len(found) == 2
    assert found.set_index("budget")["verdict"].to_dict() == {4: "selection", 8: "missing"}
    assert found["agreement"].eq(1).all() and found["n"].eq(1).all()
    for row in found.to_dict("records"):
        own = made.losses.query(f"budget == {row['budget']} and rule == 'recency'").iloc[0]
        assert [row[f"drawn_{name}"] for name in ("missing", "size", "selection")] == [
            own["missing"], own["size"], own["selection"]
        ]  # fmt: skip
    scores = made.scores
    told = diagnosis(made.losses, scores, Declared("words", labels="stated"), found)
    labelled = diagnosis(made.losses, scores, Declared("words"))
    assert told["verdict"].tolist() == told["largest"].tolist() == labelled["largest"].tolist()
    assert to_table("store_diagnosis", told).num_rows == to_table("store_diagnosis", labelled).num_rows == 2
    with pytest.raises(ValueError, match="not of one run"):
        diagnosis(made.losses, scores, Declared("words", labels="stated"), found[:1])


@pytest.mark.parametrize(("judge", "budget"), [(source(kappa=0.39), 8), (source({**SURE, FULL: [1.0, 0, 0]}), 4)])
def test_a_weak_or_an_erring_judge_leaves_the_verdict_open(judge, budget):
    made, found = rows(judge)
    row = found.set_index("budget").loc[budget]
    assert row["verdict"] == "undecided" and row["largest"] == {8: "missing", 4: "selection"}[budget]
    told = diagnosis(made.losses, made.scores, Declared("words", labels="stated"), found).set_index("budget")
    text = told.loc[budget, "verdict_text"]
    assert ": kept by newest first, the store loses most to" in text and "kappa" in text
    between = {8: "Undecided: k", 4: "Undecided between selection and extraction (missing): k"}
    assert text.startswith(between[budget])
    assert told["missing_advice"].str.startswith("By the stated: ").all()


def test_examples_are_averaged_draw_by_draw():
    """Two examples, one of which a draw changes: the mean of each draw decides, not each example."""
    one, judged = judged_case(source({**SURE, FULL: [0.5, 0, 0.5]}))
    other = replace(PACKAGE, package_id="r")
    store = Labelled(Store("s", "mem0", "r", ()))
    empty = case(union(other, [store], words), other, store, words)
    made = score(PACKAGE, STORE, (8,))
    more = score(other, store, (8,))
    stored = pd.concat([made.losses, more.losses])
    kept = pd.concat([made.selections, more.selections])
    judged = judged | {"r": Judged({}, {}, judged["q"].judge)}
    both = [one, empty]
    found = verdict_rows(both, judged, stored, kept, CONSTANTS, CAP1, k=1, draws=60).verdicts.iloc[0]
    own = {(8, "recency"): [0, 1]}
    q = drawn_losses(one.union, one.stored, one.store, judged["q"], own, draws=60, seed=seed_of(0, "s", "q"))
    means = [(float(x.missing) + 1.5) / 2 for x in q[8, "recency"]]  # r's store is empty: gone and tea are missing
    assert found["n"] == 2 and found["drawn_missing"] == pytest.approx(sum(means) / 60)
    assert len({x.missing for x in q[8, "recency"]}) > 0
    turned = verdict_rows(both[::-1], judged, stored, kept, CONSTANTS, CAP1, k=1, draws=60).verdicts.iloc[0]
    assert turned.to_dict() == found.to_dict()


def test_what_one_example_gave_up_is_not_tried_on_others(monkeypatch):
    asked = []

    def given_up(both, alone, store, judged, kept, *, draws, **_):
        asked.append(sorted(kept))
        nothing = Losses(*[Fraction(0)] * 3)
        return {key: [None if key[0] == 8 else nothing] * draws for key in kept}

    monkeypatch.setattr(store_verdicts, "drawn_losses", given_up)
    one, judged = judged_case(source())
    other = replace(one, union=replace(one.union, package_id="r"))
    made = score(PACKAGE, STORE, (8, 4))
    stored, kept = (pd.concat([f, f.assign(package_id="r")]) for f in (made.losses, made.selections))
    judged = judged | {"r": judged["q"]}
    found = verdict_rows([one, other], judged, stored, kept, CONSTANTS, CAP1, k=1).verdicts.set_index("budget")
    assert asked == [[(4, "recency"), (8, "recency")], [(4, "recency")]]
    assert found["unproven_draws"].to_dict() == {4: 0, 8: 200} and found["n"].eq(2).all()


def test_draws_do_not_depend_on_budgets_rules_or_company_but_on_the_example():
    judge = source({**SURE, FULL: [0.3, 0.4, 0.3]})
    together = rows(judge)[1].set_index("budget")
    for budget in (4, 8):
        assert (
            together.loc[budget].to_dict()
            == rows(judge, budgets=(budget,))[1].set_index("budget").loc[budget].to_dict()
        )
    assert len({seed_of(0, "s", "q"), seed_of(0, "s", "r"), seed_of(0, "t", "q"), seed_of(1, "s", "q")}) == 4


def test_what_is_no_memory_of_the_store_is_refused():
    made = score(PACKAGE, STORE, (8,))
    one, judged = judged_case()
    strange = made.selections.assign(candidate_id="store:s::m9")
    with pytest.raises(InputError, match="m9 was kept and is no memory of the store"):
        verdict_rows([one], judged, made.losses, strange, CONSTANTS, CAP1, k=1)


def test_an_optimum_that_is_not_proven_agrees_with_nothing(monkeypatch):
    tried = []

    def unproven(instances, budgets, k, work):
        tried.append(len(instances))
        return [dict.fromkeys(budgets) for _ in instances]

    monkeypatch.setattr(judge_verdict, "_optima", unproven)
    one, judged = judged_case(source())
    drawn = drawn_losses(one.union, one.stored, one.store, judged["q"], {(8, "recency"): [0]}, draws=200)
    assert drawn[8, "recency"] == [None] * 200 and sum(tried) < 2 * 200  # the rest is not tried
    found = conclude(Losses(Fraction(1), Fraction(0), Fraction(0)), drawn[8, "recency"], source())
    assert (found.verdict, found.share, found.unproven, found.mean) == ("undecided", 0, 200, None)


def test_a_draw_beyond_its_work_is_left_and_the_diagnosis_says_why(monkeypatch):
    """Every optimum needs the curve, and none has the work for it: each budget is given up after some draws."""
    short = judge_verdict.solve_batch
    monkeypatch.setattr(
        judge_verdict, "solve_batch", lambda *given: [s._replace(status="limit") for s in short(*given)]
    )
    monkeypatch.setattr(judge_verdict, "DRAW_WORK", 1)
    tried = []
    monkeypatch.setattr(judge_verdict, "frontier", lambda *given: tried.append(given[-1]) or frontier(*given))
    made, found = rows(source(), cases=[judged_case(source())[0]], draws=200)
    assert set(tried) == {1} and len(tried) < 2 * 2 * 100
    hard = found[found["unproven_draws"] > 40]
    assert len(hard) and hard["verdict"].eq("undecided").all()
    told = diagnosis(made.losses, made.scores, Declared("words", labels="stated"), found).set_index("budget")
    budget = int(hard["budget"].iloc[0])
    assert f"{hard['unproven_draws'].iloc[0]} are too large to prove or not tried" in told.loc[budget, "verdict_text"]


def test_a_budget_that_cannot_be_decided_is_tried_no_more(monkeypatch):
    tried = []

    def half(instances, budgets, k, work):
        tried.append(list(budgets))
        return [{b: None if b == 8 else Fraction(1) for b in budgets} for _ in instances]

    monkeypatch.setattr(judge_verdict, "_optima", half)
    one, judged = judged_case(source())
    kept = {(4, "recency"): [0], (8, "recency"): [0]}
    drawn = drawn_losses(one.union, one.stored, one.store, judged["q"], kept, draws=200)
    assert drawn[8, "recency"] == [None] * 200 and None not in drawn[4, "recency"]
    assert tried[0] == [4, 8] and tried[-1] == [4] and sum(8 in budgets for budgets in tried) < 10


def test_the_curve_decides_where_the_short_search_does_not(monkeypatch):
    one, judged = judged_case()
    kept = {(b, "recency"): [] for b in (1, 4, 8)}
    searched = drawn_losses(one.union, one.stored, one.store, judged["q"], kept, draws=25)
    monkeypatch.setattr(judge_verdict, "quick_nodes", lambda candidates: 1)
    assert drawn_losses(one.union, one.stored, one.store, judged["q"], kept, draws=25) == searched


# ---- from texts to files

UNITS = (Unit("u0", 1.0, text="The user lives in Berlin."), Unit("u1", 1.0, text="Bought five lemon trees."))
PACKAGES = {i: build("talks", i, "d", None, [], UNITS, {}, []) for i in ("q", "r")}
MEMORIES = (memory("m1", "lives in Berlin, the user", 0), memory("m2", "Tomatoes.", 1))


def ingested(*memories, example="q"):
    store = Store("s", "mem0", example, memories)
    report = IngestReport("s", "mem0", "generic", example, len(memories), len(memories), 0, 0, {}, {}, (), {})
    return Ingest(store, report)


def test_a_store_is_judged_with_its_counts_and_read_back(tmp_path):
    salience = labels([("f", {"instance_id": "q", "scores": {"m1": 0.5, "m2": 0}})], "f")
    found = judged_stores([ingested(*MEMORIES)], PACKAGES, judge_named("proxy"), salience, name="s")
    assert found.labels == "proxy" and found.stores["q"].coverage == {("m1", ""): {"u0": 1.0}}
    assert [m.salience for m in found.stores["q"].store.memories] == [0.5, 0.0]
    notes = {(n["what"], n["name"]): n["count"] for n in found.notes}
    assert notes == {
        ("judge", "memories"): 2, ("judge", "memories that cover nothing"): 1, ("judge", "cells judged 1"): 1,
        ("package", "example without a store"): 1,
    }  # fmt: skip
    write_labelled(tmp_path, found)
    assert all((tmp_path / f"{name}.parquet").exists() for name in JUDGE_FILES)
    stores = read_labelled(tmp_path)
    judged = read_judged(tmp_path, stores)["q"]
    assert judged.coverage == found.judged["q"].coverage and judged.rows == found.judged["q"].rows
    own, again = judge_named("proxy"), judged.judge
    assert (again.name, again.kind) == ("proxy", "proxy")
    for key in ("kappa", "kappa_all_cells", "memories_per_example", "true_given_judged"):
        assert again.provenance[key] == own.provenance[key]


def test_an_empty_store_is_judged_too(tmp_path):
    found = judged_stores([ingested()], PACKAGES, judge_named("proxy"), name="s")
    write_labelled(tmp_path, found)
    assert read_judged(tmp_path, read_labelled(tmp_path))["q"].rows == {}


def test_an_export_whose_memories_all_lack_a_text_is_no_empty_store():
    empty = ingested()
    blank = replace(empty, report=replace(empty.report, read=3, kept=0, skipped={NO_TEXT: 3}))
    with pytest.raises(InputError, match="store s: its 3 memories have no text"):
        judged_stores([blank], PACKAGES, judge_named("proxy"), name="s")


def test_units_without_text_stop_only_stores_of_their_example():
    pointed = build("talks", "r", "d", None, [], (Unit("u0", 1.0),), {}, [])
    packages = PACKAGES | {"r": pointed}
    assert list(judged_stores([ingested(*MEMORIES)], packages, judge_named("proxy"), name="s").stores) == ["q"]
    with pytest.raises(InputError, match="store s, example r: 1 of 1 units have no text"):
        judged_stores([ingested(*MEMORIES, example="r")], packages, judge_named("proxy"), name="s")


def test_a_judges_rows_hold_all_that_a_verdict_needs():
    own = judge_named("proxy")
    table = to_table("store_judge", pd.DataFrame(judge_rows(own)).assign(store="s"))
    again = recorded(table.to_pylist())
    assert again.provenance["true_given_judged"] == own.provenance["true_given_judged"]
    low, high = own.provenance["kappa_interval"]
    assert (again.provenance["kappa_low"], again.provenance["kappa_high"]) == (low, high)
    assert set(TABLES["store_judge"].schema.names) == set(table.column_names)


def test_a_judge_of_another_name_is_refused():
    with pytest.raises(InputError, match="judge 'oracle': there is none of that name; known: proxy"):
        judge_named("oracle")
    assert len(judge_hash("proxy")) == 64


def test_the_parameters_go_wherever_the_library_is_installed():
    """They lie inside the package, and pyproject.toml takes them into a wheel."""
    root = Path(__file__).parents[2]
    inside = judge_io.SHIPPED.relative_to(root / "scripts" / "memaudit")
    patterns = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["memaudit"]
    assert any(fnmatch(inside.as_posix(), pattern) for pattern in patterns)
