"""Local proxies of published memory systems: deterministic, no service, shown as proxies everywhere.

Each scores a candidate by a type prior plus weighted salience, novelty, recency and confidence, proposes at
most one candidate a group, and admits proposals under the budget in its own way. Scores are summed in the
order the rules are written in, so that equal candidates score equal bits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from ..package import VisiblePackage
from .cues import canonical, described, relative_time
from .registry import rule

PROXIES = frozenset({"mem0_extract", "memgpt_tiered", "amac_admission", "amem_graph"})

STOPWORDS = frozenset(
    {
        "a",
        "about",
        "after",
        "and",
        "for",
        "in",
        "is",
        "of",
        "old",
        "or",
        "that",
        "the",
        "to",
        "user",
        "with",
    }
)
SALIENT_TERMS = frozenset(
    {
        "abstain",
        "actually",
        "changed",
        "closed",
        "conflict",
        "correction",
        "current",
        "evidence",
        "exception",
        "fact",
        "invalid",
        "invalidate",
        "invalidated",
        "no",
        "not",
        "now",
        "outcome",
        "prefer",
        "preference",
        "scope",
        "superseded",
        "tombstone",
        "update",
    }
)
SALIENT_TYPES = frozenset({"tombstone", "compound_update", "abstention", "uncertainty"})
ANCHOR_TERMS = frozenset(
    {
        "bridge",
        "conference",
        "constraint",
        "current",
        "duration",
        "edge",
        "end",
        "exception",
        "historical",
        "invalid",
        "invalidated",
        "link",
        "outcome",
        "scope",
        "scoped",
        "source",
        "start",
        "tool",
        "travel",
        "update",
    }
)
_ANCHOR_PREFIXES = ("invalid", "scope", "update")
_TOKEN = re.compile(r"[a-z0-9_:-]+")

# Priors by canonical type (raw_span is raw, atomic_fact is fact), and of any other type.
MEM0_PRIORS = {
    "fact": 1.28,
    "graph_edge": 1.18,
    "tombstone": 1.18,
    "skill": 1.16,
    "compound_update": 1.14,
    "abstention": 1.12,
    "uncertainty": 1.12,
    "interval_fact": 1.10,
    "summary": 1.0,
    "compound_evidence": 1.0,
    "raw": 0.72,
    "other": 0.85,
}
MEMGPT_PRIORS = {
    "raw": 1.15,
    "compound_update": 1.15,
    "compound_evidence": 1.10,
    "summary": 1.05,
    "tombstone": 1.05,
    "fact": 1.0,
    "interval_fact": 1.0,
    "abstention": 1.0,
    "uncertainty": 1.0,
    "graph_edge": 0.95,
    "skill": 0.95,
    "other": 0.90,
}
AMAC_PRIORS = {
    "compound_update": 1.22,
    "tombstone": 1.20,
    "compound_evidence": 1.14,
    "interval_fact": 1.12,
    "abstention": 1.12,
    "uncertainty": 1.12,
    "fact": 1.10,
    "graph_edge": 1.08,
    "skill": 1.08,
    "summary": 1.06,
    "raw": 0.92,
    "other": 0.95,
}
AMEM_PRIORS = {
    "graph_edge": 1.34,
    "compound_update": 1.30,
    "compound_evidence": 1.26,
    "summary": 1.22,
    "interval_fact": 1.18,
    "skill": 1.16,
    "tombstone": 1.14,
    "fact": 1.08,
    "abstention": 1.05,
    "uncertainty": 1.05,
    "raw": 0.76,
    "other": 0.90,
}

MEM0_EXTRACTED = frozenset({"fact", "graph_edge", "skill"})
MEMGPT_COMPACT = frozenset(
    {"abstention", "fact", "graph_edge", "interval_fact", "skill", "summary", "tombstone", "uncertainty"}
)
MEMGPT_RECENT_RAW, MEMGPT_OLD_COMPACT = 0.65, 0.75
AMEM_LINKED = frozenset({"graph_edge", "summary", "compound_update", "compound_evidence"})
AMEM_STATE = frozenset({"interval_fact", "tombstone"})


@rule("mem0_extract", sees="metadata", reads_text=True)
def mem0_extract(visible: VisiblePackage, budget: int) -> list[int]:
    """Mem0 style: extract one memory a group, consolidate duplicates, then pack the proposals by density.

    Proposals ignore the budget, so one that costs more than it is lost. Proposals equal in (score / cost^.70,
    score, recency) are packed in group order.
    """
    kept, used = [], 0
    for i in _mem0_packing_order(visible):
        cost = int(visible.cost[i])
        if used + cost <= budget:
            kept.append(i)
            used += cost
    return kept


@rule("memgpt_tiered", sees="metadata", reads_text=True)
def memgpt_tiered(visible: VisiblePackage, budget: int) -> list[int]:
    """MemGPT / Letta style: keep recent raw text and older compact memories; while over budget, replace a
    memory by a cheaper compact alternative of its group, or evict.

    The replacement is the least by (score loss per unit saved, -saved, id of the alternative); the evicted is
    the lowest by (score / cost, score, recency), the earliest of equals.
    """
    c = _candidates(visible)
    group_of = visible.group_of
    proposals, settled = _memgpt_proposals(visible)
    kept = list(proposals)
    used = sum(c.cost[i] for i in kept)

    def replacements():
        for slot, i in enumerate(kept):
            for j in c.groups[group_of[i]]:
                saved = c.cost[i] - c.cost[j]
                if saved > 0 and c.kind[j] in MEMGPT_COMPACT:
                    yield (settled[i] - settled[j]) / saved, -saved, c.ids[j], slot, j

    while kept and used > budget:
        replacement = min(replacements(), default=None)
        if replacement is not None:
            *_, slot, j = replacement
            used += c.cost[j] - c.cost[kept[slot]]
            kept[slot] = j
        else:
            evicted = min(kept, key=lambda i: (settled[i] / c.cost[i], settled[i], c.recency[i]))
            kept.remove(evicted)
            used -= c.cost[evicted]
    return kept


@rule("amac_admission", sees="metadata", reads_text=True)
def amac_admission(visible: VisiblePackage, budget: int) -> list[int]:
    """A-MAC style: admit a proposal that fits, or that displaces memories of strictly lower priority.

    Priority = score / max(sqrt(cost), 1). Evicted first: the lowest by (priority, recency, -cost).
    """
    c = _candidates(visible)
    before = _amac_scores(visible)

    def score(i: int, store: _Store) -> float:
        return before[i] + 0.38 * _novelty(c.tokens[i], store.tokens) + 0.24 * c.recency[i]

    def weakness(i: int, store: _Store) -> tuple:
        return store.priority[i], c.recency[i], -c.cost[i]

    return _admit(c, budget, score, weakness, floor=0.40, density=c.power(0.55), holding=c.power(0.5))


@rule("amem_graph", sees="metadata", reads_text=True)
def amem_graph(visible: VisiblePackage, budget: int) -> list[int]:
    """A-Mem style: prefer memories that link to what is held; admit as `amac_admission` does.

    Priority = score / max(cost^.55, 1). Evicted first: the lowest by (priority, link overlap, recency,
    -cost), the overlap taken with the store before evictions, so a memory's own anchors count as seen.
    """
    c = _candidates(visible)
    before = _amem_scores(visible)

    def score(i: int, store: _Store) -> float:
        return (
            before[i]
            + 0.42 * _link_overlap(c.anchors[i], store.linked)
            + 0.34 * _novelty(c.tokens[i], store.tokens)
            + 0.22 * c.recency[i]
            + 0.26 * c.confidence[i]
            + 0.24 * c.salience[i]
        )

    def weakness(i: int, store: _Store) -> tuple:
        return store.priority[i], _link_overlap(c.anchors[i], store.linked), c.recency[i], -c.cost[i]

    return _admit(c, budget, score, weakness, floor=0.38, density=c.power(0.60), holding=c.power(0.55))


# ---- what the four share


@dataclass(frozen=True, eq=False)
class _Candidates:
    """A package's candidates as the proxies read them, one entry each; `groups`: positions by group."""

    kind: list[str]
    ids: tuple[str, ...]
    cost: list[int]
    tokens: list[frozenset[str]]
    anchors: list[frozenset[str]]
    salience: list[float]
    recency: list[float]
    confidence: list[float]
    groups: list[range]
    _powers: dict[float, list[float]] = field(default_factory=dict)

    def power(self, exponent: float) -> list[float]:
        """cost ** exponent of each candidate."""
        if exponent not in self._powers:
            self._powers[exponent] = [cost**exponent for cost in self.cost]
        return self._powers[exponent]


