"""The configuration: every kind of bad input is told, all at once, with the nearest known name."""

import copy
import datetime
import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from memaudit.config import Budget, Setting, parse_config
from memaudit.config_io import load_config
from memaudit.config_yaml import read_yaml
from memaudit.errors import InputError
from memaudit.package import KNOWN_TYPES, VALIDITY_TYPES

ROOT = Path(__file__).parents[2]
RULES = ("opt", "gvt", "greedy")
DISTRIBUTIONS = ("base", "update_chain", "update_chain_randomized")
GOOD = {
    "suites": {
        "small": {"source": "synthetic", "distributions": ["base"], "seeds": 3, "budgets": [2, 0.05]},
    },
    "writers": {"opt": {"rule": "opt"}, "greedy": {"rule": "greedy"}},
}


def parse(raw):
    return parse_config(raw, "my.yaml", RULES, DISTRIBUTIONS)


def changed(path, value):
    """GOOD with `value` at the dotted `path`."""
    raw = copy.deepcopy(GOOD)
    *parents, last = path.split(".")
    at = raw
    for key in parents:
        at = at.setdefault(key, {})
    at[last] = value
    return raw


def problems(raw):
    with pytest.raises(InputError) as caught:
        parse(raw)
    head, *lines = str(caught.value).split("\n  ")
    assert head.startswith(f"my.yaml: {len(lines)} problem")
    return lines


