"""Exact maximisation of F under a budget: depth-first branch and bound in compiled integer arithmetic.

A selection is the ascending list of its candidate positions. The search extends a list by a later
candidate, earliest first, and looks at a list itself after all its extensions, so lists come up in the
protocol's tie-breaking order: a chosen candidate before a skipped group, an earlier candidate before a
later one. Among equal values the cheaper wins because the search maximises

    value_int * (B + 1) - cost

(an integer whose order is "value first, then lower cost"), and among equal costs the first found stays.

Bound of a node: F is submodular, so the gain of any extension is at most the sum of its candidates'
present marginals; the best such sum under the remaining budget, one candidate a group, is bounded by the
linear relaxation of the multiple-choice knapsack (upper hull of each group, increments by slope). All of
it in int64, nothing is rounded: `InputError` where numbers would not fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import int64, njit, types

from ..batch import Batch, batch
from ..errors import InputError
from ..objective import INT_LIMIT, Instance
from .kernels import INNER, marginal_int

OPTIMAL, LIMIT = "optimal", "limit"
DEFAULT_NODE_LIMIT = 20_000_000

INCREMENT_CELLS = 1 << 18  # what frames keep of them at most: 6 MiB
_CROSSWISE = 2**32  # times a cost below 2^31 fits

_i1 = int64[::1]


@njit(types.boolean(int64, int64, int64, int64), cache=True, **INNER)
def _steeper(v1, c1, v2, c2):
    """v1 / c1 > v2 / c2 for v >= 0 and 0 < c < 2^31, exactly: crosswise where the products fit, else quotients first,
    then remainders (each below c)."""
    if v1 < _CROSSWISE and v2 < _CROSSWISE:
        return v1 * c2 > v2 * c1
    q1, q2 = v1 // c1, v2 // c2
    if q1 != q2:
        return q1 > q2
    return (v1 - q1 * c1) * c2 > (v2 - q2 * c2) * c1


@njit(types.void(_i1, _i1, _i1, int64), cache=True, **INNER)
def _sort_by_slope(dv, dc, group, n):
    """Shell sort of increments (dv, dc, group) by dv / dc, steepest first."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            v, c, g = dv[i], dc[i], group[i]
            j = i
            while j >= gap and _steeper(v, c, dv[j - gap], dc[j - gap]):
                dv[j], dc[j], group[j] = dv[j - gap], dc[j - gap], group[j - gap]
                j -= gap
            dv[j], dc[j], group[j] = v, c, g
        gap //= 3


@njit(
    int64(int64, int64, int64, int64, int64, int64, _i1, _i1, _i1, _i1, _i1, _i1, _i1, _i1, _i1, _i1, _i1, _i1),
    cache=True,
    **INNER,
)
def _increments(
    first, g, in_group, k, rem, m, group_start, cost, cov_ptr, cov_unit, cov, weight, slope, intercept, z, dv, dc, group
):
    """Fill (dv, dc, group) with what candidates first, first+1, ... can add under budget `rem`, steepest first: for
    k = 1 the increments of each group's concave hull. Returns how many.

    `g`: group of `first`; `in_group`: how many of that group are chosen already.
    """
    n = 0
    while g < len(group_start) - 1:
        if k == 1:
            base = n  # hull of this group: increments base..n-1, slopes falling
            v_top, c_top = 0, 0
            for i in range(first, group_start[g + 1]):
                c = cost[i]
                if c > rem:
                    break
                v = marginal_int(i, cov_ptr, cov_unit, cov, weight, slope, intercept, z) * m - c
                if v <= v_top:
                    continue
                while n > base and (c == c_top or not _steeper(dv[n - 1], dc[n - 1], v - v_top, c - c_top)):
                    n -= 1
                    v_top -= dv[n]
                    c_top -= dc[n]
                dv[n], dc[n], group[n] = v - v_top, c - c_top, g
                v_top, c_top = v, c
                n += 1
        elif in_group < k:
            for i in range(first, group_start[g + 1]):
                if cost[i] > rem:
                    break
                v = marginal_int(i, cov_ptr, cov_unit, cov, weight, slope, intercept, z) * m - cost[i]
                if v > 0:
                    dv[n], dc[n], group[n] = v, cost[i], g
                    n += 1
        in_group = 0
        g += 1
        first = group_start[g]
    _sort_by_slope(dv, dc, group, n)
    return n


@njit(int64(int64, int64, _i1, _i1, _i1, int64), cache=True, **INNER)
def _bound(g, rem, dv, dc, group, n):
    """Upper bound on what the n increments of groups g, g+1, ... can add under budget `rem`: taken steepest first."""
    total = 0
    for j in range(n):
        if group[j] < g:
            continue
        if dc[j] <= rem:
            total += dv[j]
            rem -= dc[j]
        else:
            q = dv[j] // dc[j]
            return total + q * rem + (dv[j] - q * dc[j]) * rem // dc[j]
    return total


