"""Packages from LoCoMo: one package a conversation, many queries a package, no model and no annotation.

Groups: each turn (the raw turn against the observations that cite it), and each session (its summary). An
observation that cites several turns stands in the group of the first of them in time. Candidates are the same
whatever is asked: raw turns of the whole conversation, all observations, all summaries.

Units: each turn that a question cites; weight = number of scored questions that need it (a question that is
asked twice counts twice). A turn that only unscored or adversarial questions cite has weight 0.

Coverage, by words alone (`kept_words`), of the turn's text and caption, the two speakers' names left out:
a raw turn covers its own unit 1.0; an observation covers each unit it cites by the share of the turn's
content words that it keeps; a summary covers each unit of its session likewise. A citation says where a
statement comes from, not that it says all of it, so it never gives 1.0 by itself. Shares are rounded down to
multiples of 1/grid. A share below its floor counts as 0: for summaries, which cite nothing, the default is
0.25, because a summary of *another* session reaches 0.21 of a turn by chance in 1 of 20 cases (measured on
LoCoMo's 1,430 cited turns; 0.25 in 1 of 30).

Queries: every question whose evidence is there. An adversarial question (category 5) asks for something that
was never said; nothing needs to be stored to decline it - its evidence is the turn that its premise twists - so
it requires no unit, adds no weight, and stays in the package as an abstention. With `adversarial: evidence` it
requires the twisted turn, for a reader that is to see why the premise is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..costs import BUILT_IN
from ..errors import InputError
from ..package import Candidate, Package, Query, Unit, build, size_of
from .build import BuildResult
from .conversations import SEPARATOR
from .kept_words import content_words, kept_share
from .locomo import ADVERSARIAL, Conversation, Question

# Who says what a candidate covers, for the table of labels.
LABEL_SOURCE = "kept_words"
ADVERSARIAL_AS = ("abstention", "evidence")
# All packages are of one distribution: a conversation holds questions of every category.
DISTRIBUTION = "conversation"


@dataclass(frozen=True)
class LocomoOptions:
    """grid: coverage in multiples of 1/grid. *_floor: shares below it count as 0. adversarial: see above."""

    grid: int = 20
    observation_floor: float = 0.0
    summary_floor: float = 0.25
    adversarial: str = "abstention"

    def __post_init__(self) -> None:
        if self.adversarial not in ADVERSARIAL_AS:
            raise InputError(f"adversarial {self.adversarial!r} is unknown; write one of {', '.join(ADVERSARIAL_AS)}")


def build_locomo(
    conversations: Iterable[Conversation], suite: str, options: LocomoOptions | None = None
) -> BuildResult:
    """A package for each conversation that has a question to score; unscored questions with the reason.

    Package: package_id = sample_id, no seed. Ids: sample::D3:4 (a turn's group, and its unit), sample::session_3 (a
    summary's group); candidates sample::D3:4::raw, sample::session_3::observation7, sample::session_3::summary;
    queries sample::q12. Declared cost = words of the candidate's text. time_index = rank of the turn in the
    conversation, a session's summary after its last turn.
    """
    options = options or LocomoOptions()
    result = BuildResult([], [], [])
    for conversation in sorted(conversations, key=lambda c: c.sample_id):
        result.warnings.extend(dict(row) for row in conversation.warnings)
        queries = []
        for question in conversation.questions:
            reason = _why_unscored(question, options)
            if reason is None:
                queries.append(_query(conversation, question, options))
            else:
                row = {"source_id": question.query_id, "category": question.category, "reason": reason}
                result.unscored.append(row)
        if any(query.required for query in queries):
            result.packages.append(_package(conversation, queries, suite, options))
        else:
            result.unscored.extend(_without_package(conversation, queries))
    return result


def _without_package(conversation: Conversation, queries: Sequence[Query]) -> list[dict[str, str]]:
    """Rows for the queries that no package is made of, or for the conversation where it has not even such."""
    reason = "no question of the conversation requires a turn"
    left = [(query.query_id, query.category) for query in queries] or [(conversation.sample_id, DISTRIBUTION)]
    return [{"source_id": source_id, "category": category, "reason": reason} for source_id, category in left]


def _is_abstention(question: Question, options: LocomoOptions) -> bool:
    return question.category == ADVERSARIAL and options.adversarial == "abstention"


def _why_unscored(question: Question, options: LocomoOptions) -> str | None:
    if _is_abstention(question, options):
        return None
    if question.unresolved:
        return f"evidence that is no turn: {', '.join(question.unresolved)}"
    return None if question.evidence else "no evidence"


def _query(conversation: Conversation, question: Question, options: LocomoOptions) -> Query:
    needed = () if _is_abstention(question, options) else question.evidence
    required = tuple(sorted(_id(conversation, turn_id) for turn_id in needed))
    return Query(question.query_id, required, question.category, question.text, question.answer)


def _package(conversation: Conversation, queries: Sequence[Query], suite: str, options: LocomoOptions) -> Package:
    names = content_words(" ".join(conversation.speakers))
    cited = {turn_id for question in conversation.questions for turn_id in question.evidence}
    units = _units(conversation, cited, Counter(unit_id for query in queries for unit_id in query.required))
    words = {
        turn.turn_id: content_words(turn.content, names)
        for session in conversation.sessions
        for turn in session.turns
        if turn.turn_id in cited
    }
    candidates, coverage = [], {}
    for candidate, shares in _memories(conversation, words, names, options):
        candidates.append(candidate)
        coverage.update(
            {(candidate.candidate_id, _id(conversation, turn_id)): share for turn_id, share in shares.items() if share}
        )
    return build(
        suite,
        package_id=conversation.sample_id,
        distribution=DISTRIBUTION,
        seed=None,
        candidates=candidates,
        units=units,
        coverage=coverage,
        queries=queries,
    )


def _units(conversation: Conversation, cited: set[str], weight: Mapping[str, int]) -> list[Unit]:
    units = []
    for turn in (turn for session in conversation.sessions for turn in session.turns if turn.turn_id in cited):
        unit_id = _id(conversation, turn.turn_id)
        needed = weight.get(unit_id, 0)
        units.append(Unit(unit_id, float(needed), "current" if needed else "", "cited_turn", turn.line))
    return units


def _memories(
    conversation: Conversation, words: Mapping[str, frozenset[str]], names: frozenset[str], options: LocomoOptions
) -> Iterable[tuple[Candidate, dict[str, float]]]:
    """Each candidate with the turns it covers; `words`: content words of each cited turn."""
    time = _ranks(conversation)

    def candidate(group: str, name: str, kind: str, text: str) -> Candidate:
        ids = _id(conversation, name), _id(conversation, group)
        return Candidate(*ids, kind, BUILT_IN["words"](size_of(text)), time_index=time[group], text=text)

    def kept(text: str, turn_ids: Iterable[str], floor: float) -> dict[str, float]:
        by = content_words(text, names)
        return {
            turn_id: kept_share(words[turn_id], by, options.grid, floor) for turn_id in turn_ids if turn_id in words
        }

    for session in conversation.sessions:
        turn_ids = [turn.turn_id for turn in session.turns]
        for turn in session.turns:
            if turn.content:
                own = {turn.turn_id: 1.0} if turn.turn_id in words else {}
                yield candidate(turn.turn_id, f"{turn.turn_id}{SEPARATOR}raw", "raw_span", turn.line), own
        for seen in session.observations:
            made = candidate(seen.turn_ids[0], seen.observation_id, "atomic_fact", seen.text)
            yield made, kept(seen.text, seen.turn_ids, options.observation_floor)
        if session.summary is not None:
            name = f"{session.session_id}{SEPARATOR}summary"
            made = candidate(session.session_id, name, "summary", session.summary)
            yield made, kept(session.summary, turn_ids, options.summary_floor)


def _ranks(conversation: Conversation) -> dict[str, int]:
    """Place in time of each turn id, and of each session id (its summary) after its turns."""
    order = (name for s in conversation.sessions for name in (*(t.turn_id for t in s.turns), s.session_id))
    return {name: rank for rank, name in enumerate(order)}


def _id(conversation: Conversation, name: str) -> str:
    return f"{conversation.sample_id}{SEPARATOR}{name}"
