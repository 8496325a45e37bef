"""Exported stores of an invented coverage package through the whole workflow: unions, checks, scores, tables."""

import copy
import json
import re
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pipeline import ROOT, planned, run, snakemake, write_config

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))

from coverage_folders import row, tables, write

from memaudit.check.ledger import LOSSES
from memaudit.check.plan import definitions_of_manifest, plans_of_manifest, stores_of_manifest
from memaudit.check.report import How, Report
from memaudit.check.stores_io import verify_stores
from memaudit.check.suite_io import SuiteRun
from memaudit.check.verify_io import verify
from memaudit.schemas import STORE_TABLES, TABLES
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
        "guess": {"suite": "released", "path": "guess", "judge": "proxy", "cost_model": "paper"},
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
SALIENCE = [{"instance_id": "q_bike", "scores": {"m1": 0.9, "m2": {"salience": 0.5}, "m3": 0}}]
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
    lines(folder / "salience.jsonl", SALIENCE)
    (folder / "notes").mkdir()
    for name, text in NOTES.items():
        (folder / "notes" / name).write_text(text)
    edges = [("q_bike", "q_bike::new"), ("q_bike", "q_bike::gone"), ("q_tea", "q_tea::u1")]
    lines(folder / "notes" / "coverage_scoring_calls.jsonl", [
        {"instance_id": i, "coverage_edges": [{"memory_id": "bullet-1", "unit_id": u, "coverage": 1}]} for i, u in edges
    ])  # fmt: skip
    (folder / "guess").mkdir()
    for name, text in NOTES.items():
        (folder / "guess" / name).write_text(text)
    lines(folder / "tiny.jsonl", [{"instance_id": "q_tea", "id": "t", "text": "tea, tea, tea"}])
    write_config(folder, CONFIG)
    (folder / "console.txt").write_text(run(folder))
    return folder


def frame(folder, name):
    return read_table(folder / "results" / "analysis" / "released" / f"{name}.parquet", name).to_pandas()


def test_every_table_of_stores_keeps_its_contract(finished):
    for name in STORE_TABLES:
        found = frame(finished, name)
        own = {"store_judges": {"guess"}, "store_compared": {"mem0"}, "store_compared_ranges": {"mem0"}}
        assert set(found["store"]) == own.get(name, {"mem0", "guess", "notes", "tiny-scripted"}), name
    shown = {p.stem for p in (finished / "results" / "tables" / "released").iterdir()}
    assert {
        "store_judges",
        "external_denominators",
        "store_diagnosis",
        "store_lost_units",
        "store_anatomy",
        "store_costs",
        "store_compared",
    } <= shown
    assert (finished / "results" / "figures" / "released" / "store_diagnostic.png").exists()


def test_the_console_and_an_index_say_where_to_look(finished):
    page = "results/tables/released/store_diagnosis.md"
    line = f"memaudit: what the stores of suite released lose, and what to change: see {page}"
    assert line in (finished / "console.txt").read_text().splitlines()
    index = finished / "results" / "tables" / "released" / "README.md"
    pages = {f"({path.name})" for path in index.parent.glob("*.md") if path != index}
    assert all(page in index.read_text() for page in pages) and len(pages) > 8
    manifest = json.loads((finished / "results" / "manifest.json").read_text())
    assert "tables/released/README.md" in json.dumps(manifest)


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


def test_compared_stores_stand_side_by_side(finished):
    told = frame(finished, "store_compared")
    assert set(told["other"]) == {"notes"} and set(told["kept"]) == {"diagnosed", "upper_exact"}
    assert set(told["rule"]) == {"salience", "upper_exact"} and set(told["other_rule"]) == {"recency", "upper_exact"}
    summary = frame(finished, "store_summary").set_index(["store", "cost_model", "budget", "view", "rule"])
    for r in told.itertuples():
        for store, rule, ratio in ((r.store, r.rule, r.ratio), (r.other, r.other_rule, r.other_ratio)):
            mean = summary.loc[store, r.cost_model, r.budget, "", rule]
            assert (mean["joint_n"], mean["joint_ratio"]) == (r.n, pytest.approx(ratio, nan_ok=True))
    assert told["difference"].tolist() == pytest.approx((told["ratio"] - told["other_ratio"]).tolist(), nan_ok=True)
    assert set(told["verdict"]) == {"too_few"} and told["n"].max() == 2
    folder = finished / "results" / "tables" / "released"
    assert {path.suffix for path in folder.glob("store_compared.*")} == {".md", ".csv", ".tex"}
    text = (folder / "store_compared.md").read_text()
    assert "Stores compared: mem0, notes" in text and "too few examples to tell" in text and "tiny" not in text


