"""Labelling what exported stores hold: what labellers are shown of each query, and how their labels are taken in.

Three passes over the queries of `labelling` and the memories of several stores at once, which go by neutral names
(m1, m2, ...), so that no labeller is told which system wrote one (instructions: data/natural100/stores/instructions):

    a  question, gold answer, sessions, evidence units, memories: coverage of every unit by every memory
    b  the same without a's labels: coverage of the cells of the frame (a's positive cells and some of its zeros)
    s  question and memories alone: the salience of each memory, how useful it is for the question
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from .labelling import (
    LEVELS,
    Frame,
    all_of,
    asked_cells,
    cells_bundle,
    checked_cells,
    once,
    question_lines,
    sources_of,
    text_problems,
)


@dataclass(frozen=True)
class StoredMemory:
    """One memory of a store: `store` and `memory_id` say which, `text` is what the store's adapter makes of it."""

    store: str
    memory_id: str
    text: str


# ---- What labellers are shown


def named_memories(query: str, memories: Iterable[StoredMemory]) -> dict[str, StoredMemory]:
    """The memories of all stores under the names m1.., in an order that tells nothing of the store: sorted by store
    and id, then shuffled by Random(f"memories:{query}")."""
    shuffled = sorted(memories, key=lambda m: (m.store, m.memory_id))
    Random(f"memories:{query}").shuffle(shuffled)
    return {f"m{n}": memory for n, memory in enumerate(shuffled, start=1)}


def coverage_bundle(
    query: str, frame: Frame, units: Mapping[str, Mapping[str, Any]], memories: Mapping[str, StoredMemory]
) -> str:
    """Pass a: question, gold answer, sessions (as in pass a2), units and memories.

    `units`: short name -> row of a package's table of units, whose kind and text are shown.
    """
    lines = [*question_lines(query, frame), "## Evidence units", ""]
    lines += [f"{name} ({unit['kind']}): {unit['canonical_text']}" for name, unit in units.items()]
    return "\n".join([*lines, "", *_memory_lines(memories)])


def frame_bundle(given: str, query: str, cells: Sequence[tuple[str, str]]) -> str:
    """Pass b: what pass a was given, and the cells to label in an order that tells nothing."""
    return f"{given}\n{cells_bundle(cells, query)}"


def salience_bundle(query: str, frame: Frame, memories: Mapping[str, StoredMemory]) -> str:
    """Pass s: the question and the memories; no gold answer, unit, session or date."""
    question = frame.queries[query].question
    return "\n".join([f"# Query {query}", f"question: {question}", "", *_memory_lines(memories)])


def _memory_lines(memories: Mapping[str, StoredMemory]) -> list[str]:
    # A text may have several lines: each memory stands below its name.
    lines = ["## Memories", ""]
    for name, memory in memories.items():
        lines += [f"### {name}", memory.text, ""]
    return lines


# ---- Taking labels in


def take_a(
    rows: Iterable[Mapping],
    frame: Frame,
    units: Mapping[str, Iterable[str]],
    memories: Mapping[str, Iterable[str]],
    wanted: Sequence[str],
) -> list[dict[str, Any]]:
    """a's rows, checked: one a query of `wanted`. A row: query, coverage [[memory, unit, 0.5 or 1]], note.

    `units`, `memories`: query -> short names. Raises Problems.
    """
    found: list[str] = []
    taken = {}
    for row in once(rows, "query", wanted, found):
        name, problems = row["query"], []
        cells = checked_cells(row.get("coverage"), set(memories[name]), set(units[name]), LEVELS, problems)
        taken[name] = {"query": name, "coverage": cells, "note": _note(row, frame, problems)}
        found += [f"{name}: {p}" for p in problems]
    return all_of(taken, "query", wanted, found)


