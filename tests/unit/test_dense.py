"""The Lagrangian search against exhaustive search, its bounds under any limit, and the dense family."""

import importlib.util
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import OptimizeResult
from test_solver import make

from memaudit.batch import batch
from memaudit.errors import InputError
from memaudit.objective import scale
from memaudit.solve import coupled as coupled_module
from memaudit.solve.bnb import better, solve, solve_batch
from memaudit.solve.choose import solve_all
from memaudit.solve.coupled import coupled, worth
from memaudit.solve.dense import _linear_duals, solve_dense
from memaudit.solve.frontier import LimitReached, frontier
from memaudit.solve.local import improve, key_of, start_walk, walk
from memaudit.solve.reduce import options_of
from reference import brute_force
from strategies import budgets, packages, saturations

FAMILIES = Path(__file__).parents[2] / "tools" / "scale" / "families.py"


def dense(groups, seed):
    """tools/scale/families.py is a script's module, not one of the library."""
    spec = importlib.util.spec_from_file_location("families", FAMILIES)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.dense(groups, seed)


@settings(max_examples=300)
@given(st.data())
def test_optimum_cost_and_choice_equal_brute_force(data):
    package = data.draw(packages(max_groups=5, max_per_group=3, max_units=4, max_cost=4))
    saturation = data.draw(saturations())
    budget = data.draw(budgets(package))
    k = data.draw(st.integers(1, 2))
    found = solve_dense(scale(package, saturation), budget, k)
    optimum, cost, selection = brute_force(package, budget, k, saturation)
    assert found.status == "optimal" and found.canonical and found.bound_int == found.value_int
    assert Fraction(found.value_int, found.scale) == optimum
    assert (found.cost, list(found.selection)) == (cost, selection)


@settings(max_examples=200)
@given(st.data())
def test_any_limit_brackets_the_optimum(data):
    package = data.draw(packages(max_groups=5, max_per_group=3, max_units=5))
    saturation = data.draw(saturations())
    budget = data.draw(budgets(package))
    instance = scale(package, saturation)
    found = solve_dense(instance, budget, cell_limit=data.draw(st.integers(0, 300)))
    optimum, _, _ = brute_force(package, budget, 1, saturation)
    assert found.value_int <= optimum * found.scale <= found.bound_int
    assert instance.value_int(found.selection) == found.value_int
    assert found.cost == package.visible.cost[list(found.selection)].sum() <= budget
    groups = package.visible.group_of[list(found.selection)].tolist()
    assert len(set(groups)) == len(groups)
    assert (found.status == "optimal") == (found.value_int == found.bound_int)


@pytest.mark.parametrize("levels", [1, 2, 5])
@settings(max_examples=60)
@given(st.data())
def test_a_coarse_grid_of_coverage_levels_stays_exact(levels, data):
    package = data.draw(packages(max_groups=4, max_per_group=3, max_units=4, max_cost=4))
    budget = data.draw(st.integers(0, 12))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coupled_module, "MAX_LEVELS", levels)
        found = solve_dense(scale(package), budget)
    optimum, cost, selection = brute_force(package, budget)
    assert (Fraction(found.value_int, found.scale), found.cost, list(found.selection)) == (optimum, cost, selection)


@settings(max_examples=60)
@given(st.data())
def test_values_too_large_for_the_tables_are_rounded_up_and_stay_exact(data):
    """Weights near 2^44 leave the 32-bit tables a coarser unit than one."""
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    groups = [g for g, size in enumerate(sizes) for _ in range(size)]
    draw = st.sampled_from((0.0, 0.25, 0.5, 1.0))
    rows = [[data.draw(draw) for _ in range(3)] for _ in groups]
    weights = [float(2**44 + data.draw(st.integers(0, 3))) for _ in range(3)]
    costs = [data.draw(st.integers(1, 4)) for _ in groups]
    package = make(costs, rows, weights, groups)
    budget = data.draw(st.integers(0, 8))
    found = solve_dense(scale(package), budget)
    optimum, cost, selection = brute_force(package, budget)
    assert found.status == "optimal"
    assert (Fraction(found.value_int, found.scale), found.cost, list(found.selection)) == (optimum, cost, selection)


