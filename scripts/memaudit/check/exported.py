"""Exported memories as candidates of a union, and what each pruning rule keeps of them, by the definitions.

Protocol, "Optimum and ratios", and the table "Pruning" of docs/stores.md, a second time: a memory is a candidate of its
own id, group, cost and coverage; a rule keeps what fits, at most one view of a memory.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import InputError
from .costs import measure
from .model import Problem, Scaled, decimal

EXACT = "upper_exact"
# Pruning rules and the column of a memory that they need.
RULES = {
    "recency": None,
    "native_order": "native_order",
    "salience": "salience",
    "salience_order": "salience",
    "upper_greedy": None,
    EXACT: None,
    "full_store": None,
}


@dataclass(frozen=True)
class MemoryRow:
    """A row of table `store_memories`: what a value depends on."""

    store: str
    memory_id: str
    view: str
    representation_type: str
    group_id: str
    position: int
    time_index: int
    text: str
    native_order: int | None
    salience: float | None
    n_words: int | None = None
    n_chars: int | None = None
    n_bytes: int | None = None

    @property
    def counts(self) -> tuple[int | None, ...]:
        """Words, characters, bytes of the whole text, where a part of it stands elsewhere; else each None."""
        return self.n_words, self.n_chars, self.n_bytes

    @property
    def measured(self) -> str | tuple[int, int, int]:
        """What its cost is of: the text, or the counts of one that is not all here."""
        return self.text if self.n_words is None else self.counts

    @property
    def candidate_id(self) -> str:
        return f"store:{self.store}:{self.view}:{self.memory_id}"

    @property
    def group(self) -> str:
        """Its group as a candidate."""
        return f"store:{self.store}:{self.group_id}"


def memories_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[MemoryRow]]:
    """Example -> memories in order of time, of rows of `store_memories`."""
    found: dict[str, list[MemoryRow]] = defaultdict(list)
    for row in rows:
        found[row["instance_id"]].append(MemoryRow(**{c: row[c] for c in MemoryRow.__dataclass_fields__}))
    return {i: sorted(own, key=lambda m: m.time_index) for i, own in found.items()}


def candidate_rows(
    memories: Sequence[MemoryRow], start: int, cost: str | Mapping[str, float]
) -> Iterator[dict[str, Any]]:
    """Rows of table `candidates` (without suite and package) of one store's memories from time `start` on; the views of
    a memory have the time of the first."""
    first: dict[str, int] = {}
    for time, memory in enumerate(memories, start):
        yield {
            "candidate_id": memory.candidate_id,
            "group_id": memory.group,
            "representation_type": memory.representation_type,
            "cost": measure(cost, memory.measured),
            "time_index": first.setdefault(memory.group, time),
            "confidence": 1.0,
            "text": memory.text if memory.n_words is None else None,
            **dict(zip(("n_words", "n_chars", "n_bytes"), memory.counts, strict=True)),
            "estimated_value": None,
            "estimated_coverage": None,
        }


def usable_rules(stores: Iterable[Sequence[MemoryRow]], wanted: Sequence[str] | None) -> list[str]:
    """`wanted` and the exact best subset, or all rules for which each store that is not empty has what they need."""
    if wanted is not None:
        return sorted({*wanted, EXACT})
    held = [memories for memories in stores if memories]
    return sorted(
        rule
        for rule, need in RULES.items()
        if need is None or all(any(getattr(m, need) is not None for m in own) for own in held)
    )


def prune(rule: str, memories: Sequence[MemoryRow], problem: Problem, budget: int) -> tuple[int, ...]:
    """Sorted positions in the union `problem` that a rule (any but `upper_exact`) keeps of `memories`."""
    held = [(problem.position[memory.candidate_id], memory) for memory in memories]
    if rule == "upper_greedy":
        return tuple(sorted(_greedy(held, problem.scaled, budget)))
    if rule == "full_store":
        return _everything(held, problem, budget)
    if rule not in _ORDERS:
        raise InputError(f"{rule!r} is no pruning rule; they are {', '.join(RULES)}")
    kept, left, groups = [], budget, set()
    for at, memory in _ORDERS[rule](held, problem):
        if problem.costs[at] <= left and memory.group not in groups:
            kept.append(at)
            groups.add(memory.group)
            left -= problem.costs[at]
    return tuple(sorted(kept))


_Held = Sequence[tuple[int, MemoryRow]]


def _newest(held: _Held, problem: Problem) -> Iterable[tuple[int, MemoryRow]]:
    time: dict[str, int] = {}
    for _, memory in held:
        time[memory.group] = min(memory.time_index, time.get(memory.group, memory.time_index))
    return sorted(held, key=lambda x: (-time[x[1].group], problem.costs[x[0]], x[1].candidate_id))


def _own_order(held: _Held, problem: Problem) -> Iterable[tuple[int, MemoryRow]]:
    return sorted((x for x in held if x[1].native_order is not None), key=lambda x: (x[1].native_order, x[0]))


def _salient(held: _Held, problem: Problem) -> Iterable[tuple[int, MemoryRow]]:
    def rank(x: tuple[int, MemoryRow]) -> tuple:
        value, cost = decimal(x[1].salience), problem.costs[x[0]]
        return -value / cost, -value, cost, x[1].candidate_id

    return sorted((x for x in held if x[1].salience), key=rank)


def _most_salient(held: _Held, problem: Problem) -> Iterable[tuple[int, MemoryRow]]:
    """Whatever a memory costs: cost only decides between equal ones."""
    salient = [x for x in held if x[1].salience]
    salient.sort(key=lambda x: (problem.costs[x[0]], x[1].candidate_id))
    return sorted(salient, key=lambda x: decimal(x[1].salience), reverse=True)


_ORDERS = {"recency": _newest, "native_order": _own_order, "salience": _salient, "salience_order": _most_salient}


def _everything(held: _Held, problem: Problem, budget: int) -> tuple[int, ...]:
    """Of each memory the cheapest view, then the first id; nothing where they do not all fit."""
    cheapest: dict[str, tuple[int, str, int]] = {}
    for at, memory in held:
        found = (problem.costs[at], memory.candidate_id, at)
        cheapest[memory.group] = min(found, cheapest.get(memory.group, found))
    fits = sum(cost for cost, _, _ in cheapest.values()) <= budget
    return tuple(sorted(at for _, _, at in cheapest.values())) if fits else ()


def _greedy(held: _Held, form: Scaled, budget: int) -> Iterator[int]:
    """The largest marginal / cost first; ties: first in the export. A marginal only falls as more is kept, so the
    queue's first is the largest once it is up to date."""
    mass: dict[int, int] = defaultdict(int)

    def entry(at: int, memory: MemoryRow) -> tuple:
        gain = sum(form.weights[u] * (form.h(mass[u] + a) - form.h(mass[u])) for u, a in form.coverage[at])
        return Fraction(-gain, form.costs[at]), memory.position, at, memory

    queue = [entry(*x) for x in held]
    heapq.heapify(queue)
    groups: set[str] = set()
    while queue and queue[0][0] < 0:
        density, _, at, memory = heapq.heappop(queue)
        if form.costs[at] > budget or memory.group in groups:
            continue
        renewed = entry(at, memory)
        if renewed[0] != density:
            heapq.heappush(queue, renewed)
            continue
        yield at
        budget -= form.costs[at]
        groups.add(memory.group)
        for u, a in form.coverage[at]:
            mass[u] += a
