"""JSON that says one thing: no repeated key, no number that is none. A fault is told with its key and line."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import key_path, shown

_BLANK = re.compile(r"[ \t\r\n]*")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]|[^\s{}\[\],:"]+', re.DOTALL)
_COLON = re.compile(r"[ \t\r\n]*:")
_CONSTANTS = ("NaN", "Infinity", "-Infinity")
# A text that is too deep for the parser (some thousand levels at most) is told by where it reaches this level, and of
# the path to it by the first few.
_DEEP, _NAMED_LEVELS = 200, 4
_SHOWN_DIGITS = 40


class TooDeep(ValueError):
    """Nested deeper than the parser goes."""


def loads(text: str, *, finite: bool = True) -> Any:
    """`json.loads`; ValueError also on a key that stands twice in an object, NaN and Infinity, (`finite`) numbers
    beyond a float, and (TooDeep) nesting beyond the parser, with the dotted key and, of several lines, the line."""
    parse_float = _finite if finite else float
    return _told(
        text,
        0,
        finite,
        lambda: json.loads(text, object_pairs_hook=_once, parse_constant=_refuse, parse_float=parse_float),
    )


def values(text: str) -> Iterator[Any]:
    """The values that stand one after the other in `text`; ValueError (as `loads`) where one cannot be read, after
    those before it."""
    decoder = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refuse, parse_float=_finite)
    at = _BLANK.match(text).end()
    while at < len(text):
        value, end = _told(text, at, True, lambda at=at: decoder.raw_decode(text, at))
        yield value
        at = _BLANK.match(text, end).end()


def _told(text: str, start: int, finite: bool, read: Callable[[], Any]) -> Any:
    """What `read` makes of the value at `start`; a fault that the parser tells without its place is looked for."""
    try:
        return read()
    except json.JSONDecodeError:
        raise
    except RecursionError as error:
        raise TooDeep(next(_faults(text, start, finite, deep=True), "nested too deeply")) from error
    except ValueError as error:
        raise ValueError(next(_faults(text, start, finite), str(error))) from error


def _faults(text: str, start: int, finite: bool, deep: bool = False) -> Iterator[str]:
    """The faults from `start` on that are none of JSON's grammar, with their places; `deep`: just those of depth."""
    path: list[str | int] = []
    objects: list[set[str] | None] = []  # of each open object its keys so far; None of a list
    for token in _TOKEN.finditer(text, start):
        word, at = token[0], token.start()
        if word in ("{", "["):
            objects.append(set() if word == "{" else None)
            path.append("" if word == "{" else 0)
            if deep and len(path) == _DEEP:
                yield f"nested too deeply{_place(text, at, path[:_NAMED_LEVELS], '...')}"
        elif word in ("}", "]"):
            del objects[-1:], path[-1:]
        elif word == ",":
            if objects and objects[-1] is None:
                path[-1] += 1
        elif word[0] == '"':
            if objects and objects[-1] is not None and _COLON.match(text, token.end()):
                key = path[-1] = json.loads(word, strict=False)
                if key in objects[-1] and not deep:
                    yield f"key {shown(key)} stands twice in one object{_place(text, at, path[:-1])}"
                objects[-1].add(key)
        elif not deep and (reason := _no_number(word, finite)):
            yield f"{reason}{_place(text, at, path)}"


def _place(text: str, at: int, path: list[str | int], more: str = "") -> str:
    line = f"line {text.count(chr(10), 0, at) + 1}" if "\n" in text.strip() else ""
    where = ", ".join(filter(None, [f"at {key_path(path)}{more}" if path else "", line]))
    return f" ({where})" if where else ""


def _no_number(word: str, finite: bool) -> str | None:
    """Why a word outside of strings is refused; None where it is not."""
    if word in _CONSTANTS:
        return f"{word} is no JSON number"
    if word in ("true", "false", "null"):
        return None
    if word.removeprefix("-").isdecimal():
        return f"{shown(word)} has too many digits" if len(word) > sys.get_int_max_str_digits() > 0 else None
    return _too_large(word) if finite and not math.isfinite(float(word)) else None


def _too_large(digits: str) -> str:
    return f"{digits if len(digits) <= _SHOWN_DIGITS else shown(digits)} is too large a number"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return content


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(_too_large(digits))
    return number
