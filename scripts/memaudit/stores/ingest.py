"""From parsed files to stores: whose format it is, which examples it holds, and what each one keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import InputError, closest, listed, nearest, plain, shown
from ..natural import strict_json
from .adapters import ADAPTERS
from .builder import Builder, dotted_keys, lookup
from .generic import ROLES, check_columns, text_keys
from .model import DEFAULT_OPTIONS, Ingest, IngestOptions, Store
from .refused import refused_json
from .registry import Adapter, fitting, guess, named, row_keys, rows_under

_ROW_LISTS = ("results", "edges", "items", "memories", "rows", "data")
_SHOWN_IDS, _SHOWN_KEYS = 5, 20
# The one note on a file that is true of each store in it.
COLUMNS_NOT_READ = "columns not read"
EMPTY_FILE = "empty file"


@dataclass(frozen=True)
class Document:
    """A file, parsed. content: JSON, a list of rows, or text; where: the file, for messages; faults: (reason,
    detail) of each line that could not be read; notes: what was left out, with counts; is_text: no JSON; keys: the
    columns of a table, read or not; is_lines: content lists the values of JSON lines; is_empty: the file holds nothing
    but blanks, not even an empty list."""

    content: Any
    where: str
    faults: tuple[tuple[str, str], ...] = ()
    notes: Mapping[str, int] = field(default_factory=dict)
    is_text: bool = False
    keys: tuple[str, ...] = ()
    is_lines: bool = False
    is_empty: bool = False


def ingest(
    document: Document,
    options: IngestOptions = DEFAULT_OPTIONS,
    parts: Mapping[str, Document] | None = None,
    default_id: str | None = None,
) -> list[Ingest]:
    """The stores in a document, in its order.

    Which example a store is of: `instance_id` of the options; key `instance_id` beside the store or in every row
    (or the rows' `instance_key`); the key of a map example id -> store; else `default_id` (a file's name in a
    folder of them); else none. Raises InputError naming the file on an unknown or refused format, a repeated
    example, and, in strict mode, on a partial export or any warning.
    """
    check_columns(options.columns)
    parts = dict(parts or {})
    try:
        content = document.content if document.is_text else _unwrapped(document.content)
        reason = refused_json(content)
        if reason:
            raise InputError(reason)
        adapter = named(options.format) if options.format else None
        if adapter is None and options.columns:
            adapter = named("generic")
        if options.columns and adapter.name != "generic":
            raise InputError(
                f"columns are for rows of any origin (format generic), and format {adapter.name} has its own"
            )
        if document.is_lines:
            content = _lone(content, adapter, options)
        found = list(_stores(content, adapter, options, document.keys))
        _refuse_repeats(i for i, _ in found)
        if parts and len(found) > 1:
            raise InputError(f"the file holds {len(found)} stores and further files belong to one; give each its own")
        # An empty list may be of any format: it is of the others'.
        adapter = adapter or _guessed(next((c for _, c in found if c != []), []), parts, document.keys)
        out, rest = [], document
        for instance_id, own in found:
            out.append(_read(replace(rest, content=own), adapter, options, parts, instance_id or default_id))
            of_each = {key: n for key, n in document.notes.items() if key == COLUMNS_NOT_READ}
            rest = replace(document, faults=(), notes=of_each, is_empty=False)
        return out
    except InputError as error:
        raise InputError(f"{document.where}: {error}") from error


def _unwrapped(content: Any) -> Any:
    """Some agent files are a JSON string that holds the JSON."""
    if not isinstance(content, str):
        return content
    try:
        return strict_json.loads(content)
    except ValueError as error:
        raise InputError(f"the JSON is one string, and what it holds is no JSON ({shown(str(error))})") from error


def _guessed(content: Any, parts: Mapping[str, Any], keys: Sequence[str]) -> Adapter:
    if content in ({}, []) and parts:  # no main file, or one that any format may have written
        return next(a for a in ADAPTERS.values() if set(parts) & set(a.parts))
    found = guess(content)
    if found is None:
        raise InputError(_unknown_format(content, keys))
    return found


def _unknown_format(content: Any, keys: Sequence[str]) -> str:
    """What is said of a content that no adapter recognises: of rows that nothing in them is known as a text. `keys`:
    the columns of a table."""
    rows = [row for row in rows_under(content, *_ROW_LISTS) or () if isinstance(row, Mapping)]
    if rows:
        return _no_text("row", rows, ", ".join(ROLES["text"]), keys)
    held = f"an object with the keys {shown(sorted(content)[:8])}" if isinstance(content, Mapping) else "no store"
    names = ", ".join(sorted(ADAPTERS))
    return f"no known format ({held}); name one of {names}, or give a column map for rows of your own"


def _no_text(what: str, rows: list[Any], texts: str, keys: Iterable[str] = ()) -> str:
    """What is said of rows none of which has a text; `keys`: those of a table beside what was read of it."""
    held = listed({*map(str, row_keys(rows)), *keys}, _SHOWN_KEYS)
    return (
        f"no {what} has a text: the first of {len(rows)} have the keys {held}, and texts, as strings, stand under "
        f"{texts}; export the texts, or name their key in a column map (text: the key)"
    )


def _refuse_textless(builder: Builder, adapter: Adapter, instance_id: str | None) -> None:
    """InputError where a kind of rows has no text at all: the key is another one, and the store not an empty one."""
    found = builder.textless()
    if found is None:
        return
    texts = adapter.texts or ", ".join(text_keys(builder.options.columns))
    of = "" if instance_id is None else f"example {plain(instance_id)}: "
    raise InputError(of + _no_text(*found, texts, builder.keys))


def _lone(rows: list[Any], adapter: Adapter | None, options: IngestOptions) -> Any:
    """Of JSON lines that hold one value that value, where it is a store and no row of one; else the rows."""
    if len(rows) != 1 or isinstance(rows[0], str):
        return rows
    key = options.columns.get("text") or options.example_key
    if isinstance(rows[0], list):
        return rows[0]
    is_store = _is_whole(rows[0], adapter, "instance_id") or _is_map_of_stores(rows[0], adapter)
    return rows[0] if key is None and not _is_store(rows, adapter) and is_store else rows


def _of_part(part: Document, adapter: Adapter, options: IngestOptions) -> Any:
    """The content of a further file, whatever it is wrapped in."""
    try:
        content = part.content if part.is_text else _unwrapped(part.content)
    except InputError as error:
        raise InputError(f"{part.where}: {error}") from error
    return _lone(content, adapter, options) if part.is_lines else content


def _is_store(content: Any, adapter: Adapter | None) -> bool:
    known = adapter.recognises(content) if adapter else bool(fitting(content))
    return known or _is_map_of_stores(content, adapter)


def _read(
    document: Document,
    adapter: Adapter,
    options: IngestOptions,
    parts: Mapping[str, Document],
    instance_id: str | None,
) -> Ingest:
    """The one store of a document."""
    adapter.view(options.view)  # InputError where it has none such
    for part in parts:
        if part not in adapter.parts:
            has = ", ".join(adapter.parts) or "none"
            raise InputError(f"part {shown(part)}: format {adapter.name} takes the parts {has}")
    builder = Builder(adapter.system, adapter.name, options)
    builder.saw(key for key in document.keys if key != "instance_id")
    adapter.read(document.content, builder, {name: _of_part(part, adapter, options) for name, part in parts.items()})
    _refuse_textless(builder, adapter, instance_id)
    for name, source in (("file", document), *((f"part {name}", part) for name, part in parts.items())):
        builder.faults(source.faults)
        builder.notes.update(source.notes)
        if source.is_empty:
            builder.warn(EMPTY_FILE, f"the {name} holds nothing, not even an empty list; export it again if it should")
    return builder.finish(instance_id)


def _stores(
    content: Any, adapter: Adapter | None, options: IngestOptions, keys: Sequence[str]
) -> Iterator[tuple[str | None, Any]]:
    """(example id or None, content) of each store in the content; `keys`: the columns of a table."""
    if options.instance_id is not None:
        yield options.instance_id, content
    elif options.example_key is not None or _all_have(content, "instance_id"):
        yield from _by_key(content, adapter, options, keys)
    elif isinstance(content, Mapping) and isinstance(content.get("instance_id"), str | int):
        rest = {key: value for key, value in content.items() if key != "instance_id"}
        yield str(content["instance_id"]), rest.get("store", rest)
    elif _is_map_of_stores(content, adapter):
        yield from content.items()
    else:
        yield None, content


def _all_have(content: Any, key: str) -> bool:
    rows = content if isinstance(content, list) else []
    return bool(rows) and all(isinstance(row, Mapping) and row.get(key) is not None for row in rows)


def _by_key(
    content: Any, adapter: Adapter | None, options: IngestOptions, keys: Sequence[str]
) -> Iterator[tuple[str, Any]]:
    """The rows by the example that they name; a row that is a whole store by itself."""
    key = options.example_key or "instance_id"
    rows = rows_under(content, *_ROW_LISTS)
    if rows is None:
        raise InputError(f"instance_key {shown(key)}: the file holds no list of rows")
    if rows and all(lookup(row, key) is None for row in rows):
        known = {*dotted_keys(rows), *keys}
        raise InputError(f"instance_key: no row has {shown(key)}; {nearest(key, known, _SHOWN_KEYS)}")
    groups: dict[str, list[Any]] = {}
    for number, row in enumerate(rows, start=1):
        value = lookup(row, key) if isinstance(row, Mapping) else None
        if not isinstance(value, str | int) or isinstance(value, bool):
            raise InputError(
                f"row {number}: {plain(key)} is {shown(value)}, no example id; add it, or name another key"
            )
        groups.setdefault(str(value), []).append({k: v for k, v in row.items() if k != "instance_id"})
    are_stores = options.columns.get("text") is None and _are_stores(groups.values(), adapter, key)
    for instance_id, own in groups.items():
        is_store = are_stores or ADAPTERS["written_stores"].recognises(own[0])
        whole = own[0].get("store", own[0] if is_store else None)
        if whole is None:
            yield instance_id, _wrapped_again(content, rows, own)
            continue
        if len(own) > 1:
            raise InputError(f"example {plain(instance_id)} stands in {len(own)} rows, each a whole store; keep one")
        yield instance_id, whole


def _are_stores(groups: Collection[list[Any]], adapter: Adapter | None, key: str) -> bool:
    """Whether the rows of examples are stores and no rows of one."""
    return not any(_is_store(own, adapter) for own in groups) and any(_is_whole(own[0], adapter, key) for own in groups)


def _is_whole(row: Any, adapter: Adapter | None, key: str) -> bool:
    """Whether an object that names its example under `key` is a store and no row of one. Of any origin it may be a row
    whose text has an unknown key, unless there are texts in its list, or the list is all that it holds."""
    if not isinstance(row, Mapping):
        return False
    has_rows = bool(row_keys(rows_under(row, *_ROW_LISTS)) & set(ROLES["text"])) or len(set(row) - {key}) == 1
    return any(one.recognises(row) and (has_rows or one.name != "generic") for one in _of(adapter, row))


def _of(adapter: Adapter | None, content: Any) -> list[Adapter]:
    return [adapter] if adapter else fitting(content)


def _wrapped_again(content: Any, rows: list[Any], own: list[Any]) -> Any:
    """One example's rows in what all rows stood in, so that a next page or missing rows still show."""
    if not isinstance(content, Mapping):
        return own
    if "history" in content:
        raise InputError("instance_key does not split a history; give each example a file of its own")
    out = {key: own if value is rows else value for key, value in content.items()}
    if isinstance(out.get("count"), int):
        out["count"] += len(own) - len(rows)
    return out


