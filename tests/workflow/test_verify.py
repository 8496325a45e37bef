"""`memaudit verify` on a real run: untampered it passes, and every way of tampering is caught and named."""

import copy
import json
import re
import shutil

import pyarrow.parquet as pq
import pytest
from pipeline import ROOT, TINY, run, write_config

from memaudit.check.verify_io import verify
from memaudit.cli import main
from memaudit.table_io import read_metadata, read_table, write_csv, write_table

SETTING = "small/declared/k1.cap1"
CONFIG = copy.deepcopy(TINY) | {"published": str(ROOT / "config" / "published.csv")}
CONFIG["suites"]["small"] |= {"budgets": [0.05, 0.1, 0.11, 8], "solvers": ["cp_sat", "highs"], "curve": True}
CONFIG["suites"]["costs"] = {
    "source": "synthetic",
    "distributions": ["base"],
    "seeds": 2,
    "budgets": [6, 0.2],
    "k": [2],
    "cost_models": ["words", "half"],
    "saturations": ["bend"],
    "pools": ["few"],
    "writers": ["opt", "opt_few", "oracle_gvt", "estimated_gvt"],
}
CONFIG["suites"]["small"]["writers"] = [*TINY["writers"]]
CONFIG["writers"]["opt_few"] = {"rule": "opt", "pool": "facts"}
CONFIG["cost_models"] = {"half": {"per_record": 1, "per_word": 0.5}}
CONFIG["saturations"] = {"bend": {"breakpoints": [[0, 0], [0.5, 0.75], [1, 1]]}}
CONFIG["pools"] = {"few": {"exclude": ["tombstone"]}, "facts": {"include": ["atomic_fact"]}}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    write_config(folder, CONFIG)
    run(folder)
    return folder / "results"


@pytest.fixture
def results(finished, tmp_path):
    """A copy, to be tampered with."""
    return shutil.copytree(finished, tmp_path / "results")


def rewrite(path, change):
    """Rows of a Parquet file through `change` (a list of dicts to another), its metadata kept."""
    meta = read_metadata(pq.read_schema(path))
    table = read_table(path, meta["table"])
    rows = change(table.to_pylist())
    assert rows != table.to_pylist(), f"{path} was not tampered with"
    columns = {name: [row[name] for row in rows] for name in table.column_names}
    write_table(path, meta["table"], columns, {k: v for k, v in meta.items() if k not in ("table", "schema_version")})


def set_first(path, where=lambda row: True, **values):
    """Change columns of the first row that `where` takes."""

    def change(rows):
        row = next(row for row in rows if where(row))
        row |= {c: v(row) if callable(v) else v for c, v in values.items()}
        return rows

    rewrite(path, change)


def forget_files(results):
    """Take the list of files out of the manifest, where a tampering stands for a run that made just that."""
    manifest = json.loads((results / "manifest.json").read_text())
    del manifest["files"]
    (results / "manifest.json").write_text(json.dumps(manifest))


def drop(path, where):
    rewrite(path, lambda rows: [row for row in rows if not where(row)])


def file_of(results, stage, kind, bundle="standard"):
    return results / stage / SETTING / f"{bundle}.0.{kind}.parquet"


def of_package(row):
    return row["package_id"] == "synthetic_seed_1"


def assert_caught(results, capsys, *named):
    """The command fails, and one line names all of `named` (patterns)."""
    assert main(["verify", str(results)]) == 1
    lines = capsys.readouterr().err.splitlines()
    pattern = ".*".join(f"(?:{part})" for part in named)
    assert any(re.search(pattern, line) for line in lines), "\n".join(lines)


def test_an_untampered_run_passes(finished, capsys):
    assert main(["verify", "--deep", str(finished)]) == 0
    out = capsys.readouterr().out
    assert "0 faults, 0 files unreadable: passed" in out and "LEFT OVER" not in out and "REMARK" not in out
    assert main(["verify", "--no-scores", "--solver", "highs", str(finished)]) == 0
    assert "; 0 scores;" in capsys.readouterr().out


