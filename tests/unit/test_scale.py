"""tools/scale: seeded families, the plan's rules, resuming, and the report's arithmetic on invented records."""

import json
import math
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from memaudit.errors import InputError

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools"))

from scale import families, plan, report, run, solvers, tables  # noqa: E402
from scale.plan import CURVE, OURS, PLAIN, Job, Part, Plan  # noqa: E402

FAMILIES = {
    "dense": 12, "chains": 25, "path": 25, "natural_like": 5, "corpus": 6, "shared_corpus": 20, "wide": 3, "rich": 2,
}  # fmt: skip
SMALL_PLAN = Plan((Part("chains", (10, 20), (0.1,), (OURS, "highs", PLAIN)),), seeds=2, limit=10.0, hours=1.0)


# ---- Families


@pytest.mark.parametrize("family", FAMILIES)
def test_families_are_seeded(family):
    make = getattr(families, family)
    one, again, other = make(FAMILIES[family], 1), make(FAMILIES[family], 1), make(FAMILIES[family], 2)
    assert one.content_hash == again.content_hash != other.content_hash


@pytest.mark.parametrize("family", ["dense", "chains", "path", "shared_corpus"])
def test_the_size_counts_groups(family):
    assert len(getattr(families, family)(31, 0).visible.group_ids) == 31


def test_growth_families_hold_all_but_one_thing():
    narrow, broad, rich = families.wide(2, 0), families.wide(4, 0), families.rich(4, 0)
    assert {len(p.visible.group_ids) for p in (narrow, broad, rich)} == {500}
    assert (len(narrow), len(broad), len(rich)) == (1000, 2000, 2000)
    assert len(narrow.units) == len(broad.units) == 500 * 2 + 125
    assert len(rich.units) == 500 * 4 + 125


def test_natural_like_adds_a_group_an_export():
    without = families.natural_like(0, 3)
    assert 2 <= len(without.visible.group_ids) <= 4
    assert len(families.natural_like(60, 3).visible.group_ids) in range(62, 65)


def test_every_family_of_the_plans_can_be_made():
    for whole in plan.PLANS.values():
        assert all(hasattr(families, family) for family in plan.families(whole))


# ---- Plans


@pytest.mark.parametrize("name", plan.PLANS)
def test_jobs_have_names_of_their_own(name):
    made = list(plan.jobs(plan.PLANS[name]))
    assert len({job.name for job in made}) == len(set(made)) == len(made)


def test_a_solver_is_not_asked_for_larger_ones_than_it_can():
    small, large = (Job("chains", size, 0.1, 0, "highs", 10.0, 1.0) for size in (10, 20))
    assert plan.needless(large, {}, SMALL_PLAN) is None
    assert plan.needless(large, {small: {"status": "optimal"}}, SMALL_PLAN) is None
    assert plan.needless(large, {small: {"status": "killed"}}, SMALL_PLAN) == "skipped"
    assert plan.needless(large._replace(seed=1), {small: {"status": "killed"}}, SMALL_PLAN) == "skipped"
    assert plan.needless(small, {large: {"status": "killed"}}, SMALL_PLAN) is None
    assert plan.needless(small, {large._replace(seed=1): {"status": "killed"}}, SMALL_PLAN) is None


def test_dense_gaps_of_ours_and_the_mips_are_asked_for_at_every_size():
    small = Job("dense", 30, 0.1, 0, "highs", 60.0, 1.0)
    records = {small._replace(solver=s): {"status": "limit"} for s in plan.ONE_BUDGET}
    for solver in plan.ONE_BUDGET:
        expected = None if solver in (OURS, *plan.MIPS) else "skipped"
        for other in (small._replace(solver=solver, size=60), small._replace(solver=solver, seed=1)):
            assert plan.needless(other, records, plan.FULL) == expected


