"""Adding up the curves of independent components, and finding the protocol's selection on the sum.

`V_c(b)` is the most that components c, c + 1, ... are worth at cost <= b. It is computed from the last
component to the first, as a list of breakpoints where these are few and as one value a budget where they are
many, and kept only at the borders of blocks of components. A selection walks from component 0 at its cost
forwards; the curves inside a block are computed again, for the costs that the walk can meet there.

Ties. Several points of a component can lead to the optimum, and components may overlap in the order of
groups, so the first selection of the protocol is not found component by component. The walk therefore takes
along every cost left from which the optimum is reached, until components no longer overlap. Then it goes
backwards over what it met and keeps, at each component, the order of the best completions of all costs left,
with the first group where neighbours differ: of two completions the one whose difference comes in an earlier
group decides, because components have no group in common.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .kernels import INNER
from .labels import MEMORY, NEVER, OK, WORK, first_difference, grown

SPARSE = 8  # a breakpoint in a list costs about as much as this many budgets in an array
LOOK = 16  # components between looks whether a list or an array suits better


# ---- curves: (costs, values) of n breakpoints from cost 0, or values alone of budgets 0..n-1 (constant beyond)


@njit(cache=True, **INNER)
def _add_to_list(costs, values, n, p_cost, p_value, cap):
    """(costs, values, n, steps) of a list of breakpoints plus a component's points, up to cost `cap`."""
    sum_c, sum_v, m, steps = costs[:n], values[:n], n, 0
    for t in range(1, len(p_cost)):
        dc, dv = p_cost[t], p_value[t]
        if dc > cap:
            break
        out_c, out_v = np.empty(m + n, np.int64), np.empty(m + n, np.int64)
        i, j, k, top = 0, 0, 0, -1
        while i < m or j < n:
            if j < n and costs[j] > cap - dc:
                j = n
                continue
            if j == n or (i < m and sum_c[i] < costs[j] + dc):
                c, v = sum_c[i], sum_v[i]
                i += 1
            else:
                c, v = costs[j] + dc, values[j] + dv
                if i < m and sum_c[i] == c:
                    v = max(v, sum_v[i])
                    i += 1
                j += 1
            if v > top:
                out_c[k], out_v[k], top = c, v, v
                k += 1
        steps += m + n
        sum_c, sum_v, m = out_c[:k], out_v[:k], k
    return sum_c, sum_v, m, steps


@njit(cache=True, **INNER)
def _add_to_array(values, n, p_cost, p_value, cap):
    """Values of budgets 0..cap of an array of values plus a component's points."""
    out = np.empty(cap + 1, np.int64)
    inside = min(n, cap + 1)
    out[:inside] = values[:inside]
    out[inside:] = values[n - 1]
    for t in range(1, len(p_cost)):
        dc, dv = p_cost[t], p_value[t]
        if dc > cap:
            break
        end = min(cap + 1 - dc, n)
        shifted = out[dc : dc + end]  # indices from 0 on: the compiler makes vector instructions of this loop
        for b in range(end):
            shifted[b] = max(shifted[b], values[b] + dv)
        full = values[n - 1] + dv
        for b in range(end + dc, cap + 1):
            out[b] = max(out[b], full)
    return out


@njit(cache=True, **INNER)
def _array_of(costs, values, n, top):
    """The values of budgets 0..top of a list of breakpoints."""
    out = np.empty(top + 1, np.int64)
    j = 0
    for b in range(top + 1):
        while j + 1 < n and costs[j + 1] <= b:
            j += 1
        out[b] = values[j]
    return out


@njit(cache=True, **INNER)
def _list_of(values, n):
    """(costs, values, breakpoints) of an array."""
    k = 1
    for b in range(1, n):
        if values[b] > values[b - 1]:
            k += 1
    costs, out = np.zeros(k, np.int64), np.empty(k, np.int64)
    out[0] = values[0]
    k = 1
    for b in range(1, n):
        if values[b] > values[b - 1]:
            costs[k], out[k] = b, values[b]
            k += 1
    return costs, out, k


@njit(cache=True, **INNER)
def _last_at_most(costs, lo, hi, b):
    """The last position in lo..hi-1 of a cost <= b; costs rise and costs[lo] <= b."""
    while hi - lo > 1:
        mid = (lo + hi) // 2
        if costs[mid] <= b:
            lo = mid
        else:
            hi = mid
    return lo


