"""Rows of a stored table against the same rows computed again."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

# Means of floats: the order of a sum may show in the last digits.
CLOSE = {"rel_tol": 1e-9, "abs_tol": 1e-12}


def row_faults(
    table: pa.Table, again: Iterable[Mapping[str, Any]], key: Sequence[str], close: Collection[str] = ()
) -> Iterator[str]:
    """Lines on rows (told by `key`) that are missing, too many, or differ in a column of `again`; columns that `again`
    does not have are not compared, those in `close` up to rounding."""
    stored: dict[tuple, dict[str, Any]] = {}
    for row in table.to_pylist():
        name = tuple(row[c] for c in key)
        if name in stored:
            yield f"{_named(row, key)}: it stands twice"
        stored[name] = row
    for row in again:
        found = stored.pop(tuple(row[c] for c in key), None)
        if found is None:
            yield f"{_named(row, key)}: no such row, and one belongs here"
            continue
        for column, value in row.items():
            if not _same(found[column], value, column in close):
                yield f"{_named(row, key)}: {column} is {found[column]!r}, computed again {value!r}"
    for row in stored.values():
        yield f"{_named(row, key)}: it does not belong here"


def _same(stored: Any, value: Any, close: bool) -> bool:
    if close and None not in (stored, value):
        return math.isclose(stored, value, **CLOSE)
    return stored == value


def _named(row: Mapping[str, Any], key: Sequence[str]) -> str:
    return "row " + ", ".join(f"{c} {row[c]}" for c in key if row[c] != "")
