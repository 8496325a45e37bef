"""Labelling natural packages by hand or by a model: what labellers are shown, and how their labels become rows.

Three passes over LongMemEval-form examples (source of the rules: natural.md, "Building one from
conversations"; instructions for labellers: data/natural100/instructions):

    a1  a session alone (no question, no answer, no mark): evidence units with a quote, candidate memories
    a2  a query with its units and candidates: required units, derived units, coverage
    b   the same query, units and candidates without a2's labels: verdict, required units, labels of the frame

A labeller quotes the source; what is kept is a pointer (`pointers`), so that labels hold none of its text.
Sessions, queries, units and candidates go by short names (S001, Q001, S001.u1, Q001.d1, S001.c1, S001.raw).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from ..errors import InputError
from .conversations import Example, Session
from .pointers import pointer_row, session_text, sha256_of
from .slices import cut
from .turns import RAW_SPAN_WORDS

WORD_LIMIT = 1800
LONGEST_SHARED_RUN = 8  # words
MOST_UNITS = 4
KINDS = (
    "current_fact",
    "temporal_fact",
    "preference",
    "update",
    "invalidation",
    "stale_or_superseded",
    "abstention",
    "context",
    "other",
)
TYPES = ("atomic_fact", "graph_edge", "summary", "tombstone", "compound_update")
LEVELS = (0.5, 1.0)
VERDICTS = ("sound", "ambiguous", "rejected")
_WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SHOWN_OF_ASSISTANT = 60  # words of an assistant's turn in the bundles of queries


# ---- The choice of examples


def stratum_of(example: Example) -> str:
    """Question type, number of sessions (3 = three or more), and whether it is an abstention question."""
    sessions = min(3, len(example.sessions))
    return f"{example.question_type}/{sessions}{'/abstention' if example.is_abstention else ''}"


def choose_stratified(examples: Iterable[Example], count: int, seed: int) -> tuple[list[Example], dict[str, int]]:
    """`count` examples, and how many of each stratum: in proportion to the strata, by largest remainder (ties by
    name); inside a stratum sorted by id, shuffled by Random(f"{seed}:{stratum}"), the first ones."""
    strata: dict[str, list[Example]] = {}
    for example in sorted(examples, key=lambda e: e.question_id):
        strata.setdefault(stratum_of(example), []).append(example)
    total = sum(map(len, strata.values()))
    if count > total:
        raise InputError(f"{count} examples are wanted and there are {total}")
    quota = {name: count * len(members) // total for name, members in strata.items()}
    rest = sorted(strata, key=lambda name: (-(count * len(strata[name]) % total), name))
    for name in rest[: count - sum(quota.values())]:
        quota[name] += 1
    chosen = []
    for name in sorted(strata):
        members = list(strata[name])
        Random(f"{seed}:{name}").shuffle(members)
        chosen += members[: quota[name]]
    return sorted(chosen, key=lambda e: e.question_id), {name: quota[name] for name in sorted(quota)}


# ---- What is labelled, under short names


@dataclass(frozen=True)
class Frame:
    """The chosen examples and their sessions under short names.

    sessions: S001... -> session, each (id, text, date) once, in the order of the examples; queries: Q001... ->
    example, by question id; sessions_of: query -> its sessions by date.
    """

    sessions: Mapping[str, Session]
    queries: Mapping[str, Example]
    sessions_of: Mapping[str, tuple[str, ...]]


def frame_of(examples: Sequence[Example]) -> Frame:
    names: dict[tuple[str, str, str], str] = {}
    sessions: dict[str, Session] = {}
    queries: dict[str, Example] = {}
    sessions_of: dict[str, tuple[str, ...]] = {}
    for number, example in enumerate(sorted(examples, key=lambda e: e.question_id), start=1):
        own = []
        for session in sorted(example.answer_sessions, key=lambda s: (s.date, s.position)):
            key = (session.session_id, sha256_of(session_text(session)), session.date_text)
            name = names.setdefault(key, f"S{len(names) + 1:03d}")
            sessions.setdefault(name, session)
            own.append(name)
        queries[f"Q{number:03d}"] = example
        sessions_of[f"Q{number:03d}"] = tuple(own)
    return Frame(sessions, queries, sessions_of)


# ---- What labellers are shown


def session_bundle(name: str, session: Session) -> str:
    """Pass a1: the session's date and turns, cut at WORD_LIMIT words; nothing else."""
    lines = [f"# Session {name}", f"date: {session.date_text}", ""]
    for n, turn in enumerate(cut(session, WORD_LIMIT).turns):
        if not turn.is_blank:
            lines += [f"[turn {n}] {turn.role}:", turn.content, ""]
    return "\n".join(lines)


