"""A reduced instance as the Lagrangian search takes it: groups of options, and units over coverage levels.

The search maximises value * one - cost * fee in 64-bit integers. `one` is a power of two (a fraction of one where
values are huge: then unit values are rounded up, which keeps bounds valid), and fee < one / (budget + 1), so more
value comes first, then less cost. Each coupled unit has a table of 32-bit integers over its coverage levels:
multiples of the greatest common divisor of its coverages up to where h turns flat, or, where these are too many,
a coarser grid to which coverages are rounded up (valid again, h being nondecreasing).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from .kernels import INNER, f_line
from .reduce import Options, reduced

MAX_LEVELS = 256
_TABLE_BITS = 27  # a unit's table stays below 2^27, so sums with multipliers fit 32 bits
_TOTAL_BITS = 59
_FINEST = 30


class Coupled(NamedTuple):
    """A reduced instance for compiled code; int64 unless said otherwise.

    An option is what may be kept of one group (reduce.py), in the protocol's order. `start` (groups + 1) gives the
    options of each group; `cost`, `base` (modular value), `position` (its number before the reduction), `group_of`:
    one an option. Cells (option, unit) stand by unit and group in `unit_ptr`, `cell_option`, `cell_group`,
    `cell_unit`, `cell_cov` (exact), `cell_step` (levels, rounded up, at most top); `option_ptr`, `option_cell`
    list the cells of each option. Unit u has levels 0..`top`[u] of width `grid`[u] and the int32 table
    `table`[`table_ptr`[u]:] of its scaled values. `weight` (units), `slope`, `intercept`: h, exactly.
    `shift`: one = 2^shift; `fee`: the scaled price of a unit of cost; `budget`.
    """

    start: np.ndarray
    cost: np.ndarray
    base: np.ndarray
    position: np.ndarray
    group_of: np.ndarray
    option_ptr: np.ndarray
    option_cell: np.ndarray
    unit_ptr: np.ndarray
    cell_option: np.ndarray
    cell_group: np.ndarray
    cell_unit: np.ndarray
    cell_cov: np.ndarray
    cell_step: np.ndarray
    top: np.ndarray
    grid: np.ndarray
    table_ptr: np.ndarray
    table: np.ndarray
    weight: np.ndarray
    slope: np.ndarray
    intercept: np.ndarray
    shift: int
    fee: int
    budget: int


def coupled(options: Options, max_int: int, budget: int) -> Coupled:
    """`options` under `budget` (whole cost units) without what the reported optimum never needs (reduce.py).
    `max_int`: the largest value of all together."""
    o = options
    alive, linked, base = reduced(o, budget)
    kept = np.flatnonzero(alive)
    group = np.searchsorted(o.start, kept, side="right") - 1
    groups, group_of = np.unique(group, return_inverse=True)
    start = np.searchsorted(group_of, np.arange(len(groups) + 1)).astype(np.int64)
    owner = np.repeat(np.arange(len(o.cost)), np.diff(o.ptr))
    here = alive[owner] & linked[o.unit]
    option = np.searchsorted(kept, owner[here])
    units, unit = np.unique(o.unit[here], return_inverse=True)
    cov = o.cov[here]
    order = np.lexsort((option, unit))
    option, unit, cov = option[order], unit[order], cov[order]
    unit_ptr = np.searchsorted(unit, np.arange(len(units) + 1)).astype(np.int64)
    top, grid = _levels(unit_ptr, cov, o.slope, o.intercept)
    by_option = np.argsort(option, kind="stable").astype(np.int64)
    largest = max((int(w) * int(f_line(t * g, o.slope, o.intercept)) for w, t, g in
                   zip(o.weight[units].tolist(), top.tolist(), grid.tolist(), strict=True)), default=1)  # fmt: skip
    shift = min(_FINEST, _TABLE_BITS - largest.bit_length(), _TOTAL_BITS - max_int.bit_length())
    fee = (1 << shift) // (budget + 1) if shift > 0 else 0
    table_ptr = np.concatenate([[0], np.cumsum(top + 1)]).astype(np.int64)
    return Coupled(
        start, o.cost[kept], base[kept], kept.astype(np.int64), group_of.astype(np.int64),
        np.searchsorted(option[by_option], np.arange(len(kept) + 1)).astype(np.int64), by_option,
        unit_ptr, option.astype(np.int64), group_of[option].astype(np.int64), unit.astype(np.int64), cov,
        np.minimum(-(-cov // grid[unit]), top[unit]), top, grid, table_ptr,
        _tables(table_ptr, top, grid, o.weight[units], o.slope, o.intercept, shift),
        o.weight[units], o.slope, o.intercept, shift, fee, budget,
    )  # fmt: skip


def _levels(unit_ptr: np.ndarray, cov: np.ndarray, slope: np.ndarray, intercept: np.ndarray):
    """(top, grid) of each unit, int64: how many levels of which width reach where h turns flat."""
    top, grid = np.zeros(len(unit_ptr) - 1, np.int64), np.ones(len(unit_ptr) - 1, np.int64)
    for u in range(len(top)):
        cells = cov[unit_ptr[u] : unit_ptr[u + 1]]
        width = int(np.gcd.reduce(cells))
        full = int(cells.sum())
        flat = int(f_line(full, slope, intercept))
        low, high = 0, full // width  # the first level of value `flat`; h is nondecreasing
        while low < high:
            middle = (low + high) // 2
            if f_line(middle * width, slope, intercept) == flat:
                high = middle
            else:
                low = middle + 1
        coarser = -(-(low + 1) // MAX_LEVELS)
        top[u], grid[u] = -(-low // coarser), width * coarser
    return top, grid


@njit(cache=True, **INNER)
def scaled_up(value, shift):
    """value * 2^shift, rounded up."""
    return value << shift if shift >= 0 else -((-value) >> -shift)


@njit(cache=True, **INNER)
def scaled_down(value, shift):
    """value * 2^shift, rounded down."""
    return value << shift if shift >= 0 else value >> -shift


@njit(cache=True)
def _tables(table_ptr, top, grid, weight, slope, intercept, shift):
    table = np.empty(table_ptr[-1], np.int32)
    for u in range(len(top)):
        for z in range(top[u] + 1):
            table[table_ptr[u] + z] = scaled_up(weight[u] * f_line(z * grid[u], slope, intercept), shift)
    return table


@njit(cache=True)
def worth(p, choice):
    """(value, cost), exact, of `choice`: one option or -1 for each group."""
    z = np.zeros(len(p.weight), np.int64)
    value, cost = 0, 0
    for o in choice:
        if o >= 0:
            value += p.base[o]
            cost += p.cost[o]
            for r in range(p.option_ptr[o], p.option_ptr[o + 1]):
                c = p.option_cell[r]
                z[p.cell_unit[c]] += p.cell_cov[c]
    for u in range(len(z)):
        value += p.weight[u] * f_line(z[u], p.slope, p.intercept)
    return value, cost
