"""The estimated writers against a plain reading of their rules, and examples of each part."""

from __future__ import annotations

import inspect
import math
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from text_packages import budgets_of, text_packages

from memaudit.errors import InputError
from memaudit.objective import scale
from memaudit.package import Candidate, Unit, build
from memaudit.writers import estimated
from memaudit.writers.cues import cue_hits, signature_tokens
from memaudit.writers.learned import FEATURES
from memaudit.writers.registry import RULES, Writer, run
from strategies import packages

NAMES = ("estimated_gvt", "estimated_utility")

# ---- the rules once more, in plain Python

PRIOR = dict(
    compound_update=3.2,
    compound_evidence=3.0,
    tombstone=2.6,
    abstention=2.4,
    uncertainty=2.3,
    interval_fact=2.0,
    raw=2.0,
    raw_span=2.0,
    summary=1.7,
    graph_edge=1.6,
    skill=1.6,
    atomic_fact=1.55,
    fact=1.55,
)
CUES = (
    (1.10, "tombstone, invalid, invalidated, superseded, no longer"),
    (0.70, "update, correction, corrected, changed, current"),
    (0.45, "complete, full, explicit, scoped"),
    (0.65, "abstain, insufficient evidence, conflict, ambiguous, uncertainty"),
    (0.20, "source detail, provenance"),
    (-0.65, "hint, partial, generic, unsupported, overconfident, without the full"),
)
NO_SIGNATURE = "about, after, before, between, current, detail, evidence, fact, from, that, the, this, user, with"


def plain_tokens(kind, text):
    runs = re.split(r"[\W_]+", f"{kind} {text or ''}".lower())
    return {t for t in runs if len(t) >= 4 and t not in NO_SIGNATURE.split(", ")}


def plain_value(v, i, profile):
    if v.estimated_value[i] is not None:
        return v.estimated_value[i]
    if v.estimated_coverage[i]:
        return sum(min(1, entry) for entry in v.estimated_coverage[i].values())
    if profile == "external":
        return 0.0
    kind, text = v.representation_type[i], v.text[i]
    value = PRIOR.get(kind, 1.0)
    for bonus, strings in CUES:
        if any(s in f"{kind} {text or ''}".lower() for s in strings.split(", ")):
            value += bonus
    value += min(0.55, 0.035 * len(plain_tokens(kind, text)))
    value = max(0.0, value * (0.55 + 0.45 * min(1.25, max(0, v.confidence[i]))))
    if profile == "noisy":
        t = 0
        for byte in f"noisy|{v.candidate_ids[i]}|{text or ''}".encode():
            t = (t * 131 + byte) % 1_000_000_007
        value *= max(0.05, 1 + 0.40 * (t / 1_000_000_007 - 0.5))
    return value


class Plain:
    def __init__(self, visible, profile):
        self.v = visible
        self.value = [plain_value(visible, i, profile) for i in range(len(visible))]
        cells = zip(visible.representation_type, visible.text, strict=True)
        self.tokens = [plain_tokens(*cell) for cell in cells]
        self.groups = [range(*pair) for pair in pairwise(visible.group_start)]

    def marg(self, i, store):
        if self.value[i] <= 0:
            return 0.0
        held = set().union(*(self.tokens[j] for j in store))
        share = len(self.tokens[i] - held) / len(self.tokens[i]) if self.tokens[i] else 1
        return self.value[i] * (0.35 + 0.65 * share)

    def cost(self, store):
        return sum(int(self.v.cost[i]) for i in store)

    def gvt(self, budget):
        fitting = [i for i in range(len(self.v)) if self.v.cost[i] <= budget]
        thresholds = {self.marg(i, []) / self.v.cost[i] for i in fitting if self.value[i] > 0} | {0.0}
        best = None
        for threshold in sorted(thresholds, reverse=True):
            store, total = [], 0.0
            for group in self.groups:
                keys = []
                for i in group:
                    marg = self.marg(i, store)
                    fits = self.cost([*store, i]) <= budget
                    if fits and marg > 1e-12 and marg / self.v.cost[i] + 1e-12 >= threshold:
                        keys.append((marg, -self.v.cost[i], self.v.candidate_ids[i], i))
                if keys:
                    total += max(keys)[0]
                    store.append(max(keys)[-1])
            if best is None or (total, -self.cost(store)) > best[0]:
                best = (total, -self.cost(store)), store
        return best[1]

    def utility(self, budget):
        store, open_groups = [], list(self.groups)
        while True:
            keys = []
            for group in open_groups:
                for i in group:
                    marg = self.marg(i, store)
                    if marg > 1e-12 and self.cost([*store, i]) <= budget:
                        c = self.v.cost[i]
                        keys.append((marg / c, marg, -c, self.v.candidate_ids[i], i, group))
            if not keys:
                return store
            *_, i, group = max(keys, key=lambda key: key[:4])
            store.append(i)
            open_groups.remove(group)


