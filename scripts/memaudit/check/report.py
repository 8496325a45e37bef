"""What a verification is asked, and what it found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

# Lines that are told of one file; the rest are counted.
_TOLD = 20
Log = Callable[[str], None]


@dataclass(frozen=True)
class How:
    """Options of a verification. draw_solves: of a judged store, in each setting, solves spent on draws of labels."""

    solver: str
    ties: bool
    limit: float | None
    scores: bool
    log: Log
    draw_solves: int = 400


@dataclass
class Report:
    """What a verification found. `counts`: files, those of certify.count_checks summed over files, scores, of exported
    stores: stores, store_rows, judged_memories, draws (of labels, made again), draws_limit, and of curves: curves,
    points (solved again), points_equal, points_limit; unproved: limits that the run's own checks do not have.
    `distinct`: contents solved. A line each: `mismatches` of optima, other `faults`, `unreadable` files, and, which are
    no faults, `left_over` folders of what is no longer configured and `remarks`."""

    counts: Counter[str] = field(default_factory=Counter)
    distinct: int = 0
    mismatches: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    left_over: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Nothing is amiss: every optimum (at least one) was proved again, or not proved by the run's check either."""
        bad = self.mismatches or self.faults or self.unreadable or self.counts["unproved"]
        return self.counts["optimal"] + self.counts["points_equal"] > 0 and not bad

    def add(self, path: Path, faults: Iterable[str]) -> int:
        """Record faults of one file; their number."""
        faults = iter(faults)
        told = [f"{path}: {fault}" for fault in islice(faults, _TOLD)]
        more = sum(1 for _ in faults)
        self.faults += told + ([f"{path}: {more} more"] if more else [])
        return len(told) + more
