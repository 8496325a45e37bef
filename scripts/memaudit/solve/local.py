"""Local search: selections that no change of one group, or of two, makes better.

A selection is a `choice`: one option or -1 for each group of a Coupled. Better means more value, then less cost,
as one integer: value * (budget + 1) - cost.

Effort is counted in looks: one at each option and each of its cells that a change is weighed with.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from .coupled import Coupled, worth
from .kernels import INNER, f_line

_TRIES = 200


@njit(cache=True, **INNER)
def _gain(p, o, sign, z):
    """Key gained by adding (sign 1) or removing (-1) option o at coverage z, which follows."""
    m = p.budget + 1
    key = sign * (p.base[o] * m - p.cost[o])
    for r in range(p.option_ptr[o], p.option_ptr[o + 1]):
        c = p.option_cell[r]
        u = p.cell_unit[c]
        before = f_line(z[u], p.slope, p.intercept)
        z[u] += sign * p.cell_cov[c]
        key += m * p.weight[u] * (f_line(z[u], p.slope, p.intercept) - before)
    return key


@njit(cache=True, **INNER)
def _peek(p, o, z):
    """Key that adding option o at coverage z would gain."""
    value = p.base[o]
    for r in range(p.option_ptr[o], p.option_ptr[o + 1]):
        c = p.option_cell[r]
        u = p.cell_unit[c]
        value += p.weight[u] * (f_line(z[u] + p.cell_cov[c], p.slope, p.intercept) - f_line(z[u], p.slope, p.intercept))
    return value * (p.budget + 1) - p.cost[o]


@njit(cache=True, **INNER)
def _best_single(p, choice, z, used):
    """(group, option) of the change of one group that gains most per cost added, (-1, -1) where none gains."""
    best, at, to = 0.0, -1, -1
    for g in range(len(choice)):
        o = choice[g]
        lost, freed = 0, 0
        if o >= 0:
            lost, freed = _gain(p, o, -1, z), p.cost[o]
        for i in range(p.start[g], p.start[g + 1]):
            extra = p.cost[i] - freed
            if i != o and used + extra <= p.budget:
                gain = float(_peek(p, i, z) + lost)
                gain = gain / extra if extra > 0 else gain * p.budget
                if gain > best:
                    best, at, to = gain, g, i
        if o >= 0:
            _gain(p, o, 1, z)
    return at, to


@njit(cache=True, **INNER)
def _move(p, choice, z, used, g, o):
    """Make o (or -1) the choice of group g; returns the cost used."""
    if choice[g] >= 0:
        used -= p.cost[choice[g]]
        _gain(p, choice[g], -1, z)
    choice[g] = o
    if o >= 0:
        used += p.cost[o]
        _gain(p, o, 1, z)
    return used


@njit(cache=True, **INNER)
def _change_two(p, choice, z, used, first):
    """Change chosen group `first` and one more where that gains; returns (cost used, gained)."""
    old = choice[first]
    start_used = used
    best, to_first, at, to = 0, np.int64(-1), np.int64(-1), np.int64(-1)
    for i in range(p.start[first] - 1, p.start[first + 1]):
        if i == old:
            continue
        option = i if i >= p.start[first] else -1
        lost = _gain(p, old, -1, z)
        used = start_used - p.cost[old]
        if option >= 0:
            lost += _gain(p, option, 1, z)
            used += p.cost[option]
        for g in range(len(choice)):
            if g == first:
                continue
            o = choice[g]
            freed = p.cost[o] if o >= 0 else 0
            if used - freed >= p.budget:
                continue
            removed = _gain(p, o, -1, z) if o >= 0 else 0
            for j in range(p.start[g], p.start[g + 1]):
                if j != o and used - freed + p.cost[j] <= p.budget:
                    gain = lost + removed + _peek(p, j, z)
                    if gain > best:
                        best, to_first, at, to = gain, option, g, j
            if o >= 0:
                _gain(p, o, 1, z)
        if option >= 0:
            _gain(p, option, -1, z)
        _gain(p, old, 1, z)
    if at < 0:
        return start_used, False
    used = _move(p, choice, z, start_used, first, to_first)
    return _move(p, choice, z, used, at, to), True


@njit(cache=True)
def improve(p, choice, pairs, room):
    """Improve a feasible `choice` in place by changes of one group, with `pairs` also of two; greedy from the empty
    one. Stops early after about `room` looks. Returns the looks taken."""
    everything = len(p.cost) + len(p.cell_option)
    looks = np.int64(0)
    z = np.zeros(len(p.weight), np.int64)
    used = np.int64(0)  # a plain 0 is a type of its own, for which callees are compiled again
    for o in choice:
        if o >= 0:
            _gain(p, o, 1, z)
            used += p.cost[o]
    while True:
        g, o = _best_single(p, choice, z, used)
        looks += everything
        while g >= 0:
            used = _move(p, choice, z, used, g, o)
            if looks > room:
                return looks
            g, o = _best_single(p, choice, z, used)
            looks += everything
        moved = False
        if pairs:
            for g in range(len(choice)):
                if choice[g] >= 0:
                    if looks > room:
                        return looks
                    used, gained = _change_two(p, choice, z, used, g)
                    looks += (p.start[g + 1] - p.start[g] + 1) * everything
                    moved |= gained
        if not moved:
            return looks


@njit(cache=True)
def key_of(p, choice):
    """value * (budget + 1) - cost of a choice."""
    value, cost = worth(p, choice)
    return value * (p.budget + 1) - cost


@njit(cache=True, **INNER)
def _random(state, below):
    """A number in 0..below - 1; steps the linear congruential `state` (one uint64)."""
    state[0] = state[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return np.int64((state[0] >> np.uint64(33)) % np.uint64(below))


class Walk(NamedTuple):
    """Where a local search stands: `current` choice, `likely` (options: how readily one is put in and how
    reluctantly taken out, 0..1), `state` of its random numbers, `round` (both of length 1)."""

    current: np.ndarray
    likely: np.ndarray
    state: np.ndarray
    round: np.ndarray


def start_walk(p: Coupled) -> Walk:
    """A walk from the empty choice, every option as likely as any other."""
    groups, options = len(p.start) - 1, len(p.cost)
    state = np.array([88172645463325252], np.uint64)
    return Walk(np.full(groups, -1, np.int64), np.full(options, 0.5), state, np.zeros(1, np.int64))


@njit(cache=True, **INNER)
def _shake(p, w, choice, changes):
    """Put in `changes` random options and take out random groups until the budget holds."""
    used = 0
    for o in choice:
        used += p.cost[o] if o >= 0 else 0
    for _ in range(changes):
        o = 0
        for _ in range(_TRIES):
            o = _random(w.state, len(p.cost))
            if choice[p.group_of[o]] != o and _random(w.state, 1000) < 1000 * w.likely[o]:
                break
        g = p.group_of[o]
        if choice[g] >= 0:
            used -= p.cost[choice[g]]
        choice[g] = o
        used += p.cost[o]
    while used > p.budget:
        g = 0
        for _ in range(_TRIES):
            g = _random(w.state, len(choice))
            if choice[g] >= 0 and _random(w.state, 1000) >= 1000 * w.likely[choice[g]]:
                break
        if choice[g] >= 0:
            used -= p.cost[choice[g]]
            choice[g] = -1


@njit(cache=True)
def walk(p, w, rounds, best, room):
    """Shake and improve `rounds` times, each from the last choice unless it fell too far behind the best; `best` is
    replaced by what is better. Stops early after about `room` looks. Returns the looks taken."""
    looks = np.int64(0)
    best_key = key_of(p, best)
    current_key = key_of(p, w.current)
    for _ in range(rounds):
        if looks > room:
            break
        choice = w.current.copy()
        turn = w.round[0]
        w.round[0] += 1
        if turn:
            _shake(p, w, choice, 1 + turn % 4)
        looks += improve(p, choice, np.bool_(True), room - looks)
        key = key_of(p, choice)
        if key > best_key:
            best[:], best_key = choice, key
        if key >= current_key - (best_key // 1024) * (turn % 5):
            w.current[:], current_key = choice, key
        if current_key < best_key - best_key // 128:
            w.current[:], current_key = best, best_key
    return looks
