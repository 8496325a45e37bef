"""One budget of a connected instance: best-first branch and bound over options with a Lagrangian bound.

A node has decided some options. Its bound is lowered from its parent's multipliers (relaxation.py), options whose
bound falls below the best selection are taken out, and it branches on one that is left, chosen or out.
Every selection met is improved by local search. What limits the search is counted, never timed.

The search goes for value, then less cost, then the protocol's order: a node whose bound equals the best selection is
kept while its decisions can still come first, so a search that closes has the protocol's choice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ..errors import InputError
from ..objective import INT_LIMIT, Instance
from .bnb import LIMIT, OPTIMAL, Solution
from .coupled import Coupled, coupled, scaled_down, worth
from .kernels import INNER
from .local import Walk, improve, key_of, start_walk, walk
from .reduce import options_of
from .relaxation import (
    CHOSEN,
    NOTHING,
    OPEN,
    OUT,
    Scratch,
    ascend,
    best_at,
    marginals,
    open_part,
    scratch,
    settle,
)

# Cells of units looked at, one an evaluation of the bound; a minute's worth on a small machine.
DEFAULT_CELL_LIMIT = 1_000_000_000
LOOKS_A_CELL = 32  # looks of the local search that take as long
# What open nodes may take up; MOST_NODES bounds it where nodes are small.
POOL_BYTES = 400 << 20
MOST_NODES = 1 << 18
# numpy numbers: a plain constant is a type of its own, for which kernels are compiled again.
ROOT_EVALUATIONS, ROOT_PATIENCE = 4000, np.int64(40)
NODE_EVALUATIONS, PATIENCE = 25, np.int64(20)
ROUNDS = 8  # of taking options out at one node
FIRST_SHAKES, SHAKES = 50, 150
PART = 4  # one over it: the part of the limit that each of the first local searches and root bounds may take
LEAST_LOOKS = 100_000_000  # of the greedy start, whatever the limit: a tenth of a second
NODES_A_SHAKE = 4


def solve_dense(instance: Instance, budget: int, k: int = 1, cell_limit: int = DEFAULT_CELL_LIMIT) -> Solution:
    """The optimum of `instance` at `budget` (whole cost units), at most k candidates a group.

    Status `limit` where that takes more than about `cell_limit` cells of the bound (local search is counted in), or
    more nodes at a time than POOL_BYTES hold; then bound_int is proven, and at most the linear relaxation's (unless
    HiGHS did not solve that, which only guides the search). `nodes` counts nodes. Where the limit ended the search
    among selections of the proven value, status is `optimal` and `canonical` is false.
    Raises InputError on budget < 0, k < 1, too many options (reduce.py) and numbers beyond 62 bits.
    """
    if budget < 0 or k < 1:
        raise InputError(f"budget {budget} and k {k}: the budget must be >= 0 and k >= 1")
    within = min(budget, int(instance.cost.sum()))
    if instance.max_int * (within + 1) >= INT_LIMIT:
        raise InputError(
            f"values up to {instance.max_int} at budget {within} do not fit 62 bits; use fewer decimals or `quantize`"
        )
    options = options_of(instance, k)
    p = coupled(options, instance.max_int, within)
    if not len(p.cost):
        return Solution(OPTIMAL, 0, 0, instance.scale, 0, (), 0)
    choice, local = np.full(len(p.start) - 1, -1, np.int64), start_walk(p)
    room = cell_limit // PART * LOOKS_A_CELL
    improve(p, choice, np.bool_(False), max(room, LEAST_LOOKS))
    walk(p, local, FIRST_SHAKES, choice, room)
    space, most = scratch(p), largest_multipliers(p)
    evaluations = cell_limit // PART // (len(p.cell_option) + len(p.start))
    multipliers, price, root, linear = _start(p, space, most, choice, min(max(1, evaluations), ROOT_EVALUATIONS))
    capacity = min(MOST_NODES, max(64, POOL_BYTES // (2 * len(p.cell_option) + 2 * len(p.cost) + 64)))
    # What the relaxation takes by halves is what to change.
    local.likely[:] = np.clip(space.mean, 0.05, 0.95)
    walk(p, local, SHAKES, choice, room)
    scaled, nodes = _search(p, space, most, multipliers, price, root, local, choice, cell_limit, capacity)
    value, cost = (int(x) for x in worth(p, choice))
    closed = scaled < _cut(p, value, cost)
    if not closed:
        bound = max(value, min(_whole(scaled + p.fee * within, p.shift), linear, instance.max_int))
    selection = options.candidates(p.position[choice[choice >= 0]].tolist())
    if closed:
        return Solution(OPTIMAL, value, value, instance.scale, cost, selection, nodes)
    status = OPTIMAL if bound == value else LIMIT
    return Solution(status, value, bound, instance.scale, cost, selection, nodes, canonical=False)


def _whole(scaled: int, shift: int) -> int:
    """The largest whole value that a scaled bound allows."""
    return scaled >> shift if shift >= 0 else scaled << -shift


# ---- multipliers to start from


def scaled_bases(p: Coupled, fee: int) -> np.ndarray:
    """Each option's modular value less its cost at `fee`, scaled."""
    up = p.base << p.shift if p.shift >= 0 else -((-p.base) >> -p.shift)
    return up - fee * p.cost


