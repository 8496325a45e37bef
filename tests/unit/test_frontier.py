"""The whole curve against exhaustive search and against branch and bound."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_solver import make

from memaudit.errors import InputError
from memaudit.objective import scale
from memaudit.solve.bnb import solve
from memaudit.solve.choose import _solve_hard as solve_by_curve
from memaudit.solve.choose import solve_all
from memaudit.solve.frontier import LimitReached, frontier
from memaudit.synthetic import generate
from reference import brute_force
from strategies import packages, saturations


@settings(max_examples=200)
@given(st.data())
def test_every_budget_equals_brute_force(data):
    package = data.draw(packages(max_groups=4, max_per_group=3, max_units=4, max_cost=5))
    saturation = data.draw(saturations())
    k = data.draw(st.integers(1, 2))
    top = data.draw(st.integers(0, 12))
    curve = frontier(scale(package, saturation), top, k)
    assert (np.diff(curve.budgets) > 0).all() and (np.diff(curve.values) > 0).all()
    for budget in range(top + 1):
        optimum, cost, _ = brute_force(package, budget, k, saturation)
        value, spent = curve.at(budget)
        chosen = curve.selection(budget)
        assert (Fraction(value, curve.scale), spent) == (optimum, cost)
        assert package.visible.cost[list(chosen)].sum() == cost
        assert scale(package, saturation).value_int(chosen) == value
        groups = package.visible.group_of[list(chosen)].tolist()
        assert max(map(groups.count, groups), default=0) <= k


@settings(max_examples=150)
@given(st.data())
def test_the_choice_is_the_protocols_where_components_do_not_interleave(data):
    package = data.draw(packages(max_groups=4, max_per_group=3, max_units=2, max_cost=3))
    instance = scale(package)
    budget = data.draw(st.integers(0, 8))
    curve = frontier(instance, budget)
    assert curve.interleaved or curve.selection(budget) == solve(instance, budget).selection


@settings(max_examples=100)
@given(st.data())
def test_the_chooser_reports_what_branch_and_bound_does(data):
    package = data.draw(packages(max_groups=5, max_per_group=3, max_units=4, max_cost=3))
    instance = scale(package)
    budget, k = data.draw(st.integers(0, 8)), data.draw(st.integers(1, 2))
    expected = solve(instance, budget, k)
    by_curve = solve_by_curve(instance, solve(instance, budget, k, node_limit=1), budget, k, 10_000, 10**9)
    assert (by_curve.value_int, by_curve.cost, by_curve.selection) == (
        expected.value_int,
        expected.cost,
        expected.selection,
    )


def test_a_limit_is_said_and_brackets_the_optimum():
    rng = np.random.default_rng(3)
    rows = (rng.integers(0, 4, (60, 20)) * (rng.random((60, 20)) < 0.25) / 4).tolist()
    instance = scale(make(rng.integers(2, 9, 60).tolist(), rows, [1.0] * 20))
    with pytest.raises(LimitReached):
        frontier(instance, 20, work_limit=1000)
    limited = solve_all([instance], 20, 1, node_limit=1000, work_limit=1000)[0]
    assert limited.status == "limit" and limited.value_int < limited.bound_int
    assert instance.value_int(limited.selection) == limited.value_int


def test_a_large_package_is_proven_by_its_curve():
    package = generate("test", "base", 0, normal_count=300, update_count=150)
    instance = scale(package)
    budget = package.total_cost // 10
    found = solve_all([instance], budget, 1, node_limit=100_000)[0]
    assert found.status == "optimal" and instance.value_int(found.selection) == found.value_int
    assert found.cost == package.visible.cost[list(found.selection)].sum() <= budget


def test_edges_of_a_curve():
    empty = frontier(scale(make([], [], [1.0])), 5)
    assert empty.at(5) == (0, 0) and empty.selection(3) == ()
    curve = frontier(scale(make([1] * 2000, [[1.0]] * 2000, [1.0], groups=[0] * 2000)), 10**6)
    assert curve.selection(10**6) == (0,) and curve.at(0) == (0, 0)
    with pytest.raises(InputError, match="outside"):
        curve.at(10**6 + 1)
    with pytest.raises(InputError):
        frontier(scale(make([1], [[1.0]], [1.0])), 1, k=0)
