"""The whole curve against exhaustive search and against branch and bound."""

import os
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_solver import make

from memaudit.batch import batch
from memaudit.errors import InputError
from memaudit.objective import CAP1, scale
from memaudit.pools import BUILT_IN as POOLS
from memaudit.solve import frontier as frontier_module
from memaudit.solve.bnb import solve, solve_batch
from memaudit.solve.choose import solve_all, solve_open
from memaudit.solve.frontier import LimitReached, frontier
from memaudit.synthetic import generate
from reference import brute_force
from strategies import packages, saturations


def assert_every_budget(package, curve, top, k=1, saturation=CAP1):
    """Value, cost and selection are those of exhaustive search at budgets 0..top; values rise with budgets."""
    assert (np.diff(curve.budgets) > 0).all() and (np.diff(curve.values) > 0).all()
    instance = scale(package, saturation)
    for budget in range(top + 1):
        optimum, cost, selection = brute_force(package, budget, k, saturation)
        value, spent = curve.at(budget)
        assert (Fraction(value, curve.scale), spent) == (optimum, cost)
        assert curve.selection(budget) == tuple(selection)
        assert instance.value_int(selection) == value


@settings(max_examples=200)
@given(st.data())
def test_every_budget_equals_brute_force(data):
    package = data.draw(packages(max_groups=4, max_per_group=3, max_units=4, max_cost=5))
    package = POOLS[data.draw(st.sampled_from(sorted(POOLS)))](package)
    saturation = data.draw(saturations())
    k = data.draw(st.integers(1, 3))
    top = data.draw(st.sampled_from((3, 8, package.total_cost + 1)))
    assert_every_budget(package, frontier(scale(package, saturation), top, k), top, k, saturation)


@st.composite
def overlapping(draw):
    """Packages of several components whose groups alternate in time, with many equal optima."""
    groups = draw(st.integers(3, 5))
    component = [draw(st.integers(0, 2)) for _ in range(groups)]
    costs, rows, numbers = [], [], []
    for g in range(groups):
        for _ in range(draw(st.integers(1, 2))):
            costs.append(draw(st.integers(1, 2)))
            row = [0.0] * (3 + groups)
            row[component[g]] = draw(st.sampled_from((0.0, 0.5, 1.0)))
            row[3 + g] = draw(st.sampled_from((0.0, 1.0)))
            rows.append(row)
            numbers.append(g)
    return make(costs, rows, [1.0] * 3 + [0.5] * groups, groups=numbers)


@settings(max_examples=100)
@given(overlapping(), st.sampled_from((1, 2, 3, 16)))
def test_ties_follow_the_protocol_where_components_overlap(package, block):
    with patch.object(frontier_module, "MIN_BLOCK", block):
        curve = frontier(scale(package), package.total_cost)
    assert_every_budget(package, curve, package.total_cost)


@settings(max_examples=60)
@given(overlapping(), st.sampled_from((1, 2, 16)), st.sampled_from((1, 10**4, 10**9)))
def test_lists_and_arrays_of_budgets_agree(package, block, factor):
    """Costs far apart make lists of breakpoints of what small costs make an array of budgets."""
    with patch.object(frontier_module, "MIN_BLOCK", block):
        small = frontier(scale(package), 10**3)
        large = frontier(scale(package.with_costs(package.visible.cost * factor)), 10**3 * factor)
    assert (small.budgets * factor).tolist() == large.budgets.tolist()
    assert small.values.tolist() == large.values.tolist()
    for budget in small.budgets.tolist():
        assert small.selection(budget) == large.selection(budget * factor)


def mixed(components, seed, factor=1):
    """A package of `components` pairs of groups that share a unit and alternate in time, arrays of budgets in it."""
    rng = np.random.default_rng(seed)
    costs, rows, groups = [], [], []
    for g in range(2 * components):
        for _ in range(2):
            row = [0.0] * (3 * components)
            row[g % components] = float(rng.integers(0, 5)) / 4
            row[components + g] = float(rng.integers(0, 5)) / 4
            costs.append(int(rng.integers(1, 9)) * factor)
            rows.append(row)
            groups.append(g)
    return make(costs, rows, rng.integers(1, 4, 3 * components).astype(float).tolist(), groups)


@pytest.mark.parametrize("seed", range(3))
def test_kept_curves_and_recomputed_ones_lead_to_the_same_selection(seed):
    """Many components: blocks of several, arrays and lists, against branch and bound with the optimum given."""
    package = mixed(20, seed)
    instance, wide = scale(package), scale(package.with_costs(package.visible.cost * 10**6))
    curves = []
    for block in (1, 3, 64):
        with patch.object(frontier_module, "MIN_BLOCK", block):
            curves += [(frontier(instance, 200), 1), (frontier(wide, 200 * 10**6), 10**6)]
    for budget in range(0, 200, 13):
        chosen = {curve.selection(budget * factor) for curve, factor in curves}
        value, cost = curves[0][0].at(budget)
        first = solve_batch(batch([instance]), cost, 1, 10_000, [(value, cost)])[0]
        assert len(chosen) == 1
        assert instance.value_int(*chosen) == value and instance.cost[list(*chosen)].sum() == cost
        assert first.status == "limit" or {first.selection} == chosen


