"""Code hashes change with every module a stage uses, and with no other; manifests; the kernel cache."""

import ast
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

from memaudit import kernel_cache, manifest_io, provenance
from memaudit.errors import InputError
from memaudit.provenance import code_hash
from memaudit.warm import _use_every_kernel

FILES = {
    "__init__.py": "",
    "low.py": "X = 1\n",
    "mid.py": "from .low import X\n",
    "lazy.py": "def f():\n    from . import low\n",
    "absolute.py": "import memaudit.low\n",
    "alone.py": "import os, json\n",
    "box/__init__.py": "from . import inner\n",
    "box/inner.py": "from ..mid import X\nfrom .other import Y\n",
    "box/other.py": "from ..box import inner\n",
    "loop_a.py": "from . import loop_b\n",
    "loop_b.py": "from . import loop_a\nfrom .low import X\n",
}


@pytest.fixture
def library(monkeypatch):
    """A library of FILES in place of memaudit; returns its files, to change them."""
    files = dict(FILES)

    def get_data(name, path):
        assert name == "memaudit"
        if path not in files:
            raise FileNotFoundError(path)
        return files[path].encode()

    monkeypatch.setattr(provenance.pkgutil, "get_data", get_data)
    provenance._library_module.cache_clear()
    yield files
    provenance._library_module.cache_clear()


def after_change(files, changed, modules):
    provenance._library_module.cache_clear()
    kept = files[changed]
    files[changed] += "# changed\n"
    value = code_hash(modules)
    files[changed] = kept
    provenance._library_module.cache_clear()
    return value


@pytest.mark.parametrize(
    ("module", "uses"),
    [
        ("low", {"low"}),
        ("mid", {"mid", "low"}),
        ("lazy", {"lazy", "low"}),
        ("absolute", {"absolute", "low"}),
        ("alone", {"alone"}),
        ("box.inner", {"box/inner", "box/other", "mid", "low"}),
        ("box", {"box/__init__", "box/inner", "box/other", "mid", "low"}),
        ("loop_a", {"loop_a", "loop_b", "low"}),
    ],
)
def test_code_hash_follows_imports(library, module, uses):
    name = f"memaudit.{module}"
    before = code_hash([name])
    changes = {f.removesuffix(".py") for f in FILES if after_change(library, f, [name]) != before}
    assert changes == uses
    assert code_hash([name]) == before


def test_code_hash_of_several_and_in_any_order(library):
    both = code_hash(["memaudit.low", "memaudit.alone"])
    assert both == code_hash(["memaudit.alone", "memaudit.low", "memaudit.low"])
    assert len({both, code_hash(["memaudit.low"]), code_hash(["memaudit.alone"])}) == 3
    assert len(both) == 64


def test_code_hash_of_a_file(library, tmp_path):
    script = tmp_path / "job.py"
    script.write_text("from memaudit.mid import X\n")
    before = code_hash([str(script)])
    assert after_change(library, "low.py", [str(script)]) != before
    assert after_change(library, "alone.py", [str(script)]) == before
    other = tmp_path / "elsewhere" / "job.py"
    other.parent.mkdir()
    other.write_text(script.read_text())
    assert code_hash([str(other)]) == before
    script.write_text("from memaudit.mid import X  # changed\n")
    assert code_hash([str(script)]) != before


def test_code_hash_of_nothing_is_told(library, tmp_path):
    with pytest.raises(InputError, match=r"no module memaudit\.absent"):
        code_hash(["memaudit.absent"])
    with pytest.raises(InputError, match="no module json"):
        code_hash(["json"])
    with pytest.raises(InputError, match="cannot be read"):
        code_hash([str(tmp_path / "absent.py")])


def test_code_hash_of_the_real_library():
    assert code_hash(["memaudit.objective"]) != code_hash(["memaudit.package"])
    source, imports = provenance._library_module("memaudit.objective")
    assert b"class Instance" in source
    assert {"memaudit.package", "memaudit.errors"} <= set(imports)


# ---- the manifest


def test_manifest(tmp_path):
    bench = tmp_path / "benchmarks" / "solve"
    bench.mkdir(parents=True)
    (bench / "a.tsv").write_text("s\th:m:s\n1.5\t0:00:01\n")
    (bench / "b.tsv").write_text("s\th:m:s\n2\t0:00:02\n3\t0:00:03\n")
    data = tmp_path / "data.txt"
    data.write_text("abc")
    path = tmp_path / "manifest.json"
    table = tmp_path / "tables" / "a.md"
    table.parent.mkdir()
    table.write_text("abc")
    own = {"config": {"results": "r"}, "inputs": [data], "made": [table], "code": {"solve": "f"}}
    manifest_io.write_manifest(path, **own, benchmarks=tmp_path / "benchmarks")
    content = json.loads(path.read_text())
    assert content["seconds"] == {"solve/a": 1.5, "solve/b": 5.0}
    assert content["seconds_total"] == 6.5
    sha = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert content["inputs"] == {str(data): sha} and content["files"] == {"tables/a.md": sha}
    assert content["config"] == {"results": "r"} and content["code"] == {"solve": "f"}
    assert content["versions"]["python"] == sys.version.split()[0]
    assert set(content["versions"]) == {"python", "memaudit", *manifest_io.DEPENDENCIES}
    assert content["host"]["cores"] == os.cpu_count()


def test_manifest_refuses_what_is_no_benchmark(tmp_path):
    (tmp_path / "a.tsv").write_text("x\ty\n1\t2\n")
    with pytest.raises(InputError, match="no snakemake benchmark file"):
        manifest_io.wall_seconds(tmp_path)