def test_without_its_manifest_it_passes_with_a_remark(results, capsys):
    (results / "manifest.json").unlink()
    assert main(["verify", str(results)]) == 0
    assert "REMARK" in capsys.readouterr().out


# ---- files that nothing is computed from


def test_every_file_of_the_run_is_in_its_manifest(finished):
    files = json.loads((finished / "manifest.json").read_text())["files"]
    parts = (p.relative_to(finished) for p in finished.rglob("*") if p.is_file())
    assert set(files) == {p.as_posix() for p in parts if p.parts[0] not in ("manifest.json", "logs", "benchmarks")}


@pytest.mark.parametrize(
    "pattern", ["tables/small/*.csv", "figures/*/*", "published_comparison.md", "analysis/small/paired.parquet",
                "packages/small/labels.parquet", "summary.csv", "checks/small/**/*.parquet"],
)  # fmt: skip
def test_a_file_that_is_gone_or_changed(results, capsys, pattern):
    paths = sorted(path for path in results.glob(pattern) if path.is_file())
    assert paths
    before = paths[0].read_bytes()
    paths[0].write_bytes(before + b"\n")
    assert_caught(results, capsys, f"{re.escape(str(paths[0].parent))}: {paths[0].name}: is not the file that the run")
    paths[0].write_bytes(before)
    for path in paths:
        path.unlink()
    assert_caught(
        results, capsys, f"{re.escape(str(paths[0].parent))}: {paths[0].name}: no such file; by manifest.json"
    )


def test_a_table_of_another_run_is_left_over(results, capsys):
    (results / "tables" / "small" / "mine.csv").write_text("x")
    assert main(["verify", str(results)]) == 0
    assert f"LEFT OVER {results / 'tables' / 'small'}: 1 files that the run did not make" in capsys.readouterr().out


def test_a_manifest_without_a_list_of_files_is_remarked(results, capsys):
    forget_files(results)
    assert main(["verify", str(results)]) == 0
    assert "manifest.json: lists no files; whether tables and figures are whole" in capsys.readouterr().out


# ---- mixed up


@pytest.mark.parametrize("stage", ["solutions", "checks", "scores"])
def test_files_of_another_setting(results, capsys, stage):
    costs = results / stage / "costs"
    shutil.copytree(costs / "words", costs / "half", dirs_exist_ok=True)
    assert_caught(results, capsys, f"FAULT .*/{stage}/costs/half/k2.bend/.*cost_model is 'words', by its path 'half'")


@pytest.mark.parametrize("stage, kind", [("solutions", "solutions"), ("scores", "scores")])
def test_rows_under_another_spelling(results, capsys, stage, kind):
    """0.1 and 0.11 come to one amount, and the first stands for both."""
    path = file_of(results, stage, kind)
    assert set(read_table(path, kind)["budget_spec"].to_pylist()) == {"0.05", "0.1", "8"}
    set_first(path, lambda row: row["budget_spec"] == "0.1", budget_spec="0.11")
    assert_caught(results, capsys, re.escape(str(path)), "budget_spec is '0.11', declared is '0.1'")


@pytest.mark.parametrize(
    "column, value",
    [("suite", "costs"), ("cost_model", "words"), ("k", 2), ("saturation", "linear"), ("budget", lambda b: b + 100)],
)
@pytest.mark.parametrize("stage, kind", [("solutions", "solutions"), ("scores", "scores")])
def test_a_column_that_is_not_its_folder(results, capsys, stage, kind, column, value):
    path = file_of(results, stage, kind)
    rewrite(path, lambda rows: [row | {column: value(row[column]) if callable(value) else value} for row in rows])
    assert_caught(results, capsys, re.escape(str(path)))


