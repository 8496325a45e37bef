"""Mem0: open source listings of any version, hosted pages, TypeScript keys, raw vector payloads, and history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import plain, shown
from .builder import Builder, MadeId, first_of, some_of
from .registry import adapter, not_its_form, row_keys

# A listing of just so many rows probably stopped at the limit of its call.
_DEFAULT_LIMITS = (20, 100)
_DETAILS = (
    "agent_id",
    "run_id",
    "actor_id",
    "role",
    "attributed_to",
    "categories",
    "lifecycle_state",
    "expiration_date",
)
_EVENT_KEYS = {"event", "old_memory", "new_memory"}
_EVENT_ORDER = {"ADD": 0, "UPDATE": 1, "DELETE": 2}
_CREATED, _UPDATED = ("created_at", "createdAt"), ("updated_at", "updatedAt")


def _recognises(content: Any) -> bool:
    if isinstance(content, Mapping) and isinstance(content.get("results"), list):
        rows = content["results"]
        return _is_memory(rows) or (not rows and len(content) <= 5)
    if isinstance(content, list) and "results" in row_keys(content):
        return all(isinstance(page, Mapping) and _recognises(page) for page in content)
    return (isinstance(content, list) and _is_memory(content)) or is_history(content)


def _is_memory(rows: Any) -> bool:
    keys = row_keys(rows)
    payload = [row["payload"] for row in rows[:1] if isinstance(row, Mapping) and isinstance(row.get("payload"), dict)]
    return bool(keys & {"memory"}) or {"data", "hash"} <= keys or "data" in row_keys(payload)


def is_history(content: Any) -> bool:
    """Whether this is what `history(id)` gives: a list of events, or a map memory id -> events."""
    if isinstance(content, Mapping):
        return bool(content) and all(isinstance(v, list) and row_keys(v) >= _EVENT_KEYS for v in content.values())
    return isinstance(content, list) and row_keys(content) >= _EVENT_KEYS


@adapter("mem0", "mem0", _recognises, parts=("history",), texts="memory, data")
def read(content: Any, builder: Builder, parts: Mapping[str, Any]) -> None:
    """The listing's rows as memories, then deletions and changes of the history as tombstones.

    The time of a memory is that of its text: updated_at, else created_at. No supersession is invented.
    """
    if is_history(content) or (content == {} and parts):
        if content and parts:
            raise not_its_form("mem0", "two histories; name the listing (get_all) and give its history as a part")
        _read_history_alone(parts.get("history", content), builder)
        return
    pages = list(_pages(content))
    total = 0
    live: dict[str, str] = {}
    for page in pages:
        rows = page["results"]
        total += len(rows)
        for row in builder.rows(rows):
            row = {**row, **row["payload"]} if isinstance(row.get("payload"), Mapping) else row
            text = first_of(row, "memory", "data")
            if _add(row, text, builder) and row.get("id") is not None:
                live[str(row["id"])] = text
        if isinstance(page.get("relations"), list):
            builder.notes["graph relations not read"] += len(page["relations"])
    _tell_partial(pages, total, builder)
    histories = _histories(pages, parts)
    if histories:
        _read_history([event for history in histories for event in _events(history)], live, builder)


def _histories(pages: list[Mapping[str, Any]], parts: Mapping[str, Any]) -> list[Any]:
    """The histories of a listing: those under the key history of its pages, or the part."""
    own = [page["history"] for page in pages if page.get("history") is not None]
    if any(own) and parts.get("history"):
        raise not_its_form("mem0", "two histories, under the key history and as a part; keep one")
    return [*own, *(parts[name] for name in ("history",) if name in parts)]


def _read_history_alone(history: Any, builder: Builder) -> None:
    """The tombstones of a store of which nothing lives by its history; InputError where something does."""
    kinds: dict[str, set[Any]] = {}
    for event in _events(history):
        if isinstance(event, Mapping) and isinstance(event.get("event"), str):
            kinds.setdefault(str(event.get("memory_id")), set()).add(event["event"])
    living = sorted(memory_id for memory_id, own in kinds.items() if "DELETE" not in own)
    if living or not kinds:
        live = f", and by it memory {plain(living[0])} lives" if living else ""
        wanted = "name the listing (get_all), with this as part history"
        raise not_its_form("mem0", f"a history and no listing{live}; {wanted}")
    builder.warn(
        "no listing", "by the history all that it names is deleted; a listing (get_all) would say what is left"
    )
    _read_history(history, {}, builder)


def _pages(content: Any) -> Iterator[Mapping[str, Any]]:
    several = isinstance(content, list) and "results" in row_keys(content)
    for page in content if several else [content]:
        page = {"results": page} if isinstance(page, list) else page
        if not isinstance(page, Mapping) or not isinstance(page.get("results"), list):
            raise not_its_form("mem0", "a list of memories, or an object (or pages) whose results is one")
        yield page


def _add(row: Mapping[str, Any], text: Any, builder: Builder) -> bool:
    return builder.add(
        row.get("id"),
        text,
        time=builder.row_time(row, *_UPDATED, *_CREATED),
        superseded_by=None if row.get("replaced_by") is None else str(row["replaced_by"]),
        user_id=_text_or_none(first_of(row, "user_id", "userId")),
        details=some_of(row, *_DETAILS),
    )


def _text_or_none(value: Any) -> str | None:
    return None if value is None else str(value)


def _tell_partial(pages: list[Mapping[str, Any]], total: int, builder: Builder) -> None:
    counts = [page["count"] for page in pages if isinstance(page.get("count"), int)]
    if pages and pages[-1].get("next"):
        builder.partial("the last page names a next one; fetch all pages and list them")
    if pages and pages[0].get("previous"):
        builder.partial("the first page names a previous one; fetch all pages and list them")
    if counts and max(counts) > total:
        builder.partial(f"{total} of {max(counts)} memories; fetch all pages and list them")
    if not counts and total in _DEFAULT_LIMITS:
        builder.warn("a listing's default limit", f"exactly {total} rows; list again with a larger limit")


def _read_history(history: Any, live: Mapping[str, str], builder: Builder) -> None:
    events: dict[str, list[Mapping[str, Any]]] = {}
    for event in builder.rows(_events(history), "history event"):
        if not isinstance(event.get("event"), str) or event["event"] not in _EVENT_ORDER:
            builder.skip("history: no ADD, UPDATE or DELETE", f"event {shown(event.get('event'))}")
        elif event.get("memory_id") is None:
            builder.skip("history: no memory_id", f"event {shown(event.get('id'))}")
        else:
            events.setdefault(str(event["memory_id"]), []).append(event)
    if live and events and not set(live) & set(events):
        builder.warn("history of another store", "no memory of the listing is in it")
    for memory_id, own in events.items():
        _tombstones(memory_id, own, live, builder)


def _events(history: Any) -> list[Any]:
    if isinstance(history, Mapping):
        history = [event for events in history.values() for event in (events if isinstance(events, list) else [events])]
    if not isinstance(history, list):
        raise not_its_form("mem0", "history must be a list of events, or a map memory id -> events")
    return history


def _tombstones(memory_id: str, events: list[Mapping[str, Any]], live: Mapping[str, str], builder: Builder) -> None:
    """The events of one memory: ADD, then UPDATEs by time, then DELETE, whatever the order and times listed."""
    timed = [(event, builder.time(first_of(event, *_UPDATED, *_CREATED))) for event in events]
    timed.sort(key=lambda e: (_EVENT_ORDER[e[0]["event"]], e[1] is None, e[1].timestamp() if e[1] else 0.0))
    text, updates, deleted = None, 0, False
    for event, time in timed:
        old, new = event.get("old_memory"), event.get("new_memory")
        if event["event"] == "ADD":
            builder.skip("history: ADD")
        elif event["event"] == "UPDATE" and old == new:
            builder.skip("history: UPDATE that changes nothing")
        else:
            deleted = event["event"] == "DELETE"
            updates += not deleted
            mark = "deleted" if deleted else f"superseded.{updates}"
            gone = old if isinstance(old, str) else text
            # A deletion's created_at is that of the memory, so only updated_at says when it went.
            when = builder.time(first_of(event, *_UPDATED)) if deleted else time
            builder.tombstone(MadeId(f"{memory_id}#{mark}"), gone_text(gone), time=when, details={"of": memory_id})
        text = new if isinstance(new, str) else text
    if deleted and memory_id in live:
        builder.warn(
            "deleted and listed", f"memory {plain(memory_id)} is deleted in the history and stands in the listing"
        )
    if not deleted and text and text.strip() and memory_id not in live:
        builder.warn("not listed", f"memory {plain(memory_id)} lives by the history and does not stand in the listing")


def gone_text(text: Any) -> str:
    """The text of a tombstone: what is no longer so. Blank where nothing is known of it."""
    return f"No longer valid: {text}" if isinstance(text, str) and text.strip() else ""
