"""What a writer that reads text makes of one candidate's type and text: names, cues, signature tokens.

Everything here looks at visible metadata only (type, text, time). A text of None counts as "".
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

ALIASES = {"raw_span": "raw", "atomic_fact": "fact"}

# Cue groups of the estimated writers: (bonus, strings); a group counts once if any string is a substring of
# "type text" lower-cased, so the type name counts and `full` fires inside `beautifully`. `without the full`
# is one string of the last group (a text that says it lacks the whole); such a text also fires `full`.
CUE_GROUPS: tuple[tuple[float, tuple[str, ...]], ...] = (
    (1.10, ("tombstone", "invalid", "invalidated", "superseded", "no longer")),
    (0.70, ("update", "correction", "corrected", "changed", "current")),
    (0.45, ("complete", "full", "explicit", "scoped")),
    (0.65, ("abstain", "insufficient evidence", "conflict", "ambiguous", "uncertainty")),
    (0.20, ("source detail", "provenance")),
    (-0.65, ("hint", "partial", "generic", "unsupported", "overconfident", "without the full")),
)

SIGNATURE_MIN_LENGTH = 4
# Words that identify nothing ("the" is below the length limit anyway; kept as the rule states it).
SIGNATURE_STOPWORDS = frozenset(
    {
        "about",
        "after",
        "before",
        "between",
        "current",
        "detail",
        "evidence",
        "fact",
        "from",
        "that",
        "the",
        "this",
        "user",
        "with",
    }
)
_LETTERS_AND_DIGITS = re.compile(r"[^\W_]+")


def canonical(representation_type: str) -> str:
    """The type name that priors and bonus lists use: raw_span is raw, atomic_fact is fact."""
    return ALIASES.get(representation_type, representation_type)


def described(representation_type: str, text: str | None) -> str:
    """ "type text" lower-cased: what cues and tokens are looked for in."""
    return f"{representation_type} {text or ''}".lower()


@lru_cache(maxsize=1 << 16)
def cue_hits(representation_type: str, text: str | None) -> tuple[bool, ...]:
    """For each cue group, whether any of its strings stands in "type text"."""
    words = described(representation_type, text)
    return tuple(any(cue in words for cue in cues) for _, cues in CUE_GROUPS)


@lru_cache(maxsize=1 << 16)
def signature_tokens(representation_type: str, text: str | None) -> frozenset[str]:
    """Distinct runs of Unicode letters and digits of "type text" (an underscore separates), length >= 4,
    without `SIGNATURE_STOPWORDS`."""
    words = set(_LETTERS_AND_DIGITS.findall(described(representation_type, text)))
    return frozenset(w for w in words - SIGNATURE_STOPWORDS if len(w) >= SIGNATURE_MIN_LENGTH)


def relative_time(time_index: np.ndarray) -> np.ndarray:
    """(t - min) / (max - min) of each candidate, float64; .5 where all times are equal."""
    if len(time_index) == 0 or time_index.min() == time_index.max():
        return np.full(len(time_index), 0.5)
    low, high = time_index.min(), time_index.max()
    return (time_index - low) / (high - low)
