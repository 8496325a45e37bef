"""Candidate texts cut from one session, from the session alone: no question, answer or mark is looked at.

Serialisation: one line "role: content" for each turn that is not blank, joined by "\\n"; a user turn on its
own is just its content. Contents stay exactly as they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .conversations import Session

RAW_SPAN_WORDS = 220
WINDOW_TURNS = 3
CUT_MARK = " ..."

# The same words as str.split(), which is how the `words` cost model counts.
_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Span:
    """One candidate text. name: unique in the session; turns: positions of the turns it holds whole."""

    name: str
    representation_type: str
    text: str
    turns: frozenset[int]


def spans(session: Session) -> list[Span]:
    """The session's candidate texts: raw span, each user turn, each window.

    - raw (raw_span): the first 220 words of the session; where that cuts, the end is marked " ...", which
      counts as a 221st word. It holds a turn whole when the turn's last word is among the 220.
    - turn{n} (turn): user turn n.
    - window{n} (turn_window): three consecutive turns from turn n on. A session of two turns has one window
      of both; a window of a single turn is not made.

    Blank turns are passed over (no text, no part of a window) but count in the numbering n, from 0.
    """
    numbers = [n for n, turn in enumerate(session.turns) if not turn.is_blank]
    if not numbers:
        return []
    user_turns = [
        Span(f"turn{n}", "turn", session.turns[n].content, frozenset([n]))
        for n in numbers
        if session.turns[n].role == "user"
    ]
    return [_raw_span(session, numbers), *user_turns, *_windows(session, numbers)]


def _line(session: Session, n: int) -> str:
    turn = session.turns[n]
    return f"{turn.role}: {turn.content}"


def _raw_span(session: Session, numbers: list[int]) -> Span:
    lines = [_line(session, n) for n in numbers]
    text = "\n".join(lines)
    end = end_of_word(text, RAW_SPAN_WORDS)
    whole = set()
    start = 0
    for n, line in zip(numbers, lines, strict=True):
        if start + len(line.rstrip()) <= end:
            whole.add(n)
        start += len(line) + 1
    if text[end:].strip():
        text = text[:end] + CUT_MARK
    return Span("raw", "raw_span", text, frozenset(whole))


def end_of_word(text: str, count: int) -> int:
    """Where word number `count` of the text ends (its length, if it has no more words than that)."""
    for number, word in enumerate(_WORD.finditer(text), start=1):
        if number == count:
            return word.end()
    return len(text)


def _windows(session: Session, numbers: list[int]) -> list[Span]:
    size = min(WINDOW_TURNS, len(numbers))
    if size < 2:
        return []
    parts = [numbers[i : i + size] for i in range(len(numbers) - size + 1)]
    return [
        Span(f"window{part[0]}", "turn_window", "\n".join(_line(session, n) for n in part), frozenset(part))
        for part in parts
    ]
