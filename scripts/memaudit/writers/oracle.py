"""Writers that see the coverage: they calibrate the benchmark and cannot be deployed.

All three keep at most one candidate a group and never pass the budget. `marg` is the exact marginal of F at
the store so far, `density` = marg / cost; a candidate is admissible when it fits and its marg is positive.
Marginals and values are compared as integers, so equal values tie exactly; a density is one division,
marg_int / (scale * cost), so that equal densities tie too (0.6 / 3 and 0.2 / 1 as floats would not).
Ids compare as strings, the larger wins.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, njit, void

from ..objective import Instance
from ..package import Package
from ..solve.kernels import marginal_int
from .registry import rule

# A marginal counts as positive above this; a density reaches a threshold within it.
EPSILON = 1e-12

_ints = int64[::1]
_COVERAGE = (_ints, _ints, _ints)  # cov_ptr, cov_unit, cov
_INSTANCE = (_ints,) * 8  # Instance.arrays
# Instance.arrays, then rank of each candidate's id, scale, budget -> positions.
_KERNEL = _ints(*_INSTANCE, _ints, float64, int64)


@rule("gvt", sees="coverage")
def gvt(package: Package, instance: Instance, budget: int) -> np.ndarray:
    """Grouped value-threshold: the best of one pass over the groups per threshold.

    Thresholds are the density, alone, of every candidate with cost <= budget, and 0. A pass inserts, group by
    group, the admissible candidate of density >= threshold that is max by (marg, -cost, id). Best: largest
    value, then lowest cost, then highest threshold.

    Guarantee: F >= (1 - eps) OPT / 4 when every cost <= budget / 2 and a threshold lies in
    [(1 - eps) OPT / 2 budget, OPT / 2 budget].
    """
    return _run(_gvt, package, instance, budget)


# Ties across groups go by id, so packages of equal content may differ in what greedy keeps.
@rule("greedy", sees="coverage")
def greedy(package: Package, instance: Instance, budget: int) -> np.ndarray:
    """Repeatedly, over all unused groups, insert the admissible max by (density, marg, -cost, id)."""
    return _run(_greedy, package, instance, budget)


@rule("density_only", sees="coverage")
def density_only(package: Package, instance: Instance, budget: int) -> np.ndarray:
    """Negative control: one pass over the groups in order, in each the admissible max by (density, marg,
    -cost, id). A cheap dense candidate can block its group's valuable one, so no ratio is guaranteed."""
    return _run(_density_only, package, instance, budget)


def _run(kernel, package: Package, instance: Instance, budget: int) -> np.ndarray:
    return kernel(*instance.arrays, _id_rank(package.visible.candidate_ids), float(instance.scale), budget)


