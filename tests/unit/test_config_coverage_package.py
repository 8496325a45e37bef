"""The suite source coverage_package in the configuration."""

import pytest

from memaudit.config import parse_config
from memaudit.config_io import load_config
from memaudit.errors import InputError
from memaudit.run_info import run_info

SUITE = {"source": "coverage_package", "package": "folder", "budgets": [5]}


def parse(**keys):
    raw = {"suites": {"released": {**SUITE, **keys}}, "writers": {"opt": {"rule": "opt"}}}
    return parse_config(raw, "my.yaml", ("opt",), ("base",))


def test_defaults_and_parts():
    config = parse()
    assert config.source_paths("released") == ["folder"]
    assert config.source_definition("released") == {
        "source": "coverage_package",
        "quantize": None,
        "weights": "required",
        "paper_defaults": False,
        "own": False,
        "strict": False,
    }
    assert config.shards("released") == 1
    assert run_info(config).suite("released").source == "coverage_package"


def test_conversations_are_a_path_and_not_a_part():
    config = parse(conversations="talks.json", weights="uniform")
    assert config.source_paths("released") == ["folder", "talks.json"]
    definition = config.source_definition("released")
    assert "talks.json" not in str(definition) and "folder" not in str(definition)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"package": ""}, r"suites.released.package: is empty"),
        ({"package": None}, r"suites.released.package: None is empty; expected text"),
        ({"weights": "equal"}, r"suites.released.weights: 'equal'.*'required' or 'uniform'"),
        ({"strict": "yes"}, r"suites.released.strict: 'yes'"),
        ({"packge": "x"}, r"suites.released.packge: unknown key; nearest known: 'package'"),
        ({"seeds": 3}, r"suites.released.seeds: is a key of source synthetic"),
    ],
)
def test_wrong_keys(keys, message):
    with pytest.raises(InputError, match=message):
        parse(**keys)


def test_package_is_needed():
    raw = {"suites": {"s": {"source": "coverage_package", "budgets": [5]}}}
    with pytest.raises(InputError, match=r"suites.s.package: is missing; The folder in the coverage-package layout"):
        parse_config(raw, "my.yaml", (), ())


def test_folder_and_conversations_must_exist(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.yaml").write_text(
        "suites:\n  s: {source: coverage_package, package: none, conversations: neither.json, budgets: [5]}\n"
    )
    with pytest.raises(InputError, match=r"(?s)package: there is no 'none'.*conversations: there is no 'neither.json'"):
        load_config("my.yaml")