@dataclass
class _Store:
    """Memories held, in order of admission; `priority` is frozen at admission, `tokens` are those of all
    memories held, `linked` counts the memories that contain an anchor."""

    kept: list[int] = field(default_factory=list)
    priority: dict[int, float] = field(default_factory=dict)
    tokens: set[str] = field(default_factory=set)
    linked: Counter[str] = field(default_factory=Counter)
    used: int = 0

    def replace(self, evicted: Sequence[int], i: int, priority: float, c: _Candidates) -> None:
        """Admit candidate i in place of `evicted`."""
        for held in evicted:
            self.kept.remove(held)
            self.used -= c.cost[held]
            self.linked.subtract(c.anchors[held])
        if evicted:
            # What only the evicted held is new again.
            self.tokens = set().union(*(c.tokens[held] for held in self.kept))
        self.kept.append(i)
        self.used += c.cost[i]
        self.linked.update(c.anchors[i])
        self.tokens |= c.tokens[i]
        self.priority[i] = priority


def _admit(
    c: _Candidates,
    budget: int,
    score: Callable[[int, _Store], float],
    weakness: Callable[[int, _Store], tuple],
    *,
    floor: float,
    density: Sequence[float],
    holding: Sequence[float],
) -> list[int]:
    """Admission control, one pass over the groups: each proposes its max by score / density, and the
    proposal, of priority score / max(holding, 1), is admitted if `_evictions` makes room for it."""
    store = _Store()
    for group in c.groups:
        proposal = _proposal(group, lambda i: score(i, store), density, c, floor)
        if proposal is None:
            continue
        i, value = proposal
        priority = value / max(holding[i], 1)
        evicted = _evictions(store, budget - c.cost[i], priority, weakness, c)
        if evicted is not None:
            store.replace(evicted, i, priority, c)
    return store.kept


