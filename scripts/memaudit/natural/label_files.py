"""Label files of the passes (`labelling`, `store_labelling`), as they were kept, checked before packages (`labelled`)
or label rows of stores are made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import InputError
from .labelling import CORRECTIONS, KINDS, LEVELS, TYPES, VERDICTS

# Key -> type, of a row of each pass and of what stands in its lists.
_ROWS: dict[str, dict[str, type]] = {
    "a1": {"session": str, "units": list, "candidates": list},
    "a2": {"query": str, "required": list, "derived": list, "stale": list, "coverage": list},
    "b": {"query": str, "verdict": str, "reason": str, "required": list, "cells": list},
    "corrections": {"what": str, "unit": str},
    "narrow": {"query": str, "units": list},
    "again_a": {"query": str, "cells": list},
    "again_b": {"query": str, "cells": list},
}
_STORE_ROWS: dict[str, dict[str, type]] = {
    "a": {"query": str, "coverage": list},
    "b": {"query": str, "cells": list},
    "s": {"query": str, "scores": dict},
}
_UNIT = {"unit": str, "kind": str, "text": str, "pointer": dict}
_NARROWED = {**_UNIT, "replaces": str, "session": str}
_POINTER = {"turn": int, "session_id": str, "sha256": str, "chars": list}
_CANDIDATE = {"candidate": str, "type": str, "text": str}
_CORRECTION: dict[str, dict[str, type]] = {
    "coverage": {"query": str, "candidate": str},
    "unit_text": {"text": str},
    "unit_kind": {"unit_kind": str},
    "quote": {"pointer": dict},
}
_SECOND_ROUND = ("narrow", "again_a", "again_b")
_FIX = "take the file from the release again"

Placed = Sequence[tuple[str, Any]]


def check_labels(index: Mapping[str, Any], rows: Mapping[str, Placed]) -> None:
    """Refuse labels that are not those of the sessions and queries of `index` (`labelled.index_of`).

    `rows`: pass -> (where the row stands, e.g. "labels/b/batch_01.jsonl, line 3", the row). Passes are a1, a2, b,
    corrections, narrow, again_a, again_b; one that is not given is not checked, one that is needs those before it.
    Raises InputError, naming the place and the id, on a row that is not of its pass's form, a session or query
    without a row or with two, and a unit or candidate that is none of the row's query.
    """
    made = _each_once("a1", "session", index["sessions"], rows["a1"])
    units = {s: [f"{s}.{u['unit']}" for u in _parts(where, row, "units", _UNIT)] for s, (where, row) in made.items()}
    candidates = {}
    for s, (where, row) in made.items():
        parts = _parts(where, row, "candidates", _CANDIDATE)
        candidates[s] = [*([f"{s}.raw"] if units[s] else []), *(f"{s}.{c['candidate']}" for c in parts)]
    if "a2" not in rows:
        return
    labelled = _each_once("a2", "query", index["queries"], rows["a2"])
    judged = _each_once("b", "query", index["queries"], rows["b"]) if "b" in rows else {}
    names: dict[str, tuple[set[str], set[str]]] = {}
    for query, (where, row) in labelled.items():
        sessions = index["queries"][query]["sessions"]
        derived = _parts(where, row, "derived", {**_UNIT, "session": str})
        for unit in derived:
            _known(where, "session", unit["session"], sessions)
        own = {u for s in sessions for u in units[s]} | {f"{query}.{u['unit']}" for u in derived}
        names[query] = ({c for s in sessions for c in candidates[s]}, own)
        _labels_of_query(where, row, ("required", "stale"), "coverage", *names[query])
    for query, (where, row) in judged.items():
        _known(where, "verdict", row["verdict"], VERDICTS)
        _labels_of_query(where, row, ("required",), "cells", *names[query])
    every_unit = {unit for _, own in names.values() for unit in own}
    if "narrow" in rows:
        required = {q: {*labelled[q][1]["required"], *judged[q][1]["required"]} for q in labelled}
        _second_round(index, rows, names, required)
    for where, row in rows.get("corrections", ()):
        _correction(where, row, names, every_unit)


def _second_round(
    index: Mapping[str, Any],
    rows: Mapping[str, Placed],
    names: Mapping[str, tuple[set[str], set[str]]],
    required: Mapping[str, set[str]],
) -> None:
    again = {key: _each_once(key, "query", index["queries"], rows[key]) for key in _SECOND_ROUND if key in rows}
    narrower: dict[str, set[str]] = {}
    for query, (where, row) in again["narrow"].items():
        parts = _parts(where, row, "units", _NARROWED)
        for unit in parts:
            _known(where, "replaced unit", unit["replaces"], required[query])
            _known(where, "session", unit["session"], index["queries"][query]["sessions"])
            place = unit["replaces"].partition(".")[0]
            if place not in (query, unit["session"]):
                raise InputError(
                    f"{where}: {unit['unit']} replaces {unit['replaces']}, not of {unit['session']}; {_FIX}"
                )
        narrower[query] = {f"{query}.{unit['unit']}" for unit in parts}
    for key in _SECOND_ROUND[1:]:
        for query, (where, row) in again.get(key, {}).items():
            candidates, units = names[query]
            _labels_of_query(where, row, (), "cells", candidates, units | narrower[query])
    for query, (where, row) in again.get("again_b", {}).items():
        own, other = ({(c, u) for c, u, _ in r["cells"]} for r in (row, again["again_a"][query][1]))
        if own != other:
            c, u = min(own ^ other)
            raise InputError(f"{where}: query {query}: cell {c} {u} is labelled in one pass alone; {_FIX}")


def check_store_labels(names: Mapping[str, tuple[set[str], set[str]]], rows: Mapping[str, Placed]) -> None:
    """Refuse labels of stores' memories that are not of the passes' form or of other queries, memories or units.

    `names`: query -> (its memories, its units). `rows`: pass (a, b, s) -> (place, row) as for `check_labels`. Raises
    InputError, naming the place and the id, also on a query without a row or with two, a cell that is labelled twice
    and a memory without salience.
    """
    for key, cells in (("a", "coverage"), ("b", "cells")):
        for query, (where, row) in _each_once(key, "query", names, rows[key], _STORE_ROWS).items():
            _labels_of_query(where, row, (), cells, *names[query], candidate="memory")
    for query, (where, row) in _each_once("s", "query", names, rows["s"], _STORE_ROWS).items():
        where = f"{where}: query {query}: scores"
        for memory, score in row["scores"].items():
            _known(where, "memory", memory, names[query][0])
            if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
                raise InputError(f"{where}: {score!r} of {memory} is no number from 0 to 1; {_FIX}")
        missing = sorted(names[query][0] - set(row["scores"]))
        if missing:
            raise InputError(f"{where}: memory {missing[0]} has none; {_FIX}")


def check_frame(rows: Placed, cells: Mapping[str, Iterable[tuple[str, str]]]) -> None:
    """Refuse rows of pass b that are not of the cells to label (query -> cells): InputError with the place."""
    for where, row in rows:
        odd = {(c, u) for c, u, _ in row["cells"]} ^ set(cells[row["query"]])
        if odd:
            c, u = min(odd)
            raise InputError(
                f"{where}: query {row['query']}: cell {c} {u} is labelled or to be labelled, not both; {_FIX}"
            )


def _each_once(
    labelling_pass: str,
    key: str,
    wanted: Iterable[str],
    rows: Placed,
    forms: Mapping[str, Mapping[str, type]] = _ROWS,
) -> dict[str, tuple[str, Mapping]]:
    """Session or query -> (place, row), in the order of `wanted`."""
    found: dict[str, tuple[str, Mapping]] = {}
    wanted = dict.fromkeys(wanted)
    for where, row in rows:
        _form(where, row, forms[labelling_pass])
        _known(where, key, row[key], wanted)
        if row[key] in found:
            raise InputError(f"{where}: {key} {row[key]} stands already at {found[row[key]][0]}; {_FIX}")
        found[row[key]] = (where, row)
    missing = [name for name in wanted if name not in found]
    if missing:
        raise InputError(f"labels/{labelling_pass}: {key} {missing[0]} has no row ({len(missing)} have none); {_FIX}")
    return {name: found[name] for name in wanted}


def _form(where: str, row: Any, keys: Mapping[str, type]) -> None:
    if not isinstance(row, Mapping):
        raise InputError(f"{where}: not an object; {_FIX}")
    for key, kind in keys.items():
        if not isinstance(row.get(key), kind):
            state = "is missing" if key not in row else f"is no {kind.__name__}"
            raise InputError(f"{where}: {key} {state}; {_FIX}")


def _parts(where: str, row: Mapping, key: str, keys: Mapping[str, type]) -> list[Mapping]:
    """The units or candidates of a row, of known kind and type, each name once."""
    seen: set[str] = set()
    for n, part in enumerate(row[key], start=1):
        place = f"{where}: {key} {n}"
        _form(place, part, keys)
        name = part["unit" if "unit" in keys else "candidate"]
        if name in seen:
            raise InputError(f"{place}: {name} stands already; {_FIX}")
        seen.add(name)
        if "pointer" in keys:
            _known(place, "kind", part["kind"], KINDS)
            _form(f"{place}: pointer", part["pointer"], _POINTER)
        else:
            _known(place, "type", part["type"], TYPES)
    return row[key]


def _known(where: str, key: str, name: Any, known: Iterable[str]) -> None:
    if not isinstance(name, str) or name not in known:
        raise InputError(f"{where}: {key} {name!r} is not known here; {_FIX}")


def _labels_of_query(
    where: str,
    row: Mapping,
    lists: Iterable[str],
    cells: str,
    candidates: set[str],
    units: set[str],
    candidate: str = "candidate",
) -> None:
    where = f"{where}: query {row['query']}"
    for key in lists:
        for unit in row[key]:
            _known(where, f"{key} unit", unit, units)
    seen: set[tuple[str, str]] = set()
    for cell in row[cells]:
        if not isinstance(cell, list) or len(cell) != 3:
            raise InputError(f"{where}: {cells} holds {cell!r}, not [{candidate}, unit, value]; {_FIX}")
        _cell(f"{where}: {cells}", *cell, candidates, units, candidate)
        if tuple(cell[:2]) in seen:
            raise InputError(f"{where}: {cells}: {cell[0]} {cell[1]} stands twice; {_FIX}")
        seen.add(tuple(cell[:2]))


def _cell(
    where: str,
    candidate: Any,
    unit: Any,
    value: Any,
    candidates: set[str],
    units: set[str],
    what: str = "candidate",
) -> None:
    _known(where, what, candidate, candidates)
    _known(where, "unit", unit, units)
    if isinstance(value, bool) or value not in (0, *LEVELS):
        raise InputError(f"{where}: value {value!r} of {candidate}, {unit} is none of 0, 0.5, 1; {_FIX}")


def _correction(where: str, row: Any, names: Mapping[str, tuple[set[str], set[str]]], every_unit: set[str]) -> None:
    _form(where, row, _ROWS["corrections"])
    what = row["what"]
    _known(where, "what", what, CORRECTIONS)
    _form(where, row, _CORRECTION[what])
    if what == "coverage":
        _known(where, "query", row["query"], names)
        _cell(f"{where}: query {row['query']}", row["candidate"], row["unit"], row.get("value"), *names[row["query"]])
    else:
        _known(where, "unit", row["unit"], every_unit)
