"""Seeded families of packages for measuring solvers against size."""

from __future__ import annotations

import numpy as np

from memaudit.package import Candidate, Package, Unit, build
from memaudit.synthetic import generate


def dense(groups: int, seed: int) -> Package:
    """A package of dense overlap: every evidence unit is covered in part by candidates of many groups.

    Each group has 3-6 candidates. There are round(1.2 * groups) units of weight 0.5-3 (steps of 0.1), each covered
    by 5-30 candidates drawn from the whole package, 0.1-0.9 each (steps of 0.05). A candidate costs 3-40: about 8
    for each whole unit that it covers, half to one and a half times that. (Were costs independent of coverage, the
    cheap candidates would saturate every unit at a tenth of the total cost, and nothing would be left to choose.)
    """
    rng = np.random.Generator(np.random.PCG64([groups, seed]))
    ids = [f"c{g:04}_{j}" for g in range(groups) for j in range(rng.integers(3, 7))]
    units, coverage = [], {}
    covered = dict.fromkeys(ids, 0.0)
    for u in range(round(1.2 * groups)):
        units.append(Unit(f"u{u:04}", int(rng.integers(5, 31)) / 10))
        for i in rng.choice(len(ids), min(len(ids), int(rng.integers(5, 31))), replace=False).tolist():
            value = int(rng.integers(2, 19)) / 20
            coverage[ids[i], units[-1].unit_id] = value
            covered[ids[i]] += value
    costs = {c: min(40, max(3, round(8 * covered[c] * rng.uniform(0.5, 1.5)))) for c in ids}
    candidates = [Candidate(c, f"g{c[1:5]}", "fact", costs[c], int(c[1:5])) for c in ids]
    return build("scale", f"dense_{groups}_{seed}", "dense", seed, candidates, units, coverage, [])


def chains(groups: int, seed: int) -> Package:
    """Update chains of 2-6 groups mixed with facts that share contexts: what people's stores look like.

    A chain: each group states a value; from the second on a tombstone or compound update says that the one before is
    over (an invalidation unit of its own). Facts come in runs of 2-4 that share a context unit, each covering part of
    it. All components are small.
    """
    draft = _Draft(f"chains_{groups}_{seed}", "chains", [1, groups, seed])
    while draft.groups < groups:
        size = min(int(draft.rng.integers(2, 7)), groups - draft.groups)
        if draft.rng.random() < 0.5:
            _chain(draft, size)
        else:
            _facts(draft, min(size, 4))
    return draft.package()


def path(groups: int, seed: int) -> Package:
    """One component as long as the package: each group shares a context unit with the next one."""
    draft = _Draft(f"path_{groups}_{seed}", "path", [2, groups, seed])
    shared = draft.unit(0.5, 2.0)
    for _ in range(groups):
        after = draft.unit(0.5, 2.0)
        own = draft.unit(1.0, 3.0)
        group = draft.group()
        draft.candidate(group, 6, 14, {own: 1.0, shared: draft.part(), after: draft.part()})
        draft.candidate(group, 3, 8, {own: 1.0})
        draft.candidate(group, 2, 6, {shared: draft.part(), after: draft.part()})
        shared = after
    return draft.package()


def natural_like(exports: int, seed: int) -> Package:
    """One question over two to four sessions, as in natural packages, and `exports` memories of a store, each a group
    of its own."""
    draft = _Draft(f"natural_{exports}_{seed}", "natural_like", [3, exports, seed])
    units = _question(draft, int(draft.rng.integers(2, 5)))
    for _ in range(exports):
        covered = draft.rng.choice(len(units), int(draft.rng.integers(0, 3)), replace=False)
        draft.candidate(draft.group(), 5, 60, {units[u]: draft.half() for u in covered})
    return draft.package()


def corpus(queries: int, seed: int) -> Package:
    """Many questions in one package, about four sessions of five candidates each; sessions are not shared."""
    draft = _Draft(f"corpus_{queries}_{seed}", "corpus", [4, queries, seed])
    for _ in range(queries):
        _question(draft, int(draft.rng.integers(3, 6)))
    return draft.package()


