"""The whole value-budget curve in one pass: components by labels, merged by max-plus.

Each component (groups linked by coupled units) is solved for every cost at once: labels (cost, value,
coverage of the units still open) pass through its groups, and a label is dropped when another one costs no
more and is ahead by at least all that its lower coverage can still lose:

    c_p <= c_q   and   V_p - V_q >= sum_r w_r * max(0, h(z_p,r) - h(z_q,r))

(h concave: what q may still gain beyond p is largest when p saturates). Component curves are then added by
a knapsack over components, from the last to the first, so that walking it forwards breaks ties in the
protocol's order wherever components do not interleave in time.

Values and costs travel as one integer, value * (B + 1) - cost: more value first, then less cost. A limit
counts comparisons, never seconds: the same call gives the same answer everywhere.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numba import njit

from ..errors import InputError
from ..objective import INT_LIMIT, Instance
from .kernels import f_line
from .reduce import Options, components, options_of, reduced

DEFAULT_WORK_LIMIT = 2_000_000_000
MEMORY_LIMIT = 1 << 30  # bytes for the knapsack's choices


class LimitReached(Exception):
    """The work or memory limit was reached; no curve was proven."""


@dataclass(frozen=True, eq=False)
class Frontier:
    """OPT at every budget 0..max_budget of one instance, proven.

    `budgets`, `values`, both int64 and rising: F_int jumps to values[j] at budgets[j] (the cost of the cheapest
    selection worth that much); budgets[0] = values[0] = 0. `interleaved`: components overlap in the order of
    groups; then equal optima are told apart component by component (in order of their first groups), not
    position by position.
    """

    budgets: np.ndarray
    values: np.ndarray
    max_budget: int
    scale: int
    work: int
    interleaved: bool
    _members: list[list[tuple[tuple[int, ...], ...]]]
    _costs: list[np.ndarray]
    _choice: list[np.ndarray]

    def at(self, budget: int) -> tuple[int, int]:
        """(value_int, cost) of the optimum at `budget`; InputError beyond max_budget."""
        if not 0 <= budget <= self.max_budget:
            raise InputError(f"budget {budget} is outside this curve's 0..{self.max_budget}")
        j = int(np.searchsorted(self.budgets, budget, side="right")) - 1
        return int(self.values[j]), int(self.budgets[j])

    def selection(self, budget: int) -> tuple[int, ...]:
        """Candidate positions, ascending, of the reported optimum at `budget`."""
        _, left = self.at(budget)
        kept: list[int] = []
        for costs, choice, members in zip(self._costs, self._choice, self._members, strict=True):
            point = int(choice[min(left, len(choice) - 1)])
            left -= int(costs[point])
            for option in members[point]:
                kept += option
        return tuple(sorted(kept))


def frontier(instance: Instance, max_budget: int, k: int = 1, work_limit: int = DEFAULT_WORK_LIMIT) -> Frontier:
    """The curve of `instance` up to `max_budget` (>= 0), at most k candidates a group.

    Raises LimitReached where labels need more than `work_limit` comparisons or the knapsack too much memory,
    InputError on numbers beyond 62 bits.
    """
    if max_budget < 0 or k < 1:
        raise InputError(f"max_budget {max_budget} and k {k}: the budget must be >= 0 and k >= 1")
    options = options_of(instance, k)
    budget = min(max_budget, int(instance.cost.sum()))
    if instance.max_int * (budget + 1) >= INT_LIMIT:
        raise InputError(
            f"values up to {instance.max_int} at budget {budget} do not fit 62 bits; use fewer decimals or `quantize`"
        )
    alive, coupled, base = reduced(options, budget)
    number, count = components(options.start, options.ptr, options.unit, alive, coupled)
    order = np.argsort(number, kind="stable")
    order = order[number[order] >= 0]
    bounds = np.searchsorted(number[order], np.arange(count + 1))  # component c: order[bounds[c]:bounds[c + 1]]
    curves, work = [], 0
    for c in range(count):
        groups = order[bounds[c] : bounds[c + 1]]
        curve, spent = _component(options, groups, alive, coupled, base, budget, work_limit - work)
        curves.append(curve)
        work += spent
    spans = [(order[a], order[b - 1]) for a, b in itertools.pairwise(bounds)]
    interleaved = any(a[1] > b[0] for a, b in itertools.pairwise(spans))
    return _merge(curves, options, budget, max_budget, instance.scale, work, interleaved)


# ---- one component


def _component(options: Options, groups, alive, coupled, base, budget, work_limit):
    """((costs, values, option lists by point), comparisons) of one component: its strict Pareto points, cheapest
    first, from (0, 0); each with the first selection in tie-breaking order."""
    slots, width, closing = _slots(options, groups, alive, coupled)
    cost, value, node, parent, option, work = _labels(
        options.start, options.cost, options.ptr, options.unit, options.cov, options.weight, options.slope,
        options.intercept, groups, alive, coupled, base, slots, width, closing, budget, work_limit,
    )  # fmt: skip
    if work < 0:
        raise LimitReached(f"a component of {len(groups)} groups needs more than {work_limit} comparisons")
    chosen = []
    for label in node.tolist():
        picked = []
        while label >= 0:
            picked.append(int(option[label]))
            label = int(parent[label])
        chosen.append(tuple(reversed(picked)))
    return (cost, value, chosen), work


def _slots(options: Options, groups, alive, coupled):
    """A slot of the label's coverage vector for each coupled unit while it is open, and which slots close after
    each group: (slot by unit, number of slots, one row a group of closing slots padded by -1)."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for place, g in enumerate(groups.tolist()):
        for i in range(options.start[g], options.start[g + 1]):
            if alive[i]:
                for u in options.unit[options.ptr[i] : options.ptr[i + 1]].tolist():
                    if coupled[u]:
                        first.setdefault(u, place)
                        last[u] = place
    slot = np.full(len(options.weight), -1, np.int64)
    free: list[int] = []
    width = 0
    ends: list[list[int]] = [[] for _ in groups]
    opening: list[list[int]] = [[] for _ in groups]
    for u, place in first.items():
        opening[place].append(u)
    for place in range(len(groups)):
        for u in sorted(opening[place]):
            if free:
                slot[u] = free.pop()
            else:
                slot[u] = width
                width += 1
        for u in sorted(u for u, end in last.items() if end == place) if opening else ():
            ends[place].append(int(slot[u]))
        free += ends[place]
    closing = np.full((len(groups), max(map(len, ends), default=0)), -1, np.int64)
    for place, row in enumerate(ends):
        closing[place, : len(row)] = row
    return slot, max(width, 1), closing