def _evictions(
    store: _Store, limit: int, priority: float, weakness: Callable[[int, _Store], tuple], c: _Candidates
) -> list[int] | None:
    """What to evict so that the store uses at most `limit`: the lowest by `weakness` (the earliest admitted
    of equals), each of a priority strictly below `priority`. None where that does not free enough."""
    if limit < 0:
        return None
    used, evicted = store.used, []
    if used > limit:
        for held in sorted(store.kept, key=lambda i: weakness(i, store)):
            if used <= limit or store.priority[held] >= priority:
                break
            evicted.append(held)
            used -= c.cost[held]
    return evicted if used <= limit else None


@lru_cache(maxsize=1 << 16)
def tokens_of(representation_type: str, text: str | None) -> frozenset[str]:
    """Distinct [a-z0-9_:-]+ runs of "type text" lower-cased, longer than 1, without `STOPWORDS`."""
    found = set(_TOKEN.findall(described(representation_type, text)))
    return frozenset(token for token in found - STOPWORDS if len(token) > 1)


@lru_cache(maxsize=1 << 16)
def salience_of(representation_type: str, text: str | None) -> float:
    """min(1, (salient tokens + [type is tombstone / compound_update / abstention / uncertainty]) / 5)."""
    tokens = tokens_of(representation_type, text)
    salient = sum(token in SALIENT_TERMS or token.startswith("invalid") for token in tokens)
    return min(1.0, (salient + (representation_type in SALIENT_TYPES)) / 5)


