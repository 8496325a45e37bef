"""The local proxies against a plain reading of their rules, and examples of each part."""

from __future__ import annotations

import inspect
import math
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from text_packages import budgets_of, text_packages

from memaudit.objective import scale
from memaudit.package import Candidate, build
from memaudit.writers import proxies
from memaudit.writers.registry import RULES, Writer, run
from strategies import packages

# ---- the rules once more, in plain Python (no caches, everything recomputed from the store)


def _names(text):
    return text.split()


STOP = _names("a about after and for in is of old or that the to user with")
SALIENT = _names(
    "abstain actually changed closed conflict correction current evidence exception fact invalid invalidate "
    "invalidated no not now outcome prefer preference scope superseded tombstone update"
)
ANCHORS = _names(
    "bridge conference constraint current duration edge end exception historical invalid invalidated link "
    "outcome scope scoped source start tool travel update"
)
VALIDITY = ("tombstone", "compound_update", "abstention", "uncertainty")
PRIORS = {
    "mem0": "fact 1.28 graph_edge 1.18 tombstone 1.18 skill 1.16 compound_update 1.14 abstention 1.12 "
    "uncertainty 1.12 interval_fact 1.10 summary 1.0 compound_evidence 1.0 raw .72 other .85",
    "memgpt": "raw 1.15 compound_update 1.15 compound_evidence 1.10 summary 1.05 tombstone 1.05 fact 1.0 "
    "interval_fact 1.0 abstention 1.0 uncertainty 1.0 graph_edge .95 skill .95 other .90",
    "amac": "compound_update 1.22 tombstone 1.20 compound_evidence 1.14 interval_fact 1.12 abstention 1.12 "
    "uncertainty 1.12 fact 1.10 graph_edge 1.08 skill 1.08 summary 1.06 raw .92 other .95",
    "amem": "graph_edge 1.34 compound_update 1.30 compound_evidence 1.26 summary 1.22 interval_fact 1.18 "
    "skill 1.16 tombstone 1.14 fact 1.08 abstention 1.05 uncertainty 1.05 raw .76 other .90",
}


