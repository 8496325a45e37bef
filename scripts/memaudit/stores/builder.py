"""Collects the memories of one store from an adapter, and counts what becomes of every row."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count, islice
from typing import Any

from ..errors import InputError, cut, nearest, plain, shown
from .model import MAX_ID, MEMORY, NO_TEXT, TOMBSTONE, Ingest, IngestOptions, IngestReport, Memory, Store
from .times import to_utc

# Fields of a memory that a rule may order by, besides its time.
RANKS = ("salience", "native_order")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# Every time of a store within this span is the time of an import, not of what the memories say.
_IMPORT_SPAN = timedelta(seconds=1)
# Fields of a memory that are ids, beside its own.
_ID_FIELDS = ("group", "superseded_by", "user_id")
_SHOWN_IDS = 5
_SHOWN_KEYS = 20
# Rows that are looked at for the keys of all.
SAMPLED_ROWS = 20
NO_SALIENCE = "memories without salience"


class MadeId(str):
    """An id that an adapter made up, for a row that has none in the export."""


class Builder:
    """One store in the making.

    An adapter goes through `rows(...)` and ends each row in one `add`, `tombstone` or `skip`.
    """

    def __init__(self, system: str, format_name: str, options: IngestOptions):
        self.options = options
        self.notes: Counter[str] = Counter()
        self._system, self._format = system, format_name
        self._memories: list[Memory] = []
        self._read = self._kept = self._tombstones = 0
        self._skipped: Counter[str] = Counter()
        self._warnings: dict[str, tuple[int, str]] = {}
        self._partial: list[str] = []
        self._wanted: list[str] = []  # the id of each row that is kept
        self._added: list[int] = []  # of each of the memories, the place of its row there
        self._taken: set[str] = set()
        self._timed = False  # whether a row has a time where one was looked for
        self._untimed: list[Mapping[str, Any]] = []  # the first rows that have none
        self._untimed_count = 0
        self._columns: dict[str, dict[str, None]] = {}
        self._keys: dict[str, None] = {}
        self._examples: Counter[str] = Counter()
        self._user: str | None = None
        self._row: tuple[str, Any] = ("row", None)
        self._with_text: Counter[str] = Counter()
        self._without_text: dict[str, list[Any]] = {}

    def rows(self, rows: Iterable[Any], what: str = "row") -> Iterator[Mapping[str, Any]]:
        """The objects among `rows`, each counted as read; anything else is skipped with a warning."""
        for number, row in enumerate(rows, start=1):
            self._read += 1
            self._user = None
            self._row = (what, row)
            if isinstance(row, Mapping):
                self._saw_owner(row)
                yield row
            else:
                self.saw_text(False)
                self.skip(f"{what} is no object", f"{what} {number} is {shown(row)}")

    def _saw_owner(self, row: Mapping[str, Any]) -> None:
        """Whose row it is, and of which example, where it says so: rows of others may have got in."""
        user, example = first_of(row, "user_id", "userId"), row.get("instance_id")
        self._user = str(user) if isinstance(user, str | int) else None
        if isinstance(example, str | int):
            self._examples[_clean(str(example))] += 1

    def count_row(self, row: Any = None, what: str = "row") -> int:
        """Count a row that is not one of `rows`; its position."""
        self._read += 1
        self._user = None
        self._row = (what, row)
        return self._read - 1

    def saw_text(self, found: bool) -> None:
        """Whether the current row has a string where texts of its kind stand, be it blank. `add` says so itself."""
        what, row = self._row
        if found:
            self._with_text[what] += 1
        else:
            self._without_text.setdefault(what, []).append(row)

    def textless(self) -> tuple[str, list[Any]] | None:
        """A kind of rows ("row", "passage", ...) none of which had a text, and those rows; None where there is none."""
        lacking = (pair for pair in self._without_text.items() if not self._with_text[pair[0]])
        return next(lacking, None)

    def skip(self, reason: str, detail: str | None = None, count: int = 1) -> None:
        """The current row gives no memory. With `detail` it is odd, and a warning besides."""
        self._skipped[reason] += count
        if detail is not None:
            self.warn(reason, detail, count)

    def faults(self, faults: Iterable[tuple[str, str]]) -> None:
        """Rows that could not even be parsed: (reason, detail)."""
        for reason, detail in faults:
            self._read += 1
            self.skip(reason, detail)

    def warn(self, kind: str, detail: str, count: int = 1) -> None:
        before, first = self._warnings.get(kind, (0, cut(_clean(detail))))
        self._warnings[kind] = (before + count, first)

    def partial(self, reason: str) -> None:
        """The export is not the whole store."""
        self._partial.append(reason)

    def time(self, value: Any, read: Callable[[Any], datetime | None] = to_utc) -> datetime | None:
        """The time, or None with a warning where it cannot be read."""
        try:
            return read(value)
        except ValueError as error:
            self.warn("unreadable time", str(error))
            return None

    def row_time(self, row: Mapping, *keys: str, read: Callable[[Any], datetime | None] = to_utc) -> datetime | None:
        """The time under `time_key`, if one is configured, else under the first of `keys` that holds one."""
        keys = (self.options.time_key,) if self.options.time_key else keys
        value = next((v for v in (lookup(row, key) for key in keys) if v not in (None, "")), None)
        self._timed |= value is not None
        self._untimed_count += value is None
        if value is None and len(self._untimed) < SAMPLED_ROWS:
            self._untimed.append(row)
        return self.time(value, read)

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys that rows of any origin were said to have (`saw`)."""
        return tuple(self._keys)

    def saw(self, keys: Iterable[str], read: Mapping[str, str] | None = None) -> None:
        """Keys of a row of any origin, and those that it was read from: role -> dotted key."""
        self._keys.update(dict.fromkeys(keys))
        for role, key in (read or {}).items():
            self._columns.setdefault(role, {})[key] = None

    def add(self, memory_id: Any, text: Any, *, view: str = "", **more) -> bool:
        """Keep the current row; False where it is skipped: without text, or, with a warning, of another type.

        `more`: fields of Memory.
        """
        return self._add(memory_id, {view: text}, MEMORY, more)

    def add_views(self, memory_id: Any, texts: Mapping[str, Any], **more) -> bool:
        """`add` of one memory under several views, view -> text; views without text are left out.

        `sizes`: view -> size of the whole text, of views whose text lacks a part.
        """
        return self._add(memory_id, texts, MEMORY, more)

    def tombstone(self, memory_id: Any, text: str, **more) -> bool:
        """Keep the current row as a tombstone, if these are wanted."""
        if not self.options.tombstones:
            self.saw_text(True)
            self.skip("tombstone, switched off")
            return False
        return self._add(memory_id, {"": text}, TOMBSTONE, more)

    def _add(self, memory_id: Any, texts: Mapping[str, Any], kind: str, more: dict[str, Any]) -> bool:
        position = self._read - 1
        wanted = self._id(memory_id, position)
        if not isinstance(wanted, MadeId):
            self._taken.add(wanted)
        self.saw_text(any(isinstance(text, str) for text in texts.values()))
        odd = next((text for text in texts.values() if not isinstance(text, str | None)), None)
        if odd is not None:
            self.skip("text is no string", f"row {position + 1}: {shown(odd)}")
            return False
        views = {view: text for view, text in texts.items() if text and text.strip()}
        if not views:
            self.skip(NO_TEXT)
            return False
        more["user_id"] = self._user if more.get("user_id") is None else more["user_id"]
        more = {key: _clean(value) if isinstance(value, str) else value for key, value in more.items()}
        for key, value in (("id", str(wanted)), *((key, more.get(key)) for key in _ID_FIELDS)):
            _refuse_long_id(value, key, f"row {position + 1}")
        if isinstance(wanted, MadeId) and not isinstance(memory_id, MadeId):
            self.warn("no id", f"row {position + 1}: id is {shown(memory_id)}; it is called {wanted}")
        self._wanted.append(wanted)
        group, sizes = more.pop("group", None) or "", more.pop("sizes", {})
        self._taken |= {name for name in (group, more.get("superseded_by")) if name}
        for view, text in views.items():
            own = {"view": view, "representation_type": kind, "size": sizes.get(view)}
            self._memories.append(Memory("", self._text(text), position, group, **own, **more))
            self._added.append(len(self._wanted) - 1)
        if kind == MEMORY:
            self._kept += 1
        else:
            self._tombstones += 1
        return True

    def _id(self, memory_id: Any, position: int) -> str:
        if isinstance(memory_id, int) and not isinstance(memory_id, bool):
            memory_id = str(memory_id)
        if not isinstance(memory_id, str) or not memory_id:
            return MadeId(f"row-{position + 1}")
        clean = _clean(memory_id)
        return MadeId(clean) if isinstance(memory_id, MadeId) else clean

    def _named(self) -> list[Memory]:
        """The memories with their names. The first that has an id in the export keeps it; one that repeats it, or has
        none, gets a name that is no id (nor group, nor superseded_by) there, so that it is not mistaken for another."""
        names: list[str] = []
        used: set[str] = set()
        for wanted in self._wanted:
            name = wanted
            if name in used or (isinstance(wanted, MadeId) and name in self._taken):
                numbered = (f"{wanted}#{number}" for number in count(2))
                name = next(made for made in numbered if made not in used and made not in self._taken)
                self.warn("repeated id", f"{plain(wanted)} stands again; it is called {plain(name)}")
            names.append(str(name))
            used.add(names[-1])
        pairs = ((memory, names[added]) for memory, added in zip(self._memories, self._added, strict=True))
        return [replace(memory, memory_id=name, group=memory.group or name) for memory, name in pairs]

    def _text(self, text: str) -> str:
        clean = _clean(text)
        if clean != text:
            self.warn("half a surrogate pair", f"replaced by U+FFFD in {shown(clean)}")
        return clean

    def finish(self, instance_id: str | None) -> Ingest:
        """The store and its report. InputError in strict mode where the export is partial or there is a warning."""
        instance_id = None if instance_id is None else _clean(instance_id)
        _refuse_long_id(instance_id, "example's id", "the store")
        self._memories = self._named()
        self._warn_of_time_key()
        self._warn_of_import_times()
        self._warn_of_users()
        self._warn_of_examples(instance_id)
        self._warn_of_salience()
        name = self.options.name or self._system
        report = IngestReport(
            name,
            self._system,
            self._format,
            instance_id,
            self._read,
            self._kept,
            self._tombstones,
            _duplicates(self._memories),
            dict(sorted(self._skipped.items())),
            dict(sorted(self._warnings.items())),
            tuple(self._partial),
            dict(sorted(self.notes.items())),
            {role: tuple(keys) for role, keys in self._columns.items()},
            self._ignored(),
            tuple(name for name in RANKS if any(getattr(m, name) is not None for m in self._memories)),
        )
        refuse_if_strict(report, self.options)
        return Ingest(Store(name, self._system, instance_id, tuple(in_time_order(self._memories))), report)

    def _ignored(self) -> tuple[str, ...]:
        if not self._columns:  # a format of its own, whose keys docs/stores.md tells
            return ()
        read = {key for keys in self._columns.values() for key in keys} | {self.options.example_key}
        read |= {key.split(".")[0] for key in read if key is not None}
        return tuple(sorted(key for key in map(_clean, map(str, self._keys)) if key not in read))

    def _warn_of_time_key(self) -> None:
        key = self.options.time_key
        if key is not None and self._timed and self._untimed_count:
            self.notes[f"rows without a time under {shown(key)}"] += self._untimed_count
        if key is None or self._timed or not (self._untimed or self._kept):
            return
        known = {*dotted_keys(self._untimed), *self._keys}
        told = nearest(key, known, _SHOWN_KEYS) if self._untimed else f"format {self._format} reads no times"
        self.warn("time_key of no row", f"no row has a time under {shown(key)}; {told}", self._kept)

    def _warn_of_import_times(self) -> None:
        times = [m.time for m in self._memories if m.time is not None and m.representation_type == MEMORY]
        if len(times) > 1 and max(times) - min(times) <= _IMPORT_SPAN:
            self.warn(
                "times of an import",
                f"all {len(times)} times lie within one second of {min(times).isoformat()}; where the true times "
                f"stand under another key, name it as time_key",
            )

    def _warn_of_users(self) -> None:
        users = Counter(m.user_id for m in self._memories if m.user_id is not None)
        if len(users) > 1:
            self.warn("several users", f"{_tally(users)}; export one, or split the rows by instance_key", len(users))

    def _warn_of_examples(self, instance_id: str | None) -> None:
        others = Counter({example: n for example, n in self._examples.items() if example != instance_id})
        if others:
            of = "that names none" if instance_id is None else f"of {plain(instance_id)}"
            self.warn(
                "rows of another example",
                f"{_tally(others)} in the store {of}; give each example a file of its own, or all rows an instance_id",
                others.total(),
            )

    def _warn_of_salience(self) -> None:
        without = [m.memory_id for m in self._memories if m.salience is None]
        if 0 < len(without) < len(self._memories):
            self.warn(NO_SALIENCE, f"the first is {plain(without[0])}; rule salience never keeps them", len(without))


