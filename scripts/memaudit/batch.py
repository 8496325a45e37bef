"""Many instances as flat arrays, so that one compiled loop serves a whole shard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .objective import Instance


@dataclass(frozen=True, eq=False)
class Batch:
    """Instances 0..P-1, concatenated; all int64. Instance p owns

    groups `group_at[p]:group_at[p+1]`, candidates `cand_at[p]:cand_at[p+1]`, units `unit_at[p]:unit_at[p+1]`,
    lines of h `line_at[p]:line_at[p+1]`; `scale` and `max_int` have one entry an instance.
    `group_start[g]:group_start[g+1]` are the (global) candidates of group g, `cov_ptr[i]:cov_ptr[i+1]` the
    coverage cells of candidate i; `cov_unit` is local to the instance, 0..units-1.
    """

    group_at: np.ndarray
    cand_at: np.ndarray
    unit_at: np.ndarray
    line_at: np.ndarray
    group_start: np.ndarray
    cost: np.ndarray
    cov_ptr: np.ndarray
    cov_unit: np.ndarray
    cov: np.ndarray
    weight: np.ndarray
    slope: np.ndarray
    intercept: np.ndarray
    scale: np.ndarray
    max_int: np.ndarray

    def __len__(self) -> int:
        return len(self.group_at) - 1

    @cached_property
    def total_cost(self) -> np.ndarray:
        """Cost of all candidates, an entry an instance."""
        return np.diff(np.concatenate([[0], np.cumsum(self.cost)])[self.cand_at])


def batch(instances: Sequence[Instance]) -> Batch:
    """Concatenate instances."""
    if len(instances) == 1:
        return _single(instances[0])
    cells = np.cumsum([0] + [len(i.cov) for i in instances])
    cands = _offsets([len(i.cost) for i in instances])
    return Batch(
        group_at=_offsets([len(i.group_start) - 1 for i in instances]),
        cand_at=cands,
        unit_at=_offsets([len(i.weight) for i in instances]),
        line_at=_offsets([len(i.slope) for i in instances]),
        group_start=_joined_starts([i.group_start for i in instances], cands),
        cost=_cat([i.cost for i in instances]),
        cov_ptr=_joined_starts([i.cov_ptr for i in instances], cells),
        cov_unit=_cat([i.cov_unit for i in instances]),
        cov=_cat([i.cov for i in instances]),
        weight=_cat([i.weight for i in instances]),
        slope=_cat([i.slope for i in instances]),
        intercept=_cat([i.intercept for i in instances]),
        scale=np.array([i.scale for i in instances], dtype=np.int64),
        max_int=np.array([i.max_int for i in instances], dtype=np.int64),
    )


def _single(i: Instance) -> Batch:
    """The batch of one instance, on its own arrays: concatenating them takes longer than a small solve."""
    return Batch(
        group_at=np.array([0, len(i.group_start) - 1]),
        cand_at=np.array([0, len(i.cost)]),
        unit_at=np.array([0, len(i.weight)]),
        line_at=np.array([0, len(i.slope)]),
        group_start=i.group_start,
        cost=i.cost,
        cov_ptr=i.cov_ptr,
        cov_unit=i.cov_unit,
        cov=i.cov,
        weight=i.weight,
        slope=i.slope,
        intercept=i.intercept,
        scale=np.array([i.scale]),
        max_int=np.array([i.max_int]),
    )


def _offsets(sizes: Sequence[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _cat(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int64)


def _joined_starts(starts: Sequence[np.ndarray], offsets: np.ndarray) -> np.ndarray:
    parts = [s[:-1] + o for s, o in zip(starts, offsets, strict=False)]
    return np.concatenate([*parts, offsets[-1:]]).astype(np.int64)
