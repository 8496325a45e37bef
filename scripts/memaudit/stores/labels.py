"""Coverage and salience of a store's memories, as the paper's label files give them.

A row is of one example, and of one view or scope where it names one (`memory_view`, `memory_scope`). An edge or score
that names one itself is as good as a row of that view, for its memory alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import InputError, listed, nearest, plain, shown
from ..natural.fields import kind_of
from .model import Store

# (memory id, view) -> unit id -> coverage in (0, 1]
StoreCoverage = Mapping[tuple[str, str], Mapping[str, float]]
# What `ingest` calls memories whose coverage nobody stated.
UNLABELLED = "memories that no label row is of"
_SHAPE = (
    'a row an example: {"instance_id": "...", "coverage_edges": [{"memory_id": "...", "unit_id": "...", '
    '"coverage": 1}]}, or, of salience, {"instance_id": "...", "scores": {"memory id": 0.5}}'
)
_SCOPES = ("memory_view", "memory_scope")
# The view that label rows are asked for where none was chosen: the paper's of Letta.
DEFAULT_SCOPE = "combined"
_SHOWN_IDS = 5


@dataclass(frozen=True)
class Labels:
    """Rows of a label file by example, with the place of each."""

    rows: Mapping[str, Sequence[tuple[str, Mapping[str, Any]]]]
    where: str


@dataclass(frozen=True)
class Covered:
    """cells: coverage by memory and unit, zeros left out. repeats: cells that stood again (the largest counts).
    stale: ids in the labels that the store does not hold. unlabelled: memories that no row of labels reaches. unread:
    view -> cells of it, where the store has no memory of that view."""

    cells: StoreCoverage
    repeats: int = 0
    stale: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = field(default=())
    unread: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Rated:
    """salience: of each (memory id, view) that has one. repeats: scores that stood again (the largest counts). stale:
    ids in the rows that the store does not hold. unrated: memories without one, as (memory id, view). unread: view ->
    scores of it, where the store has no memory of that view."""

    salience: Mapping[tuple[str, str], float]
    repeats: int = 0
    stale: tuple[str, ...] = ()
    unrated: tuple[tuple[str, str], ...] = ()
    unread: Mapping[str, int] = field(default_factory=dict)


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
    by_scope, whole = _by_scope(given, store.instance_id or "")
    named = {i for edges in by_scope.values() for i, _, _ in edges}
    for view in dict.fromkeys(m.view for m in store.memories):
        own = {m.memory_id for m in store.memories if m.view == view}
        for memory_id, unit_id, value in _chosen(by_scope, whole, _order(scope, view)):
            if memory_id in own:
                row = cells.setdefault((memory_id, view), {})
                repeats += unit_id in row
                row[unit_id] = max(value, row.get(unit_id, 0.0))
    kept = {key: {u: v for u, v in row.items() if v > 0} for key, row in cells.items()}
    missing = {m.memory_id for m in store.memories} - {i for i, _ in cells}
    unread = {name: len(edges) for name, edges in by_scope.items()}
    return Covered(kept, repeats, tuple(sorted(named - ids)), tuple(sorted(missing)), _unread(unread, store, scope))


def check_coverage(given: Labels, instance_id: str) -> None:
    """InputError, with the place, on a wrong row of an example, whether there is a store of it or not."""
    _by_scope(given, instance_id)


def refuse_unknown_units(given: Labels, units: Collection[str], examples: Collection[str]) -> None:
    """InputError, with the place, where an edge of one of `examples`, all that the package has, names none of `units`,
    all of its units. Rows must be right (`check_coverage`). Which example a unit is of is not asked."""
    for instance_id in sorted(set(given.rows) & set(examples)):
        for place, row in given.rows[instance_id]:
            strange = [str(edge["unit_id"]) for edge in row["coverage_edges"] if str(edge["unit_id"]) not in units]
            if strange:
                near = nearest(strange[0], units, most=_SHOWN_IDS)
                raise InputError(f"{place}: the package has no unit {shown(strange[0])}; {near}")


_Edge = tuple[str, str, float]


def _by_scope(given: Labels, instance_id: str) -> tuple[dict[str | None, list[_Edge]], set[str | None]]:
    """(memory id, unit id, coverage) of an example by the view that they are of, and the views that whole rows are of:
    what such a row leaves out is 0."""
    out: dict[str | None, list[_Edge]] = {}
    whole = set()
    for place, row in given.rows.get(instance_id, ()):
        edges = row.get("coverage_edges")
        if not isinstance(edges, list):
            raise InputError(f"{place}: coverage_edges is {kind_of(edges)}; write a list")
        of_row = _scope(row)
        whole.add(of_row)
        for edge in edges:
            read = _edge(edge, place)
            out.setdefault(_own_scope(edge, of_row, place), []).append(read)
    return out, whole


def _scope(row: Mapping[str, Any]) -> str | None:
    return next((str(row[key]) for key in _SCOPES if row.get(key) is not None), None)


def _own_scope(part: Mapping[str, Any], of_row: str | None, place: str) -> str | None:
    """The view of an edge or score: its own, else its row's; InputError where they are two."""
    own = _scope(part)
    if None not in (own, of_row) and own != of_row:
        raise InputError(
            f"{place}: the row is of view {shown(of_row)}, and {shown(part)} in it of {shown(own)}; keep one"
        )
    return of_row if own is None else own


