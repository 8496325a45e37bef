"""Union packages: a package and the memories of exported stores as candidates in groups of their own.

Protocol, "Optimum and ratios": each exported memory is one more candidate, with its own cost and coverage row over
the package's units; views of one memory share a group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from ..errors import InputError, plain, shown
from ..package import Candidate, Package, TextSize, build
from .labels import StoreCoverage
from .model import Memory, Store


@dataclass(frozen=True)
class Labelled:
    """A store and what its memories cover: (memory id, view) -> unit id -> coverage. What is labelled and no longer
    in the store is left out; what is not labelled covers nothing."""

    store: Store
    coverage: StoreCoverage = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class StorePackage:
    """A store's memories alone over the units of a package; `memories` in the order of the package's candidates."""

    package: Package
    memories: tuple[Memory, ...]


def union(package: Package, stores: Sequence[Labelled], cost: Callable[[TextSize], int]) -> Package:
    """The package with the memories of `stores` (one or several: the joint union), whatever the order given.

    `cost`: a cost model of memories' texts (costs.py). Groups of memories come after the package's in time, and
    keep the store's order. Raises InputError on two stores of one name, a unit that the package does not have, and
    where a group of the package has the name of a store's.
    """
    memories = _candidates(package, stores, cost)
    theirs = set(package.visible.group_ids) & {candidate.group_id for candidate, _, _ in memories}
    if theirs:
        raise InputError(
            f"{_where(package)}: group {shown(min(theirs))} has the name of a store's group; rename the store"
        )
    coverage = {
        (candidate_id, unit_id): value
        for i, candidate_id in enumerate(package.visible.candidate_ids)
        for unit_id, value in package.coverage_row(i).items()
    }
    return _build(package, [*_own_candidates(package), *(c for c, _, _ in memories)], {**coverage, **_cells(memories)})


def store_package(package: Package, store: Labelled, cost: Callable[[TextSize], int]) -> StorePackage:
    """The store alone, over the package's units, with the same candidates as in the union."""
    memories = _candidates(package, [store], cost)
    alone = _build(package, [candidate for candidate, _, _ in memories], _cells(memories))
    by_id = {candidate.candidate_id: memory for candidate, memory, _ in memories}
    return StorePackage(alone, tuple(by_id[i] for i in alone.visible.candidate_ids))


def candidate_id(store: Store, memory: Memory) -> str:
    """The id of a memory as a candidate: store:{name}:{view}:{memory id}; neither name nor view holds a colon."""
    return f"store:{store.name}:{memory.view}:{memory.memory_id}"


def _where(package: Package) -> str:
    return f"package {package.package_id} of suite {package.suite}"


def _candidates(
    package: Package, stores: Sequence[Labelled], cost: Callable[[TextSize], int]
) -> list[tuple[Candidate, Memory, Mapping[str, float]]]:
    """Candidate, memory and coverage row of every memory, stores by name."""
    names = [labelled.store.name for labelled in stores]
    for name in names:
        if names.count(name) > 1 or ":" in name:
            raise InputError(f"store name {name!r}: each store needs one of its own, without a colon; set its name")
    units = package.unit_index
    time = int(package.visible.time_index.max()) + 1 if len(package) else 0
    out = []
    for labelled in sorted(stores, key=lambda labelled: labelled.store.name):
        store, first_time = labelled.store, {}
        for memory in store.memories:
            first_time.setdefault(memory.group, time)
            time += 1
            row = labelled.coverage.get((memory.memory_id, memory.view), {})
            unknown = sorted(set(row) - set(units))
            if unknown:
                raise InputError(
                    f"{_where(package)}: store {store.name}: the coverage of memory {plain(memory.memory_id)} names "
                    f"unit {shown(unknown[0])}, which the package does not have; the labels are of another package"
                )
            candidate = Candidate(
                candidate_id(store, memory),
                f"store:{store.name}:{memory.group}",
                memory.representation_type,
                cost(memory.whole_size),
                first_time[memory.group],
                memory.text if memory.size is None else None,
                size=memory.size,
            )
            out.append((candidate, memory, row))
    return out


def _cells(memories: Sequence[tuple[Candidate, Memory, Mapping[str, float]]]) -> dict[tuple[str, str], float]:
    return {(candidate.candidate_id, unit): value for candidate, _, row in memories for unit, value in row.items()}


def _own_candidates(package: Package) -> list[Candidate]:
    v, group = package.visible, package.visible.group_of
    return [
        Candidate(
            v.candidate_ids[i],
            v.group_ids[group[i]],
            v.representation_type[i],
            int(v.cost[i]),
            int(v.time_index[i]),
            v.text[i],
            float(v.confidence[i]),
            v.estimated_value[i],
            v.estimated_coverage[i],
            v.size[i],
        )
        for i in range(len(v))
    ]


def _build(package: Package, candidates: Sequence[Candidate], coverage: Mapping[tuple[str, str], float]) -> Package:
    p = package
    return build(p.suite, p.package_id, p.distribution, p.seed, candidates, p.units, coverage, p.queries)


@dataclass(frozen=True)
class Losses:
    """What a store's pruned selection loses against the optimum of its union: exact, >= 0, summing to the gap."""

    missing: Fraction
    size: Fraction
    selection: Fraction


def losses(optimum: Fraction, whole: Fraction, upper: Fraction, selected: Fraction) -> Losses:
    """The losses of protocol.md from O = OPT of the union, Y = F of the whole store without a budget, U = best
    subset of the store within the budget, S = its selection: missing = O - min(O, Y), size = min(O, Y) - U,
    selection = U - S. ValueError where the four cannot be of one store (S > U, or U > min(O, Y))."""
    reached = min(optimum, whole)
    if not selected <= upper <= reached:
        raise ValueError(f"S = {selected}, U = {upper}, min(O, Y) = {reached}: not of one store, budget and objective")
    return Losses(optimum - reached, reached - upper, upper - selected)
