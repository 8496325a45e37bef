"""Dependencies point down: present -> analysis -> writers, stores -> solve -> objective -> package."""

import ast
from pathlib import Path

import pytest

LIBRARY = Path(__file__).parents[2] / "scripts" / "memaudit"
# From the bottom up; a module may import what stands in its own line or below. A package counts as a whole.
LAYERS = [
    ["", "errors", "kernel_cache", "kernel_locator"],
    ["package", "costs", "schemas"],
    ["table_io", "csv_io", "files_io", "pools", "objective", "budgets"],
    ["package_io", "batch", "problem"],
    ["synthetic", "natural"],
    ["solve", "suites_io"],
    ["writers", "stores"],
    ["analysis"],
    ["present"],
    # What runs the library: its configuration, provenance and command line.
    [
        "config",
        "config_io",
        "config_yaml",
        "config_docs",
        "provenance",
        "manifest_io",
        "stage_io",
        "labels_io",
        "run_info",
        "warm",
    ],
    ["cli", "__main__"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
# The independent check shares no code with what it checks (tables and errors only).
CHECK_MAY_IMPORT = {"check", "errors", "schemas", "table_io", ""}
# How a text is read into words, numbers and dates is written once; what is made of them is not.
CHECK_MAY_READ_WITH = {("stores", "judge_text")}
MODULES = sorted(LIBRARY.rglob("*.py"))


def parts(path):
    """('writers', 'oracle') of writers/oracle.py; () of the library's own __init__."""
    relative = path.relative_to(LIBRARY).with_suffix("").parts
    return relative[:-1] if relative[-1] == "__init__" else relative


def imported(path):
    """Dotted names below the library that the module imports, those inside functions too."""
    package = path.relative_to(LIBRARY).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "memaudit":
                    yield tuple(alias.name.split(".")[1:])
        elif isinstance(node, ast.ImportFrom):
            module = tuple(node.module.split(".")) if node.module else ()
            if node.level:
                base = package[: len(package) - node.level + 1] + module
            elif module[:1] == ("memaudit",):
                base = module[1:]
            else:
                continue
            for alias in node.names:
                yield (*base, alias.name) if is_module((*base, alias.name)) else base


def is_module(name):
    path = LIBRARY.joinpath(*name)
    return path.with_suffix(".py").is_file() or path.is_dir()


def top(name):
    return name[0] if name else ""


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(LIBRARY).as_posix())
def test_nothing_imports_upwards(path):
    own = top(parts(path))
    for name in imported(path):
        target = top(name)
        if own == "check":
            assert target in CHECK_MAY_IMPORT or name[:2] in CHECK_MAY_READ_WITH, (
                f"check/ must not import memaudit.{'.'.join(name)}"
            )
        elif target == "check":
            assert LEVEL[own] >= LEVEL["config"], f"{own} must not import the checks"
        else:
            assert LEVEL[target] <= LEVEL[own], f"{own} must not import memaudit.{'.'.join(name)}"


def test_every_module_has_a_layer():
    assert {top(parts(p)) for p in MODULES} <= {*LEVEL, "check"}


def test_the_library_knows_nothing_of_snakemake():
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            assert not [n for n in names if n.split(".")[0] == "snakemake"], path


def test_the_reader_of_imports_sees_every_form(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.LIBRARY", tmp_path)
    (tmp_path / "low.py").write_text("")
    (tmp_path / "deep").mkdir()
    module = tmp_path / "deep" / "m.py"
    module.write_text(
        "import memaudit.low\nfrom memaudit import low\nfrom ..low import x\nfrom .. import low\n"
        "from . import m\nimport os\ndef f():\n    from ..low import y\n"
    )
    assert sorted(imported(module)) == [("deep", "m"), *[("low",)] * 5]