def _order(scope: str | None, view: str) -> list[str | None]:
    """The views that a row may name to be of a memory of `view`: the chosen one, the memory's own, none."""
    return [*dict.fromkeys(name for name in (scope, view) if name), None]


def _unread(counts: Mapping[str | None, int], store: Store, scope: str | None) -> dict[str, int]:
    """Of counts by view those above 0 of views that no memory of the store is of; none where it is empty."""
    read = {name for memory in store.memories for name in _order(scope, memory.view)}
    return {str(name): count for name, count in counts.items() if count and read and name not in read}


def _chosen(by_scope: Mapping[str | None, list[_Edge]], whole: set[str | None], order: Sequence) -> Iterator[_Edge]:
    """The edges of the first view that a whole row is of; before it, each memory's of the first view that it names."""
    settled: set[str] = set()
    for scope in order:
        edges = [edge for edge in by_scope.get(scope, ()) if edge[0] not in settled]
        yield from edges
        if scope in whole:
            return
        settled |= {memory_id for memory_id, _, _ in edges}


def _edge(edge: Any, place: str) -> _Edge:
    if not isinstance(edge, Mapping) or edge.get("memory_id") is None or edge.get("unit_id") is None:
        raise InputError(f"{place}: coverage edge {shown(edge)} has no memory_id or unit_id; add them")
    return str(edge["memory_id"]), str(edge["unit_id"]), _share(edge.get("coverage"), "coverage", place)


def _share(value: Any, key: str, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError(f"{place}: {key} is {shown(value)}; write a number in [0, 1]")
    return float(value)


def salience_of(store: Store, given: Labels, scope: str | None = None) -> Rated:
    """The salience of the store's memories: `scores`, {memory_id: {salience, rationale}} or {memory_id: number}.

    `scope` and order of rows as in `coverage_of`. InputError, with the place, on a wrong value.
    """
    found, repeats = _scores(given, store.instance_id or "")
    rated, unrated = {}, []
    for memory in store.memories:
        scores = (found.get(name, {}) for name in _order(scope, memory.view))
        value = next((own[memory.memory_id] for own in scores if memory.memory_id in own), None)
        if value is None:
            unrated.append((memory.memory_id, memory.view))
        else:
            rated[memory.memory_id, memory.view] = value
    named = {i for own in found.values() for i in own}
    stale = named - {m.memory_id for m in store.memories}
    unread = {name: len(own) for name, own in found.items()}
    return Rated(rated, repeats, tuple(sorted(stale)), tuple(sorted(unrated)), _unread(unread, store, scope))


def refuse_salience_of_another_store(
    name: str, stores: Mapping[str, Store], given: Labels, scope: str | None = None
) -> None:
    """InputError where store `name` has memories (stores: example -> store), and the rows are of none of them."""
    rated = [salience_of(store, given, scope or DEFAULT_SCOPE) for store in stores.values()]
    held = [f"{plain(m.memory_id)} (example {plain(i)})" for i, store in stores.items() for m in store.memories]
    if not held or any(one.salience for one in rated):
        return
    views = sorted({view for one in rated for view in one.unread})
    if views:
        raise InputError(
            f"{given.where}: its scores are of other views of store {name} ({listed(views, _SHOWN_IDS)}) than the one "
            f"that is read; read the view that was rated, or rate this one"
        )
    raise InputError(
        f"{given.where}: no score is of a memory of store {name}; it has rows of the examples "
        f"{', '.join(map(plain, list(given.rows)[:_SHOWN_IDS])) or 'none'}, and expected are memories such as "
        f"{', '.join(held[:_SHOWN_IDS])}: give the salience of this export, or leave the file out"
    )


def check_salience(given: Labels, instance_id: str) -> None:
    """InputError, with the place, on a wrong row of an example, whether there is a store of it or not."""
    _scores(given, instance_id)


def _scores(given: Labels, instance_id: str) -> tuple[dict[str | None, dict[str, float]], int]:
    """View -> memory id -> salience, of an example, and how many stood again."""
    found: dict[str | None, dict[str, float]] = {}
    repeats = 0
    for place, row in given.rows.get(instance_id, ()):
        scores = row.get("scores")
        if not isinstance(scores, Mapping):
            raise InputError(f"{place}: scores is {kind_of(scores)}; write an object memory_id -> score")
        of_row = _scope(row)
        for memory_id, score in scores.items():
            own = _own_scope(score, of_row, place) if isinstance(score, Mapping) else of_row
            value = score.get("salience") if isinstance(score, Mapping) else score
            share = _share(value, f"salience of {shown(memory_id)}", place)
            of_view = found.setdefault(own, {})
            repeats += str(memory_id) in of_view
            of_view[str(memory_id)] = max(share, of_view.get(str(memory_id), 0.0))
    return found, repeats


def with_salience(store: Store, rated: Rated) -> Store:
    """The store with just this salience: what the export held is on another scale, and is left out."""
    memories = (replace(m, salience=rated.salience.get((m.memory_id, m.view))) for m in store.memories)
    return replace(store, memories=tuple(memories))