def largest_multipliers(p: Coupled) -> np.ndarray:
    """Each cell's worth by itself, float64: a larger multiplier never lowers the bound."""
    return p.table[p.table_ptr[p.cell_unit] + p.cell_step].astype(np.float64)


def _start(p: Coupled, s: Scratch, most: np.ndarray, choice: np.ndarray, evaluations: int):
    """(multipliers int32, price of the budget, scaled bound, whole bound of value by the linear relaxation).

    The ascent is run from two starts: the duals of the linear relaxation, good unless that saturates every unit,
    and a tenth of what each cell is worth by itself.
    """
    one = 2.0**p.shift
    dual, dual_price = _linear_duals(p)
    starts = [
        (np.rint(np.clip(dual * one, 0, most)).astype(np.int32), int(dual_price * one)),
        ((most / 10).astype(np.int32), 0),
    ]
    linear = _whole(int(_root_bound(p, s, scaled_bases(p, 0), most, *starts[0], 0, 1)[0]), p.shift)
    base, cut = scaled_bases(p, p.fee), _cut(p, *worth(p, choice))
    lowered = [_root_bound(p, s, base, most, *start, cut, evaluations) for start in starts]
    (of_duals, *_), (of_parts, *_) = lowered
    # Duals near zero, where the relaxation saturates all, tell nothing of what to branch on.
    _, multipliers, price = lowered[of_parts - (of_parts - cut) // 8 <= of_duals]
    return multipliers, price, min(of_duals, of_parts), linear


@njit(cache=True)
def _root_bound(p, s, base, most, multipliers, price, cut, evaluations):
    """(bound, multipliers, price) after `evaluations` of the whole problem's bound."""
    s.state[:] = OPEN
    s.must[:] = False
    _, remaining, constant = settle(p, s, base)
    _, n_groups, n_units, n_cells, uncovered = open_part(p, s, multipliers, remaining)
    bound, price, _ = ascend(
        p,
        s,
        base,
        most,
        n_groups,
        n_units,
        n_cells,
        remaining,
        constant + uncovered,
        price,
        cut,
        evaluations,
        ROOT_PATIENCE,
    )
    found = multipliers.copy()
    for c in range(n_cells):
        found[s.cell[c]] = s.best[c]
    return bound, found, price


def _linear_duals(p: Coupled) -> tuple[np.ndarray, float]:
    """(value of each cell, value of a unit of cost), unscaled, by the duals of the linear relaxation:

    maximise sum base_i x_i + sum peak_u y_u, y_u <= (slope * coverage_u + intercept) * weight_u / peak_u for each
    rising line of h, one option a group, the budget; x and y in [0, 1]. peak: a unit's value where h turns flat.
    All zero where HiGHS does not solve it: any multipliers give a bound.
    """
    # Importing scipy's optimiser takes longer than most solves, which never get here.
    from scipy.optimize import linprog
    from scipy.sparse import coo_matrix

    options, units, groups = len(p.cost), len(p.top), len(p.start) - 1
    rising = np.flatnonzero(p.slope)
    peak = p.table[p.table_ptr[1:] - 1] / 2.0**p.shift
    norm = float(np.concatenate([peak, p.base]).mean())  # LP solvers want numbers around 1
    part = p.weight[p.cell_unit] * p.cell_cov.astype(np.float64) / peak[p.cell_unit]
    rows = [np.zeros(options), 1 + p.group_of]
    columns = [np.arange(options), np.arange(options)]
    values = [p.cost.astype(np.float64), np.ones(options)]
    limits = [np.array([p.budget]), np.ones(groups)]
    for at, line in enumerate(rising):
        first = 1 + groups + at * units
        rows += [first + p.cell_unit, first + np.arange(units)]
        columns += [p.cell_option, options + np.arange(units)]
        values += [-part * p.slope[line], np.ones(units)]
        limits += [p.weight * (p.intercept[line] / peak)]
    matrix = coo_matrix(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
        shape=(1 + groups + len(rising) * units, options + units),
    )
    worth_of = -np.concatenate([p.base, peak]) / norm
    # By interior points: the dual simplex takes ten times as long on 2,000 groups, and more on larger packages.
    found = linprog(worth_of, matrix.tocsr(), np.concatenate(limits), bounds=(0, 1), method="highs-ipm")
    if not found.success:
        return np.zeros(len(p.cell_option)), 0.0
    dual = -found.ineqlin.marginals * norm
    share = np.zeros(len(p.cell_option))
    for at, line in enumerate(rising):
        share += dual[1 + groups + at * units + p.cell_unit] * part * p.slope[line]
    return share, float(dual[0])


# ---- the search


class Pool(NamedTuple):
    """Open nodes in a heap, the highest bound first, of equal ones the latest; children share multipliers.

    One a node: `state`, `must`, `bound`, `price`, `age` (its number), `row` (of its multipliers); one a row:
    `multipliers`, `users`. `heap`: nodes; `free`, `free_rows`: unused ones. `size`: lengths of these three, and how
    many nodes were pushed.
    """

    state: np.ndarray
    must: np.ndarray
    bound: np.ndarray
    price: np.ndarray
    age: np.ndarray
    row: np.ndarray
    multipliers: np.ndarray
    users: np.ndarray
    heap: np.ndarray
    free: np.ndarray
    free_rows: np.ndarray
    size: np.ndarray


def _pool(p: Coupled, capacity: int) -> Pool:
    """Room for `capacity` nodes; numpy takes memory only where a row is written."""
    rows = capacity // 2 + 1

    def ints(n: int) -> np.ndarray:
        return np.zeros(n, np.int64)

    return Pool(
        np.zeros((capacity, len(p.cost)), np.uint8), np.zeros((capacity, len(p.start) - 1), np.bool_),
        ints(capacity), ints(capacity), ints(capacity), ints(capacity),
        np.zeros((rows, len(p.cell_option)), np.int32), ints(rows),
        ints(capacity), np.arange(capacity)[::-1].copy(), np.arange(rows)[::-1].copy(),
        np.array([0, capacity, rows, 0]),
    )  # fmt: skip


@njit(cache=True, **INNER)
def _first(pool, a, b):
    """Node a is to be popped before b."""
    return pool.bound[a] > pool.bound[b] or (pool.bound[a] == pool.bound[b] and pool.age[a] > pool.age[b])


@njit(cache=True)
def _push(pool, state, must, bound, price, row):
    pool.size[1] -= 1
    node = pool.free[pool.size[1]]
    pool.state[node], pool.must[node] = state, must
    pool.bound[node], pool.price[node], pool.row[node] = bound, price, row
    pool.users[row] += 1
    pool.age[node] = pool.size[3]
    pool.size[3] += 1
    at = pool.size[0]
    pool.size[0] += 1
    while at > 0 and _first(pool, node, pool.heap[(at - 1) // 2]):
        pool.heap[at] = pool.heap[(at - 1) // 2]
        at = (at - 1) // 2
    pool.heap[at] = node
    return node


@njit(cache=True, **INNER)
def _pop(pool, last):
    """The open node of the highest bound, or the last of the heap, one of low bound; its slot stays readable until
    the next push."""
    pool.size[0] -= 1
    size = pool.size[0]
    moved = pool.heap[size]
    node = moved if last else pool.heap[0]
    if not last and size:
        at = 0
        while 2 * at + 1 < size:
            child = 2 * at + 1
            if child + 1 < size and _first(pool, pool.heap[child + 1], pool.heap[child]):
                child += 1
            if _first(pool, moved, pool.heap[child]):
                break
            pool.heap[at] = pool.heap[child]
            at = child
        pool.heap[at] = moved
    pool.free[pool.size[1]] = node
    pool.size[1] += 1
    row = pool.row[node]
    pool.users[row] -= 1
    if not pool.users[row]:
        pool.free_rows[pool.size[2]] = row
        pool.size[2] += 1
    return node


@njit(cache=True)
def _cut(p, value, cost):
    """The scaled bound below which nothing is as good as (value, cost)."""
    return scaled_down(value, p.shift) - p.fee * cost


@njit(cache=True, **INNER)
def _precedes(a, b):
    """Choice a comes before b in the protocol's order."""
    for g in range(len(a)):
        if a[g] != b[g]:
            return b[g] < 0 or 0 <= a[g] < b[g]
    return False


@njit(cache=True, **INNER)
def _too_late(p, s, best):
    """No selection of node s comes before the choice `best`."""
    for g in range(len(best)):
        chosen, first, holds_best = -1, -1, False
        for i in range(p.start[g], p.start[g + 1]):
            if s.state[i] == CHOSEN:
                chosen = i
            elif s.state[i] == OPEN:
                first = i if first < 0 else first
                holds_best |= i == best[g]
        earliest = chosen if chosen >= 0 else first
        if earliest >= 0 and (best[g] < 0 or earliest < best[g]):
            return False
        if chosen >= 0 or first < 0:
            holds_best = chosen == best[g]
        elif best[g] < 0:
            holds_best = not s.must[g]
        if not holds_best:
            return True
    return True


@njit(cache=True, **INNER)
def _offer(p, choice, pairs, best, room):
    """Improve `choice` and make it `best` where it is better; returns the looks that took."""
    looks = improve(p, choice, pairs, room)
    key, known = key_of(p, choice), key_of(p, best)
    if key > known or (key == known and _precedes(choice, best)):
        best[:] = choice
    return looks


@njit(cache=True, **INNER)
def _node_choice(p, s, n_groups, picked, choice):
    """Fill `choice` with what node s has chosen and what is `picked` of its open groups."""
    choice[:] = -1
    for i in range(len(p.cost)):
        if s.state[i] == CHOSEN:
            choice[p.group_of[i]] = i
    cost = 0
    for q in range(n_groups):
        if picked[q] >= 0:
            choice[s.groups[q]] = picked[q]
    for o in choice:
        cost += p.cost[o] if o >= 0 else 0
    return cost <= p.budget


@njit(cache=True, **INNER)
def _take_out(p, s, n_groups, cut):
    """Decide what the marginal bounds decide. Returns (how many decisions, the option to branch on or -1).

    Branching goes to a dear option about which the relaxation is undecided: the largest share * sqrt(1 - share) *
    cost. (Measured on the dense family: by marginal bounds, or with a child for each option, nodes are 3 to 100 times
    as many; by pseudo-costs, with or without probing children, no fewer.)
    """
    decided, branch, most = 0, -1, -1.0
    for q in range(n_groups):
        g, ways = s.groups[q], 0
        if not s.must[g]:
            if s.skip[g] < cut:
                s.must[g] = True
                decided += 1
            else:
                ways += 1
        for i in range(p.start[g], p.start[g + 1]):
            if s.state[i] == OPEN:
                if s.extra[i] < cut:
                    s.state[i] = OUT
                    decided += 1
                else:
                    ways += 1
        if ways > 1:
            for i in range(p.start[g], p.start[g + 1]):
                if s.state[i] == OPEN:
                    share = min(max(s.mean[i], 0.02), 0.98)
                    score = share * np.sqrt(1 - share) * p.cost[i]
                    if score > most:
                        branch, most = i, score
    return decided, branch


@njit(cache=True, **INNER)
def _first_open(p, s, n_groups):
    """The first open option, in the protocol's order, of a group that has more than one way."""
    for q in range(n_groups):
        g, ways, option = s.groups[q], 0, -1
        for i in range(p.start[g], p.start[g + 1]):
            if s.state[i] == OPEN:
                option = i if option < 0 else option
                ways += 1
        if ways + (not s.must[g]) > 1 and option >= 0:
            return option
    return -1


@njit(cache=True, **INNER)
def _branch(p, s, pool, option, bound, price, multipliers, cut):
    """Push two children: `option` out, and chosen."""
    pool.size[2] -= 1
    row = pool.free_rows[pool.size[2]]
    pool.multipliers[row] = multipliers
    g = p.group_of[option]
    otherwise = s.skip[g]
    for i in range(p.start[g], p.start[g + 1]):
        if s.state[i] == OPEN and i != option:
            otherwise = max(otherwise, s.extra[i])
    if min(bound, otherwise) >= cut:
        child = _push(pool, s.state, s.must, min(bound, otherwise), price, row)
        pool.state[child, option] = OUT
    if min(bound, s.extra[option]) >= cut:
        child = _push(pool, s.state, s.must, min(bound, s.extra[option]), price, row)
        pool.state[child, p.start[g] : p.start[g + 1]] = OUT
        pool.must[child, g] = False
        pool.state[child, option] = CHOSEN
    if not pool.users[row]:
        pool.free_rows[pool.size[2]] = row
        pool.size[2] += 1


@njit(cache=True)
def _search_pool(p, s, pool, base, most, multipliers, local, best, cell_limit, evaluations):
    """Empty the pool or reach the limit. `best` is improved in place. Returns (scaled bound of what is open or
    NOTHING, nodes)."""
    nodes, looked, looks, room = 0, 0, np.int64(0), cell_limit * LOOKS_A_CELL
    choice = np.empty(len(best), np.int64)
    reserve = min(len(pool.heap) // 4, 4096)
    while pool.size[0]:
        # On large packages a shake takes longer than nodes do: then no more of them than half the work.
        if nodes % NODES_A_SHAKE == NODES_A_SHAKE - 1 and looks <= looked * LOOKS_A_CELL:
            looks += walk(p, local, np.int64(1), best, room)
        cut = _cut(p, *worth(p, best))
        if pool.bound[pool.heap[0]] < cut:
            return NOTHING, nodes
        if looked + looks // LOOKS_A_CELL > cell_limit or pool.size[1] < 2 or pool.size[2] == 0:
            return pool.bound[pool.heap[0]], nodes
        # Where room runs short the search goes deep, which frees room.
        node = _pop(pool, pool.size[1] < reserve or pool.size[2] < reserve)
        nodes += 1
        bound, price = pool.bound[node], pool.price[node]
        s.state[:], s.must[:] = pool.state[node], pool.must[node]
        multipliers[:] = pool.multipliers[pool.row[node]]
        branch = -1
        for turn in range(ROUNDS):
            branch = -1
            feasible, remaining, constant = settle(p, s, base)
            if not feasible:
                break
            feasible, n_groups, n_units, n_cells, uncovered = open_part(p, s, multipliers, remaining)
            if not feasible:
                break
            constant += uncovered
            # Keys differ by `fee` at least: a node that comes too late in the order must reach the next one.
            goal = cut + p.fee if p.fee > 0 and _too_late(p, s, best) else cut
            lower, price, made = ascend(
                p, s, base, most, n_groups, n_units, n_cells, remaining, constant, price, goal, evaluations, PATIENCE
            )
            looked += made * (n_cells + n_groups)
            bound = min(bound, lower)
            if bound < goal:
                break
            if turn == 0 and (nodes < 256 or nodes % 16 == 0) and _node_choice(p, s, n_groups, s.high, choice):
                looks += _offer(p, choice, nodes < 16 or nodes % 256 == 0, best, room)
                cut = _cut(p, *worth(p, best))
                goal = max(goal, cut)
            for c in range(n_cells):
                s.multiplier[c] = s.best[c]
                multipliers[s.cell[c]] = s.best[c]
            marginals(p, s, base, n_groups, n_units, n_cells, remaining, constant, price)
            decided, branch = _take_out(p, s, n_groups, goal)
            if branch < 0:
                # What is left is one selection at most.
                best_at(p, s, n_groups, np.int64(0), s.pick)
                for q in range(n_groups):
                    s.pick[q] = s.pick[q] if s.must[s.groups[q]] else -1
                if _node_choice(p, s, n_groups, s.pick, choice):
                    looks += _offer(p, choice, np.bool_(False), best, room)
                break
            if decided * 20 <= n_groups:
                break
        if branch >= 0:
            if bound < cut + p.fee:
                # Nothing here is better than `best`: what is left to find is the first selection as good.
                branch, bound = _first_open(p, s, n_groups), cut
            _branch(p, s, pool, branch, bound, price, multipliers, cut)
    return NOTHING, nodes


def _search(
    p: Coupled, s: Scratch, most, multipliers, price, bound, local: Walk, choice, cell_limit, capacity
) -> tuple[int, int]:
    """The search from the root; see _search_pool."""
    pool = _pool(p, capacity)
    s.state[:], s.must[:] = OPEN, False
    root = _push(pool, s.state, s.must, bound, price, _first_row(pool))
    pool.multipliers[pool.row[root]] = multipliers
    base = scaled_bases(p, p.fee)
    bound, nodes = _search_pool(p, s, pool, base, most, multipliers.copy(), local, choice, cell_limit, NODE_EVALUATIONS)
    return int(bound), int(nodes)


def _first_row(pool: Pool) -> int:
    pool.size[2] -= 1
    return int(pool.free_rows[pool.size[2]])
