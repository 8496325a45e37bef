"""Verdicts on judged stores, a second time: labels of a draw, losses under them, and what the draws amount to.

docs/stores.md, "Verdict". Which draws there are follows from seed, store and example; the optima of those that are
looked at are proved by an independent solver.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from .ledger import LOSSES, Example
from .model import Problem
from .prover import Prover
from .proxy import FAR, ROWS

DRAWS = 200
UNDECIDED, NO_LOSS = "undecided", "nothing"
MIN_SHARE, MIN_KAPPA = 0.8, 0.4
_SEED = 0
# Losses that differ by less are equal: means of draws are compared as floats.
_EQUAL = Fraction(1, 10**9)
_LEVELS = (Fraction(0), Fraction(1, 2), Fraction(1))
Labels = Mapping[tuple[int, int], Fraction]


@dataclass(frozen=True)
class Known:
    """What a judge is known to confuse. given: row of ROWS -> shares of labels 0, 0.5, 1; per_example: memories."""

    given: Mapping[str, Sequence[float]]
    per_example: float
    kappa: float


def seed_of(store: str, package_id: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{_SEED}\0{store}\0{package_id}".encode()).digest(), "big")


def drawn_labels(
    rows: Mapping[tuple[int, int], str], memories: int, units: int, known: Known, seed: int, wanted: Collection[int]
) -> Iterator[tuple[int, Labels]]:
    """(draw, labels above 0 by (memory, unit)) of the `wanted` draws. rows: what was judged of cells that are not
    far."""
    generator = np.random.Generator(np.random.PCG64(seed))
    cells = {row: sorted(cell for cell, own in rows.items() if own == row) for row in ROWS if row != FAR}
    taken = np.array(sorted(i * units + j for i, j in rows), dtype=np.int64)
    far = np.setdiff1d(np.arange(memories * units), taken, assume_unique=True)
    shares = known.given[FAR]
    rarer = min(1.0, known.per_example / memories) if memories and known.per_example else 1.0
    positive = (1 - shares[0]) * rarer
    for draw in range(max(wanted, default=-1) + 1):
        labels: dict[tuple[int, int], Fraction] = {}
        for row, own in cells.items():
            ends = np.cumsum(known.given[row])
            for cell, u in zip(own, generator.random(len(own)), strict=True):
                labels[cell] = _LEVELS[0 if u < ends[0] else 1 if u < ends[1] else 2]
        n = int(generator.binomial(len(far), positive)) if len(far) and positive > 0 else 0
        if n:
            chosen = far[generator.choice(len(far), n, replace=False, shuffle=False)]
            halves = generator.random(n) * (shares[1] + shares[2]) < shares[1]
            for cell, half in zip(chosen.tolist(), halves, strict=True):
                labels[divmod(cell, units)] = _LEVELS[1 if half else 2]
        if draw in wanted:
            yield draw, {cell: a for cell, a in labels.items() if a}


@dataclass(frozen=True, eq=False)
class JudgedExample:
    """One example of a judged store in a setting. alone: the store over the same units; rows: as in drawn_labels;
    kept: (budget, rule) -> positions in the union."""

    example: Example
    alone: Problem
    rows: Mapping[tuple[int, int], str]
    kept: Mapping[tuple[int, str], tuple[int, ...]]

    def labels(self, store: str, known: Known, wanted: Collection[int]) -> dict[int, Labels]:
        """Draw -> its labels."""
        memories, units = len(self.example.memories), len(self.example.unit_ids)
        seed = seed_of(store, self.example.package_id)
        return dict(drawn_labels(self.rows, memories, units, known, seed, wanted))

    def losses(self, labels: Labels, budget: int, rules: Sequence[str], prover: Prover) -> dict[str, dict] | None:
        """Rule -> its losses under labels, exact; None where the solver does not prove an optimum."""
        both, alone = (self._relabelled(problem, labels) for problem in (self.example.problem, self.alone))
        found = [prover.prove(problem, problem.scaled, budget) for problem in (both, alone)]
        if any(answer.status != "optimal" for answer in found):
            return None
        optimum, upper = (answer.value for answer in found)
        whole = alone.value(range(len(alone.costs)))
        reached = min(optimum, whole)
        worth = {rule: both.value(self.kept[budget, rule]) for rule in rules}
        return {
            rule: dict(zip(LOSSES, (optimum - reached, reached - upper, upper - own), strict=True))
            for rule, own in worth.items()
        }

    def _relabelled(self, problem: Problem, labels: Labels) -> Problem:
        rows: dict[int, dict[int, Fraction]] = {}
        at = [problem.position[memory.candidate_id] for memory in self.example.memories]
        for (memory, unit), a in labels.items():
            rows.setdefault(at[memory], {})[unit] = a
        held = set(at)
        own = (rows.get(i, {}) if i in held else row for i, row in enumerate(problem.coverage))
        return replace(problem, coverage=tuple(own))


def largest(of: Mapping[str, Any]) -> str:
    """The largest of LOSSES, the first of equal ones; NO_LOSS where all are 0."""
    most = max(of[name] for name in LOSSES)
    return next(name for name in LOSSES if of[name] == most) if most else NO_LOSS


def turned(as_judged: Mapping[str, Any], means: Mapping[str, Any]) -> bool:
    """Whether the mean of the draws, or its mirror image at the judged losses (no less than 0), has a loss larger than
    the one that is the largest as judged."""
    own = largest(as_judged)
    mirrored = {name: max(0, 2 * Fraction(as_judged[name]) - Fraction(means[name])) for name in LOSSES}
    ahead = ({**one, NO_LOSS: 0} for one in (means, mirrored))
    return any(Fraction(one[name]) > Fraction(one[own]) + _EQUAL for one in ahead for name in LOSSES)


def verdict_columns(as_judged: Mapping[str, Fraction], draws: Sequence[Mapping[str, Any]], kappa: float) -> dict:
    """The columns of a row of store_verdicts that the draws (rows of store_draws) decide, and `kappa`."""
    proven = [row for row in draws if None not in [row[name] for name in LOSSES]]
    causes = [largest(row) for row in proven]
    own = largest(as_judged)
    share = causes.count(own) / DRAWS
    means = {name: sum(row[name] for row in proven) / len(proven) if proven else None for name in LOSSES}
    lean = bool(proven) and turned(as_judged, means)
    return {
        "kappa": kappa,
        "verdict": own if share >= MIN_SHARE and kappa >= MIN_KAPPA and not lean else UNDECIDED,
        "largest": own,
        "agreement": share,
        "draws": DRAWS,
        "unproven_draws": DRAWS - len(proven),
        "leans": lean,
        **{f"{name}_draws": causes.count(name) for name in (*LOSSES, NO_LOSS)},
        **{f"drawn_{name}": value for name, value in means.items()},
    }
