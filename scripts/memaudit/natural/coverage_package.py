"""A coverage package, and the packages made of it: one a query (layout: docs/coverage_packages.md)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..errors import InputError
from ..package import Candidate, Package, Query, TextSize, Unit, build
from ..schemas import BY_CELL, BY_ROW
from .build import BuildResult
from .conversations import SEPARATOR
from .coverage_rows import (
    CandidateMemory,
    CoverageCell,
    CoverageQuery,
    Decision,
    EvidenceUnit,
    Experience,
    Finding,
    Place,
    example_of,
)
from .free_dates import read_date

# What a judge makes of a query (layout, "Adjudication"); only the first two are scored.
SCORED = ("accepted", "corrected")
STATUSES = (*SCORED, "ambiguous", "rejected")
# Kinds and states by the role of the unit; kind goes first.
INVALIDATION = ("invalidation", "tombstone", "deletion")
STALE = ("stale_or_superseded", "stale", "superseded", "outdated", "obsolete", "invalidated")
PACKAGE_SOURCE = "package"
NO_STATUS = "unstated"
NO_CATEGORY = "uncategorised"


@dataclass(frozen=True)
class CoverageOptions:
    """How a package is judged and weighted.

    weights: "required" - a unit's own weight, at least 1 where the query requires it; "uniform" - 1 each.
    paper_defaults: a missing or zero cost counts as 1, with a warning. own: the package was built here, so
    what is wrong across files is an error. strict: every warning is an error. quantize: weights and coverage will
    be rounded to multiples of 1/quantize; None: they must be exact as they are.
    """

    weights: Literal["required", "uniform"] = "required"
    paper_defaults: bool = False
    own: bool = False
    strict: bool = False
    quantize: int | None = None


DEFAULT_OPTIONS = CoverageOptions()


@dataclass(frozen=True)
class CoveragePackage:
    """The parsed rows of a folder, in file order; a row that could not be read is only a finding.

    parent_decisions: of the parent folder, on examples that may no longer be here. manifest: of candidate
    generation, None where absent. file_hashes: file name -> sha256. other_files: human-audit and
    external-store files that are there (not read). findings: so far, in order.
    """

    queries: tuple[CoverageQuery, ...] = ()
    experiences: tuple[Experience, ...] = ()
    units: tuple[EvidenceUnit, ...] = ()
    candidates: tuple[CandidateMemory, ...] = ()
    coverage: tuple[CoverageCell, ...] = ()
    decisions: tuple[Decision, ...] = ()
    parent_decisions: tuple[Decision, ...] = ()
    manifest: Mapping[str, Any] | None = None
    file_hashes: Mapping[str, str] = field(default_factory=dict)
    other_files: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Example:
    """The rows of one query. cells: those of its candidates on its units, in file order."""

    query: CoverageQuery
    experiences: tuple[Experience, ...]
    units: tuple[EvidenceUnit, ...]
    candidates: tuple[CandidateMemory, ...]
    cells: tuple[CoverageCell, ...]

    @property
    def required(self) -> list[str]:
        """The required units that exist."""
        known = {unit.unit_id for unit in self.units}
        return [unit_id for unit_id in self.query.required if unit_id in known]


def is_shared(package: CoveragePackage) -> bool:
    """Whether no row names an example ('::' in no id): then every query has all rows."""
    ids = [*(e.experience_id for e in package.experiences), *(u.unit_id for u in package.units)]
    ids += [c.candidate_id for c in package.candidates]
    return not any(SEPARATOR in i for i in ids)


def examples(package: CoveragePackage) -> list[Example]:
    """One a query, sorted by query id; rows are found by the part of their id before '::' (see `is_shared`)."""
    shared = is_shared(package)
    experiences = _grouped(package.experiences, lambda e: e.experience_id, shared)
    units = _grouped(package.units, lambda u: u.unit_id, shared)
    candidates = _grouped(package.candidates, lambda c: c.candidate_id, shared)
    cells = _grouped(package.coverage, lambda cell: cell.candidate_id, shared)
    made = []
    for query in sorted(package.queries, key=lambda q: q.query_id):
        key = "" if shared else example_of(query.query_id)
        known = {u.unit_id for u in units[key]}
        offered = {c.candidate_id for c in candidates[key]}
        own = tuple(cell for cell in cells[key] if cell.unit_id in known and cell.candidate_id in offered)
        made.append(Example(query, tuple(experiences[key]), tuple(units[key]), tuple(candidates[key]), own))
    return made


def _grouped(rows: Iterable[Any], id_of: Any, shared: bool) -> defaultdict[str, list[Any]]:
    groups: defaultdict[str, list[Any]] = defaultdict(list)
    for row in rows:
        groups["" if shared else example_of(id_of(row))].append(row)
    return groups


def build_coverage(package: CoveragePackage, suite: str, options: CoverageOptions = DEFAULT_OPTIONS) -> BuildResult:
    """A Package for each query that can be scored; the others are listed with the reason.

    Package: package_id = query_id, distribution = the query's category, no seed, one query. Group = the
    candidate's experience, else its candidate_group, else itself. time_index = as given, else the rank of the
    candidate's experience (`time_ranks`). Coverage of a pair = the largest of its rows. The package must
    have no errors (`coverage_package_io.load_coverage_package`); its findings become warnings.
    """
    said = adjudications(package)
    judged_cells = {(d.candidate_id, d.unit_id): d.status for d in package.decisions if not d.on_query and d.status}
    result = BuildResult([], unscored(package), _warnings(package.findings), labels=[])
    primary: dict[tuple[str, str], frozenset[str]] = {}
    statuses: dict[tuple[str, str], str] = {}
    for example in examples(package):
        query = example.query
        if why_unscored(example, said) is not None:
            continue
        result.packages.append(_package(example, suite, options))
        result.labels.extend(_labels(example, judged_cells))
        if query.query_id in said:
            statuses[query.query_id, query.query_id] = said[query.query_id][-1].status
        if query.primary is not None:
            primary[query.query_id, query.query_id] = frozenset(query.primary)
    return BuildResult(result.packages, result.unscored, result.warnings, result.labels, primary, statuses)


@dataclass(frozen=True)
class Adjudication:
    """One statement on a query: the status, as written, that the row at `place` (of the parent folder?) gives it."""

    place: Place
    status: str
    in_parent: bool = False


def adjudications(package: CoveragePackage) -> dict[str, list[Adjudication]]:
    """Query id -> what is said of it: its row, the decisions, the parent folder's decisions.

    Those of the parent folder count for a query that is here only where the package is itself adjudicated: a primary
    package may stand beside the adjudicated one that they are about.
    """
    said: defaultdict[str, list[Adjudication]] = defaultdict(list)
    for query in package.queries:
        if query.status is not None:
            said[query.query_id].append(Adjudication(query.place, query.status))
    for decision in package.decisions:
        if decision.on_query and decision.status is not None:
            said[decision.query_id].append(Adjudication(decision.place, decision.status))
    is_adjudicated, present = bool(said), {query.query_id for query in package.queries}
    for decision in package.parent_decisions:
        counts = is_adjudicated or decision.query_id not in present
        if decision.on_query and decision.status is not None and counts:
            said[decision.query_id].append(Adjudication(decision.place, decision.status, in_parent=True))
    return dict(said)


def unscored(package: CoveragePackage) -> list[dict[str, str]]:
    """Rows of table `unscored`, sorted by query id: queries that are not scored, with the reason, those too that
    decisions stopped and that have no row any more."""
    said = adjudications(package)
    reasons = {e.query.query_id: (e.query.category, why_unscored(e, said)) for e in examples(package)}
    gone = {
        query_id: (None, f"{reason}, not in the package")
        for query_id in said.keys() - reasons.keys()
        if (reason := _stopped(said[query_id])) is not None
    }
    return [
        {"source_id": query_id, "category": category or NO_CATEGORY, "reason": reason}
        for query_id, (category, reason) in sorted((reasons | gone).items())
        if reason is not None
    ]


def why_unscored(example: Example, said: Mapping[str, Sequence[Adjudication]]) -> str | None:
    """Why no package is made of the example, None where one is; `said`: `adjudications`."""
    stopped = _stopped(said.get(example.query.query_id, ()))
    reasons = [stopped] if stopped else []
    if not example.required:
        reasons.append("none of its required units exists" if example.query.required else "no required unit")
    if not example.candidates:
        reasons.append("no candidate")
    if not example.units:
        reasons.append("no evidence unit")
    return "; ".join(reasons) or None


def _stopped(said: Iterable[Adjudication]) -> str | None:
    """The reason where any status is not one that is scored."""
    stops = [s if s in STATUSES else f"{s!r}, no known status" for s in dict.fromkeys(a.status for a in said)]
    stops = [s for s in stops if s not in SCORED]
    return f"adjudication: {' and '.join(stops)}" if stops else None


def _package(example: Example, suite: str, options: CoverageOptions) -> Package:
    query = example.query
    coverage: dict[tuple[str, str], float] = {}
    for cell in example.cells:
        pair = (cell.candidate_id, cell.unit_id)
        coverage[pair] = max(cell.value, coverage.get(pair, 0.0))
    ranks = time_ranks(example)
    required = example.required
    return build(
        suite,
        package_id=query.query_id,
        distribution=query.category or NO_CATEGORY,
        seed=None,
        candidates=[_made_candidate(c, ranks, options) for c in example.candidates],
        units=[_made_unit(u, u.unit_id in required, options) for u in example.units],
        coverage=coverage,
        queries=[Query(query.query_id, tuple(sorted(required)), query.category, query.question, query.answer)],
    )


def _made_candidate(row: CandidateMemory, ranks: Mapping[str, int], options: CoverageOptions) -> Candidate:
    if row.cost is None and not options.paper_defaults:
        raise InputError(f"{row.place.file}: line {row.place.line}: candidate {row.candidate_id} has no positive cost")
    return Candidate(
        row.candidate_id,
        row.group_id,
        row.representation_type,
        1 if row.cost is None else row.cost,
        time_index=ranks[row.group_id] if row.time_index is None else row.time_index,
        text=row.text,
        confidence=row.confidence,
        estimated_value=row.estimated_value,
        estimated_coverage=row.estimated_coverage,
        size=_size(row),
    )


def _size(row: CandidateMemory) -> TextSize | None:
    """What the text that a pointer stands for measures, where it is not filled in and the pointer says so."""
    counts = {} if row.pointer is None or row.text is not None else row.pointer.counts
    sizes = [counts.get(key) for key in ("n_words", "n_chars", "n_bytes")]
    return None if None in sizes else TextSize(*sizes)


def _made_unit(row: EvidenceUnit, required: bool, options: CoverageOptions) -> Unit:
    weight = 1.0 if options.weights == "uniform" else max(row.weight, 1.0 if required else 0.0)
    return Unit(row.unit_id, weight, unit_role(row, weight), row.kind, row.text)


def unit_role(unit: EvidenceUnit, weight: float) -> str:
    """invalidation, stale, current or "": each unit has one role.

    The row's own `role` where it states one (packages written here), else by the kind, then the state:
    `INVALIDATION` -> invalidation, `STALE` -> stale; else current where its weight is positive. (The
    layout's "current units = units of positive weight" is so narrowed: a unit counts under one role only.)
    """
    if unit.role is not None:
        return unit.role
    for word in (unit.kind, unit.state):
        if word in INVALIDATION:
            return "invalidation"
        if word in STALE:
            return "stale"
    return "current" if weight > 0 else ""


def time_ranks(example: Example) -> dict[str, int]:
    """Experience (or group) id -> its rank in time in the example, from 0.

    By date, equal dates in file order. An experience without a readable date keeps its place in the file,
    the others are sorted around it. Groups whose experience has no row come last, in file order.
    """
    rows = list({e.experience_id: e for e in example.experiences}.values())
    dates = {e.experience_id: read_date(e.timestamp)[0] if e.timestamp else None for e in rows}
    dated = iter(sorted((e for e in rows if dates[e.experience_id]), key=lambda e: dates[e.experience_id]))
    order = [next(dated) if dates[e.experience_id] else e for e in rows]
    ranks = {e.experience_id: rank for rank, e in enumerate(order)}
    for candidate in example.candidates:
        ranks.setdefault(candidate.group_id, len(ranks))
    return ranks


def _labels(example: Example, judged: Mapping[tuple[str, str], str]) -> list[dict[str, Any]]:
    """Rows of table `labels`: one a labeller of a cell (source "package" where none is named), zeros too.

    status: the row's own, else that of a decision on its cell (`judged`). A cell that states `labels` gives a row for
    each of them, of that cell alone; else one with its value for each annotator, as a part of their labelling of the
    whole package. A source that labelled a pair more than once has
    passes "1", "2", ... in file order.
    """
    passes: Counter[tuple[str, str, str]] = Counter()
    rows = []
    for cell in example.cells:
        labels = cell.labels or dict.fromkeys(cell.annotator_ids or (PACKAGE_SOURCE,), cell.value)
        stated = BY_CELL if cell.labels else BY_ROW
        for source, value in labels.items():
            key = (cell.candidate_id, cell.unit_id, source)
            passes[key] += 1
            rows.append(
                {
                    "package_id": example.query.query_id,
                    "candidate_id": cell.candidate_id,
                    "unit_id": cell.unit_id,
                    "source": source,
                    "pass": str(passes[key]),
                    "value": value,
                    "status": cell.status or judged.get(key[:2], NO_STATUS),
                    "stated": stated,
                    "line": cell.place.line,
                }
            )
    return rows


def _warnings(findings: Sequence[Finding]) -> list[dict[str, str]]:
    """Rows of table `warnings`; source_id = the row's example, or the file."""
    rows = []
    for f in sorted(set(findings)):
        place = f"{f.file}: line {f.line}" if f.line else f.file
        source_id = example_of(f.id) if f.id else f.file
        detail = f"{place}: {f.id}: {f.message}" if f.id else f"{place}: {f.message}"
        rows.append({"source_id": source_id, "kind": f.kind, "detail": detail})
    return sorted(rows, key=lambda row: row["source_id"])
