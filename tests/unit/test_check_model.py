"""The independent check's models against plain enumeration, and its own numbers."""

from fractions import Fraction

import pytest
from check_cases import ALL, DEFINITIONS, SATURATIONS, enumerate_best, example, tables_of, worth
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.check.costs import measure
from memaudit.check.cp_sat import canonical_selection, solve_cp_sat
from memaudit.check.mip import SOLVERS, solve_mip
from memaudit.check.model import curve, decimal
from memaudit.check.rows import build_problem, read_rows
from memaudit.errors import InputError
from memaudit.package import Candidate, Unit, build
from strategies import packages

NAMES = st.sampled_from(sorted(SATURATIONS))
SMALL = packages(max_groups=3, max_per_group=3, max_units=4, max_cost=5)


def problem_of(package, saturation="cap1", k=1, pool=ALL, **how):
    rows = read_rows(tables_of([package]), [package.package_id])[package.package_id]
    return build_problem(rows, pool=pool, saturation=curve(saturation, DEFINITIONS[saturation]), k=k, **how)


@settings(max_examples=60)
@given(SMALL, NAMES, st.integers(1, 2), st.integers(0, 12))
def test_cp_sat_finds_the_enumerated_optimum_and_the_reported_selection(package, saturation, k, budget):
    problem = problem_of(package, saturation, k)
    best, chosen = enumerate_best(package, k, saturation, budget)
    answer = solve_cp_sat(problem, budget)
    assert (answer.status, answer.value, answer.bound) == ("optimal", best, best)
    assert problem.value(problem.positions(answer.selected)) == best
    assert canonical_selection(problem, budget) == chosen


@pytest.mark.parametrize("solver", SOLVERS)
@settings(max_examples=15)
@given(package=SMALL, saturation=NAMES, k=st.integers(1, 2), budget=st.integers(0, 12))
def test_mip_solvers_find_the_enumerated_optimum(solver, package, saturation, k, budget):
    answer = solve_mip(problem_of(package, saturation, k), budget, solver)
    best, _ = enumerate_best(package, k, saturation, budget)
    assert (answer.status, answer.value, answer.bound) == ("optimal", best, best)


@settings(max_examples=40)
@given(SMALL, NAMES, st.data())
def test_value_in_fractions_and_in_integers_are_f(package, saturation, data):
    problem = problem_of(package, saturation)
    chosen = data.draw(st.sets(st.sampled_from(range(len(package))))) if len(package) else set()
    expected = worth(package, saturation, sorted(chosen))
    assert problem.value(chosen) == expected
    assert Fraction(problem.scaled.value(chosen), problem.scaled.scale) == expected


@settings(max_examples=30)
@given(SMALL)
def test_positions_follow_the_package_order_also_within_a_pool(package):
    assert problem_of(package).candidate_ids == package.visible.candidate_ids
    excluded = package.visible.representation_type[:1]
    inside = problem_of(package, pool={"include": None, "exclude": list(excluded)})
    kept = package.restrict([t not in excluded for t in package.visible.representation_type])
    assert inside.candidate_ids == kept.visible.candidate_ids
    assert [len(g) for g in inside.groups] == [b - a for a, b in zip(*_bounds(kept), strict=True)]


def _bounds(package):
    start = package.visible.group_start.tolist()
    return start[:-1], start[1:]


def test_include_keeps_only_the_named_types():
    assert problem_of(example(), pool={"include": ["summary"], "exclude": []}).candidate_ids == (
        "p1:a",
        "p1:d",
    )


def test_breach_names_budget_and_group():
    problem = problem_of(example())
    assert problem.breach((0,), 0) == "it costs 1 of a budget of 0"
    assert "p1:b, p1:a of one group" in problem.breach((0, 1), 9)
    assert problem.breach((0, 2), 3) is None
    assert problem_of(example(), k=2).breach((0, 1), 9) is None


@pytest.mark.parametrize("solve", [solve_cp_sat, lambda *a: solve_mip(*a[:2], "scip", a[2])])
def test_a_limit_is_never_a_proof(solve):
    hard = problem_of(_hard())
    answer = solve(hard, 200, 1e-9)
    assert answer.status == "limit"
    full = solve_cp_sat(hard, 200)
    assert full.status == "optimal"
    assert answer.value is None or answer.value <= full.value
    assert answer.bound is None or answer.bound >= full.value


