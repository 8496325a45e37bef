"""Writers that need no coverage: they keep raw spans, the newest first or in a fixed pseudo-random order."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from ..package import VisiblePackage
from .registry import rule

RAW_TYPES = ("raw", "raw_span")

_HASH_BASE = 131
HASH_MODULUS = 1_000_000_007


@lru_cache(maxsize=1 << 16)
def stable_hash(text: str) -> int:
    """t = (t * 131 + byte) mod 1,000,000,007 over the UTF-8 bytes of `text`, from t = 0."""
    t = 0
    for byte in text.encode("utf-8"):
        t = (t * _HASH_BASE + byte) % HASH_MODULUS
    return t


@rule("recency_raw", sees="metadata")
def recency_raw(visible: VisiblePackage, budget: int) -> list[int]:
    """Raw spans by (-time, cost, id), each kept while it fits."""
    return _keep_while_fits(visible, _newest_raw(visible), budget)


@rule("reservoir_raw", sees="metadata")
def reservoir_raw(visible: VisiblePackage, budget: int) -> list[int]:
    """The list of `recency_raw` by (stable hash of the id, cost), each kept while it fits."""
    ids, cost = visible.candidate_ids, visible.cost
    order = sorted(_newest_raw(visible), key=lambda i: (stable_hash(ids[i]), cost[i]))
    return _keep_while_fits(visible, order, budget)


def _newest_raw(visible: VisiblePackage) -> list[int]:
    raw = [i for i, kind in enumerate(visible.representation_type) if kind in RAW_TYPES]
    return sorted(raw, key=lambda i: (-visible.time_index[i], visible.cost[i], visible.candidate_ids[i]))


def _keep_while_fits(visible: VisiblePackage, order: Iterable[int], budget: int) -> list[int]:
    """Go through `order`; skip what does not fit or whose group already holds a candidate."""
    kept: list[int] = []
    used_groups: set[int] = set()
    room = budget
    for i in order:
        group = int(visible.group_of[i])
        if visible.cost[i] <= room and group not in used_groups:
            kept.append(i)
            used_groups.add(group)
            room -= int(visible.cost[i])
    return kept
