"""recency_raw, reservoir_raw, what a metadata rule is shown, and rules from a user's file."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.errors import InputError
from memaudit.objective import scale
from memaudit.package import Candidate, VisiblePackage, build
from memaudit.provenance import code_hash
from memaudit.writers.coverage_free import stable_hash
from memaudit.writers.registry import RULES, Rule, Writer, rule_from_file, run
from strategies import budgets, packages

METADATA_RULES = ("recency_raw", "reservoir_raw")


def kept_ids(rule, package, budget):
    writer = Writer("w", rule if isinstance(rule, Rule) else RULES[rule])
    found = run(writer, package, scale(package), budget, {})
    return [package.visible.candidate_ids[i] for i in found]


def package_of(*candidates):
    """candidates: (id, group, type, cost, time)."""
    return build("test", "p", "made", None, [Candidate(*c) for c in candidates], [], {}, [])


def plain_hash(text):
    t = 0
    for byte in text.encode():
        t = (t * 131 + byte) % 1_000_000_007
    return t


def plain_rule(name, package, budget):
    """The two rules in plain Python, from their definitions; ids kept, in package order."""
    v = package.visible
    rows = [
        {"id": v.candidate_ids[i], "group": v.group_of[i], "cost": v.cost[i], "time": v.time_index[i]}
        for i in range(len(v))
        if v.representation_type[i] in {"raw", "raw_span"}
    ]
    rows.sort(key=lambda r: r["id"])
    rows.sort(key=lambda r: r["cost"])
    rows.sort(key=lambda r: -r["time"])
    if name == "reservoir_raw":
        rows.sort(key=lambda r: r["cost"])
        rows.sort(key=lambda r: plain_hash(r["id"]))
    kept = []
    for r in rows:
        used = sum(k["cost"] for k in kept)
        if used + r["cost"] <= budget and r["group"] not in [k["group"] for k in kept]:
            kept.append(r)
    return {r["id"] for r in kept}


@pytest.mark.parametrize("rule", METADATA_RULES)
@given(data=st.data())
def test_rule_equals_its_plain_definition(rule, data):
    package = data.draw(packages(max_groups=6, types=("raw", "raw_span", "summary")))
    budget = data.draw(budgets(package))
    assert set(kept_ids(rule, package, budget)) == plain_rule(rule, package, budget)


def test_recency_skips_what_does_not_fit_and_goes_on():
    package = package_of(
        ("new", "g2", "raw_span", 5, 2),
        ("mid", "g1", "raw", 2, 1),
        ("old", "g0", "raw_span", 1, 0),
        ("fact", "g3", "atomic_fact", 1, 3),
    )
    assert kept_ids("recency_raw", package, 0) == []
    assert kept_ids("recency_raw", package, 4) == ["old", "mid"]
    assert kept_ids("recency_raw", package, 6) == ["old", "new"]
    assert kept_ids("recency_raw", package, 10**9) == ["old", "mid", "new"]


def test_recency_keeps_one_of_a_group_and_breaks_ties_by_cost_then_id():
    package = package_of(("b", "g", "raw", 2, 1), ("a", "g", "raw", 2, 1), ("z", "h", "raw", 1, 1))
    assert kept_ids("recency_raw", package, 2) == ["z"]
    assert kept_ids("recency_raw", package, 3) == ["a", "z"]
    assert kept_ids("recency_raw", package, 9) == ["a", "z"]


def test_stable_hash():
    assert stable_hash("") == 0
    assert stable_hash("a") == 97
    assert stable_hash("ab") == 97 * 131 + 98
    assert stable_hash("é") == 0xC3 * 131 + 0xA9
    assert stable_hash("synthetic") == plain_hash("synthetic") < 1_000_000_007


def test_reservoir_order_is_the_hash_not_time():
    # "a" hashes to 97, "b" to 98, whatever their times.
    package = package_of(("b", "g", "raw", 1, 5), ("a", "h", "raw", 1, 0))
    assert kept_ids("reservoir_raw", package, 1) == ["a"]
    assert kept_ids("recency_raw", package, 1) == ["b"]


def test_a_metadata_rule_is_handed_nothing_but_metadata():
    seen = []

    def spy(visible, budget, **parameters):
        seen.append((visible, budget, parameters))
        return []

    package = package_of(("a", "g", "raw", 1, 0))
    run(Writer("spy", Rule("spy", "metadata", spy)), package, scale(package), 7, {"x": 1})
    [(visible, budget, parameters)] = seen
    assert type(visible) is VisiblePackage and budget == 7 and parameters == {"x": 1}
    hidden = ("units", "weight", "cov_ptr", "cov_unit", "cov_value", "queries", "coverage_row", "seed", "distribution")
    assert [name for name in hidden if hasattr(visible, name)] == []


@given(data=st.data())
def test_metadata_rules_ignore_coverage(data):
    package = data.draw(packages(texts=True, estimates=True))
    budget = data.draw(budgets(package))
    no_cells = np.zeros(0, dtype=np.int64)
    bare = replace(
        package, cov_ptr=np.zeros(len(package) + 1, dtype=np.int64), cov_unit=no_cells, cov_value=np.zeros(0)
    )
    for name, rule in RULES.items():
        if rule.sees == "metadata" and rule.fit is None:
            assert kept_ids(name, package, budget) == kept_ids(name, bare, budget), name


def test_registered_rules_see_what_they_should():
    assert {RULES[name].sees for name in METADATA_RULES} == {"metadata"}
    assert {RULES[name].sees for name in ("gvt", "greedy", "density_only")} == {"coverage"}


USER_FILE = """
from __future__ import annotations
from dataclasses import dataclass

