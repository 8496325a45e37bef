"""The Lagrangian bound of a part of the search: evaluated in integers, lowered by subgradient steps.

A multiplier for each cell (option, unit) splits the problem: a unit takes, for itself, one option at most of each
group, gaining h of their coverage less their multipliers (exactly, by its table over coverage levels), and the
groups choose options by base value plus multipliers under the budget, which has a multiplier of its own. The sum
of both is an upper bound for any multipliers, so floats only choose them. All values are scaled (coupled.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from .coupled import Coupled
from .kernels import INNER

OUT, OPEN, CHOSEN = 0, 1, 2
NOTHING = -(2**60)
_FAR = np.int32(-(2**29))
_PROGRESS = 10_000  # progress is this part of the gap
_u = np.uint64  # unsigned indices spare a check of the sign, which would keep loops from being vectorised


class Scratch(NamedTuple):
    """Work space for one node: what is decided, and the open part of the problem.

    `state` (options): OUT, OPEN or CHOSEN; `must` (groups): one of its open options is taken. The open part:
    `groups`; units as `unit_ptr`, `width` (levels), `end` (table offset); cells by unit and group: `cell` (its number
    in Coupled), `option`, `step`, `table_at` (offset of the table before its group), `multiplier`, `best`, `free`
    (as floats), `direction`, `taken` (0 or 1 by its unit). `tab`: int32 tables, each twice its width, flat beyond.
    `score`, `share` (0..1, by the groups), `extra` (options); `low`, `high`, `pick` (options chosen around the
    budget, in order of `groups`); `skip` (groups); `mean` (options): `share` over the last evaluations. `level`
    (units): coverage of the chosen, in levels. `forward`, `beyond`: tables of one unit.
    """

    state: np.ndarray
    must: np.ndarray
    groups: np.ndarray
    unit_ptr: np.ndarray
    width: np.ndarray
    end: np.ndarray
    cell: np.ndarray
    option: np.ndarray
    step: np.ndarray
    table_at: np.ndarray
    multiplier: np.ndarray
    best: np.ndarray
    free: np.ndarray
    direction: np.ndarray
    taken: np.ndarray
    tab: np.ndarray
    score: np.ndarray
    share: np.ndarray
    extra: np.ndarray
    low: np.ndarray
    high: np.ndarray
    pick: np.ndarray
    skip: np.ndarray
    mean: np.ndarray
    level: np.ndarray
    forward: np.ndarray
    beyond: np.ndarray


def scratch(p: Coupled) -> Scratch:
    """Work space that fits any node of p."""
    options, groups, units, cells = len(p.cost), len(p.start) - 1, len(p.top), len(p.cell_option)
    widest = int(p.top.max(initial=0)) + 1
    tables = int(((np.diff(p.unit_ptr) + 1) * 2 * (p.top + 1)).sum())

    def ints(n: int) -> np.ndarray:
        return np.zeros(n, np.int64)

    return Scratch(
        np.full(options, OPEN, np.uint8), np.zeros(groups, np.bool_), ints(groups), ints(units + 1), ints(units),
        ints(units), ints(cells), ints(cells), ints(cells), ints(cells), np.zeros(cells, np.int32),
        np.zeros(cells, np.int32), np.zeros(cells), np.zeros(cells), np.zeros(cells, np.int8),
        np.zeros(tables, np.int32), ints(options), np.zeros(options), ints(options), ints(groups), ints(groups),
        ints(groups), ints(groups), np.zeros(options), ints(units), np.zeros(2 * widest, np.int32),
        np.zeros(2 * widest, np.int32),
    )  # fmt: skip


@njit(cache=True, **INNER)
def settle(p, s, base):
    """Choose what must be chosen and close what no longer fits. Returns (feasible, remaining budget, scaled value of
    the chosen options' bases); `s.level` (units): coverage levels of the chosen."""
    s.level[:] = 0
    remaining, constant = p.budget, 0
    for g in range(len(p.start) - 1):
        if s.must[g]:
            count, last = 0, -1
            for i in range(p.start[g], p.start[g + 1]):
                if s.state[i] == OPEN:
                    count, last = count + 1, i
            if count == 0:
                return False, 0, 0
            if count == 1:
                s.state[last] = CHOSEN
                s.must[g] = False
        for i in range(p.start[g], p.start[g + 1]):
            if s.state[i] == CHOSEN:
                remaining -= p.cost[i]
                constant += base[i]
                for r in range(p.option_ptr[i], p.option_ptr[i + 1]):
                    c = p.option_cell[r]
                    s.level[p.cell_unit[c]] += p.cell_cov[c]
    for u in range(len(p.top)):
        s.level[u] = min(-(-s.level[u] // p.grid[u]), p.top[u])
    return remaining >= 0, remaining, constant


@njit(cache=True, **INNER)
def open_part(p, s, multipliers, remaining):
    """Lay out the open part of node s, with its cells' `multipliers` (one a cell of p). Returns (feasible, groups,
    units, cells, scaled value of the units that nothing open covers)."""
    n_groups, n_units, n_cells, offset, constant = 0, 0, 0, 0, 0
    for g in range(len(p.start) - 1):
        count = 0
        for i in range(p.start[g], p.start[g + 1]):
            if s.state[i] == OPEN and p.cost[i] > remaining:
                s.state[i] = OUT
            count += s.state[i] == OPEN
        if count:
            s.groups[n_groups] = g
            n_groups += 1
        elif s.must[g]:
            return False, 0, 0, 0, 0
    for u in range(len(p.top)):
        at = p.table_ptr[u] + s.level[u]
        width = p.top[u] - s.level[u] + 1
        first, group = n_cells, -1
        if width > 1:
            for c in range(p.unit_ptr[u], p.unit_ptr[u + 1]):
                if s.state[p.cell_option[c]] == OPEN:
                    if p.cell_group[c] != group:
                        group = p.cell_group[c]
                        offset += 2 * width
                    s.cell[n_cells] = c
                    s.option[n_cells] = p.cell_option[c]
                    s.step[n_cells] = min(p.cell_step[c], width - 1)
                    s.table_at[n_cells] = offset - 2 * width
                    s.multiplier[n_cells] = multipliers[c]
                    n_cells += 1
        if n_cells == first:
            constant += p.table[at]
            continue
        s.unit_ptr[n_units], s.width[n_units], s.end[n_units] = first, width, offset
        for z in range(2 * width):
            s.tab[offset + z] = p.table[at + min(z, width - 1)]
        offset += 2 * width
        n_units += 1
    s.unit_ptr[n_units] = n_cells
    return True, n_groups, n_units, n_cells, constant


@njit(cache=True, **INNER)
def fill_tables(s, n_units):
    """What each unit gains from each level on, before each of its groups; returns the sum from level 0."""
    tab, total = s.tab, 0
    for u in range(n_units):
        width, after, j = s.width[u], s.end[u], s.unit_ptr[u + 1]
        while j > s.unit_ptr[u]:
            here = s.table_at[j - 1]
            for z in range(width):
                tab[_u(here + z)] = tab[_u(after + z)]
            while j > s.unit_ptr[u] and s.table_at[j - 1] == here:
                j -= 1
                source, price = after + s.step[j], s.multiplier[j]
                for z in range(width):
                    value = np.int32(tab[_u(source + z)] - price)
                    if value > tab[_u(here + z)]:
                        tab[_u(here + z)] = value
            last = tab[_u(here + width - 1)]
            for z in range(width):
                tab[_u(here + width + z)] = last
            after = here
        total += tab[after]
    return total


@njit(cache=True, **INNER)
def take(s, n_units):
    """Mark in `s.taken` a best set of cells of each unit, from its tables."""
    for u in range(n_units):
        j, stop, level = s.unit_ptr[u], s.unit_ptr[u + 1], 0
        while j < stop:
            here, e = s.table_at[j], j
            while e < stop and s.table_at[e] == here:
                s.taken[e] = 0
                e += 1
            after = s.table_at[e] if e < stop else s.end[u]
            if s.tab[here + level] != s.tab[after + level]:
                for c in range(j, e):
                    if s.tab[after + level + s.step[c]] - s.multiplier[c] == s.tab[here + level]:
                        s.taken[c] = 1
                        level = min(level + s.step[c], s.width[u] - 1)
                        break
            j = e


@njit(cache=True, **INNER)
def set_scores(p, s, base, n_groups, n_cells):
    """Base value plus multipliers of each open option."""
    for q in range(n_groups):
        for i in range(p.start[s.groups[q]], p.start[s.groups[q] + 1]):
            s.score[i] = base[i]
    for c in range(n_cells):
        s.score[s.option[c]] += s.multiplier[c]


@njit(cache=True, **INNER)
def best_at(p, s, n_groups, price, pick):
    """Each open group's best option (-1: none) at `price` a unit of cost; returns (their scores, cost)."""
    total, cost = 0, 0
    for q in range(n_groups):
        g = s.groups[q]
        best, at = (NOTHING, -1) if s.must[g] else (0, -1)
        for i in range(p.start[g], p.start[g + 1]):
            if s.state[i] == OPEN:
                value = s.score[i] - price * p.cost[i]
                if value > best:
                    best, at = value, i
        pick[q] = at
        if at >= 0:
            total += s.score[at]
            cost += p.cost[at]
    return total, cost


@njit(cache=True, **INNER)
def _cheapest(p, s, n_groups, pick):
    """As best_at where cost counts above all."""
    total, cost = 0, 0
    for q in range(n_groups):
        g, at = s.groups[q], -1
        if s.must[g]:
            for i in range(p.start[g], p.start[g + 1]):
                if s.state[i] == OPEN and (
                    at < 0 or p.cost[i] < p.cost[at] or (p.cost[i] == p.cost[at] and s.score[i] > s.score[at])
                ):
                    at = i
            total += s.score[at]
            cost += p.cost[at]
        pick[q] = at
    return total, cost


@njit(cache=True, **INNER)
def budget_price(p, s, n_groups, remaining, price):
    """Lower the groups' bound over the budget's multiplier, by tangents of a convex function, starting at `price`.
    Returns (bound, multiplier); the bound is NOTHING where nothing fits. Sets `s.share`; `s.high` holds choices
    that fit the budget."""
    v_low, c_low = best_at(p, s, n_groups, np.int64(0), s.low)
    if c_low <= remaining:
        for q in range(n_groups):
            s.high[q] = s.low[q]
        _set_share(p, s, n_groups, 0.0)
        return v_low, 0
    v_high, c_high = _cheapest(p, s, n_groups, s.high)
    if c_high > remaining:
        return NOTHING, price
    best, best_price = v_low, 0
    crossed = price <= 0  # `price` is where the two lines cross, not the one to start from
    if crossed:
        price = (v_low - v_high) // (c_low - c_high)
    while True:
        total, cost = best_at(p, s, n_groups, price, s.pick)
        value = total + price * (remaining - cost)
        if value < best:
            best, best_price = value, price
        if crossed and value <= max(v_low + price * (remaining - c_low), v_high + price * (remaining - c_high)):
            break
        crossed = True
        if cost > remaining:
            v_low, c_low = total, cost
            s.low[:n_groups] = s.pick[:n_groups]
        else:
            v_high, c_high = total, cost
            s.high[:n_groups] = s.pick[:n_groups]
        price = (v_low - v_high) // (c_low - c_high)
    _set_share(p, s, n_groups, (remaining - c_high) / (c_low - c_high))
    return best, best_price


@njit(cache=True, **INNER)
def _set_share(p, s, n_groups, low):
    for q in range(n_groups):
        for i in range(p.start[s.groups[q]], p.start[s.groups[q] + 1]):
            s.share[i] = 0.0
        if s.low[q] >= 0:
            s.share[s.low[q]] += low
        if s.high[q] >= 0:
            s.share[s.high[q]] += 1.0 - low


@njit(cache=True, **INNER)
def _follow_share(p, s, n_groups, rate):
    for q in range(n_groups):
        for i in range(p.start[s.groups[q]], p.start[s.groups[q] + 1]):
            s.mean[i] += rate * (s.share[i] - s.mean[i])


@njit(cache=True, **INNER)
def ascend(p, s, base, most, n_groups, n_units, n_cells, remaining, constant, price, cut, evaluations, patience):
    """Lower the bound of node s by at most `evaluations` subgradient steps towards `cut`, stopping below it.
    Returns (bound, multiplier of the budget, evaluations made); `s.best` holds the multipliers.

    `patience`: evaluations without progress before steps shrink. `most` (cells of p): no multiplier need be larger.
    Steps are Polyak's (gap over squared norm, times a factor) along a decaying sum of subgradients (Camerini,
    Fratta and Maffioli 1975).
    """
    bound, bound_price, quiet, gamma = 2**61, price, 0, 1.0
    for c in range(n_cells):
        s.free[c] = s.multiplier[c]
        s.direction[c] = 0.0
    for made in range(1, evaluations + 1):
        total = constant + fill_tables(s, n_units)
        set_scores(p, s, base, n_groups, n_cells)
        groups, price = budget_price(p, s, n_groups, remaining, price)
        value = total + groups if groups > NOTHING else NOTHING
        quiet += 1
        if value < bound:
            if value < bound - (bound - cut) // _PROGRESS:
                quiet = 0
            bound, bound_price = value, price
            s.best[:n_cells] = s.multiplier[:n_cells]
            if bound <= cut:
                return bound, bound_price, made
        if quiet >= patience:
            gamma, quiet = gamma * 0.8, 0
            if gamma < 0.003:
                return bound, bound_price, made
            price = bound_price
            for c in range(n_cells):
                s.free[c] = s.best[c]
                s.direction[c] = 0.0
        take(s, n_units)
        _follow_share(p, s, n_groups, 1.0 if made == 1 else 0.15)
        norm = 0.0
        for c in range(n_cells):
            s.direction[c] = s.taken[c] - s.share[s.option[c]] + 0.7 * s.direction[c]
            norm += s.direction[c] * s.direction[c]
        if norm == 0.0:
            return bound, bound_price, made
        step = gamma * (value - cut) / norm
        for c in range(n_cells):
            s.free[c] = min(max(s.free[c] + step * s.direction[c], 0.0), most[s.cell[c]])
            s.multiplier[c] = np.int32(s.free[c] + 0.5)
    return bound, bound_price, evaluations


@njit(cache=True, **INNER)
def marginals(p, s, base, n_groups, n_units, n_cells, remaining, constant, price):
    """Bounds with each open decision made: `s.extra[i]` with open option i chosen, `s.skip[g]` with open group g
    left out (NOTHING where it must not be). At `s.multiplier`."""
    total = constant + price * remaining + fill_tables(s, n_units)
    set_scores(p, s, base, n_groups, n_cells)
    for q in range(n_groups):
        s.skip[s.groups[q]] = 0
        for i in range(p.start[s.groups[q]], p.start[s.groups[q] + 1]):
            s.extra[i] = 0
    for u in range(n_units):
        _unit_marginals(p, s, u)
    value, cost = best_at(p, s, n_groups, price, s.pick)
    total += value - price * cost
    for q in range(n_groups):
        g = s.groups[q]
        own = s.score[s.pick[q]] - price * p.cost[s.pick[q]] if s.pick[q] >= 0 else 0
        for i in range(p.start[g], p.start[g + 1]):
            if s.state[i] == OPEN:
                s.extra[i] += total - own + s.score[i] - price * p.cost[i] + s.skip[g]
        s.skip[g] = NOTHING if s.must[g] else total - own + s.skip[g]


@njit(cache=True, **INNER)
def _unit_marginals(p, s, u):
    """Add to `s.skip` and `s.extra` what unit u loses when a group skips it, and what an option gives it then."""
    width, j, stop, tab = s.width[u], s.unit_ptr[u], s.unit_ptr[u + 1], s.tab
    forward, beyond = s.forward, s.beyond
    full = tab[s.table_at[j]]
    for z in range(width):
        forward[z] = _FAR
    forward[0] = 0
    while j < stop:
        here, e = s.table_at[j], j
        while e < stop and s.table_at[e] == here:
            e += 1
        after = s.table_at[e] if e < stop else s.end[u]
        skipped = np.int32(-(2**30))
        for z in range(width):
            skipped = max(skipped, np.int32(forward[_u(z)] + tab[_u(after + z)]))
            beyond[_u(z)] = forward[_u(z)]
            beyond[_u(width + z)] = _FAR
        s.skip[p.group_of[s.option[j]]] += skipped - full
        for c in range(j, e):
            source, price, most = after + s.step[c], s.multiplier[c], np.int32(-(2**30))
            for z in range(width):
                value = np.int32(forward[_u(z)] - price)
                most = max(most, np.int32(value + tab[_u(source + z)]))
                if value > beyond[_u(z + s.step[c])]:
                    beyond[_u(z + s.step[c])] = value
            s.extra[s.option[c]] += np.int64(most) - skipped
        last = beyond[width - 1]
        for z in range(width):
            forward[_u(z)] = beyond[_u(z)]
            last = max(last, beyond[_u(width + z)])
        forward[width - 1] = last
        j = e