def query_bundle(name: str, frame: Frame, made: Mapping[str, Mapping], derived: Sequence[Mapping] = ()) -> str:
    """Passes a2 and b: question, gold answer, sessions by date (assistant turns shortened), units, candidates.

    `made`: a1's rows by session name; `derived`: units that a2 added (shown to b as any other unit).
    """
    lines = [*question_lines(name, frame), "## Evidence units", ""]
    for session_name in frame.sessions_of[name]:
        for unit in made[session_name]["units"]:
            lines.append(f"{session_name}.{unit['unit']} ({unit['kind']}): {unit['text']}")
    lines += [f"{name}.{unit['unit']} ({unit['kind']}): {unit['text']}" for unit in derived]
    lines += ["", "## Candidate memories", "", *(line for _, line in candidate_lines(name, frame, made))]
    return "\n".join([*lines, ""])


def question_lines(name: str, frame: Frame) -> list[str]:
    """What every bundle of a query begins with: question, gold answer, sessions by date, assistant turns shortened."""
    example = frame.queries[name]
    lines = [
        f"# Query {name}",
        f"asked on: {example.question_date:%Y/%m/%d (%a) %H:%M}",
        f"question: {example.question}",
        f"gold answer: {example.answer_text}",
        "",
    ]
    for session_name in frame.sessions_of[name]:
        session = frame.sessions[session_name]
        lines += [f"## Session {session_name}, {session.date_text}", ""]
        for n, turn in enumerate(cut(session, WORD_LIMIT).turns):
            if not turn.is_blank:
                lines += [f"[turn {n}] {turn.role}: {_shortened(turn.role, turn.content)}", ""]
    return lines


def candidate_lines(name: str, frame: Frame, made: Mapping[str, Mapping]) -> list[tuple[str, str]]:
    """(name, line) of each candidate of a query."""
    lines = []
    for session_name in frame.sessions_of[name]:
        session = frame.sessions[session_name]
        own = [("raw", "raw_span", _raw_text(session))] if made[session_name]["units"] else []
        own += [(c["candidate"], c["type"], c["text"]) for c in made[session_name]["candidates"]]
        lines += [(f"{session_name}.{part}", f"{session_name}.{part} ({kind}): {text}") for part, kind, text in own]
    return lines


def _shortened(role: str, content: str) -> str:
    words = content.split()
    if role == "user" or len(words) <= _SHOWN_OF_ASSISTANT:
        return content
    return " ".join(words[:_SHOWN_OF_ASSISTANT]) + " [...]"


def _raw_text(session: Session) -> str:
    words = session_text(session).split()
    return " ".join(words[:RAW_SPAN_WORDS]) + (" ..." if len(words) > RAW_SPAN_WORDS else "")


def cells_bundle(cells: Sequence[tuple[str, str]], name: str) -> str:
    """Pass b: the cells of the query's audit frame in an order that tells nothing."""
    shuffled = sorted(cells)
    Random(name).shuffle(shuffled)
    return "\n".join(["## Cells to label", "", *(f"{c} {u}" for c, u in shuffled), ""])


# ---- Taking labels in


