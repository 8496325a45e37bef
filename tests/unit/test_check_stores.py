"""The second computation of exported stores: pruning, losses and lost units against the pipeline's, on any store."""

from fractions import Fraction

import pyarrow as pa
import pytest
from check_cases import tables_of
from hypothesis import given, settings
from hypothesis import strategies as st
from store_cases import PACKAGE, STORE, score, solved, words
from test_store_union import stores

from memaudit.check.compare import row_faults
from memaudit.check.exported import EXACT, MemoryRow, candidate_rows, prune, usable_rules
from memaudit.check.ledger import Example, Found, Ledger, Optima, UnitRow, score_row
from memaudit.check.model import curve
from memaudit.check.plan import StorePlan
from memaudit.check.rows import build_problem, read_rows
from memaudit.check.scored import Measured
from memaudit.check.store_means import advice_faults, diagnosis_rows, summary_rows
from memaudit.check.worth import Meter
from memaudit.errors import InputError
from memaudit.objective import scale
from memaudit.package import TextSize, build
from memaudit.schemas import TABLES
from memaudit.stores.model import Memory, Store
from memaudit.stores.pruning import RULES
from memaudit.stores.union import Labelled, store_package, union
from memaudit.table_io import to_table
from strategies import packages

CONSTANTS = {"suite": "talks", "store": "s", "cost_model": "words", "k": 1, "saturation": "cap1"}
PLAN = StorePlan("s", "talks", {"words": "words"}, "", None, False, "labels", False, (1000, 0), ())


SIZES = ("n_words", "n_chars", "n_bytes")


def rows_of(store):
    fields = [f for f in MemoryRow.__dataclass_fields__ if f not in ("store", "group_id", "time_index", *SIZES)]
    return [
        MemoryRow(
            store=store.store.name, group_id=m.group, time_index=i, **{f: getattr(m, f) for f in fields},
            **dict(zip(SIZES, m.size or (None, None, None), strict=True)),
        )
        for i, m in enumerate(store.store.memories)
    ]  # fmt: skip


def example_of(package, store):
    both = union(package, [store], words)
    rows = read_rows(tables_of([both]), [both.package_id])[both.package_id]
    problem = build_problem(rows, pool={"include": None}, saturation=curve("cap1", "cap1"), k=1, cost_model="declared")
    types = {c.candidate_id: c.representation_type for c in rows.candidates}
    measured = Measured(Meter(rows, problem, {}), problem.position, types, both.distribution)
    units = {u.unit_id: UnitRow(u.role, u.kind, u.text) for u in both.units}
    texts = {c.candidate_id: c.text for c in rows.candidates}
    return Example(both.package_id, measured, problem, rows_of(store), units, rows.unit_ids, texts)


def found(optima, kept, package_id):
    value, scaled, status = optima[package_id]
    return Found(Fraction(value, scaled), status, scaled, tuple(kept.get(package_id, ())))


def optima_of(package, store, budget):
    at, i = solved(package, store, budget), package.package_id
    return Optima(found(at.package, {}, i), found(at.union, at.union_kept, i), None, found(at.store, at.store_kept, i))


@settings(max_examples=80, deadline=None)
@given(st.data(), st.sampled_from([rule for rule in RULES if rule != EXACT]))
def test_rules_keep_what_the_pipeline_s_do(data, rule):
    package = data.draw(packages(max_groups=2, max_per_group=2, max_units=3))
    store, budget = data.draw(stores(package)), data.draw(st.integers(1, 12))
    if rule not in usable_rules([rows_of(store)], None):
        return
    stored, example = store_package(package, store, words), example_of(package, store)
    ids = stored.package.visible.candidate_ids
    expected = {ids[i] for i in RULES[rule](stored, scale(stored.package), budget)}
    kept = prune(rule, rows_of(store), example.problem, budget)
    assert {example.problem.candidate_ids[i] for i in kept} == expected


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_rows_are_the_pipeline_s(data):
    package = data.draw(packages(max_groups=2, max_per_group=2, max_units=3))
    store, budget = data.draw(stores(package)), data.draw(st.integers(1, 12))
    rules = ["full_store", "recency", "upper_exact"]
    made, example = score(package, store, [budget], rules), example_of(package, store)
    constants = CONSTANTS | {"suite": "talks", "budget": budget, "budget_spec": str(budget)}
    optima = optima_of(package, store, budget)
    ledger, again = Ledger(example, optima, budget), {"scores": [], "losses": [], "lost": []}
    for rule in rules:
        chosen = (
            prune(rule, rows_of(store), example.problem, budget)
            if rule != EXACT
            else tuple(sorted(example.problem.position[c] for c in optima.store.kept))
        )
        again["scores"].append(constants | score_row(example, optima, "", rule, "optimal", chosen))
        again["losses"].append(constants | ledger.loss_row(rule, chosen))
        again["lost"] += [constants | row for row in ledger.lost_rows(rule, chosen)]
    for kind, name in (("scores", "store_scores"), ("losses", "store_losses"), ("lost", "store_lost_units")):
        frame = getattr(made, kind)
        stored = to_table(name, frame[frame["view"] == ""] if "view" in frame else frame)
        assert list(row_faults(stored, again[kind], TABLES[name].key)) == []


