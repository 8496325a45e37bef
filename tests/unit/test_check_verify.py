"""`memaudit verify`: finished files alone, a tampered or unreadable one fails."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from check_cases import COST_MODELS, DEFINITIONS, POOLS, example, solution_rows, tables_of

import memaudit.check
from memaudit.check.verify_io import verify
from memaudit.cli import main
from memaudit.errors import InputError
from memaudit.table_io import read_table, write_table

PROBLEM = {"pools": POOLS, "saturations": DEFINITIONS, "cost_models": COST_MODELS}
FILES = "solutions/s/declared/k1.cap1"


@pytest.fixture
def results(tmp_path):
    """A small finished run: one suite, two budgets, one file each."""
    packages = [example("p1"), example("p2"), example("p3", weight=3.0)]
    for name, table in {**tables_of(packages), "queries": {}, "requirements": {}}.items():
        write_table(tmp_path / "packages" / "s" / f"{name}.parquet", name, table)
    budgets = {
        "suite": ["s", "s"], "cost_model": ["declared"] * 2, "budget_spec": ["1", "3"], "budget": [1, 3],
        "merged_into": ["1", "3"], "mean_total_cost": [7.0, 7.0], "fraction": [None, None],
    }  # fmt: skip
    write_table(tmp_path / "budgets" / "s.parquet", "budgets", budgets)
    for budget in (1, 3):
        solutions, selections = solution_rows(packages, (budget,))
        write(tmp_path, budget, "solutions", solutions)
        write(tmp_path, budget, "solution_selections", selections)
    return tmp_path


def path_of(results, budget, table):
    return results / FILES / str(budget) / f"full.0.{table.removeprefix('solution_')}.parquet"


def write(results, budget, table, rows, problem=PROBLEM):
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    write_table(path_of(results, budget, table), table, columns, {"problem": json.dumps(problem)})


def tamper(results, budget, **values):
    rows = read_table(path_of(results, budget, "solutions"), "solutions").to_pylist()
    rows[0] |= values
    write(results, budget, "solutions", rows)


def test_a_finished_run_passes(results, capsys):
    assert main(["verify", "--deep", str(results)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].endswith("packages/s: 3 packages, 0 faults")
    assert "full.0.solutions.parquet: 3 rows, 2 instances: 2 equal" in out[1]
    assert out[-1].startswith(
        "2 files, 6 rows, 4 instances: 4 equal, 0 not proved within the limit, 0 no claim, 0 mismatches"
    )
    assert out[-1].endswith("4 distinct contents solved by cp_sat; 0 scores; 0 faults, 0 files unreadable: passed")


def test_a_mismatch_fails_and_names_the_instance(results, capsys):
    tamper(results, 3, value_int=2_999_999, bound_int=2_999_999, value=2.999999)
    assert main(["verify", str(results)]) == 1
    caught = capsys.readouterr()
    path = path_of(results, 3, "solutions")
    assert f"MISMATCH {path}: suite s, package p1, budget 3, pool full" in caught.err
    assert "1 mismatches" in caught.out and caught.out.rstrip().endswith("FAILED")


def test_the_wrong_one_of_equal_optima_fails_only_when_deep(results):
    rows = read_table(path_of(results, 3, "solutions"), "solutions").to_pylist()
    chosen = read_table(path_of(results, 3, "solution_selections"), "solution_selections").to_pylist()
    rows[0] |= {"cost": 3, "n_selected": 2}
    chosen = [c for c in chosen if c["package_id"] != "p1"]
    chosen += [{**chosen[0], "package_id": "p1", "candidate_id": f"p1:{letter}"} for letter in "bc"]
    write(results, 3, "solutions", rows)
    write(results, 3, "solution_selections", chosen)
    assert main(["verify", str(results)]) == 0
    assert main(["verify", str(results), "--deep"]) == 1


@pytest.mark.parametrize("part", ["solutions", "solution_selections"])
def test_an_unreadable_file_fails_and_the_rest_is_checked(results, part, capsys):
    path = path_of(results, 1, part)
    path.write_bytes(path.read_bytes()[:-100])
    report = verify(results)
    assert len(report.unreadable) == 1 and str(path) in report.unreadable[0]
    assert report.counts["optimal"] == 2 and not report.passed
    assert main(["verify", str(results)]) == 1
    assert "UNREADABLE" in capsys.readouterr().err


def test_missing_selections_or_packages_fail(results):
    path_of(results, 1, "solution_selections").unlink()
    assert [u.count("no such file") for u in verify(results).unreadable] == [1]
    (results / "packages" / "s" / "units.parquet").unlink()
    assert [u.count("units.parquet: no such file") for u in verify(results).unreadable] == [1]


def test_a_file_without_definitions_fails(results):
    rows = read_table(path_of(results, 1, "solutions"), "solutions").to_pylist()
    write(results, 1, "solutions", rows, {"pools": POOLS})
    assert "lacks ['saturations', 'cost_models']" in verify(results).unreadable[0]


def test_nothing_to_verify_is_an_error(tmp_path, capsys):
    with pytest.raises(InputError, match="name a results folder"):
        verify(tmp_path)
    assert main(["verify", str(tmp_path)]) == 2
    assert "memaudit verify:" in capsys.readouterr().err


def test_an_optimum_not_proved_within_the_limit_does_not_pass(results, monkeypatch):
    from memaudit.check import certify
    from memaudit.check.model import Answer

    monkeypatch.setattr(certify.CpSatModel, "solve", lambda *_: Answer("limit", None, None, ()))
    report = verify(results, limit=1.0)
    assert report.counts["limit"] == 4 and not report.passed


# ---- without a manifest: budgets/ and the files say what must be there


def test_a_missing_manifest_is_remarked(results):
    assert [r.count("manifest.json: no such file") for r in verify(results).remarks] == [1]


@pytest.mark.parametrize("text", ["", "[]", '{"config": {"suites": {"s": {}}}}'])
def test_a_broken_manifest_fails(results, text):
    (results / "manifest.json").write_text(text)
    assert any("not a manifest" in line for line in verify(results).unreadable)


def test_a_budget_without_files_fails(results):
    shutil.rmtree(path_of(results, 1, "solutions").parent)
    report = verify(results)
    assert not report.passed and f"{results / FILES / '1'}: no files here" in report.faults[0]


def test_all_solutions_of_a_suite_deleted_fails(results):
    shutil.rmtree(results / "solutions")
    assert main(["verify", str(results)]) == 1


def test_a_package_dropped_everywhere_fails(results):
    for table in ("solutions", "solution_selections"):
        rows = read_table(path_of(results, 3, table), table).to_pylist()
        write(results, 3, table, [row for row in rows if row["package_id"] != "p2"])
    report = verify(results)
    assert not report.passed and report.faults == [f"{results / FILES / '3'}: no row of pool full, package_id p2"]


def test_files_of_a_budget_that_budgets_do_not_list_are_left_over_and_checked(results):
    shutil.copytree(results / FILES / "3", results / FILES / "4")
    report = verify(results)
    assert report.left_over == [f"{results / FILES / '4'}: 2 files that are no longer configured"]
    assert any("budget_spec is '3', by its path '4' (3 such rows)" in fault for fault in report.faults)


# ---- statuses


def test_a_limit_whose_value_is_its_bound_fails(results):
    tamper(results, 3, status="limit")
    fault = f"{path_of(results, 3, 'solutions')}: row package_id p1"
    assert [f.startswith(fault) and "status is 'limit'" in f for f in verify(results).faults] == [True]


def test_a_limit_whose_value_the_solver_proves_is_remarked(results):
    row = read_table(path_of(results, 3, "solutions"), "solutions").to_pylist()[2]
    rows = read_table(path_of(results, 3, "solutions"), "solutions").to_pylist()[:2]
    write(results, 3, "solutions", [*rows, row | {"status": "limit", "bound_int": row["bound_int"] + 1}])
    report = verify(results)
    assert report.passed and any("proves its value optimal" in remark for remark in report.remarks)


# ---- independence: the check shares no code with what it checks

ALLOWED = {"errors", "schemas", "table_io"}
CHECK = Path(memaudit.check.__file__).parent


@pytest.mark.parametrize("path", sorted(CHECK.glob("*.py")), ids=lambda p: p.name)
def test_the_check_imports_only_what_it_may(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 2:
            assert (node.module or "").split(".")[0] in ALLOWED
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            assert not node.module.startswith("memaudit")
        elif isinstance(node, ast.Import):
            assert not any(name.name.startswith("memaudit") for name in node.names)
        assert not (isinstance(node, ast.ImportFrom) and node.level > 2)


def test_no_code_that_is_checked_is_loaded_with_the_check():
    code = "import sys, memaudit.check.verify_io; print(*(m for m in sys.modules if m.startswith('memaudit')))"
    path = str(CHECK.parents[1])
    out = subprocess.run([sys.executable, "-c", code], cwd=path, capture_output=True, text=True, check=True).stdout
    loaded = {name.removeprefix("memaudit").removeprefix(".").split(".")[0] for name in out.split()}
    # kernel_cache: loaded with the package itself; it only names a folder.
    assert loaded <= ALLOWED | {"", "check", "kernel_cache"}
    assert "check" in loaded
