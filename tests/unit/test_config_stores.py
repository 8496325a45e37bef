"""Configuration of exported stores: what is refused, and which unions and settings come of it."""

import json
import os
from pathlib import Path
from typing import get_args

import pytest
import yaml
from coverage_folders import tables, write

from memaudit import config_io
from memaudit.config import PRUNING_RULES, StoreEntry, parse_config
from memaudit.config_io import check_stores, load_config
from memaudit.errors import InputError
from memaudit.run_info import info_part, read_info, run_info
from memaudit.schemas import STORE_TABLES
from memaudit.stores.ingest_io import COVERAGE
from memaudit.stores.judge_io import JUDGES
from memaudit.stores.model import MAX_PARSED
from memaudit.stores.pruning import RULES


def raw(suite=None, **stores):
    talks = {"source": "longmemeval", "file": "talks.json", "budgets": [4, 0.5], "cost_models": ["declared", "words"]}
    synthetic = {"source": "synthetic", "distributions": ["base"], "seeds": 1, "budgets": [4]}
    return {
        "suites": {"talks": talks | (suite or {}), "small": synthetic},
        "stores": {name: {"suite": "talks", "path": "s.json", "coverage": "c.jsonl"} | s for name, s in stores.items()},
    }


def parse(content):
    return parse_config(content, "my.yaml", ("opt",), ("base",))


def refused(content):
    with pytest.raises(InputError) as error:
        parse(content)
    return str(error.value).splitlines()[1:]


def test_the_judges_are_those_that_there_are():
    assert set(get_args(get_args(StoreEntry.model_fields["judge"].annotation)[0])) == set(JUDGES)


def test_a_judge_stands_in_for_labels_and_not_beside_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "talks.json").write_text("[]")
    (tmp_path / "s.json").write_text("[]")
    (tmp_path / "stores").mkdir()
    for path in ("s.json", "stores"):
        content = raw(a={"coverage": None, "judge": "proxy", "path": path}) | {"writers": {"opt": {"rule": "opt"}}}
        (tmp_path / "my.yaml").write_text(yaml.safe_dump(content))
        config = load_config("my.yaml")
        assert config.store_part("a")["judge"] == "proxy"
    assert run_info(config).suite("talks").stores[0].judge == "proxy"
    (tmp_path / "stores" / COVERAGE).with_suffix(".jsonl").write_text("")
    with pytest.raises(InputError, match=r"stores\.a\.judge: coverage is labelled already, in stores"):
        load_config("my.yaml")


def test_the_rules_are_those_that_there_are():
    assert set(PRUNING_RULES) == set(RULES)


def test_unions_and_their_settings():
    config = parse(raw({"compare_stores": ["a", "b"], "k": [1, 2]}, a={"cost_model": "paper"}, b={}, c={}))
    unions = config.unions()
    assert list(unions) == ["talks+a", "talks+a+alone", "talks+b", "talks+b+alone", "talks+c", "talks+c+alone",
                            "talks+joint"]  # fmt: skip
    assert unions["talks+joint"].stores == ("a", "b") and unions["talks+a+alone"].alone
    models = {name: [s.cost_model for s in config.union_settings(u)] for name, u in unions.items()}
    # b's memories have no cost beside declared ones, so the joint union is not there either.
    assert models["talks+a"] == ["declared", "declared", "words", "words"]
    assert models["talks+b"] == models["talks+joint"] == ["words", "words"]
    assert config.memory_costs(unions["talks+joint"]) == {"a": ["words", "words"], "b": ["words", "words"]}


def test_another_cost_model_of_memories():
    content = raw(a={"cost_model": "dear"}) | {"cost_models": {"dear": {"per_word": 2}}}
    config = parse(content)
    assert config.memory_costs(config.unions()["talks+a"])["a"][1]["per_word"] == 2


def test_a_suite_with_stores_has_their_tables():
    info = run_info(parse(raw(a={}, demo={"demonstration": True})))
    assert set(STORE_TABLES) <= set(info.suite("talks").analyses) and not set(STORE_TABLES) & set(
        info.suite("small").analyses
    )
    assert [(s.name, s.demonstration) for s in info.suite("talks").stores] == [("a", False), ("demo", True)]
    assert read_info(info_part(info)) == info