class Plain:
    def __init__(self, visible):
        v = self.v = visible
        self.n = len(v)
        self.kind = [{"raw_span": "raw", "atomic_fact": "fact"}.get(t, t) for t in v.representation_type]
        self.cost = [int(c) for c in v.cost]
        self.conf = [min(1.0, max(0.0, float(c))) for c in v.confidence]
        times = [int(t) for t in v.time_index]
        low, high = min(times, default=0), max(times, default=0)
        self.rec = [(t - low) / (high - low) if high > low else 0.5 for t in times]
        self.words = [
            {w for w in re.findall("[a-z0-9_:-]+", f"{t} {x or ''}".lower()) if len(w) > 1 and w not in STOP}
            for t, x in zip(v.representation_type, v.text, strict=True)
        ]
        self.groups = [range(*pair) for pair in pairwise(v.group_start)]

    def prior(self, system, i):
        names = PRIORS[system].split()
        table = dict(zip(names[::2], map(float, names[1::2]), strict=True))
        return table.get(self.kind[i], table["other"])

    def sal(self, i):
        hits = len([w for w in self.words[i] if w in SALIENT or w.startswith("invalid")])
        return min(1, (hits + (1 if self.kind[i] in VALIDITY else 0)) / 5)

    def nov(self, i, held):
        seen = set().union(*(self.words[j] for j in held))
        return len(self.words[i] - seen) / len(self.words[i]) if self.words[i] and seen else 1

    def pick(self, group, score, power, floor):
        ids, cost = self.v.candidate_ids, self.cost
        keys = [(score(i) / cost[i] ** power, score(i), -cost[i], ids[i]) for i in group]
        best = group[keys.index(max(keys))]
        return best if score(best) > floor else None

    def used(self, store):
        return sum(self.cost[i] for i in store)

    def mem0(self, budget):
        def signature(i):
            return {w for w in self.words[i] if w in SALIENT or ":" in w}

        proposals, scores = [], {}

        def score(i):
            value = (
                self.prior("mem0", i)
                + (0.20 if self.kind[i] in ("fact", "graph_edge", "skill") else 0)
                + (0.18 if self.kind[i] in VALIDITY else 0)
                + 0.60 * self.sal(i)
                + 0.35 * self.nov(i, proposals)
                + 0.15 * self.rec[i]
                + 0.30 * self.conf[i]
            )
            mine, near = signature(i), 0
            for j in proposals if mine else []:
                near = max(near, len(mine & signature(j)) / len(mine | signature(j)))
            return value * (0.45 if near >= 0.80 else 0.70 if near >= 0.55 else 1)

        for group in self.groups:
            i = self.pick(group, score, 0.70, 0.35)
            if i is not None:
                scores[i] = score(i)
                proposals.append(i)
        density = {i: scores[i] / self.cost[i] ** 0.70 for i in proposals}
        store = []
        for i in sorted(proposals, key=lambda i: (-density[i], -scores[i], -self.rec[i])):
            if self.used(store) + self.cost[i] <= budget:
                store.append(i)
        return store

    def memgpt(self, budget):
        compact = _names("abstention fact graph_edge interval_fact skill summary tombstone uncertainty")

        def score(i, nov):
            return (
                self.prior("memgpt", i)
                + (0.35 if self.kind[i] == "raw" and self.rec[i] >= 0.65 else 0)
                + (0.18 if self.kind[i] in compact and self.rec[i] < 0.75 else 0)
                + 0.55 * self.sal(i)
                + 0.25 * nov
                + 0.30 * self.rec[i]
                + 0.20 * self.conf[i]
            )

        store = {}  # group -> memory
        for g, group in enumerate(self.groups):
            held = list(store.values())
            i = self.pick(group, lambda i, held=held: score(i, self.nov(i, held)), 0.35, 0.35)
            if i is not None:
                store[g] = i
        while self.used(store.values()) > budget:
            options = []
            for g, i in store.items():
                for j in self.groups[g]:
                    if self.kind[j] in compact and self.cost[j] < self.cost[i]:
                        saved = self.cost[i] - self.cost[j]
                        loss = (score(i, 1) - score(j, 1)) / saved
                        options.append((loss, -saved, self.v.candidate_ids[j], g, j))
            if options:
                *_, g, j = min(options)
                store[g] = j
            else:
                keys = {g: (score(i, 1) / self.cost[i], score(i, 1), self.rec[i]) for g, i in store.items()}
                del store[min(keys, key=keys.get)]
        return list(store.values())

    def admit(self, store, frozen, i, priority, budget, key):
        """store and frozen priorities after offering memory i."""
        trial = list(store)
        if self.cost[i] > budget:
            return store
        while self.used(trial) + self.cost[i] > budget:
            weakest = min(trial, key=key)
            if frozen[weakest] >= priority:
                return store
            trial.remove(weakest)
        frozen[i] = priority
        return [*trial, i]

    def amac(self, budget):
        store, frozen = [], {}
        for group in self.groups:

            def score(i, store=store):
                return (
                    self.prior("amac", i)
                    + 0.62 * self.sal(i)
                    + 0.42 * self.conf[i]
                    + 0.38 * self.nov(i, store)
                    + 0.24 * self.rec[i]
                )

            i = self.pick(group, score, 0.55, 0.40)
            if i is not None:
                priority = score(i) / max(math.sqrt(self.cost[i]), 1)
                store = self.admit(
                    store, frozen, i, priority, budget, lambda j: (frozen[j], self.rec[j], -self.cost[j])
                )
        return store

    def overlap(self, i, store):
        def anchors(j):
            return {
                w
                for w in self.words[j]
                if ":" in w or w in ANCHORS or w[:7] == "invalid" or w[:5] == "scope" or w[:6] == "update"
            }

        mine = anchors(i)
        if not mine:
            return 0.0
        counts = [sum(a in anchors(j) for j in store) for a in mine]
        share = sum(c > 0 for c in counts) / len(mine)
        return min(1, 0.55 * share + 0.45 * sum(min(c, 3) for c in counts) / (3 * len(mine)))

    def affinity(self, i):
        linked = ("graph_edge", "compound_update", "compound_evidence", "interval_fact")
        terms = len([w for w in self.words[i] if w in ANCHORS])
        colons = len([w for w in self.words[i] if ":" in w])
        return min(1, (terms + min(2, colons) + (1 if self.kind[i] in linked else 0)) / 6)

    def amem(self, budget):
        store, frozen = [], {}
        for group in self.groups:

            def score(i, store=store):
                extra = ("graph_edge", "summary", "compound_update", "compound_evidence")
                return (
                    self.prior("amem", i)
                    + (0.28 if self.kind[i] in extra else 0)
                    + (0.16 if self.kind[i] in ("interval_fact", "tombstone") else 0)
                    + 0.48 * self.affinity(i)
                    + 0.42 * self.overlap(i, store)
                    + 0.34 * self.nov(i, store)
                    + 0.22 * self.rec[i]
                    + 0.26 * self.conf[i]
                    + 0.24 * self.sal(i)
                )

            i = self.pick(group, score, 0.60, 0.38)
            if i is not None:
                priority = score(i) / max(self.cost[i] ** 0.55, 1)

                def key(j, store=store):
                    return frozen[j], self.overlap(j, store), self.rec[j], -self.cost[j]

                store = self.admit(store, frozen, i, priority, budget, key)
        return store