def check_against_plain(package):
    for profile in ("default", "noisy", "external"):
        plain = Plain(package.visible, profile)
        for budget in budgets_of(package):
            got = estimated.estimated_gvt(package.visible, budget, profile=profile).tolist()
            assert got == plain.gvt(budget), (profile, budget)
            got = estimated.estimated_utility(package.visible, budget, profile=profile).tolist()
            assert got == plain.utility(budget), (profile, budget)


@settings(max_examples=60)
@given(text_packages(estimates=False))
def test_rules_match_a_plain_reading(package):
    check_against_plain(package)


@settings(max_examples=40)
@given(text_packages(estimates=True))
def test_rules_match_a_plain_reading_with_supplied_estimates(package):
    check_against_plain(package)


@settings(max_examples=30)
@given(packages(texts=True, estimates=True))
def test_rules_match_a_plain_reading_on_any_structure(package):
    check_against_plain(package)


# ---- feasibility, determinism, blindness


@settings(max_examples=25)
@given(text_packages(estimates=True))
def test_selections_are_feasible_at_any_budget_and_repeat(package):
    ridge = np.linspace(-1, 2, len(FEATURES))
    instance = scale(package)
    for name in NAMES:
        for profile in estimated.PROFILES:
            writer = Writer(name, RULES[name])
            parameters = {"profile": profile, "ridge": ridge if profile == "learned" else None}
            for budget in (*budgets_of(package), 10**12):
                first = run(writer, package, instance, budget, parameters)
                estimated._cached_estimates.cache_clear()
                assert run(writer, package, instance, budget, parameters) == first
                assert budget > 0 or first == []


@pytest.mark.parametrize("name", NAMES)
def test_rule_sees_metadata_only(name):
    entry = RULES[name]
    assert entry.sees == "metadata" and entry.reads_text and entry.fit is estimated.fit
    parameters = inspect.signature(entry.function).parameters
    assert list(parameters) == ["visible", "budget", "profile", "model", "ridge"]
    assert parameters["visible"].annotation == "VisiblePackage"


def test_read_only_arrays_are_taken():
    visible = one().visible
    for array in (visible.cost, visible.group_start):
        array.flags.writeable = False
    assert estimated.estimated_gvt(visible, 2).tolist() == [0]


# ---- parts


