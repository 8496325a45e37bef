"""Rows of any origin: JSON, JSON lines, CSV or Parquet with a text and, optionally, more columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..errors import InputError, closest, listed, shown
from .builder import Builder, MadeId, dotted_keys, lookup
from .model import IngestOptions
from .registry import adapter, not_its_form, row_keys, rows_under
from .times import to_utc

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
_SHOWN_KEYS = 20
_WRAPPERS = ("memories", "items", "data", "rows", "results")


def check_columns(columns: Mapping[str, str]) -> None:
    """InputError on a role that there is none of."""
    for role in columns:
        if role not in ROLES:
            raise InputError(f"columns: {shown(role)} is no role; one of {', '.join(ROLES)}")


def wanted_columns(options: IngestOptions) -> set[str]:
    """The columns of a CSV or Parquet file that may be read; all others (embeddings) are left out."""
    keys = {key for role, tried in ROLES.items() for key in _keys(role, options.columns)}
    more = {options.instance_key, options.time_key} - {None}
    return keys | more | {key.split(".")[0] for key in keys | more}


def _keys(role: str, columns: Mapping[str, str]) -> tuple[str, ...]:
    return (columns[role],) if role in columns else ROLES[role]


def text_keys(columns: Mapping[str, str]) -> tuple[str, ...]:
    """The keys that texts are looked for under."""
    return _keys("text", columns)


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
    _warn_of_other_lists(content, rows, builder)
    _demand_columns(rows, columns, builder.keys)
    for number, row in enumerate(_objects(rows), start=1):
        for found in builder.rows([row]):
            _add(found, number, columns, builder)
    _demand_values(rows, columns)


def _warn_of_other_lists(content: Any, rows: list[Any], builder: Builder) -> None:
    """Lists of objects beside the one that is read may hold memories too."""
    others = content.items() if isinstance(content, Mapping) else ()
    for key, other in others:
        if isinstance(other, list) and other is not rows and row_keys(other):
            told = f"the first under {shown(key)}; put the rows that are memories into one list"
            builder.warn("rows in another list, not read", told, len(other))


def _objects(rows: list[Any]) -> Iterable[Any]:
    return ({"text": row} if isinstance(row, str) else row for row in rows)


def _demand_columns(rows: list[Any], columns: Mapping[str, str], keys: Iterable[str]) -> None:
    """A mapped column that no row has is a slip in the map, not a store without texts. keys: a table's columns."""
    objects = [row for row in rows if isinstance(row, Mapping)]
    for role, key in columns.items():
        if role == "instance":  # asked of all rows of the file, before they are split by it
            continue
        if objects and all(lookup(row, key) is None for row in objects):
            known = {*dotted_keys(objects), *keys}
            meant = "".join(f"; is it {shown(near)}?" for near in closest(key, known))
            raise InputError(
                f"columns: no row has {shown(key)} ({role}); the rows have {listed(known, _SHOWN_KEYS)}{meant}"
            )


def _demand_values(rows: list[Any], columns: Mapping[str, str]) -> None:
    """A mapped column none of whose values is one of its role is a slip too. Of salience also one that is empty, or has
    a number of another scale: of 1 to 10, 1 would be the most, and all others dropped."""
    for role, (usable, wanted) in _USABLE.items():
        values = [lookup(row, columns[role]) for row in rows if isinstance(row, Mapping)] if role in columns else []
        stated = [value for value in values if value not in (None, "")]
        wrong = [value for value in stated if not usable(value)]
        beyond = [value for value in wrong if role == "salience" and not math.isnan(_number(value))]
        where = f"columns: {shown(columns.get(role))} ({role})"
        if beyond or (stated and len(wrong) == len(stated)):
            found = beyond or wrong
            held = f"{shown(found[0])}, {len(found)} of {len(values)} values being so"
            raise InputError(f"{where} has {held}; {wanted}, or leave the column out")
        if role == "salience" and values and not stated:
            raise InputError(f"{where} is empty in all rows; {wanted}, or leave the column out")


def _number(value: Any) -> float:
    """The value as a number, NaN where it is none."""
    try:
        return math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _is_salience(value: Any) -> bool:
    return 0 <= _number(value) <= 1


def _is_rank(value: Any) -> bool:
    try:
        return 0 <= int(str(value)) < 2**62
    except ValueError:
        return False


def _is_time(value: Any) -> bool:
    try:
        return to_utc(value) is not None
    except ValueError:
        return False


# Role -> whether a value says something, and what to write: roles that memories are ordered by.
_USABLE: dict[str, tuple[Callable[[Any], bool], str]] = {
    "salience": (_is_salience, "write numbers from 0 (of no use) to 1 (of 1 to 10: divided by 10)"),
    "native_order": (_is_rank, "write whole numbers, 0 for the first"),
    "time": (_is_time, "write ISO 8601, or seconds or milliseconds since 1970"),
}


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
    if text is None and any(lookup(row, key) == "" for key in text_keys(columns)):
        text = ""  # it is there, and blank
    time_key = builder.options.time_key
    value("time", *((time_key,) if time_key else _keys("time", columns)))
    order, importance, user = value("native_order"), value("salience"), value("user")
    builder.saw(row, read)
    builder.add(
        MadeId(f"row-{number}") if name is None else name,
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
    if not _is_salience(value):
        builder.warn("salience is no number in [0, 1]", shown(value))
        return None
    return _number(value)


def as_rank(value: Any, builder: Builder) -> int | None:
    """A whole number >= 0, or None; with a warning where it is neither."""
    if value is None:
        return None
    if not _is_rank(value):
        builder.warn("native order is no whole number >= 0", shown(value))
        return None
    return int(str(value))