@njit(cache=True)
def _labels(
    start, cost, ptr, unit, cov, weight, slope, intercept, groups, alive, coupled, base, slots, width, closing, budget,
    work_limit,
):  # fmt: skip
    """Pass labels through the groups. Returns the Pareto points (cost, value, arena node), the arena (parent,
    option) and the comparisons spent, or -1 comparisons where the limit was reached."""
    # Labels stand in tie-breaking order of their selections at every stage.
    l_cost = np.zeros(1, np.int64)
    l_value = np.zeros(1, np.int64)
    l_node = np.full(1, -1, np.int64)
    l_z = np.zeros((1, width), np.int64)
    slot_unit = np.full(width, -1, np.int64)
    parent = np.empty(1024, np.int64)
    option = np.empty(1024, np.int64)
    nodes = 0
    work = 0
    none = np.empty(0, np.int64)
    for place in range(len(groups)):
        g = groups[place]
        living = 0
        for i in range(start[g], start[g + 1]):
            if alive[i]:
                living += 1
                for r in range(ptr[i], ptr[i + 1]):
                    if coupled[unit[r]]:
                        slot_unit[slots[unit[r]]] = unit[r]
        size = len(l_cost)
        most = size * (living + 1)
        work += most
        if work > work_limit:
            return none, none, none, none, none, -1
        n_cost = np.empty(most, np.int64)
        n_value = np.empty(most, np.int64)
        n_from = np.empty(most, np.int64)
        n_option = np.empty(most, np.int64)
        n_z = np.empty((most, width), np.int64)
        n = 0
        for p in range(size):
            for i in range(start[g], start[g + 1]):
                if not alive[i] or l_cost[p] + cost[i] > budget:
                    continue
                gain = base[i]
                n_z[n] = l_z[p]
                for r in range(ptr[i], ptr[i + 1]):
                    u = unit[r]
                    if coupled[u]:
                        z = l_z[p, slots[u]]
                        gain += weight[u] * (f_line(z + cov[r], slope, intercept) - f_line(z, slope, intercept))
                        n_z[n, slots[u]] = z + cov[r]
                if gain <= 0:
                    continue  # worth nothing here or later: the cheapest optimum skips it
                n_cost[n], n_value[n], n_from[n], n_option[n] = l_cost[p] + cost[i], l_value[p] + gain, p, i
                n += 1
            n_cost[n], n_value[n], n_from[n], n_option[n] = l_cost[p], l_value[p], p, -1
            n_z[n] = l_z[p]
            n += 1
        for s in closing[place]:
            if s >= 0:
                n_z[:n, s] = 0
                slot_unit[s] = -1
        # Cheapest first, then most value, then tie-breaking order (numpy's mergesort is stable).
        by_value = np.argsort(-n_value[:n], kind="mergesort")
        order = by_value[np.argsort(n_cost[:n][by_value], kind="mergesort")]
        kept = np.empty(n, np.int64)
        k = 0
        for at in range(n):
            q = order[at]
            dominated = False
            for j in range(k - 1, -1, -1):
                p = kept[j]
                ahead = n_value[p] - n_value[q]
                if ahead < 0:
                    continue
                work += 1
                lead = 0
                for s in range(width):
                    u = slot_unit[s]
                    if u >= 0 and n_z[p, s] > n_z[q, s]:
                        lead += weight[u] * (f_line(n_z[p, s], slope, intercept) - f_line(n_z[q, s], slope, intercept))
                        if lead > ahead:
                            break
                # As dear and no better, yet later in tie-breaking order: then p may not displace q.
                if lead < ahead or (lead == ahead and (n_cost[p] < n_cost[q] or p < q)):
                    dominated = True
                    break
            if not dominated:
                kept[k] = q
                k += 1
            if work > work_limit:
                return none, none, none, none, none, -1
        kept = np.sort(kept[:k])  # back into tie-breaking order
        l_cost = n_cost[kept]
        l_value = n_value[kept]
        new_node = np.empty(k, np.int64)
        for j in range(k):
            q = kept[j]
            if n_option[q] < 0:
                new_node[j] = l_node[n_from[q]]
                continue
            if nodes == len(parent):
                parent = np.concatenate((parent, np.empty(nodes, np.int64)))
                option = np.concatenate((option, np.empty(nodes, np.int64)))
            parent[nodes], option[nodes] = l_node[n_from[q]], n_option[q]
            new_node[j] = nodes
            nodes += 1
        l_node = new_node
        n_rows = np.empty((k, width), np.int64)
        for j in range(k):
            n_rows[j] = n_z[kept[j]]
        l_z = n_rows
    # All units are closed: what is left is a strict Pareto set.
    order = np.argsort(l_cost, kind="mergesort")
    return l_cost[order], l_value[order], l_node[order], parent[:nodes], option[:nodes], work


