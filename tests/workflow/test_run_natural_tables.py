"""Two natural suites, an audit and downstream answers through the whole workflow: every natural table is made."""

from pathlib import Path

import pandas as pd
import pytest
from pipeline import ROOT, planned, run, snakemake, write_config

from memaudit.check.verify_io import verify
from memaudit.natural.build import build_packages
from memaudit.natural.conversations_io import load_examples
from memaudit.schemas import NATURAL_TABLES
from memaudit.table_io import read_table

FILE = ROOT / "tests" / "fixtures" / "longmemeval_invented.json"
CONFIG = {
    "published": str(ROOT / "config" / "published.csv"),
    "suites": {
        "talks": {
            "source": "longmemeval", "file": str(FILE), "budgets": [12, 30], "k": [1, 2], "pools": ["full", "turns"],
            "audit": "audit", "compare_with": ["again"], "downstream": "answers.csv",
            "downstream_systems": {"a system": "oracle_gvt"}, "paper_package": True,
            "robustness": {"rates": [0.3], "draws": 2},
        },
        "again": {"source": "longmemeval", "file": str(FILE), "budgets": [12, 30], "robustness": None},
    },
    "pools": {"turns": {"include": ["turn"]}},
    "writers": {"opt": {"rule": "opt"}, "oracle_gvt": {"rule": "gvt"}, "mem0_extract": {"rule": "mem0_extract"}},
    "bootstrap": {"resamples": 20},
}  # fmt: skip


def write_audit(folder: Path, packages) -> None:
    """Two labellers of the first four cells of each package; the second is wrong on one cell."""
    folder.mkdir()
    cells = [(p.package_id, c, u.unit_id) for p in packages for c in p.visible.candidate_ids[:2] for u in p.units[:2]]
    own = {
        (p.package_id, c, u): value
        for p in packages
        for i, c in enumerate(p.visible.candidate_ids)
        for u, value in p.coverage_row(i).items()
    }
    frame = pd.DataFrame(cells, columns=["instance_id", "candidate_id", "unit_id"])
    frame.insert(0, "cell_id", [f"cell{i}" for i in range(len(frame))])
    frame.to_csv(folder / "annotation_cells.csv", index=False)
    labels = [int(own.get(cell, 0) >= 0.5) for cell in cells]
    for name, wrong in (("human_a", ()), ("human_b", (0,))):
        marks = [1 - x if i in wrong else x for i, x in enumerate(labels)]
        table = pd.DataFrame({"cell_id": frame["cell_id"], "annotator_id": name, "label": marks, "notes": ""})
        table.to_csv(folder / f"{name}_labels.csv", index=False)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("natural")
    packages = build_packages(load_examples([FILE]), "talks").packages
    write_audit(folder / "audit", packages)
    answers = pd.DataFrame({"query_id": [p.package_id for p in packages], "system": "a system", "correct": 1})
    answers.to_csv(folder / "answers.csv", index=False)
    write_config(folder, CONFIG)
    run(folder)
    return folder


def natural(folder, name, suite="talks"):
    return read_table(folder / "results" / "analysis" / suite / f"{name}.parquet", name).to_pandas()


def test_every_natural_table_is_made_and_keeps_its_contract(finished):
    for name in NATURAL_TABLES:
        frame = natural(finished, name)
        assert len(frame) and set(frame["suite"]) == {"talks"}, name
    other = {p.stem for p in (finished / "results" / "analysis" / "again").iterdir()} & set(NATURAL_TABLES)
    assert other == {"construction", "query_scores", "categories"}


def test_a_fresh_run_has_nothing_left_over(finished):
    report = verify(finished / "results")
    assert report.passed and report.left_over == []


def test_the_numbers_hang_together(finished):
    scored = natural(finished, "construction").set_index(["what", "name"])["count"]["queries", "scored"]
    agreement = natural(finished, "agreement").set_index(["first", "agreed_with", "second"])
    assert set(agreement.loc[("has_answer", "", "suite again"), "frame"]) == {"labelled", "drawn"}
    agreement = agreement[agreement["frame"] == "labelled"]
    assert agreement.loc[("has_answer", "", "suite again"), "kappa"] == 1
    assert agreement.loc[("has_answer", "", "human_a"), "raw_agreement"] == 1
    assert agreement.loc[("human_a", "", "human_b"), "raw_agreement"] < 1
    ratios = natural(finished, "label_ratios").set_index("labels")
    assert set(ratios.index) == {"human_a = human_b", "suite again"}
    assert (ratios.loc["suite again", "ratio_mad"] == 0).all()
    assert (ratios.loc["human_a = human_b", "ratio_mad"] == 0).all()  # agreed labels are the package's own
    summary = pd.read_parquet(finished / "results" / "summary.parquet")
    summary = summary[(summary["suite"] == "talks") & (summary["k"] == 1) & (summary["distribution"] == "all")]
    categories = natural(finished, "categories")
    categories = categories[(categories["category"] == "all") & (categories["k"] == 1)]
    both = summary.merge(categories, on=["budget", "writer"], suffixes=("", "_category"))
    assert len(both) == 6 and (both["mean_ratio"] == both["mean_ratio_category"]).all()
    assert both["mean_queries_covered"].tolist() == pytest.approx(both["share_all"].tolist())
    anything = natural(finished, "downstream").query("covered == 'any'")
    assert (anything["n"] == scored).all() and (anything["accuracy"] == 1).all()
    assert set(natural(finished, "sensitivity")["varied"]) == {"k", "pool"}


def test_tables_figures_and_the_published_comparison(finished):
    shown = {p.stem for p in (finished / "results" / "tables" / "talks").iterdir()}
    assert {"reliability", "coverage_audit", "disagreements", "relabelled", "sensitivity", "robustness",
            "question_types", "downstream"} <= shown  # fmt: skip
    drawn = {p.stem for p in (finished / "results" / "figures" / "talks").iterdir()}
    assert {"question_types", "robustness", "label_agreement", "downstream"} <= drawn
    published = pd.read_csv(finished / "results" / "published_comparison.csv")
    needs = published[published["suite"] == "natural"]["status"]
    assert needs.str.startswith("needs ").all() and not needs.str.contains("talks").any()
    text = (finished / "results" / "published_comparison.md").read_text()
    assert text.count("suite talks, declared as the paper's, has") == 1


def test_nothing_is_left_and_only_what_depends_on_a_change_reruns(finished):
    assert planned(finished) == {}
    write_config(finished, {**CONFIG, "suites": {**CONFIG["suites"], "talks": {
        **CONFIG["suites"]["talks"], "robustness": {"rates": [0.3], "draws": 3}}}})  # fmt: skip
    jobs = planned(finished)
    assert jobs["robustness"] == 1
    assert not {"packages", "solve", "check", "score", "analyse", "query_scores", "label_ratios", "categories"} & set(
        jobs
    )
    write_config(finished, CONFIG)


def test_a_label_of_another_package_stops_the_run_and_is_named(finished):
    path = finished / "audit" / "annotation_cells.csv"
    before = path.read_bytes()
    path.write_text(path.read_text().replace("::raw", "::ghost", 1))
    done = snakemake(finished)
    path.write_bytes(before)
    assert done.returncode != 0
    log = (finished / "results" / "logs" / "label_agreement" / "talks.log").read_text()
    assert "audit: human_a labels 1 cells that no scored package has" in log and "ghost" in log