def _hard():
    costs = [(7 * i * i + 11 * i) % 37 + 5 for i in range(80)]
    candidates = [Candidate(f"c{i}", f"g{i // 2}", "raw", cost, i) for i, cost in enumerate(costs)]
    coverage = {(f"c{i}", f"u{(i * j) % 17}"): 0.05 * ((i + j) % 19 + 1) for i in range(80) for j in (1, 3, 5)}
    coverage = {key: round(a, 2) for key, a in coverage.items()}
    return build("s", "hard", "d", 0, candidates, [Unit(f"u{r}", 1.0 + r / 10) for r in range(17)], coverage, [])


def test_decimals_are_the_shortest_that_read_back():
    assert decimal(0.1) == Fraction(1, 10)
    assert decimal(1e-7) == Fraction(1, 10**7)
    assert decimal(3) == 3


def test_sums_above_two_to_the_53_are_refused():
    with pytest.raises(InputError, match=r"package p1 of suite s: .*2\^53"):
        solve_cp_sat(problem_of(example(weight=0.1234567890123457)), 3)


@pytest.mark.parametrize(
    "breakpoints",
    [[[0, 0]], [[0, 1], [1, 2]], [[0, 0], [1, 1], [1, 2]], [[0, 0], [1, 1], [2, 3]], [[0, 0], [1, -1]]],
)
def test_a_curve_that_is_not_concave_and_nondecreasing_is_refused(breakpoints):
    with pytest.raises(InputError, match="saturation bent"):
        curve("bent", breakpoints)


def test_an_unknown_curve_name_is_refused():
    with pytest.raises(InputError, match="log1p"):
        curve("mine", "log1p")


@pytest.mark.parametrize(
    ("definition", "cost"),
    [
        ("words", 3), ("chars", 13), ("bytes", 15), ("approx_tokens", 4), ("byte_overhead", 9),
        ({"per_record": 1, "per_word": 0.1}, 2), ({"per_byte": 0.5, "per_char": 0.25, "min": 12}, 12),
        ({"per_word": 0.1, "min": 1}, 1),
    ],
)  # fmt: skip
def test_measured_costs(definition, cost):
    assert measure(definition, "été at Lisbon") == cost


def test_costs_by_text_and_by_mapping():
    rows = read_rows(tables_of([example()]), ["p1"])["p1"]
    how = {"pool": ALL, "saturation": curve("cap1", "cap1"), "k": 1}
    with pytest.raises(InputError, match=r"candidate p1:. has neither text nor size"):
        build_problem(rows, cost_model="words", **how)
    costs = {"p1:a": 1, "p1:b": 5, "p1:c": 4, "p1:d": 3}
    assert build_problem(rows, costs=costs, **how).candidate_ids == ("p1:a", "p1:b", "p1:d", "p1:c")
    with pytest.raises(InputError, match="no candidate p1:b"):
        build_problem(rows, costs={"p1:a": 1}, **how)
    with pytest.raises(InputError, match="'pounds'"):
        measure("pounds", "a")
    with pytest.raises(InputError, match="per_line"):
        measure({"per_line": 1}, "a")


@pytest.mark.parametrize(
    ("table", "column", "value", "says"),
    [
        ("candidates", "cost", 7, "total cost"),
        ("units", "weight", -1.0, "weight"),
        ("coverage", "coverage", 1.5, "outside"),
        ("coverage", "unit_id", "nowhere", "unknown id"),
    ],
)
def test_broken_rows_are_named(table, column, value, says):
    tables = tables_of([example()])
    rows = tables[table].to_pylist()
    rows[0][column] = value
    tables[table] = tables[table].from_pylist(rows, schema=tables[table].schema)
    with pytest.raises(InputError, match=rf"package p1 of suite s.*{says}"):
        read_rows(tables, ["p1"])


def test_an_absent_package_is_named():
    with pytest.raises(InputError, match="package p2: solutions name it"):
        read_rows(tables_of([example()]), ["p1", "p2"])
