"""Times of exported memories as aware UTC."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime
from typing import Any

from ..natural.free_dates import read_date

_EPOCH = re.compile(r"[0-9]{10}(?:[0-9]{3})?(?:\.[0-9]+)?")  # with a fraction, as programs write a column with gaps
_MILLISECONDS_FROM = 1e11  # as seconds: the year 5138


def to_utc(value: Any) -> datetime | None:
    """The time as aware UTC; None for None and blank text. Without a zone it is read as UTC.

    Texts: ISO 8601 (also with a space, and fractions of any length, cut to microseconds) and the forms of
    `natural.free_dates`. Numbers: seconds or, from 1e11 on, milliseconds since 1970. ValueError on anything else.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        if isinstance(value, datetime):
            return _aware(value)
        if isinstance(value, date):
            return datetime(value.year, value.month, value.day, tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _since_1970(value)
        if isinstance(value, str):
            return _of_text(value.strip())
    except (OverflowError, OSError) as error:
        raise ValueError(f"{str(value)[:60]!r} is no time ({error})") from error
    raise ValueError(f"{str(value)[:60]!r} is no time")


def minute_stamp(value: Any) -> datetime | None:
    """A-Mem's YYYYMMDDHHMM, as text or number, else as `to_utc`."""
    text = str(value).strip()
    if re.fullmatch(r"[0-9]{12}", text) and not isinstance(value, float):
        return datetime.strptime(text, "%Y%m%d%H%M").replace(tzinfo=UTC)
    return to_utc(value)


def _of_text(text: str) -> datetime:
    if _EPOCH.fullmatch(text):
        return _since_1970(float(text))
    try:
        return _aware(datetime.fromisoformat(text))
    except ValueError:
        found, _ = read_date(text[:200])
    if found is None:
        raise ValueError(f"{text[:60]!r} is no time of a known form")
    return _aware(found)


def _since_1970(number: float) -> datetime:
    if not math.isfinite(number):
        raise ValueError(f"{number!r} is no time")
    return datetime.fromtimestamp(number / 1000 if abs(number) >= _MILLISECONDS_FROM else number, UTC)


def _aware(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
