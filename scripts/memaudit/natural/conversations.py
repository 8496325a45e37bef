"""Conversations with a question each (LongMemEval form), parsed into checked dataclasses.

A row is a mapping with the keys question_id, question_type, question, answer, question_date,
haystack_session_ids, haystack_dates, haystack_sessions (sessions -> turns {role, content, has_answer?}) and
answer_session_ids; other keys are ignored. What is wrong raises InputError; what is only odd is kept and
noted in `Example.warnings`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ..errors import InputError
from .dates import parse_date
from .fields import check_string, kind_of, list_in, string_in, value_in

ROLES = ("user", "assistant")
# Suffix of the ids of questions whose right reply is that the conversation does not say.
ABSTENTION_SUFFIX = "_abs"
# Candidate and unit ids start with the question id and this separator, so an id before it names the package.
SEPARATOR = "::"


@dataclass(frozen=True)
class Turn:
    """One turn, its text exactly as in the source. marked: has_answer, the turn holds evidence."""

    role: str
    content: str
    marked: bool = False

    @property
    def is_blank(self) -> bool:
        return not self.content.strip()


@dataclass(frozen=True)
class Session:
    """One session of a haystack. Turns are numbered by their position here, from 0, blank ones included.

    position: place in the source's list. experience_id: unique in its question (the session id; from its
    second occurrence on, the session id and '#' and the position). date_text: as written in the source.
    """

    session_id: str
    experience_id: str
    position: int
    date_text: str
    date: datetime
    turns: tuple[Turn, ...]

    @property
    def marked_turns(self) -> list[int]:
        """Positions of the marked turns that say something."""
        return [n for n, turn in enumerate(self.turns) if turn.marked and not turn.is_blank]


@dataclass(frozen=True)
class Example:
    """One question and its haystack. Sessions stand in source order; `answer` is the raw value.

    The answer is kept verbatim and may name several accepted replies: it is no exact-match key.
    warnings: rows (source_id, kind, detail), source_id = question_id.
    """

    question_id: str
    question_type: str
    question: str
    answer: str | int | float
    question_date: datetime
    sessions: tuple[Session, ...]
    answer_session_ids: tuple[str, ...]
    warnings: tuple[Mapping[str, str], ...] = ()

    @property
    def answer_text(self) -> str:
        return str(self.answer)

    @property
    def is_abstention(self) -> bool:
        return self.question_id.endswith(ABSTENTION_SUFFIX)

    @property
    def answer_sessions(self) -> list[Session]:
        """The sessions named in `answer_session_ids`, in source order; every occurrence of a repeated id."""
        return [s for s in self.sessions if s.session_id in self.answer_session_ids]


def parse_examples(rows: Iterable[tuple[str, Any]]) -> list[Example]:
    """The examples of `rows`, pairs (where the row stands, e.g. "file.json: row 3", the row), in that order.

    Raises InputError naming the place, the question id and the fix on a row that is not of the form, and
    on a question id that stands twice.
    """
    examples: list[Example] = []
    first_place: dict[str, str] = {}
    for where, row in rows:
        example = parse_example(row, where)
        if example.question_id in first_place:
            raise InputError(
                f"{where}: question {example.question_id} stands already at "
                f"{first_place[example.question_id]}; question ids must be unique, remove one of the two"
            )
        first_place[example.question_id] = where
        examples.append(example)
    return examples


def parse_example(row: Any, where: str) -> Example:
    """One row as an Example; InputError as in `parse_examples`."""
    if not isinstance(row, Mapping):
        raise InputError(f"{where}: {kind_of(row)} where an object with a question_id is needed")
    question_id = string_in(row, "question_id", where, needs_text=True)
    if SEPARATOR in question_id:
        raise InputError(
            f"{where}: question_id {question_id!r} holds {SEPARATOR!r}, which separates the parts of the "
            f"ids made from it; rename the question"
        )
    where = f"{where}, question {question_id}"
    notes: list[tuple[str, str]] = []
    example = Example(
        question_id=question_id,
        question_type=string_in(row, "question_type", where, needs_text=True),
        question=string_in(row, "question", where, needs_text=True),
        answer=_answer(row, where),
        question_date=_date(string_in(row, "question_date", where), "question_date", where, notes),
        sessions=_sessions(row, where, notes),
        answer_session_ids=_answer_session_ids(row, where, notes),
    )
    _refuse_unknown_answer_sessions(example, where)
    notes += _findings(example)
    warnings = tuple({"source_id": question_id, "kind": kind, "detail": detail} for kind, detail in notes)
    return replace(example, warnings=warnings)


def _sessions(row: Mapping, where: str, notes: list[tuple[str, str]]) -> tuple[Session, ...]:
    ids = list_in(row, "haystack_session_ids", where)
    dates = list_in(row, "haystack_dates", where)
    turn_lists = list_in(row, "haystack_sessions", where)
    if not len(ids) == len(dates) == len(turn_lists):
        raise InputError(
            f"{where}: {len(ids)} haystack_session_ids, {len(dates)} haystack_dates and {len(turn_lists)} "
            f"haystack_sessions; the three lists must have one entry a session"
        )
    sessions: list[Session] = []
    experience_ids: set[str] = set()
    seen: set[str] = set()
    for position, (session_id, date_text, turns) in enumerate(zip(ids, dates, turn_lists, strict=True)):
        check_string(session_id, f"haystack_session_ids[{position}]", where, needs_text=True)
        check_string(date_text, f"haystack_dates[{position}]", where)
        experience_id = session_id
        if session_id in seen:
            experience_id = f"{session_id}#{position}"
            detail = f"session {session_id} stands again at position {position}; kept as {experience_id}"
            notes.append(("repeated_session_id", detail))
        if experience_id in experience_ids:
            raise InputError(
                f"{where}: session id {experience_id!r} collides with the name of a repeated session; rename it"
            )
        seen.add(session_id)
        experience_ids.add(experience_id)
        date = _date(date_text, f"session {experience_id}", where, notes)
        parsed = _turns(turns, f"haystack_sessions[{position}]", where)
        sessions.append(Session(session_id, experience_id, position, date_text, date, parsed))
    return tuple(sessions)


def _turns(turns: Any, key: str, where: str) -> tuple[Turn, ...]:
    if not isinstance(turns, list):
        raise InputError(f"{where}: {key} is {kind_of(turns)}; a session is a list of turns")
    return tuple(_turn(turn, f"{key}[{n}]", where) for n, turn in enumerate(turns))


def _turn(turn: Any, key: str, where: str) -> Turn:
    if not isinstance(turn, Mapping):
        raise InputError(f"{where}: {key} is {kind_of(turn)}; a turn is an object with role and content")
    where = f"{where}, {key}"
    marked = turn.get("has_answer")
    # Absent and null both mean "not marked": tables made from the source fill absent values with null.
    if marked is not None and not isinstance(marked, bool):
        raise InputError(f"{where}: has_answer is {kind_of(marked)}; write true or false, or leave it out")
    return Turn(string_in(turn, "role", where, needs_text=True), string_in(turn, "content", where), bool(marked))


def _answer_session_ids(row: Mapping, where: str, notes: list[tuple[str, str]]) -> tuple[str, ...]:
    ids = list_in(row, "answer_session_ids", where)
    for n, session_id in enumerate(ids):
        check_string(session_id, f"answer_session_ids[{n}]", where, needs_text=True)
    for session_id, times in sorted(Counter(ids).items()):
        if times > 1:
            notes.append(("repeated_answer_session_id", f"session {session_id} is listed {times} times"))
    return tuple(dict.fromkeys(ids))


def _refuse_unknown_answer_sessions(example: Example, where: str) -> None:
    known = {session.session_id for session in example.sessions}
    missing = [i for i in example.answer_session_ids if i not in known]
    if missing:
        raise InputError(
            f"{where}: answer_session_ids names {', '.join(missing)}, not among haystack_session_ids; "
            f"add the session or remove the id"
        )


def _answer(row: Mapping, where: str) -> str | int | float:
    answer = value_in(row, "answer", where)
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        raise InputError(f"{where}: answer is {kind_of(answer)}; write a string or a number")
    if isinstance(answer, str):
        check_string(answer, "answer", where)
    return answer


def _findings(example: Example) -> list[tuple[str, str]]:
    """What is odd in a well-formed example, as (kind, detail)."""
    found = []
    answer_sessions = example.answer_sessions
    any_marked = any(session.marked_turns for session in answer_sessions)
    for session in example.sessions:
        name = f"session {session.experience_id}"
        is_answer = session.session_id in example.answer_session_ids
        if not session.turns:
            found.append(("empty_session", f"{name} has no turns"))
        if is_answer and any_marked and not session.marked_turns:
            found.append(("answer_session_without_mark", f"{name} is an answer session, no turn is marked"))
        if not is_answer and session.marked_turns:
            found.append(("mark_outside_answer_sessions", f"{name} is no answer session; marks ignored"))
        for n, turn in enumerate(session.turns):
            if turn.is_blank:
                kind = "blank_marked_turn" if turn.marked else "blank_turn"
                found.append((kind, f"{name}, turn {n} is blank; not used as text"))
            if turn.role not in ROLES:
                found.append(("unknown_role", f"{name}, turn {n} has role {turn.role!r}"))
    return found


def _date(text: str, label: str, where: str, notes: list[tuple[str, str]]) -> datetime:
    date, weekday_note = parse_date(text, f"{where}, {label}")
    if weekday_note is not None:
        notes.append(("weekday_mismatch", f"{label}: {weekday_note}"))
    return date
