"""Rules that prune an exported store to a budget (docs/stores.md, "Pruning").

A rule is f(stored, instance, budget) -> ascending candidate positions of `stored.package`, within the budget and at
most one of a group. `instance`: the same package in exact integers (`objective.scale`).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from fractions import Fraction

import numpy as np

from ..errors import InputError
from ..objective import Instance
from ..solve.bnb import DEFAULT_NODE_LIMIT, OPTIMAL, Solution
from ..solve.choose import solve_all
from ..solve.kernels import marginal_int
from .union import StorePackage

Rule = Callable[[StorePackage, Instance, int], list[int]]
RULES: dict[str, Rule] = {}
# What the rules are called in sentences and tables.
CALLED = {
    "recency": "newest first",
    "native_order": "own retrieval order",
    "salience": "salience per cost",
    "salience_order": "salience order",
    "upper_exact": "best subset, exact",
    "upper_greedy": "greedy upper rule (no bound)",
    "full_store": "all or nothing",
}


def _rule(function: Rule) -> Rule:
    RULES[function.__name__] = function
    return function


@_rule
def recency(stored: StorePackage, instance: Instance, budget: int) -> list[int]:
    """Newest first (time index; ties: lower cost, then id), each kept while it fits."""
    v = stored.package.visible
    order = sorted(range(len(v)), key=lambda i: (-v.time_index[i], v.cost[i], v.candidate_ids[i]))
    return _kept_while_it_fits(stored, order, budget)


@_rule
def native_order(stored: StorePackage, instance: Instance, budget: int) -> list[int]:
    """The system's own retrieval order, each kept while it fits; what is not in that order is not kept. Equal ranks:
    the older first (the store's order), in a group lower cost, then id: the order of the candidates."""
    rank = {i: m.native_order for i, m in enumerate(stored.memories) if m.native_order is not None}
    if stored.memories and not rank:
        raise InputError("pruning rule native_order: the store gives no order of its own; use another rule")
    return _kept_while_it_fits(stored, sorted(rank, key=lambda i: (rank[i], i)), budget)


@_rule
def salience(stored: StorePackage, instance: Instance, budget: int) -> list[int]:
    """Memories of salience > 0 by salience / cost, then salience, both falling, cost, id; kept while they fit."""
    v, value = stored.package.visible, _salience_of(stored, "salience")
    order = sorted(value, key=lambda i: (-value[i] / int(v.cost[i]), -value[i], v.cost[i], v.candidate_ids[i]))
    return _kept_while_it_fits(stored, order, budget)


@_rule
def salience_order(stored: StorePackage, instance: Instance, budget: int) -> list[int]:
    """Memories of salience > 0 by salience, falling, whatever they cost; then cost, id; kept while they fit (ours)."""
    v, value = stored.package.visible, _salience_of(stored, "salience_order")
    order = sorted(value, key=lambda i: (-value[i], v.cost[i], v.candidate_ids[i]))
    return _kept_while_it_fits(stored, order, budget)


def _salience_of(stored: StorePackage, rule: str) -> dict[int, Fraction]:
    """Place of a memory -> its salience, as written, where that is above 0."""
    if stored.memories and all(m.salience is None for m in stored.memories):
        raise InputError(f"pruning rule {rule}: the store has no salience; give the salience file, or use another rule")
    return {i: Fraction(str(m.salience)) for i, m in enumerate(stored.memories) if m.salience}


@_rule
def full_store(stored: StorePackage, instance: Instance, budget: int) -> list[int]:
    """Everything if it fits, else nothing; of several views of a memory the cheapest stands for it."""
    v = stored.package.visible
    everything = [int(i) for i in v.group_start[:-1]]
    return everything if int(v.cost[everything].sum()) <= budget else []


@_rule
def upper_greedy(stored: StorePackage, instance: Instance, budget: int) -> list[int]:
    """Repeatedly the memory of largest marginal / cost above 0 that fits; ties: first in store order (the paper's
    released rule). No upper bound, whatever its name: `upper_exact` is."""
    v, group = stored.package.visible, stored.package.visible.group_of
    place = [(m.position, i) for i, m in enumerate(stored.memories)]
    z = np.zeros(len(instance.weight), dtype=np.int64)

    def density(i: int) -> Fraction:
        arrays = (instance.cov_ptr, instance.cov_unit, instance.cov, instance.weight)
        return Fraction(int(marginal_int(i, *arrays, instance.slope, instance.intercept, z)), int(v.cost[i]))

    # Marginals only fall, so a density in the heap is never too low: what is still on top when renewed is largest.
    heap = [(-density(i), place[i]) for i in range(len(v))]
    heapq.heapify(heap)
    chosen: list[int] = []
    used, taken = 0, set()
    while heap and heap[0][0] < 0:
        before, at = heapq.heappop(heap)
        i = at[1]
        if used + v.cost[i] > budget or group[i] in taken:
            continue
        now = -density(i)
        if now != before:
            heapq.heappush(heap, (now, at))
            continue
        chosen.append(i)
        used += int(v.cost[i])
        taken.add(group[i])
        cells = slice(instance.cov_ptr[i], instance.cov_ptr[i + 1])
        np.add.at(z, instance.cov_unit[cells], instance.cov[cells])
    return sorted(chosen)


@_rule
def upper_exact(stored: StorePackage, instance: Instance, budget: int) -> list[int]:
    """The exact optimum over the store; InputError where it is not proven (`best_subset` gives its bound)."""
    found = best_subset(instance, budget)
    if found.status != OPTIMAL:
        raise InputError(
            f"package {stored.package.package_id}: the best subset of the store at budget {budget} is not proven "
            f"(at least {found.value_int}, at most {found.bound_int} of scale {found.scale}); raise the node limit"
        )
    return list(found.selection)


def best_subset(instance: Instance, budget: int, k: int = 1, node_limit: int = DEFAULT_NODE_LIMIT) -> Solution:
    """The exact optimum of one instance, or, with status `limit`, its best value and a proven bound."""
    return solve_all([instance], budget, k, node_limit)[0]


def _kept_while_it_fits(stored: StorePackage, order: Iterable[int], budget: int) -> list[int]:
    """In this order; what does not fit, or is another view of what is kept, is passed over."""
    v, group = stored.package.visible, stored.package.visible.group_of
    chosen: list[int] = []
    used, taken = 0, set()
    for i in order:
        if used + v.cost[i] <= budget and group[i] not in taken:
            chosen.append(i)
            used += int(v.cost[i])
            taken.add(group[i])
    return sorted(chosen)
