"""What a text says in terms that can be compared without a model: content words, numbers, dates, cues of change.

Case, white space and typographic apostrophes make no difference. Words are content words of
`natural.kept_words` without months, weekdays and numbers in letters, cut to their first letters (`stem`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from ..natural.kept_words import STOP_WORDS

# Letters of a word that are compared once its ending is off: volunteering, volunteered, volunteer.
STEM_LETTERS = 6


class Day(NamedTuple):
    """A date as far as it is stated; None for a part that is not."""

    year: int | None
    month: int | None
    day: int | None

    def agrees(self, other: Day) -> bool:
        """Whether both may be one day: some part is stated by both, and all such parts are equal."""
        shared = [(a, b) for a, b in zip(self, other, strict=True) if a is not None and b is not None]
        return bool(shared) and all(a == b for a, b in shared)

    def differs(self, other: Day) -> bool:
        """Whether some part is stated by both and not equal."""
        return any(a != b for a, b in zip(self, other, strict=True) if a is not None and b is not None)

    def states(self, other: Day) -> bool:
        """Whether it says all that `other` says, and nothing else in its place."""
        return all(b is None or a == b for a, b in zip(self, other, strict=True))

    def __str__(self) -> str:
        """ISO 8601, parts that are not stated as ? (2023-05-??)."""
        year = "????" if self.year is None else f"{self.year:04d}"
        return "-".join([year, *("??" if part is None else f"{part:02d}" for part in self[1:])])


class Number(NamedTuple):
    """A number as plain digits (1200, 3.5, 7:30), and the stem of the content word after it ("" where none is)."""

    value: str
    of: str


@dataclass(frozen=True)
class Reading:
    """A text, read. words: stems of its content words; denied: those of them that stand only where it says that
    something is not or no longer so."""

    words: frozenset[str]
    denied: frozenset[str]
    numbers: frozenset[Number]
    dates: frozenset[Day]


def read(text: str) -> Reading:
    """The reading of a text; that of a text without content words has none."""
    text = " ".join(text.casefold().replace("\u2019", "'").split())
    dates, rest = _take_dates(text)
    affirmed, denied, numbers = set(), set(), set()
    for clause, ends in _clauses(rest):
        words, found = _words_and_numbers(clause)
        (denied if ends else affirmed).update(words)
        numbers |= found
    return Reading(frozenset(affirmed | denied), frozenset(denied - affirmed), frozenset(numbers), frozenset(dates))


def _clauses(text: str) -> Iterator[tuple[str, bool]]:
    """(clause, whether it says that something is not or no longer so). The old place in "moved from the old to the
    new" is a clause of its own that does."""
    for clause in _CLAUSE_END.split(text):
        for old in _FROM_TO.finditer(clause):
            yield old["old"], True
        yield _FROM_TO.sub(r"\g<change> ", clause), _DENIAL.search(clause) is not None


def _words_and_numbers(clause: str) -> tuple[set[str], set[Number]]:
    words, numbers = set(), set()
    items = list(_with_numbers([token.removesuffix("'s") for token in _TOKEN.findall(clause)]))
    for i, (kind, value) in enumerate(items):
        if kind == _NUMBER:
            after = (v for k, v in items[i + 1 : i + 3] if k == _WORD and _counts(v))
            numbers.add(Number(value, stem(next(after, ""))))
        elif _counts(value):
            words.add(stem(value))
    return words, numbers


def _counts(word: str) -> bool:
    return word not in STOP_WORDS and word not in _CALENDAR and word not in _NO_CONTENT


def stem(word: str) -> str:
    """The word without a common English ending, cut to STEM_LETTERS letters. No dictionary: some words that are not
    akin meet, and irregular forms (bought, buy) do not."""
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + instead
            if len(word) > 3 and word[-1] == word[-2] and ending in ("ing", "ed"):
                word = word[:-1]  # planned, plan
            break
    return word[:STEM_LETTERS]


_ENDINGS = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ied", "y"), ("edly", ""), ("ed", ""), ("ly", ""), ("es", ""))
_ENDINGS += (("ss", "ss"), ("s", ""), ("e", ""))
_WORD, _NUMBER = "word", "number"
_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)*")

# Who is spoken of in nearly every memory, and how exactly a date or number is meant: no content.
_NO_CONTENT = frozenset("user assistant longer anymore mid late early about approximately roughly am pm".split())  # noqa: SIM905
_CLAUSE_END = re.compile(r"[.;!?|]+(?=\s|$)|,? but | and now |, now |, since ")
_DENIAL = re.compile(
    r"\b(?:no longer|(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would)(?:n't| not)|can't|won't|cannot"
    r"|never|any ?more|no more|stopped|quit|quits|gave up|given up|cancelled|canceled|called off)\b"
    r"(?! (?:long|yet|only)\b)"
)
_FROM_TO = re.compile(
    r"\b(?P<change>(?:moved?|switch(?:ed)?|changed?|shift(?:ed)?|upgraded?|went|rose|fell|raised|cut) (?:\S+ ){0,4}?)"
    r"from (?P<old>(?:\S+ ){1,8}?)(?=(?:in)?to )"
)

# ---- Dates

