"""Who says what a memory of a store covers where nobody labelled it: the seam for judges, and the one that ships.

The proxy compares what memory and unit say (`judge_text`) by the features below. Two scores, linear in them with
coefficients >= 0, are fitted on labels (`analysis.judge_fit`); a cell is 0 below the first score's threshold, else 1
from the second's on, else 0.5. Four rules come before, and are not fitted: a memory without a content word or
number of the unit covers nothing of it; one with all its words, numbers and dates, none denied, covers it in full;
one that has half of its words or more and denies what the unit affirms, or the other way round, covers nothing.
One that lacks a number of the unit (with another in its place or none), or has no date that agrees with one of the
unit's, covers at most half.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from ..errors import InputError
from ..package import Package, Unit
from .judge_text import Reading, read
from .labels import StoreCoverage
from .model import Store

# What the proxy compares, each the larger the more likely a cover is (so that no coefficient is below 0).
FEATURES = (
    "recall",  # share of the unit's content words that the memory has, by idf
    "shared",  # square root of the idf of the words that both have
    "names",  # share of the unit's rare words (names, mostly) that the memory has
    "number_stated",  # 1 where a number of the unit stands in the memory
    "number_missing",  # minus the share of the unit's numbers that do not
    "number_contradicted",  # -1 where the memory has another number of the same thing
    "date_stated",  # share of the unit's dates that the memory states as precisely
    "date_missing",  # minus the share that it does not
    "date_contradicted",  # minus the share that it has other dates for
    "memory_length",  # minus the logarithm of 1 + the memory's content words
)
# The rows of P(true label | judged): what was judged 0 by how near it came, and the other two labels.
FAR, LOW, NEAR, HALF, FULL = ROWS = ("0 far", "0 low", "0 near", "0.5", "1")
LEVELS = (0.0, 0.5, 1.0)
ROW_LEVEL = {FAR: 0.0, LOW: 0.0, NEAR: 0.0, HALF: 0.5, FULL: 1.0}
# Denial: this share of the unit's words in the memory, and this share of those denied by one of the two alone.
DENIED_RECALL, DENIED_SHARE = 0.5, 0.75
# A word of at most so many training texts, or of none, is rare.
RARE_DOCUMENTS = 3
# idf is a multiple of 1/64, so that sums of it are exact in any order.
_IDF_GRID = 64
_BLOCK = 512


class Cell(NamedTuple):
    """What a judge said of text number `memory` and unit number `unit`: one of ROWS."""

    memory: int
    unit: int
    row: str


class Judge(Protocol):
    """A judge of coverage. kind: proxy, model or labels. provenance: JSON values that say what its word is worth,
    with `kappa`, `kappa_all_cells`, `true_given_judged` (row of ROWS -> shares of LEVELS) and `memories_per_example`,
    as the proxy's has them (`analysis.judge_fit.quality`)."""

    name: str
    kind: str
    provenance: Mapping[str, Any]

    def coverage(self, memory_text: str, units: Sequence[Unit]) -> list[float]:
        """What the memory covers of each unit: 0, 0.5 or 1."""
        ...

    def cells(self, memory_texts: Sequence[str], units: Sequence[Unit]) -> Iterator[Cell]:
        """All cells but those judged 0 and far; a judge that knows no distance calls every other 0 near."""
        for i, text in enumerate(memory_texts):
            for j, value in enumerate(self.coverage(text, units)):
                yield Cell(i, j, {0.0: NEAR, 0.5: HALF, 1.0: FULL}[value])


