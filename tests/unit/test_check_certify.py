"""Planted faults: each must be caught by the independent check, and flawless tables must pass."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from check_cases import COST_MODELS, DEFINITIONS, POOLS, SCALE, as_tables, example, solution_rows, tables_of
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.check import prover
from memaudit.check.certify import (
    MismatchError,
    check_solutions,
    count_checks,
    raise_on_mismatch,
)
from memaudit.check.model import Answer
from memaudit.errors import InputError
from memaudit.objective import CAP1, scale
from memaudit.package import Candidate, Unit, build
from memaudit.pools import BUILT_IN
from memaudit.solve import choose, stage
from memaudit.solve import frontier as frontier_module
from memaudit.table_io import to_table
from strategies import packages

PACKAGES = [example("p1"), example("p2"), example("p3", weight=3.0)]
BUDGETS = (1, 3, 4)


def check(solutions, selections, tables=None, solver="cp_sat", **how):
    solutions, selections = as_tables(solutions, selections)
    tables = tables or tables_of(PACKAGES)
    return check_solutions(solutions, selections, tables, solver, POOLS, DEFINITIONS, COST_MODELS, **how)


def flawless():
    return solution_rows(PACKAGES, BUDGETS)


def row_of(rows, package_id, budget):
    return next(r for r in rows if r["package_id"] == package_id and r["budget"] == budget)


def select(solutions, selections, package_id, budget, letters):
    """Replace a selection, and the cost and count that solutions say of it."""
    row = row_of(solutions, package_id, budget)
    key = {k: row[k] for k in ("suite", "package_id", "cost_model", "pool", "k", "saturation", "budget")}
    selections[:] = [s for s in selections if (s["package_id"], s["budget"]) != (package_id, budget)]
    selections += [{**key, "candidate_id": f"{package_id}:{letter}"} for letter in letters]
    row["cost"] = sum({"a": 2, "b": 1, "c": 2, "d": 2}[letter] for letter in letters)
    row["n_selected"] = len(letters)


def claim(row, value_int):
    row |= {"value_int": value_int, "bound_int": value_int, "value": value_int / row["scale"]}


def assert_caught(checks, says):
    """The run stops, and the message names the instance."""
    bad = [row for row in checks.to_pylist() if row["status"] == "mismatch"]
    assert bad and not any(row["equal"] for row in bad)
    with pytest.raises(MismatchError, match=says) as caught:
        raise_on_mismatch(checks)
    assert f"suite s, package {bad[0]['package_id']}, budget {bad[0]['budget']}, pool full" in str(caught.value)


@pytest.mark.parametrize("solver", ["cp_sat", "highs", "cbc", "scip"])
def test_flawless_tables_pass(solver):
    checks = check(*flawless(), solver=solver, ties=True)
    raise_on_mismatch(checks)
    # p1 and p2 have equal content, so they share their solutions.
    assert count_checks(checks) == {
        "rows": 9, "instances": 6, "optimal": 6, "limit": 0, "unclaimed": 0, "mismatch": 0
    }  # fmt: skip
    assert sorted(checks["n_packages"].to_pylist()) == [1, 1, 1, 2, 2, 2]
    assert all(checks["equal"].to_pylist())


def test_equal_contents_are_solved_once_over_calls():
    solved = {}
    check(*flawless(), solved=solved)
    assert len(solved) == 6
    check(*flawless(), solved=solved)
    assert len(solved) == 6


@settings(max_examples=25)
@given(packages(max_groups=3, max_units=3), st.integers(1, 2), st.sampled_from(sorted(DEFINITIONS)))
def test_enumerated_solutions_of_random_packages_pass(package, k, saturation):
    checks = check(*solution_rows([package], (1, 4, 9), k, saturation), tables_of([package]), ties=True)
    raise_on_mismatch(checks)
    assert all(checks["equal"].to_pylist())


# ---- faults planted in the tables


@pytest.mark.parametrize("by", [-1, 1])
def test_a_value_off_by_one_unit_is_caught(by):
    solutions, selections = flawless()
    row = row_of(solutions, "p3", 3)
    claim(row, row["value_int"] + by)
    assert_caught(check(solutions, selections), r"solutions say [0-9]+/1000000; cp_sat finds 4 with bound 4")


def test_a_wrong_scale_is_caught():
    solutions, selections = flawless()
    row = row_of(solutions, "p3", 3)
    row |= {"scale": SCALE - 1, "value": row["value_int"] / (SCALE - 1)}
    assert_caught(check(solutions, selections), "the selection is worth 4")


def test_a_dropped_weight_is_caught():
    """A reduction that loses unit u1: the best without it, valued without it."""
    solutions, selections = flawless()
    claim(row_of(solutions, "p3", 1), 0)
    select(solutions, selections, "p3", 1, "")
    assert_caught(check(solutions, selections), "solutions say 0; cp_sat finds 3")


def test_a_pruned_optimum_is_caught():
    """A bound that cuts off the optimum: a true selection with its true value, but not the best."""
    solutions, selections = flawless()
    claim(row_of(solutions, "p3", 3), 3 * SCALE)
    select(solutions, selections, "p3", 3, "b")
    assert_caught(check(solutions, selections), "solutions say 3; cp_sat finds 4")


def test_a_dearer_selection_among_equals_is_caught():
    solutions, selections = flawless()
    select(solutions, selections, "p3", 3, "bc")
    raise_on_mismatch(check(solutions, selections))  # equal values count as equal optima
    assert_caught(check(solutions, selections, ties=True), "a selection of equal value costs 2, not 3")
    row_of(solutions, "p3", 3)["canonical"] = False  # an optimum, and no more is claimed
    raise_on_mismatch(check(solutions, selections, ties=True))


def test_a_later_selection_among_equals_is_caught():
    """Without a, the selections b+c and b+d are equal in value and cost: c precedes d."""
    pool = {"include": None, "exclude": []}
    tables = tables_of([example("p1")])
    coverage = [r for r in tables["coverage"].to_pylist() if r["candidate_id"] != "p1:a"]
    tables["coverage"] = tables["coverage"].from_pylist(coverage, schema=tables["coverage"].schema)
    solutions, selections = solution_rows([example("p1")], (3,))
    for letters, good in (("bc", True), ("bd", False)):
        select(solutions, selections, "p1", 3, letters)
        made = as_tables(solutions, selections)
        checks = check_solutions(*made, tables, "cp_sat", {"full": pool}, DEFINITIONS, COST_MODELS, ties=True)
        if good:
            raise_on_mismatch(checks)
        else:
            assert_caught(checks, "of equal value and cost, p1:b, p1:c comes first")


@pytest.mark.parametrize(
    ("letters", "says"),
    [("abc", "costs 5 of a budget of 4"), ("ab", "more than k = 1"), ("d", "the selection is worth 1")],
)
def test_an_infeasible_or_worse_selection_is_caught(letters, says):
    solutions, selections = flawless()
    select(solutions, selections, "p3", 4, letters)
    assert_caught(check(solutions, selections), says)


def test_a_selection_of_another_package_is_caught():
    solutions, selections = flawless()
    for row in selections:
        if row["package_id"] == "p2":
            row["candidate_id"] = row["candidate_id"].replace("p2", "p1")
    assert_caught(check(solutions, selections), r"package p2.*candidate p1:. is not in the package's pool")


def test_a_candidate_outside_the_pool_is_caught():
    solutions, selections = flawless()
    for row in (*solutions, *selections):
        row["pool"] = "no_validity"
    select(solutions, selections, "p3", 4, "ac")
    claim(row_of(solutions, "p3", 4), 4 * SCALE)
    checks = check(solutions, selections)  # c is a tombstone
    with pytest.raises(MismatchError, match=r"pool no_validity.*candidate p3:c is not in the package's pool"):
        raise_on_mismatch(checks)


def test_packages_that_share_a_solution_must_have_equal_content():
    solutions, selections = flawless()
    row_of(solutions, "p3", 3)["solution_id"] = row_of(solutions, "p1", 3)["solution_id"]
    assert_caught(check(solutions, selections), "package p3.*shares its solution_id with p1, and their problems differ")


def test_the_selection_of_every_sharing_package_is_checked():
    solutions, selections = flawless()
    select(solutions, selections, "p2", 3, "b")
    assert_caught(check(solutions, selections), "package p2, budget 3.*the selection is worth 2")


@pytest.mark.parametrize("column", ["cost", "n_selected", "value"])
def test_a_wrong_number_beside_the_value_is_caught(column):
    solutions, selections = flawless()
    row_of(solutions, "p2", 3)[column] += 1
    assert_caught(check(solutions, selections), f"package p2.*{column} ")


def test_an_optimum_with_an_open_bound_is_caught():
    solutions, selections = flawless()
    row_of(solutions, "p3", 3)["bound_int"] += 1
    assert_caught(check(solutions, selections), "bound_int 4000001 does not go with value_int 4000000")


@pytest.mark.parametrize("cost", [1, 4])
def test_a_tampered_candidate_cost_is_caught(cost):
    """Also with the total of the package adjusted, so that only the optimum can tell."""
    tables = tables_of(PACKAGES)
    for name, column, value in (("candidates", "cost", cost), ("packages", "total_cost", 7 - 2 + cost)):
        rows = tables[name].to_pylist()
        next(r for r in rows if r.get("candidate_id", r["package_id"]) in ("p3:a", "p3"))[column] = value
        with_cost = tables[name].from_pylist(rows, schema=tables[name].schema)
        if name == "candidates":
            with pytest.raises(InputError, match=r"package p3.*total cost"):
                check(*flawless(), tables={**tables, name: with_cost})
        tables[name] = with_cost
    assert_caught(check(*flawless(), tables=tables), "package p3")


def test_a_selection_without_a_solution_is_refused():
    solutions, selections = flawless()
    with pytest.raises(InputError, match=r"p1.*has no row in solutions"):
        check([r for r in solutions if r["package_id"] != "p1"], selections)


@pytest.mark.parametrize("definition", ["pools", "saturations", "cost_models", "solver"])
def test_an_undefined_name_is_refused(definition):
    how = {"solver": "cp_sat", "pools": POOLS, "saturations": DEFINITIONS, "cost_models": COST_MODELS}
    how[definition] = "abacus" if definition == "solver" else {}
    with pytest.raises(InputError, match=r"not defined|abacus"):
        check_solutions(*as_tables(*flawless()), tables_of(PACKAGES), **how)


# ---- limits


def limited(value_int, bound_int, letters):
    solutions, selections = flawless()
    row = row_of(solutions, "p3", 3)
    claim(row, value_int)
    row |= {"status": "limit", "bound_int": bound_int}
    select(solutions, selections, "p3", 3, letters)
    return solutions, selections


def test_a_solution_that_claims_no_optimum_is_never_equal():
    checks = check(*limited(3 * SCALE, 5 * SCALE, "b"))
    raise_on_mismatch(checks)
    assert count_checks(checks)["unclaimed"] == 1
    assert [r["equal"] for r in checks.to_pylist() if r["status"] == "unclaimed"] == [False]


def test_a_bound_below_the_optimum_is_caught():
    assert_caught(check(*limited(3 * SCALE, 4 * SCALE - 1, "b")), "cp_sat finds 4")


def test_an_independent_solver_that_stops_is_never_equal(monkeypatch):
    monkeypatch.setattr(prover.CpSatModel, "solve", lambda *_: Answer("limit", Fraction(1), Fraction(9), ()))
    checks = check(*flawless())
    raise_on_mismatch(checks)
    assert count_checks(checks)["limit"] == 6
    assert not any(checks["equal"].to_pylist())


@pytest.mark.parametrize(("value", "bound"), [(Fraction(9), Fraction(10)), (None, Fraction(1))])
def test_a_claim_that_an_unfinished_proof_contradicts_is_caught(monkeypatch, value, bound):
    monkeypatch.setattr(prover.CpSatModel, "solve", lambda *_: Answer("limit", value, bound, ()))
    assert_caught(check(*flawless()), "cp_sat finds (9|nothing)")


# ---- faults planted inside the solver's own path: its scaling, its bound, its ties


def solved_with_fault(monkeypatch, name, fault, module=stage, solved=PACKAGES):
    monkeypatch.setattr(module, name, fault(getattr(module, name)))
    pools = [BUILT_IN["full"]]
    made = stage.solve_packages(
        solved,
        pools,
        cost_model="declared",
        k=1,
        saturation=CAP1,
        budgets={3: "3"},
        node_limit=10**6,
    )
    return check_solutions(
        to_table("solutions", made.solutions),
        to_table("solution_selections", made.selections),
        tables_of(solved), "cp_sat", POOLS, DEFINITIONS, COST_MODELS, ties=True,
    )  # fmt: skip


def changed(instance, **arrays):
    return replace(instance, **arrays)


SCALING_FAULTS = {
    "weights cut to whole numbers": lambda i: changed(i, weight=i.weight // 2, scale=max(1, i.scale // 2)),
    "scale off by one": lambda i: changed(i, scale=i.scale + 1),
    "a unit dropped": lambda i: changed(i, weight=np.where(np.arange(len(i.weight)) == 1, 0, i.weight)),
    "a cost one too low": lambda i: changed(i, cost=np.maximum(1, i.cost - (np.arange(len(i.cost)) == 2))),
    "a candidate's coverage dropped": lambda i: changed(i, cov=np.where(i.cov_unit == 0, 0, i.cov)),
}


def test_the_solver_without_a_planted_fault_passes(monkeypatch):
    checks = solved_with_fault(monkeypatch, "scale", lambda scale: scale)
    raise_on_mismatch(checks)
    assert all(checks["equal"].to_pylist())


@pytest.mark.parametrize("fault", sorted(SCALING_FAULTS))
def test_a_fault_in_the_solvers_instance_is_caught(monkeypatch, fault):
    damage = SCALING_FAULTS[fault]
    checks = solved_with_fault(monkeypatch, "scale", lambda scale: lambda *args: damage(scale(*args)))
    with pytest.raises(MismatchError):
        raise_on_mismatch(checks)


def test_instance_faults_really_change_the_instance():
    instance = scale(PACKAGES[0], CAP1)
    assert all(damage(instance).hash != instance.hash for damage in SCALING_FAULTS.values())


def test_a_search_that_stops_early_and_claims_the_optimum_is_caught(monkeypatch):
    """A bound fault: the search never looks at stores that cost more than 1."""
    checks = solved_with_fault(
        monkeypatch, "sweep", lambda solve: lambda instances, _, k, nodes, ends: solve(instances, [1], k, nodes, ends)
    )
    assert_caught(checks, "the selection is worth|cp_sat finds")


def test_a_reduction_that_drops_a_needed_option_is_caught(monkeypatch):
    """Every instance goes by its curve, whose reduction kills all options of the first group."""

    def fault(reduced):
        def damaged(options, budget):
            alive, coupled, base = reduced(options, budget)
            alive[: options.start[1]] = False
            return alive, coupled, base

        return damaged

    monkeypatch.setattr(choose, "QUICK_LOOKS", 0)
    raise_on_mismatch(solved_with_fault(monkeypatch, "reduced", lambda reduced: reduced, module=frontier_module))
    assert_caught(solved_with_fault(monkeypatch, "reduced", fault, module=frontier_module), "cp_sat finds")


def test_a_wrong_choice_among_equal_optima_is_caught(monkeypatch):
    """A tie-breaking fault: the last of the equal optima instead of the first (groups searched backwards)."""

    def backwards(solve):
        def solved(instances, *how):
            found = solve(instances, *how)
            last = [tuple(last_optimum(i, s) for s in f.solutions) for i, f in zip(instances, found, strict=True)]
            return [replace(f, solutions=own) for f, own in zip(found, last, strict=True)]

        return solved

    candidates = [Candidate(f"p1:{c}", f"g{c}", "fact", 3, t) for t, c in enumerate("abc")]
    cells = {(c.candidate_id, f"u{i}"): 1.0 for i, c in enumerate(candidates)}
    tied = build("s", "p1", "example", 0, candidates, [Unit(f"u{i}", 1.0) for i in range(3)], cells, [])
    raise_on_mismatch(solved_with_fault(monkeypatch, "sweep", lambda solve: solve, solved=[tied]))
    checks = solved_with_fault(monkeypatch, "sweep", backwards, solved=[tied])
    assert_caught(checks, "of equal value and cost, p1:a comes first")


def last_optimum(instance, solution):
    """Another optimum of the same value and cost, the last in order, by enumeration."""
    n = len(instance.cost)
    group = np.repeat(np.arange(len(instance.group_start) - 1), np.diff(instance.group_start))
    same = [
        chosen
        for size in range(n + 1)
        for chosen in combinations(range(n), size)
        if len(set(group[list(chosen)])) == size
        and instance.cost[list(chosen)].sum() == solution.cost
        and instance.value_int(chosen) == solution.value_int
    ]
    return solution._replace(selection=max(same, key=lambda c: (*c, n)))