def scored(budget):
    """Rows of scores and losses of the invented store by recency, as the second computation has them."""
    example, optima = example_of(PACKAGE, STORE), optima_of(PACKAGE, STORE, budget)
    at = CONSTANTS | {"budget": budget, "budget_spec": str(budget)}
    chosen = prune("recency", rows_of(STORE), example.problem, budget)
    return (
        at | score_row(example, optima, "", "recency", "optimal", chosen),
        at | Ledger(example, optima, budget).loss_row("recency", chosen),
    )


def test_a_text_that_stands_elsewhere_counts_by_its_size():
    part = Memory("m", "content: [9 words that stand elsewhere]", 0, "m", size=TextSize(10, 60, 61))
    store = Labelled(Store("s", "amem", None, (part,)))
    (row,) = candidate_rows(rows_of(store), 0, "words")
    made = store_package(build("talks", "q", "base", None, [], [], {}, []), store, words).package.visible
    assert (row["cost"], row["text"]) == (10, None) == (made.cost[0], made.text[0])
    assert tuple(row[name] for name in SIZES) == made.size[0]


def test_means_of_one_example_are_its_numbers():
    rows = [scored(8), scored(4)]
    (first, _) = summary_rows([s for s, _ in rows], PLAN, 3)
    assert (first["union_ratio"], first["union_ratio_low"], first["n"], first["without_n"]) == (0.4, 0.4, 1, 3)
    told = diagnosis_rows([s for s, _ in rows], [loss for _, loss in rows], PLAN)
    assert [(r["budget"], r["verdict"], r["mean_missing"]) for r in told] == [(8, "missing", 1.5), (4, "selection", 0)]


@pytest.mark.parametrize(
    ("advice", "faults"),
    [
        ("Worth 1.500 less than 2.500 within 8 (60 %), 0.500 of it in units that say so.", 0),
        ("Worth 1.501 less than 2.500 within 8 (60 %), 0.500 of it in units that say so.", 1),
        ("Worth 1.500 less than 2.500 within 8 (60 %).", 1),
        ("Worth 1.500 less than 2.500 within 9 (60 %), 0.500 of it in units that say so.", 1),
        ("Nothing is missing.", 1),
    ],
)
def test_numbers_of_advice_are_those_of_the_row(advice, faults):
    score_, loss = scored(8)
    again = diagnosis_rows([score_], [loss], PLAN)
    none = {f"{name}_advice": "Nothing is lost within 8." for name in ("missing", "size", "selection")}
    assert len(list(advice_faults([again[0] | none | {"missing_advice": advice}], again))) == faults


def test_rows_are_compared_one_by_one():
    table = pa.table({"id": ["a", "b", "b", "d"], "x": [1.0, 2.0, 2.0, None]})
    again = [{"id": "a", "x": 1.0 + 1e-13}, {"id": "c", "x": 0.0}, {"id": "d", "x": 3.0}]
    told = list(row_faults(table, again, ["id"]))
    assert [line.split(":")[0] for line in told] == ["row id b", "row id a", "row id c", "row id d", "row id b"]
    assert "x is 1.0" not in "".join(row_faults(table, again, ["id"], {"x"}))


def test_an_unknown_rule_is_an_error():
    with pytest.raises(InputError, match="'luck' is no pruning rule"):
        prune("luck", rows_of(STORE), example_of(PACKAGE, STORE).problem, 3)
