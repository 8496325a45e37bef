"""Letta: core memory blocks, archival listings, agent files (.af, version 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InputError, shown
from .builder import Builder, first_of, some_of
from .registry import adapter, not_its_form, row_keys, rows_under

_PAGE = 100
_BLOCKS = ("blocks", "core", "core_memory", "memory_blocks")
_PASSAGES = ("archival", "passages", "archival_memory")
_PASSAGE_KEYS = {"archive_id", "embedding_config"}


def _recognises(content: Any) -> bool:
    if isinstance(content, Mapping):
        blocks, passages = rows_under(content, *_BLOCKS), rows_under(content, *_PASSAGES)
        is_empty = blocks == [] and (passages is not None or "agents" in content)
        return _are_blocks(blocks) or _are_passages(passages) or is_empty
    return _are_blocks(content) or _are_passages(content)


def _are_blocks(rows: Any) -> bool:
    return isinstance(rows, list) and {"label", "value"} <= row_keys(rows)


def _are_passages(rows: Any) -> bool:
    if not isinstance(rows, list) or not row_keys(rows) & {"text", "contents"}:
        return False
    ids = [str(row.get("id")) for row in rows[:20] if isinstance(row, Mapping)]
    return bool(_PASSAGE_KEYS & row_keys(rows)) or all(i.startswith("passage-") for i in ids)


@adapter(
    "letta",
    "letta",
    _recognises,
    views=("combined", "core", "archival"),
    parts=("blocks", "archival"),
    texts="value (blocks), text, contents (passages)",
)
def read(content: Any, builder: Builder, parts: Mapping[str, Any]) -> None:
    """Blocks (view core), then passages (view archival). A passage's time is created_at: updated_at is when it was
    last touched. Blocks have none. `limit` is not a length: the text is what it is."""
    wanted = ("core", "archival") if builder.options.view in (None, "combined") else (builder.options.view,)
    blocks, passages = _parts(content, parts)
    if "core" in wanted and blocks is not None:
        for row in builder.rows(blocks, "block"):
            _add_block(row, builder)
    elif blocks:
        builder.notes["blocks of the other view"] += len(blocks)
    if "archival" in wanted and passages is not None:
        for row in builder.rows(passages, "passage"):
            _add_passage(row, builder)
        if len(passages) == _PAGE:
            builder.warn("a listing's default limit", f"exactly {_PAGE} passages; list again with a larger limit")
    elif passages:
        builder.notes["passages of the other view"] += len(passages)
    if "archival" in wanted and passages is None and isinstance(content, Mapping) and "agents" in content:
        builder.warn("no archival passages", "an agent file holds none; give the archival listing as part archival")
    if wanted == ("archival",) and passages is None:
        raise InputError("view archival: there is no archival listing; export it, or choose view core")
    if wanted == ("core",) and blocks is None:
        raise InputError("view core: there are no blocks; export them, or choose view archival")


def _parts(content: Any, parts: Mapping[str, Any]) -> tuple[list | None, list | None]:
    """Blocks and passages of the main file, then those of the further files."""
    blocks = passages = None
    if isinstance(content, Mapping):
        blocks, passages = _lists(content, _BLOCKS), _lists(content, _PASSAGES)
    elif isinstance(content, list) and row_keys(content) & {"label", "value"}:
        blocks = content
    elif isinstance(content, list):
        passages = content
    more_blocks, more_passages = _of_part("blocks", parts, _BLOCKS), _of_part("archival", parts, _PASSAGES)
    if more_blocks is not None:
        blocks = [*(blocks or []), *more_blocks]
    if more_passages is not None:
        passages = [*(passages or []), *more_passages]
    if blocks is None and passages is None:
        raise not_its_form("letta", "a list of blocks or passages, or an object with blocks and archival")
    return blocks, passages


def _lists(content: Mapping[str, Any], keys: tuple[str, ...]) -> list | None:
    """All rows under the keys; None where there is none of these."""
    found = {key: content[key] for key in keys if content.get(key) is not None}
    for key, rows in found.items():
        if not isinstance(rows, list):
            raise not_its_form("letta", f"{key} must be a list, and is {shown(rows)}")
    return [row for rows in found.values() for row in rows] if found else None


def _of_part(name: str, parts: Mapping[str, Any], keys: tuple[str, ...]) -> list | None:
    """The rows of a further file; None without it."""
    if name not in parts:
        return None
    content = parts[name]
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], Mapping):  # an object on one line
        content = content if _lists(content[0], keys) is None else content[0]
    rows = _lists(content, keys) if isinstance(content, Mapping) else content
    if not isinstance(rows, list):
        raise not_its_form("letta", f"part {name} must be a list, or an object with one under {', '.join(keys)}")
    return rows


def _add_block(row: Mapping[str, Any], builder: Builder) -> None:
    text, limit = row.get("value"), row.get("limit")
    if isinstance(text, str) and isinstance(limit, int) and len(text) > limit:
        builder.warn(
            "longer than its limit", f"block {shown(row.get('label'))} has {len(text)} characters, limit {limit}"
        )
    builder.add(
        first_of(row, "id", "label"),
        text,
        view="core",
        time=builder.row_time(row) if builder.options.time_key else None,
        details=some_of(row, "label", "limit", "description", "read_only", "tags"),
    )


def _add_passage(row: Mapping[str, Any], builder: Builder) -> None:
    if row.get("is_deleted") is True:
        builder.skip("deleted passage")
        return
    builder.add(
        row.get("id"),
        first_of(row, "text", "contents"),
        view="archival",
        time=builder.row_time(row, "created_at", "createdAt"),
        details=some_of(row, "tags", "archive_id"),
    )
