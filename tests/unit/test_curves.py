"""Curves after they are solved: their independent check, and their mean over packages."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from check_cases import COST_MODELS, DEFINITIONS, POOLS, example, tables_of
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.analysis.curves import curve_counts, mean_curves
from memaudit.check import prover
from memaudit.check.certify import MismatchError, Problems, define
from memaudit.check.curves import (
    Sample,
    check_curves,
    curve_faults,
    curves_of,
    mismatches,
    raise_on_faults,
    sampler,
)
from memaudit.check.model import Answer
from memaudit.check.prover import Prover
from memaudit.check.rows import read_rows
from memaudit.objective import CAP1
from memaudit.pools import BUILT_IN
from memaudit.present.drawing import thinned_steps
from memaudit.solve.stage import solve_packages
from memaudit.synthetic import generate
from memaudit.table_io import to_table
from strategies import packages

PACKAGES = [generate("s", "base", seed) for seed in (0, 1)] + [generate("s", "update_chain", 3)]


def solved(some, budgets=(), ends=None):
    """Tables solutions and curves of packages, on pools full and no_validity."""
    made = solve_packages(
        some,
        [BUILT_IN["full"], BUILT_IN["no_validity"]],
        cost_model="declared",
        k=1,
        saturation=CAP1,
        budgets={b: str(b) for b in budgets},
        node_limit=10**6,
        ends=ends or [p.total_cost for p in some],
    )
    return to_table("solutions", made.solutions), to_table("curves", made.curves)


def problems_of(some):
    return Problems(read_rows(tables_of(some), {p.package_id for p in some}), define(POOLS, DEFINITIONS, COST_MODELS))


def check(some, curves, declared=(), sample=Sample(2, 0), solver="cp_sat", limit=None, solutions=()):  # noqa: B008
    problems, curves = problems_of(some), curves_of(curves)
    raise_on_faults(curve_faults(curves, solutions, problems))
    return check_curves(curves, problems, Prover(solver, limit), sampler(declared, sample))


def altered(table, change):
    """A table `curves` with rows (dicts) changed in place."""
    rows = table.to_pylist()
    change(rows)
    return pa.Table.from_pylist(rows, schema=table.schema)


# ---- the independent check


@pytest.mark.parametrize("solver", ["cp_sat", "highs"])
def test_true_curves_pass(solver):
    solutions, curves = solved(PACKAGES, (3, 8))
    checks = check(PACKAGES, curves, (3, 8), solver=solver, solutions=solutions.to_pylist())
    assert mismatches(checks) == [] and all(checks["equal"].to_pylist())


def test_the_sample():
    _, curves = solved(PACKAGES[:1])
    curve = curves_of(curves)[0]
    assert curve.key == ("full", PACKAGES[0].package_id)
    jumps = curve.budgets[1:].tolist()

    def drawn(n, seed=0, declared=()):
        return sampler(declared, Sample(n, seed))(curve, "problem")

    assert drawn(0) == [PACKAGES[0].total_cost]
    assert drawn(1) == drawn(1) and len({tuple(drawn(2, seed)) for seed in range(5)}) > 1
    everything = {PACKAGES[0].total_cost, *jumps, *(j - 1 for j in jumps)}
    assert set(drawn(1000)) == everything
    few = set(drawn(3))
    assert sum(b in jumps and b - 1 in few for b in few) >= 3
    left = set(drawn(1000, declared=jumps[1:]))
    assert left == {PACKAGES[0].total_cost, jumps[0], jumps[0] - 1}


@settings(max_examples=25)
@given(packages(max_groups=3, max_units=3), st.data())
def test_any_wrong_value_is_caught_where_all_jumps_are_drawn(package, data):
    """A value too high or too low anywhere, or a jump too early or too late."""
    _, curves = solved([package])
    where = [i for i, row in enumerate(curves.to_pylist()) if row["budget"] > 0]
    if not where:
        return
    i = data.draw(st.sampled_from(where))
    column = data.draw(st.sampled_from(["value_int", "budget"]))
    by = data.draw(st.sampled_from([-1, 1]))

    def change(rows):
        rows[i][column] += by
        rows[i]["value"] = rows[i]["value_int"] / rows[i]["scale"]

    with pytest.raises(MismatchError):
        raise_on_faults(mismatches(check([package], altered(curves, change), sample=Sample(1000, 0))))


def test_a_wrong_value_names_the_instance():
    _, curves = solved(PACKAGES[:1])

    def change(rows):
        rows[-1]["value_int"] += 1
        rows[-1]["value"] = rows[-1]["value_int"] / rows[-1]["scale"]

    [line] = mismatches(check(PACKAGES[:1], altered(curves, change)))
    assert f"suite s, package {PACKAGES[0].package_id}, budget {PACKAGES[0].total_cost}, pool no_validity" in line
    assert "the curve says" in line and "cp_sat finds" in line


def test_a_curve_that_contradicts_a_solution_is_a_fault():
    solutions, curves = solved(PACKAGES, (8,))
    rows = solutions.to_pylist()
    assert list(curve_faults(curves_of(curves), rows, problems_of(PACKAGES))) == []
    rows[0]["value_int"] += 1
    faults = list(curve_faults(curves_of(curves), rows, problems_of(PACKAGES)))
    assert len(faults) == 1 and "at budget 8" in faults[0] and rows[0]["package_id"] in faults[0]
    rows[0] |= {"status": "limit", "value_int": 0}  # a limit claims no more than its value
    assert list(curve_faults(curves_of(curves), rows, problems_of(PACKAGES))) == []


def test_equal_problems_are_checked_once():
    some = [example("p1"), example("p2"), example("p3", weight=3.0)]
    _, curves = solved(some)
    checks = check(some, curves)
    full = checks.filter(pa.compute.equal(checks["pool"], "full")).to_pylist()
    assert {(row["package_id"], row["n_packages"]) for row in full} == {("p1", 2), ("p3", 1)}


def test_a_solver_at_its_limit_is_no_mismatch(monkeypatch):
    _, curves = solved(PACKAGES)
    monkeypatch.setattr(prover.CpSatModel, "solve", lambda *_: Answer("limit", None, None, ()))
    checks = check(PACKAGES, curves, limit=1.0)
    assert set(checks["status"].to_pylist()) == {"limit"} and mismatches(checks) == []
    monkeypatch.setattr(prover.CpSatModel, "solve", lambda *_: Answer("limit", None, Fraction(0), ()))
    assert mismatches(check(PACKAGES, curves, limit=1.0))  # nothing finished, yet it excludes the curve


def test_an_unproven_curve_is_not_checked():
    _, curves = solved(PACKAGES[:1])
    curves = altered(
        curves.filter(pa.compute.equal(curves["budget"], 0)), lambda rows: [r.update(status="limit") for r in rows]
    )
    assert len(check(PACKAGES[:1], curves)) == 0


# ---- the mean


def dense_mean(curves, pool, n, end):
    """Mean values at budgets 0..end, by writing every budget out."""
    frame = curves.to_pandas().query("pool == @pool")
    total = np.zeros(end + 1)
    for _, own in frame.groupby("package_id"):
        place = np.searchsorted(own["budget"], np.arange(end + 1), side="right") - 1
        total += own["value"].to_numpy()[place]
    return total / n


def test_the_mean_is_that_of_every_budget():
    solutions, curves = solved(PACKAGES, (3, 8, 11))
    means = mean_curves(curves, solutions)
    assert set(means["distribution"]) == {"base", "update_chain", "all"}
    end = max(p.total_cost for p in PACKAGES)
    for pool in ("full", "no_validity"):
        own = means.query("distribution == 'all' and pool == @pool")
        place = np.searchsorted(own["budget"], np.arange(end + 1), side="right") - 1
        np.testing.assert_allclose(own["mean_value"].to_numpy()[place], dense_mean(curves, pool, 3, end), atol=1e-12)
        assert dict(own.dropna(subset="budget_spec")[["budget", "budget_spec"]].to_numpy()) == {
            3: "3",
            8: "8",
            11: "11",
        }
        assert set(own["n"]) == {3} and set(own["unproven_n"]) == {0}


def test_declared_budgets_past_the_curves_end_are_not_in_the_mean():
    solutions, curves = solved(PACKAGES, (3, 8), ends=[5] * 3)
    means = mean_curves(curves, solutions)
    assert means["budget"].max() <= 5
    assert set(means["budget_spec"].dropna()) == {"3"}


def test_the_mean_leaves_out_what_is_not_proven_and_says_so():
    solutions, curves = solved(PACKAGES)
    lost = PACKAGES[0].package_id
    rows = [row for row in curves.to_pylist() if row["package_id"] != lost or row["budget"] == 0]
    rows = [row | ({"status": "limit"} if row["package_id"] == lost else {}) for row in rows]
    curves = pa.Table.from_pylist(rows, schema=curves.schema)
    base = mean_curves(curves, solutions).query("distribution == 'base' and pool == 'full'")
    assert set(base["n"]) == {1} and set(base["unproven_n"]) == {1}
    counts = curve_counts(curves, check(PACKAGES, curves), ["cp_sat"]).set_index("pool")
    assert counts.loc["full", ["curves", "unproven"]].tolist() == [3, 1]
    assert counts.loc["full", "points"] == counts.loc["full", "equal"] > 0
    nothing = to_table("curve_checks", {})
    assert curve_counts(curves, nothing, ["cp_sat", "highs"])["points"].tolist() == [0] * 4


def test_scales_that_differ_are_added_exactly():
    """1/3 of 0.1 + 0.2 + 0.3 is 0.2 and not 0.20000000000000004."""
    head = {"suite": "s", "distribution": "d", "cost_model": "c", "pool": "full", "k": 1, "saturation": "cap1",
            "status": "optimal", "max_budget": 9}  # fmt: skip
    rows = [
        {**head, "package_id": f"p{scale}", "budget": b, "value_int": v, "scale": scale, "value": v / scale}
        for scale, last in ((10, 1), (5, 1), (20, 6))
        for b, v in ((0, 0), (4, last))
    ]
    curves = to_table("curves", pd.DataFrame(rows))
    assert mean_curves(curves, to_table("solutions", {}))["mean_value"].tolist() == [0.0, 0.2]


def test_no_curves_have_no_mean():
    none = to_table("curves", {})
    assert mean_curves(none, to_table("solutions", {})).empty
    assert curve_counts(none, to_table("curve_checks", {}), ["cp_sat"]).empty


def test_a_thinned_curve_keeps_its_ends_and_its_shape():
    budgets = pd.Series(np.arange(0, 200_001))
    x, y = thinned_steps(budgets, budgets * 2.0, 3, 250_000)
    assert len(x) < 4000 and (x[0], y[0]) == (3, 6.0) and (x[-1], y[-1]) == (250_000, 400_000.0)
    np.testing.assert_array_equal(y[:-1], x[:-1] * 2.0)
    gaps = np.diff(np.log2(x[:-1])) / np.log2(250_000)
    assert gaps[x[1:-1] > 5000].max() < 1e-3  # of the width
    few = thinned_steps(pd.Series([0, 5, 9]), pd.Series([0.0, 1.0, 2.0]), 2, 20)
    assert few[0].tolist() == [2, 5, 9, 20] and few[1].tolist() == [0.0, 1.0, 2.0, 2.0]
