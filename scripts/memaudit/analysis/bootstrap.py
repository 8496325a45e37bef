"""Means with percentile bootstrap intervals (protocol, "Edge cases").

Definition: Generator(PCG64(seed)), seeded anew for each row of a table, draws for each of `resamples`
resamples n indices with replacement; low and high are the 2.5 and 97.5 percentiles (linear
interpolation) of the resamples' means. Since the seed is the same for each row, rows of equal n share
their indices. Sums run in a fixed order, so the same input gives the same bytes on any number of cores.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numba import njit

from ..errors import InputError

PERCENTILES = (2.5, 97.5)
# Indices drawn at a time (64 MB at most while they are drawn), and the most that are kept for reuse.
_CHUNK = 8_000_000
_KEPT = 8_000_000


def mean(values: np.ndarray) -> float:
    """Arithmetic mean, independent of the order of `values`; equal values have exactly that mean.

    Raises InputError on no values or a value that is not finite.
    """
    values = _checked(values)
    low = values.min()
    return float(low + math.fsum((values - low).tolist()) / len(values))


def mean_interval(
    values: Sequence[float] | np.ndarray,
    resamples: int = 1000,
    seed: int = 0,
    clusters: Sequence | np.ndarray | None = None,
) -> tuple[float, float, float]:
    """(mean, low, high): the mean of `values` and its 95 % percentile bootstrap interval.

    `clusters` (one label a value): whole clusters are resampled, as many as there are, in the order of
    their sorted labels; a resample's mean is that of all values of the drawn clusters. Raises InputError
    on no values, a value that is not finite, or resamples below 1.
    """
    values = _checked(values)
    if resamples < 1:
        raise InputError(f"bootstrap: resamples is {resamples}; it must be at least 1")
    # Shifted by the smallest value, so that equal values have an interval of exactly zero width.
    low = values.min()
    sums, sizes = values - low, np.ones(len(values))
    if clusters is not None:
        sums, sizes = _by_cluster(sums, clusters)
    means = low + _resampled_means(sums, sizes, resamples, seed)
    return mean(values), *percentile_interval(means)


def percentile_interval(values: np.ndarray) -> tuple[float, float]:
    """The 2.5 and 97.5 percentiles (linear interpolation) of resampled statistics."""
    low, high = np.percentile(values, PERCENTILES)
    return float(low), float(high)


def _checked(values) -> np.ndarray:
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise InputError("bootstrap: a mean needs a flat list of at least one value, all finite")
    return values


def _by_cluster(values: np.ndarray, clusters) -> tuple[np.ndarray, np.ndarray]:
    """Sum and number of the values of each cluster, clusters in sorted order."""
    labels, code = np.unique(np.asarray(clusters), return_inverse=True)
    if len(code) != len(values):
        raise InputError(f"bootstrap: {len(code)} cluster labels for {len(values)} values; give one a value")
    count = len(labels)
    return np.bincount(code, values, count), np.bincount(code, minlength=count).astype(np.float64)


def _resampled_means(sums: np.ndarray, sizes: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    n = len(sums)
    draws = _kept_indices if n * resamples <= _KEPT else resample_indices
    return np.concatenate([_chunk_means(sums, sizes, chunk) for chunk in draws(n, resamples, seed)])


def resample_indices(n: int, resamples: int, seed: int) -> Iterator[np.ndarray]:
    """Drawn indices (resamples, n) in chunks of rows: the generator gives the same ones in any chunking."""
    generator = np.random.Generator(np.random.PCG64(seed))
    rows = max(1, _CHUNK // n)
    for start in range(0, resamples, rows):
        yield generator.integers(0, n, size=(min(rows, resamples - start), n)).astype(np.int32)


@lru_cache(maxsize=4)
def _kept_indices(n: int, resamples: int, seed: int) -> tuple[np.ndarray, ...]:
    return tuple(resample_indices(n, resamples, seed))


@njit(cache=True)
def _chunk_means(sums, sizes, index):
    """Mean of each row of `index` (rows, n): drawn sums over drawn sizes."""
    out = np.empty(index.shape[0])
    for row in range(index.shape[0]):
        total = 0.0
        size = 0.0
        for j in index[row]:
            total += sums[j]
            size += sizes[j]
        out[row] = total / size
    return out