@dataclass
class Choice:
    position: int

def cheapest(visible, budget):
    order = sorted(range(len(visible)), key=lambda i: visible.cost[i])
    return [Choice(i).position for i in order[:1] if visible.cost[i] <= budget]

def greedy_pig(visible, budget):
    return range(len(visible))

def peek(package, instance, budget):
    return [i for i in range(len(package)) if package.coverage_row(i)]

not_callable = 3
"""


@pytest.fixture
def user_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(USER_FILE)
    return path


def test_a_rule_from_a_users_file_sees_metadata_by_default(user_file):
    rule = rule_from_file(f"{user_file}:cheapest")
    assert rule.sees == "metadata" and rule.reads_text and rule.fit is None
    package = package_of(("a", "g", "raw", 3, 0), ("b", "h", "fact", 2, 0))
    assert kept_ids(rule, package, 2) == ["b"]
    assert kept_ids(rule, package, 1) == []


def test_a_users_rule_may_ask_for_coverage(user_file):
    rule = rule_from_file(f"{user_file}:peek", "coverage")
    assert kept_ids(rule, package_of(("a", "g", "raw", 3, 0)), 9) == []


def test_an_infeasible_rule_is_refused_by_name(user_file):
    rule = rule_from_file(f"{user_file}:greedy_pig")
    package = package_of(("a", "g", "raw", 3, 0), ("b", "g", "fact", 2, 0))
    with pytest.raises(InputError, match=r"writer w on package p .*costs 5"):
        kept_ids(rule, package, 4)
    with pytest.raises(InputError, match="more than 1 candidates of group g"):
        kept_ids(rule, package, 5)


@pytest.mark.parametrize("spec", ["{}:missing", "{}:not_callable", "{}x:cheapest", "{}", "cheapest"])
def test_a_wrong_rule_spec_is_named(user_file, spec):
    spec = spec.format(user_file)
    with pytest.raises(InputError, match="writer rule"):
        rule_from_file(spec)


MISBEHAVING = {
    "edits its input": ("c = visible.cost; c //= 10; c += 1; return [0]", None),
    "returns nothing": ("return None", "returned None"),
    "returns a mask": ("return [True, False]", "True among the positions"),
    "returns fractions": ("return [0.9]", "0.9 among the positions"),
    "returns ids": ("return [visible.candidate_ids[0]]", "'a' among the positions"),
    "raises": ("raise KeyError('x')", "KeyError: 'x'"),
    "leaves": ("raise SystemExit(0)", "SystemExit: 0"),
}


@pytest.mark.parametrize("kind", sorted(MISBEHAVING))
def test_a_users_rule_cannot_change_a_score_and_its_faults_are_named(tmp_path, kind):
    body, message = MISBEHAVING[kind]
    (tmp_path / "mine.py").write_text(f"def f(visible, budget):\n    {body}\n")
    writer = Writer("mine", rule_from_file(f"{tmp_path / 'mine.py'}:f"))
    package = package_of(("a", "g", "raw", 30, 0), ("b", "h", "fact", 2, 0))
    if message is None:
        assert run(writer, package, None, 30, {}) == [0]
        assert package.visible.cost.tolist() == [30, 2]
        with pytest.raises(InputError, match="selection costs 30"):
            run(writer, package, None, 29, {})
        return
    with pytest.raises(InputError, match=rf"writer mine.* package .* budget 30.*{message}"):
        run(writer, package, None, 30, {})


def test_a_users_rule_may_import_its_neighbours_and_their_edits_count(tmp_path):
    (tmp_path / "neighbour_of_mine.py").write_text("N = 0\n")
    (tmp_path / "mine.py").write_text(
        "import neighbour_of_mine\ndef f(visible, budget):\n    return [neighbour_of_mine.N]\n"
    )
    before = code_hash([str(tmp_path / "mine.py")])
    writer = Writer("mine", rule_from_file(f"{tmp_path / 'mine.py'}:f"))
    assert run(writer, package_of(("a", "g", "raw", 1, 0)), None, 5, {}) == [0]
    (tmp_path / "neighbour_of_mine.py").write_text("N = 1\n")
    assert code_hash([str(tmp_path / "mine.py")]) != before


def test_a_file_that_cannot_be_loaded_is_named(tmp_path):
    (tmp_path / "mine.py").write_text("import no_such_module_anywhere\n")
    with pytest.raises(InputError, match=r"mine\.py cannot be loaded: ModuleNotFoundError"):
        rule_from_file(f"{tmp_path / 'mine.py'}:f")