def test_a_budget_that_the_packages_do_not_give(results, capsys):
    set_first(results / "budgets" / "small.parquet", budget=lambda row: row["budget"] + 1)
    assert_caught(results, capsys, "budgets/small.parquet", "row .*budget_spec 0.05", "budget is")


@pytest.mark.parametrize("column, value", [("merged_into", "8"), ("mean_total_cost", 1.0), ("fraction", 0.5)])
def test_a_table_of_budgets_that_is_changed(results, capsys, column, value):
    set_first(results / "budgets" / "small.parquet", **{column: value})
    assert_caught(results, capsys, "budgets/small.parquet", "row .*budget_spec 0.05", column)


def test_another_definition_of_a_pool(results, capsys):
    path = results / "solutions" / "costs/half/k2.bend/standard.0.solutions.parquet"
    table = read_table(path, "solutions")
    problem = json.loads(read_metadata(table.schema)["problem"])
    problem["pools"]["few"]["exclude"] = []
    write_table(path, "solutions", table, {"problem": json.dumps(problem)})
    assert_caught(results, capsys, re.escape(str(path)), "its metadata defines pools few")


# ---- incomplete


def test_a_package_dropped_from_solutions_and_selections(results, capsys):
    for kind in ("solutions", "selections"):
        drop(file_of(results, "solutions", kind), of_package)
    assert_caught(results, capsys, f"solutions/{SETTING}: no row of .*pool full, package_id synthetic_seed_1, budget")


def test_a_package_dropped_from_everything(results, capsys):
    for path in results.rglob("*.parquet"):
        if "package_id" in pq.read_schema(path).names and f"/{path.relative_to(results)}".count("/small/"):
            rows = read_table(path, read_metadata(pq.read_schema(path))["table"]).to_pylist()
            if any(map(of_package, rows)):
                drop(path, of_package)
    assert_caught(results, capsys, "packages/small: packages.parquet: no package of distribution base, seed 1")


@pytest.mark.parametrize("with_manifest", [True, False])
@pytest.mark.parametrize("stage", ["packages", "solutions", "budgets"])
def test_a_stage_of_a_suite_deleted(results, capsys, stage, with_manifest):
    if not with_manifest:
        (results / "manifest.json").unlink()
    gone = results / stage / "small"
    shutil.rmtree(gone) if gone.exists() else gone.with_suffix(".parquet").unlink()
    assert_caught(results, capsys, f"{stage}/small")


@pytest.mark.parametrize("stage", ["checks", "scores"])
def test_checks_or_scores_of_a_suite_deleted(results, capsys, stage):
    shutil.rmtree(results / stage / "small")
    assert_caught(results, capsys, f"{stage}/{SETTING}/standard.0.*no such file")


def test_a_budget_dropped_in_every_stage(results, capsys):
    for stage, kind in (("solutions", "solutions"), ("solutions", "selections"), ("scores", "scores"),
                        ("scores", "selections"), ("checks", "cp_sat"), ("checks", "highs")):  # fmt: skip
        drop(file_of(results, stage, kind), lambda row: row["budget"] == 8)
    for stage in ("solutions", "scores"):
        assert_caught(results, capsys, f"FAULT .*{stage}/{SETTING}: no row of .*budget 8")


def test_a_package_twice(results, capsys):
    path = file_of(results, "scores", "scores")
    shutil.copy(path, path.with_name("standard.1.scores.parquet"))
    report = verify(results)
    assert any("scores/small" in line for line in report.unreadable)  # it has no selections
    assert report.left_over == [f"{path.parent}: 1 files that are no longer configured"]


