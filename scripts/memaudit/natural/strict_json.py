"""JSON that says one thing: no repeated key, no number that is none."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

_BLANK = re.compile(r"[ \t\r\n]*")


def loads(text: str, *, finite: bool = True) -> Any:
    """`json.loads`; ValueError also on a key that stands twice in an object, NaN and Infinity, and (`finite`) on
    numbers beyond a float."""
    parse_float = _finite if finite else float
    return json.loads(text, object_pairs_hook=_once, parse_constant=_refuse, parse_float=parse_float)


def values(text: str) -> Iterator[Any]:
    """The values that stand one after the other in `text`; ValueError (as `loads`) where one cannot be read, after
    those before it."""
    decoder = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refuse, parse_float=_finite)
    at = _BLANK.match(text).end()
    while at < len(text):
        value, end = decoder.raw_decode(text, at)
        yield value
        at = _BLANK.match(text, end).end()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"key {next(k for k in keys if keys.count(k) > 1)!r} stands twice in one object")
    return content


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits} is too large a number")
    return number
