"""Scores against a naive evaluation in fractions, on random packages and by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.analysis.scores import Scorer, score_rows
from memaudit.errors import InputError
from memaudit.objective import CAP1, LINEAR, scale
from memaudit.package import Candidate, Query, Unit, build
from memaudit.table_io import to_table
from reference import fraction, value
from strategies import packages, saturations

LABELS = {
    "writer": "w", "pool": "full", "cost_model": "declared", "k": 1, "saturation": "cap1",
    "budget_spec": "0.1", "budget": 100,
}  # fmt: skip


def example(candidates=None, coverage=None, queries=None, package_id="p"):
    """Four groups: fact a (old), tombstone t, compound update u, summary b (the last two at one time)."""
    candidates = candidates or [
        Candidate("a", "g0", "atomic_fact", 2, 0),
        Candidate("t", "g1", "tombstone", 1, 1),
        Candidate("u", "g2", "compound_update", 3, 2),
        Candidate("b", "g3", "summary", 2, 2),
    ]
    units = [
        Unit("cur", 2.0, "current"), Unit("inv", 3.0, "invalidation"), Unit("old", 0.5, "stale"),
        Unit("x", 0.0, ""),
    ]  # fmt: skip
    coverage = coverage or {
        ("a", "old"): 1.0, ("a", "cur"): 0.35, ("t", "inv"): 1.0, ("u", "cur"): 0.65, ("u", "inv"): 0.5,
        ("b", "x"): 0.25,
    }  # fmt: skip
    queries = queries or [
        Query("q0", ("cur",)),
        Query("q1", ("cur", "inv")),
        Query("q2", ("x",)),
        Query("q3", ()),
    ]
    return build("s", package_id, "d", 0, candidates, units, coverage, queries)


def positions(package, *ids):
    return [package.visible.candidate_ids.index(i) for i in ids]


def scored(package, selection, saturation=CAP1, opt=None, status="optimal", **labels):
    instance = scale(package, saturation)
    opt = 2**40 if opt is None else opt
    optimum = {package.package_id: (opt, instance.scale, status)}
    return score_rows([package], [instance], [selection], **(LABELS | labels), opt=optimum)


def only(columns):
    return {name: values[0] for name, values in columns.items()}


# ---- By hand


def test_every_column_by_hand():
    package = example()
    instance = scale(package)
    # a, t, u, b cost 8: value 2*(.35+.65) + 3*min(1, 1.5) + .5*1 = 5.5
    columns, memories = scored(package, positions(package, "a", "t", "u", "b"), opt=11 * instance.scale)
    assert only(to_table("scores", columns).to_pydict()) == {
        "suite": "s", "package_id": "p", "distribution": "d", "cost_model": "declared", "pool": "full",
        "k": 1, "saturation": "cap1", "budget_spec": "0.1", "budget": 100, "writer": "w",
        "value_int": int(5.5 * instance.scale), "scale": instance.scale, "value": 5.5,
        "opt_status": "optimal", "opt_int": 11 * instance.scale, "opt": 11.0, "ratio": 0.5, "cost": 8,
        "n_selected": 4, "n_validity_selected": 2, "current_covered": 1.0, "invalidation_covered": 1.0,
        "stale_covered": 1.0, "current_mass": 1.0, "invalidation_mass": 1.0, "stale_mass": 1.0,
        # a and u, of two groups, cover cur in full; t covers inv in full.
        "coverable_mass": 2.0,
        # The three most recent: b and u of time 2, t of time 1; a is not retrieved.
        "retrieved_fixed": 1.65,
        # q3 requires nothing and is not counted; x is covered by .25 only.
        "queries": 3, "queries_covered": 2,
    }  # fmt: skip
    table = to_table("selections", memories).to_pydict()
    assert table["candidate_id"] == ["a", "b", "t", "u"]
    assert table["representation_type"] == ["atomic_fact", "summary", "tombstone", "compound_update"]
    assert table["writer"] == ["w"] * 4 and table["budget"] == [100] * 4


def test_no_more_is_coverable_than_k_of_a_group_cover():
    same = [Candidate(i, "g", "summary", 1, 0) for i in "abc"] + [Candidate("d", "h", "summary", 1, 1)]
    coverage = {("a", "cur"): 0.5, ("b", "cur"): 0.3, ("c", "cur"): 0.1, ("d", "cur"): 0.05, ("c", "inv"): 1.0}
    package = example(same, coverage, [Query("q", ("cur",))])
    masses = [only(scored(package, [], k=k)[0])["coverable_mass"] for k in (1, 2, 3)]
    assert masses == [1.55, 1.85, 1.95]  # inv in full, and of cur .55, .85, .95


def test_thirty_five_and_sixty_five_hundredths_cover_a_unit():
    package = example(coverage={("a", "cur"): 0.35, ("t", "cur"): 0.33, ("u", "cur"): 0.32})
    columns = only(scored(package, positions(package, "a", "t", "u"))[0])
    assert 0.35 + 0.33 + 0.32 == 1.0 and columns["queries_covered"] == 1
    almost = example(coverage={("a", "cur"): 0.35, ("t", "cur"): 0.33, ("u", "cur"): 0.319999})
    columns = only(scored(almost, positions(almost, "a", "t", "u"))[0])
    assert columns["queries_covered"] == 0 and columns["current_covered"] == 0.999999


def test_retrieval_takes_later_then_cheaper_then_smaller_id():
    same_time = [Candidate(i, f"g{i}", "atomic_fact", cost, time) for i, cost, time in
                 (("c9", 2, 5), ("c10", 2, 5), ("c1", 1, 5), ("c2", 2, 5), ("c3", 1, 4))]  # fmt: skip
    coverage = {
        ("c9", "cur"): 0.01,
        ("c10", "cur"): 0.02,
        ("c1", "cur"): 0.04,
        ("c2", "cur"): 0.08,
        ("c3", "cur"): 0.16,
    }
    package = example(same_time, coverage)
    # c1 is cheapest; of cost 2, "c10" < "c2" < "c9"; c3 is older.
    assert only(scored(package, list(range(5)))[0])["retrieved_fixed"] == 0.14
    assert only(scored(package, positions(package, "c3", "c9"))[0])["retrieved_fixed"] == 0.17


def test_uncapped_saturation_changes_the_value_and_not_the_masses():
    package = example(coverage={("t", "inv"): 1.0, ("u", "inv"): 0.5})
    chosen = positions(package, "t", "u")
    capped, uncapped = (only(scored(package, chosen, s)[0]) for s in (CAP1, LINEAR))
    assert (capped["value"], uncapped["value"]) == (3.0, 4.5)
    assert capped["invalidation_covered"] == uncapped["invalidation_covered"] == 1.0


def test_empty_selections_and_no_packages():
    columns, memories = scored(example(), [])
    row = only(columns)
    assert (row["value"], row["cost"], row["n_selected"], row["retrieved_fixed"], row["ratio"]) == (
        0,
        0,
        0,
        0,
        0,
    )
    assert memories["candidate_id"] == []
    scores, memories = Scorer([], []).rows([], **LABELS, opt={})
    assert len(to_table("scores", scores)) == len(to_table("selections", memories)) == 0


# ---- Ratio rules


def test_ratio_where_the_optimum_is_zero():
    package = example()
    assert only(scored(package, [], opt=0)[0])["ratio"] == 1.0
    with pytest.raises(InputError, match=r"package p of suite s: writer w .* above the optimum 0"):
        scored(package, positions(package, "a"), opt=0)


def test_a_value_above_a_proven_optimum_is_refused_and_an_unproven_one_has_no_ratio():
    package = example()
    chosen = positions(package, "t")
    worth = only(scored(package, chosen)[0])["value_int"]
    assert only(scored(package, chosen, opt=worth, status="cross_checked")[0])["ratio"] == 1.0
    with pytest.raises(InputError, match="package p of suite s"):
        scored(package, chosen, opt=worth - 1, status="cross_checked")
    row = only(scored(package, chosen, opt=worth - 1, status="limit")[0])
    assert row["ratio"] is None and row["opt_int"] == worth - 1
    assert to_table("scores", scored(package, chosen, opt=worth, status="limit")[0])["ratio"].null_count == 1


def test_bad_input_names_the_package():
    package, other = example(), example(package_id="other")
    instance = scale(package)
    opt = {"p": (100 * instance.scale, instance.scale, "optimal")}

    def rows(selection, opt=opt, **labels):
        return score_rows([package], [instance], [selection], **(LABELS | labels), opt=opt)

    recosted = scale(package.with_costs([9, 9, 9, 9]))
    for message, call in (
        ("repeats a position", lambda: rows([1, 1])),
        (r"selected position 4 of 4", lambda: rows([4])),
        (r"selected position -1 of 4", lambda: rows([-1])),
        ("costs 8, above the budget 7", lambda: rows([0, 1, 2, 3], budget=7)),
        ("no optimum was given", lambda: rows([], opt={})),
        ("belongs to another problem", lambda: rows([], opt={"p": (1, instance.scale + 1, "optimal")})),
        ("status 'done'", lambda: rows([], opt={"p": (1, instance.scale, "done")})),
        ("another package or other costs", lambda: Scorer([package], [recosted])),
        ("role 'odd'", lambda: Scorer([replace(package, units=(Unit("cur", 1.0, "odd"),))], [instance])),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message) as caught:
            call()
        assert "package p of suite s" in str(caught.value)
    with pytest.raises(InputError, match="1 instances for 2 packages"):
        Scorer([package, other], [instance])
    with pytest.raises(InputError, match="0 selections for 1 packages"):
        score_rows([package], [instance], [], **LABELS, opt=opt)


# ---- Against a naive evaluation


def naive(package, selection, saturation):
    """Every metric from the protocol's words, in fractions."""

    def covered(chosen, unit_id):
        return sum((fraction(package.coverage_row(i).get(unit_id, 0.0)) for i in chosen), Fraction(0))

    def mass(chosen, *roles):
        return sum(
            (min(Fraction(1), covered(chosen, u.unit_id)) for u in package.units if u.role in roles),
            Fraction(0),
        )

    def reachable():
        start = package.visible.group_start.tolist()
        groups = [range(a, b) for a, b in pairwise(start)]
        units = [u.unit_id for u in package.units if u.role in ("current", "invalidation")]
        best = [sum(max(covered([i], u) for i in g) for g in groups if len(g)) for u in units]
        return sum((min(Fraction(1), b) for b in best), Fraction(0))

    v = package.visible
    recent = sorted(selection, key=lambda i: (-v.time_index[i], v.cost[i], v.candidate_ids[i]))[:3]
    asked = [q for q in package.queries if q.required]
    return {
        "value": float(value(package, selection, saturation)),
        "cost": sum(int(v.cost[i]) for i in selection),
        "n_selected": len(selection),
        "n_validity_selected": sum(v.representation_type[i] in ("tombstone", "compound_update") for i in selection),
        **{f"{role}_covered": float(mass(selection, role)) for role in ("current", "invalidation", "stale")},
        **{f"{role}_mass": sum(u.role == role for u in package.units) for role in ("current", "invalidation", "stale")},
        "coverable_mass": float(reachable()),
        "retrieved_fixed": float(mass(recent, "current", "invalidation")),
        "queries": len(asked),
        "queries_covered": sum(all(covered(selection, u) >= 1 for u in q.required) for q in asked),
    }


@given(st.data(), saturations())
def test_scores_are_those_of_a_naive_evaluation(data, saturation):
    many = [
        replace(p, package_id=f"p{i}") for i, p in enumerate(data.draw(st.lists(packages(), min_size=1, max_size=3)))
    ]
    instances = [scale(p, saturation) for p in many]
    chosen = [data.draw(st.lists(st.sampled_from(range(len(p))), unique=True)) if len(p) else [] for p in many]
    opt = {p.package_id: (2**50, i.scale, "optimal") for p, i in zip(many, instances, strict=True)}
    columns, memories = score_rows(many, instances, chosen, **LABELS, opt=opt)
    to_table("scores", columns)
    to_table("selections", memories)
    for row, (package, instance, selection) in enumerate(zip(many, instances, chosen, strict=True)):
        expected = naive(package, selection, saturation)
        assert {name: columns[name][row] for name in expected} == expected
        assert columns["value_int"][row] == instance.value_int(selection)
        assert columns["ratio"][row] == columns["value_int"][row] / 2**50
