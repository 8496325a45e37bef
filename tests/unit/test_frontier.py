"""The whole curve against exhaustive search and against branch and bound."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.objective import scale
from memaudit.solve.bnb import solve
from memaudit.solve.frontier import frontier
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