# (dotted path, bad value, all problem lines: each a list of fragments)
BAD = [
    ("resuts", "x", [["resuts: unknown key", "nearest known: 'results'"]]),
    ("suites.small.budget", [1], [["suites.small.budget: unknown key", "'budgets'"]]),
    ("suites.small.file", "x", [["suites.small.file: is a key of source longmemeval or locomo only"]]),
    ("suites.small.source", "synthetik", [["suites.small.source: unknown source", "'synthetic'"]]),
    ("suites.small", None, [["suites.small: None is empty; expected a mapping"]]),
    ("suites", {}, [["suites: is empty"]]),
    ("suites.small.distributions", ["bsae"], [["distributions[0]: unknown distribution 'bsae'", "'base'"]]),
    ("suites.small.distributions", "base", [["distributions: 'base' is text; expected a list"]]),
    ("suites.small.distributions", ["base", "base"], [["distributions: 'base' stands twice"]]),
    ("suites.small.seeds", 0, [["seeds: 0 is below 1"]]),
    ("suites.small.seeds", -3, [["seeds: -3 is below 1"]]),
    ("suites.small.seeds", True, [["seeds: True is true/false"]]),
    ("suites.small.seeds", 2.0, [["seeds: 2.0 is a decimal number"]]),
    ("suites.small.seeds", [], [["seeds: no seed"]]),
    ("suites.small.seeds", [0, -1], [["seeds: -1 is below 0"]]),
    ("suites.small.seeds", [4, 4], [["seeds: 4 stands twice"]]),
    ("suites.small.seeds", 10**12, [["seeds: 1000000000000 is above 10000000"]]),
    ("suites.small.seeds", [2**63], [["seeds: 9223372036854775808 is above 9223372036854775807"]]),
    ("suites.small.budgets", [], [["budgets: is empty"]]),
    ("suites.small.budgets", [0], [["budgets[0]: 0 is not positive"]]),
    ("suites.small.budgets", [-2], [["budgets[0]: -2 is not positive"]]),
    ("suites.small.budgets", [0.0], [["budgets[0]: 0.0 is not positive"]]),
    ("suites.small.budgets", [-0.1], [["budgets[0]: -0.1 is not positive"]]),
    ("suites.small.budgets", [1.5], [["budgets[0]: 1.5 is a fraction above 1"]]),
    ("suites.small.budgets", [float("nan")], [["budgets[0]: nan is not finite"]]),
    ("suites.small.budgets", [True], [["budgets[0]: True is true/false, not a budget"]]),
    ("suites.small.budgets", ["1e-2"], [["budgets[0]: '1e-2' is text", "write 1.0e-2", "not a budget"]]),
    ("suites.small.budgets", ["1e3"], [["budgets[0]: '1e3' is text", "write 1000 or 1.0e+3"]]),
    ("suites.small.budgets", [2**31], [["budgets[0]: 2147483648 is above 2147483647"]]),
    ("suites.small.budgets", [float("inf")], [["budgets[0]: inf is not finite"]]),
    ("suites.small.budgets", [0.1, 0.10, 1, 1.0], [["budgets: 0.1 stands twice"]]),
    ("suites.small.budgets", ["all", 2], [["budgets: `all` stands alone", "add the key `curve: true`"]]),
    ("suites.small.budgets", "some", [["budgets: 'some' is text; expected a list"]]),
    ("suites.small.max_budget", 9, [["max_budget: the suite has no curve", "add `curve: true`"]]),
    ("suites.small.check_limit", 0, [["check_limit: 0 is not above 0"]]),
    ("suites.small.check_sample", -1, [["check_sample: -1 is below 0"]]),
    ("suites.small.cost_models", ["wods"], [["cost_models[0]: unknown cost model", "'words'"]]),
    ("suites.small.k", [0], [["k[0]: 0 is below 1"]]),
    ("suites.small.k", [65], [["k[0]: 65 is above 64"]]),
    ("suites.small.k", 2, [["k: 2 is a whole number; expected a list"]]),
    ("suites.small.saturations", ["log1p"], [["saturations[0]: 'log1p' is curved", "breakpoints"]]),
    ("suites.small.saturations", ["cap2"], [["saturations[0]: unknown saturation", "'cap1'"]]),
    ("suites.small.pools", ["fulll"], [["pools[0]: unknown pool", "'full'"]]),
    ("suites.small.writers", ["greedi"], [["writers: unknown writer 'greedi'", "'greedy'"]]),
    ("suites.small.writers", "opt", [["writers: 'opt' is text"]]),
    ("suites.small.solvers", ["cpsat"], [["solvers[0]: unknown solver", "'cp_sat'"]]),
    ("suites.small.solvers", [], [["solvers: is empty"]]),
    ("suites.small.quantize", 0, [["quantize: 0 is below 1"]]),
    ("suites.small.update_count", -1, [["update_count: -1 is below 0"]]),
    ("suites.small.update_count", 10_001, [["update_count: 10001 is above 10000"]]),
    ("suites.small.node_limit", 10**15 + 1, [["node_limit: 1000000000000001 is above 1000000000000000"]]),
    ("suites.small.parameters", {"update_chain": {}}, [["parameters: update_chain is not among"]]),
    (
        "writers.x",
        {"rule": "greedi"},
        [["writers.x.rule: unknown writer rule 'greedi'", "'greedy'", ".py:function"]],
    ),
    ("writers.x", {}, [["writers.x.rule: is missing"]]),
    ("writers.x", {"rule": "opt", "pol": "full"}, [["writers.x.pol: unknown key", "'pool'"]]),
    (
        "writers.x",
        {"rule": "opt", "parameters": {"a": 1}},
        [["writers.x.parameters: rule opt takes no parameters"]],
    ),
    ("writers.x", {"rule": "gvt", "sees": "coverage"}, [["writers.x.sees: rule gvt has its own"]]),
    ("writers.a b", {"rule": "opt"}, [["writers.a b: the name 'a b' becomes part of file names"]]),
    ("writers.../up", {"rule": "opt"}, [["becomes part of file names"]]),
    ("writers." + "a" * 101, {"rule": "opt"}, [["has 101 characters; give at most 100"]]),
    (
        "writers.x",
        {"rule": "gvt", "parameters": {"a": [float("inf")]}},
        [["writers.x.parameters: a[0]: inf is not finite"]],
    ),
    (
        "writers.x",
        {"rule": "gvt", "parameters": {"a": {"b": datetime.date(2020, 1, 1)}}},
        [["writers.x.parameters: a.b: ", "is a date"]],
    ),
    (
        "writers.x",
        {"rule": "gvt", "parameters": {"a": [0] * 10_000}},
        [["writers.x.parameters: more than 10000 values"]],
    ),
    ("cost_models.words", {"per_word": 1}, [["cost_models.words: words is built in"]]),
    ("cost_models.c", {}, [["cost_models.c: no positive cost"]]),
    ("cost_models.c", {"per_word": 0, "per_char": 0.0}, [["cost_models.c: no positive cost"]]),
    ("cost_models.c", {"per_word": -1}, [["cost_models.c.per_word: -1 is negative"]]),
    ("cost_models.c", {"per_word": 1, "min": 0}, [["cost_models.c.min: 0 is below 1"]]),
    ("cost_models.c", {"per_word": 1, "min": 2**31}, [["cost_models.c.min: 2147483648 is above 2147483647"]]),
    ("cost_models.c", {"per_word": 10**9 + 1}, [["cost_models.c.per_word: 1000000001 is above 1000000000"]]),
    ("cost_models.c", {"per_word": 10**400}, [["cost_models.c.per_word: 1000", "is above 1000000000"]]),
    ("cost_models.c", {"per_word": float("inf")}, [["cost_models.c.per_word: inf is above 1000000000"]]),
    ("cost_models.c", {"per_word": float("nan")}, [["cost_models.c.per_word: nan is a decimal number"]]),
    ("cost_models.c", {"per_wrod": 1}, [["cost_models.c.per_wrod: unknown key", "'per_word'"]]),
    ("pools.full", {}, [["pools.full: full is built in"]]),
    ("pools.p", {"include": []}, [["pools.p.include: is empty"]]),
    ("pools.p", {"exclude": ["mine", "tombstones"]}, [["pools.p.exclude[1]: unknown", "nearest known: 'tombstone'"]]),
    ("pools.p", {"include": ["Turn"]}, [["pools.p.include[0]: unknown", "nearest known: 'turn'"]]),
    (
        "saturations.s",
        {"function": "log1p"},
        [["saturations.s.breakpoints: is missing"], ["saturations.s.function: declined"]],
    ),
    ("saturations.s", {"breakpoints": [[0, 0], [1, 1], [2, 3]]}, [["saturations.s.breakpoints", "concave"]]),
    ("saturations.s", {"breakpoints": [[0, 0, 1]]}, [["saturations.s.breakpoints[0]", "two numbers"]]),
    ("saturations.s", {"breakpoints": [[0, 0], [1, 0]]}, [["saturations.s.breakpoints: h is 0 everywhere"]]),
    ("saturations.s", {"breakpoints": [[0, 0], [float("inf"), 1]]}, [["breakpoints[1][0]: inf", "a finite number"]]),
    ("saturations.s", {"breakpoints": [[0, 0], [1, float("nan")]]}, [["breakpoints[1][1]: nan", "a finite number"]]),
    ("saturations.s", {"breakpoints": [[0, 0], [10**9 + 1, 1]]}, [["[1][0]: 1000000001 is above 1000000000;"]]),
    ("saturations.cap1", {"breakpoints": [[0, 0], [1, 1]]}, [["cap1 is built in"]]),
    ("shard_size", 0, [["shard_size: 0 is below 1"]]),
    ("shard_size", 1_000_001, [["shard_size: 1000001 is above 1000000"]]),
    ("bootstrap", {"resamples": 1_000_001}, [["bootstrap.resamples: 1000001 is above 1000000"]]),
    ("bootstrap", {"seed": 2**63}, [["bootstrap.seed: 9223372036854775808 is above 9223372036854775807"]]),
    ("results", "a{b", [["results: 'a{b' holds a brace"]]),
    ("results", "a\nb", [["results: 'a\\nb' holds a line break"]]),
    ("results", "x" * 5000, [["results: 'xxx", "is too long for a folder (5000 characters)"]]),
    ("published", "}", [["published: '}' holds a brace"]]),
    ("longmemeval", "{x}", [["longmemeval: '{x}' holds a brace"]]),
    (
        "suites.natural",
        {"source": "longmemeval", "budgets": [3], "file": "{x}.json"},
        [["suites.natural.file: '{x}.json' holds a brace"]],
    ),
    ("bootstrap", {"resample": 3}, [["bootstrap.resample: unknown key", "'resamples'"]]),
    (
        "illustration",
        {"suite": "smal", "package_id": "x"},
        [["illustration.suite: unknown suite", "'small'"]],
    ),
]