@pytest.mark.parametrize(
    ("kind", "text", "hits"),
    [
        ("fact", "beautifully hidden", (0, 0, 1, 0, 0, 0)),  # `full` inside beautifully
        ("fact", "beautiful", (0, 0, 0, 0, 0, 0)),  # one l
        ("tombstone", None, (1, 0, 0, 0, 0, 0)),  # the type name counts
        ("compound_update", "", (0, 1, 0, 0, 0, 0)),
        ("uncertainty", "Conflict", (0, 0, 0, 1, 0, 0)),  # once a group
        ("abstention", "", (0, 0, 0, 0, 0, 0)),  # not `abstain`
        ("raw_span", "HINT without the full story", (0, 0, 1, 0, 0, 1)),
        ("raw_span", "told without the full story", (0, 0, 1, 0, 0, 1)),
        ("raw_span", "told without full story", (0, 0, 1, 0, 0, 0)),
        ("raw_span", "without detail, after the user", (0, 0, 0, 0, 0, 0)),
        ("summary", "no longer current; provenance known", (1, 1, 0, 0, 1, 0)),
    ],
)
def test_cue_groups(kind, text, hits):
    assert cue_hits(kind, text) == tuple(map(bool, hits))


def test_every_cue_string_fires_its_group():
    for group, (_, strings) in enumerate(CUES):
        for cue in strings.split(", "):
            assert cue_hits("x", f"so{cue.upper()}so")[group], cue


@pytest.mark.parametrize(
    ("kind", "text", "tokens"),
    [
        ("raw_span", None, {"span"}),
        ("compound_update", "Été à Paris-2024!", {"compound", "update", "paris", "2024"}),
        ("fact", "The user moved, with EVIDENCE from a naïveté", {"moved", "naïveté"}),
        ("fact", "snake_case word word", {"snake", "case", "word"}),
        ("skill", "without doubt", {"skill", "without", "doubt"}),
    ],
)
def test_signature_tokens(kind, text, tokens):
    assert signature_tokens(kind, text) == tokens


def test_described_value_by_hand():
    value = estimated.described_value
    # Prior 3.2, cue update .70, tokens compound and update .07; confidence .5 -> .775.
    assert value("compound_update", None, 0.5) == pytest.approx((3.2 + 0.70 + 0.07) * 0.775)
    # Unknown type: 1.0, hint -.65; tokens strange, type, hint .105; confidence clipped at 1.25 -> 1.1125.
    assert value("strange_type", "hint", 9.0) == pytest.approx((1 - 0.65 + 0.105) * 1.1125)
    # The signature term stops at .55.
    many = " ".join(f"word{i}" for i in range(40))
    assert value("skill", many, 1.0) == pytest.approx(1.6 + 0.55)


def test_aliases_share_a_prior():
    assert estimated.described_value("raw", "x", 1.0) == pytest.approx(2.0)
    assert estimated.described_value("raw_span", "x", 1.0) == pytest.approx(2.0 + 0.035)
    assert estimated.described_value("fact", "x", 1.0) == pytest.approx(1.55)
    assert estimated.described_value("atomic_fact", "x", 1.0) == pytest.approx(1.55 + 0.035)


def test_noise_by_hand():
    # "m|a|b": Horner over the bytes 109 124 97 124 98.
    t = 0
    for byte in (109, 124, 97, 124, 98):
        t = (t * 131 + byte) % 1_000_000_007
    assert estimated.noise("m", "a", "b") == 1 + 0.40 * (t / 1_000_000_007 - 0.5)
    assert estimated.noise("m", "a", None) == estimated.noise("m", "a", "")
    factors = [estimated.noise("noisy", f"c{i}", "some text") for i in range(500)]
    assert 0.8 <= min(factors) < 0.85 and 1.15 < max(factors) <= 1.2


def one(**fields):
    candidate = Candidate("a", "g", "fact", 2, 0, "plain words", 1.0, **fields)
    return build("test", "p", "d", None, [candidate], [], {}, [])


def value_of(package, **parameters):
    return estimated.singleton_estimates(package.visible, **parameters)[0]


@pytest.mark.parametrize("profile", estimated.PROFILES)
def test_supplied_estimate_stands_in_every_profile(profile):
    supplied = {"profile": profile, "ridge": np.ones(len(FEATURES))}
    assert value_of(one(estimated_value=0.3), **supplied) == 0.3
    assert value_of(one(estimated_value=0.0, estimated_coverage={"u": 1.0}), **supplied) == 0.0
    assert value_of(one(estimated_coverage={"u": 0.25, "w": 3.0}), **supplied) == 1.25
    absent = value_of(one(), **supplied)
    assert value_of(one(estimated_coverage={}), **supplied) == absent
    assert (absent == 0.0) == (profile == "external")


