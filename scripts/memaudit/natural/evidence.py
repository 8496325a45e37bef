"""What a question of LongMemEval form needs to be kept, from the turns that the data set marks.

Route `marked`: every marked turn of an answer session is a unit of weight 1 (role current).

Route `updates`: the same, except for a question of type knowledge-update whose marks stand in two answer
sessions or more. There the marked turns of the last session (by date) are the current units, weight 1. Each
marked turn before it is a stale unit of weight 0 - no question needs an outdated value, and keeping it is
never penalised (protocol.md, "Package") - and gives one invalidation unit of weight 1: that it no longer holds.
An invalidation unit is covered, whole, by everything that holds a newer marked turn whole, the turn on its own
included. Nothing else in the data says that the older value ended: LongMemEval's users state the new value,
and it is the newer date that supersedes; an assistant's reply around it adds no evidence, so a window earns no
more than its turn. What this route cannot see is whether the turn *says* that something changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..package import Unit
from .conversations import SEPARATOR, Example, Session

ROUTES = ("marked", "updates")
UPDATE_TYPE = "knowledge-update"

# (experience id, position) of a turn.
Place = tuple[str, int]


@dataclass(frozen=True)
class Evidence:
    """A unit, and the turns any of which, held whole, covers it (1.0)."""

    unit: Unit
    places: frozenset[Place]


def has_update(example: Example) -> bool:
    """Whether the question is of type knowledge-update and marked in two of its answer sessions or more."""
    marked = [s for s in example.answer_sessions if s.marked_turns]
    return example.question_type == UPDATE_TYPE and len(marked) > 1


def evidence_of(example: Example, sessions: Sequence[Session], route: str) -> list[Evidence]:
    """The units of the marked turns in the answer sessions among `sessions`, which stand in time order.

    Unit ids: question::session::turn{n}; an invalidation unit's is the stale unit's and ::no_longer.
    """
    answers = [s for s in sessions if s.session_id in example.answer_session_ids and s.marked_turns]
    if route == "marked" or not has_update(example):
        return [_current(example, s, n) for s in answers for n in s.marked_turns]
    *older, newest = answers
    current = [_current(example, newest, n) for n in newest.marked_turns]
    newer = frozenset().union(*(e.places for e in current))
    outdated = [part for s in older for n in s.marked_turns for part in _outdated(example, s, n, newer)]
    return [*outdated, *current]


def _current(example: Example, session: Session, n: int) -> Evidence:
    return _turn(example, session, n, 1.0, "current", "answer_turn")


def _outdated(example: Example, session: Session, n: int, newer: frozenset[Place]) -> tuple[Evidence, Evidence]:
    stale = _turn(example, session, n, 0.0, "stale", "stale_or_superseded")
    text = f"No longer holds: {stale.unit.text}"
    gone = Unit(f"{stale.unit.unit_id}{SEPARATOR}no_longer", 1.0, "invalidation", "invalidation", text)
    return stale, Evidence(gone, newer)


def _turn(example: Example, session: Session, n: int, weight: float, role: str, kind: str) -> Evidence:
    unit_id = SEPARATOR.join((example.question_id, session.experience_id, f"turn{n}"))
    unit = Unit(unit_id, weight=weight, role=role, kind=kind, text=session.turns[n].content)
    return Evidence(unit, frozenset([(session.experience_id, n)]))