@pytest.mark.parametrize(("path", "value", "expected"), BAD, ids=[f"{p}={v!r}"[:60] for p, v, _ in BAD])
def test_bad_input(path, value, expected):
    if path == "writers.../up":
        raw = copy.deepcopy(GOOD)
        raw["writers"]["../up"] = value
    else:
        raw = changed(path, value)
    lines = problems(raw)
    assert len(lines) == len(expected), lines
    for line, fragments in zip(sorted(lines), sorted(expected), strict=True):
        assert all(fragment in line for fragment in fragments), line


def test_missing_keys_are_named_with_their_meaning():
    lines = problems({"suites": {"a": {"source": "synthetic"}}})
    assert [line.split(":")[0] for line in lines] == [
        "suites.a.budgets",
        "suites.a.distributions",
        "suites.a.seeds",
    ]
    assert "fraction" in lines[0]


def test_all_problems_at_once():
    raw = changed("suites.small.budgets", [0, 0.1, 0.1])
    raw["suites"]["small"] |= {"seeds": 0, "writers": ["none"], "k": [0], "typo": 1}
    raw["suites"]["b c"] = {"source": "longmemeval", "budgets": [1], "seeds": 3}
    raw |= {"cost_models": {"chars": {"per_char": 0}}, "result": "x"}
    keys = {line.split(": ")[0] for line in problems(raw)}
    assert keys == {
        "suites.small.budgets[0]", "suites.small.budgets", "suites.small.seeds", "suites.small.writers",
        "suites.small.k[0]", "suites.small.typo", "suites.b c", "suites.b c.seeds", "suites.b c.file",
        "cost_models.chars", "result",
    }  # fmt: skip
    assert sum(line.startswith("cost_models.chars") for line in problems(raw)) == 2


@pytest.mark.parametrize("raw", [None, [], "text", 3])
def test_not_a_mapping(raw):
    with pytest.raises(InputError, match=r"my\.yaml: is .*write a mapping of keys"):
        parse(raw)


def test_names_that_yaml_reads_as_something_else():
    raw = changed("writers", {"opt": {"rule": "opt"}, True: {"rule": "opt"}})
    assert any("in quotes" in line for line in problems(raw))


# ---- what a good file means


def test_defaults():
    config = parse(GOOD)
    assert config.settings("small") == [Setting("declared", 1, "cap1")]
    assert config.suite_writers("small") == ["opt", "greedy"]
    assert config.solved_pools("small") == ["full"]
    assert config.suites["small"].seeds == (0, 1, 2)
    assert config.suites["small"].solvers == ["cp_sat"]


