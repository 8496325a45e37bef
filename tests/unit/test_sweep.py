"""Many budgets in one pass: solutions and curves against exhaustive search, limits, and what a stage writes."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.budgets import amounts, budget_rows
from memaudit.objective import CAP1, scale
from memaudit.package import Candidate, Unit, build
from memaudit.pools import BUILT_IN as POOLS
from memaudit.solve import choose
from memaudit.solve import sweep as sweep_module
from memaudit.solve.frontier import LimitReached
from memaudit.solve.stage import solve_packages
from memaudit.solve.sweep import sweep
from memaudit.synthetic import generate
from memaudit.table_io import to_table
from reference import brute_force, value
from strategies import packages, saturations


def at(curve, budget):
    return int(curve.values[np.searchsorted(curve.budgets, budget, side="right") - 1])


@pytest.mark.parametrize("looks", [choose.QUICK_LOOKS, 0])
@settings(max_examples=60)
@given(data=st.data())
def test_solutions_and_curve_equal_brute_force_at_every_budget(looks, data):
    """By the short search, and by the curve alone (no looks)."""
    package = data.draw(packages(max_groups=4, max_per_group=3, max_units=4))
    saturation, k = data.draw(saturations()), data.draw(st.integers(1, 2))
    end = package.total_cost
    budgets = sorted(data.draw(st.sets(st.integers(0, end + 2), max_size=4)), reverse=True)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(choose, "QUICK_LOOKS", looks)
        [swept] = sweep([scale(package, saturation)], budgets, k, 10**6, [end])
    assert (np.diff(swept.curve.budgets) > 0).all() and (np.diff(swept.curve.values) > 0).all()
    assert swept.curve.budgets[0] == swept.curve.values[0] == 0
    for budget in range(end + 1):
        optimum, _, _ = brute_force(package, budget, k, saturation)
        assert Fraction(at(swept.curve, budget), scale(package, saturation).scale) == optimum
    for budget, found in zip(budgets, swept.solutions, strict=True):
        optimum, cost, selection = brute_force(package, budget, k, saturation)
        assert found.status == "optimal" and Fraction(found.value_int, found.scale) == optimum
        assert (found.cost, list(found.selection)) == (cost, selection)


@settings(max_examples=40)
@given(packages(max_groups=3, max_per_group=3), st.integers(1, 9))
def test_at_its_limits_it_brackets_the_optimum_and_has_no_curve(package, budget):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(choose, "QUICK_LOOKS", 0)
        [swept] = sweep([scale(package)], [budget, 2], 1, node_limit=1, ends=[package.total_cost], work_limit=0)
    for b, found in zip((budget, 2), swept.solutions, strict=True):
        optimum = brute_force(package, b)[0]
        assert found.value_int <= optimum * found.scale <= found.bound_int
        assert value(package, found.selection) * found.scale == found.value_int and found.cost <= b
    assert swept.curve is None or swept.curve.values[-1] == 0  # nothing to compare where nothing has value


def test_one_curve_serves_all_budgets(monkeypatch):
    made = []

    def counted(instance, end, k, work_limit):
        made.append(end)
        return frontier(instance, end, k, work_limit)

    frontier = sweep_module.frontier
    monkeypatch.setattr(choose, "QUICK_LOOKS", 0)
    monkeypatch.setattr(sweep_module, "frontier", counted)
    [swept] = sweep([scale(generate("s", "base", 0))], [2, 9, 5], 1, 10**6)
    assert made == [9] and swept.curve is None
    sweep([scale(generate("s", "base", 0))], [2, 9, 5], 1, 10**6, [40])
    assert made == [9, 40]


def test_two_proofs_that_differ_are_told(monkeypatch):
    class Wrong:
        max_budget = 50

        def at(self, budget):
            return 1, 1

    monkeypatch.setattr(sweep_module, "frontier", lambda *_: Wrong())
    with pytest.raises(RuntimeError, match="budget 9, k = 1: branch and bound proves"):
        sweep([scale(generate("s", "base", 0))], [9], 1, 10**6, [50])


def test_a_budget_whose_equal_optima_are_too_many_to_compare_is_searched_by_itself(monkeypatch):
    def too_many(*_):
        raise LimitReached

    instance = scale(generate("s", "base", 0))
    expected = [s.value_int for s in sweep([instance], [2, 9], 1, 10**6)[0].solutions]
    monkeypatch.setattr(sweep_module, "quick_nodes", lambda _: 1)
    monkeypatch.setattr(sweep_module, "on_curve", too_many)
    [swept] = sweep([instance], [2, 9], 1, 10**6)
    assert [(s.status, s.value_int) for s in swept.solutions] == [("optimal", v) for v in expected]


def test_a_curve_that_does_not_close_is_tried_at_smaller_budgets_until_one_does_not(monkeypatch):
    """Budget 9 closes no curve: 5 does by itself; then 9 and 12 are searched without another."""
    made = []

    def closing_below_nine(instance, end, k, work_limit):
        made.append((end, work_limit))
        if end >= 9:
            raise LimitReached
        return frontier(instance, end, k, work_limit)

    frontier = sweep_module.frontier
    instance = scale(generate("s", "base", 0))
    expected = [s.value_int for s in sweep([instance], [12, 9, 5], 1, 10**6)[0].solutions]
    monkeypatch.setattr(choose, "QUICK_LOOKS", 0)
    monkeypatch.setattr(choose, "frontier", lambda *_: pytest.fail("a curve was tried again"))
    monkeypatch.setattr(sweep_module, "frontier", closing_below_nine)
    [swept] = sweep([instance], [12, 9, 5], 1, 10**6, work_limit=1_000_000)
    assert made == [(12, 1_000_000), (5, 100_000), (9, 100_000)]
    assert [(s.status, s.value_int) for s in swept.solutions] == [("optimal", v) for v in expected]


def test_a_budget_beyond_ten_to_the_five_is_no_burden():
    """The curve holds its jumps, not budgets."""
    units = [Unit(f"u{i}", 1.0) for i in range(3)]
    candidates = [Candidate(f"c{i}", f"g{i}", "fact", 400_000 + i, i) for i in range(3)]
    package = build("s", "p", "d", 0, candidates, units, {(f"c{i}", f"u{i}"): 1.0 for i in range(3)}, [])
    [swept] = sweep([scale(package)], [800_001], 1, 10**6, [package.total_cost])
    assert swept.curve.budgets.tolist() == [0, 400_000, 800_001, 1_200_003]
    assert swept.curve.values.tolist() == [0, 1, 2, 3]
    assert swept.solutions[0].cost == 800_001


def test_a_stage_shares_searches_and_names_every_row():
    shown = [generate("s", "update_chain", seed) for seed in range(3)]  # one content
    pools = [POOLS["full"], POOLS["no_validity"]]
    ends = [p.total_cost for p in shown]
    setting = {"cost_model": "declared", "k": 1, "saturation": CAP1, "node_limit": 10**6}
    made = solve_packages(shown, pools, budgets={5: "0.1", 3: "3"}, ends=ends, **setting)
    solutions, curves = to_table("solutions", made.solutions).to_pandas(), to_table("curves", made.curves).to_pandas()
    assert len(solutions) == 3 * 2 * 2 and solutions["solution_id"].nunique() == 4
    assert dict(zip(solutions["budget"], solutions["budget_spec"], strict=True)) == {5: "0.1", 3: "3"}
    assert set(curves["max_budget"]) == {shown[0].total_cost} and set(curves["status"]) == {"optimal"}
    without = solve_packages(shown, pools, budgets={5: "0.1", 3: "3"}, **setting)
    assert to_table("solutions", without.solutions).equals(to_table("solutions", made.solutions))
    assert len(to_table("curves", without.curves)) == 0


def test_a_curve_that_does_not_close_has_one_row(monkeypatch):
    monkeypatch.setattr(sweep_module, "_closed", lambda *_: None)
    package = generate("s", "base", 0)
    made = solve_packages(
        [package], [POOLS["full"]], cost_model="declared", k=1, saturation=CAP1, budgets={}, node_limit=10**6, ends=[9]
    )
    [row] = to_table("curves", made.curves).to_pylist()
    assert (row["status"], row["budget"], row["value_int"], row["max_budget"]) == ("limit", 0, 0, 9)
    assert len(to_table("solutions", made.solutions)) == 0


def test_budgets_that_come_to_one_amount_are_merged():
    specs, mean = ["0.1", "8", "0.5"], Fraction(83)
    assert amounts(specs, mean) == {8: "0.1", 42: "0.5"}
    assert budget_rows("s", "declared", specs, mean)["merged_into"] == ["0.1", "0.1", "0.5"]
