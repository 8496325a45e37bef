"""Configuration keys of natural statistics, and which tables a suite has because of them."""

from __future__ import annotations

import pytest

from memaudit.config import Robustness, parse_config
from memaudit.config_io import load_config
from memaudit.errors import InputError
from memaudit.run_info import info_part, natural_analyses, read_info, run_info
from memaudit.schemas import NATURAL_TABLES

WRITERS = {"opt": {"rule": "opt"}, "greedy": {"rule": "greedy"}}


def raw(writers=WRITERS, **talks):
    talk = {"source": "longmemeval", "file": "talks.json", "budgets": [4]}
    synthetic = {"source": "synthetic", "distributions": ["base"], "seeds": 1, "budgets": [4]}
    return {"suites": {"talks": talk | talks, "again": dict(talk), "small": synthetic}, "writers": writers}


def parse(content):
    return parse_config(content, "my.yaml", ("opt", "greedy"), ("base",))


def test_defaults_and_their_tables():
    config = parse(raw())
    assert config.suites["talks"].robustness == Robustness()
    assert natural_analyses(config, "small") == ()
    assert set(natural_analyses(config, "talks")) == {
        "query_scores", "construction", "robustness", "robustness_writers", "categories"
    }  # fmt: skip
    assert config.statistics_paths("talks") == config.statistics_paths("small") == []


def test_a_coverage_package_may_bring_several_sources_of_labels():
    released = {"source": "coverage_package", "package": "p", "budgets": [4]}
    content = raw()
    content["suites"]["released"] = released
    found = set(natural_analyses(parse(content), "released"))
    assert {"agreement", "disagreements", "label_ratios", "relabelled"} <= found


def test_every_key_brings_its_tables():
    config = parse(raw(audit="audit", compare_with=["again"], downstream="a.csv", k=[1, 2]))
    assert natural_analyses(config, "talks") == NATURAL_TABLES
    assert config.statistics_paths("talks") == ["audit", "a.csv"]
    assert {"sensitivity"} <= set(natural_analyses(parse(raw(cost_models=["declared", "words"])), "talks"))
    assert {"sensitivity"} <= set(natural_analyses(parse(raw(pools=["full", "summary"])), "talks"))
    quiet = parse(raw(robustness=None, writers={}))
    assert natural_analyses(quiet, "talks") == ("construction",)


def test_the_run_info_survives_its_way_through_a_job():
    info = run_info(parse(raw(compare_with=["again"])))
    assert read_info(info_part(info)) == info
    assert "agreement" in info.suite("talks").analyses


@pytest.mark.parametrize(
    ("talks", "message"),
    [
        ({"compare_with": ["talks"]}, r"suites.talks.compare_with\[0\]: is the suite itself"),
        ({"compare_with": ["small"]}, r"suites.talks.compare_with\[0\]: small is synthetic"),
        (
            {"compare_with": ["again"], "k": [2, 1]},
            r"suites.talks.compare_with\[0\]: the first setting of talks is compared, and again has no 2 among its k",
        ),
        ({"compare_with": ["again"], "cost_models": ["words"]}, r"again has no 'words' among its cost_models"),
        ({"compare_with": ["again"], "saturations": ["linear"]}, r"again has no 'linear' among its saturations"),
        ({"compare_with": ["agian"]}, r"suites.talks.compare_with\[0\]: unknown suite 'agian'; nearest known: 'again'"),
        ({"robustness": {"rates": [0.0]}}, r"suites.talks.robustness.rates\[0\]: 0.0 is not above 0"),
        ({"robustness": {"rates": [1.5]}}, r"suites.talks.robustness.rates\[0\]: 1.5 is above 1"),
        ({"robustness": {"rates": []}}, "suites.talks.robustness.rates: is empty"),
        ({"robustness": {"draws": 0}}, "suites.talks.robustness.draws: 0 is below 1"),
        ({"robustness": {"drwas": 3}}, "suites.talks.robustness.drwas: unknown key; nearest known: 'draws'"),
        ({"robustness": {"flips": "some"}}, "suites.talks.robustness.flips: 'some'"),
        ({"downstream_systems": {"x": "gredy"}}, "suites.talks.downstream_systems.x: unknown writer 'gredy'"),
        ({"paper_package": "yes"}, "suites.talks.paper_package: 'yes'"),
    ],
)
def test_bad_values_are_told_by_key(talks, message):
    with pytest.raises(InputError, match=message):
        parse(raw(**talks))


def test_a_key_of_natural_suites_is_refused_on_a_synthetic_one():
    content = raw()
    content["suites"]["small"]["audit"] = "x"
    with pytest.raises(InputError, match=r"suites.small.audit: is a key of source"):
        parse(content)


def test_missing_files_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.yaml").write_text(
        "suites:\n  s: {source: longmemeval, file: my.yaml, budgets: [4], audit: no_audit, downstream: no.csv}\n"
    )
    with pytest.raises(InputError, match=r"(?s)s.audit: there is no 'no_audit'.*s.downstream: there is no"):
        load_config(tmp_path / "my.yaml")