class Problems(InputError):
    """Everything that is wrong with what a labeller handed in, a line each."""

    def __init__(self, found: Sequence[str]) -> None:
        super().__init__("\n".join(found))


def shared_run(text: str, sources: Iterable[str]) -> str | None:
    """A run of more than LONGEST_SHARED_RUN consecutive words that `text` shares with a source, else None.

    Words are runs of letters and digits, lower case; punctuation and line ends do not break a run.
    """
    shared = runs_of([text])
    shared = shared & runs_of(sources) if shared else shared
    return " ".join(min(shared)) if shared else None


def runs_of(texts: Iterable[str]) -> set[tuple[str, ...]]:
    """Every run of LONGEST_SHARED_RUN + 1 consecutive words of the texts."""
    size = LONGEST_SHARED_RUN + 1
    found = [_WORDS.findall(text.lower()) for text in texts]
    return {tuple(words[i : i + size]) for words in found for i in range(len(words) - size + 1)}


def texts_of(row: Mapping[str, Any]) -> list[str]:
    """Every text that a labeller wrote in a row of any pass or of the corrections."""
    parts = [part for key in ("units", "candidates", "derived") for part in row.get(key, ())]
    inner = [part[key] for part in parts for key in ("text", "reason") if key in part]
    return [*inner, *(row[key] for key in ("note", "reason", "text") if row.get(key))]


def quote_pointer(session: Session, turn: Any, quote: Any) -> dict[str, Any]:
    """The pointer to a verbatim quote in a turn (white space may differ), as characters of the session's text.

    Raises InputError where the turn does not hold it, or only beyond the word limit.
    """
    if not isinstance(turn, int) or not 0 <= turn < len(session.turns):
        raise InputError(f"turn {turn!r} is none of the session's 0..{len(session.turns) - 1}")
    if not isinstance(quote, str) or not quote.strip():
        raise InputError("the quote is empty")
    pattern = r"\s+".join(map(re.escape, quote.split()))
    shown = cut(session, WORD_LIMIT).turns
    match = re.search(pattern, shown[turn].content) if turn < len(shown) else None
    if match is None:
        elsewhere = [n for n, t in enumerate(shown) if re.search(pattern, t.content)]
        hint = f"it stands in turn {elsewhere[0]}" if elsewhere else "copy it from the bundle, letter by letter"
        raise InputError(f"turn {turn} does not hold the quote {quote[:60]!r}; {hint}")
    before = sum(len(f"{t.role}: {t.content}\n") for t in session.turns[:turn] if not t.is_blank)
    start = before + len(f"{session.turns[turn].role}: ")
    return {"turn": turn, **pointer_row(session, chars=[start + match.start(), start + match.end()])}


def take_a1(rows: Iterable[Mapping], wanted: Mapping[str, Session]) -> list[dict[str, Any]]:
    """a1's rows, checked, quotes replaced by pointers: one a session of `wanted`, in order of names.

    A row: session, units [{kind, text, turn, quote}], candidates [{type, text}]; units and candidates get
    names u1.., c1.. in the order given. Raises Problems.
    """
    found: list[str] = []
    taken = {}
    for row in once(rows, "session", wanted, found):
        session, problems = wanted[row["session"]], []
        units = _units(row.get("units"), session, MOST_UNITS, problems)
        candidates = []
        for n, given in enumerate(list_of(row.get("candidates"), "candidates", problems), start=1):
            where = f"candidate {n}"
            if given.get("type") not in TYPES:
                problems.append(f"{where}: type {given.get('type')!r} is none of {', '.join(TYPES)}")
            candidates.append({"candidate": f"c{n}", "type": given.get("type"), "text": given.get("text")})
            problems += text_problems(where, given.get("text"), [session_text(session)])
        if units and not {"atomic_fact", "summary"} <= {c["type"] for c in candidates}:
            problems.append("a session with units needs at least one atomic_fact and a summary")
        if candidates and not units:
            problems.append("candidates without an evidence unit")
        found += [f"{row['session']}: {p}" for p in problems]
        taken[row["session"]] = {"session": row["session"], "units": units, "candidates": candidates}
    return all_of(taken, "session", wanted, found)