def test_less_effort_goes_first_and_more_is_not_asked_for_once_it_overran():
    jobs = [job for job in plan.jobs(plan.FULL) if job[:5] == ("dense", 200, 0.1, 0, OURS)]
    assert [job.effort for job in jobs] == [*plan.EFFORTS, 1.0]
    records = {jobs[1]: {"status": "limit", "seconds": 20.0}}
    assert {plan.needless(job, records, plan.FULL) for job in jobs[2:]} == {None}
    records[jobs[2]] = {"status": "killed", "seconds": 60.0}
    assert {plan.needless(job, records, plan.FULL) for job in jobs[3:]} == {"skipped"}


def test_a_shorter_limit_than_a_proof_took_is_asked_for():
    whole = Job("dense", 60, 0.1, 0, "highs", 60.0, 1.0)
    records = {whole: {"status": "optimal", "seconds": 7.0}}
    assert plan.needless(whole._replace(limit=10.0), records, plan.FULL) == "answered"
    assert plan.needless(whole._replace(limit=5.0), records, plan.FULL) is None


# ---- Runs


class Measured:
    """Invented solves that are counted; stops like a killed run after `most`."""

    def __init__(self, most=math.inf):
        self.jobs, self.most = [], most

    def __call__(self, job, task):
        if len(self.jobs) >= self.most:
            raise KeyboardInterrupt
        self.jobs.append(job)
        return {**job._asdict(), "status": "optimal", "seconds": 0.5, "value": "1", "bound": "1"}


def _run(folder, measured, **changes):
    run.run(folder, SMALL_PLAN._replace(**changes), make_task=lambda job: None, solve=measured)


def test_a_killed_run_goes_on(tmp_path):
    first, second, third = Measured(most=5), Measured(), Measured()
    with pytest.raises(KeyboardInterrupt):
        _run(tmp_path, first)
    (tmp_path / "records" / ".torn.json.partial").write_text("{", encoding="utf-8")  # killed while writing
    _run(tmp_path, second)
    _run(tmp_path, third)
    assert first.jobs + second.jobs == list(plan.jobs(SMALL_PLAN))
    assert third.jobs == []
    assert list(run.read_records(tmp_path)) and set(run.read_records(tmp_path)) == set(plan.jobs(SMALL_PLAN))


def test_hours_are_honoured_and_what_is_left_is_not_run(tmp_path):
    _run(tmp_path, first := Measured(), hours=0.0)
    assert first.jobs == []
    with pytest.raises(KeyboardInterrupt):
        _run(tmp_path, Measured(most=2))
    for path in (tmp_path / "records").glob("*.json"):
        row = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**row, "wall": 1800.0}), encoding="utf-8")  # two of these are the hour
    _run(tmp_path, second := Measured())
    assert second.jobs == []
    rows = tables.frame(run.read_records(tmp_path), SMALL_PLAN)
    assert rows["status"].value_counts().to_dict() == {"optimal": 2, "not run": 10}
    assert "Not complete" in report._state(rows, SMALL_PLAN)
    _run(tmp_path, third := Measured(), hours=2.0)
    assert len(third.jobs) == 10


def test_records_of_other_code_are_refused(tmp_path):
    run.open_folder(tmp_path, {"code": "a", "hours": 1})
    run.open_folder(tmp_path, {"code": "a", "hours": 2})
    with pytest.raises(InputError, match="another code"):
        run.open_folder(tmp_path, {"code": "b", "hours": 2})


def test_a_process_that_overruns_or_dies_is_told():
    import os
    import time

    job = Job("chains", 10, 0.1, 0, PLAIN, 0.05, 1.0)
    assert run._in_process(lambda: time.sleep(60), job) == {"status": "killed", "seconds": 0.05}
    job = job._replace(limit=30.0)
    assert run._in_process(lambda: os._exit(3), job) == {"status": "died", "seconds": 30.0, "exit": 3}


# ---- Real solves, judged


@pytest.fixture(scope="module")
def task():
    return solvers.make_task(Job("chains", 10, 0.2, 0, OURS, 10.0, 1.0))


def test_all_solvers_prove_the_same_value(task):
    found = {name: run.judge(solve(task, 10.0, 1.0), task) for name, solve in solvers.SOLVERS.items()}
    assert {row["status"] for row in found.values()} == {"optimal"}
    assert len({row["value"] for row in found.values()}) == 1
    assert not any("fault" in row for row in found.values())


