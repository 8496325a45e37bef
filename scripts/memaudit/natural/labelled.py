"""Labels of `labelling` as a coverage package: what was made, what is required, what covers what, and who says so.

Two packages come of them (layout: docs/coverage_packages.md): the *primary* one is pass a's alone; in the
*adjudicated* one pass b decides. Its verdict and required units give the status of a query:

    ambiguous, rejected   b's verdict; the query is not in the adjudicated package
    corrected             b requires other units than a2
    accepted              b requires the same units

Coverage of the adjudicated package is b's label wherever b gave one (all of a2's positive cells and a seeded
sample of its zero cells), else a2's, which is then 0. Corrections stand above the passes: those of units count in
both packages, those of coverage in the adjudicated one. The second round (`second_round`) comes last: narrowed units
stand in for what either pass required, and where the passes labelled a cell again, that label is theirs and no
correction of the first counts. What each pass said stands with the cells of the audit frame alone. No text of the
source is held: sessions, quotes, raw spans, questions and answers are pointers with counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any

from .conversations import SEPARATOR, Example
from .coverage_rows import QuestionPointer, coverage_label, read_pointer
from .labelling import WORD_LIMIT, Frame
from .pointers import Sessions, pointer_row, question_pointer
from .second_round import NO_SECOND_ROUND, Cell, SecondRound
from .turns import RAW_SPAN_WORDS

GENERATOR = "natural100-a1"
A, B = "A", "B"
# Declared cost by type: words between these bounds (natural.md, "Building one from conversations", 3).
_CLIP = {
    "atomic_fact": (4, 20),
    "tombstone": (4, 20),
    "graph_edge": (8, 35),
    "summary": (10, 45),
    "compound_update": (10, 45),
}
_SUPERSEDED = "superseded"
ZERO_SHARE = 0.2  # of the zeros on the audit frame (natural.md, "Reliability and coverage audit")
UNSCORED = ("ambiguous", "rejected")


def index_of(frame: Frame) -> dict[str, Any]:
    """What assembly needs of the source, without its text: pointers of sessions and raw spans, questions."""
    sessions = {
        name: {
            "session_id": session.session_id,
            "date": session.date_text,
            "whole": pointer_row(session, words=[0, WORD_LIMIT], cut_mark=True),
            "raw": pointer_row(session, words=[0, RAW_SPAN_WORDS], cut_mark=True),
        }
        for name, session in frame.sessions.items()
    }
    queries = {
        name: {
            "pointer": question_pointer(example),
            "category": example.question_type,
            "asked_on": asked_on(example),
            "sessions": list(frame.sessions_of[name]),
        }
        for name, example in frame.queries.items()
    }
    return {"sessions": sessions, "queries": queries}


def asked_on(example: Example) -> str:
    """When the question was asked."""
    return f"{example.question_date:%Y-%m-%d %H:%M}"


def declared_cost(representation_type: str, words: int) -> int:
    """Whole cost units of a candidate of so many words; a raw span costs its words, at least 12."""
    if representation_type == "raw_span":
        return max(12, words)
    low, high = _CLIP[representation_type]
    return min(max(words, low), high)


def status_of(b: Mapping[str, Any], a2: Mapping[str, Any]) -> str:
    """accepted, corrected, ambiguous or rejected."""
    if b["verdict"] != "sound":
        return b["verdict"]
    return "accepted" if set(b["required"]) == set(a2["required"]) else "corrected"


def package_tables(
    index: Mapping[str, Any],
    a1: Iterable[Mapping],
    a2: Iterable[Mapping],
    b: Iterable[Mapping] = (),
    corrections: Iterable[Mapping] = (),
    second: SecondRound = NO_SECOND_ROUND,
    *,
    by_b: bool,
) -> dict[str, list[dict[str, Any]]]:
    """Table of `coverage_rows.TABLE_FILES` -> rows, of the primary (not `by_b`) or adjudicated package.

    Rows of coverage also say what each pass labelled (`labels`, zeros too), where b labelled the cell. A stale unit is
    superseded where the query does not require it.
    """
    made, judged = {row["session"]: row for row in a1}, {row["query"]: row for row in b}
    corrections = list(corrections)
    units, coverage = corrected_units(corrections), corrected_coverage(corrections)
    tables: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("queries", "experiences", "units", "candidates", "coverage", "decisions")
    }
    for labels in sorted(a2, key=lambda row: _id(index, row["query"])):
        verdict = judged.get(labels["query"])
        status = None if verdict is None else status_of(verdict, labels)
        if by_b and status in UNSCORED:
            continue
        query = _Query(index, made, labels, second)
        required = second.required(query.name, (verdict if by_b else labels)["required"])
        tables["queries"].append(query.row(required, status if by_b else None))
        tables["experiences"] += query.experiences()
        tables["units"] += query.units(units, required)
        tables["candidates"] += query.candidates()
        rows = query.coverage(None if verdict is None else verdict["cells"], by_b, coverage.get(query.name, {}))
        tables["coverage"] += rows
        tables["decisions"] += [query.decision(verdict, status)] if by_b else query.cell_decisions(rows, status)
    return tables


def decisions(
    index: Mapping[str, Any], a2: Iterable[Mapping], b: Iterable[Mapping], second: SecondRound = NO_SECOND_ROUND
) -> list[dict[str, Any]]:
    """Rows of adjudication_decisions.jsonl: every query, those that are not scored too."""
    labels = {row["query"]: row for row in a2}
    rows = [
        _Query(index, {}, labels[row["query"]], second).decision(row, status_of(row, labels[row["query"]])) for row in b
    ]
    return sorted(rows, key=lambda row: row["query_id"])


def short_names(
    index: Mapping[str, Any], a1: Iterable[Mapping], a2: Iterable[Mapping], second: SecondRound = NO_SECOND_ROUND
) -> dict[str, str]:
    """Id of a unit or candidate in the packages -> its short name in the labels."""
    made, names = {row["session"]: row for row in a1}, {}
    for labels in a2:
        query = _Query(index, made, labels)
        own = [*(f"{query.name}.{d['unit']}" for d in labels["derived"]), *second.units(query.name)]
        for s in query.entry["sessions"]:
            own += [f"{s}.raw", *(f"{s}.{u['unit']}" for u in made[s]["units"])]
            own += [f"{s}.{c['candidate']}" for c in made[s]["candidates"]]
        names |= {query.id(name): name for name in own}
    return names


def with_texts(row: Mapping[str, Any], sessions: Sessions) -> dict[str, Any]:
    """A row of the packages with the texts that its pointers mean, beside them. InputError where one means none."""
    filled = dict(row)
    if "query_id" in row and "pointer" in row:
        filled["question"], filled["answer"] = sessions.question(QuestionPointer(**row["pointer"]))
    elif "pointer" in row:
        filled["text"] = sessions.text(read_pointer(row["pointer"]))
    if "source_spans" in row:
        filled["source_spans"] = [with_texts(span, sessions) for span in row["source_spans"]]
    return filled


def _id(index: Mapping[str, Any], name: str) -> str:
    return index["queries"][name]["pointer"]["question_id"]


def _cell_status(labels: Mapping[str, float], status: str) -> str:
    if status in UNSCORED:
        return status
    return "accepted" if labels[A] == labels[B] else "corrected"


def corrected_units(corrections: Iterable[Mapping]) -> dict[str, dict[str, Any]]:
    """Unit -> what replaces its text, kind or pointer."""
    units: dict[str, dict[str, Any]] = {}
    for row in corrections:
        if row["what"] != "coverage":
            key, value = {
                "unit_text": ("text", row.get("text")),
                "unit_kind": ("kind", row.get("unit_kind")),
                "quote": ("pointer", row.get("pointer")),
            }[row["what"]]
            units.setdefault(row["unit"], {})[key] = value
    return units


def corrected_coverage(corrections: Iterable[Mapping]) -> dict[str, dict[tuple[str, str], float]]:
    """Query -> (candidate, unit) -> coverage."""
    cells: dict[str, dict[tuple[str, str], float]] = {}
    for row in corrections:
        if row["what"] == "coverage":
            cells.setdefault(row["query"], {})[row["candidate"], row["unit"]] = float(row["value"])
    return cells


class _Query:
    """One query's rows; short names become ids: {question id}::{session id}::{u1, c1, raw}, {question id}::{d1}."""

    def __init__(
        self,
        index: Mapping[str, Any],
        made: Mapping[str, Mapping],
        labels: Mapping[str, Any],
        second: SecondRound = NO_SECOND_ROUND,
    ) -> None:
        self.name, self.labels, self.made, self.second = labels["query"], labels, made, second
        self.entry, self.sessions = index["queries"][self.name], index["sessions"]
        self.query_id = self.entry["pointer"]["question_id"]

    def id(self, name: str) -> str:
        """The id of a unit or candidate by its short name."""
        place, _, part = name.partition(".")
        return SEPARATOR.join((self.query_id, part) if place == self.name else (self.experience_id(place), part))

    def experience_id(self, session: str) -> str:
        return SEPARATOR.join((self.query_id, self.sessions[session]["session_id"]))

    def ids(self, names: Iterable[str]) -> list[str]:
        return sorted(map(self.id, names))

    @property
    def primary_required(self) -> list[str]:
        return self.second.required(self.name, self.labels["required"])

    def row(self, required: Sequence[str], status: str | None) -> dict[str, Any]:
        row = {
            "query_id": self.query_id,
            "pointer": self.entry["pointer"],
            "category": self.entry["category"],
            "asked_on": self.entry["asked_on"],
            "required_unit_ids": self.ids(required),
            "answer_session_ids": [self.sessions[s]["session_id"] for s in self.entry["sessions"]],
        }
        if status is not None:
            row |= {"primary_required_unit_ids": self.ids(self.primary_required), "adjudication_status": status}
        return row

    def experiences(self) -> list[dict[str, Any]]:
        return [
            {
                "experience_id": self.experience_id(s),
                "session_id": self.sessions[s]["session_id"],
                "timestamp": self.sessions[s]["date"],
                "pointer": self.sessions[s]["whole"],
                "source_kind": "answer_support",
            }
            for s in self.entry["sessions"]
        ]

    def units(self, corrected: Mapping[str, Mapping], required: Sequence[str]) -> list[dict[str, Any]]:
        rows = [(s, f"{s}.{u['unit']}", u) for s in self.entry["sessions"] for u in self.made[s]["units"]]
        rows += [(d["session"], f"{self.name}.{d['unit']}", d) for d in self.labels["derived"]]
        narrow = self.second.units(self.name)
        rows += [(unit["session"], name, unit) for name, unit in narrow.items()]
        # A question may ask for the earlier state too: what it requires is not superseded for it.
        stale = set(self.labels["stale"]) - {narrow[u]["replaces"] if u in narrow else u for u in required}
        return [
            self._unit(session, name, {**unit, **corrected.get(name, {})}, name in stale)
            for session, name, unit in rows
        ]

    def _unit(self, session: str, name: str, unit: Mapping[str, Any], stale: bool) -> dict[str, Any]:
        pointer = {key: value for key, value in unit["pointer"].items() if key != "turn"}
        span = {
            "span_id": f"{self.id(name)}::span",
            "experience_id": self.experience_id(session),
            "turn": unit["pointer"]["turn"],
            "pointer": pointer,
        }
        return {
            "unit_id": self.id(name),
            "kind": unit["kind"],
            "canonical_text": unit["text"],
            "source_spans": [span],
            "timestamp": self.sessions[session]["date"],
            "state": _SUPERSEDED if stale else "active",
            "annotator_ids": ["A1" if name.startswith(session) else "narrow" if "replaces" in unit else "A2"],
        }

    def candidates(self) -> list[dict[str, Any]]:
        rows = []
        for s in self.entry["sessions"]:
            common = {"experience_id": self.experience_id(s), "generator_id": GENERATOR}
            raw = self.sessions[s]["raw"]
            if self.made[s]["units"]:
                cost = declared_cost("raw_span", raw["n_words"])
                shape = {"candidate_id": self.id(f"{s}.raw"), "representation_type": "raw_span"}
                rows.append({**shape, **common, "pointer": raw, "cost": cost})
            for c in self.made[s]["candidates"]:
                cost = declared_cost(c["type"], len(c["text"].split()))
                shape = {"candidate_id": self.id(f"{s}.{c['candidate']}"), "representation_type": c["type"]}
                rows.append({**shape, **common, "serialized": c["text"], "cost": cost})
        return rows

    def coverage(
        self, cells: Sequence[Sequence] | None, by_b: bool, corrected: Mapping[tuple[str, str], float]
    ) -> list[dict[str, Any]]:
        by_a = {(c, u): v for c, u, v in self.labels["coverage"]}
        if cells is None:
            return [self._cell(cell, v, {A: v}) for cell, v in sorted(by_a.items())]
        again_a, again_b = self.second.values(self.name)
        first = {(c, u): v for c, u, v in cells}
        a, b = by_a | again_a, first | again_b
        framed = self._frame(a, first, b)
        rows = []
        for cell in sorted({*b, *(corrected if by_b else ())}):
            labels = {A: a.get(cell, 0.0), B: b.get(cell, 0.0)}
            value = corrected.get(cell, labels[B]) if cell not in again_b else labels[B]
            # Off the frame no `labels`, which would put the cell on it.
            row = self._cell(cell, value if by_b else labels[A], labels if cell in framed else None)
            rows += [row] if cell in framed or row["coverage"] > 0 or cell in corrected else []
        return rows

    def _frame(self, a: Mapping[Cell, float], first: Mapping[Cell, float], b: Mapping[Cell, float]) -> set[Cell]:
        """The cells that stand for all: those that a covers, b's sample of the first round's zeros, and of what else
        both labelled as large a share of a's zeros, drawn by the query's name.

        The second round labelled whole columns of cells, and cells for being in doubt: all of its zeros beside a sample
        of the others would count too much.
        """
        covered, before = {cell for cell in b if a.get(cell, 0.0) > 0}, {(c, u) for c, u, _ in self.labels["coverage"]}
        sampled = {cell for cell in first if cell not in covered and cell not in before}
        rest = sorted({*b} - covered - sampled)
        drawn = Random(f"frame:{self.name}").sample(rest, max(1, round(ZERO_SHARE * len(rest)))) if rest else []
        return {*covered, *sampled, *drawn}

    def _cell(self, cell: tuple[str, str], value: float, labels: Mapping[str, float] | None = None) -> dict[str, Any]:
        row = {
            "candidate_id": self.id(cell[0]),
            "unit_id": self.id(cell[1]),
            "coverage": value,
            "coverage_label": coverage_label(value),
        }
        return row if labels is None else row | {"labels": dict(labels)}

    def cell_decisions(self, rows: Iterable[Mapping[str, Any]], status: str | None) -> list[dict[str, Any]]:
        """What the adjudication made of each label of the primary package: the query's status where it is not scored,
        else whether b's label is the same."""
        if status is None:
            return []
        return [
            {
                "query_id": self.query_id,
                "candidate_id": row["candidate_id"],
                "unit_id": row["unit_id"],
                "status": _cell_status(row["labels"], status),
            }
            for row in rows
            if "labels" in row
        ]

    def decision(self, b: Mapping[str, Any], status: str) -> dict[str, Any]:
        required, primary = self.ids(self.second.required(self.name, b["required"])), self.ids(self.primary_required)
        edges = {(c, u): v for c, u, v in b["cells"]} | self.second.values(self.name)[1]
        return {
            "query_id": self.query_id,
            "status": status,
            "required_unit_ids": required,
            "primary_required_unit_ids": primary,
            "required_changed": required != primary,
            "coverage_edges": [[self.id(c), self.id(u), v] for (c, u), v in sorted(edges.items()) if v > 0],
            "rationale": b["reason"],
        }