def take_a2(rows: Iterable[Mapping], frame: Frame, made: Mapping[str, Mapping], wanted: Sequence[str]) -> list[dict]:
    """a2's rows, checked: one a query of `wanted`.

    A row: query, derived [{kind, text, session, turn, quote}], required [unit], stale [unit],
    coverage [[candidate, unit, 0.5 or 1]], note. Raises Problems.
    """
    found: list[str] = []
    taken = {}
    for row in once(rows, "query", wanted, found):
        name, problems = row["query"], []
        sources = sources_of(frame, name)
        derived = []
        for n, given in enumerate(list_of(row.get("derived", []), "derived", problems), start=1):
            where = f"derived unit {n}"
            if given.get("session") not in frame.sessions_of[name]:
                problems.append(f"{where}: session {given.get('session')!r} is none of the query's")
                continue
            (unit,) = _units([given], frame.sessions[given["session"]], 1, problems, where) or ({},)
            problems += text_problems(where, given.get("text"), sources)
            derived.append({**unit, "unit": f"d{n}", "session": given["session"]})
        units = {*units_of(frame, made, name), *(f"{name}.{d['unit']}" for d in derived)}
        candidates = candidates_of(frame, made, name)
        required, stale = (_names(row.get(key, []), key, units, problems) for key in ("required", "stale"))
        coverage = checked_cells(row.get("coverage"), candidates, units, LEVELS, problems)
        problems += text_problems("note", row.get("note") or "-", sources)
        found += [f"{name}: {p}" for p in problems]
        taken[name] = {
            "query": name,
            "required": required,
            "derived": derived,
            "stale": stale,
            "coverage": coverage,
            "note": row.get("note") or "",
        }
    return all_of(taken, "query", wanted, found)


def take_b(
    rows: Iterable[Mapping], frame: Frame, units: Mapping[str, Iterable[str]], cells: Mapping[str, Iterable[tuple]]
) -> list[dict]:
    """b's rows, checked: one a query of `cells` (query -> its frame).

    A row: query, verdict, reason, required [unit], cells [[candidate, unit, 0, 0.5 or 1]] for the whole frame.
    Raises Problems.
    """
    found: list[str] = []
    taken = {}
    for row in once(rows, "query", cells, found):
        name, problems = row["query"], []
        if row.get("verdict") not in VERDICTS:
            problems.append(f"verdict {row.get('verdict')!r} is none of {', '.join(VERDICTS)}")
        problems += text_problems("reason", row.get("reason"), sources_of(frame, name))
        required = _names(row.get("required", []), "required", set(units[name]), problems)
        labelled = asked_cells(row.get("cells"), cells[name], problems)
        found += [f"{name}: {p}" for p in problems]
        taken[name] = {
            "query": name,
            "verdict": row.get("verdict"),
            "reason": row.get("reason"),
            "required": required,
            "cells": labelled,
        }
    return all_of(taken, "query", cells, found)


