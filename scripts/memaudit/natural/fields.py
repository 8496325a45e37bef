"""Values of parsed JSON rows, checked: what is wrong raises InputError naming the place, the key and the fix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InputError

_KINDS = {
    type(None): "null",
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
}


def value_in(row: Mapping, key: str, where: str) -> Any:
    """`row[key]`; InputError where it is missing."""
    if key not in row:
        raise InputError(f"{where}: key {key!r} is missing; add it")
    return row[key]


def list_in(row: Mapping, key: str, where: str) -> list:
    """`row[key]`, a list."""
    value = value_in(row, key, where)
    if not isinstance(value, list):
        raise InputError(f"{where}: {key} is {kind_of(value)}; write a list")
    return value


def string_in(row: Mapping, key: str, where: str, *, needs_text: bool = False) -> str:
    """`row[key]`, a string that `check_string` lets pass."""
    value = value_in(row, key, where)
    check_string(value, key, where, needs_text=needs_text)
    return value


def check_string(value: Any, key: str, where: str, *, needs_text: bool = False) -> None:
    """Refuse what is no string, has no text where it needs one, or cannot be written as UTF-8."""
    if not isinstance(value, str):
        raise InputError(f"{where}: {key} is {kind_of(value)}; write a string")
    if needs_text and not value.strip():
        raise InputError(f"{where}: {key} is blank; give it a value")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"{where}: {key} holds half of a surrogate pair at character {error.start}, which is no text; "
            f"write the whole character or remove it"
        ) from error


def kind_of(value: Any) -> str:
    """What a JSON value is, in words, for messages."""
    return _KINDS.get(type(value), type(value).__name__)
