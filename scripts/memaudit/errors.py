"""The one exception type for bad input: it names the file, row or key, and the fix; and how it shows values."""

import reprlib
from collections.abc import Iterable
from typing import Any


class InputError(ValueError):
    """Bad input (a config key, a file, a row). The message says what is wrong, where, and how to fix it."""


_SHORT = reprlib.Repr()
_SHORT.maxlevel = 3
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80


def shown(value: Any) -> str:
    """`repr` of a value on one line, cut where it is long or deep."""
    text = _SHORT.repr(value)
    return text if len(text) <= 120 else f"{text[:100]}..."


def key_path(loc: Iterable[str | int]) -> str:
    """('suites', 'small', 'budgets', 0) as suites.small.budgets[0]."""
    path = ""
    for part in loc:
        if isinstance(part, int):
            path += f"[{part}]"
            continue
        name = str(part)
        name = name if name.isprintable() and len(name) <= 120 else shown(name)
        path += f".{name}" if path else name
    return path