def test_a_batch_adds_up():
    batch = solvers.make_task(Job("small", 3, 0.0, 0, OURS, 10.0, 1.0))
    ours, theirs = (run.judge(solvers.SOLVERS[name](batch, 10.0, 1.0), batch) for name in (OURS, "cp_sat"))
    assert ours == theirs
    assert ours["status"] == "optimal"


def test_a_record_tells_a_wrong_value_and_an_infeasible_selection(task):
    good = next(iter(solvers.ours(task, 10.0, 1.0)))
    assert "fault" not in run.judge([good], task)
    assert "is worth" in run.judge([good._replace(claimed=good.claimed + 1)], task)["fault"]
    assert "below the value" in run.judge([good._replace(bound=good.claimed - 1)], task)["fault"]
    everything = tuple(range(len(task.packages[0])))
    assert "of a budget of" in run.judge([good._replace(selection=everything, claimed=None)], task)["fault"]


def test_a_measured_record_has_what_the_tables_need(task):
    row = run.measure(Job("chains", 10, 0.2, 0, CURVE, 10.0, 1.0), task)
    assert row["status"] == "optimal"
    assert row["groups"] == 10
    assert row["seconds"] > 0
    assert set(tables._RECORDED) - {"wall", "fault"} <= set(row)


# ---- The report's arithmetic


def _records(*solves):
    """Records from (solver, seed, status, seconds, value, bound), of chains of ten groups."""
    made = {}
    for solver, seed, status, seconds, value, bound in solves:
        job = Job("chains", 10, 0.1, seed, solver, 10.0, 1.0)
        made[job] = {
            **job._asdict(), "status": status, "seconds": seconds, "value": value, "bound": bound, "groups": 10,
            "candidates": 30, "units": 20, "budget": 5, "cpu": seconds, "noise": 0.01, "peak_mib": 3.0, "wall": 1.0,
        }  # fmt: skip
    return made


def _rows(*solves):
    return tables.frame(_records(*solves), SMALL_PLAN)


def test_ratios_are_of_pairs_and_unproven_ones_are_lower_bounds():
    rows = _rows(
        (OURS, 0, "optimal", 0.5, "3", "3"), (OURS, 1, "optimal", 2.0, "3", "3"),
        ("highs", 0, "optimal", 1.0, "3", "3"), ("highs", 1, "limit", 9.0, "2", "4"),
    )  # fmt: skip
    made = tables.times(rows).set_index(["size", "solver"]).loc[(10, "highs")]
    assert (made["ratio_min"], made["ratio_median"], made["ratio_max"]) == (2.0, 3.5, 5.0)  # 10 s were given
    assert (made["ratio_at_least"], made["proven"], made["tried"]) == (1, 1, 2)
    assert made["gap_max"] == 0.5
    assert made["seconds_median"] == 1.0


def test_a_proof_after_the_limit_does_not_count_but_its_value_must_agree():
    rows = _rows((OURS, 0, "optimal", 0.5, "3", "3"), ("highs", 0, "optimal", 12.0, "3", "3"))
    late = rows[rows["solver"] == "highs"].iloc[0]
    assert (late["status"], late["solved"], late["gap"]) == ("late", False, 0.0)
    assert tables.pairs(rows)["at_least"].tolist() == [True]
    wrong = _rows((OURS, 0, "optimal", 0.5, "3", "3"), ("highs", 0, "optimal", 12.0, "4", "4"))
    assert "differ" in tables.faults(wrong)[0]


def test_losses_name_every_way_to_be_beaten():
    rows = _rows(
        (OURS, 0, "optimal", 2.0, "3", "3"), ("highs", 0, "optimal", 1.0, "3", "3"),
        (PLAIN, 0, "optimal", 3.0, "3", "3"), (OURS, 1, "limit", 9.0, "2", "4"),
        ("highs", 1, "optimal", 9.5, "3", "3"), (PLAIN, 1, "limit", 10.0, "3", "4"),
    )  # fmt: skip
    assert tables.losses(rows)["how"].tolist() == [
        "faster, 2.00 times", "proved it in 9.5 s, ours did not", "gap 25 % against 50 %",
    ]  # fmt: skip