def test_budgets_keep_int_and_float_apart():
    specs = parse(changed("suites.small.budgets", [1, 1.0, 0.10, 0.01, 1e-5, 20])).budget_specs("small")
    assert specs == ["1", "1.0", "0.1", "0.01", "1e-05", "20"]
    assert Budget(1) != Budget(1.0)
    assert Budget(1.0).is_fraction and not Budget(1).is_fraction


def test_every_budget():
    beside = changed("suites.small.curve", True)
    assert parse(beside).curve_part("small") == {"max_budget": None}
    beside["suites"]["small"]["max_budget"] = 0.5
    assert parse(beside).curve_part("small") == {"max_budget": "0.5"}
    assert parse(beside).suite_writers("small") == ["opt", "greedy"]
    assert parse(GOOD).curve_part("small") is None
    alone = parse(changed("suites.small.budgets", "all"))
    assert alone.curve_part("small") == {"max_budget": None}
    assert alone.budget_specs("small") == [] and alone.suite_writers("small") == []
    assert alone.solved_pools("small") == ["full"]
    assert alone.model_dump(mode="json")["suites"]["small"]["budgets"] == "all"
    assert parse(GOOD).model_dump(mode="json")["suites"]["small"]["budgets"] == [2, 0.05]


def test_writers_need_a_declared_budget():
    raw = changed("suites.small.budgets", "all")
    raw["suites"]["small"]["writers"] = ["greedy"]
    assert ["writers are scored at declared budgets" in line for line in problems(raw)] == [True]
    raw["suites"]["small"]["writers"] = []
    parse(raw)


def test_a_suite_that_is_drawn_declares_budgets(tmp_path):
    text = SUITE.replace("[3]", "all") + "illustration: {suite: s, package_id: synthetic_seed_0}\n"
    only(tmp_path, text, "illustration.suite", "suite s declares none")


def test_the_default_limit_of_a_check_is_that_of_verify():
    from memaudit.check.plan import LIMIT

    assert parse(GOOD).suites["small"].check_limit == LIMIT


def test_settings_are_the_product():
    raw = changed("suites.small.k", [1, 2])
    raw["suites"]["small"] |= {"cost_models": ["declared", "mine"], "saturations": ["linear", "steps"]}
    raw |= {
        "cost_models": {"mine": {"per_word": 0.5}},
        "saturations": {"steps": {"breakpoints": [[0, 0], [0.5, 1]]}},
    }
    config = parse(raw)
    assert len(config.settings("small")) == 8
    assert config.cost_parameters("mine")["per_word"] == 0.5
    assert config.cost_parameters("declared") is None
    assert config.saturation("steps").name == "steps"
    part = config.problem_part(Setting("mine", 2, "steps"), ["full", "no_validity"])
    assert json.loads(json.dumps(part)) == {
        "pools": {
            "full": {"include": None, "exclude": []},
            "no_validity": {"include": None, "exclude": ["tombstone", "compound_update"]},
        },
        "saturations": {"steps": [[0, 0], [0.5, 1]]},
        "cost_models": {"mine": {"per_record": 0, "per_word": 0.5, "per_char": 0, "per_byte": 0, "min": 1}},
    }


def test_pools_of_exact_writers_are_solved():
    raw = changed("writers.facts", {"rule": "opt", "pool": "mine"})
    raw["writers"]["raw"] = {"rule": "greedy", "pool": "summary"}
    raw["pools"] = {"mine": {"include": ["atomic_fact"]}}
    config = parse(raw)
    assert config.exact_writers("small") == ["opt", "facts"]
    assert config.solved_pools("small") == ["full", "mine"]
    assert config.pool("mine").mask(["atomic_fact", "summary"]).tolist() == [True, False]
    raw["suites"]["small"]["writers"] = []
    assert parse(raw).solved_pools("small") == ["full"]


def test_parts_depend_only_on_their_stage():
    before, after = parse(GOOD), parse(changed("suites.small.budgets", [7]))
    assert before.source_definition("small") == after.source_definition("small")
    assert before.writer_part("opt") == after.writer_part("opt")
    assert before.source_definition("small") != parse(changed("suites.small.seeds", 4)).source_definition("small")
    json.dumps(before.source_definition("small"))


def test_shards():
    raw = changed("suites.small.seeds", 500)
    assert parse(raw | {"shard_size": 400}).shards("small") == 2
    assert parse(raw | {"shard_size": 500}).shards("small") == 1


# ---- files


