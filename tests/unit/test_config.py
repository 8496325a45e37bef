"""The configuration: every kind of bad input is told, all at once, with the nearest known name."""

import copy
import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from memaudit.config import Budget, Setting, parse_config
from memaudit.config_io import load_config
from memaudit.errors import InputError

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
    ("suites.small.budgets", [], [["budgets: is empty"]]),
    ("suites.small.budgets", [0], [["budgets[0]: 0 is not positive"]]),
    ("suites.small.budgets", [-2], [["budgets[0]: -2 is not positive"]]),
    ("suites.small.budgets", [0.0], [["budgets[0]: 0.0 is not positive"]]),
    ("suites.small.budgets", [-0.1], [["budgets[0]: -0.1 is not positive"]]),
    ("suites.small.budgets", [1.5], [["budgets[0]: 1.5 is a fraction above 1"]]),
    ("suites.small.budgets", [float("nan")], [["budgets[0]: nan is not finite"]]),
    ("suites.small.budgets", [True], [["budgets[0]: True is true/false, not a budget"]]),
    ("suites.small.budgets", ["1e-2"], [["budgets[0]: '1e-2' is text, not a budget"]]),
    ("suites.small.budgets", [0.1, 0.10, 1, 1.0], [["budgets: 0.1 stands twice"]]),
    ("suites.small.cost_models", ["wods"], [["cost_models[0]: unknown cost model", "'words'"]]),
    ("suites.small.k", [0], [["k[0]: 0 is below 1"]]),
    ("suites.small.k", 2, [["k: 2 is a whole number; expected a list"]]),
    ("suites.small.saturations", ["log1p"], [["saturations[0]: 'log1p' is curved", "breakpoints"]]),
    ("suites.small.saturations", ["cap2"], [["saturations[0]: unknown saturation", "'cap1'"]]),
    ("suites.small.pools", ["fulll"], [["pools[0]: unknown pool", "'full'"]]),
    ("suites.small.writers", ["greedi"], [["writers: unknown writer 'greedi'", "'greedy'"]]),
    ("suites.small.writers", "opt", [["writers: 'opt' is text"]]),
    ("suites.small.solvers", ["cpsat"], [["solvers[0]: unknown solver", "'cp_sat'"]]),
    ("suites.small.quantize", 0, [["quantize: 0 is below 1"]]),
    ("suites.small.update_count", -1, [["update_count: -1 is below 0"]]),
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
    ("cost_models.words", {"per_word": 1}, [["cost_models.words: words is built in"]]),
    ("cost_models.c", {}, [["cost_models.c: no positive cost"]]),
    ("cost_models.c", {"per_word": 0, "per_char": 0.0}, [["cost_models.c: no positive cost"]]),
    ("cost_models.c", {"per_word": -1}, [["cost_models.c.per_word: -1 is negative"]]),
    ("cost_models.c", {"per_word": 1, "min": 0}, [["cost_models.c.min: 0 is below 1"]]),
    ("cost_models.c", {"per_wrod": 1}, [["cost_models.c.per_wrod: unknown key", "'per_word'"]]),
    ("pools.full", {}, [["pools.full: full is built in"]]),
    ("pools.p", {"include": []}, [["pools.p.include: is empty"]]),
    (
        "saturations.s",
        {"function": "log1p"},
        [["saturations.s.breakpoints: is missing"], ["saturations.s.function: declined"]],
    ),
    ("saturations.s", {"breakpoints": [[0, 0], [1, 1], [2, 3]]}, [["saturations.s.breakpoints", "concave"]]),
    ("saturations.s", {"breakpoints": [[0, 0, 1]]}, [["saturations.s.breakpoints[0]", "two numbers"]]),
    ("saturations.cap1", {"breakpoints": [[0, 0], [1, 1]]}, [["cap1 is built in"]]),
    ("shard_size", 0, [["shard_size: 0 is below 1"]]),
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
    assert [line in str(caught.value) for line in ("there is no x.json", "there is no y.json")] == [True, True]


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