def test_model_names_the_noise():
    package = one()
    default = value_of(package)
    assert value_of(package, profile="noisy") == default * estimated.noise("noisy", "a", "plain words")
    assert value_of(package, profile="noisy", model="m") == default * estimated.noise("m", "a", "plain words")
    assert value_of(package, profile="noisy", model="m") != value_of(package, profile="noisy")


@pytest.mark.parametrize("supplied", [{"estimated_value": math.nan}, {"estimated_coverage": {"u": None}}])
def test_bad_estimate_is_named(supplied):
    with pytest.raises(InputError, match=r"candidate a: .*estimate"):
        estimated.estimated_gvt(one(**supplied).visible, 5)


def test_unknown_profile_is_named():
    for call in (estimated.estimated_gvt, estimated.estimated_utility):
        with pytest.raises(InputError, match=r"'nosy'.*default, noisy, external, learned"):
            call(one().visible, 5, profile="nosy")
    with pytest.raises(InputError, match="'nosy'"):
        estimated.fit([], profile="nosy")


def test_gvt_prefers_the_higher_total_and_greedy_the_density():
    """One group with a dense cheap candidate and a valuable dear one: the two rules part."""
    candidates = [
        Candidate("cheap", "g", "fact", 1, 0, "", 1.0, 1.0),
        Candidate("dear", "g", "raw", 4, 0, "", 1.0, 3.0),
    ]
    visible = build("test", "p", "d", None, candidates, [Unit("u", 1.0)], {}, []).visible
    assert [visible.candidate_ids[i] for i in estimated.estimated_gvt(visible, 4)] == ["dear"]
    assert [visible.candidate_ids[i] for i in estimated.estimated_utility(visible, 4)] == ["cheap"]


def test_highest_threshold_wins_a_tie():
    """Threshold 1 keeps big (3 for 3), threshold .5 keeps early and small (1 + 2 for 2 + 1)."""
    candidates = [
        Candidate("early", "g", "fact", 2, 0, "", 1.0, 1.0),
        Candidate("big", "h", "fact", 3, 1, "", 1.0, 3.0),
        Candidate("small", "h", "fact", 1, 1, "", 1.0, 2.0),
    ]
    visible = build("test", "p", "d", None, candidates, [], {}, []).visible
    assert [visible.candidate_ids[i] for i in estimated.estimated_gvt(visible, 3)] == ["big"]


def test_larger_id_wins_a_tie():
    candidates = [Candidate(i, "g", "fact", 2, 0, "", 1.0, 1.0) for i in ("c10", "c9", "c2")]
    visible = build("test", "p", "d", None, candidates, [], {}, []).visible
    for rule in (estimated.estimated_gvt, estimated.estimated_utility):
        assert [visible.candidate_ids[i] for i in rule(visible, 2)] == ["c9"]


def test_learned_discounts_held_tokens_less():
    """Two twins of value 1: the second is worth .35 by default, .85 to the learned profile."""
    twins = [Candidate(i, i, "skill", 1, 0, "same words", 1.0, 1.0) for i in ("a", "b")]
    other = Candidate("c", "b", "fact", 1, 0, "fresh other thing", 1.0, 0.6)
    visible = build("test", "p", "d", None, [*twins, other], [], {}, []).visible
    ridge = np.ones(len(FEATURES))

    def kept(**parameters):
        return {visible.candidate_ids[i] for i in estimated.estimated_gvt(visible, 2, **parameters)}

    assert kept() == {"a", "c"}
    assert kept(profile="learned", ridge=ridge) == {"a", "b"}