@pytest.mark.parametrize("name", ["config.yaml", "smoke.yaml"])
def test_shipped_configurations_are_valid(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    config = load_config(f"config/{name}")
    assert {"small", "stress", "solver_audit"} <= set(config.suites)


def test_natural_configuration_needs_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    with pytest.raises(InputError, match="make natural LONGMEMEVAL="):
        load_config("config/natural.yaml")
    data = tmp_path / "data.json"
    with pytest.raises(InputError, match="longmemeval: there is no"):
        load_config("config/natural.yaml", {"longmemeval": str(data)})
    data.write_text("[]")
    config = load_config("config/natural.yaml", {"longmemeval": str(data)})
    assert config.source_paths("longmemeval") == [str(data)]
    assert config.shards("longmemeval") == 1


def test_locomo_configuration_needs_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    with pytest.raises(InputError, match="make locomo LOCOMO="):
        load_config("config/locomo.yaml")
    data = tmp_path / "data.json"
    with pytest.raises(InputError, match="locomo: there is no"):
        load_config("config/locomo.yaml", {"locomo": str(data)})
    data.write_text("[]")
    config = load_config("config/locomo.yaml", {"locomo": str(data)})
    assert config.source_paths("locomo") == [str(data)]
    assert config.source_definition("locomo") == {
        "source": "locomo",
        "quantize": None,
        "grid": 20,
        "observation_floor": 0.0,
        "summary_floor": 0.25,
        "adversarial": "abstention",
        "strict": False,
    }


def talks(**keys):
    return {"suites": {"talks": {"source": "longmemeval", "budgets": [40], **keys}}}


def test_several_files_and_the_options_that_decide_packages():
    config = parse(talks(file=["a.json", "b.json"], route="updates", limit=9))
    assert config.source_paths("talks") == ["a.json", "b.json"]
    assert config.source_definition("talks") == {
        "source": "longmemeval",
        "quantize": None,
        "route": "updates",
        "question_types": None,
        "limit": 9,
        "seed": 0,
        "distractors": 0,
        "word_limit": None,
        "strict": False,
    }


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"file": []}, "file: [] names no file"),
        ({"file": ["a", 3]}, "file: ['a', 3] names no file"),
        ({"file": "a", "route": "marks"}, "route: 'marks'"),
        ({"file": "a", "limit": 0}, "limit: 0 is below 1"),
        ({"file": "a", "distractors": -1}, "distractors: -1 is below 0"),
        ({"file": "a", "question_types": []}, "question_types: is empty"),
        ({"file": "a", "grid": 20}, "grid: is a key of source locomo only"),
        ({"file": "a", "source": "locomo", "grid": 0}, "grid: 0 is below 1"),
        ({"file": "a", "source": "locomo", "summary_floor": 2}, "summary_floor: 2 is above 1"),
    ],
)
def test_wrong_options_of_conversations(keys, line):
    (problem,) = problems(talks(**keys))
    assert problem.startswith("suites.talks.") and line in problem


def test_every_missing_file_of_a_list_is_told(tmp_path):
    text = f"suites:\n  s: {{source: longmemeval, budgets: [3], file: [x.json, {tmp_path}, y.json]}}\n"
    with pytest.raises(InputError) as caught:
        load_config(write(tmp_path, text))
    assert [line in str(caught.value) for line in ("there is no 'x.json'", "there is no 'y.json'")] == [True, True]


