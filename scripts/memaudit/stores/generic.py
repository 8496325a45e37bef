"""Rows of any origin: JSON, JSON lines, CSV or Parquet with a text and, optionally, more columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import InputError, shown
from .builder import Builder, lookup
from .model import IngestOptions
from .registry import adapter, not_its_form, row_keys, rows_under

# Role -> keys that are tried, in this order, unless the column map names one.
ROLES = {
    "text": ("text", "memory", "content", "contents", "fact"),
    "id": ("id", "memory_id", "uuid", "key"),
    "time": ("time", "timestamp", "created_at", "createdAt", "date"),
    "group": ("group", "group_id"),
    "salience": ("salience",),
    "instance": ("instance_id",),
    "native_order": ("native_order",),
    "user": ("user_id", "userId"),
}
_WRAPPERS = ("memories", "items", "data", "rows", "results")


def check_columns(columns: Mapping[str, str]) -> None:
    """InputError on a role that there is none of."""
    for role in columns:
        if role not in ROLES:
            raise InputError(f"columns: {role!r} is no role; one of {', '.join(ROLES)}")


def wanted_columns(options: IngestOptions) -> set[str]:
    """The columns of a CSV or Parquet file that may be read; all others (embeddings) are left out."""
    keys = {key for role, tried in ROLES.items() for key in _keys(role, options.columns)}
    more = {options.instance_key, options.time_key} - {None}
    return keys | more | {key.split(".")[0] for key in keys | more}


def _keys(role: str, columns: Mapping[str, str]) -> tuple[str, ...]:
    return (columns[role],) if role in columns else ROLES[role]


def _recognises(content: Any) -> bool:
    rows = rows_under(content, *_WRAPPERS)
    if rows is None:
        return False
    return not rows or bool(row_keys(rows) & set(ROLES["text"])) or all(isinstance(row, str) for row in rows)


@adapter("generic", "generic", _recognises)
def read(content: Any, builder: Builder, parts: Mapping[str, Any]) -> None:
    """Text, id (the row's number where there is none), time, group, salience, native order and user of each row."""
    rows = rows_under(content, *_WRAPPERS)
    if rows is None:
        raise not_its_form("generic", f"a list of rows, or an object with one under {', '.join(_WRAPPERS)}")
    columns = builder.options.columns
    _demand_columns(rows, columns)
    for number, row in enumerate(_objects(rows), start=1):
        for found in builder.rows([row]):
            _add(found, number, columns, builder)


def _objects(rows: list[Any]) -> Iterable[Any]:
    return ({"text": row} if isinstance(row, str) else row for row in rows)


def _demand_columns(rows: list[Any], columns: Mapping[str, str]) -> None:
    """A mapped column that no row has is a slip in the map, not a store without texts."""
    objects = [row for row in rows if isinstance(row, Mapping)]
    for role, key in columns.items():
        if objects and all(lookup(row, key) is None for row in objects):
            keys = ", ".join(sorted(map(str, row_keys(rows)))[:20])
            raise InputError(f"columns: no row has {key!r} ({role}); the first rows have {keys}")


def _add(row: Mapping[str, Any], number: int, columns: Mapping[str, str], builder: Builder) -> None:
    read: dict[str, str] = {}

    def value(role: str, *keys: str) -> Any:
        for key in keys or _keys(role, columns):
            found = lookup(row, key)
            if found is not None and found != "":
                read[role] = key
                return found
        return None

    text, name, group = value("text"), value("id"), value("group")
    time_key = builder.options.time_key
    value("time", *((time_key,) if time_key else _keys("time", columns)))
    order, importance, user = value("native_order"), value("salience"), value("user")
    builder.saw(row, read)
    builder.add(
        f"row-{number}" if name is None else name,
        text,
        time=builder.row_time(row, *_keys("time", columns)),
        group=None if group is None else str(group),
        salience=as_salience(importance, builder),
        native_order=as_rank(order, builder),
        user_id=None if user is None else str(user),
    )


def as_salience(value: Any, builder: Builder) -> float | None:
    """A number in [0, 1], or None; with a warning where it is neither."""
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 <= number <= 1 or isinstance(value, bool):
        builder.warn("salience is no number in [0, 1]", shown(value))
        return None
    return number


def as_rank(value: Any, builder: Builder) -> int | None:
    """A whole number >= 0, or None; with a warning where it is neither."""
    if value is None:
        return None
    try:
        rank = int(str(value))
    except ValueError:
        rank = -1
    if not 0 <= rank < 2**62:
        builder.warn("native order is no whole number >= 0", shown(value))
        return None
    return rank