def test_contradictions_are_faults():
    good = ((OURS, 0, "optimal", 1.0, "3", "3"), ("highs", 0, "optimal", 1.0, "3", "3"))
    assert tables.faults(_rows(*good)) == []
    assert "differ" in tables.faults(_rows(good[0], ("highs", 0, "optimal", 1.0, "7/2", "7/2")))[0]
    assert "above the proven" in tables.faults(_rows(good[0], ("highs", 0, "limit", 1.0, "4", "5")))[0]
    assert "below the proven" in tables.faults(_rows((OURS, 0, "limit", 1.0, "2", "5/2"), good[1]))[0]
    low = _rows(good[0], ("highs", 0, "limit", 1.0, "2", "5/2"))
    assert tables.faults(low) == []
    assert len(tables.low_bounds(low)) == 1


def test_a_contradiction_stops_the_report(tmp_path):
    for job, row in _records((OURS, 0, "optimal", 1.0, "3", "3"), ("highs", 0, "optimal", 1.0, "4", "4")).items():
        (tmp_path / "records").mkdir(exist_ok=True)
        (tmp_path / "records" / f"{job.name}.json").write_text(json.dumps(row), encoding="utf-8")
    run.open_folder(tmp_path, run.setting("full", 1.0))
    with pytest.raises(InputError, match="proven optima differ"):
        report.write(tmp_path, SMALL_PLAN)
    assert not (tmp_path / "report.md").exists()


def test_slopes():
    x = pd.Series([50.0, 100.0, 200.0, 400.0])
    assert tables.slope(x, 3 * x**1.5) == pytest.approx(1.5)
    assert math.isnan(tables.slope(x[:2], x[:2]))
    assert math.isnan(tables.slope(pd.Series([50.0, 51.0, 52.0]), x[:3]))


def test_profile_counts_unproven_instances():
    solved = {(OURS, 0): 1.0, ("highs", 0): 4.0, (OURS, 1): 2.0, ("highs", 1): 1.0}
    rows = []
    for seed in (0, 1):
        for solver in plan.ONE_BUDGET:
            seconds = solved.get((solver, seed), math.nan)
            rows.append({
                "family": "chains", "size": 10, "fraction": 0.1, "seed": seed, "solver": solver, "main": True,
                "seconds": seconds, "solved": seconds > 0, "status": "optimal" if seconds > 0 else "skipped",
            })  # fmt: skip
    found = tables.profile(pd.DataFrame(rows))
    assert found[OURS].tolist() == [1.0, 2.0]
    assert found["highs"].tolist() == [1.0, 4.0]
    assert np.isinf(found[PLAIN]).all()
    rows[-1]["status"] = "not run"
    assert len(tables.profile(pd.DataFrame(rows))[OURS]) == 1


def test_gaps_of_answered_limits_are_zero():
    two = Plan(
        (Part("dense", (60,), (0.1,), ("highs",)), Part("dense", (60,), (0.1,), ("highs",), (5.0, 2.0))), 1, 10.0, 1
    )
    whole = Job("dense", 60, 0.1, 0, "highs", 10.0, 1.0)
    records = {
        whole: {**whole._asdict(), "status": "optimal", "seconds": 4.0, "value": "3", "bound": "3"},
        whole._replace(limit=2.0): {"status": "limit", "seconds": 2.0, "value": "3", "bound": "4"},
    }
    found = tables.gaps(tables.frame(records, two))
    assert dict(zip(found["limit"], found["gap_max"], strict=True)) == {2.0: 0.25, 5.0: 0.0, 10.0: 0.0}


