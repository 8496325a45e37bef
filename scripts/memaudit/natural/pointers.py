"""Texts that stand elsewhere: an annotation folder may point into conversations instead of holding their words.

A session's text is one line "role: content" for each turn that is not blank, joined by "\\n" (as in `turns`);
its sha256 is over UTF-8. A pointer names the session, that hash, and a half-open range:

    {"session_id": s, "sha256": h}                        the whole session
    {..., "words": [0, 220], "cut_mark": true}            its words (split at whitespace, which is kept); the
                                                          mark " ..." is added where the range ends before the end
    {..., "turns": [4, 6], "roles": false}                its turns by position, blank ones counted but not shown;
                                                          roles: false leaves the "role: " out
    {..., "chars": [10, 52]}                              its characters (code points), for a quote

n_words, n_chars and n_bytes, where given, are those of the resulting text, and are checked.

A query points to its question and gold answer: {"question_id": q, "question_sha256": h, "answer_sha256": h}.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..errors import InputError
from .conversations import Example, Session
from .coverage_package import CoveragePackage
from .coverage_rows import CoverageQuery, Finding, Place, Pointer, QuestionPointer
from .turns import CUT_MARK

_WORD = re.compile(r"\S+")


def session_text(session: Session, *, roles: bool = True, turns: range | None = None) -> str:
    """The session as text; `turns`: only these positions."""
    shown = (t for n, t in enumerate(session.turns) if (turns is None or n in turns) and not t.is_blank)
    return "\n".join(f"{t.role}: {t.content}" if roles else t.content for t in shown)


def sha256_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def counts_of(text: str) -> dict[str, int]:
    """n_words (as cost model `words` counts, without its minimum), n_chars, n_bytes."""
    return {"n_words": len(text.split()), "n_chars": len(text), "n_bytes": len(text.encode("utf-8"))}


def pointer_row(session: Session, **parts: Any) -> dict[str, Any]:
    """The JSON form of a pointer into `session`; `parts`: words, turns or chars, and cut_mark or roles."""
    whole = session_text(session)
    unit = next((key for key in ("words", "turns", "chars") if key in parts), None)
    start, end = parts[unit] if unit else (0, 0)
    digest = sha256_of(whole)
    options = {key: parts[key] for key in ("roles", "cut_mark") if key in parts}
    text = _text(Pointer(session.session_id, digest, unit, start, end, **options), session, whole)
    return {"session_id": session.session_id, "sha256": digest, **parts, **counts_of(text)}


def question_pointer(example: Example) -> dict[str, str]:
    """The JSON form of a pointer to the question and answer of `example`."""
    return {
        "question_id": example.question_id,
        "question_sha256": sha256_of(example.question),
        "answer_sha256": sha256_of(example.answer_text),
    }


class Sessions:
    """The sessions of conversations, by id and hash of the text (an id may stand for several texts), and the
    questions asked of them."""

    def __init__(self, examples: Iterable[Example]) -> None:
        self._by_id: dict[str, dict[str, tuple[Session, str]]] = defaultdict(dict)
        self._questions: dict[str, Example] = {}
        for example in examples:
            self._questions[example.question_id] = example
            for session in example.sessions:
                text = session_text(session)
                self._by_id[session.session_id].setdefault(sha256_of(text), (session, text))

    def question(self, pointer: QuestionPointer) -> tuple[str, str]:
        """(question, answer) that `pointer` means; InputError where it means none."""
        example = self._questions.get(pointer.question_id)
        if example is None:
            raise InputError(f"question {pointer.question_id} is not in the conversations; name the file that has it")
        found = question_pointer(example)
        for key in ("question_sha256", "answer_sha256"):
            if found[key] != getattr(pointer, key):
                raise InputError(
                    f"question {pointer.question_id} has {key} {found[key]}, the pointer says {getattr(pointer, key)}; "
                    f"name the conversations that the package was made from"
                )
        return example.question, example.answer_text

    def text(self, pointer: Pointer) -> str:
        """The text that `pointer` means; InputError where it means none."""
        versions = self._by_id.get(pointer.session_id)
        if not versions:
            raise InputError(f"session {pointer.session_id} is not in the conversations; name the file that has it")
        if pointer.sha256 not in versions:
            found = ", ".join(sorted(versions))
            raise InputError(
                f"the text of session {pointer.session_id} has sha256 {found}, the pointer says {pointer.sha256}; "
                f"name the conversations that the package was made from"
            )
        text = _text(pointer, *versions[pointer.sha256])
        counts = counts_of(text)
        wrong = [f"{key} is {counts[key]}, not {n}" for key, n in sorted(pointer.counts.items()) if counts[key] != n]
        if wrong:
            raise InputError(f"the pointer's text in session {pointer.session_id}: {', '.join(wrong)}")
        return text


def _text(pointer: Pointer, session: Session, whole: str) -> str:
    if pointer.unit is None:
        return whole
    if pointer.unit == "turns":
        _refuse_beyond(pointer, len(session.turns))
        text = session_text(session, roles=pointer.roles, turns=range(pointer.start, pointer.end))
        if not text:
            raise InputError(f"turns {pointer.start} to {pointer.end} of session {pointer.session_id} are blank")
        return text
    if pointer.unit == "chars":
        _refuse_beyond(pointer, len(whole))
        return whole[pointer.start : pointer.end]
    words = list(_WORD.finditer(whole))
    # A cut at a word limit is no longer than the session.
    end = min(pointer.end, len(words)) if pointer.cut_mark else pointer.end
    _refuse_beyond(replace(pointer, end=end), len(words))
    text = whole[words[pointer.start].start() : words[end - 1].end()]
    return text + CUT_MARK if pointer.cut_mark and end < len(words) else text


def _refuse_beyond(pointer: Pointer, size: int) -> None:
    if pointer.end > size or pointer.start >= pointer.end:
        raise InputError(
            f"{pointer.unit} [{pointer.start}, {pointer.end}] reach beyond session {pointer.session_id}, "
            f"which has {size}"
        )


def fill_in(package: CoveragePackage, sessions: Sessions | None) -> CoveragePackage:
    """The package with the texts of its pointers; where `sessions` is None they stay absent, with a finding.

    A text that a row has beside its pointer must be the same. Findings: bad_pointer (an error), unfilled.
    """
    findings: list[Finding] = []
    unfilled: dict[str, int] = defaultdict(int)

    def filled(row: Any, place: Place, name: str) -> Any:
        if row.pointer is None:
            return row
        if sessions is None:
            unfilled[place.file] += row.text is None
            return row
        try:
            text = sessions.text(row.pointer)
        except InputError as error:
            findings.append(Finding(place.file, place.line, "bad_pointer", name, str(error)))
            return row
        if row.text not in (None, text):
            message = "the row's text is not what its pointer means; remove one of the two"
            findings.append(Finding(place.file, place.line, "bad_pointer", name, message))
        return replace(row, text=text)

    def asked(query: CoverageQuery) -> CoverageQuery:
        if query.pointer is None:
            return query
        if sessions is None:
            unfilled[query.place.file] += query.question is None
            return query
        try:
            question, answer = sessions.question(query.pointer)
        except InputError as error:
            findings.append(Finding(query.place.file, query.place.line, "bad_pointer", query.query_id, str(error)))
            return query
        if query.question not in (None, question) or query.answer not in (None, answer):
            message = "the row's question or answer is not what its pointer means; remove one of the two"
            findings.append(Finding(query.place.file, query.place.line, "bad_pointer", query.query_id, message))
        return replace(query, question=question, answer=answer)

    queries = tuple(map(asked, package.queries))
    experiences = tuple(filled(e, e.place, e.experience_id) for e in package.experiences)
    candidates = tuple(filled(c, c.place, c.candidate_id) for c in package.candidates)
    units = tuple(replace(u, spans=tuple(filled(span, u.place, u.unit_id) for span in u.spans)) for u in package.units)
    findings += _unfilled(unfilled)
    return replace(
        package,
        queries=queries,
        experiences=experiences,
        candidates=candidates,
        units=units,
        findings=(*package.findings, *findings),
    )


def _unfilled(counts: Mapping[str, int]) -> list[Finding]:
    message = "{} texts stand as pointers and stay absent; name the conversations (`conversations`) to fill them in"
    return [Finding(file, 0, "unfilled", "", message.format(n)) for file, n in sorted(counts.items()) if n]
