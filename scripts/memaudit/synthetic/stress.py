"""The published stress distributions, each a small package family that one writing strategy fails on.

Package id, and prefix of every id: {name}_s{seed}. Randomness: `Random((seed + 1) * 1000003 + salt)`, drawn
in the order written here; changing a draw changes published figures. `update_chain` and `temporal_interval`
draw nothing, so their packages differ in ids only. Counts are clamped: the published families are small.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from pydantic import BaseModel

from .draft import Draft, Memory
from .registry import STRESS_IDS, distribution


def stress(name: str, salt: int, *, texts_ours: bool = True, parameters: type[BaseModel] | None = None):
    """Register `fill(draft, rng, normal_count, update_count[, parameters])` as distribution `name`."""

    def register(fill: Callable[..., None]) -> Callable[..., None]:
        def make(seed: int, normal_count: int, update_count: int, *extra: BaseModel) -> Draft:
            package_id = STRESS_IDS.format(name=name, seed=seed)
            draft = Draft(package_id, prefix=f"{package_id}:", joiner=":")
            fill(draft, Random((seed + 1) * 1_000_003 + salt), normal_count, update_count, *extra)
            return draft

        distribution(name, parameters=parameters, texts_ours=texts_ours)(make)
        return fill

    return register


def clamp(x: int, low: int, high: int) -> int:
    return max(low, min(high, x))


# ---- update_chain: a value corrected several times; only the last version is current.


def chain_length(update_count: int) -> int:
    """Updates in a published chain."""
    return clamp(update_count + 1, 2, 4)


def fill_chain(draft: Draft, length: int) -> None:
    """A chain of `length` >= 1 updates after version 0."""
    first = draft.unit("version:0", 0.1, "stale")
    draft.experience(
        "version_0",
        Memory("raw_old", "raw_span", 4, {first: 1.0}, "raw original preference before any correction"),
        Memory("fact_old", "atomic_fact", 2, {first: 1.0}, "FACT original preference before any correction"),
        Memory("summary_old", "summary", 3, {first: 0.7}, "summary of original preference"),
    )
    for k in range(1, length + 1):
        # The published generator gives a version 0.25 at its update, and 0.1 once superseded: 0.1 stays.
        last = k == length
        old, new = f"version:{k - 1}", f"version:{k}"
        draft.unit(new, 2.3 if last else 0.1, "current" if last else "stale")
        gone = draft.unit(f"invalidates:version:{k - 1}", 1.85, "invalidation")
        draft.experience(
            f"update_{k}",
            Memory(
                "raw_correction",
                "raw_span",
                5,
                {new: 1.0, gone: 0.35, old: 0.15},
                f"raw correction from version {k - 1} to {k}",
            ),
            Memory("current_only", "atomic_fact", 2, {new: 1.0}, f"FACT current version {k}"),
            Memory("invalidate_only", "tombstone", 1, {gone: 1.0}, f"TOMBSTONE version {k - 1}"),
            Memory("compound", "compound_update", 3, {new: 0.95, gone: 1.0}, f"UPDATE version {k - 1} to {k}"),
            Memory("summary_update", "summary", 3, {new: 0.65, gone: 0.65}, f"summary correction to version {k}"),
        )


@stress("update_chain", 0, texts_ours=False)
def update_chain(draft: Draft, rng: Random, normal_count: int, update_count: int) -> None:
    fill_chain(draft, chain_length(update_count))


# ---- temporal_interval: intervals with endpoints, some of them closed later.


def interval_counts(normal_count: int, update_count: int) -> tuple[int, int]:
    """Intervals and closures of a published package."""
    return clamp(normal_count + update_count, 3, 5), clamp(update_count, 1, 3)


def fill_intervals(draft: Draft, intervals: int, closures: int) -> None:
    """`intervals` intervals, then the closure of the first `closures` of them."""
    for i in range(intervals):
        _interval(draft, i)
    for i in range(closures):
        _closure(draft, i)


def _interval(draft: Draft, i: int) -> None:
    label = draft.unit(f"interval:{i}:label", 0.9, "current", kind="label")
    start = draft.unit(f"interval:{i}:start", 0.75, "current", kind="start")
    end = draft.unit(f"interval:{i}:end", 0.85, "current", kind="end")
    duration = draft.unit(f"interval:{i}:duration", 0.55, kind="duration")
    draft.experience(
        f"interval_{i}",
        Memory("label_fact", "atomic_fact", 2, {label: 1.0}, f"FACT interval {i} happened"),
        Memory(
            "endpoint_fact",
            "interval_fact",
            3,
            {start: 1.0, end: 1.0, duration: 0.7},
            f"FACT interval {i} start and end",
        ),
        Memory(
            "coarse_summary",
            "summary",
            2,
            {label: 0.85, start: 0.35, end: 0.35},
            f"coarse temporal summary {i}",
        ),
        Memory(
            "raw_interval",
            "raw_span",
            5,
            {label: 1.0, start: 1.0, end: 1.0, duration: 1.0},
            f"raw interval evidence {i}",
        ),
    )


def _closure(draft: Draft, i: int) -> None:
    old = draft.unit(f"open_interval:{i}:old", 0.1, "stale")
    closed = draft.unit(f"closed_interval:{i}:new_end", 1.4, "current")
    gone = draft.unit(f"invalid_open_interval:{i}", 1.6, "invalidation")
    draft.experience(
        f"closure_{i}",
        Memory(
            "raw_closure",
            "raw_span",
            5,
            {closed: 1.0, gone: 0.45, old: 0.15},
            f"raw closure for interval {i}",
        ),
        Memory("closed_fact", "atomic_fact", 2, {closed: 1.0}, f"FACT interval {i} closed"),
        Memory("invalidate_open", "tombstone", 1, {gone: 1.0}, f"TOMBSTONE open interval {i}"),
        Memory(
            "compound_closure",
            "compound_update",
            3,
            {closed: 1.0, gone: 1.0},
            f"UPDATE open interval {i} to closed",
        ),
        Memory("closure_summary", "summary", 3, {closed: 0.7, gone: 0.7}, f"summary closure for interval {i}"),
    )


@stress("temporal_interval", 0, texts_ours=False)
def temporal_interval(draft: Draft, rng: Random, normal_count: int, update_count: int) -> None:
    fill_intervals(draft, *interval_counts(normal_count, update_count))


# ---- density_trap: cheap memories that all cover the same lure.


@stress("density_trap", 11)
def density_trap(draft: Draft, rng: Random, normal_count: int, update_count: int) -> None:
    lure = draft.unit("shared_lure", 2.2)
    for i in range(clamp(normal_count + update_count, 4, 6)):
        specific = draft.unit(f"specific:{i}", 1.45 + 0.15 * rng.randrange(3))
        context = draft.unit(f"context:{i // 2}", 0.3)
        draft.experience(
            f"memory_{i}",
            Memory(
                "cheap_lure",
                "atomic_fact",
                1,
                {lure: 0.55, specific: 0.05},
                f"FACT shared topic of memory {i}",
                0.82,
            ),
            Memory("specific_fact", "atomic_fact", 2, {specific: 1.0}, f"FACT specific detail {i}"),
            Memory(
                "context_summary",
                "summary",
                3,
                {specific: 0.7, lure: 0.25, context: 0.35},
                f"summary of memory {i} in context",
            ),
            Memory("raw_detail", "raw_span", 4, {specific: 1.0, context: 0.6, lure: 0.15}, f"raw memory {i}"),
        )


# ---- scope_shift: preferences that hold in one scope only.

SCOPES = ("home", "work", "travel", "medical", "finance")


@stress("scope_shift", 23)
def scope_shift(draft: Draft, rng: Random, normal_count: int, update_count: int) -> None:
    review: dict[str, float] = {}
    for scope in SCOPES[: clamp(normal_count + 1, 3, 5)]:
        pref = draft.unit(f"pref:{scope}", 1.6 + 0.2 * rng.randrange(3), "current")
        context = draft.unit(f"context:{scope}", 0.55)
        generic = draft.unit("pref:generic", 0.35)
        review |= {pref: 0.42, context: 0.35}
        draft.experience(
            f"scope_{scope}",
            Memory("scoped_fact", "atomic_fact", 2, {pref: 1.0}, f"FACT preference at {scope}"),
            Memory(
                "generic_summary",
                "summary",
                2,
                {generic: 0.8, pref: 0.35},
                "summary of general preference",
                0.7,
            ),
            Memory(
                "scoped_summary",
                "summary",
                3,
                {pref: 0.75, context: 0.8},
                f"summary of preference in scope {scope}",
            ),
            Memory(
                "raw_scope",
                "raw_span",
                5,
                {pref: 1.0, context: 1.0, generic: 0.2},
                f"raw preference for {scope}",
            ),
        )
    draft.experience(
        "cross_scope_review",
        Memory("broad_review", "summary", 4, review, "summary of preferences across all scopes"),
    )


# ---- summary_tradeoff: summaries that are cheap and lossy against facts that are whole.


@stress("summary_tradeoff", 37)
def summary_tradeoff(draft: Draft, rng: Random, normal_count: int, update_count: int) -> None:
    for i in range(clamp(normal_count + update_count, 3, 5)):
        first = draft.unit(f"primary:{i}", 1.35 + 0.15 * rng.randrange(3))
        second = draft.unit(f"secondary:{i}", 1.0 + 0.1 * rng.randrange(2))
        context = draft.unit(f"context:{i}", 0.35)
        draft.experience(
            f"episode_{i}",
            Memory("primary_fact", "atomic_fact", 2, {first: 1.0}, f"FACT primary of episode {i}"),
            Memory("secondary_fact", "atomic_fact", 2, {second: 1.0}, f"FACT secondary of episode {i}"),
            Memory(
                "compressed_summary",
                "summary",
                2,
                {first: 0.45, second: 0.45, context: 0.25},
                f"compressed summary of episode {i}",
            ),
            Memory(
                "balanced_summary",
                "summary",
                3,
                {first: 0.72, second: 0.72, context: 0.45},
                f"balanced summary of episode {i}",
            ),
            Memory("raw_episode", "raw_span", 5, {first: 1.0, second: 1.0, context: 0.85}, f"raw episode {i}"),
        )


# ---- redundancy_heavy: every memory repeats one core.


@stress("redundancy_heavy", 41)
def redundancy_heavy(draft: Draft, rng: Random, normal_count: int, update_count: int) -> None:
    core = draft.unit("core", 2.4)
    for i in range(clamp(normal_count + update_count, 4, 6)):
        tail = draft.unit(f"tail:{i}", 1.0 + 0.15 * rng.randrange(3))
        local = draft.unit(f"local:{i // 2}", 0.3)
        draft.experience(
            f"redundant_{i}",
            Memory("core_fact", "atomic_fact", 2, {core: 0.85}, "FACT common core"),
            Memory("tail_fact", "atomic_fact", 2, {tail: 1.0}, f"FACT tail detail {i}"),
            Memory(
                "core_tail_summary",
                "summary",
                3,
                {core: 0.6, tail: 0.8, local: 0.25},
                f"summary of common core with tail {i}",
            ),
            Memory(
                "raw_redundant",
                "raw_span",
                4,
                {core: 1.0, tail: 1.0, local: 0.4},
                f"raw core and tail evidence {i}",
            ),
        )


# ---- abstention_hard: questions that should be left open, between questions that have an answer.


@stress("abstention_hard", 53)
def abstention_hard(draft: Draft, rng: Random, normal_count: int, update_count: int) -> None:
    for i in range(clamp(normal_count + update_count, 3, 5)):
        question = _open_question if i % 2 == 0 else _answered_question
        question(draft, rng, i)


def _open_question(draft: Draft, rng: Random, i: int) -> None:
    abstain = draft.unit(f"abstain:{i}", 2.0 + 0.15 * rng.randrange(3), "current")
    conflict = draft.unit(f"conflict:{i}", 0.9, "current")
    unsupported = draft.unit(f"unsupported_answer:{i}", 0.05, "stale")
    draft.experience(
        f"question_{i}",
        Memory("overconfident_fact", "atomic_fact", 2, {unsupported: 1.0}, f"FACT doubtful answer {i}", 0.42),
        Memory("abstain_marker", "abstention", 1, {abstain: 1.0}, f"ABSTAIN on question {i}"),
        Memory(
            "conflict_marker",
            "uncertainty",
            2,
            {abstain: 0.8, conflict: 1.0},
            f"CONFLICT of sources on question {i}",
        ),
        Memory(
            "raw_conflict",
            "raw_span",
            4,
            {abstain: 0.9, conflict: 1.0, unsupported: 0.1},
            f"raw conflicting evidence {i}",
        ),
        Memory("ambiguous_summary", "summary", 3, {abstain: 0.65, conflict: 0.7}, f"ambiguous summary {i}"),
    )


def _answered_question(draft: Draft, rng: Random, i: int) -> None:
    answer = draft.unit(f"answer:{i}", 1.75 + 0.15 * rng.randrange(2), "current")
    evidence = draft.unit(f"evidence:{i}", 0.55)
    unneeded = draft.unit(f"unneeded_abstain:{i}", 0.2)
    draft.experience(
        f"question_{i}",
        Memory("answer_fact", "atomic_fact", 2, {answer: 1.0}, f"FACT answer {i}"),
        Memory("unneeded_abstain", "abstention", 1, {unneeded: 1.0}, f"ABSTAIN on question {i}", 0.5),
        Memory("evidence_summary", "summary", 3, {answer: 0.75, evidence: 0.8}, f"summary of evidence {i}"),
        Memory("raw_answer", "raw_span", 4, {answer: 1.0, evidence: 1.0}, f"raw answer evidence {i}"),
    )


# ---- density_trap_v2: a cheap hint per query against whole evidence.

ASPECTS = ("intent", "constraint", "outcome", "exception")
TOPICS = ("meal", "hotel", "flight", "calendar", "budget", "client")


@stress("density_trap_v2", 101)
def density_trap_v2(draft: Draft, rng: Random, normal_count: int, update_count: int) -> None:
    topics = list(TOPICS)
    rng.shuffle(topics)
    aspects = ASPECTS[: clamp(update_count + 1, 2, 4)]
    for i in range(clamp(normal_count + 1, 2, 4)):
        _future_query(draft, i, aspects, topics[i])


def _future_query(draft: Draft, i: int, aspects: tuple[str, ...], topic: str) -> None:
    m = len(aspects)
    needed = [draft.unit(f"q{i}:{a}", 1.05 - 0.05 * j, "current", kind=a) for j, a in enumerate(aspects)]
    bridge = draft.unit(f"q{i}:compound_bridge", 0.65, kind="compound_bridge")
    source = draft.unit(f"q{i}:source_detail", 0.45, kind="source_detail")
    whole = dict.fromkeys(needed, 1.0)
    draft.experience(
        f"future_query_{i}",
        Memory("cheap_hint", "atomic_fact", 1, {needed[0]: 1.0, needed[1]: 0.12}, f"FACT {topic} hint", 0.74),
        Memory("complete_summary", "summary", max(3, m), whole, f"summary of {topic} with {', '.join(aspects)}"),
        Memory(
            "compound_case",
            "compound_evidence",
            max(4, m + 1),
            whole | {bridge: 1.0},
            f"CASE {topic} joined evidence",
        ),
        Memory(
            "raw_complete",
            "raw_span",
            max(5, m + 2),
            whole | {bridge: 1.0, source: 1.0},
            f"raw {topic} conversation",
        ),
    )


# ---- scope_shift_v2: a general preference, exceptions to it, and a scoped correction.

SUBJECTS = ("lodging", "meals", "seating", "transport")


@stress("scope_shift_v2", 211)
def scope_shift_v2(draft: Draft, rng: Random, normal_count: int, update_count: int) -> None:
    subject = SUBJECTS[rng.randrange(4)]

    def unit(name: str, weight: float, role: str = "") -> str:
        return draft.unit(f"{subject}:{name}", weight, role, kind=name.split(":")[0])

    general = unit("pref:general", 1.1)
    travel = unit("pref:travel_only", 1.2, "current")
    conference = unit("pref:conference_exception", 1.5, "current")
    stale = unit("stale:historical", 0.2, "stale")
    current = unit("current:conference_correction", 2.0, "current")
    gone = unit("invalid:historical_after_correction", 3.0, "invalidation")
    in_travel = unit("scope:travel", 0.6)
    in_conference = unit("scope:conference", 0.8)
    in_history = unit("scope:historical", 0.3)

    draft.experience(
        "general_preference",
        Memory("broad_fact", "atomic_fact", 1, {general: 1.0}, f"FACT {subject} preference"),
        Memory(
            "scoped_general_summary",
            "summary",
            3,
            {general: 1.0, in_travel: 0.35, in_conference: 0.35},
            f"summary of {subject} preference with its scopes",
        ),
    )
    draft.experience(
        "travel_only_preference",
        Memory("travel_hint", "atomic_fact", 1, {travel: 0.88}, f"FACT {subject} when travelling", 0.76),
        Memory(
            "travel_scoped_fact",
            "summary",
            2,
            {travel: 1.0, in_travel: 1.0},
            f"summary {subject} on travel only",
        ),
    )
    draft.experience(
        "conference_exception",
        Memory("conference_hint", "atomic_fact", 1, {conference: 0.85}, f"FACT {subject} at conferences", 0.72),
        Memory(
            "conference_scoped_exception",
            "summary",
            3,
            {conference: 1.0, in_conference: 1.0},
            f"summary {subject} exception for conferences only",
        ),
    )
    draft.experience(
        "historical_preference",
        Memory(
            "historical_broad_summary",
            "summary",
            1,
            {general: 0.55, stale: 0.5, in_history: 0.25},
            f"summary of earlier {subject} preference",
            0.68,
        ),
        Memory(
            "historical_raw",
            "raw_span",
            3,
            {stale: 1.0, in_history: 1.0},
            f"raw earlier {subject} preference",
        ),
    )
    draft.experience(
        "current_scoped_correction",
        Memory("current_fact_only", "atomic_fact", 2, {current: 1.0}, f"FACT current {subject} at conferences"),
        Memory("invalidate_historical", "tombstone", 1, {gone: 1.0}, f"TOMBSTONE earlier {subject} preference"),
        Memory(
            "compound_scoped_update",
            "compound_update",
            3,
            {current: 1.0, gone: 1.0, in_conference: 1.0},
            f"UPDATE earlier to current {subject} at conferences",
        ),
        Memory(
            "ambiguous_current_summary",
            "summary",
            3,
            {current: 0.72, in_conference: 0.7},
            f"summary of {subject} correction",
        ),
    )
    for j in range(max(0, clamp(normal_count + update_count, 3, 5) - 4)):
        routine = unit(f"context:routine_{j}", 0.25)
        draft.experience(
            f"routine_context_{j}",
            Memory(
                "context_note",
                "summary",
                2,
                {routine: 1.0, general: 0.2},
                f"summary of {subject} routine {j}",
            ),
        )