def test_ours_counts_with_the_most_effort_that_ended_in_time():
    parts = (Part("dense", (60,), (0.1,), (OURS,)), Part("dense", (60,), (0.1,), (OURS,), (None,), plan.EFFORTS))
    efforts = Plan(parts, 1, 10, 1)
    whole = Job("dense", 60, 0.1, 0, OURS, 10, 1.0)
    records = {
        whole: {"status": "killed", "seconds": 10.0},
        whole._replace(effort=1 / 64): {"status": "limit", "seconds": 1.0, "value": "2", "bound": "4"},
        whole._replace(effort=1 / 16): {"status": "limit", "seconds": 4.0, "value": "3", "bound": "4"},
        whole._replace(effort=1 / 4): {"status": "limit", "seconds": 11.0, "value": "4", "bound": "4"},
    }
    rows = tables.frame(records, efforts).set_index("effort")
    assert (rows.loc[1.0, "status"], rows.loc[1.0, "gap"], rows.loc[1.0, "seconds"]) == ("limit", 0.25, 10.0)
    assert rows.loc[1 / 2, "status"] == "skipped"
    assert rows.loc[1 / 256, "status"] == "not run"
    del records[whole]
    again = tables.frame(records, efforts).set_index("effort")
    assert again.loc[1.0, ["status", "gap", "seconds"]].tolist() == ["limit", 0.25, 10.0]


def test_aims_say_what_was_not_measured():
    found = tables.aims(_rows((OURS, 0, "optimal", 1.0, "3", "3")), {})
    assert {aim.met for aim in found} == {"not measured"}


def test_aims_compare_with_the_median():
    plan_20 = SMALL_PLAN._replace(parts=(Part("chains", (20, 2000), (0.1,), (OURS, "highs")),), seeds=3)
    records = {}
    for seed, (ours, other) in enumerate([(0.1, 2.0), (0.2, 2.0), (0.9, 2.0)]):
        for solver, seconds in ((OURS, ours), ("highs", other)):
            for size in (20, 2000):
                job = Job("chains", size, 0.1, seed, solver, 10.0, 1.0)
                records[job] = {"status": "optimal", "seconds": seconds, "value": "1", "bound": "1"}
    found = {
        aim.aim: aim for aim in tables.aims(tables.frame(records, plan_20), {}) if aim.family == "chains, one budget"
    }
    assert found["2,000 groups in 0.3 s"].met == "yes"
    assert found[">= 10 times highs at every size from 20 up"].met == "yes"
    assert found[">= 20 times cbc at every size from 20 up"].met == "not measured"


def test_numbers_read_well():
    assert [tables.short(s) for s in (2.5, 0.0123, 1.2e-05)] == ["2.5 s", "12.3 ms", "12 µs"]


def test_the_readme_has_the_markers_and_only_what_is_between_changes():
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    changed = report.with_block(text, "new")
    assert changed.partition(report.BEGIN)[0] == text.partition(report.BEGIN)[0]
    assert changed.partition(report.END)[2] == text.partition(report.END)[2]
    with pytest.raises(InputError, match="must stand in it"):
        report.with_block("nothing", "new")


def test_the_plain_reference_selects_what_it_says():
    package = families.chains(10, 4)
    value, selection = solvers.plain_search(package, 40)
    problem = solvers._task([package], (40,)).problems[0]
    assert problem.breach(selection, 40) is None
    assert float(problem.value(selection)) == pytest.approx(value, abs=1e-9)
    assert isinstance(problem.value(selection), Fraction)


def test_a_lower_bound_below_the_aim_decides_nothing():
    part = pd.DataFrame({"ratio": [12.0, 4.0, 5.0], "at_least": [False, True, True]})
    assert tables._met(part, 10) == tables.UNDECIDED
    assert tables._met(part.assign(at_least=False), 10) == "no"
    assert tables._met(part[:0], 10) == "yes"


def test_highs_keeps_its_incumbent_and_bound_at_its_limit():
    task = solvers.make_task(Job("dense", 60, 0.1, 0, "highs", 1.0, 1.0))
    row = run.judge(solvers.highs(task, 1.0, 1.0), task)
    assert row["status"] in ("optimal", "limit")
    assert "fault" not in row
    if row["bound"] is not None and row["value"] is not None:
        assert Fraction(row["value"]) <= Fraction(row["bound"])