@pytest.mark.parametrize(("groups", "seed", "share"), [(12, 0, 0.1), (12, 1, 0.1), (14, 2, 0.05), (10, 3, 0.2)])
def test_dense_packages_equal_branch_and_bound(groups, seed, share):
    package = dense(groups, seed)
    instance, budget = scale(package), round(share * package.total_cost)
    found, expected = solve_dense(instance, budget), solve(instance, budget)
    assert expected.status == found.status == "optimal"
    assert (found.value_int, found.cost, found.selection) == (expected.value_int, expected.cost, expected.selection)


def test_a_limit_is_at_least_as_good_as_the_linear_relaxation_and_says_so():
    package = dense(40, 1)
    instance, budget = scale(package), round(0.1 * package.total_cost)
    found = solve_dense(instance, budget, cell_limit=0)
    assert found.status == "limit" and not found.canonical and found.nodes == 1
    assert found.value_int < found.bound_int <= linear_relaxation(instance, budget)
    assert instance.value_int(found.selection) == found.value_int


def test_a_curve_that_stops_by_its_limit_has_a_bound_as_good_as_the_linear_relaxation():
    package = dense(40, 1)
    instance, budget = scale(package), round(0.1 * package.total_cost)
    with pytest.raises(LimitReached) as stopped:
        frontier(instance, budget, work_limit=1000)
    limited = stopped.value.limited
    assert limited.status == "limit" and limited.bound_int <= linear_relaxation(instance, budget)
    assert solve(instance, budget, node_limit=1).value_int <= limited.value_int < limited.bound_int
    assert LimitReached("no curve").limited is None


def test_without_a_linear_relaxation_the_optimum_is_the_same(monkeypatch):
    """HiGHS only guides: a search without its duals proves the same."""
    package = dense(12, 0)
    instance, budget = scale(package), round(0.1 * package.total_cost)
    expected = solve_dense(instance, budget)
    unsolved = OptimizeResult(success=False, message="no duals")
    monkeypatch.setattr("scipy.optimize.linprog", lambda *_, **__: unsolved)
    found = solve_dense(instance, budget)
    assert found.status == "optimal"
    assert found._replace(nodes=0) == expected._replace(nodes=0)
    stopped = solve_dense(instance, budget, cell_limit=0)
    assert stopped.value_int <= expected.value_int <= stopped.bound_int


def linear_relaxation(instance, budget):
    """Its value for cap1, by the primal simplex of another model: one row a unit and its cap as a bound."""
    from scipy.optimize import linprog

    n, units, groups = len(instance.cost), len(instance.weight), len(instance.group_start) - 1
    rows = np.zeros((1 + groups + units, n + units))
    rows[0, :n] = instance.cost
    for g in range(groups):
        rows[1 + g, instance.group_start[g] : instance.group_start[g + 1]] = 1
    for i in range(n):
        for r in range(instance.cov_ptr[i], instance.cov_ptr[i + 1]):
            rows[1 + groups + instance.cov_unit[r], i] = -instance.cov[r]
    rows[1 + groups :, n:] = np.eye(units)
    right = np.concatenate([[budget], np.ones(groups), np.zeros(units)])
    caps = [(0, 1)] * n + [(0, float(instance.intercept[1]))] * units
    found = linprog(-np.concatenate([np.zeros(n), instance.weight]), rows, right, bounds=caps, method="highs")
    return -found.fun + 1e-6


def test_more_work_never_gives_a_worse_bound_or_value():
    package = dense(30, 4)
    instance, budget = scale(package), round(0.1 * package.total_cost)
    limits = (0, 10**5, 10**6, 10**7)
    found, again = ([solve_dense(instance, budget, cell_limit=limit) for limit in limits] for _ in range(2))
    assert found == again
    for less, more in pairwise(found):
        assert more.value_int >= less.value_int and more.bound_int <= less.bound_int
    assert found[0].bound_int > found[-1].bound_int


def test_the_chooser_closes_a_dense_package_that_quick_searches_do_not():
    package = dense(24, 1)
    instance, budget = scale(package), round(0.1 * package.total_cost)
    quick = solve_batch(batch([instance]), budget, 1, 1000)[0]
    assert quick.status == "limit"
    found = solve_all([instance], budget, 1, node_limit=10**6)[0]
    assert found.status == "optimal" and found.canonical
    assert quick.value_int <= found.value_int <= quick.bound_int
    limited = solve_all([instance], budget, 1, node_limit=10, work_limit=100)[0]
    assert limited.status == "limit" and limited.value_int <= found.value_int <= limited.bound_int <= quick.bound_int
    joined = better(quick, limited)
    assert joined.value_int == max(quick.value_int, limited.value_int)
    assert joined.bound_int == min(quick.bound_int, limited.bound_int)


