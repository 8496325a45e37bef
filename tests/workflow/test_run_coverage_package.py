"""A coverage package as a suite: from the folder to scores, and what a change of the folder reruns."""

import sys
from pathlib import Path

import pandas as pd
import pytest
from pipeline import planned, run, snakemake, write_config

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))

from coverage_folders import row, tables, write

CONFIG = {
    "suites": {
        "released": {
            "source": "coverage_package",
            "package": "package",
            "budgets": [0.2, 8],
            "cost_models": ["declared"],
        },
    },
    "writers": {"opt": {"rule": "opt"}, "oracle_gvt": {"rule": "gvt"}, "recency_raw": {"rule": "recency_raw"}},
    "bootstrap": {"resamples": 20},
}
# Tables and figures of natural suites have tests of their own.
SUMMARY = "results/summary.parquet"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished run; tests leave its results as they are."""
    folder = tmp_path_factory.mktemp("run")
    write(folder / "package", tables())
    write_config(folder, CONFIG)
    run(folder, SUMMARY)
    return folder


def table(folder, name):
    return pd.read_parquet(folder / "results" / "packages" / "released" / f"{name}.parquet")


def test_tables_and_scores(finished):
    assert list(table(finished, "packages")["package_id"]) == ["q_bike", "q_tea"]
    assert list(table(finished, "unscored")["reason"]) == []
    labels = table(finished, "labels")
    assert dict(labels["source"].value_counts()) == {"package": 4, "m1": 1, "m2": 1}
    assert (labels["value"] == 0).sum() == 1
    primary = table(finished, "requirements").set_index("unit_id")["primary"]
    assert dict(primary) == {"q_bike::gone": False, "q_bike::new": True, "q_tea::u1": True}
    assert set(table(finished, "warnings")["kind"]) == {"incomplete", "mixed_time"}
    summary = pd.read_parquet(finished / "results" / "summary.parquet")
    assert set(summary["suite"]) == {"released"}
    assert (summary[summary["writer"] == "opt"]["mean_ratio"] == 1).all()


def test_nothing_is_left_to_do(finished):
    assert planned(finished, "--nocolor", SUMMARY) == {}


def test_changed_and_new_files_are_noticed(finished):
    path = finished / "package" / "coverage_matrix.jsonl"
    before = path.read_bytes()
    path.write_bytes(before.replace(b"0.5", b"0.75"))
    assert planned(finished, "--nocolor", SUMMARY)["packages"] == 1
    path.write_bytes(before)
    new = finished / "package" / "annotation_decisions.jsonl"
    new.write_text('{"query_id": "q_tea", "status": "rejected"}\n')
    assert planned(finished, "--nocolor", SUMMARY)["packages"] == 1
    new.unlink()


def test_errors_of_the_folder_stop_the_run_by_file_and_line(tmp_path):
    rows = tables()
    row(rows["candidates"], "q_tea::c1")["cost"] = -2
    write(tmp_path / "package", rows)
    write_config(tmp_path, CONFIG)
    done = snakemake(tmp_path, SUMMARY)
    assert done.returncode != 0
    log = (tmp_path / "results" / "logs" / "packages" / "released.log").read_text()
    assert "candidate_memories.jsonl: line 6: out_of_range: q_tea::c1: cost is -2" in log


def test_folder_that_is_not_there(tmp_path):
    write_config(tmp_path, CONFIG)
    done = snakemake(tmp_path, SUMMARY)
    assert done.returncode != 0
    assert "suites.released.package: there is no 'package'" in done.stdout
