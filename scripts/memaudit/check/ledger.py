"""What an exported store's selections are worth and lose, a second time: rows of store_scores, store_losses and
store_lost_units (protocol, "Optimum and ratios": O, Y, U, S; unit by unit as docs/stores.md, "Diagnosis")."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from .exported import MemoryRow
from .model import Problem
from .scored import Measured

LOSSES = ("missing", "size", "selection")
LIMIT = "limit"
DENOMINATORS = ("package", "union", "joint")


@dataclass(frozen=True)
class Found:
    """A solution as its table and checks have it. status: `cross_checked` where a check proved it too; kept: ids."""

    value: Fraction
    status: str
    scale: int
    kept: tuple[str, ...]


@dataclass(frozen=True)
class UnitRow:
    """Of table `units`: what lost units are told by."""

    role: str
    kind: str | None
    text: str | None


@dataclass(frozen=True, eq=False)
class Example:
    """One example's union in a setting. memories: of the store, all views; units: by id; unit_ids: by their index;
    texts: of candidates; word: what the coverage of a memory is called."""

    package_id: str
    measured: Measured
    problem: Problem
    memories: Sequence[MemoryRow]
    units: Mapping[str, UnitRow]
    unit_ids: Sequence[str]
    texts: Mapping[str, str | None]
    word: str = "coverage"

    @cached_property
    def best(self) -> dict[int, str]:
        """Unit -> the memory that covers it most, then the cheapest, in words; none where none does."""
        found: dict[int, tuple[Fraction, int, int]] = {}
        for at in (self.problem.position[memory.candidate_id] for memory in self.memories):
            for unit, share in self.problem.coverage[at].items():
                own = (-share, self.problem.costs[at], at)
                found[unit] = min(own, found.get(unit, own))
        ids = self.problem.candidate_ids
        return {
            u: f"{ids[at]} ({self.word} {float(-share):g}, cost {cost})" + self.quoted(ids[at])
            for u, (share, cost, at) in found.items()
        }

    def quoted(self, candidate_id: str) -> str:
        """What follows a candidate's name: its text on one line."""
        text = self.texts[candidate_id]
        return "" if text is None else ' "' + " ".join(text.split()) + '"'


@dataclass(frozen=True)
class Optima:
    """Of one example at one budget: package, union, joint (None: in no comparison), and store (its best subset)."""

    package: Found
    union: Found
    joint: Found | None
    store: Found

    @property
    def proven(self) -> bool:
        """Whether there are losses: O and U are proven."""
        return LIMIT not in (self.union.status, self.store.status)


def score_row(example: Example, optima: Optima, view: str, rule: str, status: str, chosen: tuple[int, ...]) -> dict:
    """The columns of a row of store_scores that are no constants. status: of what was chosen."""
    worth = example.measured.meter.of(chosen)
    scale = optima.union.scale
    row = {
        "package_id": example.package_id,
        "view": view,
        "rule": rule,
        "status": status,
        "n_memories": len({memory.memory_id for memory in example.memories if view in ("", memory.view)}),
        "n_selected": len(chosen),
        "cost": worth.named["cost"],
        "value_int": worth.value * scale,
        "scale": scale,
        "value": float(worth.value),
        "invalidation_covered": worth.named["invalidation_covered"],
        "invalidation_mass": worth.named["invalidation_mass"],
    }
    for name in DENOMINATORS:
        found = getattr(optima, name)
        row[f"{name}_opt"] = None if found is None else float(found.value)
        row[f"{name}_status"] = None if found is None else found.status
        rated = found is not None and LIMIT not in (status, found.status) and found.value > 0
        row[f"{name}_ratio"] = float(worth.value / found.value) if rated else None
    return row