@lru_cache(maxsize=1 << 16)
def anchors_of(representation_type: str, text: str | None) -> frozenset[str]:
    """Link anchors: tokens with ':', anchor terms, and any token that starts invalid, scope or update."""
    tokens = tokens_of(representation_type, text)
    return frozenset(t for t in tokens if ":" in t or t in ANCHOR_TERMS or t.startswith(_ANCHOR_PREFIXES))


@lru_cache(maxsize=1 << 16)
def graph_affinity_of(representation_type: str, text: str | None) -> float:
    """min(1, (exact anchor terms + min(2, ':' tokens) + [graph_edge, compound_*, interval_fact]) / 6)."""
    tokens = tokens_of(representation_type, text)
    links = sum(":" in token for token in tokens)
    is_edge = representation_type in ("graph_edge", "interval_fact")
    is_relation = is_edge or representation_type.startswith("compound_")
    return min(1.0, (len(tokens & ANCHOR_TERMS) + min(2, links) + is_relation) / 6)


@lru_cache(maxsize=512)
def _candidates(visible: VisiblePackage) -> _Candidates:
    cells = list(zip(visible.representation_type, visible.text, strict=True))
    start = visible.group_start.tolist()
    return _Candidates(
        kind=[canonical(t) for t in visible.representation_type],
        ids=visible.candidate_ids,
        cost=visible.cost.tolist(),
        tokens=[tokens_of(*cell) for cell in cells],
        anchors=[anchors_of(*cell) for cell in cells],
        salience=[salience_of(*cell) for cell in cells],
        recency=relative_time(visible.time_index).tolist(),
        confidence=[min(max(x, 0.0), 1.0) for x in visible.confidence.tolist()],
        groups=[range(first, last) for first, last in pairwise(start)],
    )


def _prior(priors: Mapping[str, float], kind: str) -> float:
    return priors.get(kind, priors["other"])


def _novelty(tokens: frozenset[str], held: set[str]) -> float:
    """Share of tokens that are not held; 1 if either set is empty."""
    if not tokens or not held:
        return 1.0
    return len(tokens - held) / len(tokens)


def _proposal(
    group: Sequence[int], score: Callable[[int], float], power: Sequence[float], c: _Candidates, floor: float
) -> tuple[int, float] | None:
    """The group's max by (score / cost^p, score, -cost, id) and its score; None where that score <= floor."""
    scored = [(value / power[i], value, -c.cost[i], c.ids[i], i) for i in group for value in (score(i),)]
    _, value, _, _, i = max(scored)
    return (i, value) if value > floor else None


# ---- mem0_extract


@lru_cache(maxsize=512)
def _mem0_packing_order(visible: VisiblePackage) -> list[int]:
    """The proposals by (score / cost^.70, score, recency) descending; no budget enters."""
    c = _candidates(visible)
    power = c.power(0.70)
    before = [
        _prior(MEM0_PRIORS, kind)
        + 0.20 * (kind in MEM0_EXTRACTED)
        + 0.18 * (kind in SALIENT_TYPES)
        + 0.60 * c.salience[i]
        for i, kind in enumerate(c.kind)
    ]
    signature = [frozenset(t for t in tokens if t in SALIENT_TERMS or ":" in t) for tokens in c.tokens]
    held: set[str] = set()
    earlier: list[frozenset[str]] = []
    proposals: list[tuple[int, float]] = []

    def score(i: int) -> float:
        value = before[i] + 0.35 * _novelty(c.tokens[i], held) + 0.15 * c.recency[i] + 0.30 * c.confidence[i]
        return value * _duplicate_penalty(signature[i], earlier)

    for group in c.groups:
        proposal = _proposal(group, score, power, c, floor=0.35)
        if proposal is not None:
            proposals.append(proposal)
            held.update(c.tokens[proposal[0]])
            earlier.append(signature[proposal[0]])
    # sorted() keeps equals in group order, also in reverse.
    proposals.sort(key=lambda p: (p[1] / power[p[0]], p[1], c.recency[p[0]]), reverse=True)
    return [i for i, _ in proposals]


