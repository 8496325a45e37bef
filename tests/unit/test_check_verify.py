"""`memaudit verify`: finished files alone, a tampered or unreadable one fails."""

import ast
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from check_cases import COST_MODELS, DEFINITIONS, POOLS, example, solution_rows, tables_of

import memaudit.check
from memaudit.check.files_io import files_of_manifest, verify_files
from memaudit.check.report import Report
from memaudit.check.verify_io import verify
from memaudit.cli import main
from memaudit.errors import InputError
from memaudit.schemas import CURVES
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
    solutions, selections = solution_rows(packages, (1, 3))
    write(tmp_path, "solutions", solutions)
    write(tmp_path, "solution_selections", selections)
    write(tmp_path, "curves", curve_rows(packages))
    return tmp_path


def curve_rows(packages):
    """Curves as enumeration gives them, to the end of 7 units, which all packages cost."""
    rows = []
    for package in packages:
        solutions, _ = solution_rows([package], range(8))
        values = [row["value_int"] for row in solutions]
        for budget, row in enumerate(solutions):
            if budget == 0 or values[budget] > values[budget - 1]:
                own = {c: row[c] for c in CURVES.schema.names if c in row}
                rows.append({**own, "distribution": package.distribution, "max_budget": 7})
    return rows


def path_of(results, table):
    return results / FILES / f"full.0.{table.removeprefix('solution_')}.parquet"


def rows_of(results, table):
    return read_table(path_of(results, table), table).to_pylist()


def write(results, table, rows, problem=PROBLEM):
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    write_table(path_of(results, table), table, columns, {"problem": json.dumps(problem)})


def tamper(results, table="solutions", where=lambda row: row["budget"] == 3, **values):
    """Change columns of the first row that `where` takes."""
    rows = rows_of(results, table)
    next(row for row in rows if where(row)).update(values)
    write(results, table, rows)