def test_a_setting_no_longer_configured_is_left_over_and_checked(results, capsys):
    manifest = json.loads((results / "manifest.json").read_text())
    manifest["config"]["suites"]["costs"]["cost_models"].remove("half")
    del manifest["files"]
    (results / "manifest.json").write_text(json.dumps(manifest))
    drop(results / "budgets" / "costs.parquet", lambda row: row["cost_model"] == "half")
    drop(results / "summary.parquet", lambda row: row["cost_model"] == "half")
    write_csv(results / "summary.csv", read_table(results / "summary.parquet", "summary"))
    report = verify(results)
    assert {line.split(":")[0].removeprefix(f"{results}/") for line in report.left_over} == {
        f"{stage}/costs/half/k2.bend" for stage in ("solutions", "checks", "scores")
    }
    assert report.passed, report
    path = results / "scores" / "costs/half/k2.bend/standard.0.scores.parquet"
    set_first(path, cost=lambda row: row["cost"] + 1)
    assert not verify(results).passed


# ---- curves


def test_a_curve_changed_or_dropped(results, capsys):
    path = file_of(results, "solutions", "curves")
    before = path.read_bytes()
    last = read_table(path, "curves").to_pylist()[-1]
    set_first(
        path, lambda row: row == last, value_int=last["value_int"] + 1, value=(last["value_int"] + 1) / last["scale"]
    )
    assert_caught(results, capsys, "(MISMATCH|FAULT)", re.escape(str(path)), last["package_id"])
    path.write_bytes(before)
    drop(path, of_package)
    assert_caught(results, capsys, f"{SETTING}: curves: no row of .*package_id synthetic_seed_1")


@pytest.mark.parametrize(
    "column, value",
    [("value", "1/7"), ("curve_value", "1/7"), ("equal", False), ("status", "limit"), ("status", "mismatch"),
     ("n_packages", 99), ("solver", "cbc"), ("budget", 77), ("package_id", "synthetic_seed_9"), ("pool", "generic")],
)  # fmt: skip
def test_a_check_of_a_curve_that_is_changed(results, capsys, column, value):
    path = file_of(results, "checks", "highs-curves")
    set_first(path, **{column: value})
    assert_caught(results, capsys, re.escape(str(path)))


def test_a_check_of_a_curve_dropped(results, capsys):
    path = file_of(results, "checks", "highs-curves")
    first = read_table(path, "curve_checks").to_pylist()[0]
    drop(path, lambda row: row == first)
    assert_caught(results, capsys, re.escape(str(path)), f"0 rows for package_id {first['package_id']}")


def test_what_the_run_left_at_its_limit_may_be_left_again(results, monkeypatch):
    """Then nothing is cross-checked, and verify needs no proof; a run that has one is held to it."""
    from memaudit.check import prover
    from memaudit.check.model import Answer

    solve = prover.CpSatModel.solve

    def give_up(self, problem, budget, limit):
        return Answer("limit", None, None, ()) if budget == 8 else solve(self, problem, budget, limit)

    monkeypatch.setattr(prover.CpSatModel, "solve", give_up)
    report = verify(results, scores=False)
    assert report.counts["limit"] > 0 and not report.passed and not report.faults
    forget_files(results)
    left = {"status": "limit", "value": "", "bound": "", "equal": False}
    for kind in ("cp_sat", "highs", "cp_sat-curves", "highs-curves"):
        path = file_of(results, "checks", kind)
        rewrite(path, lambda rows: [row | (left if row["budget"] == 8 else {"k": row["k"]}) for row in rows])
    assert verify(results, scores=False).passed


# ---- packages


def test_a_content_hash_replaced(results, capsys):
    set_first(results / "packages" / "small" / "packages.parquet", content_hash="0123456789abcdef")
    assert_caught(results, capsys, "packages.parquet", "row package_id synthetic_seed_0: content_hash is")


def test_a_candidates_type_changed(results, capsys):
    path = results / "packages" / "small" / "candidates.parquet"
    set_first(path, of_package, representation_type="skill")
    assert_caught(results, capsys, "row package_id synthetic_seed_1: content_hash")


