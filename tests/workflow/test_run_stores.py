"""Exported stores of an invented coverage package through the whole workflow: unions, checks, scores, tables."""

import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pipeline import ROOT, planned, run, snakemake, write_config

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))

from coverage_folders import row, tables, write

from memaudit.check.verify_io import verify
from memaudit.schemas import STORE_TABLES
from memaudit.table_io import read_table

CONFIG = {
    "published": str(ROOT / "config" / "published.csv"),
    "suites": {
        "released": {
            "source": "coverage_package", "package": "package", "budgets": [4, 0.5, 12], "robustness": None,
            "cost_models": ["declared", "words"], "compare_stores": ["mem0", "notes"], "paper_package": True,
        },
    },
    "stores": {
        "mem0": {
            "suite": "released", "path": "mem0.json", "format": "mem0", "coverage": "labels.jsonl",
            "salience": "salience.jsonl", "cost_model": "paper",
        },
        "notes": {"suite": "released", "path": "notes", "cost_model": "words", "rules": ["recency", "full_store"]},
        "tiny-scripted": {
            "suite": "released", "path": "tiny.jsonl", "coverage": "labels.jsonl", "demonstration": True,
            "skip_empty": True,
        },
    },
    "writers": {"opt": {"rule": "opt"}, "recency_raw": {"rule": "recency_raw"}},
    "bootstrap": {"resamples": 20},
}  # fmt: skip
MEM0 = {
    "q_bike": {
        "results": [
            {"id": "m1", "memory": "The bicycle is red.", "created_at": "2024-02-01T10:00:00Z"},
            {"id": "m2", "memory": "The bicycle was painted blue.", "created_at": "2024-03-02T10:00:00Z"},
            {"id": "m3", "memory": "Somebody said that this is nice.", "created_at": "2024-03-03T10:00:00Z"},
        ],
    },
    "q_tea": {"results": []},
}
LABELS = [
    {"instance_id": "q_bike", "coverage_edges": [
        {"memory_id": "m1", "unit_id": "q_bike::old", "coverage": 1},
        {"memory_id": "m2", "unit_id": "q_bike::new", "coverage": 1.0},
        {"memory_id": "ghost", "unit_id": "q_bike::new", "coverage": 1.0},
    ]},
    {"instance_id": "q_tea", "coverage_edges": [{"memory_id": "t", "unit_id": "q_tea::u1", "coverage": 0.5}]},
]  # fmt: skip
NOTES = {
    "q_bike.md": "- The bicycle is blue, it was red, and red it is no longer.\n",
    "q_tea.md": "- Tea: three cups.\n",
}


def lines(path, rows):
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stores")
    package = tables()
    row(package["candidates"], "q_bike::c5")["text"] = "bicycles can be painted"
    write(folder / "package", package)
    (folder / "mem0.json").write_text(json.dumps(MEM0))
    lines(folder / "labels.jsonl", LABELS)
    lines(folder / "salience.jsonl", [{"instance_id": "q_bike", "scores": {"m1": 0.9, "m2": {"salience": 0.5}}}])
    (folder / "notes").mkdir()
    for name, text in NOTES.items():
        (folder / "notes" / name).write_text(text)
    edges = [("q_bike", "q_bike::new"), ("q_bike", "q_bike::gone"), ("q_tea", "q_tea::u1")]
    lines(folder / "notes" / "coverage_scoring_calls.jsonl", [
        {"instance_id": i, "coverage_edges": [{"memory_id": "bullet-1", "unit_id": u, "coverage": 1}]} for i, u in edges
    ])  # fmt: skip
    lines(folder / "tiny.jsonl", [{"instance_id": "q_tea", "id": "t", "text": "tea, tea, tea"}])
    write_config(folder, CONFIG)
    run(folder)
    return folder


def frame(folder, name):
    return read_table(folder / "results" / "analysis" / "released" / f"{name}.parquet", name).to_pandas()


def test_every_table_of_stores_keeps_its_contract(finished):
    for name in STORE_TABLES:
        found = frame(finished, name)
        assert set(found["store"]) == {"mem0", "notes", "tiny-scripted"}, name
    shown = {p.stem for p in (finished / "results" / "tables" / "released").iterdir()}
    assert {"external_denominators", "store_diagnosis", "store_lost_units", "store_anatomy", "store_costs"} <= shown
    assert (finished / "results" / "figures" / "released" / "store_diagnostic.png").exists()