def test_a_finished_run_passes(results, capsys):
    assert main(["verify", "--deep", str(results)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].endswith("packages/s: 3 packages, 0 faults")
    assert "full.0.solutions.parquet: 6 rows, 4 instances: 4 equal" in out[1]
    assert "full.0.curves.parquet: 3 curves, 2 points solved again: 2 equal" in out[2]  # the ends of two contents
    assert out[-1].startswith(
        "1 files, 6 rows, 4 instances: 4 equal, 0 not proved within the limit, 0 no claim, 0 mismatches; 3 curves, "
        "2 points solved again: 2 equal, 0 not proved within the limit; 6 distinct contents solved by cp_sat"
    )
    assert out[-1].endswith("0 scores; 0 faults, 0 files unreadable: passed")


def test_a_mismatch_fails_and_names_the_instance(results, capsys):
    tamper(results, value_int=2_999_999, bound_int=2_999_999, value=2.999999)
    assert main(["verify", str(results)]) == 1
    caught = capsys.readouterr()
    path = path_of(results, "solutions")
    assert f"MISMATCH {path}: suite s, package p1, budget 3, pool full" in caught.err
    assert "1 mismatches" in caught.out and caught.out.rstrip().endswith("FAILED")


def test_the_wrong_one_of_equal_optima_fails_only_when_deep(results):
    tamper(results, cost=3, n_selected=2)
    chosen = rows_of(results, "solution_selections")
    own = [c for c in chosen if (c["package_id"], c["budget"]) == ("p1", 3)]
    chosen = [c for c in chosen if c not in own] + [{**own[0], "candidate_id": f"p1:{letter}"} for letter in "bc"]
    write(results, "solution_selections", chosen)
    assert main(["verify", str(results)]) == 0
    assert main(["verify", str(results), "--deep"]) == 1


@pytest.mark.parametrize("part", ["solutions", "solution_selections", "curves"])
def test_an_unreadable_file_fails_and_the_rest_is_checked(results, part, capsys):
    path = path_of(results, part)
    shutil.copytree(results / "solutions" / "s", results / "solutions" / "t")
    for stage in ("packages", "budgets"):
        for file in (results / stage).rglob("*.parquet"):
            other = Path(str(file).replace("/s/", "/t/").replace("/s.parquet", "/t.parquet"))
            other.parent.mkdir(exist_ok=True)
            shutil.copy(file, other)
    path.write_bytes(path.read_bytes()[:-100])
    report = verify(results)
    assert len(report.unreadable) == 1 and str(path) in report.unreadable[0]
    assert report.counts["optimal"] >= 4 and not report.passed
    assert main(["verify", str(results)]) == 1
    assert "UNREADABLE" in capsys.readouterr().err


@pytest.mark.parametrize("part", ["solution_selections", "curves"])
def test_missing_files_fail(results, part):
    path_of(results, part).unlink()
    assert [u.count("no such file") for u in verify(results).unreadable] == [1]


def test_missing_packages_fail(results):
    (results / "packages" / "s" / "units.parquet").unlink()
    assert [u.count("units.parquet: no such file") for u in verify(results).unreadable] == [1]


def test_a_file_without_definitions_fails(results):
    write(results, "solutions", rows_of(results, "solutions"), {"pools": POOLS})
    assert "lacks ['saturations', 'cost_models']" in verify(results).unreadable[0]


def test_nothing_to_verify_is_an_error(tmp_path, capsys):
    with pytest.raises(InputError, match="name a results folder"):
        verify(tmp_path)
    assert main(["verify", str(tmp_path)]) == 2
    assert "memaudit verify:" in capsys.readouterr().err


def test_an_optimum_not_proved_within_the_limit_does_not_pass(results, monkeypatch):
    from memaudit.check import prover
    from memaudit.check.model import Answer

    monkeypatch.setattr(prover.CpSatModel, "solve", lambda *_: Answer("limit", None, None, ()))
    report = verify(results, limit=1.0)
    assert report.counts["limit"] == 4 and report.counts["unproved"] == 4 and not report.passed


# ---- curves


def at(budget, package_id="p1"):
    return lambda row: (row["package_id"], row["budget"]) == (package_id, budget)


@pytest.mark.parametrize(
    "where, values, told",
    [
        (at(0), {"value_int": 1, "value": 1e-6}, "begins at budget 0 with value_int 1"),
        (at(1), {"value_int": 0, "value": 0.0}, "do not both rise"),
        (at(1), {"value": 9.0}, "value is not value_int / scale"),
        (at(1), {"max_budget": 8}, "its rows differ in one of"),
        (at(0), {"status": "limit"}, "its rows differ in one of"),
        (at(2), {"budget": 3}, "it differs from the curve of package p1, pool full"),
        (at(2), {"value_int": 4_000_000, "value": 4.0}, "at budget 3 it is 4, and solutions say 3"),
        (at(1), {"distribution": "x"}, "its rows differ in one of"),
    ],
)
def test_a_curve_that_does_not_hold_together_fails(results, where, values, told):
    tamper(results, "curves", where, **values)
    report = verify(results)
    assert any(told in fault and "package p1, pool full" in fault for fault in report.faults), report.faults


def test_a_curve_that_is_cut_fails(results):
    """Its end is always solved again."""
    rows = [row for row in rows_of(results, "curves") if row["package_id"] != "p3" or row["budget"] < 2]
    write(results, "curves", rows)
    solutions = [row for row in rows_of(results, "solutions") if (row["package_id"], row["budget"]) != ("p3", 3)]
    write(results, "solutions", solutions)
    chosen = rows_of(results, "solution_selections")
    write(results, "solution_selections", [c for c in chosen if (c["package_id"], c["budget"]) != ("p3", 3)])
    report = verify(results)
    assert [line.count("the curve says 3; cp_sat finds 4") for line in report.mismatches] == [1]


def test_a_curve_dropped_fails(results):
    write(results, "curves", [row for row in rows_of(results, "curves") if row["package_id"] != "p2"])
    assert verify(results).faults == [f"{results / FILES}: curves: no row of pool full, package_id p2"]


def test_a_curve_that_is_not_proven_passes(results):
    rows = [row for row in rows_of(results, "curves") if row["package_id"] != "p3" or row["budget"] == 0]
    write(results, "curves", [row | ({"status": "limit"} if row["package_id"] == "p3" else {}) for row in rows])
    report = verify(results)
    assert report.passed and report.counts["points"] == 1


# ---- without a manifest: budgets/ and the files say what must be there


def test_a_missing_manifest_is_remarked(results):
    assert [r.count("manifest.json: no such file") for r in verify(results).remarks] == [1]


@pytest.mark.parametrize("text", ["", "[]", '{"config": {"suites": {"s": {}}}}'])
def test_a_broken_manifest_fails(results, text):
    (results / "manifest.json").write_text(text)
    assert any("not a manifest" in line for line in verify(results).unreadable)


@pytest.mark.parametrize("table", ["solutions", "solution_selections"])
def test_a_budget_dropped_fails(results, table):
    for name in {"solution_selections", table}:  # selections without a solution are not readable
        write(results, name, [row for row in rows_of(results, name) if row["budget"] != 1])
    report = verify(results)
    assert not report.passed
    if table == "solutions":
        assert f"{results / FILES}: no row of pool full, package_id p1, budget 1" in report.faults


def test_all_solutions_of_a_suite_deleted_fails(results):
    shutil.rmtree(results / "solutions")
    assert main(["verify", str(results)]) == 1


def test_a_package_dropped_everywhere_fails(results):
    for table in ("solutions", "solution_selections", "curves"):
        write(results, table, [row for row in rows_of(results, table) if row["package_id"] != "p2"])
    report = verify(results)
    assert not report.passed and report.faults == [
        *(f"{results / FILES}: no row of pool full, package_id p2, budget {budget}" for budget in (1, 3)),
        f"{results / FILES}: curves: no row of pool full, package_id p2",
    ]


def test_a_budget_that_is_not_declared_fails(results):
    budgets = read_table(results / "budgets" / "s.parquet", "budgets").to_pylist()[:1]
    columns = {name: [row[name] for row in budgets] for name in budgets[0]}
    write_table(results / "budgets" / "s.parquet", "budgets", columns)
    report = verify(results)
    assert any("row of pool full, package_id p1, budget 3 does not belong here" in fault for fault in report.faults)
    assert any("budget_spec is '3', declared is None" in fault for fault in report.faults)


@pytest.mark.parametrize("spec", ["4", "0.43", "nonsense"])
def test_another_spelling_of_a_budget_fails(results, spec):
    tamper(results, budget_spec=spec)
    why = {"4": "budget is 3, by its packages 4", "0.43": "declared is '3'", "nonsense": "is no budget"}[spec]
    assert any("row package_id p1" in fault and why in fault for fault in verify(results).faults)


def test_files_of_another_setting_are_left_over_and_checked(results):
    shutil.copytree(results / FILES, results / FILES.replace("k1.cap1", "3"))
    report = verify(results)
    assert len(report.left_over) == 3 and all("no longer configured" in line for line in report.left_over)


# ---- the files of the manifest


def listed(results):
    """The files of a folder, as a manifest lists them."""
    (results / "figures" / "s").mkdir(parents=True)
    (results / "figures" / "s" / "sweep.png").write_bytes(b"png")
    files = sorted(path for path in results.rglob("*") if path.is_file())
    return {path.relative_to(results).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def checked(results, files):
    report = Report()
    verify_files(results, files, report)
    return report


def test_the_files_that_the_run_made_are_there(results):
    files = listed(results)
    report = checked(results, files)
    assert not report.faults and not report.left_over and report.counts["hashed"] == len(files) > 8


def test_a_file_that_is_gone_or_changed_is_named(results):
    files, folder = listed(results), results / "figures" / "s"
    (folder / "sweep.png").write_bytes(b"gnp")
    assert checked(results, files).faults == [
        f"{folder}: sweep.png: is not the file that the run made (sha256, manifest.json)"
    ]
    shutil.rmtree(results / "figures")
    told = checked(results, files).faults
    assert told == [f"{folder}: sweep.png: no such file; by manifest.json the run made it"]


def test_a_file_that_the_run_did_not_make_is_left_over(results):
    files = listed(results)
    (results / "tables").mkdir()
    (results / "tables" / "old.md").write_text("x")
    (results / "notes.txt").write_text("x")
    report = checked(results, files)
    assert report.left_over == [f"{results / 'tables'}: 1 files that the run did not make"] and not report.faults


@pytest.mark.parametrize("files", [[], {}, {"a": 1}, "a"])
def test_a_list_of_files_that_is_none_is_no_manifest(files):
    with pytest.raises((TypeError, AttributeError)):
        files_of_manifest({"files": files})
    assert files_of_manifest({}) is None


# ---- statuses


def test_a_limit_whose_value_is_its_bound_fails(results):
    tamper(results, status="limit", canonical=False)
    fault = f"{path_of(results, 'solutions')}: row package_id p1"
    assert [f.startswith(fault) and "status is 'limit'" in f for f in verify(results).faults] == [True]


def test_a_limit_whose_selection_is_called_canonical_fails(results):
    tamper(results, where=lambda r: r["package_id"] == "p3", status="limit", bound_int=10**7)
    faults = verify(results).faults
    assert len(faults) == 1 and "canonical is true" in faults[0]


def test_a_limit_whose_value_the_solver_proves_is_remarked(results):
    tamper(results, where=lambda r: r["package_id"] == "p3", status="limit", bound_int=10**7, canonical=False)
    report = verify(results)
    assert report.passed and any("proves its value optimal" in remark for remark in report.remarks)


# ---- independence: the check shares no code with what it checks

ALLOWED = {"errors", "schemas", "table_io"}
# What a text is read into, words and numbers and dates, is the proxy's definition; what it judges is computed again.
READING = {"stores.judge_text", "natural.kept_words"}
CHECK = Path(memaudit.check.__file__).parent


@pytest.mark.parametrize("path", sorted(CHECK.glob("*.py")), ids=lambda p: p.name)
def test_the_check_imports_only_what_it_may(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 2:
            assert node.module in READING or (node.module or "").split(".")[0] in ALLOWED
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            assert not node.module.startswith("memaudit")
        elif isinstance(node, ast.Import):
            assert not any(name.name.startswith("memaudit") for name in node.names)
        assert not (isinstance(node, ast.ImportFrom) and node.level > 2)


def test_no_code_that_is_checked_is_loaded_with_the_check():
    code = "import sys, memaudit.check.verify_io; print(*(m for m in sys.modules if m.startswith('memaudit')))"
    path = str(CHECK.parents[1])
    out = subprocess.run([sys.executable, "-c", code], cwd=path, capture_output=True, text=True, check=True).stdout
    loaded = {name.removeprefix("memaudit").removeprefix(".") for name in out.split()}
    # kernel_cache: loaded with the package itself; it only names a folder.
    allowed = ALLOWED | READING | {name.split(".")[0] for name in READING} | {"", "kernel_cache"}
    assert {name for name in loaded if name.split(".")[0] != "check"} <= allowed
    assert "check.verify_io" in loaded