def test_hash_of_a_folder_covers_names_and_contents(tmp_path):
    def made(files):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text)
        return manifest_io.sha256(folder)

    first = made({"a": "1", "b": "2"})
    assert first == made({"b": "2", "a": "1"})
    assert len({first, made({"a": "1", "b": "3"}), made({"a": "1", "c": "2"}), made({"a": "1"})}) == 4


def test_commit(tmp_path, monkeypatch):
    monkeypatch.setattr(manifest_io, "_LIBRARY", tmp_path)
    assert manifest_io.git_commit() is None
    git = ("git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run((*git, "init", "-q"), check=True)
    (tmp_path / "f").write_text("1")
    subprocess.run((*git, "add", "f"), check=True)
    subprocess.run((*git, "commit", "-qm", "c"), check=True)
    commit = manifest_io.git_commit()
    assert len(commit) == 40
    (tmp_path / "f").write_text("2")
    assert manifest_io.git_commit() == f"{commit}+changes"


# ---- the kernel cache


def test_cache_key_follows_the_environment(monkeypatch):
    before = kernel_cache.cache_key()
    monkeypatch.setattr(kernel_cache.sys, "version", "another")
    assert kernel_cache.cache_key() != before


def test_a_kernel_depends_on_its_module_and_the_kernels_that_it_imports(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_cache, "_LIBRARY", tmp_path.resolve())
    kernel = "@njit\ndef f(): ...\n"
    texts = {
        "low.py": kernel,
        "sub/mid.py": "from ..low import (\n    f,\n)\n" + kernel,
        "sub/top.py": "from . import mid\nfrom ..plain import x\n" + kernel,
        "other.py": "def local():\n    from .sub.mid import f\n" + kernel,
        "alone.py": kernel,
        "plain.py": "from .alone import f\nx = 1\n",
    }
    (tmp_path / "sub").mkdir()
    for name, text in texts.items():
        (tmp_path / name).write_text(text)

    def digests():
        return {name: kernel_cache.sources_digest(tmp_path / name) for name in texts if name != "plain.py"}

    def changed_by_editing(name):
        before, everything = digests(), kernel_cache.all_sources_digest()
        with open(tmp_path / name, "a") as file:
            file.write("# edited\n")
        assert (kernel_cache.all_sources_digest() != everything) == (name != "plain.py")
        return {n for n, d in digests().items() if d != before[n]}

    assert changed_by_editing("low.py") == {"low.py", "sub/mid.py", "sub/top.py", "other.py"}
    assert changed_by_editing("sub/mid.py") == {"sub/mid.py", "sub/top.py", "other.py"}
    assert changed_by_editing("sub/top.py") == {"sub/top.py"}
    assert changed_by_editing("alone.py") == {"alone.py"}
    assert changed_by_editing("plain.py") == set()


def kernels_of(module):
    """name -> kernel of those that the module defines."""
    kinds = {n: v for n, v in vars(module).items() if isinstance(v, Dispatcher)}
    return {n: v for n, v in kinds.items() if v.py_func.__module__ == module.__name__}


def test_all_that_a_kernel_is_compiled_from_is_in_its_digest():
    """Every number or kernel of another module that a kernel names comes from a source that its digest covers."""
    _use_every_kernel()  # imports every module that holds one
    looked_at = 0
    for name, module in sorted(sys.modules.items()):
        if not name.startswith("memaudit.") or not (kernels := kernels_of(module)):
            continue
        source = Path(module.__file__).resolve()
        covered = kernel_cache._kernel_sources(source)
        origin = {
            alias.asname or alias.name: importlib.import_module(
                "." * node.level + (node.module or ""), module.__package__
            )
            for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom) and node.level
            for alias in node.names
        }
        for kernel in kernels.values():
            for used in set(kernel.py_func.__code__.co_names) & set(origin):
                looked_at += 1
                assert Path(origin[used].__file__).resolve() in covered, f"{name}.{kernel.__name__} uses {used}"
        assert kernel_cache._has_kernels(source)
    assert looked_at > 10


def test_kernels_stand_in_the_folder_of_their_sources(tmp_path):
    code = (
        "from memaudit.solve import kernels; import numpy as np; one = np.ones(1, np.int64); "
        "stats = kernels.f_line.stats; "
        "print(kernels.f_line(2, one, one), sum(stats.cache_hits.values()), stats.cache_path)"
    )
    source = Path(kernel_cache.__file__).parent / "solve" / "kernels.py"
    expected = tmp_path / f"kernels.{kernel_cache.sources_digest(source)}"
    cold, warm = (run_python(code, NUMBA_CACHE_DIR=str(tmp_path)).split(" ", 2) for _ in range(2))
    assert cold == ["3", "0", str(expected)]
    assert warm[0] == "3" and int(warm[1]) >= 1 and warm[2] == str(expected)


def run_python(code, **environment):
    inherited = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    library = str(Path(kernel_cache.__file__).parents[1])
    done = subprocess.run(
        (sys.executable, "-c", code),
        env={**inherited, "PYTHONPATH": library, **environment},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


def test_cache_is_set_on_import_without_numba():
    code = "import memaudit, os, sys; print(os.environ['NUMBA_CACHE_DIR'], 'numba' in sys.modules)"
    folder, has_numba = run_python(code).rsplit(" ", 1)
    assert folder.endswith(kernel_cache.cache_key())
    assert has_numba == "False"
    assert run_python(code, NUMBA_CACHE_DIR="mine").startswith("mine ")


def test_cache_of_an_installed_library_is_the_users(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_cache, "_LIBRARY", tmp_path / "site-packages" / "memaudit")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert kernel_cache._base() == tmp_path / "cache" / "memaudit"
