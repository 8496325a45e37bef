"""MEMAUDIT-Small, the `base` distribution: plain facts, and preferences that are updated once.

The draws from `random.Random(seed)` and their order are the published generator's; changing one changes
every published figure.
"""

from __future__ import annotations

from random import Random

from .draft import Draft, Memory
from .registry import distribution


@distribution("base", ids="synthetic_seed_{seed}")
def base(seed: int, normal_count: int, update_count: int) -> Draft:
    """`normal_count` facts, a group each, then `update_count` preferences, an old and a new group each."""
    draft = Draft(f"synthetic_seed_{seed}", prefix="", joiner="_")
    rng = Random(seed)
    for i in range(normal_count):
        _fact(draft, rng, seed, i)
    for i in range(update_count):
        _preference(draft, rng, seed, i)
    return draft


def _fact(draft: Draft, rng: Random, seed: int, i: int) -> None:
    fact = draft.unit(f"fact:{seed}:{i}", rng.choice([1.0, 1.2, 1.4]))
    context = draft.unit(f"context:{seed}:{i // 2}", 0.35)
    draft.experience(
        f"s{seed}_fact_{i}",
        Memory("raw_span", "raw_span", 5 + rng.randint(0, 1), {fact: 1.0, context: 0.4}, f"raw {fact}"),
        Memory("atomic_fact", "atomic_fact", 2, {fact: 1.0}, f"FACT {fact}"),
        Memory("summary", "summary", 3, {fact: 0.7, context: 0.5}, f"summary {fact}"),
    )


def _preference(draft: Draft, rng: Random, seed: int, i: int) -> None:
    name = f"pref:{seed}:{i}"
    old = draft.unit(f"stale:{name}:old", 0.15, "stale")
    new = draft.unit(f"current:{name}:new", 2.0 + 0.25 * rng.randint(0, 2), "current")
    gone = draft.unit(f"invalid:{name}:old_after_update", 2.0 + 0.25 * rng.randint(0, 2), "invalidation")
    draft.experience(
        f"s{seed}_pref_{i}_old",
        Memory("raw_span", "raw_span", 4, {old: 1.0}, f"raw old preference {i}"),
        Memory("atomic_fact", "atomic_fact", 2, {old: 1.0}, f"FACT old preference {i}"),
        Memory("summary", "summary", 3, {old: 0.75}, f"summary old preference {i}"),
    )
    draft.experience(
        f"s{seed}_pref_{i}_update",
        Memory("raw_span", "raw_span", 6, {new: 1.0, gone: 0.45, old: 0.2}, f"raw correction {i}"),
        Memory("atomic_fact", "atomic_fact", 2, {new: 1.0}, f"FACT current preference {i}"),
        Memory("tombstone", "tombstone", 1, {gone: 1.0}, f"TOMBSTONE old preference {i}"),
        Memory(
            "compound_update",
            "compound_update",
            3,
            {new: 1.0, gone: 1.0},
            f"UPDATE old to current preference {i}",
        ),
        Memory("summary", "summary", 4, {new: 0.75, gone: 0.75, old: 0.1}, f"summary correction {i}"),
    )