def test_the_order_of_passing_labels_makes_trees_easy():
    """A tree of shared units in any order of groups: in the given order, dozens of units would be open at once."""
    rng = np.random.default_rng(5)
    groups = 60
    rows = np.zeros((groups, groups + groups))
    place = rng.permutation(groups)
    for g in range(1, groups):
        rows[place[g], g] = rows[place[rng.integers(0, g)], g] = 0.75
    rows[np.arange(groups), groups + np.arange(groups)] = 1.0
    weights = rng.integers(1, 5, 2 * groups).astype(float).tolist()
    instance = scale(make(rng.integers(2, 9, groups).tolist(), rows.tolist(), weights))
    curve = frontier(instance, 100, work_limit=10**6)
    for budget in (10, 30, 100):
        value, cost = curve.at(budget)
        chosen = list(curve.selection(budget))
        assert (instance.value_int(chosen), instance.cost[chosen].sum()) == (value, cost)
    assert curve.at(30)[0] == solve(instance, 30).value_int


@settings(max_examples=60)
@given(packages(max_groups=4), st.integers(0, 12), st.integers(0, 40), st.integers(1, 2))
def test_a_curve_is_proven_or_its_limit_brackets_the_optimum(package, budget, work, k):
    instance = scale(package)
    optimum = brute_force(package, budget, k)[0] * instance.scale
    try:
        assert frontier(instance, budget, k, work).at(budget)[0] == optimum
    except LimitReached as limit:
        assert limit.limited.value_int <= optimum <= limit.limited.bound_int
        assert instance.value_int(limit.limited.selection) == limit.limited.value_int


def test_too_much_memory_is_refused(monkeypatch):
    instance = scale(mixed(20, 0))
    monkeypatch.setattr(frontier_module, "MEMORY_LIMIT", 5000)
    with pytest.raises(LimitReached, match="5000 bytes"):
        frontier(instance, 200)


@pytest.mark.parametrize("big", [2.0**53, 2.0**53 - 1, 2.0**60])
def test_totals_near_the_ends_of_integers_are_exact(big):
    package = make([10**6, 10**9, 3], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [big, big, 1.0])
    big = int(Decimal(repr(big)))  # what a weight prints as is what it is
    curve = frontier(scale(package), 10**12)
    assert curve.values.tolist() == [0, 1, big, big + 1, 2 * big, 2 * big + 1]
    assert curve.budgets.tolist() == [0, 3, 10**6, 10**6 + 3, 10**6 + 10**9, 10**6 + 10**9 + 3]
    assert curve.selection(10**12) == (0, 1, 2)


def test_thousands_of_equal_groups_take_the_first():
    curve = frontier(
        scale(make([1] * 3000, [[1.0 if i == j else 0.0 for j in range(2)] for i in range(3000)], [1, 1])), 9
    )
    assert curve.selection(9) == (0, 1)
    groups = 1500  # pairs (i, i + 750) share a unit, so that all components overlap
    rows = [[0.0] * 750 for _ in range(groups)]
    for i in range(groups):
        rows[i][i % 750] = 1.0
    curve = frontier(scale(make([1] * groups, rows, [1.0] * 750)), groups)
    assert curve.selection(700) == tuple(range(700))


def test_all_zero_weights_and_no_budget():
    curve = frontier(scale(make([1, 1], [[1.0], [0.5]], [0.0])), 2)
    assert curve.at(2) == (0, 0) and curve.selection(2) == ()
    curve = frontier(scale(make([1, 1], [[1.0], [0.5]], [1.0])), 0)
    assert curve.at(0) == (0, 0) and curve.selection(0) == ()


def test_compiled_and_interpreted_kernels_agree():
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from test_frontier import mixed\n"
        "from memaudit.objective import scale\n"
        "from memaudit.solve.frontier import frontier\n"
        "curve = frontier(scale(mixed(6, 1)), 60)\n"
        "print(curve.budgets.tolist(), curve.values.tolist(), [curve.selection(b) for b in range(61)], curve.work)"
    )
    here = Path(__file__).parent
    folders = [str(p) for p in (here, here.parent, here.parents[1] / "scripts")]
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code, *folders],
            env={**os.environ, "NUMBA_DISABLE_JIT": off}, capture_output=True, text=True, check=True,
        ).stdout
        for off in ("0", "1")
    ]  # fmt: skip
    assert outputs[0] == outputs[1] != ""


@settings(max_examples=100)
@given(st.data())
def test_the_chooser_reports_what_branch_and_bound_does(data):
    package = data.draw(packages(max_groups=5, max_per_group=3, max_units=4, max_cost=3))
    instance = scale(package)
    budget, k = data.draw(st.integers(0, 8)), data.draw(st.integers(1, 2))
    expected = solve(instance, budget, k)
    by_curve = solve_open(instance, solve(instance, budget, k, node_limit=1), budget, k, 10**9, 10**9)
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
    limited = solve_all([instance], 20, 1, node_limit=10, work_limit=1000)[0]
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
