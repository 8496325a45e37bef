"""Components solved for every cost at once, by labels.

Labels (cost, value, coverage of the units still open) pass through a component's groups in order. Label p
drops label q where it costs no more and is ahead by at least all that its lower coverage lets q still win back:

    c_p <= c_q   and   V_p - V_q >= sum_r w_r * max(0, (h(z_p) - h(z_q)) - (h(z_p + a) - h(z_q + a)))

with z the coverages of unit r and a the most that later groups can add to it (h is concave: the difference
of what q and p can still gain on r grows with the coverage added). Among labels of equal coverage only the
one of most value so far needs looking at, so the work of a group is its labels times the distinct coverages.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .kernels import f_line

OK, WORK, MEMORY = 0, 1, 2  # how a search ended: closed, too many comparisons, too many bytes


@njit(cache=True)
def grown(array, size):
    """`array` with room for at least `size` entries."""
    if size <= len(array):
        return array
    larger = np.empty(max(size, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger


@njit(cache=True)
def _flat_from(slope, intercept):
    """The coverage from which on h is its last line: more of it makes no difference to later gains."""
    last = 0
    for s in range(1, len(slope)):
        if slope[s] < slope[last] or (slope[s] == slope[last] and intercept[s] < intercept[last]):
            last = s
    flat = 0
    for s in range(len(slope)):
        fall = slope[s] - slope[last]
        if fall > 0:
            flat = max(flat, -((intercept[s] - intercept[last]) // fall))
    return flat


@njit(cache=True)
def _assign_slots(start, ptr, unit, cov, alive, coupled, groups, last, slot, left, here, free):
    """Give each coupled unit a slot of the labels' coverage vectors while groups that cover it are met: fills
    `last` (place of its last group), `slot` and `left` (the most its groups add up to); returns the slots used."""
    for place in range(len(groups)):
        g = groups[place]
        for i in range(start[g], start[g + 1]):
            if alive[i]:
                for r in range(ptr[i], ptr[i + 1]):
                    last[unit[r]] = place
                    here[unit[r]] = max(here[unit[r]], cov[r])
        for i in range(start[g], start[g + 1]):
            if alive[i]:
                for r in range(ptr[i], ptr[i + 1]):
                    left[unit[r]] += here[unit[r]]
                    here[unit[r]] = 0
    width, spare = 0, 0
    for place in range(len(groups)):
        g = groups[place]
        for i in range(start[g], start[g + 1]):
            if alive[i]:
                for r in range(ptr[i], ptr[i + 1]):
                    u = unit[r]
                    if coupled[u] and slot[u] < 0:
                        if spare > 0:
                            spare -= 1
                            slot[u] = free[spare]
                        else:
                            slot[u] = width
                            width += 1
        for i in range(start[g], start[g + 1]):
            if alive[i]:
                for r in range(ptr[i], ptr[i + 1]):
                    u = unit[r]
                    if coupled[u] and last[u] == place:
                        last[u] = -1 - place  # told once
                        free[spare] = slot[u]
                        spare += 1
    return width


@njit(cache=True)
def _before(a, b, cost, value):
    """Cheapest first, then most value, then tie-breaking order (that of the numbers)."""
    if cost[a] != cost[b]:
        return cost[a] < cost[b]
    if value[a] != value[b]:
        return value[a] > value[b]
    return a < b


@njit(cache=True)
def _sort(order, scratch, n, cost, value):
    """order[:n] = 0..n-1 sorted by `_before`: insertion in runs, then merges."""
    run = 16
    for lo in range(0, n, run):
        for i in range(lo, min(lo + run, n)):
            j = i
            while j > lo and _before(i, order[j - 1], cost, value):
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
    while run < n:
        for lo in range(0, n, 2 * run):
            mid, hi = min(lo + run, n), min(lo + 2 * run, n)
            a, b = lo, mid
            for j in range(lo, hi):
                if a < mid and (b == hi or not _before(order[b], order[a], cost, value)):
                    scratch[j] = order[a]
                    a += 1
                else:
                    scratch[j] = order[b]
                    b += 1
        order[:n] = scratch[:n]
        run *= 2


@njit(cache=True)
def _mark_undominated(n, order, cost, value, z, width, slot_unit, left, weight, slope, intercept, most, best, keep):
    """keep[q] for each label that no other drops; returns the comparisons made, or -1 beyond `most`.

    `order`: cheapest first. `best`: scratch, the label of most value of each distinct coverage met so far.
    """
    classes, work = 0, 0
    for at in range(n):
        q = order[at]
        own, dominated = -1, False
        for c in range(classes):
            p = best[c]
            ahead = value[p] - value[q]
            same, lead = True, 0
            for s in range(width):
                zp, zq = z[p * width + s], z[q * width + s]
                if zp == zq:
                    continue
                same = False
                if ahead < 0:
                    break
                if zp > zq:
                    u = slot_unit[s]
                    now = f_line(zp, slope, intercept) - f_line(zq, slope, intercept)
                    then = f_line(zp + left[u], slope, intercept) - f_line(zq + left[u], slope, intercept)
                    lead += weight[u] * (now - then)
                    if lead > ahead:
                        break
            if same:
                own = c
            # As dear and no better, yet later in tie-breaking order: then p may not drop q.
            if lead < ahead or (lead == ahead and (cost[p] < cost[q] or p < q)):
                dominated = True
                work += c + 1
                break
        keep[q] = not dominated
        if not dominated:
            work += classes
            if own < 0:
                own = classes
                classes += 1
            best[own] = q
        if work > most:
            return -1
    return work


@njit(cache=True)
def component_curves(
    start, cost, ptr, unit, cov, weight, slope, intercept, order, bounds, alive, coupled, base, budget, work_limit,
    memory_limit,
):  # fmt: skip
    """The strict Pareto points of every component: groups order[bounds[c]:bounds[c + 1]], ascending.

    Returns (status, component reached, comparisons, point_at, cost, value, node, rank, parent, option): points
    point_at[c]:point_at[c + 1], cheapest first, from (0, 0). Each stands for the first selection in
    tie-breaking order of that cost and value; `rank` is that order within the component. A point's options are
    `option[node]`, then those of `parent[node]` and so on until -1, last group first.
    """
    units = len(weight)
    last = np.zeros(units, np.int64)
    left = np.zeros(units, np.int64)
    here = np.zeros(units, np.int64)
    free = np.zeros(units, np.int64)
    slot = np.full(units, -1, np.int64)
    flat = _flat_from(slope, intercept)
    count = len(bounds) - 1
    point_at = np.zeros(count + 1, np.int64)
    p_cost = np.empty(64, np.int64)
    p_value = np.empty(64, np.int64)
    p_node = np.empty(64, np.int64)
    p_rank = np.empty(64, np.int64)
    points = 0
    parent, option = np.empty(256, np.int64), np.empty(256, np.int64)
    nodes = 0
    l_cost = np.empty(64, np.int64)
    l_value = np.empty(64, np.int64)
    l_node = np.empty(64, np.int64)
    l_z = np.empty(64, np.int64)
    n_cost = np.empty(64, np.int64)
    n_value = np.empty(64, np.int64)
    n_node = np.empty(64, np.int64)
    n_option = np.empty(64, np.int64)
    n_z = np.empty(64, np.int64)
    by_cost = np.empty(64, np.int64)
    scratch = np.empty(64, np.int64)
    new = np.empty(64, np.int64)
    keep = np.empty(64, np.bool_)
    slot_unit = np.empty(units, np.int64)
    work = 0
    for c in range(count):
        groups = order[bounds[c] : bounds[c + 1]]
        width = _assign_slots(start, ptr, unit, cov, alive, coupled, groups, last, slot, left, here, free)
        size = 1
        l_cost[0], l_value[0], l_node[0] = 0, 0, -1
        l_z = grown(l_z, width)
        l_z[:width] = 0
        for place in range(len(groups)):
            g = groups[place]
            living = 0
            for i in range(start[g], start[g + 1]):
                if alive[i]:
                    living += 1
                    for r in range(ptr[i], ptr[i + 1]):
                        u = unit[r]
                        if coupled[u]:
                            slot_unit[slot[u]] = u
                            here[u] = max(here[u], cov[r])
            for i in range(start[g], start[g + 1]):
                if alive[i]:
                    for r in range(ptr[i], ptr[i + 1]):
                        left[unit[r]] -= here[unit[r]]
                        here[unit[r]] = 0
            most = size * (living + 1)
            # Arrays double as they grow, old and new stand side by side meanwhile.
            if 24 * (most * (8 + 2 * width) + 2 * nodes) > memory_limit:
                return MEMORY, c, work, point_at, p_cost, p_value, p_node, p_rank, parent, option
            n_cost, n_value, n_node, n_option = (
                grown(n_cost, most), grown(n_value, most), grown(n_node, most), grown(n_option, most),
            )  # fmt: skip
            n_z = grown(n_z, most * width)
            by_cost, scratch, new, keep = (
                grown(by_cost, most), grown(scratch, most), grown(new, most), grown(keep, most),
            )  # fmt: skip
            n = 0
            for p in range(size):
                for i in range(start[g], start[g + 1]):
                    if not alive[i] or l_cost[p] + cost[i] > budget:
                        continue
                    gain = base[i]
                    for s in range(width):
                        n_z[n * width + s] = l_z[p * width + s]
                    for r in range(ptr[i], ptr[i + 1]):
                        u = unit[r]
                        if coupled[u]:
                            z = l_z[p * width + slot[u]]
                            gain += weight[u] * (f_line(z + cov[r], slope, intercept) - f_line(z, slope, intercept))
                            n_z[n * width + slot[u]] = min(z + cov[r], max(z, flat))
                    if gain <= 0:
                        continue  # worth nothing here or later: the cheapest optimum skips it
                    n_cost[n], n_value[n], n_node[n], n_option[n] = l_cost[p] + cost[i], l_value[p] + gain, l_node[p], i
                    n += 1
                n_cost[n], n_value[n], n_node[n], n_option[n] = l_cost[p], l_value[p], l_node[p], -1
                for s in range(width):
                    n_z[n * width + s] = l_z[p * width + s]
                n += 1
            for i in range(start[g], start[g + 1]):
                if alive[i]:
                    for r in range(ptr[i], ptr[i + 1]):
                        u = unit[r]
                        if coupled[u] and last[u] == -1 - place:
                            last[u] = 0
                            for q in range(n):
                                n_z[q * width + slot[u]] = 0
            _sort(by_cost, scratch, n, n_cost, n_value)
            spent = _mark_undominated(
                n, by_cost, n_cost, n_value, n_z, width, slot_unit, left, weight, slope, intercept,
                work_limit - work - n, scratch, keep,
            )  # fmt: skip
            if spent < 0:
                return WORK, c, work, point_at, p_cost, p_value, p_node, p_rank, parent, option
            work += n + spent
            # Back into tie-breaking order.
            l_cost, l_value, l_node = grown(l_cost, n), grown(l_value, n), grown(l_node, n)
            l_z = grown(l_z, n * width)
            size = 0
            for q in range(n):
                if not keep[q]:
                    continue
                l_cost[size], l_value[size], l_node[size] = n_cost[q], n_value[q], n_node[q]
                if n_option[q] >= 0:
                    parent, option = grown(parent, nodes + 1), grown(option, nodes + 1)
                    parent[nodes], option[nodes] = n_node[q], n_option[q]
                    l_node[size] = nodes
                    nodes += 1
                for s in range(width):
                    l_z[size * width + s] = n_z[q * width + s]
                new[q] = size
                size += 1
            if place == len(groups) - 1:  # all units are closed: what is left is a strict Pareto set
                p_cost, p_value, p_node, p_rank = (
                    grown(p_cost, points + size), grown(p_value, points + size), grown(p_node, points + size),
                    grown(p_rank, points + size),
                )  # fmt: skip
                for at in range(n):
                    q = by_cost[at]
                    if keep[q]:
                        j = new[q]
                        p_cost[points], p_value[points], p_node[points] = l_cost[j], l_value[j], l_node[j]
                        p_rank[points] = j
                        points += 1
        point_at[c + 1] = points
    return (
        OK, count, work, point_at, p_cost[:points], p_value[:points], p_node[:points], p_rank[:points],
        parent[:nodes], option[:nodes],
    )  # fmt: skip