def take_b(rows: Iterable[Mapping], frame: Frame, cells: Mapping[str, Iterable[tuple[str, str]]]) -> list[dict]:
    """b's rows, checked: one a query of `cells` (query -> its frame of (memory, unit)).

    A row: query, cells [[memory, unit, 0, 0.5 or 1]] for the whole frame, note. Raises Problems.
    """
    found: list[str] = []
    taken = {}
    for row in once(rows, "query", cells, found):
        name, problems = row["query"], []
        labelled = asked_cells(row.get("cells"), cells[name], problems)
        taken[name] = {"query": name, "cells": labelled, "note": _note(row, frame, problems)}
        found += [f"{name}: {p}" for p in problems]
    return all_of(taken, "query", cells, found)


def take_s(
    rows: Iterable[Mapping], frame: Frame, memories: Mapping[str, Sequence[str]], wanted: Sequence[str]
) -> list[dict[str, Any]]:
    """s's rows, checked: one a query of `wanted`. A row: query, scores {memory: number in [0, 1]}, note.

    Raises Problems.
    """
    found: list[str] = []
    taken = {}
    for row in once(rows, "query", wanted, found):
        name, problems = row["query"], []
        scores = _scores(row.get("scores"), memories[name], problems)
        taken[name] = {"query": name, "scores": scores, "note": _note(row, frame, problems)}
        found += [f"{name}: {p}" for p in problems]
    return all_of(taken, "query", wanted, found)


def _scores(value: Any, memories: Sequence[str], problems: list[str]) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        problems.append("scores must be an object memory -> number")
        return {}
    problems += [f"scores: {name!r} is no memory of this query" for name in value if name not in memories]
    problems += [f"scores: memory {name} has none" for name in memories if name not in value]
    for name, score in value.items():
        if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
            problems.append(f"scores: {score!r} of {name} is no number from 0 to 1")
    return {name: value[name] for name in memories if name in value}


def _note(row: Mapping, frame: Frame, problems: list[str]) -> str:
    note = row.get("note") or ""
    problems += text_problems("note", note or "-", sources_of(frame, row["query"]))
    return note


# ---- The label files of a store


def coverage_row(
    query: Mapping[str, Any], store: str, a: Mapping[str, Any], b: Mapping[str, Any], unit_ids: Mapping[str, str]
) -> dict[str, Any]:
    """What a store's memories of a query cover, as a row of a coverage file (docs/stores.md).

    `query`: question_id and memories {neutral name: [store, memory id]}; `a`, `b`: the passes' rows; `unit_ids`: short
    name -> id, of all units of the query. b's label counts on the frame, a's zero elsewhere: such cells are left out,
    except one of each memory that has no cell on the frame, so that it counts as labelled. Each cell says besides
    what either pass labelled.
    """
    by_a = {(m, u): value for m, u, value in a["coverage"]}
    by_b = {(m, u): value for m, u, value in b["cells"]}
    edges = []
    for name, memory_id in _own(query, store).items():
        cells = [(u, by_b[m, u]) for m, u in sorted(by_b) if m == name]
        for unit, value in cells:
            labels = {"a": by_a.get((name, unit), 0.0), "b": value}
            edges.append({"memory_id": memory_id, "unit_id": unit_ids[unit], "coverage": value, **labels})
        if not cells:
            edges.append({"memory_id": memory_id, "unit_id": unit_ids[min(unit_ids)], "coverage": 0.0, "a": 0.0})
    return {"instance_id": query["question_id"], "coverage_edges": edges}


def salience_row(query: Mapping[str, Any], store: str, s: Mapping[str, Any]) -> dict[str, Any]:
    """The salience of a store's memories of a query, as a row of a salience file."""
    scores = {memory_id: s["scores"][name] for name, memory_id in _own(query, store).items()}
    return {"instance_id": query["question_id"], "scores": scores}


def _own(query: Mapping[str, Any], store: str) -> dict[str, str]:
    """Neutral name -> id of the memories of one store."""
    return {name: memory_id for name, (of, memory_id) in query["memories"].items() if of == store}