@settings(max_examples=60)
@given(st.data())
def test_local_search_keeps_to_the_budget_and_never_loses(data):
    package = data.draw(packages(max_groups=5, max_units=5))
    instance = scale(package)
    budget = min(data.draw(st.integers(0, 20)), package.total_cost)
    p = coupled(options_of(instance, 1), instance.max_int, budget)
    if not len(p.cost):
        return
    greedy = np.full(len(p.start) - 1, -1, np.int64)
    improve(p, greedy, False, 10**9)
    choice = np.full(len(p.start) - 1, -1, np.int64)
    walk(p, start_walk(p), 6, choice, 10**9)
    key, (value, cost) = key_of(p, choice), worth(p, choice)
    assert cost <= budget and key == value * (budget + 1) - cost
    assert value == instance.value_int(p.position[choice[choice >= 0]].tolist())
    assert key >= key_of(p, greedy)


@pytest.mark.parametrize("room", [0, 10**4, 10**6])
def test_local_search_stops_after_its_looks_with_a_selection(room):
    package = dense(60, 0)
    instance, budget = scale(package), round(0.1 * package.total_cost)
    p = coupled(options_of(instance, 1), instance.max_int, budget)
    most_at_once = 7 * (len(p.cost) + len(p.cell_option))  # a group of six options, each in and out
    choice = np.full(len(p.start) - 1, -1, np.int64)
    assert room < walk(p, start_walk(p), 10**6, choice, room) <= room + 2 * most_at_once
    assert worth(p, choice)[1] <= budget


def test_thousands_of_equal_candidates_zero_weights_and_no_budget():
    same = make([1] * 2000, [[1.0]] * 2000, [1.0], groups=[0] * 2000)
    assert solve_dense(scale(same), 10).selection == (0,)
    many = scale(make([1] * 300, [[0.25, 0.25]] * 300, [1.0, 1.0]))
    assert solve_dense(many, 10).selection == (0, 1, 2, 3)
    assert solve_dense(scale(make([1, 1], [[1.0], [0.5]], [0.0])), 2).selection == ()
    assert solve_dense(scale(make([], [], [1.0])), 5).selection == ()
    assert solve_dense(many, 0).selection == ()


def test_bad_budget_and_k_are_refused():
    instance = scale(make([1], [[1.0]], [1.0]))
    with pytest.raises(InputError, match="budget -1"):
        solve_dense(instance, -1)
    with pytest.raises(InputError, match="k 0"):
        solve_dense(instance, 1, 0)
    with pytest.raises(InputError, match="62"):
        solve_dense(scale(make([1] * 600, [[1.0]] + [[0.0]] * 599, [float(2**60)])), 600)


def test_duals_price_the_linear_relaxation():
    """By LP duality: at the duals, the groups' and units' own optima add up to the relaxation's value."""
    package = dense(10, 0)
    instance, budget = scale(package), round(0.05 * package.total_cost)
    p = coupled(options_of(instance, 1), instance.max_int, budget)
    share, price = _linear_duals(p)
    assert (share >= -1e-9).all() and price > 0
    score = p.base + np.bincount(p.cell_option, share, len(p.cost)) - price * p.cost
    groups = sum(max(0.0, *score[p.start[g] : p.start[g + 1]]) for g in range(len(p.start) - 1))
    full = p.table[p.table_ptr[1:] - 1] / 2.0**p.shift
    # A unit's own optimum: its peak less the price of reaching it, where that is worth anything.
    unit_price = np.zeros(len(p.top))
    np.maximum.at(unit_price, p.cell_unit, share / p.cell_cov)
    units = np.maximum(0.0, full - unit_price * instance.intercept[1]).sum()
    assert groups + units + price * budget == pytest.approx(linear_relaxation(instance, budget), rel=1e-6)


def test_the_family_is_seeded_and_as_described():
    package = dense(30, 0)
    assert package.content_hash == dense(30, 0).content_hash != dense(30, 1).content_hash
    sizes = np.diff(package.visible.group_start)
    covering = np.bincount(package.cov_unit, minlength=len(package.units))
    assert sizes.min() >= 3 and sizes.max() <= 6 and len(package.units) == 36
    assert covering.min() >= 5 and covering.max() <= 30
    assert package.visible.cost.min() >= 3 and package.visible.cost.max() <= 40