# ---- all components together


def _merge(curves, options: Options, budget, max_budget, scale, work, interleaved) -> Frontier:
    """Knapsack over components, last to first; choices are kept for walking it forwards."""
    m = budget + 1
    reach = np.zeros(len(curves) + 1, np.int64)
    for c in range(len(curves) - 1, -1, -1):
        reach[c] = min(budget, reach[c + 1] + int(curves[c][0][-1]))
    wide = any(len(cost) > 256 for cost, _, _ in curves)
    needed = int((reach[:-1] + 1).sum()) * (4 if wide else 1)
    if needed > MEMORY_LIMIT:
        raise LimitReached(f"the knapsack over {len(curves)} components needs {needed} bytes of choices")
    best = np.zeros(1, np.int64)
    choices: list[np.ndarray] = []
    members, costs = [], []
    for c in range(len(curves) - 1, -1, -1):
        cost, value, chosen = curves[c]
        # Among points of equal total, the first in tie-breaking order: an earlier option, the end of a list last.
        rank = np.array(
            sorted(range(len(cost)), key=lambda t, chosen=chosen: (*chosen[t], len(options.cost))), np.int64
        )
        best, choice = _add_component(best, cost, value * m - cost, rank, reach[c])
        choices.append(choice.astype(np.int32 if wide else np.uint8))
        costs.append(cost)
        members.append([tuple(options.members[i] for i in point) for point in chosen])
        work += len(cost) * len(best)
    jump = np.flatnonzero(np.diff(best) > 0) + 1
    at = np.concatenate([[0], jump]).astype(np.int64)
    totals = best[at]
    values = (totals + at) // m  # the cheapest selection of a value costs exactly the budget where it appears
    return Frontier(at, values, max_budget, scale, work, interleaved, members[::-1], costs[::-1], choices[::-1])


@njit(cache=True)
def _add_component(after, cost, key, rank, reach):
    """best[b] = max over points t of key[t] + after[b - cost[t]], for b = 0..reach; ties to the first rank."""
    best = np.full(reach + 1, -1, np.int64)
    choice = np.zeros(reach + 1, np.int64)
    top = len(after) - 1
    for t in rank:
        c, v = cost[t], key[t]
        for b in range(c, reach + 1):
            rest = b - c
            total = v + after[rest if rest < top else top]
            if total > best[b]:
                best[b] = total
                choice[b] = t
    return best, choice
