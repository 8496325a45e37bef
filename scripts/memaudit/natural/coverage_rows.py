"""Rows of the coverage-package layout, parsed into dataclasses; what is wrong with a row becomes a Finding.

Layout: one JSON object a line, unknown keys are ignored, a key whose value is null counts as absent. Ids are
strings; the part before the first '::' is the example (= query) that a row belongs to.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import InputError
from .conversations import SEPARATOR

# Table -> file (each also with .gz); the first five are the package, the others may be absent.
TABLE_FILES = {
    "queries": "queries.jsonl",
    "experiences": "experiences.jsonl",
    "units": "evidence_units.jsonl",
    "candidates": "candidate_memories.jsonl",
    "coverage": "coverage_matrix.jsonl",
    "decisions": "annotation_decisions.jsonl",
}
NEEDED = ("queries", "experiences", "units", "candidates", "coverage")
# Decisions on examples that are no longer in the package; stands in its parent folder.
PARENT_DECISIONS = "adjudication_decisions.jsonl"
MANIFEST = "candidate_generation_manifest.json"


@dataclass(frozen=True, order=True)
class Finding:
    """One thing found in a package. line: from 1, 0 where it concerns the file; id: the row's, or "".

    severity: "error", "warning" or "note", decided by `coverage_check.judged`; "" before that.
    """

    file: str
    line: int
    kind: str
    id: str
    message: str
    severity: str = ""

    def __str__(self) -> str:
        place = f"{self.file}: line {self.line}" if self.line else self.file
        return f"{place}: {self.kind}{f': {self.id}' if self.id else ''}: {self.message}"


@dataclass(frozen=True)
class Place:
    """Where a row stands; line from 1."""

    file: str
    line: int


@dataclass(frozen=True)
class Pointer:
    """A text that stands in a session of conversations that the package does not hold (see `pointers`).

    sha256: of the session's text, 64 hex digits. unit: "words", "turns", "chars" (the half-open range
    start..end of these) or None (the whole session). counts: n_words, n_chars, n_bytes of the text where given.
    """

    session_id: str
    sha256: str
    unit: str | None = None
    start: int = 0
    end: int = 0
    roles: bool = True
    cut_mark: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class QuestionPointer:
    """A question and its gold answer in conversations that the package does not hold; sha256 of both texts."""

    question_id: str
    question_sha256: str
    answer_sha256: str


@dataclass(frozen=True)
class Span:
    """A verbatim quote a unit rests on. session_id and experience_id say where, as far as the source does."""

    span_id: str | None
    session_id: str | None
    experience_id: str | None
    text: str | None
    pointer: Pointer | None = None


@dataclass(frozen=True)
class Experience:
    place: Place
    experience_id: str
    session_id: str | None
    timestamp: str | None
    text: str | None
    pointer: Pointer | None
    source_span_ids: tuple[str, ...]
    visible_unit_ids: tuple[str, ...]


@dataclass(frozen=True)
class EvidenceUnit:
    """weight: unit_weight, 0 where absent. role: as stated by packages written here, else None."""

    place: Place
    unit_id: str
    kind: str | None
    state: str | None
    role: str | None
    text: str | None
    weight: float
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class CoverageQuery:
    """primary: primary_required_unit_ids, None where absent."""

    place: Place
    query_id: str
    question: str | None
    answer: str | None
    category: str | None
    required: tuple[str, ...]
    primary: tuple[str, ...] | None
    answer_session_ids: tuple[str, ...]
    status: str | None
    pointer: QuestionPointer | None = None


@dataclass(frozen=True)
class CandidateMemory:
    """cost: None where it is missing or 0. confidence: 1.0 where absent or 0. text: serialized before text."""

    place: Place
    candidate_id: str
    experience_id: str | None
    candidate_group: str | None
    representation_type: str
    text: str | None
    pointer: Pointer | None
    cost: int | None
    confidence: float
    time_index: int | None
    estimated_value: float | None
    estimated_coverage: Mapping[str, float] | None

    @property
    def group_id(self) -> str:
        """The experience, else the declared group, else the candidate alone."""
        return self.experience_id or self.candidate_group or self.candidate_id


@dataclass(frozen=True)
class CoverageCell:
    """One label: the candidate covers the unit by `value` in [0, 1].

    labels: what each of several labellers said, where the row states it; `value` is then what counts.
    """

    place: Place
    candidate_id: str
    unit_id: str
    value: float
    annotator_ids: tuple[str, ...]
    status: str | None
    labels: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Decision:
    """One row of annotation_decisions: on a coverage cell (candidate_id and unit_id), or on a whole query."""

    place: Place
    query_id: str | None
    candidate_id: str | None
    unit_id: str | None
    status: str | None

    @property
    def on_query(self) -> bool:
        return self.query_id is not None and self.candidate_id is None and self.unit_id is None


# The row, at (file, line).
PlacedRow = tuple[Place, Any]


def example_of(row_id: str) -> str:
    """The part before the first '::', all of an id without one."""
    return row_id.partition(SEPARATOR)[0]


def parse_table(table: str, rows: Sequence[PlacedRow], findings: list[Finding]) -> tuple[Any, ...]:
    """The rows of a table of `TABLE_FILES` that could be read, in order; what is wrong goes to `findings`.

    A row that stands again word for word is left out with a finding, except in tables of labels, where a
    second row is a second label.
    """
    parsed = []
    lines: dict[str, int] = {}
    for place, values in rows:
        first = lines.setdefault(json.dumps(values, sort_keys=True), place.line)
        if first != place.line and table not in ("coverage", "decisions"):
            message = f"the same row as line {first}; left out"
            findings.append(Finding(place.file, place.line, "duplicate_row", "", message))
            continue
        if not isinstance(values, Mapping):
            message = f"{_shown(values)} where an object is needed"
            findings.append(Finding(place.file, place.line, "wrong_type", "", message))
            continue
        made = _PARSERS[table](_Row(place, values, findings))
        if made is not None:
            parsed.append(made)
    return tuple(parsed)


class _Row:
    """One object being read: typed access to its keys, what is wrong goes to the findings.

    Kinds: `missing` what the package cannot be built without, `incomplete` what the layout has beside that.
    """

    def __init__(self, place: Place, values: Mapping[str, Any], findings: list[Finding], name: str = "") -> None:
        self.place, self.values, self.findings, self.name = place, values, findings, name

    def note(self, kind: str, message: str) -> None:
        self.findings.append(Finding(self.place.file, self.place.line, kind, self.name, message))

    def first(self, *keys: str) -> tuple[str, Any]:
        """The first of `keys` that has a value, and the value; (the first key, None) where none has."""
        return next(((k, self.values[k]) for k in keys if self.values.get(k) is not None), (keys[0], None))

    def id(self, key: str) -> str | None:
        """The row's own id, by which it is named from here on."""
        value = self.text(key, absent="missing")
        if value == "":
            self.note("missing", f"{key} is empty; give every row an id")
        self.name = value or ""
        return value or None

    def text(self, *keys: str, absent: str = "") -> str | None:
        """A string under the first of `keys` that has one; `absent`: kind of finding where none has."""
        key, value = self.first(*keys)
        if value is None:
            if absent:
                self.note(absent, f"{' or '.join(keys)} is missing")
            return None
        if not isinstance(value, str):
            self.note("wrong_type", f"{key} is {_shown(value)}; write a string")
            return None
        if not is_text(value):
            self.note("wrong_type", f"{key} holds half of a surrogate pair, which is no text; write the character")
            return None
        return value

    def scalar(self, key: str, absent: str) -> str | None:
        """A string, or a finite number as text."""
        value = self.values.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return None if self.number(key) is None else str(value)
        return self.text(key, absent=absent)

    def number(
        self, *keys: str, low: float = -math.inf, high: float = math.inf, absent: str = ""
    ) -> int | float | None:
        """A finite number in [low, high]."""
        key, value = self.first(*keys)
        if value is None:
            if absent:
                self.note(absent, f"{' or '.join(keys)} is missing")
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.note("wrong_type", f"{key} is {_shown(value)}; write a number")
            return None
        if not _is_finite(value) or not low <= value <= high:
            limits = f"a number in [{low:g}, {high:g}]" if math.isfinite(high) else f"a number of at least {low:g}"
            limits = limits if math.isfinite(low) else "a number that a float holds"
            self.note("out_of_range", f"{key} is {_shown(value)}; write {limits}")
            return None
        return value

    def whole(self, *keys: str, low: int | None = None) -> int | None:
        """A whole number of at least `low`, also one written 3.0; it must fit 64 bits."""
        value = self.number(*keys)
        if value is None:
            return None
        if value != int(value) or abs(value) > 2**62 or (low is not None and value < low):
            least = "" if low is None else f" of at least {low}"
            self.note("out_of_range", f"{self.first(*keys)[0]} is {_shown(value)}; write a whole number{least}")
            return None
        return int(value)

    def strings(self, key: str, absent: str = "") -> tuple[str, ...] | None:
        """A list of strings; None where there is no such list."""
        value = self.values.get(key)
        if value is None:
            if absent:
                self.note(absent, f"{key} is missing")
            return None
        if not isinstance(value, list) or not all(isinstance(v, str) and is_text(v) for v in value):
            self.note("wrong_type", f"{key} is {_shown(value)}; write a list of strings")
            return None
        return tuple(value)

    def flag(self, key: str, default: bool) -> bool:
        value = self.values.get(key)
        if value is not None and not isinstance(value, bool):
            self.note("wrong_type", f"{key} is {_shown(value)}; write true or false")
        return value if isinstance(value, bool) else default

    def inner(self, key: str, value: Any) -> _Row | None:
        """An object inside this one."""
        if not isinstance(value, Mapping):
            self.note("wrong_type", f"{key} is {_shown(value)}; write an object")
            return None
        return _Row(self.place, value, self.findings, self.name)


