"""A-Mem: notes as a list or a map id -> note, and Chroma dumps whose metadata are such notes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..errors import shown
from ..natural import strict_json
from ..package import TextSize, size_of
from .builder import Builder, some_of
from .registry import adapter, not_its_form, row_keys
from .times import minute_stamp

_NOTE_KEYS = {"keywords", "links", "context", "evolution_history", "retrieval_count"}
_LISTS = ("keywords", "tags", "links")
# Where a note's content stands elsewhere, its counts: this project's own form, for text that may not be copied.
_ELSEWHERE, _COUNTS = "content_from", ("n_words", "n_chars", "n_bytes")
# View metadata: words of context, then entries of each list (the paper's cut).
_LONGEST = 2**31 - 1
_CONTEXT_WORDS, _MOST = 80, {"keywords": 12, "tags": 12, "links": 8}


def _are_notes(rows: Any) -> bool:
    keys = row_keys(rows)
    return "content" in keys and len(keys & _NOTE_KEYS) >= 2


def _chroma_notes(content: Any) -> bool:
    return isinstance(content, Mapping) and "ids" in content and _are_notes(content.get("metadatas"))


def _recognises(content: Any) -> bool:
    return _are_notes(content) or _chroma_notes(content)


@adapter("amem", "amem", _recognises, views=("full", "metadata", "both"), texts="content")
def read(content: Any, builder: Builder, parts: Mapping[str, Any]) -> None:
    """View full: lines of content, context, keywords, tags; view metadata: context, keywords, tags and links, cut.

    Notes without content are skipped in both, unless `content_from` says how long it is. `both` keeps the two views
    of a note in one group.
    """
    notes = content
    if _chroma_notes(content):
        builder.notes["Chroma documents not read (their text is enriched)"] += len(content.get("documents") or ())
        notes = content["metadatas"]
    if isinstance(notes, Mapping) and all(isinstance(note, Mapping) for note in notes.values()):
        notes = [{"id": key, **note} for key, note in notes.items()]
    if not isinstance(notes, list):
        raise not_its_form("amem", "a list of notes, or a map id -> note")
    wanted = ("full", "metadata") if builder.options.view == "both" else (builder.options.view or "full",)
    for row in builder.rows(notes, "note"):
        note = {**row, **{key: _as_list(row.get(key)) for key in _LISTS}}
        body, sizes = _as_text(row.get("content")), {}
        if not body.strip() and (elsewhere := _counts(row, builder)) is not None:
            builder.notes["notes whose content stands elsewhere, known by its counts"] += 1
            body, sizes = f"[{elsewhere.words} words that stand elsewhere]", {"full": _full_size(elsewhere, note)}
        if not body.strip():
            builder.add(row.get("id"), None if row.get("content") is None else "")
            continue
        views = {"full": full_view(body, note), "metadata": metadata_view(note)}
        builder.add_views(
            row.get("id"),
            {view: views[view] for view in wanted},
            time=builder.row_time(row, "timestamp", read=minute_stamp),
            details=some_of(note, "context", "category", *_LISTS, "importance_score"),
            sizes=sizes,
        )


def _counts(row: Mapping[str, Any], builder: Builder) -> TextSize | None:
    """The size of a note's content that stands elsewhere; None where the note does not say, or has none."""
    source = row.get(_ELSEWHERE)
    if source is None:
        return None
    counts = [source.get(name) for name in _COUNTS] if isinstance(source, Mapping) else []
    # A word has a character or more, and that a byte or more.
    if not counts or not all(type(n) is int and 0 <= n <= _LONGEST for n in counts) or counts != sorted(counts):
        builder.warn(f"unreadable {_ELSEWHERE}", f"{shown(source)}; give {', '.join(_COUNTS)}")
        return None
    return TextSize(*counts) if counts[0] else None


def _full_size(content: TextSize, note: Mapping[str, Any]) -> TextSize:
    """What view full measures with a content of this size: it takes the place of one word of one byte."""
    around = size_of(full_view("x", note))
    return TextSize(*(n + own - 1 for n, own in zip(around, content, strict=True)))


def full_view(body: str, note: Mapping[str, Any]) -> str:
    """The lines `content: ...`, `context: ...`, `keywords: ...`, `tags: ...`; those without a value left out."""
    lines = {"content": body, "context": _as_text(note.get("context"))}
    lines |= {key: ", ".join(map(_as_text, note[key])) for key in ("keywords", "tags")}
    return _lines(lines)


def metadata_view(note: Mapping[str, Any]) -> str:
    """The note without its content: context (80 words), at most 12 keywords, 12 tags and 8 links."""
    lines = {"context": " ".join(_as_text(note.get("context")).split()[:_CONTEXT_WORDS])}
    lines |= {key: ", ".join(map(_as_text, note[key][:most])) for key, most in _MOST.items()}
    return _lines(lines)


def _lines(lines: Mapping[str, str]) -> str:
    return "\n".join(f"{key}: {text}" for key, text in lines.items() if text.strip())


def _as_list(value: Any) -> list[Any]:
    """A list as it is; the JSON text of one decoded (Chroma holds no lists); any other value as its one entry."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = strict_json.loads(value)
        except ValueError:
            return [value]  # a text that begins with a bracket
    if value in (None, ""):
        return []
    return value if isinstance(value, list) else [value]


def _as_text(value: Any) -> str:
    """Text as it is; after a cold read a number or list may stand where text did: its JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)
