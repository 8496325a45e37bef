"""gvt, greedy and density_only against slow references from their definitions; gvt's guarantee."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memaudit.objective import CAP1, scale
from memaudit.package import Candidate, Package, Unit, build
from memaudit.solve.kernels import f_line, marginal_int
from memaudit.writers.registry import RULES, Writer, run
from strategies import budgets, packages, saturations

EPSILON = 1e-12
ORACLE_RULES = ("gvt", "greedy", "density_only")


def kept(rule, package, budget, saturation=CAP1):
    """Positions that `rule` keeps, sorted; checked to be feasible by `run`."""
    return run(Writer(rule, RULES[rule]), package, scale(package, saturation), budget, {})


class Reference:
    """F of one package in fractions, and the three rules in plain Python."""

    def __init__(self, package: Package, saturation, budget: int):
        self.package, self.h, self.budget = package, saturation, budget
        v = package.visible
        self.cost, self.ids = v.cost.tolist(), v.candidate_ids
        self.groups = [range(a, b) for a, b in zip(v.group_start, v.group_start[1:], strict=False)]
        self.rows = [package.coverage_row(i) for i in range(len(package))]

    def value(self, chosen) -> Fraction:
        total = Fraction(0)
        for unit in self.package.units:
            z = sum(Fraction(str(self.rows[i].get(unit.unit_id, 0.0))) for i in chosen)
            total += Fraction(str(unit.weight)) * self.h(Fraction(z))
        return total

    def marg(self, chosen, i) -> Fraction:
        return self.value([*chosen, i]) - self.value(chosen)

    def used(self, chosen) -> int:
        return sum(self.cost[i] for i in chosen)

    def admissible(self, chosen, members):
        fits = [i for i in members if self.used(chosen) + self.cost[i] <= self.budget]
        return [(i, m) for i in fits if (m := self.marg(chosen, i)) > EPSILON]

    def densest(self, chosen, members):
        """max by (density, marg, -cost, id), or None."""
        found = self.admissible(chosen, members)
        keys = [(m / self.cost[i], m, -self.cost[i], self.ids[i], i) for i, m in found]
        return max(keys)[-1] if keys else None

    def density_only(self):
        chosen = []
        for group in self.groups:
            if (i := self.densest(chosen, group)) is not None:
                chosen.append(i)
        return chosen

    def greedy(self):
        chosen, groups = [], list(self.groups)
        while (i := self.densest(chosen, [m for group in groups for m in group])) is not None:
            chosen.append(i)
            groups = [group for group in groups if i not in group]
        return chosen

    def thresholds(self):
        fits = [i for i in range(len(self.cost)) if self.cost[i] <= self.budget]
        return sorted({self.marg([], i) / self.cost[i] for i in fits} | {Fraction(0)}, reverse=True)

    def gvt_pass(self, threshold):
        chosen = []
        for group in self.groups:
            keys = [
                (m, -self.cost[i], self.ids[i], i)
                for i, m in self.admissible(chosen, group)
                if m / self.cost[i] + EPSILON >= threshold
            ]
            if keys:
                chosen.append(max(keys)[-1])
        return chosen

    def gvt(self):
        passes = [self.gvt_pass(threshold) for threshold in self.thresholds()]
        return max(passes, key=lambda chosen: (self.value(chosen), -self.used(chosen)))  # max keeps the first

    def best_value(self) -> Fraction:
        options = [(None, *group) for group in self.groups]
        picks = ([i for i in pick if i is not None] for pick in product(*options))
        return max(self.value(pick) for pick in picks if self.used(pick) <= self.budget)


def package_of(rows, weights) -> Package:
    """rows: (candidate id, group, cost, {unit: coverage}); time index = position of the group."""
    groups = list(dict.fromkeys(group for _, group, _, _ in rows))
    candidates = [Candidate(c, g, "raw", cost, groups.index(g)) for c, g, cost, _ in rows]
    coverage = {(c, u): a for c, _, _, row in rows for u, a in row.items()}
    units = [Unit(u, w) for u, w in weights.items()]
    return build("test", "p", "made", None, candidates, units, coverage, [])


@pytest.mark.parametrize("rule", ORACLE_RULES)
@given(data=st.data())
def test_rule_equals_its_plain_definition(rule, data):
    package, saturation = data.draw(packages()), data.draw(saturations())
    budget = data.draw(budgets(package))
    expected = getattr(Reference(package, saturation, budget), rule)()
    assert kept(rule, package, budget, saturation) == sorted(expected)


@pytest.mark.parametrize("rule", ORACLE_RULES)
@given(data=st.data())
def test_ties_everywhere_are_broken_as_defined(rule, data):
    # Few costs and one weight's worth of values: nearly every comparison is a tie.
    package = data.draw(packages(max_groups=5, max_cost=2, max_units=2))
    budget = data.draw(budgets(package))
    assert kept(rule, package, budget) == sorted(getattr(Reference(package, CAP1, budget), rule)())


@pytest.mark.parametrize("rule", ORACLE_RULES)
def test_equal_densities_tie_exactly(rule):
    # 0.6 / 3 = 0.2 / 1, though not in floats; the tie goes to the larger marginal.
    package = package_of([("a", "g", 1, {"u": 0.2}), ("b", "g", 3, {"u": 0.6})], {"u": 1.0})
    assert [package.visible.candidate_ids[i] for i in kept(rule, package, 3)] == ["b"]


@pytest.mark.parametrize("rule", ORACLE_RULES)
def test_larger_id_string_wins_a_full_tie(rule):
    package = package_of([("c10", "g", 2, {"u": 1}), ("c9", "g", 2, {"u": 1})], {"u": 1.0})
    assert [package.visible.candidate_ids[i] for i in kept(rule, package, 2)] == ["c9"]


def test_greedy_breaks_ties_across_groups_by_id():
    package = package_of([("c9", "early", 2, {"u": 1}), ("c10", "late", 2, {"v": 1})], {"u": 1.0, "v": 1.0})
    assert [package.visible.candidate_ids[i] for i in kept("greedy", package, 2)] == ["c9"]
    renamed = package_of([("c1", "early", 2, {"u": 1}), ("c2", "late", 2, {"v": 1})], {"u": 1.0, "v": 1.0})
    assert [renamed.visible.candidate_ids[i] for i in kept("greedy", renamed, 2)] == ["c2"]


def test_marginals_of_at_most_the_tolerance_do_not_count():
    # Under 0.000001 * 0.000001 = 1e-12 nothing is kept; twice that is.
    tiny = package_of([("a", "g", 1, {"u": 1e-6})], {"u": 1e-6})
    twice = package_of([("a", "g", 1, {"u": 1e-6})], {"u": 2e-6})
    for rule in ORACLE_RULES:
        assert kept(rule, tiny, 5) == []
        assert kept(rule, twice, 5) == [0]


@pytest.mark.parametrize("rule", ORACLE_RULES)
@given(data=st.data())
def test_runs_feasibly_at_any_budget_and_leaves_its_input_alone(rule, data):
    package, saturation = data.draw(packages(max_groups=7, max_per_group=5)), data.draw(saturations())
    budget = data.draw(budgets(package))
    instance = scale(package, saturation)
    before = instance.hash
    first = run(Writer(rule, RULES[rule]), package, instance, budget, {})
    assert run(Writer(rule, RULES[rule]), package, instance, budget, {}) == first
    assert instance.hash == before
    assert first == [] or budget > 0


@given(data=st.data())
def test_gvt_guarantee(data):
    # With the largest grid threshold t <= OPT / 2B, 1 - eps = t / (OPT / 2B), so (1 - eps) OPT / 4 = t B / 2.
    package, saturation = data.draw(packages(max_per_group=2)), data.draw(saturations())
    assume(len(package) > 0)
    budget = 2 * int(package.visible.cost.max()) + data.draw(st.integers(0, 10))
    reference = Reference(package, saturation, budget)
    best = reference.best_value()
    threshold = max(t for t in reference.thresholds() if t <= best / (2 * budget))
    value = reference.value(kept("gvt", package, budget, saturation))
    assert value >= threshold * budget / 2 - Fraction(1, 10**9)
    assert value <= best


def test_gvt_guarantee_is_tested_where_it_binds():
    # A lure of density 1 fills the budget's start; the threshold OPT / 2B = 1/2 is on the grid.
    rows = [("lure", "a", 1, {"u": 1}), ("half", "b", 2, {"v": 1}), ("rest", "c", 2, {"w": 1})]
    package = package_of(rows, {"u": 1.0, "v": 1.0, "w": 2.0})
    reference = Reference(package, CAP1, 4)
    assert Fraction(1, 2) in reference.thresholds()
    assert reference.value(kept("gvt", package, 4)) >= reference.best_value() / 4


@pytest.mark.parametrize("size", [10, 1000, 10**6])
def test_density_only_can_get_an_arbitrarily_small_share(size):
    # In one group: a lure of density 2 that costs 1, and a memory of density 1 that costs the whole budget.
    rows = [("lure", "g", 1, {"u": 1}), ("all", "g", size, {"v": 1})]
    package = package_of(rows, {"u": 2.0, "v": float(size)})
    instance = scale(package)
    share = Fraction(instance.value_int(kept("density_only", package, size)), instance.value_int([1]))
    assert share == Fraction(2, size)
    assert kept("gvt", package, size) == [1]


@given(saturation=saturations(), data=st.data())
def test_kernels_agree_with_the_objective(saturation, data):
    package = data.draw(packages())
    instance = scale(package, saturation)
    z = instance.weight * 0
    store: list[int] = []
    for i in data.draw(st.permutations(range(len(package)))):
        gain = marginal_int(i, *instance.arrays[2:], z)
        assert gain == instance.value_int([*store, i]) - instance.value_int(store)
        store.append(i)
        for cell in range(instance.cov_ptr[i], instance.cov_ptr[i + 1]):
            z[instance.cov_unit[cell]] += instance.cov[cell]
    lines = list(zip(instance.slope.tolist(), instance.intercept.tolist(), strict=True))
    for x in z.tolist():
        assert f_line(x, instance.slope, instance.intercept) == min(s * x + t for s, t in lines)