def test_a_weight_changed_without_effect_on_any_value(results, capsys):
    """The content hash says it; with the hash replaced too, the instances' hashes do."""
    units, heads = (results / "packages" / "small" / f"{name}.parquet" for name in ("units", "packages"))
    set_first(units, of_package, weight=lambda row: row["weight"] + 0.25)
    assert_caught(results, capsys, "row package_id synthetic_seed_1: content_hash")
    found = next(re.search(r"content_hash.* '(\w+)'$", line) for line in verify(results).faults if "content" in line)
    set_first(heads, of_package, content_hash=found[1])
    assert_caught(results, capsys, "solutions/small", "package_id synthetic_seed_1", "instance_hash")


@pytest.mark.parametrize("column", ["n_queries", "n_groups", "seed"])
def test_a_count_or_seed_changed(results, capsys, column):
    set_first(results / "packages" / "small" / "packages.parquet", **{column: 77})
    assert_caught(results, capsys, "packages.parquet", column if column != "seed" else "seed 77")


@pytest.mark.parametrize("table", ["candidates", "units", "coverage", "requirements"])
def test_rows_of_an_unknown_package(results, capsys, table):
    path = results / "packages" / "small" / f"{table}.parquet"
    rewrite(path, lambda rows: [*rows, rows[0] | {"package_id": "zzz"}])
    assert_caught(results, capsys, f"{table}.parquet: row package_id zzz")


# ---- solutions and checks


@pytest.mark.parametrize(
    "column, value", [("budget_spec", "nonsense"), ("solution_id", "nonsense"), ("instance_hash", "nonsense")]
)
def test_a_name_replaced_by_nonsense(results, capsys, column, value):
    path = file_of(results, "solutions", "solutions")
    set_first(path, of_package, **{column: value})
    assert_caught(results, capsys, re.escape(str(path)), "package_id synthetic_seed_1", f"{column} is 'nonsense'")


def test_names_replaced_by_consistent_nonsense(results, capsys):
    path = file_of(results, "solutions", "solutions")
    rewrite(
        path,
        lambda rows: [
            row | {"instance_hash": f"x{i}", "solution_id": f"x{i}.k1.cap1.{row['budget']}"}
            for i, row in enumerate(rows)
        ],
    )
    assert_caught(results, capsys, re.escape(str(path)), "instance_hash is 'x0'")


@pytest.mark.parametrize("status", ["limit", "cross_checked"])
def test_an_optimum_under_another_status(results, capsys, status):
    path = file_of(results, "solutions", "solutions")
    set_first(path, of_package, status=status)
    assert_caught(results, capsys, re.escape(str(path)), "package_id synthetic_seed_1", f"status is '{status}'")