@dataclass(frozen=True)
class Score:
    """intercept + the sum of coefficient * feature (FEATURES)."""

    intercept: float
    coefficients: tuple[float, ...]
    threshold: float

    def of(self, features: np.ndarray) -> np.ndarray:
        """The score of each row of features (cells, FEATURES), summed in the order of FEATURES."""
        total = np.full(len(features), self.intercept)
        for k, coefficient in enumerate(self.coefficients):
            total += coefficient * features[:, k]
        return total


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """In how many of `documents` training texts each stem stands."""

    documents: int
    counts: Mapping[str, int]

    def idf(self, word: str) -> float:
        """ln((1 + documents) / (1 + its texts)) + 1, on a grid of 1/64."""
        value = np.log((1 + self.documents) / (1 + self.counts.get(word, 0))) + 1
        return round(float(value) * _IDF_GRID) / _IDF_GRID

    def rare(self, word: str) -> bool:
        return self.counts.get(word, 0) <= RARE_DOCUMENTS


@dataclass(frozen=True)
class Parameters:
    """What was fitted. any: score of a label above 0; full: of 1 among those. far, low: below these values of the
    first score a cell is 0 and far, or 0 and low."""

    vocabulary: Vocabulary
    any: Score
    full: Score
    far: float
    low: float


@dataclass(frozen=True, eq=False)
class Proxy(Judge):
    """The judge without a model."""

    parameters: Parameters
    provenance: Mapping[str, Any] = field(default_factory=dict)
    name: str = "proxy"
    kind: str = "proxy"

    def coverage(self, memory_text: str, units: Sequence[Unit]) -> list[float]:
        values = [0.0] * len(units)
        for cell in self.cells([memory_text], units):
            values[cell.unit] = ROW_LEVEL[cell.row]
        return values

    def cells(self, memory_texts: Sequence[str], units: Sequence[Unit]) -> Iterator[Cell]:
        compared = _comparison(self.parameters.vocabulary, _texts(units))
        for start in range(0, len(memory_texts), _BLOCK):
            pairs = compared.pairs([read(text) for text in memory_texts[start : start + _BLOCK]])
            rows = judged_rows(self.parameters, pairs)
            for memory, unit, row in zip(pairs.memory.tolist(), pairs.unit.tolist(), rows, strict=True):
                if row != FAR:
                    yield Cell(start + memory, unit, row)


def _texts(units: Sequence[Unit]) -> tuple[str, ...]:
    for unit in units:
        if unit.text is None:
            raise InputError(f"unit {unit.unit_id} has no text, so no judge can say what covers it; fill the texts in")
    return tuple(unit.text for unit in units)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Memories and units that share a content word or number: positions, features (pairs, FEATURES), and where a rule
    decides. whole: all that the unit says stands in the memory. denied: one of the two denies what the other affirms.
    partial: the memory lacks a number of the unit, or has none of the unit's dates."""

    memory: np.ndarray
    unit: np.ndarray
    features: np.ndarray
    whole: np.ndarray
    denied: np.ndarray
    partial: np.ndarray


def judged_rows(parameters: Parameters, pairs: Pairs) -> list[str]:
    """The row of ROWS of each pair."""
    first, second = parameters.any.of(pairs.features), parameters.full.of(pairs.features)
    above = (first >= parameters.any.threshold) | pairs.whole
    full = ((second >= parameters.full.threshold) & ~pairs.partial) | pairs.whole
    zero = np.where(first < parameters.far, FAR, np.where(first < parameters.low, LOW, NEAR))
    positive = np.where(full, FULL, HALF)
    return np.where(above & ~pairs.denied, positive, zero).tolist()


@lru_cache(maxsize=8)
def _comparison(vocabulary: Vocabulary, texts: tuple[str, ...]) -> Comparison:
    """The comparison with these units, kept: judges are asked memory by memory too."""
    return Comparison(vocabulary, [read(text) for text in texts])


