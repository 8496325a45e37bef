"""Packages from conversations by the deterministic route: one package a question, no model, no annotation.

Group = answer session (the support slice), candidates = `turns.spans` of the session, unit = a turn that
the source marks has_answer, weight 1. A unit is covered (1.0) by each candidate that holds that turn whole;
the same words in another turn or session are not that unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..costs import BUILT_IN
from ..package import Candidate, Package, Query, Unit, build
from .conversations import SEPARATOR, Example, Session
from .turns import spans

# Who says what a candidate covers, for the table of labels.
LABEL_SOURCE = "has_answer"


@dataclass(frozen=True)
class BuildResult:
    """packages, sorted by id; unscored rows (source_id, category, reason) and warnings rows (source_id,
    kind, detail), sorted by source_id: columns as in the tables of these names.

    labels: rows of table `labels` without the suite, where the source tells who labelled what; None: the
    coverage is the one label. primary: (package_id, query_id) -> the required units that the primary pass
    named too, where the source tells; a query that is absent has all of its own."""

    packages: list[Package]
    unscored: list[dict[str, str]]
    warnings: list[dict[str, str]]
    labels: list[dict[str, Any]] | None = None
    primary: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)


def build_packages(examples: Iterable[Example], suite: str) -> BuildResult:
    """A package for each question that can be scored; the others are listed with the reason.

    Package: package_id = query_id = question_id, distribution = question type, no seed. Ids are
    question::session (group), question::session::{raw, turn{n}, window{n}} (candidate) and
    question::session::turn{n} (unit), session = the experience id; they name nothing in the file system.
    Declared cost = words of the candidate's text. time_index = rank of the session by date in the slice.
    """
    result = BuildResult([], [], [])
    for example in sorted(examples, key=lambda e: e.question_id):
        result.warnings.extend(dict(row) for row in example.warnings)
        reason = _why_unscored(example)
        if reason is None:
            result.packages.append(_package(example, suite))
        else:
            row = {"source_id": example.question_id, "category": example.question_type, "reason": reason}
            result.unscored.append(row)
    return result


def support_slice(example: Example) -> list[Session]:
    """The answer sessions in the order of their dates; sessions of one date keep the source's order."""
    return sorted(example.answer_sessions, key=lambda s: (s.date, s.position))


def _why_unscored(example: Example) -> str | None:
    marked = any(session.marked_turns for session in example.answer_sessions)
    if example.is_abstention:
        # Its marks, where it has any, point at what the question wrongly builds on, not at an answer.
        return f"abstention question, {'marked turns not counted' if marked else 'no marked turn'}"
    if not example.answer_session_ids:
        return "no answer session"
    return None if marked else "no marked turn in its answer sessions"


def _package(example: Example, suite: str) -> Package:
    candidates: list[Candidate] = []
    units: list[Unit] = []
    coverage: dict[tuple[str, str], float] = {}
    for rank, session in enumerate(support_slice(example)):
        group_id = _id(example.question_id, session.experience_id)
        unit_of = {n: _unit(group_id, session, n) for n in session.marked_turns}
        units.extend(unit_of.values())
        for span in spans(session):
            candidate_id = _id(group_id, span.name)
            cost = BUILT_IN["words"](span.text)
            kind = span.representation_type
            candidates.append(Candidate(candidate_id, group_id, kind, cost, time_index=rank, text=span.text))
            held = unit_of.keys() & span.turns
            coverage.update({(candidate_id, unit_of[n].unit_id): 1.0 for n in held})
    query = Query(
        example.question_id,
        required=tuple(sorted(unit.unit_id for unit in units)),
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


def _unit(group_id: str, session: Session, n: int) -> Unit:
    text = session.turns[n].content
    return Unit(_id(group_id, f"turn{n}"), weight=1.0, role="current", kind="answer_turn", text=text)


def _id(*parts: str) -> str:
    return SEPARATOR.join(parts)