@pytest.mark.parametrize(
    "column, value",
    [
        ("value", "1/7"), ("bound", ""), ("selected_value", "1/7"), ("solution_value", "1/7"), ("equal", False),
        ("status", "limit"), ("status", "mismatch"), ("n_packages", 99), ("solver", "cbc"), ("solution_id", "x"),
        ("package_id", "synthetic_seed_9"), ("pool", "generic"), ("value", "x"), ("solution_value", "1/0"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("solver", ["cp_sat", "highs"])
def test_a_check_that_is_changed(results, capsys, solver, column, value):
    path = file_of(results, "checks", solver)
    set_first(path, **{column: value})
    assert_caught(results, capsys, re.escape(str(path)))


def test_a_check_dropped(results, capsys):
    path = file_of(results, "checks", "highs")
    gone = read_table(path, "checks")["solution_id"][0].as_py()
    drop(path, lambda row: row["solution_id"] == gone)
    assert_caught(results, capsys, re.escape(str(path)), f"0 rows for solution_id {gone}")


# ---- scores and summary

SCORED = [
    "value_int", "scale", "value", "opt_int", "opt", "ratio", "cost", "n_selected", "n_validity_selected",
    "current_covered", "invalidation_covered", "stale_covered", "current_mass", "invalidation_mass", "stale_mass",
    "coverable_mass", "retrieved_fixed", "queries", "queries_covered",
]  # fmt: skip


@pytest.mark.parametrize("column", SCORED)
def test_a_number_of_a_score_changed(results, capsys, column):
    path = file_of(results, "scores", "scores")
    set_first(path, of_package, **{column: lambda row: row[column] + 1})
    told = {"value_int": "value", "scale": "value", "opt_int": "opt"}.get(column, column)
    assert_caught(
        results, capsys, re.escape(str(path)), f"package_id synthetic_seed_1, .*writer estimated_gvt: {told} is"
    )


def test_a_value_and_its_ratio_raised_together(results, capsys):
    path = file_of(results, "scores", "scores")
    better = {"value_int": lambda r: r["opt_int"], "value": lambda r: r["opt"], "ratio": 1.0}
    set_first(path, lambda row: of_package(row) and row["ratio"] < 1, **better)
    assert_caught(results, capsys, re.escape(str(path)), "package_id synthetic_seed_1", "ratio is 1.0, computed again")


@pytest.mark.parametrize("column, value", [("ratio", None), ("opt_status", "limit"), ("opt_status", "optimal"),
                                           ("distribution", "update_chain"), ("pool", "generic"), ("writer", "x"),
                                           ("package_id", "synthetic_seed_9")])  # fmt: skip
def test_a_name_or_status_of_a_score_changed(results, capsys, column, value):
    path = file_of(results, "scores", "scores")
    set_first(path, of_package, **{column: value})
    assert_caught(results, capsys, re.escape(str(path)), "row package_id synthetic_seed_")


@pytest.mark.parametrize("change", ["dropped", "other", "type"])
def test_a_selection_of_a_writer_changed(results, capsys, change):
    path = file_of(results, "scores", "selections")
    if change == "dropped":
        first = read_table(path, "selections").to_pylist()[0]
        drop(path, lambda row: row == first)
    else:
        set_first(path, **({"candidate_id": "x"} if change == "other" else {"representation_type": "x"}))
    assert_caught(results, capsys, f"scores/{SETTING}/standard.0.scores.parquet", "row package_id")


def test_scores_of_a_writer_or_package_dropped(results, capsys):
    for kind in ("scores", "selections"):
        drop(file_of(results, "scores", kind), lambda row: of_package(row) and row["writer"] == "oracle_gvt")
        drop(file_of(results, "scores", kind), lambda row: (row["writer"], row["budget"]) == ("recency_raw", 8))
    assert_caught(results, capsys, f"scores/{SETTING}: no row of writer oracle_gvt, package_id synthetic_seed_1")
    assert_caught(results, capsys, f"scores/{SETTING}: no row of writer recency_raw, .*budget 8")


@pytest.mark.parametrize("column", ["n", "undefined_n", "n_unproven", "opt_zero_n", "mean_ratio", "mean_value",
                                    "mean_cost", "mean_opt", "mean_current_covered", "mean_selected",
                                    "mean_queries_covered"])  # fmt: skip
def test_a_number_of_the_summary_changed(results, capsys, column):
    path = results / "summary.parquet"
    where = {"where": lambda row: row["suite"] == "small" and row["distribution"] == "all"}
    set_first(path, **where, **{column: lambda row: row[column] + 1})
    assert_caught(results, capsys, re.escape(str(path)), "row small, all, declared", f"{column} is")


def test_rows_of_the_summary_dropped_or_added(results, capsys):
    path = results / "summary.parquet"
    drop(path, lambda row: row["writer"] == "oracle_gvt")
    rewrite(path, lambda rows: [*rows, rows[0] | {"writer": "nobody"}])
    assert_caught(results, capsys, re.escape(str(path)), "no row for the scores of .*oracle_gvt")
    assert_caught(results, capsys, re.escape(str(path)), "row .*nobody: there are no such scores")


def test_the_summarys_copy_changed(results, capsys):
    path = results / "summary.csv"
    path.write_text(path.read_text().replace("oracle_gvt", "oracle"))
    assert_caught(results, capsys, "summary.csv: line")
