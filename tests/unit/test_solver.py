"""The exact solver against exhaustive search, and its limits."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.batch import batch
from memaudit.errors import InputError
from memaudit.objective import CAP1, piecewise_linear, scale
from memaudit.package import Candidate, Unit, build
from memaudit.pools import BUILT_IN as POOLS
from memaudit.solve.bnb import solve, solve_batch
from memaudit.solve.choose import solve_all, solve_open
from reference import brute_force, plain_branch_and_bound, value
from strategies import budgets, packages, saturations


def make(costs, rows, weights, groups=None):
    """A package with one row of coverages a candidate; groups: group number of each (default: own)."""
    groups = groups or range(len(costs))
    units = [Unit(f"u{j}", w) for j, w in enumerate(weights)]
    candidates = [Candidate(f"c{i}", f"g{g}", "fact", c, g) for i, (c, g) in enumerate(zip(costs, groups, strict=True))]
    coverage = {(f"c{i}", f"u{j}"): a for i, row in enumerate(rows) for j, a in enumerate(row)}
    return build("test", "p", "d", 0, candidates, units, coverage, [])


@settings(max_examples=300)
@given(st.data())
def test_optimum_cost_and_choice_equal_brute_force(data):
    package = data.draw(packages(max_groups=4, max_per_group=3, max_units=4))
    saturation = data.draw(saturations())
    k = data.draw(st.integers(1, 3))
    pool = data.draw(st.sampled_from(sorted(POOLS)))
    budget = data.draw(budgets(package))
    package = POOLS[pool](package)
    found = solve(scale(package, saturation), budget, k)
    optimum, cost, selection = brute_force(package, budget, k, saturation)
    assert found.status == "optimal" and found.bound_int == found.value_int
    assert Fraction(found.value_int, found.scale) == optimum
    assert (found.cost, list(found.selection)) == (cost, selection)


def test_no_bound_is_above_the_worth_of_everything():
    """At a limit; a selection that reaches that worth is proven of value, but may not be the cheapest."""
    rng = np.random.default_rng(1)
    rows = (rng.integers(0, 4, (30, 12)) / 4).tolist()
    instance = scale(make(rng.integers(2, 9, 30).tolist(), rows, [1.0] * 12))
    found = {budget: solve(instance, budget, node_limit=1) for budget in (5, 10, 20)}
    assert all(s.value_int <= s.bound_int <= instance.max_int for s in found.values())
    assert [s.status for s in found.values()] == ["limit", "limit", "optimal"]
    assert found[20].value_int == instance.max_int and not found[20].settled
    settled = solve_open(instance, found[20], 20, 1, 10**6)
    assert settled.settled and settled == solve(instance, 20)._replace(nodes=settled.nodes)
    assert settled.cost <= found[20].cost


@settings(max_examples=100)
@given(st.data())
def test_limit_brackets_the_optimum(data):
    package = data.draw(packages(max_groups=4, max_per_group=3, max_units=4))
    k = data.draw(st.integers(1, 2))
    budget = data.draw(budgets(package))
    found = solve(scale(package), budget, k, node_limit=data.draw(st.integers(1, 4)))
    optimum, _, _ = brute_force(package, budget, k)
    assert found.value_int <= optimum * found.scale <= found.bound_int
    assert value(package, found.selection) * found.scale == found.value_int
    assert found.cost == package.visible.cost[list(found.selection)].sum() <= budget
    if found.status == "optimal":
        assert found.value_int == optimum * found.scale


def test_a_limit_is_reached_and_said():
    rng = np.random.default_rng(1)
    rows = (rng.integers(0, 4, (30, 12)) / 4).tolist()
    package = make(rng.integers(2, 9, 30).tolist(), rows, [1.0] * 12)
    found = solve(scale(package), 10, node_limit=3)
    assert found.status == "limit" and found.value_int < found.bound_int


@settings(max_examples=100)
@given(st.data())
def test_value_is_monotone_in_budget_pool_and_k(data):
    package = data.draw(packages())
    instance = scale(package)
    budget = data.draw(st.integers(0, 12))
    here = solve(instance, budget).value_int
    assert solve(instance, budget + 1).value_int >= here
    assert solve(instance, budget, k=2).value_int >= here
    smaller = solve(scale(POOLS["no_validity"](package)), budget)
    assert Fraction(smaller.value_int, smaller.scale) <= Fraction(here, instance.scale)


@settings(max_examples=150)
@given(st.data())
def test_objective_is_monotone_and_submodular(data):
    package = data.draw(packages(max_groups=4))
    instance = scale(package, data.draw(saturations()))
    if len(package) == 0:
        return
    everything = list(range(len(package)))
    small = data.draw(st.lists(st.sampled_from(everything), unique=True))
    large = sorted(set(small) | set(data.draw(st.lists(st.sampled_from(everything), unique=True))))
    extra = data.draw(st.sampled_from(everything))
    if extra in large:
        return
    gain_small = instance.value_int([*small, extra]) - instance.value_int(small)
    gain_large = instance.value_int([*large, extra]) - instance.value_int(large)
    assert gain_small >= gain_large >= 0


@settings(max_examples=60)
@given(st.data())
def test_integer_value_is_exact(data):
    package = data.draw(packages())
    saturation = data.draw(saturations())
    instance = scale(package, saturation)
    chosen = data.draw(st.lists(st.integers(0, max(0, len(package) - 1)), unique=True)) if len(package) else []
    assert Fraction(instance.value_int(chosen), instance.scale) == value(package, chosen, saturation)


@settings(max_examples=40)
@given(st.lists(packages(), min_size=1, max_size=4), st.integers(0, 12))
def test_a_batch_equals_its_members(members, budget):
    instances = [scale(p) for p in members]
    alone = [solve(i, budget) for i in instances]
    assert [(s.value_int, s.selection) for s in solve_batch(batch(instances), budget)] == [
        (s.value_int, s.selection) for s in alone
    ]
    assert [s.selection for s in solve_all(instances, budget, 1, 10**6)] == [s.selection for s in alone]


@settings(max_examples=40)
@given(packages(max_units=4), st.integers(0, 15))
def test_plain_branch_and_bound_agrees(package, budget):
    found = solve(scale(package), budget)
    assert plain_branch_and_bound(package, budget) == pytest.approx(found.value_int / found.scale, abs=1e-9)


def test_no_group_no_candidate_no_unit():
    empty = make([], [], [1.0])
    assert solve(scale(empty), 5).selection == ()
    assert solve(scale(make([1, 2], [[], []], [])), 5).selection == ()


def test_thousands_of_equal_candidates_take_the_first_ids():
    package = make([1] * 2000, [[1.0]] * 2000, [1.0], groups=[0] * 2000)
    assert solve(scale(package), 10).selection == (0,)


def test_all_zero_weights_choose_nothing():
    assert solve(scale(make([1, 1], [[1.0], [0.5]], [0.0])), 2).selection == ()


def test_huge_weights_are_exact_or_refused():
    big = float(2**53)
    package = make([1, 1, 2], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [big, big, 1.0])
    found = solve(scale(package), 4)
    assert found.value_int == 2 * 2**53 + 1
    with pytest.raises(InputError, match="62"):
        scale(make([1], [[1.0]], [1e19]))
    with pytest.raises(InputError, match="62"):
        solve(scale(make([1] * 600, [[1.0]] + [[0.0]] * 599, [float(2**60)])), 600)


@pytest.mark.parametrize("number", [1 / 3, 0.6666666666666666, 0.1234567])
def test_lossy_numbers_are_refused_by_name(number):
    with pytest.raises(InputError, match=r"candidate c0.*quantize"):
        scale(make([1], [[number]], [1.0]))
    with pytest.raises(InputError, match=r"unit u0.*quantize"):
        scale(make([1], [[1.0]], [number]))


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([[0, 0]], "at least one more"),
        ([[0, 0.1], [1, 1]], r"start at \[0, 0\]"),
        ([[0, 0], [0, 1]], "z must increase"),
        ([[0, 0], [1, 0.2], [2, 1]], "concave"),
        ([[0, 0], [1, 1], [2, 0.5]], "nondecreasing"),
    ],
)
def test_saturations_that_are_not_concave_are_refused(points, message):
    with pytest.raises(InputError, match=message):
        piecewise_linear("mine", points)


def test_piecewise_linear_cap1_is_cap1():
    assert piecewise_linear("mine", [[0, 0], [1, 1]]).lines == CAP1.lines


def test_bad_budget_and_k_are_refused():
    with pytest.raises(InputError):
        solve(scale(make([1], [[1.0]], [1.0])), -1)
    with pytest.raises(InputError):
        solve(scale(make([1], [[1.0]], [1.0])), 1, k=0)