def test_a_store_without_labels_is_judged_and_says_so(finished):
    stores = finished / "results" / "stores"
    coverage = read_table(stores / "guess" / "store_coverage.parquet", "store_coverage").to_pandas()
    assert set(coverage["labels"]) == {"proxy"} and set(coverage["coverage"]) <= {0.5, 1.0} and len(coverage)
    assert (
        not list((stores / "mem0").rglob("verdicts.parquet")) and not (stores / "mem0" / "store_judge.parquet").exists()
    )
    told = frame(finished, "store_diagnosis").set_index("store")
    own = told.loc[["guess"]]
    assert own["draws"].eq(200).all() and own["agreement"].between(0, 1).all() and own["kappa"].gt(0.4).all()
    undecided, undefined = own["verdict"] == "undecided", own["verdict"] == "undefined"
    assert undefined.eq(own["mean_opt"] == 0).all()
    assert undecided[~undefined].eq(((own["agreement"] < 0.8) | own["leans"].astype(bool))[~undefined]).all()
    assert own["verdict"].eq(own["largest"])[~undecided & ~undefined].all()
    assert own["verdict_text"].str.contains("by the proxy", case=False).all()
    assert told.loc[["mem0", "notes"], "agreement"].isna().all()
    for cost_model in ("declared", "words"):
        path = stores / "guess" / cost_model / "k1.cap1" / "verdicts.parquet"
        found = read_table(path, "store_verdicts").to_pandas()
        counted = found[[f"{n}_draws" for n in (*LOSSES, "nothing", "tied", "unproven")]]
        assert counted.sum(axis=1).eq(200).all() and found["unproven_draws"].eq(0).all()
    judge = frame(finished, "store_judges")
    assert {"kappa", "kappa_low", "kappa_high"} <= set(judge["what"]) and judge["what"].eq("confusion").sum() == 9
    text = (finished / "results" / "tables" / "released" / "store_diagnosis.md").read_text()
    ranges = frame(finished, "store_ranges")
    lines = re.findall(r"^\| all +\| First +\| (.*?) *\|$", text, re.MULTILINE)
    assert len(lines) == len(ranges[["store", "cost_model"]].drop_duplicates()) > 4
    few = ". So few examples say nothing about others."
    assert all(line.endswith(few) for line in lines)
    lines = [line.removeprefix("By the proxy: ").removesuffix(few) for line in lines]
    told = sorted(part[1:] for line in lines for part in line.split("; "))
    assert told == sorted(ranges["text"].str.slice(1))
    assert "Coverage of guess is judged by the proxy, not labelled (kappa" in text.splitlines()[0]


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


# ---- tampering with what stores bring: every column of every table, one value each

READ = ["store_memories", "ingest", "store_coverage"]
# Of a store that a judge labelled.
JUDGED = ["store_judged", "store_judge"]
DRAWN = {"store_verdicts": "verdicts", "store_draws": "draws"}
SCORED = {"store_scores": "scores", "store_selections": "selections", "store_losses": "losses"}
SCORED |= {"store_lost_units": "lost_units"}
# Nothing depends on these, or (order of the export, salience) not always.
FREE = {"invalid_at", "superseded_by", "user_id", "details", "position", "native_order", "salience"}


@pytest.fixture(scope="module")
def verified(finished):
    """Check all stores, by suites and unions that were verified once."""
    results, how = finished / "results", How("cp_sat", False, None, True, lambda line: None, draw_solves=8)
    config = json.loads((results / "manifest.json").read_text())["config"]
    plans, definitions = plans_of_manifest(config), definitions_of_manifest(config)
    runs = {s: SuiteRun(results, s, plans, definitions, Report(), {}, how) for s in plans}
    for one in runs.values():
        one.verify()

    def again():
        report = Report()
        verify_stores(results, stores_of_manifest(config), runs, report, how)
        return report

    return again


