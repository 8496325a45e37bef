"""Dates of conversations, parsed without the locale: English weekday names wherever the program runs."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from ..errors import InputError

_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SLASHED = re.compile(
    r"([0-9]{4})/([0-9]{1,2})/([0-9]{1,2})(?: \(([^()]*)\))?(?: ([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?)?"
)


def parse_date(text: str, where: str) -> tuple[datetime, str | None]:
    """The date, and a note where the weekday written beside it is another one than the date's (else None).

    Forms: 'YYYY/MM/DD (Ddd) HH:MM' (LongMemEval; weekday, time and seconds may be absent) and ISO 8601.
    The result has no time zone: a date with an offset is turned into UTC, one without counts as UTC, so any
    two dates compare. Raises InputError naming `where` on any other form and on a date that does not exist.
    """
    try:
        found = _SLASHED.fullmatch(text)
        if found is None:
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


def _without_zone(date: datetime) -> datetime:
    return date if date.tzinfo is None else date.astimezone(UTC).replace(tzinfo=None)