def take_corrections(
    rows: Iterable[Mapping], frame: Frame, made: Mapping[str, Mapping], derived: Mapping[str, Sequence[Mapping]]
) -> list[dict]:
    """Corrections by kind of error, checked: a layer above the passes, whose rows stay as they are.

    A row: what (coverage, unit_text, unit_kind or quote), unit, kind (of error), reason, and candidate, query and
    value; text; unit_kind; turn and quote. `derived`: query -> the units that a2 added. Raises Problems.
    """
    found: list[str] = []
    taken, seen = [], Counter()
    names = {query: {*units_of(frame, made, query), *_derived_names(query, derived)} for query in frame.queries}
    for number, row in enumerate(rows, start=1):
        where, what = f"row {number}", row.get("what")
        if what not in CORRECTIONS:
            found.append(f"{where}: what {what!r} is none of {', '.join(CORRECTIONS)}")
            continue
        kept = {key: row.get(key) for key in ("what", *CORRECTIONS[what], "kind", "reason")}
        unit = kept["unit"]
        queries = [query for query in frame.queries if unit in names[query]]
        if not queries or kept.get("query", queries[0]) not in queries:
            found.append(f"{where}: {unit!r} is no unit of {row.get('query', 'any query')}")
            continue
        sources = [text for query in queries for text in sources_of(frame, query)]
        for key in ("text", "reason", "kind"):
            found += text_problems(f"{where}: {key}", kept[key], sources) if key in kept else []
        if what == "coverage":
            if kept["candidate"] not in candidates_of(frame, made, kept["query"]):
                found.append(f"{where}: {kept['candidate']!r} is no candidate of {kept['query']}")
            if kept["value"] not in (0, *LEVELS):
                found.append(f"{where}: value {kept['value']!r} is none of 0, {', '.join(map(str, LEVELS))}")
        if what == "unit_kind" and kept["unit_kind"] not in KINDS:
            found.append(f"{where}: unit_kind {kept['unit_kind']!r} is none of {', '.join(KINDS)}")
        if what == "quote":
            try:
                kept["pointer"] = quote_pointer(_session_of(frame, unit, derived), row.get("turn"), row.get("quote"))
            except InputError as error:
                found.append(f"{where}: {error}")
        seen[what, unit, kept.get("query"), kept.get("candidate")] += 1
        taken.append(kept)
    found += [f"{' '.join(filter(None, key))} is corrected {n} times" for key, n in seen.items() if n > 1]
    if found:
        raise Problems(found)
    return taken


# What can be corrected -> the keys that say where and to what.
CORRECTIONS = {
    "coverage": ("query", "candidate", "unit", "value"),
    "unit_text": ("unit", "text"),
    "unit_kind": ("unit", "unit_kind"),
    "quote": ("unit",),
}


def _derived_names(query: str, derived: Mapping[str, Sequence[Mapping]]) -> list[str]:
    return [f"{query}.{unit['unit']}" for unit in derived[query]]


def _session_of(frame: Frame, unit: str, derived: Mapping[str, Sequence[Mapping]]) -> Session:
    place, _, part = unit.partition(".")
    if place in frame.queries:
        place = next(row["session"] for row in derived[place] if row["unit"] == part)
    return frame.sessions[place]


def units_of(frame: Frame, made: Mapping[str, Mapping], query: str) -> list[str]:
    """Names of the units that a1 gave the query's sessions."""
    return [f"{s}.{u['unit']}" for s in frame.sessions_of[query] for u in made[s]["units"]]


def candidates_of(frame: Frame, made: Mapping[str, Mapping], query: str) -> list[str]:
    names = []
    for s in frame.sessions_of[query]:
        names += [f"{s}.raw"] if made[s]["units"] else []
        names += [f"{s}.{c['candidate']}" for c in made[s]["candidates"]]
    return names


def sources_of(frame: Frame, query: str) -> list[str]:
    """The source's texts that labels of the query may not repeat: question, gold answer, whole sessions."""
    example = frame.queries[query]
    return [
        example.question,
        example.answer_text,
        *(session_text(frame.sessions[s]) for s in frame.sessions_of[query]),
    ]


def _units(given: Any, session: Session, most: int, problems: list[str], where: str = "") -> list[dict[str, Any]]:
    units = []
    rows = list_of(given, "units", problems)
    if len(rows) > most:
        problems.append(f"{len(rows)} units, at most {most}")
    for n, row in enumerate(rows, start=1):
        place = where or f"unit {n}"
        if row.get("kind") not in KINDS:
            problems.append(f"{place}: kind {row.get('kind')!r} is none of {', '.join(KINDS)}")
        problems += text_problems(place, row.get("text"), [session_text(session)])
        try:
            pointer = quote_pointer(session, row.get("turn"), row.get("quote"))
        except InputError as error:
            problems.append(f"{place}: {error}")
            continue
        units.append({"unit": f"u{n}", "kind": row.get("kind"), "text": row.get("text"), "pointer": pointer})
    return units