def shared_corpus(groups: int, seed: int) -> Package:
    """Sessions shared between questions: each session's candidates cover units of one to three questions, and each
    question has units of one to three sessions, so that components are of many sizes."""
    draft = _Draft(f"shared_{groups}_{seed}", "shared_corpus", [5, groups, seed])
    pools: list[list[str]] = [[draft.unit(1.0, 2.0) for _ in range(3)] for _ in range((groups + 1) // 2)]
    for g in range(groups):
        near = {g // 2}
        while draft.rng.random() < 0.35:
            near.add(min(len(pools) - 1, g // 2 + int(draft.rng.integers(1, 3))))
        units = [unit for p in sorted(near) for unit in pools[p]]
        group = draft.group()
        for _ in range(int(draft.rng.integers(3, 7))):
            covered = draft.rng.choice(len(units), int(draft.rng.integers(1, 4)), replace=False)
            draft.candidate(group, 4, 45, {units[u]: draft.half() for u in covered})
    return draft.package()


def wide(candidates: int, seed: int) -> Package:
    """Growth in candidates: 500 groups of so many candidates and two units each, in runs that share a context."""
    return _blocks(f"wide_{candidates}_{seed}", "wide", [6, candidates, seed], candidates, 2)


def rich(units: int, seed: int) -> Package:
    """Growth in units: 500 groups of four candidates and so many units of their own each, in runs that share a
    context."""
    return _blocks(f"rich_{units}_{seed}", "rich", [7, units, seed], 4, units)


def small(packages: int, seed: int) -> list[Package]:
    """So many packages of the paper's small suite, other ones for each seed: a batch, not one package."""
    return [generate("small", "base", seed * packages + i) for i in range(packages)]


class _Draft:
    """A package being drawn: groups in order of time, units of weight in steps of 0.1, coverage in steps of 0.05."""

    def __init__(self, name: str, family: str, seed: list[int]) -> None:
        self.name, self.family, self.groups = name, family, 0
        self.rng = np.random.Generator(np.random.PCG64(seed))
        self._units: list[Unit] = []
        self._candidates: list[Candidate] = []
        self._coverage: dict[tuple[str, str], float] = {}

    def unit(self, low: float, high: float) -> str:
        unit = Unit(f"u{len(self._units):05}", int(self.rng.integers(round(10 * low), round(10 * high) + 1)) / 10)
        self._units.append(unit)
        return unit.unit_id

    def group(self) -> int:
        self.groups += 1
        return self.groups - 1

    def candidate(self, group: int, low: int, high: int, coverage: dict[str, float]) -> None:
        name = f"c{len(self._candidates):06}"
        cost = int(self.rng.integers(low, high + 1))
        self._candidates.append(Candidate(name, f"g{group:05}", "fact", cost, group))
        self._coverage |= {(name, unit): value for unit, value in coverage.items()}

    def part(self) -> float:
        """A partial coverage, 0.3-0.7."""
        return int(self.rng.integers(6, 15)) / 20

    def half(self) -> float:
        """0.5 or 1, as natural labels are."""
        return 1.0 if self.rng.random() < 0.5 else 0.5

    def package(self) -> Package:
        seed = int(self.name.rpartition("_")[2])
        return build("scale", self.name, self.family, seed, self._candidates, self._units, self._coverage, [])


def _chain(draft: _Draft, size: int) -> None:
    current = draft.unit(2.0, 3.0)
    over: str | None = None
    for step in range(size):
        group = draft.group()
        own = {current: 1.0} if step == size - 1 else {}
        stale = draft.unit(0.3, 0.6)
        draft.candidate(group, 8, 20, {**own, stale: 1.0, **({over: 0.6} if over else {})})
        draft.candidate(group, 4, 8, {**own, stale: 1.0})
        if over:
            draft.candidate(group, 4, 9, {over: 1.0})
            draft.candidate(group, 7, 14, {**own, over: 0.9})
        over = draft.unit(1.0, 2.0)


def _facts(draft: _Draft, size: int) -> None:
    context = draft.unit(0.5, 1.5)
    for _ in range(size):
        fact, group = draft.unit(0.8, 2.0), draft.group()
        draft.candidate(group, 8, 20, {fact: 1.0, context: draft.part()})
        draft.candidate(group, 3, 7, {fact: 1.0})
        draft.candidate(group, 3, 9, {fact: 0.6, context: draft.part()})


def _blocks(name: str, family: str, seed: list[int], candidates: int, units: int) -> Package:
    """500 groups; every four share a context, each candidate covers half of its group's own units and part of that."""
    draft = _Draft(name, family, seed)
    while draft.groups < 500:
        context = draft.unit(0.5, 1.5)
        for _ in range(4):
            own, group = [draft.unit(0.8, 2.0) for _ in range(units)], draft.group()
            for _ in range(candidates):
                covered = draft.rng.choice(units, (units + 1) // 2, replace=False)
                draft.candidate(group, 4, 30, {**{own[u]: draft.half() for u in covered}, context: draft.part()})
    return draft.package()


def _question(draft: _Draft, sessions: int) -> list[str]:
    units = []
    for _ in range(sessions):
        own = [draft.unit(1.0, 1.0) for _ in range(int(draft.rng.integers(1, 4)))]
        group = draft.group()
        for unit in own:
            draft.candidate(group, 4, 20, {unit: draft.half()})
        draft.candidate(group, 8, 35, {unit: draft.half() for unit in own})
        draft.candidate(group, 12, 45, {**{unit: 1.0 for unit in own}, **({units[-1]: 0.5} if units else {})})
        units += own
    return units
