"""Files made from others agree with what they are made from."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

from memaudit.config_docs import schema_text, with_key_tables
from memaudit.config_io import load_config
from memaudit.errors import InputError

ROOT = Path(__file__).parents[2]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def make_environment():
    spec = importlib.util.spec_from_file_location("make_environment", ROOT / "tools" / "make_environment.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_json_schema():
    assert read("config/schema.json") == schema_text(), "run `make docs`"


def test_key_tables():
    assert read("config/README.md") == with_key_tables(read("config/README.md")), "run `make docs`"


def test_key_tables_need_their_markers():
    with pytest.raises(InputError, match="keys: begin"):
        with_key_tables("no markers")


def test_environment():
    made = make_environment().environment(read("pyproject.toml"), read("requirements.lock"))
    assert read("environment.yml") == made, "run `python tools/make_environment.py`"


def test_environment_follows_the_lock():
    lock = re.sub(r"^numpy==\S+", "numpy==1.2.3", read("requirements.lock"), flags=re.MULTILINE)
    assert "  - numpy=1.2.3\n" in make_environment().environment(read("pyproject.toml"), lock)


def test_lock_holds_every_dependency_with_hashes_and_no_host():
    lock = read("requirements.lock")
    project = tomllib.loads(read("pyproject.toml"))["project"]
    wanted = sum(project["optional-dependencies"].values(), project["dependencies"])
    locked = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", lock, re.MULTILINE))
    assert {re.match(r"[a-z0-9-]+", name)[0] for name in wanted} <= set(locked)
    entries = re.split(r"^(?=[a-z])", lock, flags=re.MULTILINE)[1:]
    assert len(entries) == len(locked)
    assert all("--hash=sha256:" in entry for entry in entries)
    assert not re.search(r"://|index-url|find-links|trusted-host", lock)


def test_the_example_writer_of_the_readme_works(tmp_path, monkeypatch):
    from memaudit.synthetic import generate
    from memaudit.writers.registry import Writer, rule_from_file, run

    monkeypatch.chdir(tmp_path)
    source = re.search(r"```python\n(.*?)```", read("config/README.md"), re.DOTALL)[1]
    Path("my_writers.py").write_text(source)
    Path("my.yaml").write_text(
        "suites:\n  s: {source: synthetic, distributions: [base], seeds: 1, budgets: [8]}\n"
        "writers:\n  newest_first: {rule: my_writers.py:newest_first, parameters: {skip_types: [summary]}}\n"
    )
    entry = load_config("my.yaml").writers["newest_first"]
    rule = rule_from_file(entry.rule, entry.sees or "metadata")
    package = generate("s", "base", 0)
    kept = run(Writer("newest_first", rule), package, None, 8, entry.parameters)
    # The newest group is the last update; its cheapest candidate is the tombstone, not a summary.
    assert len(kept) > 1
    assert package.visible.time_index[kept].max() == package.visible.time_index.max()
    assert all(package.visible.representation_type[i] != "summary" for i in kept)


def test_the_readme_tells_the_parameters_of_randomized_distributions():
    from memaudit.synthetic.randomized import Spread

    rows = dict(re.findall(r"^\| `(\w+_spread)` \| ([\d.]+) \|", read("config/README.md"), re.MULTILINE))
    assert {name: float(value) for name, value in rows.items()} == Spread().model_dump()