class Ledger:
    """Losses of one example at one budget, unit by unit."""

    def __init__(self, example: Example, optima: Optima, budget: int):
        self._example, self._optima, problem = example, optima, example.problem
        self._kept = sorted(problem.position[c] for c in optima.union.kept)
        upper = [problem.position[c] for c in optima.store.kept]
        whole = [problem.position[memory.candidate_id] for memory in example.memories]
        costs: dict[str, list[int]] = defaultdict(list)
        for memory, at in zip(example.memories, whole, strict=True):
            costs[memory.group].append(problem.costs[at])
        # Whatever is kept of the store, k views of a memory at most, is within the budget.
        self._fits = sum(sum(sorted(own, reverse=True)[: problem.k]) for own in costs.values()) <= budget
        self._optimum, self._whole, self._upper = (self._worths(x) for x in (self._kept, whole, upper))
        if sum(self._upper) == sum(self._optimum):  # an equal optimum: the one that the store has is told of
            self._kept = sorted(upper)

    def _worths(self, chosen: Sequence[int]) -> list[Fraction]:
        """What each unit adds to F, by its index."""
        form, mass = self._example.problem.scaled, [0] * len(self._example.unit_ids)
        for at in chosen:
            for unit, a in form.coverage[at]:
                mass[unit] += a
        return [Fraction(w * form.h(z), form.scale) for w, z in zip(form.weights, mass, strict=True)]

    def loss_row(self, rule: str, chosen: tuple[int, ...]) -> dict[str, Any]:
        """The columns of a row of store_losses that are no constants."""
        selected, scale = self._worths(chosen), self._optima.union.scale
        row = {"package_id": self._example.package_id, "rule": rule, "scale": scale, "fits": self._fits}
        numbers = (("optimum", self._optimum), ("whole", self._whole), ("upper", self._upper), ("selected", selected))
        row |= {f"{name}_int": sum(worths) * scale for name, worths in numbers}
        stale = [i for i, u in enumerate(self._example.unit_ids) if self._example.units[u].role == "invalidation"]
        for name, parts in self._parts(selected).items():
            row[name] = float(sum(parts))
            lost = sum((parts[i] for i in stale), Fraction(0))  # less what other units gain, more than they lose
            row[f"{name}_invalidation"] = float(min(max(lost, Fraction(0)), sum(parts)))
        return row

    def _parts(self, selected: Sequence[Fraction]) -> dict[str, list[Fraction]]:
        """Loss -> the part of it in each unit. A loss of 0 has no part in any unit: what is worth the same is equally
        good, and the later selection stands for it."""
        reached = min(self._optimum, self._whole, key=sum)
        found: dict[str, list[Fraction]] = {}
        below = selected
        for name, above in zip(reversed(LOSSES), (self._upper, reached, self._optimum), strict=True):
            if sum(above) == sum(below):
                found[name] = [Fraction(0)] * len(below)
            else:
                found[name] = [a - b for a, b in zip(above, below, strict=True)]
                below = above
        return {name: found[name] for name in LOSSES}

    def lost_rows(self, rule: str, chosen: tuple[int, ...]) -> Iterator[dict[str, Any]]:
        """Rows of store_lost_units, a unit each of which `chosen`, worth less than the optimum, holds less."""
        selected = self._worths(chosen)
        gap, parts = sum(self._optimum) - sum(selected), self._parts(selected)
        for i, unit_id in enumerate(self._example.unit_ids):
            steps = {name: parts[name][i] for name in LOSSES}
            if not gap or sum(steps.values()) <= 0:
                continue
            unit = self._example.units[unit_id]
            yield {
                "package_id": self._example.package_id,
                "rule": rule,
                "unit_id": unit_id,
                "role": unit.role,
                "kind": unit.kind,
                "unit_text": unit.text,
                "lost": float(sum(steps.values())),
                **{name: float(step) for name, step in steps.items()},
                "gap": float(gap),
                "kept_instead": self._kept_instead(i),
                "store_best": self._example.best.get(i),
            }

    def _kept_instead(self, unit: int) -> str:
        problem, types = self._example.problem, self._example.measured.types
        ids = sorted(problem.candidate_ids[at] for at in self._kept if unit in problem.coverage[at])
        costs = problem.costs
        return "\n".join(f"{c} ({types[c]}, cost {costs[problem.position[c]]}){self._example.quoted(c)}" for c in ids)