class Comparison:
    """Units, indexed so that many memories are compared with all of them at once."""

    def __init__(self, vocabulary: Vocabulary, units: Sequence[Reading]) -> None:
        self.vocabulary, self.units = vocabulary, units
        words = sorted(set().union(*(unit.words for unit in units)))
        self._column = {word: k for k, word in enumerate(words)}
        self._idf = np.array([vocabulary.idf(word) for word in words])
        self._rare = np.array([float(vocabulary.rare(word)) for word in words])
        self._words = self._matrix([unit.words for unit in units])
        self._denied = self._matrix([unit.denied for unit in units])
        self._word_idf = self._words @ self._idf
        self._word_rare = self._words @ self._rare
        self._numbers = _Claims([sorted(unit.numbers) for unit in units])
        self._of_value: dict[str, list[int]] = {}
        self._of_thing: dict[str, list[int]] = {}
        for k, number in enumerate(self._numbers.distinct):
            self._of_value.setdefault(number.value, []).append(k)
            if number.of:
                self._of_thing.setdefault(number.of, []).append(k)
        self._dates = _Claims([sorted(unit.dates, key=str) for unit in units])

    def pairs(self, memories: Sequence[Reading]) -> Pairs:
        """All pairs that share a content word or a number, memories in order, units in order inside."""
        words, denied = self._matrix([m.words for m in memories]), self._matrix([m.denied for m in memories])
        shared = self._product(words, self._idf, self._words)
        numbers, dates = self._number_marks(memories), self._date_marks(memories)
        memory, unit = at = np.nonzero((shared > 0) | (self._numbers.table(numbers[0]) > 0))
        stated, contradicted = (self._numbers.table(part)[at] for part in numbers)
        dated, agreed, misdated = (self._dates.table(part)[at] for part in dates)
        missing, undated = self._numbers.count[unit] - stated, self._dates.count[unit] - dated
        got, most = shared[at], self._word_idf[unit]
        recall = np.where(most > 0, got / np.maximum(1, most), 1.0)
        rare = self._product(words, self._rare, self._words)[at]
        length = np.array([len(m.words) for m in memories], dtype=np.float64)
        columns = {
            "recall": recall,
            "shared": np.sqrt(got),
            "names": rare / np.maximum(1, self._word_rare[unit]),
            "number_stated": np.minimum(1, stated),
            "number_missing": -missing / np.maximum(1, stated + missing),
            "number_contradicted": -np.minimum(1, contradicted),
            "date_stated": dated / np.maximum(1, dated + undated),
            "date_missing": -undated / np.maximum(1, dated + undated),
            "date_contradicted": -misdated / np.maximum(1, dated + undated),
            "memory_length": -np.log1p(length[memory]),
        }
        # Words that the memory denies and the unit does not, or the other way round.
        opposed = self._product(denied, self._idf, self._words - self._denied)[at]
        opposed += self._product(words - denied, self._idf, self._denied)[at]
        return Pairs(
            memory,
            unit,
            np.column_stack([columns[name] for name in FEATURES]),
            whole=(recall == 1) & (missing == 0) & (undated == 0) & (opposed == 0),
            denied=(opposed > 0) & (recall >= DENIED_RECALL) & (opposed >= DENIED_SHARE * got),
            partial=(missing > 0) | ((dated + undated > 0) & (agreed == 0)),
        )

    def _matrix(self, sets: Sequence[frozenset[str]]) -> sparse.csr_array:
        """0/1, a row a text, a column a word of the units."""
        rows = [sorted(self._column[word] for word in words if word in self._column) for words in sets]
        ends = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
        columns = np.array([k for row in rows for k in row], dtype=np.int64)
        return sparse.csr_array((np.ones(len(columns)), columns, ends), shape=(len(sets), len(self._column)))

    @staticmethod
    def _product(of: sparse.csr_array, weight: np.ndarray, units: sparse.csr_array) -> np.ndarray:
        """Summed weight of the words that both have, dense (memories, units)."""
        return (of.multiply(weight[None, :]).tocsr() @ units.T).toarray()

    def _number_marks(self, memories: Sequence[Reading]) -> tuple[np.ndarray, np.ndarray]:
        """Which numbers of the units (columns) each memory states, and contradicts."""
        here = np.zeros((len(memories), len(self._numbers)), dtype=bool)
        other = np.zeros_like(here)
        for i, reading in enumerate(memories):
            for number in reading.numbers:
                here[i, self._of_value.get(number.value, [])] = True
                other[i, self._of_thing.get(number.of, [])] = True
        return here, other & ~here

    def _date_marks(self, memories: Sequence[Reading]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Which dates of the units each memory states, agrees with, and contradicts."""
        claims, known = self._dates, {}
        stated = np.zeros((len(memories), len(claims)), dtype=bool)
        agrees, differs = np.zeros_like(stated), np.zeros_like(stated)
        for i, reading in enumerate(memories):
            for day in reading.dates:
                if day not in known:
                    known[day] = [
                        np.array([compare(claim) for claim in claims.distinct], dtype=bool)
                        for compare in (day.states, day.agrees, day.differs)
                    ]
                for part, row in zip((stated, agrees, differs), known[day], strict=True):
                    part[i] |= row
        return stated, agrees, differs & ~agrees


class _Claims:
    """The numbers, or the dates, of each unit; `distinct`: each once; `count`: how many of them each unit has."""

    def __init__(self, claims: Sequence[Sequence]) -> None:
        self.distinct = list(dict.fromkeys(claim for own in claims for claim in own))
        column = {claim: k for k, claim in enumerate(self.distinct)}
        self.count = np.array([len(own) for own in claims], dtype=np.float64)
        of = np.zeros((len(self.distinct), len(claims)))
        for j, own in enumerate(claims):
            of[[column[claim] for claim in own], j] = 1
        self._of = sparse.csr_array(of)

    def __len__(self) -> int:
        return len(self.distinct)

    def table(self, marks: np.ndarray) -> np.ndarray:
        """How many claims of each unit are marked in `marks` (memories, distinct claims): (memories, units)."""
        return (sparse.csr_array(marks.astype(np.float64)) @ self._of).toarray()


# ---- Stores


class Source(Protocol):
    """Who says what memories cover, and what that is worth: a judge, or what was recorded of one (`judge_record`)."""

    name: str
    kind: str
    provenance: Mapping[str, Any]


@dataclass(frozen=True)
class Judged:
    """A store as a judge sees it over a package's units.

    coverage: as `union.Labelled` takes it, zeros left out. rows: for cells that are not far, (place of the memory in
    the store, place of the unit in the package) -> the name of its row in ROWS.
    """

    coverage: StoreCoverage
    rows: Mapping[tuple[int, int], str]
    judge: Source


def judge_store(store: Store, package: Package, judge: Judge) -> Judged:
    """What each memory of the store covers of the package's units, by the judge. InputError where a unit has no
    text, or a memory lacks a part of its own."""
    _refuse_without_text(store, package)
    coverage: dict[tuple[str, str], dict[str, float]] = {}
    rows: dict[tuple[int, int], str] = {}
    for i, j, row in judge.cells([memory.text for memory in store.memories], package.units):
        rows[i, j] = row
        if ROW_LEVEL[row] > 0:
            memory = store.memories[i]
            coverage.setdefault((memory.memory_id, memory.view), {})[package.units[j].unit_id] = ROW_LEVEL[row]
    return Judged(coverage, rows, judge)


def _refuse_without_text(store: Store, package: Package) -> None:
    part = next((memory.memory_id for memory in store.memories if memory.size is not None), None)
    if part is not None:
        raise InputError(
            f"store {store.name}, example {package.package_id}: a part of memory {part} stands elsewhere, so there is "
            f"no whole text to judge; fill the texts in, or read another view"
        )
    without = [unit.unit_id for unit in package.units if not (unit.text or "").strip()]
    if without:
        raise InputError(
            f"store {store.name}, example {package.package_id}: {len(without)} of {len(package.units)} units have no "
            f"text ({without[0]}, say), so no judge can say what covers them; fill the texts in, or give label rows as "
            f"`coverage`"
        )
