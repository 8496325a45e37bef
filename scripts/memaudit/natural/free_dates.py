"""Dates of imported packages in whatever form they are written, as far as the form has one reading.

No locale, no guess: a date such as 03/04/2023, which is two days in two countries, is not read.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from ..errors import InputError
from .dates import parse_date

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = re.compile(
    r"\b(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_TIME = re.compile(r"\b([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]+)?)?(?:\s*([ap])\.?m\b\.?)?")
_ZONE = re.compile(r"(?:\b(?:utc|gmt)|(?<=[0-9])\s*z\b|[+-][0-9]{2}:?[0-9]{2}\b)")
_YEAR = re.compile(r"\b([0-9]{4})\b")
_DAY = re.compile(r"\b([0-9]{1,2})(?:st|nd|rd|th)?\b")
# What may stand beside the parts: weekdays, filler words, punctuation.
_FILLER = re.compile(
    r"\b(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|on|at|of|the)\b|[\s,.()]"
)
_EPOCH = re.compile(r"[0-9]{10}(?:[0-9]{3})?")
_DOTTED = re.compile(r"([0-9]{4})[.-]([0-9]{1,2})(?:[.-]([0-9]{1,2}))?")


def read_date(text: str) -> tuple[datetime | None, str | None]:
    """(the date without a zone, as UTC where it has one; a note where its weekday is another one).

    Forms: those of `parse_date`, dates with an English month name ('1:56 pm on 8 May, 2023', 'May 8th, 2023',
    'Mon, 08 May 2023 13:56:00 +0000'), '2023-5-8', '2023.05.08', a month ('2023-05', 'May 2023': its first
    day), seconds or milliseconds since 1970 (10 or 13 digits). (None, None) for any other.
    """
    text = text.strip()
    if _EPOCH.fullmatch(text):
        return _since_1970(text), None
    try:
        return parse_date(text, "")
    except InputError:
        pass  # one of the other forms, or none: said by the result
    try:
        return _numbers(text) or _words(text.lower()), None
    except (ValueError, OverflowError):
        return None, None  # a form of ours with a day that does not exist


def _since_1970(text: str) -> datetime:
    seconds, milliseconds = divmod(int(text), 1000) if len(text) == 13 else (int(text), 0)
    return datetime(1970, 1, 1) + timedelta(seconds=seconds, milliseconds=milliseconds)


def _numbers(text: str) -> datetime | None:
    found = _DOTTED.fullmatch(text)
    return datetime(int(found[1]), int(found[2]), int(found[3] or 1)) if found else None


def _words(text: str) -> datetime | None:
    """A date with a month name: each part at most once, and nothing else beside them."""
    time, rest = _take(_TIME, text)
    zone, rest = _take(_ZONE, rest)
    month, rest = _take(_MONTH, rest)
    year, rest = _take(_YEAR, rest)
    day, rest = _take(_DAY, rest)
    if month is None or year is None or _FILLER.sub("", rest):
        return None
    hour, minute, second = _clock(time)
    number = _MONTHS.index(month[1][:3]) + 1
    date = datetime(int(year[1]), number, int(day[1]) if day else 1, hour, minute, second)
    return date.replace(tzinfo=_offset(zone)).astimezone(UTC).replace(tzinfo=None)


def _take(pattern: re.Pattern[str], text: str) -> tuple[re.Match[str] | None, str]:
    """The first match, and the text without it."""
    found = pattern.search(text)
    return found, text if found is None else f"{text[: found.start()]} {text[found.end() :]}"


def _clock(time: re.Match[str] | None) -> tuple[int, int, int]:
    if time is None:
        return 0, 0, 0
    hour, minute, second = (int(time[i] or 0) for i in (1, 2, 3))
    if time[4] is not None:
        if not 1 <= hour <= 12:
            raise ValueError(f"{hour} o'clock with am or pm")
        hour = hour % 12 + (12 if time[4] == "p" else 0)
    return hour, minute, second


def _offset(zone: re.Match[str] | None) -> timezone:
    text = "" if zone is None else zone[0].replace(":", "")
    if not text or text[0] not in "+-":
        return UTC
    sign = -1 if text[0] == "-" else 1
    return timezone(sign * timedelta(hours=int(text[1:3]), minutes=int(text[3:5])))