_MONTHS = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
_SHORT = {m[:3]: i for i, m in enumerate(_MONTHS, 1)} | {"sept": 9}
_MONTH_NUMBER = {m: i for i, m in enumerate(_MONTHS, 1)} | _SHORT
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905
# May and March are words of another meaning too: they are months beside a number, or after one of these.
_AMBIGUOUS = {"may", "march", "mar", "dec", "sun", "sat"}
_CALENDAR = frozenset(m for m in _MONTH_NUMBER if m not in _AMBIGUOUS)
_NAMES = "|".join(sorted(_MONTH_NUMBER, key=len, reverse=True))
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_FORMS = [
    re.compile(r"\b(?P<y>\d{4})[-/](?P<m>\d{1,2})[-/](?P<d>\d{1,2})\b"),
    re.compile(r"\b(?P<y>(?:19|20)\d{2})-(?P<m>0[1-9]|1[0-2])\b"),
    re.compile(r"\b(?P<a>\d{1,2})[./](?P<b>\d{1,2})[./](?P<y>\d{4})\b"),
    re.compile(rf"\b{_DAY}(?: of)? (?P<n>{_NAMES})\b\.?(?:,? (?P<y>(?:19|20)\d{{2}})\b)?"),
    re.compile(rf"\b(?P<n>{_NAMES})\b\.? (?:the )?{_DAY}\b(?![:.]\d)(?:,? (?P<y>(?:19|20)\d{{2}})\b)?"),
    re.compile(rf"\b(?P<n>{_NAMES})\b\.?,? (?:of )?(?P<y>(?:19|20)\d{{2}})\b"),
    re.compile(
        rf"\b(?:in|since|until|till|by|of|late|early|mid|mid-|last|next|this|from|during|around) ?(?P<n>{_NAMES})\b"
    ),
    re.compile(rf"\b(?P<n>{'|'.join(sorted(_CALENDAR, key=len, reverse=True))})\b"),
    re.compile(r"\b(?P<y>(?:19|20)\d{2})\b(?![:.,]\d)"),
]


def _take_dates(text: str) -> tuple[set[Day], str]:
    """The dates of a text, and the text without them. A day that no calendar has is left where it stands."""
    found: set[Day] = set()

    def taken(match: re.Match[str]) -> str:
        day = _day(match)
        if day is None:
            return match[0]
        found.add(day)
        return " , "

    for form in _FORMS:
        text = form.sub(taken, text)
    return found, text


def _day(match: re.Match[str]) -> Day | None:
    parts = match.groupdict()
    year = int(parts["y"]) if parts.get("y") else None
    if "a" in parts:
        return _of_two_numbers(int(parts["a"]), int(parts["b"]), year)
    month = _MONTH_NUMBER[parts["n"]] if parts.get("n") else int(parts["m"]) if parts.get("m") else None
    return _checked(year, month, int(parts["d"]) if parts.get("d") else None)


def _of_two_numbers(a: int, b: int, year: int | None) -> Day | None:
    """a/b/year where only one of the two can be the month, or both are equal; else no date that has one reading."""
    if a != b and a <= 12 and b <= 12:
        return None
    return _checked(year, min(a, b), max(a, b))


def _checked(year: int | None, month: int | None, day: int | None) -> Day | None:
    try:
        date(2024 if year is None else year, 1 if month is None else month, 1 if day is None else day)
    except ValueError:
        return None
    return Day(year, month, day)


# ---- Numbers

_SMALL = "zero _ two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
_TEENS = "thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()  # noqa: SIM905
_TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
_ORDINALS = (
    "_ _ second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()  # noqa: SIM905
)
# "One" is a pronoun more often than a number, and is neither here.
_VALUE = {w: i for i, w in enumerate(_SMALL + _TEENS) if w != "_"} | {
    w: 10 * i for i, w in enumerate(_TENS) if w != "_"
}
_VALUE |= {w: i for i, w in enumerate(_ORDINALS) if w != "_"} | {"once": 1, "twice": 2, "thrice": 3}
_MOST = 10**12
_TIMES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}


def _with_numbers(tokens: list[str]) -> Iterator[tuple[str, str]]:
    """(word or number, its text): runs of number words become digits, 1,200 is 1200, 8:00 is 8."""
    run: int | None = None
    for token in [*tokens, ""]:
        if token in _VALUE and _continues(run, _VALUE[token]):
            run = (run or 0) + _VALUE[token]
        elif token in _TIMES and (run or 1) < _MOST:
            run = (1 if run is None else run) * _TIMES[token]
        elif token != "and" or run is None or run % 100 or not run:  # two hundred and five
            if run is not None:
                yield _NUMBER, str(run)
            run = _VALUE.get(token)
            if token and token[0].isdigit():
                yield _NUMBER, _digits(token)
            elif token and run is None:
                yield _WORD, token


def _continues(run: int | None, value: int) -> bool:
    """Whether a number word is part of the run before it: twenty five, two hundred five."""
    return run is None or (0 < run < _MOST and run % 100 == 0) or (run % 100 >= 20 and run % 10 == 0 and value < 10)


def _digits(token: str) -> str:
    token = re.sub(r",(?=\d{3}\b)", "", token).removesuffix(":00")
    if re.fullmatch(r"\d+\.\d+", token):
        token = token.rstrip("0").rstrip(".")
    return token.lstrip("0") or "0"
