"""A frozen package in memory, and the part of it that a writer without coverage may see."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .errors import InputError

# Stands in results for all distributions, or all categories of query, together.
TOTAL = "all"
VALIDITY_TYPES = ("tombstone", "compound_update")
# The representation types that the generators, the natural route and the writers' rules know; a natural
# package may bring others.
KNOWN_TYPES = (
    "raw",
    "raw_span",
    "atomic_fact",
    "fact",
    "summary",
    "graph_edge",
    "skill",
    "interval_fact",
    "abstention",
    "uncertainty",
    "tombstone",
    "compound_update",
    "compound_evidence",
    "turn",
    "turn_window",
)


class TextSize(NamedTuple):
    """What a text measures: words (runs without white space), characters (code points), UTF-8 bytes."""

    words: int
    chars: int
    bytes: int


def size_of(text: str) -> TextSize:
    return TextSize(len(text.split()), len(text), len(text.encode("utf-8")))


@dataclass(frozen=True)
class Candidate:
    """One candidate memory as a source gives it. cost: positive whole units; confidence >= 0.

    size: of a text that is not here (it stands elsewhere and may not be copied); None where `text` is.
    """

    candidate_id: str
    group_id: str
    representation_type: str
    cost: int
    time_index: int
    text: str | None = None
    confidence: float = 1.0
    estimated_value: float | None = None
    estimated_coverage: Mapping[str, float] | None = None
    size: TextSize | None = None


@dataclass(frozen=True)
class Unit:
    """One evidence unit. weight >= 0; role: current, invalidation, stale or ""."""

    unit_id: str
    weight: float
    role: str = ""
    kind: str | None = None
    text: str | None = None


@dataclass(frozen=True)
class Query:
    """One future query and the units it requires (ids)."""

    query_id: str
    required: tuple[str, ...]
    category: str | None = None
    text: str | None = None
    answer: str | None = None


@dataclass(frozen=True, eq=False)
class VisiblePackage:
    """What a writer without coverage may see: the candidates' own metadata, in package order.

    Arrays have one entry a candidate, except `group_ids` and `group_start` (groups, groups + 1):
    candidates of group g are rows group_start[g]:group_start[g + 1], ordered by (cost, id).
    """

    candidate_ids: tuple[str, ...]
    group_ids: tuple[str, ...]
    group_start: np.ndarray
    cost: np.ndarray
    representation_type: tuple[str, ...]
    text: tuple[str | None, ...]
    confidence: np.ndarray
    time_index: np.ndarray
    estimated_value: tuple[float | None, ...]
    estimated_coverage: tuple[Mapping[str, float] | None, ...]
    size: tuple[TextSize | None, ...]

    def __len__(self) -> int:
        return len(self.candidate_ids)

    @cached_property
    def group_of(self) -> np.ndarray:
        """Group index of each candidate, int64."""
        return np.repeat(np.arange(len(self.group_ids)), np.diff(self.group_start))


@dataclass(frozen=True, eq=False)
class Package:
    """One package: groups of candidates, units with weights, sparse coverage, queries.

    Groups are ordered by smallest time index, then id; candidates inside a group by (cost, id)
    (protocol, "Edge cases"). Coverage is row-sparse: candidate i covers units
    `cov_unit[cov_ptr[i]:cov_ptr[i+1]]` by `cov_value[...]` in (0, 1].
    """

    suite: str
    package_id: str
    distribution: str
    seed: int | None
    visible: VisiblePackage
    units: tuple[Unit, ...]
    cov_ptr: np.ndarray
    cov_unit: np.ndarray
    cov_value: np.ndarray
    queries: tuple[Query, ...]

    def __len__(self) -> int:
        return len(self.visible)

    @cached_property
    def weight(self) -> np.ndarray:
        """Unit weights, float64."""
        return np.array([unit.weight for unit in self.units], dtype=np.float64)

    @cached_property
    def unit_index(self) -> dict[str, int]:
        return {unit.unit_id: i for i, unit in enumerate(self.units)}

    @property
    def total_cost(self) -> int:
        return int(self.visible.cost.sum())

    def coverage_row(self, i: int) -> dict[str, float]:
        """Coverage of candidate i by unit id."""
        rows = range(self.cov_ptr[i], self.cov_ptr[i + 1])
        return {self.units[self.cov_unit[r]].unit_id: float(self.cov_value[r]) for r in rows}

    @cached_property
    def content_hash(self) -> str:
        """Hash of all that an optimum depends on, without ids and texts: equal content, equal optima."""
        v = self.visible
        digest = hashlib.sha256()
        for array in (v.group_start, v.cost, v.time_index, self.cov_ptr, self.cov_unit, self.cov_value, self.weight):
            digest.update(np.ascontiguousarray(array).tobytes())
            digest.update(b"|")
        digest.update("\x1f".join(v.representation_type).encode())
        digest.update("\x1f".join(unit.role for unit in self.units).encode())
        return digest.hexdigest()[:16]

    def with_costs(self, costs: Sequence[int]) -> Package:
        """The same package with other costs (one a candidate, in this order), put in order again."""
        v = self.visible
        group = v.group_of
        order = sorted(range(len(v)), key=lambda i: (group[i], costs[i], v.candidate_ids[i]))
        return self._take(order, np.asarray(costs, dtype=np.int64), self.visible.group_start)

    def restrict(self, keep: np.ndarray) -> Package:
        """The package with only the candidates where `keep` (bool, one a candidate) holds; empty groups go."""
        order = np.flatnonzero(keep)
        sizes = np.bincount(self.visible.group_of[order], minlength=len(self.visible.group_ids))
        start = np.concatenate([[0], np.cumsum(sizes[sizes > 0])]).astype(np.int64)
        out = self._take(order, self.visible.cost, start)
        groups = tuple(g for g, size in zip(self.visible.group_ids, sizes, strict=True) if size)
        return replace(out, visible=replace(out.visible, group_ids=groups))

    def _take(self, order: Sequence[int], cost: np.ndarray, group_start: np.ndarray) -> Package:
        v = self.visible
        order = np.asarray(order, dtype=np.int64)
        visible = VisiblePackage(
            candidate_ids=tuple(v.candidate_ids[i] for i in order),
            group_ids=v.group_ids,
            group_start=group_start,
            cost=cost[order],
            representation_type=tuple(v.representation_type[i] for i in order),
            text=tuple(v.text[i] for i in order),
            confidence=v.confidence[order],
            time_index=v.time_index[order],
            estimated_value=tuple(v.estimated_value[i] for i in order),
            estimated_coverage=tuple(v.estimated_coverage[i] for i in order),
            size=tuple(v.size[i] for i in order),
        )
        sizes = np.diff(self.cov_ptr)[order]
        ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        rows = [np.arange(self.cov_ptr[i], self.cov_ptr[i + 1]) for i in order]
        rows = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)
        return replace(self, visible=visible, cov_ptr=ptr, cov_unit=self.cov_unit[rows], cov_value=self.cov_value[rows])


def build(
    suite: str,
    package_id: str,
    distribution: str,
    seed: int | None,
    candidates: Sequence[Candidate],
    units: Sequence[Unit],
    coverage: Mapping[tuple[str, str], float],
    queries: Sequence[Query],
) -> Package:
    """A Package from rows in any order; coverage maps (candidate_id, unit_id) to a value in [0, 1].

    Raises InputError naming the package and the row on: a repeated id, a coverage or requirement row
    with an unknown id, a value outside its range, a cost that is not a positive whole number, a distribution or
    query category of the name that results give the total.
    """
    where = f"package {package_id} of suite {suite}"
    if TOTAL in (distribution, *(q.category for q in queries)):
        raise InputError(f"{where}: {TOTAL!r} is what results call all of them together; rename its category")
    _refuse_repeats(where, "candidate_id", [c.candidate_id for c in candidates])
    _refuse_repeats(where, "unit_id", [u.unit_id for u in units])
    _refuse_repeats(where, "query_id", [q.query_id for q in queries])
    for c in candidates:
        if not isinstance(c.cost, int | np.integer) or c.cost < 1:
            raise InputError(f"{where}: candidate {c.candidate_id}: cost {c.cost!r} is not a positive whole number")
        if c.size is not None and (c.text is not None or min(c.size) < 0):
            raise InputError(f"{where}: candidate {c.candidate_id}: a size >= 0 stands for a text that is absent")
    for u in units:
        if not (u.weight >= 0 and np.isfinite(u.weight)):
            raise InputError(f"{where}: unit {u.unit_id}: weight {u.weight!r} is not a number >= 0")
    first_time: dict[str, int] = {}
    for c in candidates:
        first_time[c.group_id] = min(c.time_index, first_time.get(c.group_id, c.time_index))
    groups = sorted(first_time, key=lambda g: (first_time[g], g))
    rank = {g: i for i, g in enumerate(groups)}
    ordered = sorted(candidates, key=lambda c: (rank[c.group_id], c.cost, c.candidate_id))
    units = sorted(units, key=lambda u: u.unit_id)
    unit_index = {u.unit_id: i for i, u in enumerate(units)}
    sizes = np.bincount([rank[c.group_id] for c in ordered], minlength=len(groups)) if ordered else np.zeros(0)
    ptr, unit, value = _sparse_coverage(where, ordered, unit_index, coverage)
    for q in queries:
        for unit_id in q.required:
            if unit_id not in unit_index:
                raise InputError(f"{where}: query {q.query_id} requires unknown unit {unit_id}")
    visible = VisiblePackage(
        candidate_ids=tuple(c.candidate_id for c in ordered),
        group_ids=tuple(groups),
        group_start=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        cost=np.array([c.cost for c in ordered], dtype=np.int64),
        representation_type=tuple(c.representation_type for c in ordered),
        text=tuple(c.text for c in ordered),
        confidence=np.array([c.confidence for c in ordered], dtype=np.float64),
        time_index=np.array([c.time_index for c in ordered], dtype=np.int64),
        estimated_value=tuple(c.estimated_value for c in ordered),
        estimated_coverage=tuple(c.estimated_coverage for c in ordered),
        size=tuple(c.size for c in ordered),
    )
    return Package(
        suite,
        package_id,
        distribution,
        seed,
        visible,
        tuple(units),
        ptr,
        unit,
        value,
        tuple(sorted(queries, key=lambda q: q.query_id)),
    )


def _refuse_repeats(where: str, column: str, ids: Sequence[str]) -> None:
    seen: set[str] = set()
    for i in ids:
        if i in seen:
            raise InputError(f"{where}: {column} {i} stands twice; ids must be unique")
        seen.add(i)


def _sparse_coverage(where, ordered, unit_index, coverage):
    rows: dict[str, list[tuple[int, float]]] = {c.candidate_id: [] for c in ordered}
    for (candidate_id, unit_id), value in coverage.items():
        if candidate_id not in rows or unit_id not in unit_index:
            raise InputError(f"{where}: coverage row ({candidate_id}, {unit_id}) names an unknown id")
        if not 0 <= value <= 1:
            raise InputError(f"{where}: coverage of ({candidate_id}, {unit_id}) is {value!r}, outside [0, 1]")
        if value > 0:
            rows[candidate_id].append((unit_index[unit_id], value))
    ptr = np.zeros(len(ordered) + 1, dtype=np.int64)
    unit: list[int] = []
    cell: list[float] = []
    for i, c in enumerate(ordered):
        for u, value in sorted(rows[c.candidate_id]):
            unit.append(u)
            cell.append(value)
        ptr[i + 1] = len(unit)
    return ptr, np.array(unit, dtype=np.int64), np.array(cell, dtype=np.float64)
