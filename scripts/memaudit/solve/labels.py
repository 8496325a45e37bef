"""Components solved for every cost at once, by labels.

Labels (cost, value, coverage of the units still open) pass through a component's groups, in an order that
keeps few units open at a time (a tree of shared units needs few, whatever the order of its groups). Label p
drops label q where it costs no more and is ahead by at least all that its lower coverage lets q still win back:

    c_p <= c_q   and   V_p - V_q >= sum_r w_r * max(0, (h(z_p) - h(z_q)) - (h(z_p + a) - h(z_q + a)))

with z the coverages of unit r and a the most that later groups can add to it (h is concave: the difference
of what q and p can still gain on r grows with the coverage added). Among labels of equal coverage only the
one of most value so far needs looking at, so the work of a group is its labels times the distinct coverages.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .kernels import INNER, f_line

OK, WORK, MEMORY = 0, 1, 2  # how a search ended: closed, too many comparisons, too many bytes
NEVER = 2**62


@njit(cache=True, **INNER)
def grown(array, size):
    """`array` with room for at least `size` entries."""
    if size <= len(array):
        return array
    larger = np.empty(max(size, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger


@njit(cache=True, **INNER)
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


@njit(cache=True, **INNER)
def _open_width(groups, at, cover, left, seen):
    """Sum of 2^(units open after a group) over groups passed in this order; `left` and `seen` as in `passing_order`
    before, and left so."""
    open_now, total = 0, 0.0
    for g in groups:
        for j in range(at[g], at[g + 1]):
            u = cover[j]
            if not seen[u]:
                seen[u] = True
                open_now += 1
            left[u] -= 1
            if left[u] == 0:
                open_now -= 1
        total += 2.0 ** min(open_now, 900)
    for g in groups:
        for j in range(at[g], at[g + 1]):
            seen[cover[j]] = False
            left[cover[j]] += 1
    return total


@njit(cache=True)
def passing_order(start, ptr, unit, alive, coupled, order, bounds):
    """`order` (groups by component, ascending) with the groups of each component in an order to pass labels: the
    given one, or, where that keeps fewer units open, always a neighbour that leaves the fewest open."""
    count_groups, units = len(start) - 1, len(coupled)
    at = np.zeros(count_groups + 1, np.int64)  # group g covers coupled units cover[at[g]:at[g + 1]], each once
    cover = np.empty(len(unit), np.int64)
    met = np.full(units, -1, np.int64)
    left = np.zeros(units, np.int64)  # groups to come that cover the unit
    used = 0
    for g in range(count_groups):
        for i in range(start[g], start[g + 1]):
            if alive[i]:
                for r in range(ptr[i], ptr[i + 1]):
                    u = unit[r]
                    if coupled[u] and met[u] != g:
                        met[u] = g
                        cover[used] = u
                        used += 1
                        left[u] += 1
        at[g + 1] = used
    by = np.zeros(units + 1, np.int64)  # unit u is covered by groups[by[u]:by[u + 1]]
    by[1:] = np.cumsum(left)
    groups, filled = np.empty(used, np.int64), by[:-1].copy()
    for g in range(count_groups):
        for j in range(at[g], at[g + 1]):
            groups[filled[cover[j]]] = g
            filled[cover[j]] += 1
    seen = np.zeros(units, np.bool_)
    waiting = np.zeros(count_groups, np.bool_)
    done = np.zeros(count_groups, np.bool_)
    near = np.empty(count_groups, np.int64)
    out = order.copy()
    for c in range(len(bounds) - 1):
        own = order[bounds[c] : bounds[c + 1]]
        if len(own) < 3:
            continue
        given = _open_width(own, at, cover, left, seen)
        size = 0
        for place in range(len(own)):
            pool = own if place == 0 else near[:size]
            best, least = -1, 0
            for g in pool:
                more = 0
                for j in range(at[g], at[g + 1]):
                    u = cover[j]
                    if left[u] == 1:
                        more -= seen[u]
                    else:
                        more += not seen[u]
                if best < 0 or more < least or (more == least and g < best):
                    best, least = g, more
            out[bounds[c] + place] = best
            done[best] = True
            kept = 0
            for j in range(size):
                if near[j] != best:
                    near[kept] = near[j]
                    kept += 1
            size = kept
            for j in range(at[best], at[best + 1]):
                u = cover[j]
                left[u] -= 1
                if seen[u]:
                    continue
                seen[u] = True
                for r in range(by[u], by[u + 1]):
                    g = groups[r]
                    if not done[g] and not waiting[g]:
                        waiting[g] = True
                        near[size] = g
                        size += 1
        for g in own:
            for j in range(at[g], at[g + 1]):
                left[cover[j]] += 1
                seen[cover[j]] = False
        if _open_width(out[bounds[c] : bounds[c + 1]], at, cover, left, seen) >= given:
            out[bounds[c] : bounds[c + 1]] = own
    return out


@njit(cache=True, **INNER)
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


@njit(cache=True, **INNER)
def first_difference(a, b, parent, option, node_group, mark):
    """(the first group in which the selections of nodes a and b differ, whether a's comes first in tie-breaking
    order); NEVER where they do not differ. `mark`: -1 for every group, and left so."""
    x, y = a, b
    while x != y:  # up to what they share: a parent's number is below its child's
        if x > y:
            x = parent[x]
        else:
            y = parent[y]
    shared, first, a_first = x, NEVER, False
    x = a
    while x != shared:
        mark[node_group[x]] = option[x]
        x = parent[x]
    y = b
    while y != shared:
        g = node_group[y]
        if mark[g] == option[y]:
            mark[g] = -1
        elif g < first:
            first, a_first = g, 0 <= mark[g] < option[y]
        y = parent[y]
    x = a
    while x != shared:
        g = node_group[x]
        if mark[g] >= 0 and g < first:  # else b's option there was compared above
            first, a_first = g, True
        mark[g] = -1
        x = parent[x]
    return first, a_first


@njit(cache=True, **INNER)
def _before(a, b, cost, value, node, parent, option, node_group, mark):
    """Cheapest first, then most value, then tie-breaking order."""
    if cost[a] != cost[b]:
        return cost[a] < cost[b]
    if value[a] != value[b]:
        return value[a] > value[b]
    return first_difference(node[a], node[b], parent, option, node_group, mark)[1]


@njit(cache=True, **INNER)
def _sort(order, scratch, n, cost, value, node, parent, option, node_group, mark):
    """order[:n] = 0..n-1 sorted by `_before`: insertion in runs, then merges."""
    run = 16
    for lo in range(0, n, run):
        for i in range(lo, min(lo + run, n)):
            j = i
            while j > lo and _before(i, order[j - 1], cost, value, node, parent, option, node_group, mark):
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
    while run < n:
        for lo in range(0, n, 2 * run):
            mid, hi = min(lo + run, n), min(lo + 2 * run, n)
            a, b = lo, mid
            for j in range(lo, hi):
                if a < mid and (
                    b == hi or not _before(order[b], order[a], cost, value, node, parent, option, node_group, mark)
                ):
                    scratch[j] = order[a]
                    a += 1
                else:
                    scratch[j] = order[b]
                    b += 1
        order[:n] = scratch[:n]
        run *= 2


@njit(cache=True, **INNER)
def _mark_undominated(
    n, order, cost, value, z, width, slot_unit, left, weight, slope, intercept, node, parent, option, node_group, mark,
    most, best, keep,
):  # fmt: skip
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
            if lead < ahead or (
                lead == ahead
                and (cost[p] < cost[q] or first_difference(node[p], node[q], parent, option, node_group, mark)[1])
            ):
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
    """The strict Pareto points of every component: groups order[bounds[c]:bounds[c + 1]], in the order to pass.

    Returns (status, component reached, comparisons, point_at, cost, value, node, parent, option, node_group):
    points point_at[c]:point_at[c + 1], cheapest first, from (0, 0). Each stands for the first selection in
    tie-breaking order of that cost and value: `option[node]`, then those of `parent[node]` and so on until -1.
    """
    units = len(weight)
    last = np.zeros(units, np.int64)
    left = np.zeros(units, np.int64)
    here = np.zeros(units, np.int64)
    free = np.zeros(units, np.int64)
    slot = np.full(units, -1, np.int64)
    slot_unit = np.empty(units, np.int64)
    mark = np.full(len(start) - 1, -1, np.int64)
    flat = _flat_from(slope, intercept)
    count = len(bounds) - 1
    point_at = np.zeros(count + 1, np.int64)
    p_cost, p_value, p_node = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    points = 0
    parent, option, node_group = np.empty(256, np.int64), np.empty(256, np.int64), np.empty(256, np.int64)
    nodes = 0
    l_cost, l_value, l_node = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    n_cost, n_value, n_node = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    l_z, n_z = np.empty(64, np.int64), np.empty(64, np.int64)
    by_cost, scratch, keep = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.bool_)
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
            if 24 * (most * (10 + 2 * width) + 3 * nodes) > memory_limit:
                return MEMORY, c, work, point_at, p_cost, p_value, p_node, parent, option, node_group
            n_cost, n_value, n_node = grown(n_cost, most), grown(n_value, most), grown(n_node, most)
            n_z = grown(n_z, most * width)
            by_cost, scratch, keep = grown(by_cost, most), grown(scratch, most), grown(keep, most)
            parent, option = grown(parent, nodes + most), grown(option, nodes + most)
            node_group = grown(node_group, nodes + most)
            n, fresh = 0, nodes
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
                    parent[fresh], option[fresh], node_group[fresh] = l_node[p], i, g
                    n_cost[n], n_value[n], n_node[n] = l_cost[p] + cost[i], l_value[p] + gain, fresh
                    fresh += 1
                    n += 1
                n_cost[n], n_value[n], n_node[n] = l_cost[p], l_value[p], l_node[p]
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
            _sort(by_cost, scratch, n, n_cost, n_value, n_node, parent, option, node_group, mark)
            spent = _mark_undominated(
                n, by_cost, n_cost, n_value, n_z, width, slot_unit, left, weight, slope, intercept, n_node, parent,
                option, node_group, mark, work_limit - work - n, scratch, keep,
            )  # fmt: skip
            if spent < 0:
                return WORK, c, work, point_at, p_cost, p_value, p_node, parent, option, node_group
            work += n + spent
            for q in range(n):  # the nodes of dropped labels make room
                if keep[q] and n_node[q] >= nodes:
                    old = n_node[q]
                    parent[nodes], option[nodes], node_group[nodes] = parent[old], option[old], g
                    n_node[q] = nodes
                    nodes += 1
            l_cost, l_value, l_node = grown(l_cost, n), grown(l_value, n), grown(l_node, n)
            l_z = grown(l_z, n * width)
            size = 0
            for at in range(n):
                q = by_cost[at]
                if keep[q]:
                    l_cost[size], l_value[size], l_node[size] = n_cost[q], n_value[q], n_node[q]
                    for s in range(width):
                        l_z[size * width + s] = n_z[q * width + s]
                    size += 1
        # All units are closed: what is left is a strict Pareto set.
        p_cost, p_value = grown(p_cost, points + size), grown(p_value, points + size)
        p_node = grown(p_node, points + size)
        p_cost[points : points + size] = l_cost[:size]
        p_value[points : points + size] = l_value[:size]
        p_node[points : points + size] = l_node[:size]
        points += size
        point_at[c + 1] = points
    return (
        OK, count, work, point_at, p_cost[:points], p_value[:points], p_node[:points], parent[:nodes], option[:nodes],
        node_group[:nodes],
    )  # fmt: skip