RULES_AND_PLAIN = (
    (proxies.mem0_extract, Plain.mem0),
    (proxies.memgpt_tiered, Plain.memgpt),
    (proxies.amac_admission, Plain.amac),
    (proxies.amem_graph, Plain.amem),
)


def check_against_plain(package):
    plain = Plain(package.visible)
    for rule, reference in RULES_AND_PLAIN:
        for budget in budgets_of(package):
            assert rule(package.visible, budget) == reference(plain, budget), (rule.__name__, budget)


@settings(max_examples=120)
@given(text_packages())
def test_proxies_match_a_plain_reading(package):
    check_against_plain(package)


@settings(max_examples=30)
@given(packages(texts=True, max_groups=6))
def test_proxies_match_a_plain_reading_on_any_structure(package):
    check_against_plain(package)


# ---- feasibility, determinism, blindness


@settings(max_examples=40)
@given(text_packages())
def test_selections_are_feasible_at_any_budget_and_repeat(package):
    instance = scale(package)
    for name in proxies.PROXIES:
        writer = Writer(name, RULES[name], is_proxy=True)
        for budget in (*budgets_of(package), 10**12):
            first = run(writer, package, instance, budget, {})
            for cached in (proxies._candidates, proxies._mem0_packing_order, proxies._memgpt_proposals):
                cached.cache_clear()
            assert run(writer, package, instance, budget, {}) == first
            assert budget > 0 or first == []


@pytest.mark.parametrize("name", sorted(proxies.PROXIES))
def test_proxy_sees_metadata_only(name):
    entry = RULES[name]
    assert entry.sees == "metadata" and entry.reads_text and entry.fit is None
    assert list(inspect.signature(entry.function).parameters) == ["visible", "budget"]


# ---- parts


@pytest.mark.parametrize(
    ("kind", "text", "tokens"),
    [
        ("raw_span", None, {"raw_span"}),
        ("fact", "The user is in Zürich, tool-use: k:v a-b", {"fact", "rich", "tool-use:", "k:v", "a-b"}),
        ("skill", "x yy YY 7 42", {"skill", "yy", "42"}),
    ],
)
def test_tokens(kind, text, tokens):
    assert proxies.tokens_of(kind, text) == tokens


@pytest.mark.parametrize(
    ("kind", "text", "salience"),
    [
        ("raw_span", "nothing here", 0.0),
        ("atomic_fact", "a fact", 1 / 5),  # the word, not the type name atomic_fact
        ("fact", "", 1 / 5),
        ("tombstone", "", 2 / 5),  # the token and the type
        ("compound_update", "", 1 / 5),  # the type; the token compound_update is not update
        ("raw_span", "invalidation invalidates invalid", 3 / 5),
        ("tombstone", "not now current update preference", 1.0),
    ],
)
def test_salience(kind, text, salience):
    assert proxies.salience_of(kind, text) == salience


@pytest.mark.parametrize(
    ("kind", "text", "anchors", "affinity"),
    [
        ("raw_span", "plain", set(), 0.0),
        ("raw_span", "scopes updates invalidity", {"scopes", "updates", "invalidity"}, 0.0),
        ("graph_edge", "a:b c:d e:f link", {"a:b", "c:d", "e:f", "link"}, (1 + 2 + 1) / 6),
        ("compound_evidence", "travel tool", {"travel", "tool"}, 3 / 6),
        ("interval_fact", "start end edge link tool", {"start", "end", "edge", "link", "tool"}, 1.0),
    ],
)
def test_anchors_and_graph_affinity(kind, text, anchors, affinity):
    assert proxies.anchors_of(kind, text) == anchors
    assert proxies.graph_affinity_of(kind, text) == affinity


def test_duplicate_penalty_by_hand():
    abcd, penalty = frozenset("abcd"), proxies._duplicate_penalty
    assert penalty(abcd, []) == 1.0
    assert penalty(frozenset(), [frozenset(), abcd]) == 1.0
    assert penalty(abcd, [frozenset()]) == 1.0
    assert penalty(abcd, [frozenset("abcde")]) == 0.45  # 4/5 is not below .80
    assert penalty(abcd, [frozenset("abc"), frozenset("x")]) == 0.70  # 3/4
    assert penalty(abcd, [frozenset("abxy")]) == 1.0  # 2/6


def test_link_overlap_by_hand():
    overlap = proxies._link_overlap
    assert overlap(frozenset(), {"a": 1}) == 0.0
    assert overlap(frozenset("ab"), {}) == 0.0
    assert overlap(frozenset("ab"), {"a": 1}) == pytest.approx(0.55 / 2 + 0.45 * 1 / 6)
    assert overlap(frozenset("a"), {"a": 7}) == 1.0
    assert overlap(frozenset("ab"), {"a": 7}) == pytest.approx(0.55 / 2 + 0.45 * 3 / 6)


