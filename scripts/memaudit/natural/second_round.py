"""The second round of labels: units narrowed to what a question needs, and coverage labelled again by both passes.

    narrow    a query with the units that it was found to require: narrower ones in place of those that tell more
    again_a   coverage once more, by a second labeller of pass a ...
    again_b   ... and by one of pass b: the same cells, from the texts of units and candidates alone

Which cells are labelled again (`cells_again`): all of a query's candidates on its narrowed units; and, of the cells
that the first round labelled, those on required units and of the kinds of unit and candidate on which the passes
agreed least about full and half coverage. Rows go by the short names of `labelling`; narrowed units are Q001.n1, ...
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from ..errors import InputError
from .labelling import (
    KINDS,
    Frame,
    all_of,
    asked_cells,
    candidate_lines,
    list_of,
    once,
    question_lines,
    quote_pointer,
    sources_of,
    text_problems,
)

# Kinds of unit, and types of candidate, that tell of changed or open states: on most of them the kappa of full against
# half was low in the first round (data card).
AGAIN_KINDS = ("update", "invalidation", "stale_or_superseded", "abstention")
AGAIN_TYPES = ("tombstone",)

Cell = tuple[str, str]  # names of candidate and unit


@dataclass(frozen=True)
class SecondRound:
    """What the second round gave; empty, where there was none. Rows as `take_narrow` and `take_again` give them."""

    narrow: Sequence[Mapping[str, Any]] = ()
    again_a: Sequence[Mapping[str, Any]] = ()
    again_b: Sequence[Mapping[str, Any]] = ()

    def units(self, query: str) -> dict[str, Mapping[str, Any]]:
        """Name of each narrowed unit of a query -> its row."""
        own = (row["units"] for row in self.narrow if row["query"] == query)
        return {f"{query}.{unit['unit']}": unit for units in own for unit in units}

    def required(self, query: str, required: Iterable[str]) -> list[str]:
        """Required units with the narrowed ones in place of those that they replace, by name."""
        narrower: dict[str, list[str]] = {}
        for name, unit in self.units(query).items():
            narrower.setdefault(unit["replaces"], []).append(name)
        return sorted({name for unit in required for name in narrower.get(unit, [unit])})

    def values(self, query: str) -> tuple[dict[Cell, float], dict[Cell, float]]:
        """Coverage by cell of the query: pass a's and pass b's."""
        a, b = (
            {(c, u): v for row in rows if row["query"] == query for c, u, v in row["cells"]}
            for rows in (self.again_a, self.again_b)
        )
        return a, b


NO_SECOND_ROUND = SecondRound()


def narrow_bundle(name: str, frame: Frame, units: Mapping[str, Mapping[str, Any]]) -> str:
    """Question, gold answer, sessions by date (assistant turns shortened), required units (name -> kind, text)."""
    lines = [*question_lines(name, frame), "## Units that the question was found to require", ""]
    return "\n".join([*lines, *_unit_lines(units), ""])


def again_bundle(
    name: str,
    frame: Frame,
    made: Mapping[str, Mapping],
    units: Mapping[str, Mapping[str, Any]],
    cells: Sequence[Cell],
    seed: str,
) -> str:
    """The units (name -> kind, text) and candidates of the cells, and the cells in an order that tells nothing.

    No question, answer or session: what a candidate covers is in the two texts.
    """
    shown, shuffled = {c for c, _ in cells}, sorted(cells)
    Random(f"{seed}:{name}").shuffle(shuffled)
    lines = [f"# Query {name}", "", "## Evidence units", "", *_unit_lines(units), "", "## Candidate memories", ""]
    lines += [line for candidate, line in candidate_lines(name, frame, made) if candidate in shown]
    return "\n".join([*lines, "", "## Cells to label", "", *(f"{c} {u}" for c, u in shuffled), ""])


def _unit_lines(units: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return [f"{name} ({unit['kind']}): {unit['text']}" for name, unit in units.items()]


def cells_again(
    required: Iterable[str],
    narrow: Iterable[str],
    labelled: Iterable[Cell],
    candidates: Mapping[str, str],
    kinds: Mapping[str, str],
) -> list[Cell]:
    """The cells of a query that are labelled again.

    required: units of either pass, narrowed ones in place of theirs; narrow: the narrowed ones; labelled: cells that
    the first round labelled, corrections too; candidates, kinds: name -> type or kind.
    """
    needed = set(required)
    cells = {(c, u) for c in candidates for u in narrow}
    for c, u in labelled:
        if u in needed or kinds[u] in AGAIN_KINDS or candidates[c] in AGAIN_TYPES:
            cells.add((c, u))
    return sorted(cells)


def take_narrow(rows: Iterable[Mapping], frame: Frame, required: Mapping[str, Mapping[str, str]]) -> list[dict]:
    """Narrowed units, checked, quotes replaced by pointers: one row a query of `required` (query -> unit -> session).

    A row: query, units [{replaces, kind, text, turn, quote, reason}]; they get names n1.. in the order given.
    Raises Problems.
    """
    found: list[str] = []
    taken = {}
    for row in once(rows, "query", required, found):
        name, problems, units = row["query"], [], []
        sources = sources_of(frame, name)
        for n, given in enumerate(list_of(row.get("units"), "units", problems), start=1):
            where = f"unit {n}"
            session = required[name].get(given.get("replaces"))
            if session is None:
                problems.append(f"{where}: replaces {given.get('replaces')!r} is none of {', '.join(required[name])}")
                continue
            if given.get("kind") not in KINDS:
                problems.append(f"{where}: kind {given.get('kind')!r} is none of {', '.join(KINDS)}")
            for key in ("text", "reason"):
                problems += text_problems(f"{where}: {key}", given.get(key), sources)
            try:
                pointer = quote_pointer(frame.sessions[session], given.get("turn"), given.get("quote"))
            except InputError as error:
                problems.append(f"{where}: {error}")
                continue
            kept = {key: given.get(key) for key in ("replaces", "kind", "text", "reason")}
            units.append({"unit": f"n{n}", **kept, "session": session, "pointer": pointer})
        found += [f"{name}: {p}" for p in problems]
        taken[name] = {"query": name, "units": units}
    return all_of(taken, "query", required, found)


def take_again(rows: Iterable[Mapping], cells: Mapping[str, Iterable[Cell]]) -> list[dict]:
    """A pass's second labels, checked: one row a query of `cells`, every cell of it once.

    A row: query, cells [[candidate, unit, 0, 0.5 or 1]]. Raises Problems.
    """
    found: list[str] = []
    taken = {}
    for row in once(rows, "query", cells, found):
        name, problems = row["query"], []
        taken[name] = {"query": name, "cells": asked_cells(row.get("cells"), cells[name], problems)}
        found += [f"{name}: {p}" for p in problems]
    return all_of(taken, "query", cells, found)
