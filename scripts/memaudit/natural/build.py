"""Packages from conversations by the deterministic routes: one package a question, no model, no annotation.

Group = session of the slice (`slices.take_sessions`), candidates = `turns.spans` of the session as far as it is
read, units = those of `evidence` (what the source marks). A unit is covered (1.0) by each candidate that holds a
turn that shows it whole; the same words in another turn or session are not that turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..costs import BUILT_IN
from ..errors import InputError
from ..package import Candidate, Package, Query, build, size_of
from .conversations import SEPARATOR, Example, Session
from .evidence import ROUTES, UPDATE_TYPE, evidence_of, has_update
from .slices import choose, cut, take_sessions
from .turns import spans

# Who says what a candidate covers, for the table of labels.
LABEL_SOURCE = "has_answer"


@dataclass(frozen=True)
class BuildOptions:
    """What a package is made of. Defaults: every question, its answer sessions, whole, each mark a unit.

    question_types, limit, seed: see `slices.choose`; distractors: `slices.take_sessions` (same seed);
    word_limit: `slices.cut`; route: `evidence` (marked, updates).
    """

    question_types: tuple[str, ...] | None = None
    limit: int | None = None
    seed: int = 0
    distractors: int = 0
    word_limit: int | None = None
    route: str = "marked"

    def __post_init__(self) -> None:
        if self.route not in ROUTES:
            raise InputError(f"route {self.route!r} is unknown; write one of {', '.join(ROUTES)}")


@dataclass(frozen=True)
class BuildResult:
    """packages, sorted by id; unscored rows (source_id, category, reason) and warnings rows (source_id,
    kind, detail), sorted by source_id: columns as in the tables of these names.

    labels: rows of table `labels` without the suite, where the source tells who labelled what; None: the
    coverage is the one label. primary: (package_id, query_id) -> the required units that the primary pass
    named, where the source tells; a query that is absent has its own. statuses: (package_id, query_id) -> what
    a judge made of the query, where one did."""

    packages: list[Package]
    unscored: list[dict[str, str]]
    warnings: list[dict[str, str]]
    labels: list[dict[str, Any]] | None = None
    primary: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    statuses: Mapping[tuple[str, str], str] = field(default_factory=dict)


def build_packages(examples: Iterable[Example], suite: str, options: BuildOptions | None = None) -> BuildResult:
    """A package for each chosen question that can be scored; the others chosen are listed with the reason.

    Package: package_id = query_id = question_id, distribution = question type, no seed. Ids are
    question::session (group), question::session::{raw, turn{n}, window{n}} (candidate), session = the
    experience id; they name nothing in the file system. Declared cost = words of the candidate's text.
    time_index = rank of the session by date in the slice. A marked turn that the word limit cuts stays a
    required unit that nothing covers (with a warning).
    """
    options = options or BuildOptions()
    result = BuildResult([], [], [])
    for example in choose(examples, options.question_types, options.limit, options.seed):
        slice_ = _Slice.of(example, options)
        result.warnings.extend(dict(row) for row in example.warnings)
        reason = _why_unscored(slice_)
        if reason is None:
            result.warnings.extend(_warnings(slice_, options))
            result.packages.append(_package(slice_, suite, options.route))
        else:
            row = {"source_id": example.question_id, "category": example.question_type, "reason": reason}
            result.unscored.append(row)
    return result


@dataclass(frozen=True)
class _Slice:
    """An example's sessions in time order: whole, and as far as they are read."""

    example: Example
    whole: Sequence[Session]
    read: Sequence[Session]

    @classmethod
    def of(cls, example: Example, options: BuildOptions) -> _Slice:
        whole = take_sessions(example, options.distractors, options.seed)
        return cls(example, whole, [cut(s, options.word_limit) for s in whole])

    def marks(self, sessions: Sequence[Session]) -> set[tuple[str, int]]:
        """(experience id, position) of the marked turns of answer sessions among `sessions`."""
        ids = self.example.answer_session_ids
        return {(s.experience_id, n) for s in sessions if s.session_id in ids for n in s.marked_turns}


def _why_unscored(slice_: _Slice) -> str | None:
    example = slice_.example
    marked = slice_.marks(slice_.whole)
    if example.is_abstention:
        # Its marks, where it has any, point at what the question wrongly builds on, not at an answer.
        return f"abstention question, {'marked turns not counted' if marked else 'no marked turn'}"
    if not example.answer_session_ids:
        return "no answer session"
    if not marked:
        return "no marked turn in its answer sessions"
    return None if slice_.marks(slice_.read) else "every marked turn passes the word limit"


def _warnings(slice_: _Slice, options: BuildOptions) -> list[dict[str, str]]:
    """What the options make odd of an example that is not odd by itself."""
    example = slice_.example
    found = []
    drawn = len(slice_.whole) - len(example.answer_sessions)
    if drawn < options.distractors:
        detail = f"{options.distractors} distractor sessions wanted, the haystack has {drawn}"
        found.append(("fewer_distractors", detail))
    for session, n in sorted(slice_.marks(slice_.whole) - slice_.marks(slice_.read)):
        detail = f"session {session}, turn {n} passes {options.word_limit} words; nothing covers its unit"
        found.append(("marked_turn_cut", detail))
    if options.route == "updates" and example.question_type == UPDATE_TYPE and not has_update(example):
        found.append(("update_without_older_turn", "marked in one session only; its turns are current units"))
    return [{"source_id": example.question_id, "kind": kind, "detail": detail} for kind, detail in found]


def _package(slice_: _Slice, suite: str, route: str) -> Package:
    example = slice_.example
    evidence = evidence_of(example, slice_.whole, route)
    # A turn that the limit cut has lost its mark: what holds the rest of it does not cover its unit.
    whole_marks = slice_.marks(slice_.read)
    candidates: list[Candidate] = []
    coverage: dict[tuple[str, str], float] = {}
    for rank, session in enumerate(slice_.read):
        group_id = SEPARATOR.join((example.question_id, session.experience_id))
        for span in spans(session):
            candidate_id = SEPARATOR.join((group_id, span.name))
            cost = BUILT_IN["words"](size_of(span.text))
            kind = span.representation_type
            candidates.append(Candidate(candidate_id, group_id, kind, cost, time_index=rank, text=span.text))
            held = whole_marks & {(session.experience_id, n) for n in span.turns}
            coverage.update({(candidate_id, e.unit.unit_id): 1.0 for e in evidence if e.places & held})
    units = [e.unit for e in evidence]
    query = Query(
        example.question_id,
        required=tuple(sorted(unit.unit_id for unit in units if unit.weight)),
        category=example.question_type,
        text=example.question,
        answer=example.answer_text,
    )
    return build(
        suite,
        package_id=example.question_id,
        distribution=example.question_type,
        seed=None,
        candidates=candidates,
        units=units,
        coverage=coverage,
        queries=[query],
    )
