"""Graphiti (Zep): edges {uuid, fact, valid_at, invalid_at, expired_at, ...}."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from ..errors import plain
from .builder import Builder, some_of
from .mem0 import gone_text
from .registry import adapter, not_its_form, row_keys, rows_under
from .times import to_utc


def _recognises(content: Any) -> bool:
    return {"uuid", "fact"} <= row_keys(rows_under(content, "edges"))


@adapter("graphiti", "graphiti", _recognises, texts="fact")
def read(content: Any, builder: Builder, parts: Mapping[str, Any]) -> None:
    """Each edge's fact; a fact whose invalid_at or expired_at is past is a tombstone in its place.

    Past: not after `as_of`, or, without one, the last created_at or expired_at in the store. A memory's time is
    valid_at, else created_at; a tombstone's is when it ended. An interval that ends before it begins is kept as a
    live memory, with a warning.
    """
    edges = rows_under(content, "edges")
    if edges is None:
        raise not_its_form("graphiti", "a list of edges {uuid, fact, ...}, or an object whose edges is one")
    if isinstance(content, Mapping):
        for other in ("nodes", "episodes"):
            builder.notes[f"{other} not read"] += len(content.get(other) or ())
    as_of = builder.options.as_of or _last_written(edges)
    for row in builder.rows(edges, "edge"):
        _add(row, as_of, builder)


def _last_written(edges: list[Any]) -> datetime | None:
    """The last created_at or expired_at; what cannot be read is told when its row is."""
    times = []
    for row in edges:
        for key in ("created_at", "expired_at"):
            with suppress(ValueError):
                times.append(to_utc(row.get(key) if isinstance(row, Mapping) else None))
    return max((t for t in times if t is not None), default=None)


def _add(row: Mapping, as_of: datetime | None, builder: Builder) -> None:
    fact, uuid = row.get("fact"), row.get("uuid")
    begin, end, expired = (builder.time(row.get(key)) for key in ("valid_at", "invalid_at", "expired_at"))
    inverted = begin is not None and end is not None and end < begin
    if inverted:
        builder.warn(
            "ends before it begins", f"edge {plain(uuid)}: invalid_at {end.isoformat()}, valid_at {begin.isoformat()}"
        )
    ends = [t for t in (None if inverted else end, expired) if t is not None and as_of and t <= as_of]
    more = {
        "user_id": row.get("group_id") if isinstance(row.get("group_id"), str) else None,
        "invalid_at": end or expired,
        "details": some_of(row, "name", "source_node_uuid", "target_node_uuid", "valid_at", "episodes"),
    }
    if ends and isinstance(fact, str):
        builder.tombstone(uuid, gone_text(fact), time=min(ends), **more)
    else:
        builder.add(uuid, fact, time=builder.row_time(row, "valid_at", "created_at"), **more)
