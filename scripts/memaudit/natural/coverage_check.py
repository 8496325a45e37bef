"""The structural check of a coverage package: everything that is wrong or odd in it, as one list of findings.

Kinds, and how grave each is:
- always an error: `malformed`, `missing`, `wrong_type`, `out_of_range`, `not_exact`, `duplicate_id`,
  `ambiguous_file`, `bad_pointer`, `unknown_role`, `reserved_name`, and `no_cost` (a warning with paper_defaults)
- an error in a package built here (`own`), a warning in an imported one, because packages of the release deviate
  there: all of `ACROSS`
- always a warning: `duplicate_row` (the same row again), `duplicate_coverage` (the largest counts), `label_mismatch`,
  `unread_date` (keeps its place in the file), `weekday`, `unfilled`, `not_read`
- never more than a note, in strict mode too: `parent_decision` (on a query of a package that is not adjudicated)

What only follows from a row, or a file, that could not be read is not told: no id is unknown in a table that lost one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from ..errors import InputError
from ..objective import exact
from ..package import TOTAL
from ..schemas import ROLES
from .conversations import SEPARATOR
from .coverage_package import (
    DEFAULT_OPTIONS,
    SCORED,
    STATUSES,
    CoverageOptions,
    CoveragePackage,
    adjudications,
    examples,
    is_shared,
    unscored,
    why_unscored,
)
from .coverage_rows import MANIFEST, TABLE_FILES, CandidateMemory, EvidenceUnit, Experience, Finding, Place, example_of
from .free_dates import read_date

ACROSS = frozenset(
    {
        "incomplete",
        "unknown_id",
        "other_example",
        "unknown_session",
        "unknown_example",
        "no_quote",
        "quote_not_in_session",
        "leaked_question",
        "leaky_inputs",
        "manifest",
        "unknown_status",
        "conflicting_status",
        "confidence",
        "mixed_time",
    }
)
ERRORS = frozenset(
    {
        "malformed",
        "missing",
        "wrong_type",
        "out_of_range",
        "not_exact",
        "duplicate_id",
        "ambiguous_file",
        "bad_pointer",
        "unknown_role",
        "reserved_name",
        "no_cost",
    }
)
WARNINGS = frozenset(
    {"duplicate_row", "duplicate_coverage", "label_mismatch", "unread_date", "weekday", "unfilled", "not_read"}
)
NOTES = frozenset({"parent_decision"})
# Findings without an id of these kinds: a row, or a file, that was not read.
_UNREAD = frozenset({"malformed", "missing", "wrong_type"})
# Units that state an absence have nothing to quote.
WITHOUT_QUOTE = ("abstention",)


def check_package(package: CoveragePackage, options: CoverageOptions = DEFAULT_OPTIONS) -> list[Finding]:
    """All findings, those of reading included, each with its severity; sorted by file and line, errors first."""
    found = [*package.findings]
    index = _Index(package, options)
    for rule in _RULES:
        found += rule(index)
    return judged(found, options)


def judged(findings: Iterable[Finding], options: CoverageOptions) -> list[Finding]:
    """The findings with their severity, each once, errors first, then by file and line."""
    graded = {replace(f, severity=_severity(f.kind, options)) for f in findings}
    return sorted(graded, key=lambda f: (f.severity != "error", f))


def _severity(kind: str, options: CoverageOptions) -> str:
    if kind not in ACROSS | ERRORS | WARNINGS | NOTES:
        raise ValueError(f"finding of unknown kind {kind}")
    if kind in NOTES:
        return "note"
    grave = options.strict or (options.own if kind in ACROSS else kind in ERRORS)
    if kind == "no_cost" and options.paper_defaults:
        grave = options.strict
    return "error" if grave else "warning"


def folded(text: str) -> str:
    """The text with each run of whitespace as one space, none at the ends."""
    return " ".join(text.split())


class _Index:
    """A package and what its checks look up."""

    def __init__(self, package: CoveragePackage, options: CoverageOptions) -> None:
        self.package, self.options = package, options

    @cached_property
    def shared(self) -> bool:
        return is_shared(self.package)

    @cached_property
    def experiences(self) -> dict[str, Experience]:
        return {e.experience_id: e for e in self.package.experiences}

    @cached_property
    def unit_ids(self) -> set[str]:
        return {u.unit_id for u in self.package.units}

    @cached_property
    def candidate_ids(self) -> set[str]:
        return {c.candidate_id for c in self.package.candidates}

    @cached_property
    def sessions(self) -> dict[str, list[Experience]]:
        """Example -> its experiences."""
        groups: dict[str, list[Experience]] = {}
        for e in self.package.experiences:
            groups.setdefault(self.example(e.experience_id), []).append(e)
        return groups

    @cached_property
    def _folded(self) -> dict[str, str]:
        return {e.experience_id: folded(e.text) for e in self.package.experiences if e.text is not None}

    @cached_property
    def incomplete(self) -> set[str]:
        """Tables that lack rows that could not be read: an id that they do not have may be one of those."""
        lost = {f.file.removesuffix(".gz") for f in self.package.findings if not f.id and f.kind in _UNREAD}
        return {table for table, file in TABLE_FILES.items() if file in lost}

    def example(self, row_id: str) -> str:
        return "" if self.shared else example_of(row_id)

    def text(self, experience: Experience) -> str | None:
        """The experience's text, folded; None where it has none."""
        return self._folded.get(experience.experience_id)


