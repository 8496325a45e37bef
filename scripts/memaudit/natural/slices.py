"""Which questions of a data set are taken, which sessions of each, and how far each session is read.

Source of the rules: natural.md, "Building one from conversations", 1 and 2. All draws are seeded, and none
depends on the order of the files.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from random import Random

from ..errors import InputError
from .conversations import Example, Session
from .turns import CUT_MARK, end_of_word


def choose(
    examples: Iterable[Example], question_types: Collection[str] | None = None, limit: int | None = None, seed: int = 0
) -> list[Example]:
    """The examples of the question types (None: all), sorted by id; at most `limit` of them.

    The draw is the paper's: those of the types, sorted by id, shuffled by `Random(seed)`, the first `limit`.
    Questions that turn out to be unscorable count towards the limit. Raises InputError for a type that no
    example has.
    """
    chosen = sorted(examples, key=lambda e: e.question_id)
    if question_types is not None:
        known = {e.question_type for e in chosen}
        unknown = sorted(set(question_types) - known)
        if unknown:
            raise InputError(
                f"no question is of type {', '.join(unknown)}; types in the files: {', '.join(sorted(known))}"
            )
        chosen = [e for e in chosen if e.question_type in question_types]
    if limit is not None:
        Random(seed).shuffle(chosen)
        chosen = sorted(chosen[:limit], key=lambda e: e.question_id)
    return chosen


def take_sessions(example: Example, distractors: int = 0, seed: int = 0) -> list[Session]:
    """The answer sessions and up to `distractors` others, in the order of their dates.

    Sessions of one date keep the source's order. The sample depends on the seed, the question id and the
    haystack alone; where the haystack holds fewer other sessions, all are taken.
    """
    others = [s for s in example.sessions if s.session_id not in example.answer_session_ids]
    drawn = Random(f"{seed}:{example.question_id}").sample(others, min(distractors, len(others)))
    return sorted([*example.answer_sessions, *drawn], key=lambda s: (s.date, s.position))


def cut(session: Session, word_limit: int | None) -> Session:
    """The session's first `word_limit` words (None: all), counted over the lines "role: content".

    The turn that crosses the limit keeps its first words and ends in " ...", which counts as one more word;
    it no longer says all it said, so its mark goes. Later turns go. Turns keep their numbers.
    """
    if word_limit is None:
        return session
    turns = []
    left = word_limit
    for turn in session.turns:
        if turn.is_blank:
            turns.append(turn)
            continue
        role_words = len(f"{turn.role}:".split())
        words = role_words + len(turn.content.split())
        if words > left:
            if left > role_words:
                head = turn.content[: end_of_word(turn.content, left - role_words)]
                turns.append(replace(turn, content=head + CUT_MARK, marked=False))
            break
        turns.append(turn)
        left -= words
    return replace(session, turns=tuple(turns))
