"""The formats by name: each adapter is one function, registered by `@adapter(...)`, in a module of its own.

An adapter's function gets (content, builder, parts): parsed JSON (for JSON lines and tables: the list of rows; for
Markdown: the text), the Builder that it hands every row to, and further files of the store by part name. It opens
no file, and never uses a name or id as a path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ..errors import InputError, shown
from .builder import SAMPLED_ROWS, Builder


@dataclass(frozen=True)
class Adapter:
    """A format. system: whose stores these are; views: the first is the default; parts: what further files may
    hold; texts: where texts stand in a row, in words; recognises(content): whether a content looks like it."""

    name: str
    system: str
    recognises: Callable[[Any], bool]
    read: Callable[[Any, Builder, Mapping[str, Any]], None]
    views: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    texts: str = ""

    def view(self, wanted: str | None) -> str:
        """The wanted view, or the default; InputError where the format has no such view."""
        if wanted is None:
            return self.views[0] if self.views else ""
        if wanted not in self.views:
            has = f"has {', '.join(self.views)}" if self.views else "has one view only; leave view out"
            raise InputError(f"view {shown(wanted)}: format {self.name} {has}")
        return wanted


ADAPTERS: dict[str, Adapter] = {}


def adapter(name: str, system: str, recognises: Callable[[Any], bool], **more):
    """Register the decorated function as the reader of format `name`; `more`: views, parts, texts."""

    def register(read):
        if name in ADAPTERS:
            raise ValueError(f"adapter {name!r} is there already")
        ADAPTERS[name] = Adapter(name, system, recognises, read, **more)
        return read

    return register


def named(name: str) -> Adapter:
    """The adapter of that name; InputError lists them."""
    if name not in ADAPTERS:
        raise InputError(f"format {shown(name)}: there is none of that name; one of {', '.join(sorted(ADAPTERS))}")
    return ADAPTERS[name]


def guess(content: Any) -> Adapter | None:
    """The adapter that recognises the content; generic only where no other does. InputError where two do."""
    found = fitting(content)
    if len(found) > 1:
        raise InputError(f"looks like {' and '.join(a.name for a in found)}; name the format")
    return (found or [None])[0]


def fitting(content: Any) -> list[Adapter]:
    """The adapters that recognise the content; generic only where no other does."""
    found = [a for a in ADAPTERS.values() if a.recognises(content)]
    return [a for a in found if a.name != "generic"] or found


def row_keys(rows: Any) -> set[str]:
    """The keys of the first rows of a list (or of a map's values) of objects; empty for anything else."""
    if isinstance(rows, Mapping):
        rows = rows.values()
    elif not isinstance(rows, list):
        return set()
    return {key for row in islice(rows, SAMPLED_ROWS) if isinstance(row, Mapping) for key in row}


def rows_under(content: Any, *keys: str) -> Any:
    """The content's list: itself, or what stands under the first of `keys` that is there; None without one."""
    if isinstance(content, list):
        return content
    if isinstance(content, Mapping):
        return next((content[k] for k in keys if isinstance(content.get(k), list)), None)
    return None


def not_its_form(name: str, wanted: str) -> InputError:
    """The error of an adapter that is handed something else."""
    return InputError(f"not in the form of format {name}: {wanted}")