def _id_rank(ids: tuple[str, ...]) -> np.ndarray:
    """Rank of each id among the ids in string order, int64."""
    rank = np.empty(len(ids), dtype=np.int64)
    rank[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    return rank


@njit(void(int64, _ints, *_COVERAGE), cache=True)
def _insert(i, z, cov_ptr, cov_unit, cov):
    """Add candidate i's coverage to the summed coverage z (units)."""
    for cell in range(cov_ptr[i], cov_ptr[i + 1]):
        z[cov_unit[cell]] += cov[cell]


@njit(boolean(int64, int64, int64, int64, int64, int64), cache=True)
def _larger(marg, cost, rank, best_marg, best_cost, best_rank):
    """(marg, -cost, rank) > (best_marg, -best_cost, best_rank)."""
    if marg != best_marg:
        return marg > best_marg
    if cost != best_cost:
        return cost < best_cost
    return rank > best_rank


@njit(_KERNEL, cache=True)
def _gvt(group_start, cost, cov_ptr, cov_unit, cov, weight, slope, intercept, rank, scale, budget):
    n_groups = len(group_start) - 1
    z = np.zeros(len(weight), dtype=np.int64)
    thresholds = np.zeros(len(cost) + 1)  # entry 0 stays the threshold 0
    n_thresholds = 1
    for i in range(len(cost)):
        if cost[i] <= budget:
            marg = marginal_int(i, cov_ptr, cov_unit, cov, weight, slope, intercept, z)
            thresholds[n_thresholds] = marg / (scale * cost[i])
            n_thresholds += 1
    thresholds = np.sort(thresholds[:n_thresholds])
    chosen = np.empty(n_groups, dtype=np.int64)
    best = np.empty(n_groups, dtype=np.int64)
    best_size, best_value, best_cost = 0, -1, 0
    for t in range(n_thresholds - 1, -1, -1):
        if t < n_thresholds - 1 and thresholds[t] == thresholds[t + 1]:
            continue
        z[:] = 0
        size, value, used = 0, 0, 0
        for g in range(n_groups):
            pick, pick_marg = -1, 0
            for i in range(group_start[g], group_start[g + 1]):
                if used + cost[i] > budget:
                    continue
                marg = marginal_int(i, cov_ptr, cov_unit, cov, weight, slope, intercept, z)
                if marg / scale <= EPSILON or marg / (scale * cost[i]) + EPSILON < thresholds[t]:
                    continue
                if pick < 0 or _larger(marg, cost[i], rank[i], pick_marg, cost[pick], rank[pick]):
                    pick, pick_marg = i, marg
            if pick >= 0:
                _insert(pick, z, cov_ptr, cov_unit, cov)
                chosen[size] = pick
                size += 1
                value += pick_marg
                used += cost[pick]
        if value > best_value or (value == best_value and used < best_cost):
            best[:size] = chosen[:size]
            best_size, best_value, best_cost = size, value, used
    return best[:best_size]


@njit(int64(int64, int64, int64, boolean[::1], _ints, *_INSTANCE, float64), cache=True)
def _densest(first, last, room, is_open, z, cost, cov_ptr, cov_unit, cov, weight, slope, intercept, rank, scale):
    """Of the open candidates first..last-1 that cost at most `room` and have a positive marginal at z, the
    max by (density, marg, -cost, id); -1 where there is none."""
    pick, pick_marg, pick_density = -1, 0, 0.0
    for i in range(first, last):
        if not is_open[i] or cost[i] > room:
            continue
        marg = marginal_int(i, cov_ptr, cov_unit, cov, weight, slope, intercept, z)
        if marg / scale <= EPSILON:
            continue
        density = marg / (scale * cost[i])
        if (
            pick < 0
            or density > pick_density
            or (density == pick_density and _larger(marg, cost[i], rank[i], pick_marg, cost[pick], rank[pick]))
        ):
            pick, pick_marg, pick_density = i, marg, density
    return pick


@njit(_KERNEL, cache=True)
def _density_only(group_start, cost, cov_ptr, cov_unit, cov, weight, slope, intercept, rank, scale, budget):
    z = np.zeros(len(weight), dtype=np.int64)
    is_open = np.ones(len(cost), dtype=np.bool_)
    chosen = np.empty(len(group_start) - 1, dtype=np.int64)
    size, used = 0, 0
    for g in range(len(group_start) - 1):
        first, last = group_start[g], group_start[g + 1]
        pick = _densest(
            first, last, budget - used, is_open, z, cost, cov_ptr, cov_unit, cov, weight, slope, intercept, rank, scale
        )
        if pick >= 0:
            _insert(pick, z, cov_ptr, cov_unit, cov)
            chosen[size] = pick
            size += 1
            used += cost[pick]
    return chosen[:size]


@njit(_KERNEL, cache=True)
def _greedy(group_start, cost, cov_ptr, cov_unit, cov, weight, slope, intercept, rank, scale, budget):
    z = np.zeros(len(weight), dtype=np.int64)
    is_open = np.ones(len(cost), dtype=np.bool_)
    chosen = np.empty(len(group_start) - 1, dtype=np.int64)
    size, used = 0, 0
    while True:
        pick = _densest(
            0, len(cost), budget - used, is_open, z, cost, cov_ptr, cov_unit, cov, weight, slope, intercept, rank, scale
        )
        if pick < 0:
            return chosen[:size]
        _insert(pick, z, cov_ptr, cov_unit, cov)
        g = np.searchsorted(group_start, pick, side="right") - 1
        is_open[group_start[g] : group_start[g + 1]] = False
        chosen[size] = pick
        size += 1
        used += cost[pick]