@njit(types.void(int64, int64, _i1, _i1, _i1, _i1), cache=True, **INNER)
def _add(i, sign, cov_ptr, cov_unit, cov, z):
    for r in range(cov_ptr[i], cov_ptr[i + 1]):
        z[cov_unit[r]] += sign * cov[r]


@njit(types.boolean(int64, int64, _i1, _i1), cache=True, **INNER)
def _precedes(i, j, worth, cost):
    if _steeper(worth[i], cost[i], worth[j], cost[j]):
        return True
    return i < j and not _steeper(worth[j], cost[j], worth[i], cost[i])


@njit(types.void(_i1, int64, int64, _i1, _i1), cache=True, **INNER)
def _sink(heap, n, at, worth, cost):
    """Move the candidate at a position of the heap (steepest first, then the first) down to its place."""
    while 2 * at + 1 < n:
        low = 2 * at + 1
        if low + 1 < n and _precedes(heap[low + 1], heap[low], worth, cost):
            low += 1
        if not _precedes(heap[low], heap[at], worth, cost):
            return
        heap[at], heap[low] = heap[low], heap[at]
        at = low


@njit(
    int64(int64, int64, int64, _i1, _i1, _i1, _i1, _i1, _i1, _i1, _i1, _i1, _i1, _i1, _i1),
    cache=True,
    **INNER,
)
def _greedy(
    k, budget, m, group_start, cost, cov_ptr, cov_unit, cov, weight, slope, intercept, z, group_of, count, chosen
):
    """Warm start: repeatedly the steepest feasible candidate, the first of equally steep ones. Fills chosen (0/1);
    returns its objective.

    A heap holds what candidates were last seen to add; that only shrinks (F is submodular), so the top is the
    steepest as soon as it is up to date.
    """
    scratch = np.empty((2, len(cost)), np.int64)
    heap, worth, n = scratch[0], scratch[1], 0
    for i in range(len(cost)):
        if cost[i] <= budget:
            worth[i] = marginal_int(i, cov_ptr, cov_unit, cov, weight, slope, intercept, z) * m - cost[i]
            if worth[i] > 0:
                heap[n] = i
                n += 1
    for at in range(n // 2 - 1, -1, -1):
        _sink(heap, n, at, worth, cost)
    total, rem = 0, budget
    while n > 0:
        i = heap[0]
        v = 0
        if cost[i] <= rem and count[group_of[i]] < k:
            v = marginal_int(i, cov_ptr, cov_unit, cov, weight, slope, intercept, z) * m - cost[i]
        if 0 < v < worth[i]:
            worth[i] = v
        else:
            if v > 0:
                chosen[i] = 1
                count[group_of[i]] += 1
                _add(i, 1, cov_ptr, cov_unit, cov, z)
                total += v
                rem -= cost[i]
            n -= 1
            heap[0] = heap[n]
        _sink(heap, n, 0, worth, cost)
    z[:] = 0
    return total


@njit(
    types.UniTuple(int64, 3)(int64, int64, int64, int64, int64, _i1, _i1, _i1, _i1, _i1, _i1, _i1, _i1, _i1),
    cache=True,
    **INNER,
)
def _solve(
    k, budget, m, node_limit, known, group_start, cost, cov_ptr, cov_unit, cov, weight, slope, intercept, chosen
):
    """Maximise F_int * m - cost. Fills chosen (0/1); returns (objective, bound, nodes).

    objective == bound exactly when the search closed. `known`: an objective that some selection reaches
    (-1: none known); the search looks for the first such selection.
    """
    n = len(cost)
    z = np.zeros(len(weight), np.int64)
    group_of = np.empty(n, np.int64)
    for g in range(len(group_start) - 1):
        group_of[group_start[g] : group_start[g + 1]] = g
    groups = len(group_start) - 1
    chosen[:] = 0
    greedy = _greedy(
        k,
        budget,
        m,
        group_start,
        cost,
        cov_ptr,
        cov_unit,
        cov,
        weight,
        slope,
        intercept,
        z,
        group_of,
        np.zeros(groups, np.int64),
        chosen,
    )
    have = greedy  # objective of `chosen`
    best = max(greedy, known) - 1  # so that the first optimum in tie-breaking order is found by the search itself
    # Each frame's increments, for its bounds at one group after the other; frames from `last` on share one row.
    last = min(groups * k, INCREMENT_CELLS // (n + 1))
    dv, dc, group = (
        np.empty((last + 1, n), np.int64),
        np.empty((last + 1, n), np.int64),
        np.empty((last + 1, n), np.int64),
    )
    size = np.empty(last + 1, np.int64)
    # One frame a chosen candidate: path[d] was chosen to enter frame d + 1; nxt[d] is the next to try there.
    frames = np.empty((7, n + 1), np.int64)
    path, nxt, used, worth = frames[0], frames[1], frames[2], frames[3]
    count = frames[4]  # chosen in the group of path[d - 1]
    limit_at = frames[5]  # bound on what frame d may still find
    bounded = frames[6]  # group for which limit_at[d] was computed
    d, nodes = 0, 1
    nxt[0], used[0], worth[0], count[0], bounded[0] = 0, 0, 0, 0, -1
    while d >= 0:
        i = nxt[d]
        g = group_of[i] if i < n else groups
        own = count[d] if d > 0 and g == group_of[path[d - 1]] else 0
        if bounded[d] != g:
            row, rem, entered = min(d, last), budget - used[d], bounded[d] < 0
            bounded[d] = g
            limit_at[d] = best + 1
            if entered and 0 < d <= last:  # gains only shrink: what the frame before had bounds this one
                limit_at[d] = worth[d] + _bound(g, rem, dv[d - 1], dc[d - 1], group[d - 1], size[d - 1])
            if limit_at[d] > best:
                if entered or row == last:
                    size[row] = _increments(
                        i,
                        g,
                        own,
                        k,
                        rem,
                        m,
                        group_start,
                        cost,
                        cov_ptr,
                        cov_unit,
                        cov,
                        weight,
                        slope,
                        intercept,
                        z,
                        dv[row],
                        dc[row],
                        group[row],
                    )
                limit_at[d] = worth[d] + _bound(g, rem, dv[row], dc[row], group[row], size[row])
        if i == n or limit_at[d] <= best:
            if i == n and worth[d] > best:
                best = have = worth[d]
                chosen[:] = 0
                for e in range(d):
                    chosen[path[e]] = 1
            d -= 1
            if d >= 0:
                _add(path[d], -1, cov_ptr, cov_unit, cov, z)
            continue
        if used[d] + cost[i] > budget or own >= k:
            nxt[d] = group_start[g + 1]  # costs rise inside a group
            continue
        nxt[d] = i + 1
        gain = marginal_int(i, cov_ptr, cov_unit, cov, weight, slope, intercept, z) * m - cost[i]
        if gain <= 0:
            continue
        if nodes >= node_limit:
            bound = max(have, known)
            for e in range(d + 1):
                bound = max(bound, limit_at[e])
            return have, bound, nodes
        nodes += 1
        _add(i, 1, cov_ptr, cov_unit, cov, z)
        path[d] = i
        d += 1
        used[d], worth[d], count[d], bounded[d] = used[d - 1] + cost[i], worth[d - 1] + gain, own + 1, -1
        nxt[d] = i + 1 if own + 1 < k else group_start[g + 1]
    return have, have, nodes


@njit(
    types.void(
        int64,
        int64,
        int64,
        int64,
        int64,
        _i1,
        _i1,
        _i1,
        _i1,
        _i1,
        _i1,
        _i1,
        _i1,
        _i1,
        _i1,
        _i1,
        _i1,
        _i1,
        _i1,
        _i1,
        _i1,
        _i1,
    ),
    cache=True,
)
def _solve_range(
    lo,
    hi,
    k,
    budget,
    node_limit,
    known,
    group_at,
    cand_at,
    unit_at,
    line_at,
    group_start,
    cost,
    cov_ptr,
    cov_unit,
    cov,
    weight,
    slope,
    intercept,
    objective,
    bound,
    nodes,
    chosen,
):
    """`_solve` for instances lo..hi-1 of a batch, each with m = min(budget, its total cost) + 1."""
    for p in range(lo, hi):
        a, b = cand_at[p], cand_at[p + 1]
        starts = group_start[group_at[p] : group_at[p + 1] + 1] - a
        ptr = cov_ptr[a : b + 1] - cov_ptr[a]
        cells = slice(cov_ptr[a], cov_ptr[b])
        lines = slice(line_at[p], line_at[p + 1])
        c = cost[a:b]
        within = min(budget, c.sum())
        objective[p], bound[p], nodes[p] = _solve(
            k,
            within,
            within + 1,
            node_limit,
            known[p],
            starts,
            c,
            ptr,
            cov_unit[cells],
            cov[cells],
            weight[unit_at[p] : unit_at[p + 1]],
            slope[lines],
            intercept[lines],
            chosen[a:b],
        )


class Solution(NamedTuple):
    """The best selection of one instance at one budget.

    `selection`: ascending candidate positions; value_int <= bound_int, equal exactly when status is
    `optimal`. Then `selection` is the protocol's choice among the optima, unless `canonical` is false: then its
    value is proven, but a cheaper selection of that value, or an earlier one, may exist. nodes: search nodes.
    """

    status: str
    value_int: int
    bound_int: int
    scale: int
    cost: int
    selection: tuple[int, ...]
    nodes: int
    canonical: bool = True

    @property
    def settled(self) -> bool:
        """Nothing is left to search: the protocol's choice, proven."""
        return self.status == OPTIMAL and self.canonical


def better(a: Solution, b: Solution) -> Solution:
    """What two searches of one instance show together."""
    best = max(a, b, key=lambda s: (s.settled, s.value_int, -s.cost))
    bound = min(a.bound_int, b.bound_int)
    status = OPTIMAL if bound == best.value_int else LIMIT
    return best._replace(status=status, bound_int=bound, canonical=best.settled, nodes=a.nodes + b.nodes)


def solve_batch(
    instances: Batch,
    budget: int,
    k: int = 1,
    node_limit: int = DEFAULT_NODE_LIMIT,
    optima: Sequence[tuple[int, int]] | None = None,
) -> list[Solution]:
    """Each instance's optimum at `budget` (whole cost units, >= 0), at most k candidates a group.

    A search that needs more than `node_limit` nodes returns status `limit` with its best selection and a
    proven bound. `optima`: (value_int, cost) of each instance where they are proven already, so that only the
    reported selection is looked for. Raises InputError on budget < 0, k < 1, or numbers beyond 62 bits.
    """
    if budget < 0 or k < 1:
        raise InputError(f"budget {budget} and k {k}: the budget must be >= 0 and k >= 1")
    b = instances
    _refuse_overflow(b, budget)
    size = len(b)
    objective, bound, nodes = (np.zeros(size, np.int64) for _ in range(3))
    chosen = np.zeros(len(b.cost), np.int64)
    known = np.full(size, -1, np.int64)
    if optima is not None:
        within = np.minimum(budget, b.total_cost)
        known = np.array([v * (w + 1) - c for (v, c), w in zip(optima, within.tolist(), strict=True)], np.int64)
    _solve_range(
        0,
        size,
        k,
        budget,
        node_limit,
        known,
        b.group_at,
        b.cand_at,
        b.unit_at,
        b.line_at,
        b.group_start,
        b.cost,
        b.cov_ptr,
        b.cov_unit,
        b.cov,
        b.weight,
        b.slope,
        b.intercept,
        objective,
        bound,
        nodes,
        chosen,
    )
    return _solutions(b, budget, objective, bound, nodes, chosen)


def solve(instance: Instance, budget: int, k: int = 1, node_limit: int = DEFAULT_NODE_LIMIT) -> Solution:
    """`solve_batch` for one instance."""
    return solve_batch(batch([instance]), budget, k, node_limit)[0]


def _solutions(b: Batch, budget: int, objective, bound, nodes, chosen) -> list[Solution]:
    selected = np.flatnonzero(chosen)
    first = np.searchsorted(selected, b.cand_at)  # of each instance's selected candidates
    cost = np.diff(np.concatenate([[0], np.cumsum(b.cost[selected])])[first])
    within = np.minimum(budget, b.total_cost)
    value, rest = np.divmod(objective + cost, within + 1)
    if rest.any():
        p = int(np.flatnonzero(rest)[0])
        raise ArithmeticError(f"instance {p}: objective {objective[p]} is not value * {within[p] + 1} - cost {cost[p]}")
    closed = objective == bound
    # value * (B + 1) - cost <= bound, cost <= B; and no selection is worth more than everything
    bound_int = np.where(closed, value, np.minimum((bound + within) // (within + 1), b.max_int))
    positions = (selected - np.repeat(b.cand_at[:-1], np.diff(first))).tolist()
    selections = [tuple(positions[x:y]) for x, y in pairwise(first.tolist())]
    status = [OPTIMAL if c else LIMIT for c in (bound_int == value).tolist()]
    columns = (value, bound_int, b.scale, cost)
    return list(map(Solution, status, *(c.tolist() for c in columns), selections, nodes.tolist(), closed.tolist()))


def _refuse_overflow(b: Batch, budget: int) -> None:
    """The objective is at most max_int * (B + 1): it must fit 62 bits, and cost^2 too."""
    most = np.minimum(budget, b.total_cost)
    if (b.max_int.astype(float) * (most + 1.0) < INT_LIMIT / 2).all() and (most < 2**31).all():
        return
    # Python integers: the product may not fit 64 bits.
    for p, (top, within) in enumerate(zip(b.max_int.tolist(), np.minimum(budget, b.total_cost).tolist(), strict=True)):
        if top * (within + 1) >= INT_LIMIT or within >= 2**31:
            raise InputError(
                f"instance {p}: values up to {top} at budget {within} need {(top * (within + 1)).bit_length()} bits, "
                f"above 62; use fewer decimals or set `quantize` for the suite"
            )