def kept(rule, candidates, budget):
    visible = build("test", "p", "d", None, candidates, [], {}, []).visible
    return [visible.candidate_ids[i] for i in rule(visible, budget)]


def test_mem0_loses_a_proposal_above_the_budget():
    """The group proposes its dense summary of cost 5; at budget 4 nothing takes its place."""
    candidates = [
        Candidate("big", "g", "summary", 5, 0, "current update not now preference scope"),
        Candidate("small", "g", "raw", 4, 0, ""),
        Candidate("other", "h", "fact", 2, 1, "zzz"),
    ]
    assert kept(proxies.mem0_extract, candidates, 7) == ["other", "big"]
    assert kept(proxies.mem0_extract, candidates, 4) == ["other"]


def test_memgpt_compacts_before_it_evicts():
    candidates = [
        Candidate("raw", "g", "raw_span", 6, 0, "current update not now scope", 1.0),
        Candidate("note", "g", "summary", 3, 0, "aa", 0.0),
        Candidate("new", "h", "raw_span", 5, 9, "cc dd"),
    ]
    assert kept(proxies.memgpt_tiered, candidates, 11) == ["raw", "new"]
    assert kept(proxies.memgpt_tiered, candidates, 8) == ["note", "new"]
    # Then by score / cost: note 1.48 / 3, new 2.25 / 5 goes.
    assert kept(proxies.memgpt_tiered, candidates, 5) == ["note"]


def test_amac_evicts_only_if_that_frees_enough():
    """The newcomer outranks the weak memory but not the strong one, and needs the room of both."""
    weak = Candidate("weak", "a", "raw", 3, 0, "", 0.0)
    strong = Candidate("strong", "b", "tombstone", 1, 0, "current not now update", 1.0)
    newcomer = Candidate("new", "c", "compound_update", 4, 1, "fresh words", 1.0)
    smaller = Candidate("new", "c", "compound_update", 3, 1, "fresh words", 1.0)
    assert kept(proxies.amac_admission, [weak, strong, newcomer], 4) == ["weak", "strong"]
    assert kept(proxies.amac_admission, [weak, strong, smaller], 4) == ["strong", "new"]


def test_memgpt_replaces_by_what_saves_most_among_equal_losses():
    """Both alternatives score as much as the held memory at novelty 1, so they lose nothing a unit."""
    candidates = [
        Candidate("first", "f", "skill", 1, 0, "", 0.0),
        Candidate("held", "g", "skill", 50, 0, "aa bb cc dd", 0.0),
        Candidate("saves5", "g", "skill", 45, 0, "", 0.0),
        Candidate("saves10", "g", "skill", 40, 0, "", 0.0),
    ]
    assert kept(proxies.memgpt_tiered, candidates, 51) == ["first", "held"]
    assert kept(proxies.memgpt_tiered, candidates, 50) == ["first", "saves10"]


def test_memgpt_evicts_at_novelty_one():
    """score / cost: 1.30 / 100 against 1.50 / 117; without the novelty term it would be the other way."""
    seen = Candidate("seen", "f", "x", 1, 0, "zz", 0.0)
    a, b = Candidate("a", "g", "x", 100, 0, "zz", 0.0), Candidate("b", "h", "x", 117, 0, "zz", 1.0)
    assert kept(proxies.memgpt_tiered, [seen, a, b], 120) == ["seen", "a"]


@pytest.mark.parametrize("rule", [proxies.amac_admission, proxies.amem_graph])
def test_admission_displaces_only_strictly_lower_priority(rule):
    """Without tokens the two score the same bits; a little more confidence tips the scale."""
    first = Candidate("first", "a", "x", 2, 0, None, 0.5)
    assert kept(rule, [first, Candidate("twin", "b", "x", 2, 0, None, 0.5)], 3) == ["first"]
    assert kept(rule, [first, Candidate("better", "b", "x", 2, 0, None, 0.6)], 3) == ["better"]


def test_evicted_memories_are_forgotten():
    candidates = [Candidate(i, i, "x", 1, 0, f"k:v {i * 2}") for i in "abc"]
    c = proxies._candidates(build("test", "p", "d", None, candidates, [], {}, []).visible)
    store = proxies._Store()
    store.replace([], 0, 1.0, c)
    store.replace([], 1, 2.0, c)
    assert (store.kept, store.used, store.linked["k:v"], store.tokens) == ([0, 1], 2, 2, {"k:v", "aa", "bb"})
    store.replace([0], 2, 3.0, c)
    assert (store.kept, store.used, store.linked["k:v"], store.tokens) == ([1, 2], 2, 2, {"k:v", "bb", "cc"})