def _cut(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


def _found(kind: str, place: Place, row_id: str, message: str) -> Finding:
    return Finding(place.file, place.line, kind, row_id, message)


def _repeats(index: _Index) -> Iterator[Finding]:
    p = index.package
    tables: list[tuple[Iterable[Any], Callable[[Any], str]]] = [
        (p.queries, lambda r: r.query_id),
        (p.experiences, lambda r: r.experience_id),
        (p.units, lambda r: r.unit_id),
        (p.candidates, lambda r: r.candidate_id),
    ]
    for rows, id_of in tables:
        first: dict[str, Any] = {}
        for row in rows:
            before = first.setdefault(id_of(row), row)
            if before is not row:
                line = before.place.line
                yield _found("duplicate_id", row.place, id_of(row), f"stands already in line {line}; keep one")
    pairs: dict[tuple[str, str], int] = {}
    for cell in p.coverage:
        line = pairs.setdefault((cell.candidate_id, cell.unit_id), cell.place.line)
        if line != cell.place.line:
            message = f"the pair stands already in line {line}; the largest value counts"
            yield _found("duplicate_coverage", cell.place, f"{cell.candidate_id}, {cell.unit_id}", message)


def _examples(index: _Index) -> Iterator[Finding]:
    """Rows that belong to no query."""
    if index.shared or "queries" in index.incomplete:
        return
    known = {example_of(q.query_id) for q in index.package.queries}
    for rows, id_of in (
        (index.package.experiences, lambda r: r.experience_id),
        (index.package.units, lambda r: r.unit_id),
        (index.package.candidates, lambda r: r.candidate_id),
    ):
        for row in rows:
            if example_of(id_of(row)) not in known:
                what = "names no query before '::'" if SEPARATOR in id_of(row) else "has no '::', others have"
                yield _found("unknown_example", row.place, id_of(row), f"the id {what}; the row is in no package")


def _queries(index: _Index) -> Iterator[Finding]:
    for q in index.package.queries:
        if q.category == TOTAL:
            message = f"category {TOTAL!r} is what results call all of them together; choose another name"
            yield _found("reserved_name", q.place, q.query_id, message)
        for key, ids in (("required_unit_ids", q.required), ("primary_required_unit_ids", q.primary or ())):
            for unit_id in ids:
                yield from _named(index, q.place, q.query_id, key, unit_id)
        experiences = index.sessions.get(index.example(q.query_id), [])
        known = {e.session_id for e in experiences} | {e.experience_id for e in experiences}
        for session_id in q.answer_session_ids:
            if session_id not in known and "experiences" not in index.incomplete:
                message = f"answer session {session_id} is none of the experiences' sessions"
                yield _found("unknown_session", q.place, q.query_id, message)


def _named(index: _Index, place: Place, row_id: str, key: str, unit_id: str) -> Iterator[Finding]:
    """A unit that a row refers to: it exists, and in the row's own example."""
    if unit_id not in index.unit_ids:
        if "units" not in index.incomplete:
            yield _found(
                "unknown_id", place, row_id, f"{key} names {unit_id}, which does not exist; it counts as absent"
            )
    elif index.example(unit_id) != index.example(row_id):
        message = f"{key} names {unit_id}, which belongs to another example; it counts as absent"
        yield _found("other_example", place, row_id, message)


def _candidates(index: _Index) -> Iterator[Finding]:
    for c in index.package.candidates:
        if c.experience_id is not None:
            if c.experience_id not in index.experiences:
                what = f"experience_id names {c.experience_id}, which has no row; the group comes last in time"
                if "experiences" not in index.incomplete:
                    yield _found("unknown_id", c.place, c.candidate_id, what)
            elif index.example(c.experience_id) != index.example(c.candidate_id):
                what = f"experience_id names {c.experience_id} of another example; the group comes last in time"
                yield _found("other_example", c.place, c.candidate_id, what)
        for unit_id in c.estimated_coverage or ():
            if unit_id not in index.unit_ids and "units" not in index.incomplete:
                what = f"estimated_coverage names {unit_id}, which does not exist"
                yield _found("unknown_id", c.place, c.candidate_id, what)


def _times(index: _Index) -> Iterator[Finding]:
    """Examples in which some candidates state their time and the others' is the rank of their date."""
    groups: dict[str, list[CandidateMemory]] = {}
    for c in index.package.candidates:
        groups.setdefault(index.example(c.candidate_id), []).append(c)
    for members in groups.values():
        stated = [c for c in members if c.time_index is not None]
        if 0 < len(stated) < len(members):
            message = (
                f"only {len(stated)} of the example's {len(members)} candidates have a time_index; the others take the "
                f"rank of their experience's date, which is another scale: give it to all or to none"
            )
            yield _found("mixed_time", stated[0].place, stated[0].candidate_id, message)


def _experiences(index: _Index) -> Iterator[Finding]:
    spans = {span.span_id for u in index.package.units for span in u.spans}
    for e in index.package.experiences:
        if e.timestamp is not None:
            date, note = read_date(e.timestamp)
            if date is None:
                message = (
                    f"timestamp {_cut(e.timestamp)} has no form with one reading; the experience keeps its place in "
                    f"the file"
                )
                yield _found("unread_date", e.place, e.experience_id, message)
            elif note is not None:
                yield _found("weekday", e.place, e.experience_id, f"timestamp {note}")
        for key, ids, known in (
            ("source_span_ids", e.source_span_ids, spans),
            ("visible_unit_ids", e.visible_unit_ids, index.unit_ids),
        ):
            if "units" in index.incomplete:
                continue
            for other in ids:
                if other not in known:
                    yield _found("unknown_id", e.place, e.experience_id, f"{key} names {other}, which does not exist")


def _coverage(index: _Index) -> Iterator[Finding]:
    for cell in index.package.coverage:
        name = f"{cell.candidate_id}, {cell.unit_id}"
        unknown = {"candidates": cell.candidate_id} if cell.candidate_id not in index.candidate_ids else {}
        unknown |= {"units": cell.unit_id} if cell.unit_id not in index.unit_ids else {}
        if unknown:
            message = f"{' and '.join(unknown.values())} does not exist; the row is not used"
            if not unknown.keys() <= index.incomplete:
                yield _found("unknown_id", cell.place, name, message)
        elif index.example(cell.candidate_id) != index.example(cell.unit_id):
            message = "candidate and unit belong to two examples; the row is not used"
            yield _found("other_example", cell.place, name, message)


def _decisions(index: _Index) -> Iterator[Finding]:
    queries = {q.query_id for q in index.package.queries}
    for d in index.package.decisions:
        for key, other, known, table in (
            ("query_id", d.query_id, queries, "queries"),
            ("candidate_id", d.candidate_id, index.candidate_ids, "candidates"),
            ("unit_id", d.unit_id, index.unit_ids, "units"),
        ):
            if other is not None and other not in known and table not in index.incomplete:
                row_id = d.query_id or d.candidate_id or ""
                yield _found("unknown_id", d.place, row_id, f"{key} names {other}, which does not exist")
    for d in (*index.package.decisions, *index.package.parent_decisions):
        if d.on_query and d.status is None:
            yield _found("incomplete", d.place, d.query_id, "status is missing; the row decides nothing")


def _statuses(index: _Index) -> Iterator[Finding]:
    """What judges say of queries: known, and of one mind."""
    said = adjudications(index.package)
    counted = {a.place for found in said.values() for a in found}
    why = {row["source_id"]: row["reason"] for row in unscored(index.package)}
    for query_id, found in said.items():
        for a in found:
            if a.status not in STATUSES:
                message = f"status is {_cut(a.status)}; write one of {', '.join(STATUSES)}; the query is not scored"
                yield _found("unknown_status", a.place, query_id, message)
            if a.status != found[0].status:
                fate = "it is scored" if all(other.status in SCORED for other in found) else "it is not scored"
                first = f"{found[0].place.file}, line {found[0].place.line}"
                message = f"status is {_cut(a.status)} here and {_cut(found[0].status)} in {first}; {fate}"
                yield _found("conflicting_status", a.place, query_id, message)
    for d in index.package.parent_decisions:
        if d.on_query and d.place not in counted and d.status not in (None, *SCORED):
            fate = f"is not scored: {why[d.query_id]}" if d.query_id in why else "is scored"
            message = f"{_cut(d.status)} there; it counts in an adjudicated package only, here the query {fate}"
            yield _found("parent_decision", d.place, d.query_id, message)


def _numbers(index: _Index) -> Iterator[Finding]:
    """Weights and coverages of scored examples that exact integers cannot hold."""
    if index.options.quantize is not None:
        return
    said = adjudications(index.package)
    for example in examples(index.package):
        if why_unscored(example, said) is not None:
            continue
        units = example.units if index.options.weights == "required" else ()
        numbers = [(u.place, u.unit_id, "unit_weight", u.weight) for u in units]
        numbers += [(c.place, f"{c.candidate_id}, {c.unit_id}", "coverage", c.value) for c in example.cells]
        for place, row_id, key, value in numbers:
            try:
                exact(value, key)
            except InputError as error:
                yield _found("not_exact", place, row_id, str(error))


def _units(index: _Index) -> Iterator[Finding]:
    for u in index.package.units:
        if u.role is not None and u.role not in ROLES:
            known = ", ".join(repr(role) for role in ROLES)
            yield _found(
                "unknown_role", u.place, u.unit_id, f"role is {_cut(u.role)}; write one of {known}, or leave it out"
            )
        if not u.spans and u.kind not in WITHOUT_QUOTE:
            yield _found("no_quote", u.place, u.unit_id, "source_spans is missing or empty; quote the source")
        for number in range(len(u.spans)):
            yield from _quote(index, u, number)


def _quote(index: _Index, unit: EvidenceUnit, number: int) -> Iterator[Finding]:
    span = unit.spans[number]
    name = f"source span {span.span_id or number}"
    if span.text is None:
        return  # said by `incomplete` or `unfilled`
    quote = folded(span.text)
    if not quote:
        yield _found("no_quote", unit.place, unit.unit_id, f"{name} is empty")
        return
    places = _places(index, unit, number)
    if not places and "experiences" not in index.incomplete:
        where = span.experience_id or span.session_id or "any"
        yield _found(
            "unknown_session", unit.place, unit.unit_id, f"{name}: its session ({where}) has no experience row"
        )
    texts = [index.text(e) for e in places]
    if places and None not in texts and not any(quote in text for text in texts):
        shown = quote if len(quote) <= 80 else f"{quote[:77]}..."
        message = f"{name} does not occur in its session: {shown!r}"
        yield _found("quote_not_in_session", unit.place, unit.unit_id, message)


def _places(index: _Index, unit: EvidenceUnit, number: int) -> list[Experience]:
    """The experiences a quote may stand in: the named one, those of the named session, else all of the example."""
    span = unit.spans[number]
    if span.experience_id is not None:
        named = index.experiences.get(span.experience_id)
        return [named] if named else []
    own = index.sessions.get(index.example(unit.unit_id), [])
    return own if span.session_id is None else [e for e in own if e.session_id == span.session_id]


def _leaks(index: _Index) -> Iterator[Finding]:
    """Candidates that hold the question, unless the session they are made from holds it too."""
    questions: dict[str, list[str]] = {}
    for q in index.package.queries:
        if q.question and folded(q.question):
            questions.setdefault(index.example(q.query_id), []).append(folded(q.question).casefold())
    for c in index.package.candidates:
        text = "" if c.text is None else folded(c.text).casefold()
        for question in questions.get(index.example(c.candidate_id), ()):
            if question in text and question not in _source_text(index, c):
                message = "its text holds the question, which candidate generation must not see"
                yield _found("leaked_question", c.place, c.candidate_id, message)


def _source_text(index: _Index, candidate: CandidateMemory) -> str:
    source = index.experiences.get(candidate.experience_id or "")
    return "" if source is None else (index.text(source) or "").casefold()


# An input is an answer or question by these words; "answer session" is only the session's name.
_FORBIDDEN_WORDS = ("question", "questions", "query", "queries", "gold", "required", "answer", "answers")


def _manifest(index: _Index) -> Iterator[Finding]:
    p = index.package
    if p.manifest is None:
        yield Finding(MANIFEST, 0, "manifest", "", "is missing; it says what candidate generation saw")
        return
    allowed, forbidden = _inputs(p.manifest, "allowed"), _inputs(p.manifest, "forbidden")
    for name in allowed:
        if _is_forbidden(name):
            message = f"allowed inputs hold {name!r}; candidate generation must not see question or answer"
            yield Finding(MANIFEST, 0, "leaky_inputs", "", message)
    if not any(_is_forbidden(name) for name in forbidden):
        yield Finding(MANIFEST, 0, "manifest", "", "does not say that question and answer were forbidden inputs")
    yield from _manifest_counts(index)
    hashes = p.manifest.get("files")
    for name, digest in sorted(hashes.items()) if isinstance(hashes, Mapping) else ():
        actual = p.file_hashes.get(name)
        if actual is None:
            yield Finding(MANIFEST, 0, "manifest", "", f"files names {name}, which is not in the folder")
        elif isinstance(digest, str) and digest.removeprefix("sha256:") != actual:
            yield Finding(MANIFEST, 0, "manifest", "", f"{name} has sha256 {actual}, the manifest says {digest}")


def _inputs(manifest: Mapping[str, Any], word: str) -> list[str]:
    """Strings under keys such as allowed_inputs, at the top or one level down."""
    names: list[str] = []
    levels = [manifest, *(v for v in manifest.values() if isinstance(v, Mapping))]
    for key, value in (item for level in levels for item in level.items()):
        if word in key.lower() and "input" in key.lower():
            values = value if isinstance(value, list) else [value]
            names += [v for v in values if isinstance(v, str)]
    return names


def _is_forbidden(name: str) -> bool:
    words = "".join(ch if ch.isalnum() else " " for ch in name.lower()).split()
    after = [*words[1:], ""]
    return any(
        word in _FORBIDDEN_WORDS and not (word.startswith("answer") and then.startswith("session"))
        for word, then in zip(words, after, strict=True)
    )


def _manifest_counts(index: _Index) -> Iterator[Finding]:
    counts = index.package.manifest.get("counts")
    if not isinstance(counts, Mapping):
        return
    for table, file in TABLE_FILES.items():
        rows = len(getattr(index.package, table))
        for key in (table, file.removesuffix(".jsonl")):
            said = counts.get(key)
            if isinstance(said, int) and said != rows:
                yield Finding(MANIFEST, 0, "manifest", "", f"counts {key} is {said}, and {file} has {rows} rows")


_RULES: tuple[Callable[[_Index], Iterator[Finding]], ...] = (
    _repeats,
    _examples,
    _queries,
    _candidates,
    _times,
    _experiences,
    _coverage,
    _decisions,
    _statuses,
    _numbers,
    _units,
    _leaks,
    _manifest,
)
