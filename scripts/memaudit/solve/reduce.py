"""Making a problem smaller without losing its reported optimum: modular units, dominated options, components.

An *option* is what a store may keep of one group: one candidate (k = 1) or up to k of them. Groups interact
only through units that several of them cover and that can saturate; such a unit is *coupled*, every other
unit is *modular*: its value is a constant of each option.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import comb

import numpy as np
from numba import njit

from ..errors import InputError
from ..objective import Instance
from .kernels import INNER, f_line

MAX_OPTIONS = 2_000_000


@dataclass(frozen=True, eq=False)
class Options:
    """Groups of options in exact integers, in the protocol's order (position by position, chosen first).

    `start` (groups + 1): options of group g are start[g]:start[g + 1]; `cost` and row-sparse coverage `ptr`,
    `unit`, `cov` (options); `members`: the candidate positions of each option, None where option i
    is candidate i. The rest as in Instance.
    """

    start: np.ndarray
    cost: np.ndarray
    ptr: np.ndarray
    unit: np.ndarray
    cov: np.ndarray
    members: Sequence[tuple[int, ...]] | None
    weight: np.ndarray
    slope: np.ndarray
    intercept: np.ndarray

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.start, self.cost, self.ptr, self.unit, self.cov, self.weight, self.slope, self.intercept

    def candidates(self, options: Iterable[int]) -> tuple[int, ...]:
        """The candidate positions, ascending, of some options."""
        members = self.members
        return tuple(sorted(options if members is None else (i for option in options for i in members[option])))


def options_of(instance: Instance, k: int) -> Options:
    """Every option of every group; InputError where k makes more than MAX_OPTIONS of them."""
    if k == 1:
        return Options(
            instance.group_start, instance.cost, instance.cov_ptr, instance.cov_unit, instance.cov, None,
            instance.weight, instance.slope, instance.intercept,
        )  # fmt: skip
    start = instance.group_start.tolist()
    sizes = [sum(comb(b - a, s) for s in range(1, min(k, b - a) + 1)) for a, b in pairwise(start)]
    if sum(sizes) > MAX_OPTIONS:
        raise InputError(f"k = {k} makes {sum(sizes)} options of {len(instance.cost)} candidates; use a smaller k")
    members: list[tuple[int, ...]] = []
    for a, b in pairwise(start):
        subsets = [c for s in range(1, min(k, b - a) + 1) for c in combinations(range(a, b), s)]
        members += sorted(subsets, key=lambda c: (*c, b))  # the end of a list comes after any further candidate
    rows = [_merged_row(instance, option) for option in members]
    return Options(
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        _int64([instance.cost[list(option)].sum() for option in members]),
        np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64),
        _int64([u for row in rows for u in row]),
        _int64([a for row in rows for a in row.values()]),
        members, instance.weight, instance.slope, instance.intercept,
    )  # fmt: skip


def _merged_row(instance: Instance, option: tuple[int, ...]) -> dict[int, int]:
    row: dict[int, int] = {}
    for i in option:
        for r in range(instance.cov_ptr[i], instance.cov_ptr[i + 1]):
            row[int(instance.cov_unit[r])] = row.get(int(instance.cov_unit[r]), 0) + int(instance.cov[r])
    return dict(sorted(row.items()))


def _int64(values) -> np.ndarray:
    return np.array(values, dtype=np.int64)


@njit(cache=True, **INNER)
def _value(u, a, weight, slope, intercept):
    return weight[u] * f_line(a, slope, intercept)


@njit(cache=True)
def couple(start, cost, ptr, unit, cov, weight, slope, intercept, alive, coupled, base):
    """Mark coupled units and set each living option's modular value `base`.

    A unit is modular when one group covers it, or when all groups at their most leave it on h's first line.
    """
    units = len(weight)
    groups = np.zeros(units, np.int64)
    most = np.zeros(units, np.int64)
    in_group = np.zeros(units, np.int64)
    for g in range(len(start) - 1):
        for i in range(start[g], start[g + 1]):
            if alive[i]:
                for r in range(ptr[i], ptr[i + 1]):
                    in_group[unit[r]] = max(in_group[unit[r]], cov[r])
        for i in range(start[g], start[g + 1]):
            if alive[i]:
                for r in range(ptr[i], ptr[i + 1]):
                    u = unit[r]
                    if in_group[u] > 0:
                        groups[u] += 1
                        most[u] += in_group[u]
                        in_group[u] = 0
    for u in range(units):
        linear = f_line(most[u], slope, intercept) == slope[0] * most[u] + intercept[0]
        coupled[u] = groups[u] > 1 and weight[u] > 0 and not linear
    for i in range(len(cost)):
        base[i] = 0
        if alive[i]:
            for r in range(ptr[i], ptr[i + 1]):
                if not coupled[unit[r]]:
                    base[i] += _value(unit[r], cov[r], weight, slope, intercept)


@njit(cache=True)
def drop(start, cost, ptr, unit, cov, weight, slope, intercept, budget, alive, coupled, base):
    """Kill options that the reported optimum never needs; returns how many.

    Too dear, worth nothing, or dominated: another option of the group costs less (or as much, and comes
    earlier) and is worth at least as much whatever else is stored.
    """
    killed = 0
    here = np.zeros(len(weight), np.int64)  # coverage by the dominating option
    for g in range(len(start) - 1):
        for i in range(start[g], start[g + 1]):
            if not alive[i]:
                continue
            worth = base[i]
            for r in range(ptr[i], ptr[i + 1]):
                if coupled[unit[r]]:
                    worth += _value(unit[r], cov[r], weight, slope, intercept)
            if cost[i] > budget or worth == 0:
                alive[i] = False
                killed += 1
        for v in range(start[g], start[g + 1]):
            if not alive[v]:
                continue
            for r in range(ptr[v], ptr[v + 1]):
                here[unit[r]] = cov[r]
            for u in range(start[g], start[g + 1]):
                if u == v or not alive[u] or cost[v] > cost[u] or (cost[v] == cost[u] and v > u):
                    continue
                lacking = base[u] - base[v]
                for r in range(ptr[u], ptr[u + 1]):
                    x = unit[r]
                    if coupled[x] and cov[r] > here[x]:
                        lacking += weight[x] * (f_line(cov[r], slope, intercept) - f_line(here[x], slope, intercept))
                if lacking <= 0:
                    alive[u] = False
                    killed += 1
            for r in range(ptr[v], ptr[v + 1]):
                here[unit[r]] = 0
    return killed


@njit(cache=True)
def components(start, ptr, unit, alive, coupled):
    """Component number of each group, in order of first groups; -1 for a group without living options."""
    groups = len(start) - 1
    parent = np.arange(groups)
    first = np.full(len(coupled), -1, np.int64)
    for g in range(groups):
        for i in range(start[g], start[g + 1]):
            if not alive[i]:
                continue
            for r in range(ptr[i], ptr[i + 1]):
                u = unit[r]
                if not coupled[u]:
                    continue
                if first[u] < 0:
                    first[u] = g
                    continue
                a, b = g, first[u]
                while parent[a] != a:
                    parent[a] = parent[parent[a]]
                    a = parent[a]
                while parent[b] != b:
                    parent[b] = parent[parent[b]]
                    b = parent[b]
                if a != b:
                    parent[max(a, b)] = min(a, b)
    number = np.full(groups, -1, np.int64)
    count = 0
    for g in range(groups):
        living = False
        for i in range(start[g], start[g + 1]):
            living |= alive[i]
        if not living:
            continue
        root = g
        while parent[root] != root:
            root = parent[root]
        if number[root] < 0:
            number[root] = count
            count += 1
        number[g] = number[root]
    return number, count


def reduced(options: Options, budget: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(alive bool (options), coupled bool (units), base int64 (options)), to a fixed point."""
    alive = np.ones(len(options.cost), dtype=np.bool_)
    coupled = np.zeros(len(options.weight), dtype=np.bool_)
    base = np.zeros(len(options.cost), dtype=np.int64)
    while True:
        couple(*options.arrays, alive, coupled, base)
        if not drop(*options.arrays, budget, alive, coupled, base):
            return alive, coupled, base
