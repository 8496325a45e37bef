"""What a store is once it is read: its memories, and the report of how they were read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..errors import count_of, listed, plain
from ..package import TextSize, size_of

# Bytes of a file that are parsed, embeddings left out: parsed JSON takes up to thirty times its size in memory.
MAX_PARSED = 48 << 20
# Characters of an id, whatever it is of. What is longer is a text under the wrong key.
MAX_ID = 1_000
# Keys that the report names on its line of what was ignored.
_SHOWN_KEYS = 40
MEMORY, TOMBSTONE = "memory", "tombstone"
# Why a row without a text is skipped.
NO_TEXT = "no text"


@dataclass(frozen=True)
class Memory:
    """One memory of a store.

    text: as stored, except that half a surrogate pair is U+FFFD. position: place of its row in the export, from 0.
    time: aware UTC, None where unknown. view: which rendering it is ("" where the system has one). group: shared
    by the views of one memory. native_order: rank in the system's own retrieval order, from 0. salience in [0, 1].
    superseded_by: memory id. details: other metadata, JSON values. size: of the whole text, where a part of it
    stands elsewhere and `text` has a mark in its place; None where `text` is whole.
    """

    memory_id: str
    text: str
    position: int
    group: str
    time: datetime | None = None
    view: str = ""
    representation_type: str = MEMORY
    native_order: int | None = None
    salience: float | None = None
    superseded_by: str | None = None
    invalid_at: datetime | None = None
    user_id: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    size: TextSize | None = None

    @property
    def whole_size(self) -> TextSize:
        """What the whole text measures."""
        return size_of(self.text) if self.size is None else self.size


@dataclass(frozen=True)
class Store:
    """The store of one example. memories: by time, then position (the place in it is the time index); those
    without a time keep their place in the export. instance_id: None where the export does not say."""

    name: str
    system: str
    instance_id: str | None
    memories: tuple[Memory, ...]


@dataclass(frozen=True)
class IngestReport:
    """How a store was read. read = kept + tombstones + all skipped (rows; views of one row count once).

    skipped: reason -> rows. warnings: kind -> (count, first detail). partial: why the export is not the whole
    store, empty where nothing says so. duplicates: memories whose text (as NFC) an earlier one of the same view
    has. notes: what was left out that is no row (numeric arrays, graph relations), with counts. columns: of rows of
    any origin, role -> keys that it was read from; ignored: keys of such rows that were not read. ranked: whether a
    memory has a salience ("salience"), or a place in the system's own order ("native_order").
    """

    store: str
    system: str
    format: str
    instance_id: str | None
    read: int
    kept: int
    tombstones: int
    duplicates: int
    skipped: Mapping[str, int]
    warnings: Mapping[str, tuple[int, str]]
    partial: tuple[str, ...]
    notes: Mapping[str, int]
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    ranked: tuple[str, ...] = ()

    def rows(self) -> Iterator[dict[str, Any]]:
        """Rows of table `ingest`."""
        place = {"store": self.store, "instance_id": self.instance_id or ""}
        for name in ("read", "kept", "tombstones", "duplicates"):
            yield {**place, "what": "count", "name": name, "count": getattr(self, name), "detail": None}
        yield {**place, "what": "format", "name": self.format, "count": 1, "detail": self.system}
        for reason, count in self.skipped.items():
            yield {**place, "what": "skipped", "name": reason, "count": count, "detail": None}
        for kind, (count, detail) in self.warnings.items():
            yield {**place, "what": "warning", "name": kind, "count": count, "detail": detail}
        for reason in self.partial:
            yield {**place, "what": "partial", "name": reason, "count": 1, "detail": None}
        for note, count in self.notes.items():
            yield {**place, "what": "note", "name": note, "count": count, "detail": None}
        for key in dict.fromkeys(key for keys in self.columns.values() for key in keys):
            roles = " and ".join(role for role, keys in self.columns.items() if key in keys)
            yield {**place, "what": "column", "name": plain(key), "count": 1, "detail": f"read as {roles}"}
        for key in self.ignored:
            yield {**place, "what": "column", "name": plain(key), "count": 1, "detail": "ignored"}

    def __str__(self) -> str:
        of = f", example {plain(self.instance_id)}" if self.instance_id is not None else ""
        counts = ", ".join(f"{n} {getattr(self, n)}" for n in ("read", "kept", "tombstones", "duplicates"))
        lines = [f"store {self.store} ({self.system}, format {self.format}){of}: {counts}"]
        lines += [f"  partial: {reason}" for reason in self.partial]
        lines += [f"  skipped {count}: {reason}" for reason, count in sorted(self.skipped.items())]
        lines += [f"  warning {kind} ({count}): {detail}" for kind, (count, detail) in sorted(self.warnings.items())]
        lines += [f"  {note}: {count}" for note, count in sorted(self.notes.items())]
        if self.columns:
            read = ", ".join(f"{role} from {' and '.join(map(plain, keys))}" for role, keys in self.columns.items())
            lines.append(f"  read: {read}; ignored: {listed(self.ignored, _SHOWN_KEYS) if self.ignored else 'nothing'}")
        return "\n".join(lines)


def lacking(reports: Iterable[IngestReport]) -> Iterator[str]:
    """What stores cannot be pruned by as they are: a line for those of all that lack the same."""
    named = {"salience": "salience", "native_order": "order of its own"}
    kept = [report.ranked for report in reports if report.kept]
    for ranked, count in sorted(Counter(kept).items()):
        without = [f"no {text}" for name, text in named.items() if name not in ranked]
        if without:
            only = "; a system could keep newest first only, unless a salience file is given" * (len(without) > 1)
            yield f"{count} of {count_of(len(kept), 'store')} with memories: {', '.join(without)}{only}"


@dataclass(frozen=True)
class Ingest:
    """A store and its report."""

    store: Store
    report: IngestReport


@dataclass(frozen=True)
class IngestOptions:
    """How a store is read; None: the adapter's own way.

    format: an adapter's name. name: of the store (the system's, where None). view: one of the adapter's views.
    strict: partial exports and warnings are errors. tombstones: keep memories of that type. instance_id: the
    example that a file with one store belongs to. instance_key: dotted key of a row that holds it. time_key:
    dotted key of a row that holds its time. as_of: when the export was made (Graphiti). columns: role
    (`generic.ROLES`) -> dotted key, for format `generic`. max_bytes: of a file without embeddings.
    """

    format: str | None = None
    name: str | None = None
    view: str | None = None
    strict: bool = False
    tombstones: bool = True
    instance_id: str | None = None
    instance_key: str | None = None
    time_key: str | None = None
    as_of: datetime | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    max_bytes: int = MAX_PARSED

    @property
    def example_key(self) -> str | None:
        """Dotted key of a row that names its example, by either way of saying so."""
        return self.instance_key or self.columns.get("instance")


DEFAULT_OPTIONS = IngestOptions()
