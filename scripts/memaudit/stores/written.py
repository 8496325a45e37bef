"""The paper's `written_stores.jsonl`: a row an example, its memories listed (docs/stores.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import shown
from .builder import Builder, some_of
from .generic import as_rank
from .registry import adapter, not_its_form, row_keys

_LISTS = ("memories", "core_memories", "archival_memories")
_DETAILS = ("memory_index", "created_at", "updated_at")
_AMEM_TEXTS = {"full": "full_text", "metadata": "metadata_text"}


def _recognises(content: Any) -> bool:
    """Of one row, without its instance_id: `ingest` takes the file apart."""
    if not isinstance(content, Mapping):
        return False
    lists = [content[key] for key in _LISTS if isinstance(content.get(key), list)]
    return bool(lists) and all(not rows or "memory_id" in row_keys(rows) for rows in lists)


@adapter(
    "written_stores",
    "written_stores",
    _recognises,
    views=("full", "metadata", "both", "combined", "core", "archival"),
    texts="text (full_text, metadata_text of A-Mem)",
)
def read(content: Any, builder: Builder, parts: Mapping[str, Any]) -> None:
    """The row's memories in their order, which is the order of time too: times are kept in the details only.

    A-Mem rows (full_text, metadata_text): view full unless told. Letta rows (core_memories, archival_memories):
    view combined, core first, unless told.
    """
    if not isinstance(content, Mapping) or not any(isinstance(content.get(key), list) for key in _LISTS):
        raise not_its_form("written_stores", f"rows with instance_id and one of the lists {', '.join(_LISTS)}")
    view = builder.options.view
    memories = _memories(content, view)
    ranks = _ranks(content.get("native_order"), len(memories), builder)
    for position, (own_view, row) in enumerate(memories):
        for memory in builder.rows([row], "memory"):
            rank = memory.get("native_order")
            builder.add_views(
                memory.get("memory_id"),
                _texts(memory, view, own_view),
                native_order=ranks.get(position, as_rank(rank, builder)),
                details=some_of(memory, *_DETAILS),
            )


def _memories(content: Mapping[str, Any], view: str | None) -> list[tuple[str, Any]]:
    """(view, row) of each memory."""
    core, archival = (content.get(key) or [] for key in _LISTS[1:])
    listed = content.get("memories") or []
    if view in ("core", "archival"):
        return [(view, row) for row in (core if view == "core" else archival)]
    if not core and not archival:
        return [("", row) for row in listed]
    if not listed:
        return [*(("core", row) for row in core), *(("archival", row) for row in archival)]
    cores = {_id(row) for row in core}
    return [("core" if _id(row) in cores else "archival", row) for row in listed]


def _id(row: Any) -> Any:
    return str(row.get("memory_id")) if isinstance(row, Mapping) else None


def _texts(memory: Mapping[str, Any], view: str | None, own_view: str) -> dict[str, Any]:
    """View -> text: A-Mem's two under their keys, else the one text under the list's own view."""
    if own_view or not set(_AMEM_TEXTS.values()) & set(memory):
        return {own_view: memory.get("text")}
    wanted = _AMEM_TEXTS if view == "both" else [view if view in _AMEM_TEXTS else "full"]
    return {name: memory.get(_AMEM_TEXTS[name]) for name in wanted}


def _ranks(order: Any, count: int, builder: Builder) -> dict[int, int]:
    """Position -> rank of a list of positions; those out of range are left out and counted."""
    if not isinstance(order, list):
        return {}
    known = [i for i in order if isinstance(i, int) and not isinstance(i, bool) and 0 <= i < count]
    if len(known) < len(order):
        builder.notes["native order: positions out of range"] += len(order) - len(known)
    if len(set(known)) < len(known):
        builder.warn("native order repeats", shown(order))
    return {position: rank for rank, position in enumerate(dict.fromkeys(known))}
