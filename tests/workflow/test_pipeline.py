"""The whole workflow on a tiny configuration: contracts, repeatability, what reruns, kills, bad input."""

import copy
import json
import shutil

import pandas as pd
import pyarrow.parquet as pq
import pytest
from pipeline import ROOT, TINY, digests, kill_when, planned, run, snakemake, write_config

from memaudit.cli import main
from memaudit.schemas import NATURAL_TABLES, TABLES
from memaudit.table_io import read_metadata, read_table, write_table


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished run on two cores. Tests must leave it as it is."""
    folder = tmp_path_factory.mktemp("run")
    write_config(folder, TINY)
    run(folder)
    return folder


@pytest.fixture
def copied(finished, tmp_path):
    """A copy of the finished run, times of files kept, to be changed."""
    folder = tmp_path / "run"
    shutil.copytree(finished, folder, copy_function=shutil.copy2)
    return folder


def changed(**suite):
    config = copy.deepcopy(TINY)
    config["suites"]["small"].update(suite)
    return config


def test_every_parquet_file_keeps_its_contract(finished):
    seen = set()
    for path in sorted((finished / "results").rglob("*.parquet")):
        name = read_metadata(pq.read_schema(path))["table"]
        table = read_table(path, name)
        keys = [tuple(row.values()) for row in table.select(TABLES[name].key).to_pylist()]
        assert keys == sorted(set(keys)), f"{path} is not sorted by its key"
        assert len(pd.read_parquet(path)) == len(table)
        seen.add(name)
    stores = {name for name in TABLES if name == "ingest" or name.startswith("store_")}
    assert seen == set(TABLES) - {"published_comparison", *NATURAL_TABLES} - stores


def test_every_optimum_is_cross_checked_and_ratios_hold(finished):
    scores = pd.concat(pd.read_parquet(p) for p in (finished / "results" / "scores").rglob("*.scores.parquet"))
    assert set(scores["opt_status"]) == {"cross_checked"}
    assert (scores[scores["writer"] == "opt"]["ratio"] == 1).all()
    assert scores["ratio"].between(0, 1).all()
    assert set(scores[scores["writer"] == "estimated_gvt"]["package_id"].str[-1]) == {"1", "3"}
    summary = pd.read_parquet(finished / "results" / "summary.parquet")
    assert len(summary) == 3 * 2 * len(TINY["writers"])  # two distributions and both together, two budgets
    pd.testing.assert_frame_equal(
        summary, pd.read_csv(finished / "results" / "summary.csv", dtype={"budget_spec": str}), check_dtype=False
    )


def test_the_manifest_says_what_ran(finished):
    manifest = json.loads((finished / "results" / "manifest.json").read_text())
    assert manifest["config"]["suites"]["small"]["seeds"] == 4
    assert manifest["versions"]["ortools"] and manifest["seconds_total"] > 0


def test_nothing_is_left_to_do(finished):
    assert planned(finished) == {}


def test_one_core_gives_the_same_bytes(finished, tmp_path):
    write_config(tmp_path, TINY)
    run(tmp_path, cores=1)
    assert digests(tmp_path) == digests(finished)


def test_a_budget_added_and_removed(finished, copied):
    write_config(copied, changed(budgets=[0.05, 8, 3]))
    jobs = planned(copied)
    assert (jobs["solve"], jobs["check"], jobs["score"]) == (1, 1, 1)  # all budgets in one
    assert "packages" not in jobs
    run(copied)
    assert len(pd.read_parquet(copied / "results" / "budgets" / "small.parquet")) == 3
    write_config(copied, TINY)
    run(copied)
    assert digests(copied) == digests(finished)


def test_two_spellings_of_a_budget_count_once(tmp_path):
    # The package of seed 0 costs 83 in all.
    write_config(
        tmp_path, {**changed(budgets=[8, 0.1], distributions=["base"], seeds=1), "writers": {"opt": {"rule": "opt"}}}
    )
    run(tmp_path)
    budgets = pd.read_parquet(tmp_path / "results" / "budgets" / "small.parquet")
    assert (budgets["budget"] == 8).all() and set(budgets["merged_into"]) == {"8"}
    assert len(pd.read_parquet(tmp_path / "results" / "summary.parquet")) == 1
    solutions = pd.read_parquet(next((tmp_path / "results" / "solutions").rglob("*.solutions.parquet")))
    assert list(solutions[solutions["pool"] == "full"]["budget_spec"]) == ["8"]


def test_every_budget(finished, tmp_path):
    """With and without declared budgets; these are solved as without a curve."""
    config = copy.deepcopy(TINY)
    config["suites"] = {
        "small": {**TINY["suites"]["small"], "curve": True, "max_budget": 40, "check_sample": 3},
        "whole": {"source": "synthetic", "distributions": ["base"], "seeds": 2, "budgets": "all", "pools": ["summary"]},
    }
    write_config(tmp_path, config)
    run(tmp_path)
    place = "declared/k1.cap1/standard.0"
    curves = pd.concat(pd.read_parquet(p) for p in sorted((tmp_path / "results/solutions").rglob("*.curves.parquet")))
    assert set(curves["status"]) == {"optimal"}
    assert set(curves["max_budget"][curves["suite"] == "small"]) == {40}
    packages = pd.read_parquet(tmp_path / "results" / "packages" / "whole" / "packages.parquet")
    assert set(curves["max_budget"][curves["suite"] == "whole"]) == set(packages["total_cost"])
    assert set(curves["pool"][curves["suite"] == "whole"]) == {"full", "summary"}
    with_curve, without = (
        pd.read_parquet(folder / "results" / "solutions" / "small" / f"{place}.solutions.parquet")
        for folder in (tmp_path, finished)
    )
    pd.testing.assert_frame_equal(with_curve, without)
    of_curve = curves[curves["suite"] == "small"].sort_values("budget")
    key = ["suite", "package_id", "pool"]
    read_off = pd.merge_asof(with_curve.sort_values("budget"), of_curve, on="budget", by=key, suffixes=("", "_curve"))
    assert (read_off["value_int"] == read_off["value_int_curve"]).all()
    checks = pd.read_parquet(tmp_path / "results" / "checks" / "small" / f"{place}.cp_sat-curves.parquet")
    assert checks["equal"].all() and len(checks) > 10
    mean = pd.read_parquet(tmp_path / "results" / "analysis" / "small" / "mean_curves.parquet")
    marked = mean[(mean["distribution"] == "all") & (mean["pool"] == "full") & mean["budget_spec"].notna()]
    expected = without[without["pool"] == "full"].groupby("budget")["value"].mean()
    assert marked.set_index("budget")["mean_value"].to_dict() == pytest.approx(expected.to_dict())
    for suite in ("small", "whole"):
        assert (tmp_path / "results" / "figures" / suite / "opt_by_budget.png").exists()
    assert not (tmp_path / "results" / "scores" / "whole").exists()
    assert main(["verify", str(tmp_path / "results")]) == 0
    assert planned(tmp_path) == {}


def test_a_writer_of_ones_own_runs_alone(copied):
    (copied / "mine.py").write_text(
        "def cheapest(visible, budget, most=1):\n"
        "    order = sorted(range(len(visible)), key=lambda i: (visible.cost[i], visible.candidate_ids[i]))\n"
        "    return [i for i in order[:most] if visible.cost[i] <= budget]\n"
    )
    config = copy.deepcopy(TINY)
    config["writers"]["mine"] = {"rule": "mine.py:cheapest", "parameters": {"most": 1}}
    write_config(copied, config)
    jobs = planned(copied)
    assert jobs["score"] == 1 and not {"solve", "check", "packages"} & set(jobs)
    run(copied)
    summary = pd.read_parquet(copied / "results" / "summary.parquet")
    assert (summary[summary["writer"] == "mine"]["mean_selected"] == 1).all()
    (copied / "mine.py").write_text((copied / "mine.py").read_text() + "\n# edited\n")
    assert planned(copied)["score"] == 1


def test_cost_models_saturations_and_k_are_settings(tmp_path):
    config = changed(
        distributions=["base"], seeds=2, budgets=[8], pools=["full"], cost_models=["declared", "wordy"],
        saturations=["cap1", "half"], k=[1, 2],
    )  # fmt: skip
    config["cost_models"] = {"wordy": {"per_record": 1, "per_word": 0.5}}
    config["saturations"] = {"half": {"breakpoints": [[0, 0], [0.5, 0.75], [1, 1]]}}
    config["writers"] = {"opt": {"rule": "opt"}}
    write_config(tmp_path, config)
    run(tmp_path)
    summary = pd.read_parquet(tmp_path / "results" / "summary.parquet")
    assert len(summary) == 2 * 2 * 2
    values = summary.pivot_table(index=["cost_model", "saturation"], columns="k", values="mean_value")
    assert (values[2] >= values[1]).all()


def test_a_killed_run_is_resumed(finished, tmp_path):
    write_config(tmp_path, TINY)
    kill_when(tmp_path, "results/solutions/**/*.parquet")
    run(tmp_path, "--unlock")
    run(tmp_path)
    assert digests(tmp_path) == digests(finished)


def test_an_edited_source_reruns_its_stage_and_what_follows(copied, tmp_path):
    root = tmp_path / "checkout"
    shutil.copytree(
        ROOT,
        root,
        ignore=shutil.ignore_patterns(".venv*", ".git", ".snakemake", ".cache", "results", "tests", ".hypothesis"),
    )
    run(copied, "--touch", root=root)
    before = planned(copied, root=root)
    source = root / "scripts" / "memaudit" / "analysis" / "bootstrap.py"
    source.write_text(source.read_text() + "\n# edited\n")
    jobs = planned(copied, root=root)
    assert before == {} and "analyse" in jobs and not {"packages", "solve", "check", "score"} & set(jobs)


def test_a_bad_configuration_starts_nothing(tmp_path):
    write_config(tmp_path, {**changed(budgets=[0, 1.5], sedes=3), "wrtiers": {}})
    done = snakemake(tmp_path)
    assert done.returncode != 0 and not (tmp_path / "results").exists()
    for part in ("budgets[0]", "budgets[1]", "seeds", "writers", "config.yaml"):
        assert part in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize("kind", ["garbage", "foreign"])
def test_a_broken_file_between_stages_is_named(copied, kind):
    victim = copied / "results" / "packages" / "small" / "coverage.parquet"
    if kind == "garbage":
        victim.write_bytes(b"PAR1 this is not Parquet PAR1")
    else:
        pd.DataFrame({"a": [1]}).to_parquet(victim)
    done = snakemake(copied, "--forcerun", "solve")
    assert done.returncode != 0
    assert "coverage.parquet" in done.stdout and "snakemake again" in done.stdout


def test_an_edited_package_is_noticed(copied):
    path = copied / "results" / "packages" / "small" / "coverage.parquet"
    table = read_table(path, "coverage")
    values = table["coverage"].to_pylist()
    values[0] /= 2
    write_table(path, "coverage", {**table.to_pydict(), "coverage": values})
    done = snakemake(copied)
    assert done.returncode != 0 and "is not what was built" in done.stdout


def test_a_solution_of_another_setting_is_noticed(copied):
    path = next((copied / "results" / "solutions").rglob("*.solutions.parquet"))
    table = read_table(path, "solutions").to_pydict()
    write_table(path, "solutions", {**table, "k": [2] * len(table["k"])})
    done = snakemake(copied)
    assert done.returncode != 0 and "k is 2 where 1 belongs" in done.stdout


def test_a_wrong_optimum_stops_the_run_and_names_the_instance(copied):
    path = next((copied / "results" / "solutions").rglob("*.solutions.parquet"))
    table = read_table(path, "solutions").to_pydict()
    for column in ("value_int", "bound_int"):
        table[column][0] += 1
    write_table(path, "solutions", table)
    done = snakemake(copied)
    assert done.returncode != 0
    assert f"package {table['package_id'][0]}" in done.stdout and "cp_sat finds" in done.stdout


def test_deleted_results_are_made_again(copied):
    shutil.rmtree(copied / "results" / "scores")
    (copied / "results" / "summary.csv").unlink()
    jobs = planned(copied)
    assert jobs["score"] == 1 and jobs["summary"] == 1


def test_results_without_their_records_are_refused(copied):
    shutil.rmtree(copied / ".snakemake")
    done = snakemake(copied)
    assert done.returncode != 0 and "cannot be told" in done.stdout and "Traceback" not in done.stdout
