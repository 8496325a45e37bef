"""LangGraph (and LangMem) store items: {namespace, key, value}, the value of any shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .builder import Builder
from .registry import adapter, not_its_form, row_keys, rows_under

_TEXT_KEYS = ("content", "text", "memory", "data")


def _recognises(content: Any) -> bool:
    return {"namespace", "key", "value"} <= row_keys(rows_under(content, "items", "results"))


@adapter("langgraph", "langgraph", _recognises, texts="value")
def read(content: Any, builder: Builder, parts: Mapping[str, Any]) -> None:
    """The text in the value (`value_text`); id: namespace and key joined by /; time: updated_at, else created_at
    (a store in memory sets both again on every overwrite)."""
    items = rows_under(content, "items", "results")
    if items is None:
        raise not_its_form("langgraph", "a list of items {namespace, key, value}")
    for row in builder.rows(items, "item"):
        space = row.get("namespace")
        space = [space] if isinstance(space, str) else space if isinstance(space, list) else []
        key = row.get("key")
        builder.add(
            None if key is None else "/".join([*map(str, space), str(key)]),
            value_text(row.get("value")),
            time=builder.row_time(row, "updated_at", "created_at"),
            details={"namespace": space},
        )


def value_text(value: Any) -> str | None:
    """The text under content, text, memory or data, however deep; the compact JSON of a value without one; None where
    there is no value."""
    if value is None:
        return None
    inner = value
    while isinstance(inner, Mapping):
        inner = next((inner[key] for key in _TEXT_KEYS if inner.get(key) not in (None, {}, [])), None)
    if isinstance(inner, str):
        return inner
    return "" if value in ({}, []) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