def path_of(results, table):
    if table in READ:
        return results / "stores" / "mem0" / f"{table}.parquet"
    if table in JUDGED:
        return results / "stores" / "guess" / f"{table}.parquet"
    if table in DRAWN:
        return results / "stores" / "guess" / "words" / "k1.cap1" / f"{DRAWN[table]}.parquet"
    if table in SCORED:
        return results / "stores" / "mem0" / "words" / "k1.cap1" / f"{SCORED[table]}.parquet"
    return results / "analysis" / "released" / f"{table}.parquet"


def changed(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return re.sub(r"\d", "9", value) if " of " in value else f"{value}x"
    return value + (timedelta(days=900) if isinstance(value, datetime) else 1)


def tampered(table, column):
    """The table with one value of a column changed (of sentences one that has numbers); None where all are null."""
    values = table[column].to_pylist()
    wanted = " of " if column.endswith("_advice") else "mem0" if column == "detail" else ""
    i = next((i for i, v in enumerate(values) if v is not None and wanted in str(v)), None)
    if i is None:
        return None
    values[i] = changed(values[i])
    field = table.schema.field(column)
    return table.set_column(table.column_names.index(column), field, pa.array(values, field.type))


def test_untampered_stores_pass(verified):
    report = verified()
    assert report.counts["stores"] == 4 and report.counts["store_rows"] > 300
    assert not report.faults and not report.unreadable and not report.left_over
    # Three memories of two examples; in each of two settings 8 solves: two draws of both examples, two optima each.
    assert report.counts["judged_memories"] == 2 and report.counts["draws"] == 4 and not report.counts["draws_limit"]


@pytest.mark.parametrize("name", [*READ, *JUDGED, *SCORED, *DRAWN, *STORE_TABLES])
def test_a_changed_value_is_noticed(finished, verified, name):
    path = path_of(finished / "results", name)
    before, table = path.read_bytes(), pq.read_table(path)
    for column in table.column_names:
        other = tampered(table, column)
        if column in FREE or other is None:
            continue
        pq.write_table(other, path)
        report = verified()
        path.write_bytes(before)
        told = report.faults + report.unreadable
        assert told, column
        if name in ("store_judged", "store_judge"):
            assert any(line.startswith(f"{path}: ") for line in told), told
        elif name == "store_draws" and column in LOSSES:
            # Of a draw that is not of the sample the verdict's mean tells.
            wrong = f"{path.with_name('verdicts.parquet')}: row "
            assert any(line.startswith(wrong) and f" drawn_{column} is " in line for line in told), told
        elif name not in READ and column not in TABLES[name].key:
            assert any(line.startswith(f"{path}: row ") and f" {column} is " in line for line in told), told
        elif name not in READ:
            # A draw that takes the number of another stands twice, and its own is missing.
            odd = ("does not belong here", "one belongs here")
            assert any(line.startswith(f"{path}: row ") and line.endswith(odd) for line in told), told


def test_draws_and_verdict_changed_alike_are_noticed_by_the_sample(finished, verified):
    folder = path_of(finished / "results", "store_draws").parent
    paths = {folder / "draws.parquet": "selection", folder / "verdicts.parquet": "drawn_selection"}
    before = {path: path.read_bytes() for path in paths}
    for path, column in paths.items():
        table = pq.read_table(path)
        field = table.schema.field(column)
        other = pa.array([value + 0.001 for value in table[column].to_pylist()], field.type)
        pq.write_table(table.set_column(table.column_names.index(column), field, other), path)
    report = verified()
    for path, content in before.items():
        path.write_bytes(content)
    assert any(
        line.startswith(f"{folder / 'draws.parquet'}: row ") and " selection is " in line for line in report.faults
    )


@pytest.mark.parametrize("name", [*SCORED, *DRAWN, *STORE_TABLES])
def test_a_row_less_is_noticed(finished, verified, name):
    path = path_of(finished / "results", name)
    before, table = path.read_bytes(), pq.read_table(path)
    pq.write_table(table.slice(1), path)
    report = verified()
    path.unlink()
    missing = verified()
    path.write_bytes(before)
    assert any(line.startswith(f"{path}: row ") and "one belongs here" in line for line in report.faults)
    assert [line.count("no such file") for line in missing.unreadable] == [1]


@pytest.mark.parametrize("table", ["candidates", "coverage", "units", "queries"])
def test_a_union_that_is_not_of_its_store_is_noticed(finished, verified, table):
    """Also where the content hash does not tell: texts and ids."""
    column = {"candidates": "text", "coverage": "coverage", "units": "text", "queries": "answer"}[table]
    path = finished / "results" / "packages" / "released+mem0" / f"{table}.parquet"
    before = path.read_bytes()
    pq.write_table(tampered(pq.read_table(path), column), path)
    report = verified()
    path.write_bytes(before)
    assert any(line.startswith(f"{path}: row ") and f" {column} is " in line for line in report.faults)


def test_a_store_that_is_not_configured_is_left_over(finished, verified):
    (finished / "results" / "stores" / "old").mkdir()
    report = verified()
    (finished / "results" / "stores" / "old").rmdir()
    assert [line.count("no longer configured") for line in report.left_over] == [1]


def test_nothing_is_left_and_only_what_depends_on_a_change_reruns(finished):
    assert planned(finished) == {}
    labels = finished / "labels.jsonl"
    before = labels.read_bytes()
    labels.write_bytes(before.replace(b'"coverage": 1.0', b'"coverage": 0.5'))
    jobs = planned(finished)
    labels.write_bytes(before)
    assert jobs["ingest_store"] == 2 and jobs["union_packages"] == 5  # of notes nothing but the joint union
    assert not {"packages", "solve", "check", "score", "analyse"} & set(jobs)


def test_what_the_labels_say_too_much_is_told(finished):
    """The rows of mem0's labels that the one store of tiny-scripted has no use for."""
    told = read_table(finished / "results" / "stores" / "tiny-scripted" / "ingest.parquet", "ingest").to_pandas()
    rows = told[told["what"] == "labels"].set_index("name")["detail"].to_dict()
    assert rows == {"coverage rows of an example without a store": "q_bike"}


def test_salience_that_leaves_out_a_memory_stops_the_run(finished):
    salience = finished / "salience.jsonl"
    before = salience.read_bytes()
    salience.write_bytes(before.replace(b', "m3": 0', b""))
    done = snakemake(finished, "results/stores/mem0/ingest.parquet")
    salience.write_bytes(before)
    assert done.returncode != 0
    log = (finished / "results" / "logs" / "ingest_store" / "mem0.log").read_text()
    assert "1 of 3 memories of store mem0 have no salience: m3 of example q_bike; give each a score" in log


@pytest.mark.parametrize("name, rule, told", [
    ("mem0", "native_order", "stores.mem0.rules: native_order: no memory of the export has a native_order; export it"),
    ("notes", "salience", "stores.notes.rules: salience: no memory of the export has a salience; export it"),
])  # fmt: skip
def test_a_rule_without_its_order_is_told_before_the_run(finished, name, rule, told):
    wrong = copy.deepcopy(CONFIG)
    wrong["stores"][name]["rules"] = [rule]
    write_config(finished, wrong)
    done = snakemake(finished, "-n")
    write_config(finished, CONFIG)
    assert done.returncode != 0 and told in done.stdout and "leave the rule out" in done.stdout


def test_a_rule_without_its_order_is_told_by_the_first_job(finished):
    """Where only one of the stores lacks it, or the export is large, it is known when the store is read."""
    notes = finished / "notes" / "q_tea.md"
    before = notes.read_bytes()
    notes.unlink()
    rows = [{"id": "bullet-1", "text": "Tea", "native_order": 0}]
    (finished / "notes" / "q_tea.json").write_text(json.dumps(rows))
    wrong = copy.deepcopy(CONFIG)
    wrong["stores"]["notes"]["rules"] = ["native_order"]
    write_config(finished, wrong)
    done = snakemake(finished, "results/stores/notes/ingest.parquet")
    write_config(finished, CONFIG)
    (finished / "notes" / "q_tea.json").unlink()
    notes.write_bytes(before)
    log = (finished / "results" / "logs" / "ingest_store" / "notes.log").read_text()
    assert done.returncode != 0
    assert "store notes: rule native_order: the store of example q_bike has no native_order; give it, or leave" in log


def test_labels_of_another_store_stop_the_run(finished):
    labels = finished / "labels.jsonl"
    before = labels.read_bytes()
    labels.write_bytes(before.replace(b'"m1"', b'"x1"').replace(b'"m2"', b'"x2"'))
    done = snakemake(finished, "results/stores/mem0/ingest.parquet")
    labels.write_bytes(before)
    assert done.returncode != 0
    log = (finished / "results" / "logs" / "ingest_store" / "mem0.log").read_text()
    assert "no row is of a memory of store mem0" in log