def test_ratios_by_every_denominator(finished):
    rows = frame(finished, "store_summary").set_index(["store", "cost_model", "budget", "rule"])
    best = rows.loc["mem0", "declared", 8, "upper_exact"]
    # Package OPT of q_bike within 8: c3 (half of 2.5) alone, or c3 and c2 (1 + 1.25) at cost 8; union: m2 and c2.
    assert best["mean_value"] == 1.25 and best["union_ratio"] == pytest.approx(2.5 / 3.5)
    assert (best["n"], best["union_undefined_n"], best["empty_n"], best["memory_cost"]) == (1, 1, 1, "words")
    assert best["joint_n"] == 2 and best["joint_ratio"] < best["union_ratio"]
    assert rows.loc["mem0", "words", 12, "salience"]["union_ratio"] == pytest.approx(2.5 / 3.5 / 2)
    tiny = rows.loc["tiny-scripted"]
    assert set(tiny.index.get_level_values("cost_model")) == {"words"}  # the same costs on both sides, or none
    assert (tiny["without_n"] == 1).all() and tiny["joint_ratio"].isna().all() and tiny["demonstration"].all()
    assert set(rows.loc["notes"].index.get_level_values("rule")) == {"recency", "full_store", "upper_exact"}
    # A fraction is one of the suite's own mean cost, not of the union's.
    budgets = read_table(finished / "results" / "budgets" / "released.parquet", "budgets").to_pandas()
    for cost_model, part in budgets.groupby("cost_model"):
        assert set(rows.loc["mem0", cost_model].index.get_level_values("budget")) == set(part["budget"])


def test_losses_sum_to_the_gap_and_demonstrations_say_so(finished):
    told = frame(finished, "store_diagnosis")
    losses = told[["mean_missing", "mean_size", "mean_selection"]]
    assert losses.sum(axis=1).tolist() == pytest.approx(told["mean_gap"].tolist()) and (losses >= 0).all(axis=None)
    assert {"missing", "size", "selection"} <= set(told["verdict"])
    text = (finished / "results" / "tables" / "released" / "external_denominators.md").read_text()
    assert "tiny-scripted is a demonstration" in text.splitlines()[0]


def test_verify_checks_the_unions_and_finds_nothing_left_over(finished):
    results = finished / "results"
    report = verify(results)
    assert report.passed and report.left_over == []
    assert report.counts["instances"] > 60
    path = results / "solutions" / "released+mem0" / "words" / "k1.cap1" / "standard.0.solutions.parquet"
    before = path.read_bytes()
    table = pq.read_table(path)
    wrong = [v - 1 if v else v for v in table.column("value_int").to_pylist()]
    pq.write_table(table.set_column(table.column_names.index("value_int"), "value_int", pa.array(wrong)), path)
    assert not verify(results, scores=False).passed
    path.write_bytes(before)


def test_nothing_is_left_and_only_what_depends_on_a_change_reruns(finished):
    assert planned(finished) == {}
    labels = finished / "labels.jsonl"
    before = labels.read_bytes()
    labels.write_bytes(before.replace(b'"coverage": 1.0', b'"coverage": 0.5'))
    jobs = planned(finished)
    labels.write_bytes(before)
    assert jobs["ingest_store"] == 2 and jobs["union_packages"] == 5  # of notes nothing but the joint union
    assert not {"packages", "solve", "check", "score", "analyse"} & set(jobs)


def test_labels_of_another_store_stop_the_run(finished):
    labels = finished / "labels.jsonl"
    before = labels.read_bytes()
    labels.write_bytes(before.replace(b'"m1"', b'"x1"').replace(b'"m2"', b'"x2"'))
    done = snakemake(finished, "results/stores/mem0/ingest.parquet")
    labels.write_bytes(before)
    assert done.returncode != 0
    log = (finished / "results" / "logs" / "ingest_store" / "mem0.log").read_text()
    assert "no row is of a memory of store mem0" in log