def test_the_limit_of_bytes_is_that_of_reading():
    assert StoreEntry.model_fields["max_bytes"].default == MAX_PARSED == parse(raw(a={})).store_part("a")["max_bytes"]
    assert parse(raw(a={"max_bytes": 9})).store_part("a")["max_bytes"] == 9


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (raw(a={"suite": "small"}), "stores.a.suite: small is synthetic, and no system was given its experiences"),
        (raw(a={"suite": "tolks"}), "stores.a.suite: unknown suite 'tolks'; nearest known: 'talks'"),
        (raw(a={"cost_model": "declared"}), "stores.a.cost_model: memories declare no cost; write same, paper or"),
        (raw(a={"cost_model": "wrods"}), "stores.a.cost_model: unknown cost model 'wrods'; nearest known: 'words'"),
        (raw({"cost_models": ["declared"]}, a={}), "stores.a.cost_model: suite talks has declared costs only"),
        (raw({"budgets": "all"}, a={}), "stores.a.suite: stores are scored at declared budgets, and"),
        (raw(a={"max_bytes": 0}), "stores.a.max_bytes: "),
        (raw(a={"rules": ["newest"]}), "unknown pruning rule 'newest'"),
        (raw(a={"judge": "proxy"}), "stores.a.judge: coverage is labelled already; keep `coverage` or `judge`"),
        (raw(a={"view_": "full"}), "stores.a.view_: unknown key; nearest known: 'view'"),
        (raw(a={"memory_view": "full"}), "stores.a.memory_view: unknown key"),
        (raw(joint={}), "joint is what the union of all compared stores is called"),
        (raw(**{"mem0-scripted": {}}), "stores.mem0-scripted.demonstration: a scripted store shows no system"),
        (raw({"compare_stores": ["a"]}, a={}), "suites.talks.compare_stores: one store is compared with nothing"),
        (raw({"compare_stores": ["a", "x"]}, a={}), "suites.talks.compare_stores[1]: unknown store 'x'"),
        (
            raw({"compare_stores": ["a", "b"]}, a={}, b={"demonstration": True}),
            "suites.talks.compare_stores[1]: b is a demonstration and compared with none",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(content, line):
    told = refused(content)
    assert len(told) == 1 and line in told[0], told


@pytest.mark.parametrize(
    ("store", "line"),
    [
        ({"path": "gone.json"}, "stores.a.path: there is no 'gone.json'"),
        ({"path": "pipe.json"}, "stores.a.path: 'pipe.json' is a pipe; give a file, or a folder of files"),
        ({"coverage": "pipe.json"}, "stores.a.coverage: 'pipe.json' is a pipe"),
        ({"format": "mem1"}, "stores.a: format 'mem1': there is none of that name"),
        ({"format": "letta", "view": "full"}, "stores.a: view 'full': format letta has combined, core, archival"),
        ({"parts": {"past": "s.json"}}, "stores.a.parts: there is no part 'past'; known: archival, blocks, history"),
        ({"columns": {"words": "text"}}, "stores.a: columns: 'words' is no role"),
        ({"coverage": None}, "stores.a: nobody says what its memories cover; give `coverage`"),
        ({"coverage": None, "judge": "poxy"}, "stores.a.judge: 'poxy': Input should be 'proxy'"),
    ],
)
def test_what_the_files_say(tmp_path, monkeypatch, store, line):
    monkeypatch.chdir(tmp_path)
    for name in ("s.json", "c.jsonl", "talks.json"):
        (tmp_path / name).write_text("[]")
    os.mkfifo(tmp_path / "pipe.json")
    good, bad = raw(a={}), raw(a=store)
    for content in (good, bad):
        (tmp_path / "my.yaml").write_text(yaml.safe_dump(content | {"writers": {"opt": {"rule": "opt"}}}))
        if content is good:
            load_config("my.yaml")
    with pytest.raises(InputError) as error:
        load_config("my.yaml")
    told = str(error.value).splitlines()[1:]
    assert len(told) == 1 and line in told[0], told


def test_small_exports_of_no_question_are_told_before_the_run(tmp_path, monkeypatch):
    """Each store with its own line; what is large, or of a suite whose questions are not known yet, is left to jobs."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "package", tables())
    row = {"id": "m", "text": "The bicycle is blue."}
    exports = {"good": [row | {"instance_id": "q_bike"}], "unnamed": [row], "other": [row | {"instance_id": "q7"}]}
    for name, rows in exports.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    suite = {"source": "coverage_package", "package": "package", "budgets": [4], "cost_models": ["words"]}

    def loaded(**stores):
        stores = {name: {"suite": "asked", "judge": "proxy", "path": f"{name}.json"} | s for name, s in stores.items()}
        content = raw() | {"stores": stores, "writers": {"opt": {"rule": "opt"}}}
        content["suites"] = {"asked": suite}
        (tmp_path / "my.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
        return load_config("my.yaml")

    check_stores(loaded(good={}, unnamed={"instance_id": "q_tea"}))
    with pytest.raises(InputError, match=r"good.json: more than 9 bytes .* in a configuration: max_bytes"):
        check_stores(loaded(good={"max_bytes": 9}))
    with pytest.raises(InputError) as error:
        check_stores(loaded(good={}, unnamed={}, other={}))
    first, *told = str(error.value).splitlines()
    assert first == "2 stores cannot be used" and len(told) == 2
    assert "stores.unnamed: a store does not say which example it is of; expected" in told[0] and "q_bike" in told[0]
    assert "stores.other: no store is of an example" in told[1] and "set instance_id" in told[1]
    (tmp_path / "salience.jsonl").write_text(json.dumps({"instance_id": "q_bike", "scores": {"x": 1}}))
    (tmp_path / "ranked.json").write_text(json.dumps([row | {"instance_id": "q_bike", "native_order": 0}]))
    check_stores(loaded(ranked={"rules": ["native_order", "recency"]}))
    with pytest.raises(InputError) as error:
        check_stores(loaded(good={"rules": ["recency", "native_order"]}, ranked={"salience": "salience.jsonl"}))
    assert "stores.good.rules: native_order: no memory of the export has a native_order" in str(error.value)
    assert "salience.jsonl: no score is of a memory of store ranked; it has rows of the examples q_bike" in str(
        error.value
    )
    (tmp_path / "salience.jsonl").write_text(json.dumps({"instance_id": "q_bike", "scores": {"m": 1}}))
    check_stores(loaded(ranked={"salience": "salience.jsonl", "rules": ["salience"]}))
    monkeypatch.setattr(config_io, "_READ_EARLY", 10)
    check_stores(loaded(unnamed={}, other={}))


def test_the_stores_of_the_default_configuration_can_be_used(monkeypatch):
    """Their labels are of more questions than the package that they are scored with has."""
    monkeypatch.chdir(Path(__file__).parents[2])
    config = load_config("config/config.yaml")
    assert config.stores
    check_stores(config)


def test_wrong_labels_and_columns_are_told_before_the_run(tmp_path, monkeypatch):
    """The form of all rows, and units that the package does not have; whose unit it is a job asks."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "package", tables())
    rows = [{"id": "m", "text": "The bicycle is blue.", "instance_id": "q_bike", "note": 7}]
    (tmp_path / "s.json").write_text(json.dumps(rows))
    (tmp_path / "bare.json").write_text(json.dumps([{"id": "m", "memroy": "A", "instance_id": "q_bike"}]))
    content = raw() | {"writers": {"opt": {"rule": "opt"}}}
    content["suites"] = {"asked": {"source": "coverage_package", "package": "package", "budgets": [4]}}
    content["suites"]["asked"]["cost_models"] = ["words"]

    def check(edge, of="q_bike", **store):
        row = {"instance_id": of} | ({"scores": {"m": 1}} if edge is None else {"coverage_edges": [edge]})
        (tmp_path / "c.jsonl").write_text(json.dumps(row))
        stores = {"a": {"suite": "asked", "path": "s.json", "coverage": "c.jsonl"} | store}
        (tmp_path / "my.yaml").write_text(yaml.safe_dump(content | {"stores": stores}))
        check_stores(load_config("my.yaml"))

    unit = tables()["units"][0]["unit_id"]
    edge = {"memory_id": "m", "unit_id": unit, "coverage": 1}
    check(edge)
    check(edge | {"unit_id": "q_far::u1"}, of="q_far")  # labels may be of more examples than the package has
    unknown = f"c.jsonl: line 1: the package has no unit '{unit}x'; nearest known: '{unit}'"
    for told, given_edge, store in [
        ("1 store cannot be used\n  c.jsonl: line 1: coverage_edges is", None, {}),
        (unknown, edge | {"unit_id": f"{unit}x"}, {}),
        ("c.jsonl: line 1: coverage is 3", edge | {"coverage": 3}, {"of": "q_far"}),
        ("s.json: columns: 'note' (salience) has 7", edge, {"columns": {"salience": "note"}}),
        ("bare.json: example q_bike: no row has a text", edge, {"path": "bare.json", "format": "mem0"}),
    ]:
        with pytest.raises(InputError) as error:
            check(given_edge, **store)
        assert told in str(error.value)


def test_compared_stores_without_a_common_example_are_told_before_the_run(tmp_path, monkeypatch):
    """Also where the suite's questions are not known; not where an export is large, or says nothing of its example."""
    monkeypatch.chdir(tmp_path)
    ids = {"ours": ["q1", "q2", "q3", "q4"], "theirs": ["q5"], "both": ["q4", "q5"]}
    for name, own in ids.items():
        (tmp_path / f"{name}.json").write_text(json.dumps([{"id": i, "text": "A", "instance_id": i} for i in own]))
    (tmp_path / "one.json").write_text(json.dumps([{"id": "m", "text": "A"}]))
    (tmp_path / "talks.json").write_text("[]")

    def loaded(*compared):
        stores = {name: {"path": f"{name}.json", "coverage": None, "judge": "proxy"} for name in (*ids, "one")}
        content = raw({"compare_stores": list(compared)}, **stores) | {"writers": {"opt": {"rule": "opt"}}}
        (tmp_path / "my.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
        return load_config("my.yaml")

    for names in (("ours", "both"), ("theirs", "both"), ("ours", "one")):
        check_stores(loaded(*names))
    for names in (("ours", "theirs"), ("ours", "theirs", "both")):
        with pytest.raises(InputError) as error:
            check_stores(loaded(*names))
        first, line = str(error.value).splitlines()
        assert first == "stores cannot be compared"
        assert line.strip().startswith(
            f"suites.talks.compare_stores: no example has a store in each of {', '.join(names)} "
            "(ours has 'q1', 'q2', 'q3' and 1 more; theirs has 'q5'"
        )
    monkeypatch.setattr(config_io, "_READ_EARLY", 10)
    check_stores(loaded("ours", "theirs"))


def test_the_run_knows_which_stores_are_compared():
    config = parse(raw({"compare_stores": ["b", "a"]}, a={}, b={}, c={}))
    info = run_info(config)
    assert info.suite("talks").compared == ("b", "a") and info.suite("small").compared == ()
    assert read_info(info_part(info)) == info


def test_a_rule_without_its_order_is_told_of_any_suite(tmp_path, monkeypatch):
    """Also where the suite's questions are not known before it is built."""
    monkeypatch.chdir(tmp_path)
    for name, content in {"s.json": [{"id": "m", "text": "A"}], "c.jsonl": None, "talks.json": []}.items():
        (tmp_path / name).write_text("" if content is None else json.dumps(content))
    (tmp_path / "my.yaml").write_text(
        yaml.safe_dump(raw(a={"rules": ["salience"]}) | {"writers": {"opt": {"rule": "opt"}}})
    )
    with pytest.raises(InputError, match=r"stores\.a\.rules: salience: no memory of the export has a salience"):
        check_stores(load_config("my.yaml"))