@pytest.mark.parametrize("name", ["config.yaml", "smoke.yaml", "natural.yaml", "locomo.yaml"])
def test_shipped_configurations_satisfy_the_schema(name):
    schema = json.loads((ROOT / "config" / "schema.json").read_text())
    raw = yaml.safe_load((ROOT / "config" / name).read_text())
    jsonschema.validate(raw, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(raw | {"typo": 1}, schema)


def write(folder, text):
    path = folder / "my.yaml"
    path.write_text(text)
    return path


SUITE = "suites:\n  s: {source: synthetic, distributions: [base], seeds: 2, budgets: [3]}\n"


def test_repeated_yaml_keys_are_told_with_their_lines(tmp_path):
    path = write(tmp_path, SUITE + "writers:\n  a: {rule: opt}\n  a: {rule: gvt}\nresults: x\nresults: y\ntypo: 1\n")
    with pytest.raises(InputError) as caught:
        load_config(path)
    text = str(caught.value)
    assert "writers.a: stands twice, in lines 4 and 5" in text
    assert "results: stands twice, in lines 6 and 7" in text
    assert "typo: unknown key" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1,", "not valid YAML: .* line 1"),
        ("", "is empty"),
        ("- 1\n", "is a list"),
        ("a: !!python/none x", "YAML"),
    ],
)
def test_files_that_are_no_configuration(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        load_config(write(tmp_path, text))


def test_missing_and_unreadable_files(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        load_config(tmp_path / "absent.yaml")
    path = tmp_path / "bytes.yaml"
    path.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(InputError, match="UTF-8"):
        load_config(path)


def test_writers_from_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("raise SystemExit('never run')\ndef keep(visible, budget, *, a=1): return []\n")
    (tmp_path / "broken.py").write_text("def f(:\n")
    text = SUITE + "published: none.csv\nwriters:\n" + "".join(
        f"  {name}: {{rule: '{rule}', parameters: {{{key}: 2}}}}\n"
        for name, rule, key in [
            ("good", "mine.py:keep", "a"), ("unknown", "mine.py:keep", "b"), ("absent", "no.py:keep", "a"),
            ("other", "mine.py:kept", "a"), ("broken", "broken.py:f", "a"), ("ours", "gvt", "b"),
        ]
    )  # fmt: skip
    with pytest.raises(InputError) as caught:
        load_config(write(tmp_path, text))
    told = dict(line.split(": ", 1) for line in str(caught.value).split("\n  ")[1:])
    assert set(told) == {
        "published", "writers.unknown.parameters", "writers.absent.rule", "writers.other.rule",
        "writers.broken.rule", "writers.ours.parameters",
    }  # fmt: skip
    assert "it takes: a" in told["writers.unknown.parameters"]
    assert "its functions: keep" in told["writers.other.rule"]


def test_parameters_of_distributions(tmp_path):
    text = SUITE.replace("[base]", "[base, update_chain_randomized]").replace(
        "seeds",
        "parameters: {base: {a: 1}, update_chain_randomized: {weight_spred: 1, cost_spread: -1}}, seeds",
    )
    with pytest.raises(InputError) as caught:
        load_config(write(tmp_path, text))
    lines = str(caught.value).split("\n  ")[1:]
    assert [line.split(": ")[0] for line in sorted(lines)] == [
        "suites.s.parameters.base",
        "suites.s.parameters.update_chain_randomized.cost_spread",
        "suites.s.parameters.update_chain_randomized.weight_spred",
    ]


# ---- hostile files: each told on one line, before any job starts


def told(folder, text):
    """The problems of a file: {key path: [the rest of each line]}."""
    with pytest.raises(InputError) as caught:
        load_config(write(folder, text))
    head, *lines = str(caught.value).split("\n  ")
    assert head.endswith("config/README.md explains every key"), head
    assert all(line.isprintable() and len(line) < 500 for line in lines)
    found = {}
    for line in lines:
        key, _, rest = line.partition(": ")
        found.setdefault(key, []).append(rest)
    return found


def only(folder, text, key, *fragments):
    """Asserts that a file has this one problem."""
    found = told(folder, text)
    assert list(found) == [key] and len(found[key]) == 1, found
    assert all(fragment in found[key][0] for fragment in fragments), found


@pytest.mark.parametrize(
    ("written", "read"),
    [("010", 8), ("0x10", 16), ("0b11", 3), ("1_000", 1000), ("1:30", 90), ("1_0.5", 10.5), ("1:30.5", 90.5)],
)
def test_numbers_that_are_not_plain_decimal(tmp_path, written, read):
    why = f"{written} is {read} as YAML reads it"
    only(tmp_path, SUITE + f"shard_size: {written}\n", "shard_size", why)
    only(tmp_path, SUITE.replace("[3]", f"[3, {written}]"), "suites.s.budgets[1]", why)
    only(tmp_path, SUITE.replace("seeds: 2", f"seeds: {written}"), "suites.s.seeds", why)
    only(tmp_path, SUITE + f"cost_models: {{c: {{per_word: {written}}}}}\n", "cost_models.c.per_word", why)
    only(tmp_path, SUITE + f"saturations: {{s: {{breakpoints: [[0, {written}]]}}}}\n",
         "saturations.s.breakpoints[0][1]", why)  # fmt: skip
    only(tmp_path, SUITE + f"writers: {{{written}: {{rule: opt}}}}\n", f"writers.{written}", why)
    only(tmp_path, SUITE + f"writers: {{a: {{rule: estimated_gvt, parameters: {{model: {written}}}}}}}\n",
         "writers.a.parameters", f"model: {why}")  # fmt: skip
    assert load_config(write(tmp_path, SUITE + f"results: '{written}'\n")).results == written


@pytest.mark.parametrize(
    "written", ["0", "12", "-7", "+5", "0.5", "5.", ".5", "00.5", "1.0e-9", "-1.5E+3", ".inf", "-.INF"]
)
def test_plain_numbers_are_read_as_yaml_reads_them(tmp_path, written):
    assert read_yaml(write(tmp_path, f"a: {written}\n")) == ({"a": yaml.safe_load(written)}, [])


@pytest.mark.parametrize("digits", ["9" * 5000, "0x" + "f" * 5000, "1" + ":59" * 2000, "1" * 200 + ".5"])
def test_endless_numbers(tmp_path, digits):
    why = f"is a number of {len(digits)} characters"
    only(tmp_path, SUITE.replace("seeds: 2", f"seeds: {digits}"), "suites.s.seeds", why)
    only(tmp_path, SUITE.replace("seeds: 2", f"seeds: [1, {digits}]"), "suites.s.seeds", why)
    only(tmp_path, SUITE + f"results: {digits}\n", "results", why)


def test_numbers_with_an_exponent_are_told_how_to_be_written(tmp_path):
    only(tmp_path, SUITE.replace("[3]", "[1e-9]"), "suites.s.budgets[0]", "'1e-9' is text", "write 1.0e-9")
    only(tmp_path, SUITE + "shard_size: 2e3\n", "shard_size", "'2e3' is text", "write 2000 or 2.0e+3")


@pytest.mark.parametrize("written", ["2020-99-99", "!!int x", "!!float x", "!!bool maybe", "!!timestamp x"])
def test_scalars_without_a_meaning(tmp_path, written):
    only(tmp_path, SUITE + f"results: {written}\n", "results", "nothing that YAML can read", "expected text")


def test_anchors_that_hold_themselves(tmp_path):
    only(tmp_path, SUITE + "writers: &w {a: *w}\n", "writers.a", "an anchor that holds itself", "a mapping of keys")
    only(tmp_path, SUITE.replace("[3]", "&b [*b]"), "suites.s.budgets[0]", "an anchor that holds itself")
    found = told(tmp_path, SUITE + "a: &a [*a]\nwriters: {w: {rule: estimated_gvt, parameters: &p {model: *p}}}\n")
    assert set(found) == {"a", "writers.w.parameters"}
    assert load_config(write(tmp_path, SUITE + "writers: {a: &w {rule: opt}, b: *w}\n")).writers["b"].rule == "opt"


def test_aliases_that_would_fill_memory(tmp_path):
    lists = "".join(f"x{i}: &x{i} [{', '.join([f'*x{i - 1}'] * 10 if i else '0')}]\n" for i in range(30))
    found = told(tmp_path, lists + SUITE.replace("[3]", "*x29") + "results: *x29\nwriters: {w: {rule: estimated_gvt, "
                 "parameters: {profile: *x29}}}\n")  # fmt: skip
    assert {"results", "suites.s.budgets[9]", "writers.w.parameters", "writers.w.parameters.profile"} < set(found)


@pytest.mark.parametrize("text", ["[" * 3000, "a: " + "[" * 3000 + "]" * 3000, "{a: " * 3000])
def test_nesting_without_end(tmp_path, text):
    with pytest.raises(InputError, match=r"my\.yaml: lists or mappings nested too deeply"):
        load_config(write(tmp_path, text))


def test_paths_that_no_file_can_have(tmp_path):
    long, nul = "x" * 5000, '"a\\0b"'
    only(tmp_path, SUITE + f"published: {long}\n", "published", "there is no 'xxx")
    only(tmp_path, SUITE + f"longmemeval: {'x/' * 3000}\n", "longmemeval", "there is no 'x/x")
    only(tmp_path, SUITE + f"writers: {{a: {{rule: {long}.py:f}}}}\n", "writers.a.rule", "there is no file 'xxx")
    found = told(tmp_path, SUITE + f'published: {nul}\nresults: {nul}\n"a\\nb": 1\n"\\ud800": 2\n')
    assert set(found) == {"published", "results", "'a\\nb'", "'\\ud800'"}


def test_results_must_not_be_a_file(tmp_path):
    path = write(tmp_path, "")
    only(tmp_path, SUITE + f"results: {path}\n", "results", "is a file; give the name of a folder")


def test_writers_read_from_broken_files(tmp_path):
    (tmp_path / "nul.py").write_bytes(b"def f(visible, budget): return []\n\0")
    (tmp_path / "deep.py").write_text("x = " + "(" * 5000 + ")" * 5000)
    text = "".join(f"  {name}: {{rule: '{tmp_path}/{name}.py:f'}}\n" for name in ("nul", "deep"))
    found = told(tmp_path, SUITE + "writers:\n" + text)
    assert set(found) == {"writers.nul.rule", "writers.deep.rule"}
    assert all("no readable Python file" in line for (line,) in found.values())


def test_published_must_be_a_table_of_published_figures(tmp_path):
    good = (ROOT / "config" / "published.csv").read_text()
    files = {"good.csv": good, "passwd": "root:x:0:0:root:/root:/bin/sh\n", "empty.csv": ""}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "cut.csv").write_text("".join(line.partition(",")[2] for line in good.splitlines(keepends=True)))
    (tmp_path / "binary").write_bytes(b"\x7fELF\xd0\xff\x00")

    def published(name):
        return SUITE + f"published: {tmp_path / name}\n"

    assert load_config(write(tmp_path, published("good.csv"))).published
    only(tmp_path, published("."), "published", "is a folder or device", "config/published.csv")
    only(tmp_path, published("passwd"), "published", "passwd' has no column item, suite")
    only(tmp_path, published("cut.csv"), "published", "cut.csv' has no column item;")
    only(tmp_path, published("empty.csv"), "published", "cannot be read")
    only(tmp_path, published("binary"), "published", "cannot be read")
    only(tmp_path, SUITE + "published: /dev/null\n", "published", "is a folder or device")


def test_the_illustrated_package_must_be_one_that_the_suite_makes(tmp_path):
    suite = SUITE.replace("[base]", "[base, update_chain]")

    def drawn(wanted, text=suite):
        return text + f"illustration: {{suite: s, package_id: {wanted}}}\n"

    key, few = "illustration.package_id", suite.replace("seeds: 2", "seeds: [5, 11]")
    assert load_config(write(tmp_path, drawn("synthetic_seed_1"))).illustration
    assert load_config(write(tmp_path, drawn("update_chain_s11", few))).illustration
    for wrong in (
        "synthetic_seed_2",
        "synthetic_seed_01",
        "base_s0",
        "temporal_interval_s0",
        "s",
        "''",
        "9" * 30 + "s",
    ):
        only(
            tmp_path,
            drawn(f"'{wrong.strip(chr(39))}'"),
            key,
            "suite s makes no package",
            "synthetic_seed_0, update_chain_s0",
        )
    only(tmp_path, drawn("synthetic_seed_0", few), key, "synthetic_seed_5, update_chain_s5")
    assert set(told(tmp_path, drawn("x", suite.replace("seeds: 2", "seeds: 0")))) == {"suites.s.seeds"}
    assert set(told(tmp_path, suite + "illustration: {suite: [s], package_id: {a: 1}}\n")) == {
        "illustration.suite", key,
    }  # fmt: skip


def test_parameters_of_estimated_writers(tmp_path):
    def given(text):
        return SUITE + f"writers: {{a: {{rule: estimated_gvt, parameters: {{{text}}}}}}}\n"

    assert (
        load_config(write(tmp_path, given("profile: noisy, model: other"))).writers["a"].parameters["model"] == "other"
    )
    only(tmp_path, given("profile: zzz"), "writers.a.parameters.profile", "'zzz'", "known: default, noisy")
    only(tmp_path, given("profile: []"), "writers.a.parameters.profile", "[]", "known: default, noisy")
    only(tmp_path, given("ridge: [1]"), "writers.a.parameters.ridge", "remove it")
    found = told(tmp_path, given("profile: 3, model: 4, other: 5").replace("_gvt", "_utility"))
    assert set(found) == {"writers.a.parameters", "writers.a.parameters.profile", "writers.a.parameters.model"}


def test_everything_is_told_together(tmp_path):
    text = (
        "suites:\n  s: {source: synthetic, distributions: [base], seeds: 1:30, budgets: [1e-9], solvers: []}\n"
        "  t: {source: synthetic, distributions: [base], seeds: 1, budgets: [1]}\n"
        "writers: {a: {rule: estimated_gvt, parameters: {profile: zzz}}}\npools: {p: {exclude: [tombstones]}}\n"
        "saturations: {z: {breakpoints: [[0, 0], [1, 0]]}}\nresults: '{x}'\npublished: /etc\nx: &x [*x]\n"
        "illustration: {suite: t, package_id: base_s0}\nshard_size: 0x1\nshard_size: 0x2\n"
    )
    assert set(told(tmp_path, text)) == {
        "suites.s.seeds", "suites.s.budgets[0]", "suites.s.solvers", "writers.a.parameters.profile",
        "pools.p.exclude[0]", "saturations.z.breakpoints", "results", "published", "x", "illustration.package_id",
        "shard_size",
    }  # fmt: skip


def test_long_lists_are_searched_for_repeats_quickly():
    raw = changed("suites.small.seeds", [*range(200_000), 7])
    assert problems(raw) == ["suites.small.seeds: 7 stands twice; remove the repeat"]


def test_known_types_hold_every_type_of_ours():
    from memaudit.pools import BUILT_IN
    from memaudit.synthetic import DISTRIBUTIONS, generate
    from memaudit.writers.estimated import PRIORS

    made = {t for name in DISTRIBUTIONS for t in generate("s", name, 0).visible.representation_type}
    named = {t for pool in BUILT_IN.values() for t in (*(pool.include or ()), *pool.exclude)}
    assert made | named | set(PRIORS) | set(VALIDITY_TYPES) | {"turn", "turn_window"} <= set(KNOWN_TYPES)


@pytest.mark.parametrize("kind", KNOWN_TYPES)
def test_every_known_type_may_be_in_a_pool(kind):
    assert parse(changed("pools.p", {"include": [kind], "exclude": ["my_own_type"]})).pools["p"].include == [kind]


def test_a_learned_writer_needs_seeds_of_both_parities(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "def fit(training, **_):\n    return {}\n\ndef f(visible, budget):\n    return []\n"
    )
    learned = (
        "{a: {rule: estimated_gvt, parameters: {profile: learned}}, b: {rule: mine.py:f}, c: {rule: estimated_gvt}}"
    )
    odd = SUITE.replace("seeds: 2", "seeds: [7, 11]") + f"writers: {learned}\n"
    with pytest.raises(InputError, match=r"(?s)suites.s: writer a learns.*suites.s: writer b learns") as caught:
        load_config(write(tmp_path, odd))
    assert "writer c" not in str(caught.value)
    assert load_config(write(tmp_path, odd.replace("[7, 11]", "[6, 7]"))).suites