def text_problems(where: str, text: Any, sources: Iterable[str]) -> list[str]:
    """What is wrong with a labeller's own text: missing, or more words of a source in a row than LONGEST_SHARED_RUN."""
    if not isinstance(text, str) or not text.strip():
        return [f"{where}: the text is missing"]
    run = shared_run(text, sources)
    return [] if run is None else [f"{where}: more than {LONGEST_SHARED_RUN} words of the source in a row: {run!r}"]


def once(rows: Iterable[Mapping], key: str, wanted: Any, found: list[str]) -> list[Mapping]:
    """The rows of what is asked for; into `found` goes what nobody asked for, and what stands more than once."""
    rows = list(rows)
    times = Counter(row.get(key) for row in rows)
    found += [f"{key} {name!r} is none of those asked for" for name in times if name not in wanted]
    found += [f"{key} {name} stands {n} times" for name, n in times.items() if n > 1]
    return [row for row in rows if row.get(key) in wanted]


def all_of(taken: Mapping[str, dict], key: str, wanted: Iterable[str], found: list[str]) -> list[dict]:
    """The rows in the order of their names. Raises Problems: everything `found`, and what has no row."""
    found += [f"{key} {name} is missing" for name in wanted if name not in taken]
    if found:
        raise Problems(found)
    return [taken[name] for name in sorted(taken)]


def list_of(value: Any, key: str, problems: list[str]) -> list[Mapping]:
    if isinstance(value, list) and all(isinstance(v, Mapping) for v in value):
        return value
    problems.append(f"{key} is not a list of objects")
    return []


def _names(value: Any, key: str, known: set[str], problems: list[str]) -> list[str]:
    names = value if isinstance(value, list) else []
    problems += [] if isinstance(value, list) else [f"{key} is not a list"]
    problems += [f"{key}: {name!r} is no unit of this query" for name in names if name not in known]
    return sorted(dict.fromkeys(map(str, names)))


def asked_cells(value: Any, asked: Iterable[tuple[str, str]], problems: list[str]) -> list[list]:
    """[candidate, unit, value] of a row that is to label each cell of `asked` once, sorted; into `problems` goes what
    is not labelled, not asked for, or wrong as `checked_cells` says."""
    asked = set(asked)
    candidates, units = {c for c, _ in asked}, {u for _, u in asked}
    labelled = checked_cells(value, candidates, units, (0.0, *LEVELS), problems)
    given = {(c, u) for c, u, _ in labelled}
    problems += [f"cell {c} {u} is not labelled" for c, u in sorted(asked - given)]
    problems += [f"cell {c} {u} is not among the cells to label" for c, u in sorted(given - asked)]
    return labelled


def checked_cells(value: Any, candidates: Any, units: Any, levels: Sequence[float], problems: list[str]) -> list[list]:
    """[candidate, unit, value] of a row, sorted; into `problems` goes what is no cell, unknown, repeated, no level."""
    if not isinstance(value, list) or not all(isinstance(v, list) and len(v) == 3 for v in value):
        problems.append("cells or coverage must be a list of [candidate, unit, value]")
        return []
    for (c, u), n in Counter((str(c), str(u)) for c, u, _ in value).items():
        problems += [f"cell {c} {u} stands {n} times"] if n > 1 else []
    for c, u, v in value:
        problems += [] if c in candidates else [f"cell {c} {u}: no such candidate"]
        problems += [] if u in units else [f"cell {c} {u}: no such unit"]
        problems += [] if v in levels else [f"cell {c} {u}: value {v!r} is none of {', '.join(map(str, levels))}"]
    return sorted([str(c), str(u), float(v) if isinstance(v, int | float) else v] for c, u, v in value)
