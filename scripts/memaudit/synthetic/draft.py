"""A synthetic package while it is written down: experiences, candidate memories, units, coverage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ..package import Candidate, Unit


class Memory(NamedTuple):
    """One candidate as a distribution's table lists it; coverage maps unit names to values in (0, 1]."""

    variant: str
    representation: str
    cost: int
    coverage: Mapping[str, float]
    text: str
    confidence: float = 1.0


@dataclass(frozen=True)
class Member:
    """A memory in its experience; `time` counts experiences from 0."""

    experience: str
    time: int
    memory: Memory


class Draft:
    """Units and memories in the order they are declared.

    Ids: unit `{prefix}{name}`, group `{prefix}{experience}`, candidate `{group}{joiner}{variant}`. Ids break
    ties between candidates, so they are part of a distribution's definition.
    """

    def __init__(self, package_id: str, prefix: str, joiner: str) -> None:
        self.package_id = package_id
        self.members: list[Member] = []
        self.weights: dict[str, float] = {}
        self._prefix = prefix
        self._joiner = joiner
        self._labels: dict[str, tuple[str, str]] = {}
        self._experiences = 0

    def unit(self, name: str, weight: float, role: str = "", kind: str | None = None) -> str:
        """Declare a unit and return its name; groups that share a unit declare it alike.

        `kind` defaults to the name up to its first colon. Published weights lie on a 0.01 grid: rounding
        removes what binary sums such as 1.45 + 0.15 leave behind.
        """
        declared = round(weight, 2), (role, kind or name.split(":")[0])
        earlier = self.weights.setdefault(name, declared[0]), self._labels.setdefault(name, declared[1])
        if earlier != declared:
            raise ValueError(f"unit {name} of {self.package_id} is declared as {earlier} and as {declared}")
        return name

    def experience(self, name: str, *memories: Memory) -> None:
        """Add the next experience with its group of candidate memories."""
        self.members += [Member(name, self._experiences, memory) for memory in memories]
        self._experiences += 1

    @property
    def units(self) -> list[Unit]:
        return [Unit(self._prefix + name, weight, *self._labels[name]) for name, weight in self.weights.items()]

    @property
    def candidates(self) -> list[Candidate]:
        return [
            Candidate(
                self._candidate_id(m),
                self._prefix + m.experience,
                m.memory.representation,
                m.memory.cost,
                m.time,
                m.memory.text,
                m.memory.confidence,
            )
            for m in self.members
        ]

    @property
    def coverage(self) -> dict[tuple[str, str], float]:
        return {
            (self._candidate_id(m), self._prefix + name): value
            for m in self.members
            for name, value in m.memory.coverage.items()
        }

    def _candidate_id(self, member: Member) -> str:
        return f"{self._prefix}{member.experience}{self._joiner}{member.memory.variant}"