@njit(cache=True)
def add_up(point_at, p_cost, p_value, budget, block, room, work_limit, entry_limit):
    """The sum of all components' curves, and the sums after each block of `block` components.

    Returns (status, steps, costs and values of the breakpoints of V_0, at, costs, values, is_list): after block
    blocks - 1 - j the curve stands in at[j]:at[j + 1] of costs and values (costs only for a list); `room`: entries
    that these curves are likely to take.
    """
    count = len(point_at) - 1
    blocks = (count + block - 1) // block
    at = np.zeros(blocks + 1, np.int64)  # in order of computing: the last block first
    is_list = np.ones(blocks, np.bool_)
    k_cost, k_value = np.empty(64, np.int64), np.empty(room, np.int64)
    used, work, reach = 0, 0, 0
    costs, values, n = np.zeros(1, np.int64), np.zeros(1, np.int64), 1
    listed = True
    for c in range(count - 1, -1, -1):
        if (c + 1) % LOOK == 0 or c == count - 1:
            if listed and n * SPARSE > reach + LOOK:
                values, n, listed = _array_of(costs, values, n, reach), reach + 1, False
            elif not listed:
                few_c, few_v, k = _list_of(values, n)
                if k * SPARSE <= reach + LOOK:
                    costs, values, n, listed = few_c, few_v, k, True
        if (c + 1) % block == 0 or c == count - 1:
            if used + n > entry_limit:
                return MEMORY, work, costs, values, at, k_cost, k_value, is_list
            k_value = grown(k_value, used + n)
            k_value[used : used + n] = values[:n]
            if listed:
                k_cost = grown(k_cost, used + n)
                k_cost[used : used + n] = costs[:n]
            is_list[c // block] = listed
            used += n
            at[blocks - c // block] = used
        a, b = point_at[c], point_at[c + 1]
        reach = min(budget, reach + p_cost[b - 1])
        if listed:
            costs, values, n, steps = _add_to_list(costs, values, n, p_cost[a:b], p_value[a:b], reach)
            work += steps
        else:
            values = _add_to_array(values, n, p_cost[a:b], p_value[a:b], reach)
            n = reach + 1
            work += (b - a) * n // SPARSE
        if work > work_limit:
            return WORK, work, costs, values, at, k_cost, k_value, is_list
        if n > entry_limit:
            return MEMORY, work, costs, values, at, k_cost, k_value, is_list
    if not listed:
        costs, values, n = _list_of(values, n)
    return OK, work, costs[:n], values[:n], at, k_cost, k_value, is_list


# ---- the protocol's selection


@njit(cache=True, **INNER)
def _least(table, i, j):
    """min of table[0, i:j] for i < j, from a table of minima of 2^level entries."""
    level = 0
    while 2 << level <= j - i:
        level += 1
    return min(table[level, i], table[level, j - (1 << level)])


@njit(cache=True, **INNER)
def _compare(s, t, point, to, p_node, parent, option, node_group, mark, place, table):
    """(whether the completion by edge s precedes that by edge t, the first group where they differ)."""
    apart, first = first_difference(p_node[point[s]], p_node[point[t]], parent, option, node_group, mark)
    i, j = place[to[s]], place[to[t]]
    later = NEVER
    if i != j:
        later = _least(table, min(i, j), max(i, j))
    if apart < later:
        return first, apart
    return later < NEVER and i < j, later


@njit(cache=True, **INNER)
def _minima(first):
    """Minima of 1, 2, 4, ... neighbours of an array, one row each."""
    n, levels = len(first), 1
    while 1 << levels <= n:
        levels += 1
    table = np.empty((levels, max(n, 1)), np.int64)
    table[0, :n] = first
    for level in range(1, levels):
        half = 1 << (level - 1)
        for i in range(n - 2 * half + 1):
            table[level, i] = min(table[level - 1, i], table[level - 1, i + half])
    return table


@njit(cache=True, **INNER)
def _resolve(stages, state_at, edge_at, point, to, p_node, parent, option, node_group, mark, picked):
    """Fill picked (a point for each stage) with the first selection on the way from the only state of stage 0.

    States state_at[j]:state_at[j + 1] belong to stage j; edges edge_at[s]:edge_at[s + 1] leave state s, by a
    point, `to` a state of the next stage. Returns the number of the last state.
    """
    states = state_at[stages + 1]
    best = np.zeros(states, np.int64)
    place = np.zeros(states, np.int64)
    for i in range(state_at[stages], states):
        place[i] = i - state_at[stages]
    table = _minima(np.full(max(states - state_at[stages] - 1, 0), NEVER, np.int64))
    for j in range(stages - 1, -1, -1):
        lo, n = state_at[j], state_at[j + 1] - state_at[j]
        for s in range(lo, lo + n):
            best[s] = edge_at[s]
            for e in range(edge_at[s] + 1, edge_at[s + 1]):
                if _compare(e, best[s], point, to, p_node, parent, option, node_group, mark, place, table)[0]:
                    best[s] = e
        order, scratch = np.arange(lo, lo + n), np.empty(n, np.int64)
        run = 1
        while run < n:
            for a in range(0, n, 2 * run):
                mid, end = min(a + run, n), min(a + 2 * run, n)
                x, y = a, mid
                for i in range(a, end):
                    if x < mid and (
                        y == end
                        or not _compare(
                            best[order[y]],
                            best[order[x]],
                            point,
                            to,
                            p_node,
                            parent,
                            option,
                            node_group,
                            mark,
                            place,
                            table,
                        )[0]
                    ):
                        scratch[i] = order[x]
                        x += 1
                    else:
                        scratch[i] = order[y]
                        y += 1
            order[:] = scratch
            run *= 2
        first = np.empty(max(n - 1, 0), np.int64)
        for i in range(n - 1):
            first[i] = _compare(
                best[order[i]], best[order[i + 1]], point, to, p_node, parent, option, node_group, mark, place, table
            )[1]
        for i in range(n):
            place[order[i]] = i
        table = _minima(first)
    s = state_at[0]
    for j in range(stages):
        picked[j] = point[best[s]]
        s = to[best[s]]
    return s


@njit(cache=True, **INNER)
def _window(first, end, lo, hi, point_at, p_cost, p_value, k_cost, k_value, is_list):
    """The curves V_(first + 1) .. V_end at costs lo..hi, from V_end (k_cost, k_value).

    Returns (at, costs, values, listed): V_c is at[end - c]:at[end - c + 1] with costs less `lo`. V_c is exact from
    lo + (the most that components c..end-1 cost) on.
    """
    if is_list:
        a = _last_at_most(k_cost, 0, len(k_cost), lo)
        b = _last_at_most(k_cost, a, len(k_cost), hi) + 1
        costs, values, n = k_cost[a:b] - lo, k_value[a:b].copy(), b - a
        costs[0] = 0
    else:
        a = min(lo, len(k_value) - 1)
        values, n = k_value[a : hi + 1].copy(), len(k_value[a : hi + 1])
        costs = np.zeros(1, np.int64)
    listed, top = is_list, hi - lo
    if listed and n * SPARSE > top:
        values, n, listed = _array_of(costs, values, n, top), top + 1, False
    at = np.zeros(end - first + 1, np.int64)
    all_c, all_v = np.empty(64, np.int64), np.empty(64, np.int64)
    used = 0
    for c in range(end, first, -1):
        if c < end:
            points = slice(point_at[c], point_at[c + 1])
            if listed:
                costs, values, n, _ = _add_to_list(costs, values, n, p_cost[points], p_value[points], top)
            else:
                values = _add_to_array(values, n, p_cost[points], p_value[points], min(top, n - 1 + p_cost[points][-1]))
                n = len(values)
        all_v = grown(all_v, used + n)
        all_v[used : used + n] = values[:n]
        if listed:
            all_c = grown(all_c, used + n)
            all_c[used : used + n] = costs[:n]
        used += n
        at[end - c + 1] = used
    return at, all_c, all_v, listed


@njit(cache=True, **INNER)
def _worth(b, lo, hi, costs, values, listed):
    """The curve in lo..hi-1 at (shifted) cost b."""
    return values[_last_at_most(costs, lo, hi, b)] if listed else values[min(lo + b, hi - 1)]


@njit(cache=True, **INNER)
def _distinct(numbers):
    """The distinct numbers, ascending; sorts in place."""
    if len(numbers) > 32:
        numbers.sort()
    else:
        for i in range(1, len(numbers)):
            x, j = numbers[i], i
            while j > 0 and numbers[j - 1] > x:
                numbers[j] = numbers[j - 1]
                j -= 1
            numbers[j] = x
    n = 0
    for x in numbers:
        if n == 0 or x != numbers[n - 1]:
            numbers[n] = x
            n += 1
    return numbers[:n]


@njit(cache=True)
def walk(
    target, worth, point_at, p_cost, p_value, p_node, parent, option, node_group, cut, block, at, k_cost, k_value,
    is_list, group_count, entry_limit,
):  # fmt: skip
    """(status, a point for each component): the first selection worth `worth` = V_0(target), which costs
    exactly `target`.

    `cut[c]`: all groups of components 0..c come before those of later ones.
    """
    count = len(point_at) - 1
    blocks = len(is_list)
    # What is left to reach is known with the cost left: V_c(b) less the value of the points chosen.
    picked = np.zeros(count, np.int64)
    state_at, state, edge_at = np.zeros(block + 2, np.int64), np.empty(64, np.int64), np.zeros(64, np.int64)
    point, to, spent = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    need = np.empty(64, np.int64)
    mark = np.full(group_count, -1, np.int64)
    state[0], need[0] = target, worth
    begin, states, edges = 0, 1, 0  # of the stretch of overlapping components now open
    lo_state = 0  # first state of the present stage
    for j in range(blocks):
        first, end = j * block, min((j + 1) * block, count)
        reach = 0
        for c in range(first, end):
            reach += p_cost[point_at[c + 1] - 1]
        base = max(0, state[lo_state] - reach)
        top = state[states - 1]
        kept = slice(at[blocks - 1 - j], at[blocks - j])
        w_at, w_cost, w_value, listed = np.zeros(1, np.int64), k_cost[:0], k_value[:0], False
        if end - first > 1:
            w_at, w_cost, w_value, listed = _window(
                first, end, base, top, point_at, p_cost, p_value, k_cost[kept], k_value[kept], is_list[j]
            )
            if len(w_value) > entry_limit:
                return MEMORY, picked
        for c in range(first, end):
            after = end - c - 1
            if after:
                lo, hi, costs, values, shift = w_at[after], w_at[after + 1], w_cost, w_value, base
            else:
                lo, hi, costs, values, shift = at[blocks - 1 - j], at[blocks - j], k_cost, k_value, 0
                listed = is_list[j]
            alone = cut[c] and c == begin
            n = 0
            fresh = edges
            for s in range(lo_state, states):
                b = state[s] - shift
                edge_at = grown(edge_at, s + 2)
                edge_at[s] = edges
                for t in range(point_at[c], point_at[c + 1]):
                    rest = b - p_cost[t]
                    if rest < 0:
                        break
                    if p_value[t] + _worth(rest, lo, hi, costs, values, listed) != need[s]:
                        continue
                    if alone:
                        nodes = p_node[t], p_node[picked[c]]
                        if n == 0 or first_difference(*nodes, parent, option, node_group, mark)[1]:
                            picked[c] = t
                        n = 1
                        continue
                    point, to, spent = grown(point, edges + 1), grown(to, edges + 1), grown(spent, n + 1)
                    point[edges] = t
                    spent[n] = rest + shift
                    n += 1
                    edges += 1
                edge_at[s + 1] = edges
            if alone:
                state[0] -= p_cost[picked[c]]
                need[0] -= p_value[picked[c]]
                begin = c + 1
                continue
            if edges > entry_limit:
                return MEMORY, picked
            to[fresh:edges] = spent[:n]
            rests = _distinct(spent[:n])
            state, need = grown(state, states + len(rests)), grown(need, states + len(rests))
            state[states : states + len(rests)] = rests
            for i in range(len(rests)):
                need[states + i] = _worth(rests[i] - shift, lo, hi, costs, values, listed)
            for e in range(fresh, edges):
                to[e] = states + _last_at_most(rests, 0, len(rests), to[e])
            lo_state = states
            states += len(rests)
            stages = c - begin + 1
            state_at = grown(state_at, stages + 2)
            state_at[stages], state_at[stages + 1] = lo_state, states
            if cut[c]:
                edge_at = grown(edge_at, states + 1)
                final = _resolve(
                    stages,
                    state_at,
                    edge_at,
                    point,
                    to,
                    p_node,
                    parent,
                    option,
                    node_group,
                    mark,
                    picked[begin : c + 1],
                )
                state[0], need[0] = state[final], need[final]
                begin, lo_state, states, edges = c + 1, 0, 1, 0
    return OK, picked