def _duplicate_penalty(signature: frozenset[str], earlier: Sequence[frozenset[str]]) -> float:
    """.45 or .70 where the largest Jaccard with an earlier proposal is >= .80 or >= .55; an empty signature,
    on either side, is no duplicate."""
    if not signature:
        return 1.0
    nearest = max((len(signature & other) / len(signature | other) for other in earlier), default=0.0)
    if nearest >= 0.80:
        return 0.45
    return 0.70 if nearest >= 0.55 else 1.0


# ---- memgpt_tiered


@lru_cache(maxsize=512)
def _memgpt_proposals(visible: VisiblePackage) -> tuple[list[int], list[float]]:
    """The proposals in group order, and every candidate's score at novelty 1; no budget enters."""
    c = _candidates(visible)
    power = c.power(0.35)
    before = [
        _prior(MEMGPT_PRIORS, kind)
        + 0.35 * (kind == "raw" and c.recency[i] >= MEMGPT_RECENT_RAW)
        + 0.18 * (kind in MEMGPT_COMPACT and c.recency[i] < MEMGPT_OLD_COMPACT)
        + 0.55 * c.salience[i]
        for i, kind in enumerate(c.kind)
    ]

    def score_at(i: int, novelty: float) -> float:
        return before[i] + 0.25 * novelty + 0.30 * c.recency[i] + 0.20 * c.confidence[i]

    held: set[str] = set()
    proposals: list[int] = []

    def score(i: int) -> float:
        return score_at(i, _novelty(c.tokens[i], held))

    for group in c.groups:
        proposal = _proposal(group, score, power, c, floor=0.35)
        if proposal is not None:
            proposals.append(proposal[0])
            held.update(c.tokens[proposal[0]])
    return proposals, [score_at(i, 1.0) for i in range(len(visible))]


# ---- amac_admission, amem_graph


@lru_cache(maxsize=512)
def _amac_scores(visible: VisiblePackage) -> list[float]:
    """The part of each candidate's A-MAC score before novelty."""
    c = _candidates(visible)
    return [_prior(AMAC_PRIORS, kind) + 0.62 * c.salience[i] + 0.42 * c.confidence[i] for i, kind in enumerate(c.kind)]


@lru_cache(maxsize=512)
def _amem_scores(visible: VisiblePackage) -> list[float]:
    """The part of each candidate's A-Mem score before link overlap."""
    c = _candidates(visible)
    cells = list(zip(visible.representation_type, visible.text, strict=True))
    return [
        _prior(AMEM_PRIORS, kind)
        + 0.28 * (kind in AMEM_LINKED)
        + 0.16 * (kind in AMEM_STATE)
        + 0.48 * graph_affinity_of(*cell)
        for kind, cell in zip(c.kind, cells, strict=True)
    ]


def _link_overlap(anchors: frozenset[str], linked: Mapping[str, int]) -> float:
    """min(1, .55 * share of anchors seen + .45 * sum of min(count, 3) / (3 * anchors)); 0 with no anchors.
    `linked` counts, per anchor, the held memories that contain it."""
    if not anchors:
        return 0.0
    counts = [linked.get(anchor, 0) for anchor in anchors]
    seen = sum(count > 0 for count in counts) / len(anchors)
    return min(1.0, 0.55 * seen + 0.45 * sum(min(count, 3) for count in counts) / (3 * len(anchors)))
