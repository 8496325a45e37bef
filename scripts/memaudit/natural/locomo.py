"""LoCoMo conversations, parsed into checked dataclasses.

A row is a mapping with the keys sample_id, conversation (speaker_a, speaker_b; session_N: turns {speaker,
dia_id, text, blip_caption?}; session_N_date_time), qa ({question, category, evidence, answer?}), observation
(session_N_observation: {speaker: [[text, ids]]}) and session_summary (session_N_summary: text). Other keys are
ignored: `event_summary` tells events that no turn is cited for, and a question's `adversarial_answer` is the
reply of one that was deceived. What is wrong raises InputError; what is only odd is kept, or left out, with a row
in `Conversation.warnings`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from ..errors import InputError
from .conversations import SEPARATOR
from .dates import parse_clock_date
from .fields import check_string, kind_of, list_in, string_in, value_in

# LoCoMo's category numbers, with the names of its paper.
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL = CATEGORIES[5]

_SESSION = re.compile(r"session_([0-9]+)")
_DATE_KEY = re.compile(r"session_([0-9]+)_date_time")
_OBSERVATION_KEY = re.compile(r"session_([0-9]+)_observation")
_SUMMARY_KEY = re.compile(r"session_([0-9]+)_summary")
_TURN_ID = re.compile(r"D:?([0-9]{1,9}):([0-9]{1,9})")
_MAX_DIGITS = 9
_BETWEEN_IDS = re.compile(r"[;,\s]+")


@dataclass(frozen=True)
class LocomoTurn:
    """One turn. turn_id: normalised ("D11:26"). caption: of the picture that was shared with it, if any.

    What a picture shows is part of what was said: many questions are about nothing else.
    """

    turn_id: str
    speaker: str
    text: str
    caption: str | None = None

    @property
    def content(self) -> str:
        """Text and caption."""
        return " ".join(part for part in (self.text, self.caption) if part and part.strip())

    @property
    def line(self) -> str:
        """The turn as a memory keeps it: "Ann: Look! [shares a photo of a cat]"."""
        shared = f"[shares {self.caption}]" if self.caption else ""
        return " ".join(part for part in (f"{self.speaker}:", self.text, shared) if part.strip())


@dataclass(frozen=True)
class Observation:
    """A statement about a speaker, and the turns it was drawn from: at least one, in time order."""

    observation_id: str
    text: str
    turn_ids: tuple[str, ...]


@dataclass(frozen=True)
class LocomoSession:
    """One session; observations stand in the order of the file."""

    session_id: str
    number: int
    date: datetime
    turns: tuple[LocomoTurn, ...]
    observations: tuple[Observation, ...] = ()
    summary: str | None = None


@dataclass(frozen=True)
class Question:
    """One question. query_id: from sample_id and position, for texts repeat. category: a name of `CATEGORIES`.

    evidence: the cited turns; unresolved: what else stands among the ids. answer: as text; the row's own
    `answer`, which adversarial questions mostly lack.
    """

    query_id: str
    text: str
    category: str
    answer: str | None
    evidence: tuple[str, ...]
    unresolved: tuple[str, ...] = ()


@dataclass(frozen=True)
class Conversation:
    """One conversation: sessions by date (then number), questions in the order of the file.

    warnings: rows (source_id, kind, detail), source_id = sample_id or query_id.
    """

    sample_id: str
    speakers: tuple[str, str]
    sessions: tuple[LocomoSession, ...]
    questions: tuple[Question, ...]
    warnings: tuple[Mapping[str, str], ...] = ()


@dataclass
class _Notes:
    """Warnings while they are found."""

    sample_id: str
    rows: list[dict[str, str]] = field(default_factory=list)

    def add(self, kind: str, detail: str, source_id: str | None = None) -> None:
        self.rows.append({"source_id": source_id or self.sample_id, "kind": kind, "detail": detail})


def parse_conversations(rows: Iterable[tuple[str, Any]]) -> list[Conversation]:
    """The conversations of `rows`, pairs (where the row stands, the row), in that order.

    Raises InputError naming the place, the conversation and the fix on a row that is not of the form, and
    on a sample_id that stands twice.
    """
    conversations: list[Conversation] = []
    first_place: dict[str, str] = {}
    for where, row in rows:
        conversation = parse_conversation(row, where)
        if conversation.sample_id in first_place:
            raise InputError(
                f"{where}: conversation {conversation.sample_id} stands already at "
                f"{first_place[conversation.sample_id]}; sample ids must be unique, remove one of the two"
            )
        first_place[conversation.sample_id] = where
        conversations.append(conversation)
    return conversations


def parse_conversation(row: Any, where: str) -> Conversation:
    """One row as a Conversation; InputError as in `parse_conversations`."""
    if not isinstance(row, Mapping):
        raise InputError(f"{where}: {kind_of(row)} where an object with a sample_id is needed")
    sample_id = string_in(row, "sample_id", where, needs_text=True)
    if SEPARATOR in sample_id:
        raise InputError(
            f"{where}: sample_id {sample_id!r} holds {SEPARATOR!r}, which separates the parts of the ids made "
            f"from it; rename the conversation"
        )
    where = f"{where}, conversation {sample_id}"
    talk = _mapping(row, "conversation", where)
    notes = _Notes(sample_id)
    speakers = tuple(string_in(talk, f"speaker_{x}", where, needs_text=True) for x in "ab")
    sessions = _sessions(talk, where, notes)
    place = {turn.turn_id: n for n, turn in enumerate(t for s in sessions for t in s.turns)}
    sessions = _with_observations(sessions, _mapping(row, "observation", where), place, where, notes)
    sessions = _with_summaries(sessions, _mapping(row, "session_summary", where), where, notes)
    questions = _questions(list_in(row, "qa", where), place, where, notes)
    return Conversation(sample_id, speakers, tuple(sessions), questions, tuple(notes.rows))


def turn_ids(value: Any, where: str) -> list[tuple[str, str]]:
    """(as written, normalised) for each turn id in `value`: a string of one or several, or a list of such.

    "D:11:26" is D11:26 and "D30:05" is D30:5. What is no id stays as it is, for the caller to look up in vain.
    """
    found = []
    for text in value if isinstance(value, list) else [value]:
        check_string(text, "turn ids", where)
        for part in _BETWEEN_IDS.split(text):
            match = _TURN_ID.fullmatch(part)
            if part:
                found.append((part, f"D{int(match[1])}:{int(match[2])}" if match else part))
    return found


def _mapping(row: Mapping, key: str, where: str) -> Mapping:
    value = value_in(row, key, where)
    if not isinstance(value, Mapping):
        raise InputError(f"{where}: {key} is {kind_of(value)}; write an object")
    return value


# ---- sessions and turns


def _sessions(talk: Mapping, where: str, notes: _Notes) -> list[LocomoSession]:
    numbers = _numbers(talk, _SESSION, where)
    if not numbers:
        raise InputError(f"{where}: no session; add session_1, a list of turns, and session_1_date_time")
    for number, key in _numbers(talk, _DATE_KEY, where).items():
        if number not in numbers:
            notes.add("date_without_session", f"{key} has no session; ignored")
    sessions = []
    seen: dict[str, str] = {}
    for number, key in numbers.items():
        date = parse_clock_date(string_in(talk, f"{key}_date_time", where), f"{where}, {key}_date_time")
        turns = tuple(_turn(turn, f"{where}, {key}[{n}]") for n, turn in enumerate(list_in(talk, key, where)))
        for n, turn in enumerate(turns):
            if turn.turn_id in seen:
                raise InputError(
                    f"{where}, {key}[{n}]: dia_id {turn.turn_id} stands already in {seen[turn.turn_id]}; "
                    f"turn ids must be unique, correct one of the two"
                )
            seen[turn.turn_id] = f"{key}[{n}]"
            if not turn.content:
                notes.add("blank_turn", f"turn {turn.turn_id} is blank; not used as text")
        if not turns:
            notes.add("empty_session", f"{key} has no turns")
        sessions.append(LocomoSession(key, number, date, turns))
    return sorted(sessions, key=lambda s: (s.date, s.number))


def _numbers(mapping: Mapping, pattern: re.Pattern, where: str) -> dict[int, str]:
    """Session number -> key, of the keys of one form, in the order of the numbers; InputError where two have one."""
    keys: dict[int, str] = {}
    for match in filter(None, map(pattern.fullmatch, mapping)):
        if len(match[1]) > _MAX_DIGITS:
            raise InputError(f"{where}: {match[0][:40]}... has a session number of {len(match[1])} digits; shorten it")
        earlier = keys.setdefault(int(match[1]), match[0])
        if earlier != match[0]:
            raise InputError(f"{where}: {earlier} and {match[0]} are keys of one session; keep one, or renumber")
    return dict(sorted(keys.items()))


def _turn(turn: Any, where: str) -> LocomoTurn:
    if not isinstance(turn, Mapping):
        raise InputError(f"{where}: {kind_of(turn)}; a turn is an object with speaker, dia_id and text")
    written = string_in(turn, "dia_id", where, needs_text=True)
    match = _TURN_ID.fullmatch(written)
    if not match:
        raise InputError(f"{where}: dia_id {written[:40]!r} is no turn id; write it like D3:14")
    caption = turn.get("blip_caption")
    if caption is not None:
        check_string(caption, "blip_caption", where)
    speaker = string_in(turn, "speaker", where, needs_text=True)
    return LocomoTurn(f"D{int(match[1])}:{int(match[2])}", speaker, string_in(turn, "text", where), caption)


# ---- observations and summaries


def _with_observations(
    sessions: list[LocomoSession], by_session: Mapping, place: Mapping[str, int], where: str, notes: _Notes
) -> list[LocomoSession]:
    found: dict[int, tuple[Observation, ...]] = {}
    for number, key in _numbers(by_session, _OBSERVATION_KEY, where).items():
        made = (
            _observation(entry, f"session_{number}{SEPARATOR}observation{n}", f"{where}, {key}, {label}", place, notes)
            for n, (label, entry) in enumerate(_statements(_mapping(by_session, key, where), f"{where}, {key}"))
        )
        found[number] = tuple(observation for observation in made if observation is not None)
    known = {s.number for s in sessions}
    for number in found.keys() - known:
        if found[number]:
            notes.add("observation_without_session", f"session_{number} has observations and no turns; left out")
    return [replace(s, observations=found.get(s.number, ())) for s in sessions]


def _statements(by_speaker: Mapping, where: str) -> Iterable[tuple[str, Any]]:
    for speaker in by_speaker:
        for n, entry in enumerate(list_in(by_speaker, speaker, where)):
            yield f"{speaker}[{n}]", entry


def _observation(
    entry: Any, observation_id: str, where: str, place: Mapping[str, int], notes: _Notes
) -> Observation | None:
    if not isinstance(entry, list) or len(entry) != 2:
        raise InputError(f"{where}: {kind_of(entry)}; an observation is a list of two, [text, turn ids]")
    check_string(entry[0], "observation", where, needs_text=True)
    known, unknown = _resolve(entry[1], place, where)
    if unknown:
        notes.add("observation_without_turn", f"{observation_id} cites {', '.join(unknown)}, no turn; ignored there")
    if not known:
        notes.add("observation_left_out", f"{observation_id} cites no turn of the conversation")
        return None
    return Observation(observation_id, entry[0], tuple(sorted(known, key=place.__getitem__)))


def _with_summaries(
    sessions: list[LocomoSession], by_session: Mapping, where: str, notes: _Notes
) -> list[LocomoSession]:
    texts = {n: string_in(by_session, key, where) for n, key in _numbers(by_session, _SUMMARY_KEY, where).items()}
    known = {s.number for s in sessions}
    for number in sorted(texts.keys() - known):
        notes.add("summary_without_session", f"session_{number} has a summary and no turns; left out")
    for number in sorted(n for n in known if not texts.get(n, "").strip()):
        notes.add("session_without_summary", f"session_{number} has no summary")
    return [replace(s, summary=texts[s.number] if texts.get(s.number, "").strip() else None) for s in sessions]


# ---- questions


def _questions(rows: list, place: Mapping[str, int], where: str, notes: _Notes) -> tuple[Question, ...]:
    questions: list[Question] = []
    first: dict[str, str] = {}
    for n, row in enumerate(rows):
        question = _question(row, f"{notes.sample_id}{SEPARATOR}q{n}", f"{where}, qa[{n}]", place, notes)
        earlier = first.setdefault(question.text, question.query_id)
        if earlier != question.query_id:
            notes.add("repeated_question", f"asked already as {earlier}; both count", question.query_id)
        questions.append(question)
    return tuple(questions)


def _question(row: Any, query_id: str, where: str, place: Mapping[str, int], notes: _Notes) -> Question:
    if not isinstance(row, Mapping):
        raise InputError(f"{where}: {kind_of(row)}; a question is an object with question, category and evidence")
    category = _category(row, where)
    known, unknown = _resolve(list_in(row, "evidence", where), place, where)
    for written, normal in turn_ids(row["evidence"], where):
        if written != normal:
            notes.add("evidence_respelled", f"{written!r} is read as {normal}", query_id)
    for part in unknown:
        notes.add("evidence_without_turn", f"{part!r} is no turn of the conversation", query_id)
    text = string_in(row, "question", where, needs_text=True)
    return Question(query_id, text, category, _answer(row, category, where), tuple(known), tuple(unknown))


def _category(row: Mapping, where: str) -> str:
    number = value_in(row, "category", where)
    if isinstance(number, bool) or not isinstance(number, int) or number not in CATEGORIES:
        names = ", ".join(f"{n} ({name})" for n, name in CATEGORIES.items())
        raise InputError(f"{where}: category {number!r} is unknown; write one of {names}")
    return CATEGORIES[number]


def _answer(row: Mapping, category: str, where: str) -> str | None:
    answer = row.get("answer")
    if answer is None and category == ADVERSARIAL:
        return None
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        raise InputError(f"{where}: answer is {kind_of(answer)}; write a string or a number")
    check_string(str(answer), "answer", where)
    return str(answer)


def _resolve(value: Any, place: Mapping[str, int], where: str) -> tuple[list[str], list[str]]:
    """Turn ids in `value` that are turns, and the others as written; each once, in their order."""
    ids = turn_ids(value, where)
    known = dict.fromkeys(normal for _, normal in ids if normal in place)
    unknown = dict.fromkeys(written for written, normal in ids if normal not in place)
    return list(known), list(unknown)
