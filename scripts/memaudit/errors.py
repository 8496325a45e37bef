"""The one exception type for bad input: it names the file, row or key, and the fix; and how it shows values."""

import difflib
import reprlib
from collections.abc import Iterable
from typing import Any


class InputError(ValueError):
    """Bad input (a config key, a file, a row). The message says what is wrong, where, and how to fix it."""


# Letters of a name that others are compared with: of long ones comparing is slow.
_MAX_NAME = 100
# Characters of a value or name that a message quotes, and of all that one says of a row.
_LONGEST, _MOST_TOLD = 120, 600
_SHORT = reprlib.Repr()
_SHORT.maxlevel = 3
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80


def shown(value: Any) -> str:
    """`repr` of a value on one line, cut where it is long or deep."""
    text = _SHORT.repr(value)
    return text if len(text) <= _LONGEST else f"{text[:100]}..."


def plain(name: Any) -> str:
    """A name or id as it stands; as `shown` where it is long or cannot be printed on one line."""
    text = str(name)
    return text if text.isprintable() and len(text) <= _LONGEST else shown(text)


def cut(text: str) -> str:
    """A sentence with what it quotes, no longer than a reader reads."""
    return text if len(text) <= _MOST_TOLD else f"{text[:_MOST_TOLD]}..."


def count_of(n: int, word: str) -> str:
    """The number and the word, with an s unless it is one."""
    return f"{n} {word}{'' if n == 1 else 's'}"


def closest(name: Any, names: Iterable[str]) -> list[str]:
    """The one of `names` that is most like the name, or none."""
    return difflib.get_close_matches(str(name)[:_MAX_NAME], sorted(names), n=1, cutoff=0.5)


def listed(names: Iterable[str], most: int | None = None) -> str:
    """Names in order, the first `most` of them and the count of the others."""
    names = sorted(names)
    more = f" and {len(names) - most} more" if most is not None and len(names) > most else ""
    return (", ".join(map(plain, names[:most])) or "none") + more


def nearest(name: Any, names: Iterable[str], most: int | None = None) -> str:
    """A hint that names the closest of `names`, or all of them (`listed`) where none is close."""
    names = sorted(names)
    near = closest(name, names)
    return f"nearest known: {shown(near[0])}" if near else f"known: {listed(names, most)}"


def key_path(loc: Iterable[str | int]) -> str:
    """('suites', 'small', 'budgets', 0) as suites.small.budgets[0]."""
    path = ""
    for part in loc:
        if isinstance(part, int):
            path += f"[{part}]"
            continue
        path += f".{plain(part)}" if path else plain(part)
    return path