def _tally(counts: Counter[str]) -> str:
    """Ids with their counts, the most frequent first."""
    listed = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    more = f" and {len(listed) - _SHOWN_IDS} more" if len(listed) > _SHOWN_IDS else ""
    return ", ".join(f"{shown(name)}: {count}" for name, count in listed[:_SHOWN_IDS]) + more


def _refuse_long_id(value: Any, what: str, where: str) -> None:
    if isinstance(value, str) and len(value) > MAX_ID:
        raise InputError(
            f"{where}: its {what} has {len(value)} characters, an id at most {MAX_ID}: {shown(value)}; shorten it, or "
            f"read it from another key"
        )


def refuse_if_strict(report: IngestReport, options: IngestOptions) -> None:
    """InputError in strict mode where the export is partial or there is a warning."""
    if options.strict and (report.partial or report.warnings):
        raise InputError(f"refused in strict mode; mend the export, or read it without strict:\n{report}")


def in_time_order(memories: Iterable[Memory]) -> list[Memory]:
    """By time, equal times by position; memories without a time keep their place in the export."""
    listed = sorted(memories, key=lambda m: m.position)
    dated = iter(sorted((m for m in listed if m.time is not None), key=lambda m: m.time))
    return [m if m.time is None else next(dated) for m in listed]


