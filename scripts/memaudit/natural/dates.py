"""Dates of conversations, parsed without the locale: English weekday names wherever the program runs."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from ..errors import InputError

_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SLASHED = re.compile(
    r"([0-9]{4})/([0-9]{1,2})/([0-9]{1,2})(?: \(([^()]*)\))?(?: ([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?)?"
)
# datetime.fromisoformat takes any character between date and time, and so reads milliseconds since 1970 as a date.
_ISO = re.compile(r"[0-9]{4}(?:-?[0-9]{2}-?[0-9]{2}|-?W[0-9]{2}(?:-?[0-9])?)(?:[T ].*)?")
_MONTHS = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
_CLOCK = re.compile(
    r"(?:([0-9]{1,2}):([0-9]{2}) ?([AaPp][Mm]) on )?([0-9]{1,2}) ([A-Za-z]+),? ([0-9]{4})",
)


def parse_date(text: str, where: str) -> tuple[datetime, str | None]:
    """The date, and a note where the weekday written beside it is another one than the date's (else None).

    Forms: 'YYYY/MM/DD (Ddd) HH:MM' (LongMemEval; weekday, time and seconds may be absent) and ISO 8601, date and time
    parted by T or a space.
    The result has no time zone: a date with an offset is turned into UTC, one without counts as UTC, so any
    two dates compare. Raises InputError naming `where` on any other form and on a date that does not exist.
    """
    try:
        found = _SLASHED.fullmatch(text)
        if found is None:
            if not _ISO.fullmatch(text):
                raise ValueError("not of that form")
            return _without_zone(datetime.fromisoformat(text)), None
        year, month, day, hour, minute, second = (int(found[i] or 0) for i in (1, 2, 3, 5, 6, 7))
        date = datetime(year, month, day, hour, minute, second)
    except (ValueError, OverflowError) as error:
        raise InputError(
            f"{where}: date {text!r} is not readable ({error}); write 'YYYY/MM/DD (Ddd) HH:MM' or ISO 8601"
        ) from error
    expected = _WEEKDAYS[date.weekday()]
    if found[4] is not None and found[4].lower() != expected:
        return date, f"{text!r} is a {expected.capitalize()}"
    return date, None


def parse_clock_date(text: str, where: str) -> datetime:
    """The date in LoCoMo's form, '1:56 pm on 8 May, 2023' (12-hour clock; the time may be absent: 0:00).

    12 am is midnight and 12 pm noon; months are English names or their first three letters. Raises
    InputError naming `where` on any other form and on a date that does not exist.
    """
    try:
        found = _CLOCK.fullmatch(text.strip())
        if found is None:
            raise ValueError("not of that form")
        hour, minute, half, day, month, year = found.groups()
        hours = 0
        if hour is not None:
            if not 1 <= int(hour) <= 12:
                raise ValueError("a 12-hour clock shows 1 to 12")
            hours = int(hour) % 12 + (12 if half.lower() == "pm" else 0)
        return datetime(int(year), _month(month), int(day), hours, int(minute or 0))
    except (ValueError, OverflowError) as error:
        raise InputError(f"{where}: date {text!r} is not readable ({error}); write '1:56 pm on 8 May, 2023'") from error


def _month(name: str) -> int:
    for number, month in enumerate(_MONTHS, start=1):
        if name.lower() in (month, month[:3]):
            return number
    raise ValueError(f"there is no month {name!r}")


def _without_zone(date: datetime) -> datetime:
    return date if date.tzinfo is None else date.astimezone(UTC).replace(tzinfo=None)
