"""config/my_store.yaml, copied as README says, on generated exports: from exports without labels to a diagnosis."""

import json
import shutil

import pytest
from pipeline import ROOT, run, snakemake

from memaudit.config_io import load_config
from memaudit.natural.coverage_package_io import query_ids
from memaudit.table_io import read_table

PACKAGE = "data/natural100/adjudicated"
FED = 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the configuration, the package, and a store for each of FED questions."""
    folder = tmp_path_factory.mktemp("mine")
    shutil.copy(ROOT / "config" / "my_store.yaml", folder / "config.yaml")
    (folder / PACKAGE).parent.mkdir(parents=True)
    (folder / PACKAGE).symlink_to(ROOT / PACKAGE)
    (folder / "exports" / "mine").mkdir(parents=True)
    units = [json.loads(line) for line in (ROOT / PACKAGE / "evidence_units.jsonl").read_text("utf-8").splitlines()]
    for query in chosen():
        own = [unit["canonical_text"] for unit in units if unit["unit_id"].startswith(f"{query}::")]
        rows = [{"id": f"m{i}", "text": f"Noted: {text}", "importance": i} for i, text in enumerate(own)]
        (folder / "exports" / "mine" / f"{query}.json").write_text(json.dumps(rows))
    return folder


def chosen():
    lines = (ROOT / PACKAGE / "queries.jsonl").read_text("utf-8").splitlines()
    accepted = [row for row in map(json.loads, lines) if row["adjudication_status"] == "accepted"]
    return sorted(row["query_id"] for row in accepted if row["required_unit_ids"])[:FED]


def test_the_configuration_is_read(folder, monkeypatch):
    monkeypatch.chdir(folder)
    config = load_config("config.yaml")
    (store,) = config.stores.values()
    assert store.judge == "proxy" and config.suites[store.suite].budgets and set(chosen()) <= set(query_ids(PACKAGE))


def test_a_store_of_no_question_is_told_before_any_job(folder):
    exports = folder / "exports" / "mine"
    kept = {file: file.read_bytes() for file in exports.iterdir()}
    for file in kept:
        file.rename(exports / f"q7-{file.name}")
    done = snakemake(folder, "-n")
    for file, content in kept.items():
        (exports / f"q7-{file.name}").unlink()
        file.write_bytes(content)
    assert done.returncode != 0 and "stores.my_store: no store is of an example of the package" in done.stdout
    assert "nearest expected: " in done.stdout and "set instance_id, or the file's name" in done.stdout


def test_it_runs_to_a_diagnosis(folder):
    run(folder, "results/my_store/tables/mine/store_diagnosis.md")
    results = folder / "results" / "my_store"
    told = read_table(results / "analysis" / "mine" / "store_diagnosis.parquet", "store_diagnosis").to_pandas()
    assert set(told["store"]) == {"my_store"} and told["n"].eq(FED).all() and set(told["labels"]) == {"proxy"}
    ingest = read_table(results / "stores" / "my_store" / "ingest.parquet", "ingest").to_pandas()
    columns = ingest[ingest["what"] == "column"].drop_duplicates("name").set_index("name")["detail"].to_dict()
    assert columns == {"text": "read as text", "id": "read as id", "importance": "ignored"}
    assert "by the proxy" in (results / "tables" / "mine" / "store_diagnosis.md").read_text("utf-8")