def lookup(row: Any, key: str) -> Any:
    """The value under a dotted key ("metadata.timestamp"); a key that stands in the row as it is comes first."""
    if isinstance(row, Mapping) and key in row:
        return row[key]
    for part in key.split("."):
        if not isinstance(row, Mapping) or part not in row:
            return None
        row = row[part]
    return row


def dotted_keys(rows: Any) -> set[str]:
    """The keys of the first rows of a list of objects, and those of objects inside, dotted: note.body."""
    out = set()
    for row in islice(rows if isinstance(rows, list) else (), SAMPLED_ROWS):
        out |= set(_dotted(row, ""))
    return out


def _dotted(value: Any, before: str, depth: int = 3) -> Iterator[str]:
    for key, inner in value.items() if isinstance(value, Mapping) and depth else ():
        yield f"{before}{key}"
        yield from _dotted(inner, f"{before}{key}.", depth - 1)


def first_of(row: Mapping, *keys: str) -> Any:
    """The first value under `keys` that is not None."""
    return next((row[key] for key in keys if row.get(key) is not None), None)


def some_of(row: Mapping, *keys: str) -> dict[str, Any]:
    """What the row holds under `keys`; null, empty lists and objects left out."""
    return {key: row[key] for key in keys if row.get(key) not in (None, [], {}, "")}


def _clean(text: str) -> str:
    return _LONE_SURROGATE.sub("\ufffd", text)


def _duplicates(memories: Iterable[Memory]) -> int:
    texts = [(m.view, m.representation_type, unicodedata.normalize("NFC", m.text), m.size) for m in memories]
    return len(texts) - len(set(texts))