def is_text(value: str) -> bool:
    """Whether a string can be written as UTF-8 (JSON escapes can hold half of a surrogate pair)."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_finite(value: int | float) -> bool:
    """Whether a float holds it."""
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number of hundreds of digits
        return False


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _experience(row: _Row) -> Experience | None:
    experience_id = row.id("experience_id")
    text, pointer = _text_or_pointer(row, "text")
    made = Experience(
        place=row.place,
        experience_id=experience_id or "",
        session_id=row.text("session_id", absent="incomplete"),
        timestamp=row.scalar("timestamp", absent="incomplete"),
        text=text,
        pointer=pointer,
        source_span_ids=row.strings("source_span_ids") or (),
        visible_unit_ids=row.strings("visible_unit_ids") or (),
    )
    return made if experience_id else None


def _text_or_pointer(row: _Row, *keys: str) -> tuple[str | None, Pointer | None]:
    """The text, which goes first, or where it stands."""
    raw = row.values.get("pointer")
    inner = None if raw is None else row.inner("pointer", raw)
    pointer = None if inner is None else _pointer(inner)
    return row.text(*keys, absent="" if raw is not None else "incomplete"), pointer


_RANGES = ("words", "turns", "chars")
_COUNTS = ("n_words", "n_chars", "n_bytes")


def _pointer(row: _Row) -> Pointer | None:
    session_id = row.text("session_id", absent="missing")
    sha256 = row.text("sha256", absent="missing")
    ranges = [key for key in _RANGES if row.values.get(key) is not None]
    if len(ranges) > 1:
        row.note("wrong_type", f"a pointer has both {' and '.join(ranges)}; keep one")
        return None
    unit = ranges[0] if ranges else None
    start, end = _range(row, unit) if unit else (0, 0)
    counts = {key: row.whole(key, low=0) for key in _COUNTS if row.values.get(key) is not None}
    if session_id is None or sha256 is None or None in (start, end, *counts.values()):
        return None
    roles, cut_mark = row.flag("roles", True), row.flag("cut_mark", False)
    return Pointer(session_id, sha256.lower(), unit, start, end, roles, cut_mark, counts)


def read_pointer(values: Mapping[str, Any]) -> Pointer:
    """The pointer of its JSON form; InputError with everything that is wrong with it."""
    findings: list[Finding] = []
    pointer = _pointer(_Row(Place("pointer", 0), values, findings))
    if pointer is None or findings:
        raise InputError("; ".join(map(str, findings)))
    return pointer


def _range(row: _Row, key: str) -> tuple[int | None, int | None]:
    value = row.values[key]
    whole = isinstance(value, list) and len(value) == 2 and all(type(v) is int for v in value)
    if not whole or not 0 <= value[0] < value[1]:
        row.note("out_of_range", f"{key} is {_shown(value)}; write [first, end] with 0 <= first < end")
        return None, None
    return value[0], value[1]


def _unit(row: _Row) -> EvidenceUnit | None:
    unit_id = row.id("unit_id")
    role = row.text("role")
    made = EvidenceUnit(
        place=row.place,
        unit_id=unit_id or "",
        kind=row.text("kind", absent="incomplete"),
        state=row.text("state"),
        role=role,
        text=row.text("canonical_text", absent="incomplete"),
        weight=float(row.number("unit_weight", low=0) or 0),
        spans=_spans(row),
    )
    return made if unit_id else None


def _spans(row: _Row) -> tuple[Span, ...]:
    raw = row.values.get("source_spans")
    if raw is None:
        return ()
    if not isinstance(raw, list):
        row.note("wrong_type", f"source_spans is {_shown(raw)}; write a list of objects")
        return ()
    spans = []
    for value in raw:
        # Some packages of the release have bare quotes.
        inner = row.inner("a source span", {"text": value} if isinstance(value, str) else value)
        if inner is not None:
            text, pointer = _text_or_pointer(inner, "text")
            where = (inner.text(key) for key in ("span_id", "session_id", "experience_id"))
            spans.append(Span(*where, text=text, pointer=pointer))
    return tuple(spans)


def _query(row: _Row) -> CoverageQuery | None:
    query_id = row.id("query_id")
    pointer = _question_pointer(row)
    absent = "incomplete" if pointer is None else ""
    made = CoverageQuery(
        place=row.place,
        query_id=query_id or "",
        question=row.text("question", absent=absent),
        answer=row.scalar("answer", absent=absent),
        category=row.text("category", absent="incomplete"),
        required=tuple(dict.fromkeys(row.strings("required_unit_ids", absent="incomplete") or ())),
        primary=row.strings("primary_required_unit_ids"),
        answer_session_ids=row.strings("answer_session_ids", absent="incomplete") or (),
        status=row.text("adjudication_status"),
        pointer=pointer,
    )
    return made if query_id else None


def _question_pointer(row: _Row) -> QuestionPointer | None:
    raw = row.values.get("pointer")
    inner = None if raw is None else row.inner("pointer", raw)
    if inner is None:
        return None
    parts = [inner.text(key, absent="missing") for key in ("question_id", "question_sha256", "answer_sha256")]
    return None if None in parts else QuestionPointer(*parts)


def _candidate(row: _Row) -> CandidateMemory | None:
    candidate_id = row.id("candidate_id")
    kind = row.text("representation_type", absent="missing")
    keys = ("text",) if row.values.get("serialized") == "" else ("serialized", "text")
    text, pointer = _text_or_pointer(row, *keys)
    made = CandidateMemory(
        place=row.place,
        candidate_id=candidate_id or "",
        experience_id=row.text("experience_id") or None,
        candidate_group=row.text("candidate_group") or None,
        representation_type=kind or "",
        text=text,
        pointer=pointer,
        cost=_cost(row),
        confidence=_confidence(row),
        time_index=row.whole("time_index"),
        estimated_value=row.number("estimated_value"),
        estimated_coverage=_by_name(row, "estimated_coverage"),
    )
    return made if candidate_id else None


def _cost(row: _Row) -> int | None:
    key, value = row.first("cost", "cost_tokens")
    if value is None or value == 0:
        row.note("no_cost", f"{key} is {'missing' if value is None else _shown(value)}; a memory costs at least 1")
        return None
    return row.whole(key, low=1)


def _confidence(row: _Row) -> float:
    """1 where absent or 0. One on another scale ranks as well, so it is kept."""
    value = row.number("confidence", low=0) or 1.0
    if value > 1:
        row.note("confidence", f"confidence is {_shown(value)}; one is in [0, 1]")
    return float(value)


def _by_name(row: _Row, key: str) -> Mapping[str, float] | None:
    """Values in [0, 1] by unit (or labeller): {name: value}, or a list of {unit_id, coverage}."""
    raw = row.values.get(key)
    if raw is None:
        return None
    if isinstance(raw, list) and all(isinstance(v, Mapping) and isinstance(v.get("unit_id"), str) for v in raw):
        raw = {v["unit_id"]: v.get("coverage") for v in raw}
    inner = row.inner(key, raw)
    if inner is None:
        return None
    values = {name: inner.number(name, low=0, high=1, absent="missing") for name in raw}
    return {name: float(value) for name, value in values.items() if value is not None}


def _cell(row: _Row) -> CoverageCell | None:
    candidate_id, unit_id = (row.text(key, absent="missing") for key in ("candidate_id", "unit_id"))
    row.name = f"{candidate_id}, {unit_id}"
    value = row.number("coverage", "fidelity", low=0, high=1, absent="missing")
    label = row.text("coverage_label")
    if value is not None and label is not None and label != coverage_label(value):
        said = f"coverage_label is {_shown(label)}"
        row.note("label_mismatch", f"{said}, and a coverage of {value!r} is {coverage_label(value)}")
    annotators, status = row.strings("annotator_ids") or (), row.text("adjudication_status")
    labels = _by_name(row, "labels") or {}
    if not all(name.strip() for name in (*annotators, *labels)):
        row.note("wrong_type", "a name in annotator_ids or labels is blank; name who labelled the cell")
        return None
    if candidate_id is None or unit_id is None or value is None:
        return None
    annotators = tuple(dict.fromkeys(annotators))
    return CoverageCell(row.place, candidate_id, unit_id, float(value), annotators, status, labels)


def coverage_label(value: float) -> str:
    """The word for a coverage value (layout, "Adjudication")."""
    steps = (("full", 1), ("partial_strong", 0.75), ("partial_weak", 0.5))
    return next((label for label, least in steps if value >= least), "hint_only")


def _decision(row: _Row) -> Decision:
    return Decision(row.place, *(row.text(key) for key in ("query_id", "candidate_id", "unit_id", "status")))


_PARSERS: dict[str, Callable[[_Row], Any]] = {
    "queries": _query,
    "experiences": _experience,
    "units": _unit,
    "candidates": _candidate,
    "coverage": _cell,
    "decisions": _decision,
}
