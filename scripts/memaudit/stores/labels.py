"""Coverage and salience of a store's memories, as the paper's label files give them.

A row is of one example, and of one view or scope where it names one (`memory_view`, `memory_scope`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import InputError, shown
from ..natural.fields import kind_of
from .model import Memory, Store

# (memory id, view) -> unit id -> coverage in (0, 1]
StoreCoverage = Mapping[tuple[str, str], Mapping[str, float]]
_SHAPE = (
    'a row an example: {"instance_id": "...", "coverage_edges": [{"memory_id": "...", "unit_id": "...", '
    '"coverage": 1}]}, or, of salience, {"instance_id": "...", "scores": {"memory id": 0.5}}'
)
_SCOPES = ("memory_view", "memory_scope")


@dataclass(frozen=True)
class Labels:
    """Rows of a label file by example, with the place of each."""

    rows: Mapping[str, Sequence[tuple[str, Mapping[str, Any]]]]
    where: str


@dataclass(frozen=True)
class Covered:
    """cells: coverage by memory and unit, zeros left out. repeats: cells that stood again (the largest counts).
    stale: ids in the labels that the store does not hold. unlabelled: memories that no row of labels reaches."""

    cells: StoreCoverage
    repeats: int = 0
    stale: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = field(default=())


def labels(rows: Iterable[tuple[str, Any]], where: str) -> Labels:
    """Rows with their places, by instance_id; InputError on a row without one."""
    out: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for place, row in rows:
        if not isinstance(row, Mapping) or not isinstance(row.get("instance_id"), str | int):
            raise InputError(f"{place}: no object with an instance_id; write {_SHAPE}")
        out.setdefault(str(row["instance_id"]), []).append((place, row))
    return Labels(out, where)


def coverage_of(store: Store, given: Labels, scope: str | None = None) -> Covered:
    """The coverage rows of the store's memories (`coverage_edges`: [{memory_id, unit_id, coverage}]).

    `scope`: the view that was chosen (combined, for example); a row that names it comes before one that names the
    memory's own view, and that before one that names none. InputError, with the place, on a wrong value.
    """
    cells: dict[tuple[str, str], dict[str, float]] = {}
    repeats, ids = 0, {m.memory_id for m in store.memories}
    by_scope = _by_scope(store, given)
    named = {i for edges in by_scope.values() for i, _, _ in edges}
    for view in dict.fromkeys(m.view for m in store.memories):
        own = {m.memory_id for m in store.memories if m.view == view}
        for memory_id, unit_id, value in _first(by_scope, scope, view):
            if memory_id in own:
                row = cells.setdefault((memory_id, view), {})
                repeats += unit_id in row
                row[unit_id] = max(value, row.get(unit_id, 0.0))
    kept = {key: {u: v for u, v in row.items() if v > 0} for key, row in cells.items()}
    missing = {m.memory_id for m in store.memories} - {i for i, _ in cells}
    return Covered(kept, repeats, tuple(sorted(named - ids)), tuple(sorted(missing)))


def _by_scope(store: Store, given: Labels) -> dict[str | None, list[tuple[str, str, float]]]:
    out: dict[str | None, list[tuple[str, str, float]]] = {}
    for place, row in given.rows.get(store.instance_id or "", ()):
        edges = row.get("coverage_edges")
        if not isinstance(edges, list):
            raise InputError(f"{place}: coverage_edges is {kind_of(edges)}; write a list")
        out.setdefault(_scope(row), []).extend(_edge(edge, place) for edge in edges)
    return out


def _scope(row: Mapping[str, Any]) -> str | None:
    return next((str(row[key]) for key in _SCOPES if row.get(key) is not None), None)


def _first(by_scope: Mapping[str | None, list], scope: str | None, view: str) -> list:
    return next((by_scope[s] for s in (scope, view or None, None) if s in by_scope and (s or s is None)), [])


def _edge(edge: Any, place: str) -> tuple[str, str, float]:
    if not isinstance(edge, Mapping) or edge.get("memory_id") is None or edge.get("unit_id") is None:
        raise InputError(f"{place}: coverage edge {shown(edge)} has no memory_id or unit_id; add them")
    return str(edge["memory_id"]), str(edge["unit_id"]), _share(edge.get("coverage"), "coverage", place)


def _share(value: Any, key: str, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError(f"{place}: {key} is {shown(value)}; write a number in [0, 1]")
    return float(value)


def with_salience(store: Store, given: Labels, scope: str | None = None) -> Store:
    """The store with the salience of `scores` ({memory_id: {salience, rationale}} or {memory_id: number})."""
    found: dict[str | None, dict[str, float]] = {}
    for place, row in given.rows.get(store.instance_id or "", ()):
        scores = row.get("scores")
        if not isinstance(scores, Mapping):
            raise InputError(f"{place}: scores is {kind_of(scores)}; write an object memory_id -> score")
        own = found.setdefault(_scope(row), {})
        for memory_id, score in scores.items():
            value = score.get("salience") if isinstance(score, Mapping) else score
            own[str(memory_id)] = _share(value, f"salience of {shown(memory_id)}", place)

    def scored(memory: Memory) -> Memory:
        order = [s for s in (scope, memory.view or None, None) if s in found]
        value = next((found[s][memory.memory_id] for s in order if memory.memory_id in found[s]), None)
        return memory if value is None else replace(memory, salience=value)

    return replace(store, memories=tuple(map(scored, store.memories)))