def _is_map_of_stores(content: Any, adapter: Adapter | None) -> bool:
    """Whether it is no store itself, and each of its values is one (of the same format; empty lists fit any)."""
    if not isinstance(content, Mapping) or not content:
        return False
    if not all(isinstance(value, list | Mapping) for value in content.values()):
        return False
    if adapter.recognises(content) if adapter else guess(content):
        return False
    if adapter is not None:
        return all(value == [] or adapter.recognises(value) for value in content.values())
    formats = {found.name if (found := guess(value)) else "" for value in content.values() if value != []}
    return len(formats) == 1 and formats != {""}


def _refuse_repeats(ids: Iterable[str | None]) -> None:
    seen = set()
    for i in ids:
        if i is not None and i in seen:
            raise InputError(f"example {plain(i)} has two stores; keep one")
        seen.add(i)


@dataclass(frozen=True)
class Matched:
    """stores: package id -> store; without: packages that have none; unknown: examples that no package is of."""

    stores: Mapping[str, Store]
    without: tuple[str, ...]
    unknown: tuple[str, ...]


def match(stores: Iterable[Store], package_ids: Iterable[str], where: str) -> Matched:
    """The stores by package. One store without an example id fits one package.

    Raises InputError naming `where` (the export) and the nearest of the expected ids where no store is of a package,
    where an id is missing, and where two stores are of one package.
    """
    stores, expected = list(stores), sorted(package_ids)
    wanted = f"expected {_some(expected)}" + (" of the suite's questions" if len(expected) > _SHOWN_IDS else "")
    if len(stores) == 1 and stores[0].instance_id is None and len(expected) == 1:
        stores = [replace(stores[0], instance_id=expected[0])]
    if any(store.instance_id is None for store in stores):
        raise InputError(
            f"{where}: a store does not say which example it is of; {wanted}: set instance_id, or add a key "
            f"instance_id to the file, or call it after the example in a folder of them"
        )
    ids = [store.instance_id for store in stores]
    try:
        _refuse_repeats(ids)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    known = {store.instance_id: store for store in stores if store.instance_id in set(expected)}
    if stores and not known:
        raise InputError(
            f"{where}: no store is of an example of the package; found {_some(sorted(ids))}, "
            f"{_nearest_of(ids, expected) or wanted}: set instance_id, or the file's name in a folder of them, to the "
            f"id of the question that the store is of"
        )
    unknown = tuple(sorted(set(ids) - set(known)))
    return Matched(dict(sorted(known.items())), tuple(i for i in expected if i not in known), unknown)


def _nearest_of(ids: Iterable[str], expected: Sequence[str]) -> str:
    """The expected ids that are most like those found; empty where none is."""
    near = {name for i in sorted(ids)[:_SHOWN_IDS] for name in closest(i, expected)}
    return f"nearest expected: {_some(sorted(near))}" if near else ""


def foreign_users(store: Store, package_ids: Iterable[str]) -> dict[str, int]:
    """user_id -> memories, of those users whose id is that of another example than the store's: are rows mixed up?"""
    others = set(package_ids) - {store.instance_id}
    users = Counter(m.user_id for m in store.memories if m.user_id in others)
    return dict(sorted(users.items()))


def _some(ids: list[str]) -> str:
    shown_ids = ", ".join(shown(i) for i in ids[:_SHOWN_IDS])
    return f"{shown_ids} and {len(ids) - _SHOWN_IDS} more" if len(ids) > _SHOWN_IDS else shown_ids or "none"
