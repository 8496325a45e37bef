"""How sure a diagnosis is that rests on a judge: the losses under labels drawn from what the judge is known to confuse.

In each draw every cell of the store gets a true label, independently, from P(true | judged) of the judge's test
(`Judge.provenance["true_given_judged"]`: shares of all cells, not of the audit frame). What the store kept stays. Cells
judged 0 and far are the bulk of a large store; that one of them covers after all is as likely, by unit, as in the
examples of the test, and so by cell the rarer the more memories there are beyond theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ..errors import InputError
from ..objective import CAP1, Saturation, scale
from ..package import Package, TextSize
from ..solve.bnb import DEFAULT_NODE_LIMIT, OPTIMAL
from ..solve.choose import solve_all
from .judge import FAR, LEVELS, ROWS, Judge, Judged
from .model import Store
from .union import Labelled, Losses, StorePackage, candidate_id, losses, store_package, union

UNDECIDED, NONE = "undecided", "none"
MIN_SHARE, MIN_KAPPA = 0.8, 0.4
DRAWS = 200


@dataclass(frozen=True)
class Verdict:
    """A store's losses as judged, and whether drawn labels bear the largest of them out.

    verdict: `largest` (missing, size, selection, or none where all are 0; of equal ones the first), or undecided where
    fewer than 80 % of the draws have the same largest loss, or the judge's kappa is below 0.4 (on the audit frame, or
    of all cells). counts: largest loss -> draws; `unproven` draws had an optimum that was not proven, and agree with
    nothing. losses: as judged. mean: of the proven draws, None where there is none.
    """

    verdict: str
    largest: str
    share: float
    losses: Losses
    mean: Losses | None
    counts: dict[str, int]
    unproven: int
    draws: int
    kappa: float
    judge: str
    kind: str


def verdict_agreement(
    package: Package,
    store: Store,
    judged: Judged,
    cost: Callable[[TextSize], int],
    budget: int,
    selection: Sequence[int],
    *,
    saturation: Saturation = CAP1,
    draws: int = DRAWS,
    seed: int = 0,
    node_limit: int = DEFAULT_NODE_LIMIT,
) -> Verdict:
    """The verdict on one store at one budget.

    judged: `judge_store(store, package, judge)`. selection: what was kept, ascending candidate positions of
    `store_package(package, Labelled(store, judged.coverage), cost).package` (a rule of `pruning`). InputError where
    the optimum under the judged labels is not proven, draws is below 1, or the judge does not say what it confuses.
    """
    if draws < 1:
        raise InputError(f"verdict of store {store.name}: draws is {draws}; it must be at least 1")
    kappa = _kappa(judged.judge)
    labelled = Labelled(store, judged.coverage)
    alone = store_package(package, labelled, cost)
    both = union(package, [labelled], cost)
    tables = [_judged_table(store, package, judged), *_drawn_tables(store, package, judged, draws, seed)]
    found = _losses_of(both, alone, store, tables, budget, selection, saturation, node_limit)
    if found[0] is None:
        raise InputError(
            f"verdict of store {store.name}: an optimum at budget {budget} is not proven; raise the node limit"
        )
    names = [NONE if one is None else _largest(one) for one in found]
    proven = [one for one in found[1:] if one is not None]
    unproven = draws - len(proven)
    own = [name for name, one in zip(names[1:], found[1:], strict=True) if one is not None]
    share = own.count(names[0]) / draws
    sure = share >= MIN_SHARE and kappa >= MIN_KAPPA
    return Verdict(
        names[0] if sure else UNDECIDED,
        names[0],
        share,
        found[0],
        _mean(proven),
        {name: own.count(name) for name in sorted(set(own))},
        unproven,
        draws,
        kappa,
        judged.judge.name,
        judged.judge.kind,
    )


def _kappa(judge: Judge) -> float:
    """The lower of the two kappas."""
    missing = [key for key in ("kappa", "kappa_all_cells", "true_given_judged") if key not in judge.provenance]
    if missing:
        raise InputError(f"judge {judge.name}: its provenance has no {', '.join(missing)}; test it on labels first")
    return min(judge.provenance["kappa"], judge.provenance["kappa_all_cells"])


def _largest(one: Losses) -> str:
    values = {"missing": one.missing, "size": one.size, "selection": one.selection}
    return max(values, key=values.__getitem__) if any(values.values()) else NONE


def _mean(of: Sequence[Losses]) -> Losses | None:
    if not of:
        return None
    return Losses(*(sum(getattr(one, name) for one in of) / len(of) for name in ("missing", "size", "selection")))


# ---- Label tables: (memories, units) as sorted flat cells and their labels


@dataclass(frozen=True, eq=False)
class _Labels:
    """cell: memory place * units + unit place, ascending; value: 0.5 or 1. All other cells are 0."""

    cell: np.ndarray
    value: np.ndarray


def _judged_table(store: Store, package: Package, judged: Judged) -> _Labels:
    cells = [
        (i * len(package.units) + package.unit_index[unit_id], value)
        for i, memory in enumerate(store.memories)
        for unit_id, value in judged.coverage.get((memory.memory_id, memory.view), {}).items()
        if value > 0
    ]
    cells.sort()
    return _Labels(np.array([c for c, _ in cells], dtype=np.int64), np.array([v for _, v in cells]))


def _drawn_tables(store: Store, package: Package, judged: Judged, draws: int, seed: int) -> Iterator[_Labels]:
    """Labels of each draw, by one Generator(PCG64(seed)): row by row of ROWS, cells ascending; far ones last."""
    units, memories = len(package.units), len(store.memories)
    given, known = judged.judge.provenance["true_given_judged"], judged.judge.provenance.get("memories_per_example", 0)
    places = {row: sorted(i * units + j for (i, j), r in judged.rows.items() if r == row) for row in ROWS}
    near = {row: np.array(places[row], dtype=np.int64) for row in ROWS if row != FAR}
    taken = np.sort(np.concatenate(list(near.values())))
    rarer = min(1.0, known / memories) if memories and known else 1.0
    generator = np.random.Generator(np.random.PCG64(seed))
    for _ in range(draws):
        drawn = [(cells, _levels(generator.random(len(cells)), given[row])) for row, cells in near.items()]
        drawn.append(_far(generator, memories * units - len(taken), taken, given[FAR], rarer))
        cell, value = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
        order = np.argsort(cell, kind="stable")
        order = order[value[order] > 0]
        yield _Labels(cell[order], value[order])


def _levels(u: np.ndarray, shares: Sequence[float]) -> np.ndarray:
    """The level that each u in [0, 1) falls on, by the cumulated shares of LEVELS."""
    upto = np.cumsum(shares)[:-1]
    return np.array(LEVELS)[np.searchsorted(upto, u, side="right")]


def _far(
    generator: np.random.Generator, count: int, taken: np.ndarray, shares: Sequence[float], rarer: float
) -> tuple[np.ndarray, np.ndarray]:
    """The far cells (of `count`, those not in `taken`) that cover after all, and their labels."""
    positive = (1 - shares[0]) * rarer
    n = int(generator.binomial(count, positive)) if count and positive > 0 else 0
    if not n:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    rank = generator.choice(count, n, replace=False, shuffle=False)
    halves, fulls = shares[1], shares[2]
    value = np.where(generator.random(n) * (halves + fulls) < halves, LEVELS[1], LEVELS[2])
    # The r-th number that is not taken: r plus how many taken ones lie before it.
    return rank + np.searchsorted(taken - np.arange(len(taken)), rank, side="right"), value


# ---- Losses under each table


def _losses_of(
    both: Package,
    alone: StorePackage,
    store: Store,
    tables: Sequence[_Labels],
    budget: int,
    selection: Sequence[int],
    saturation: Saturation,
    node_limit: int,
) -> list[Losses | None]:
    """Losses under each table of labels; None where an optimum is not proven."""
    place = {candidate_id(store, memory): i for i, memory in enumerate(store.memories)}
    unions = [scale(p, saturation) for p in _relabelled(both, place, tables)]
    stores = [scale(p, saturation) for p in _relabelled(alone.package, place, tables)]
    everything = range(len(alone.package))
    out: list[Losses | None] = []
    optima = solve_all(unions, budget, 1, node_limit)
    best = solve_all(stores, budget, 1, node_limit)
    for instance, optimum, upper in zip(stores, optima, best, strict=True):
        if optimum.status != OPTIMAL or upper.status != OPTIMAL:
            out.append(None)
            continue
        whole, kept = (Fraction(instance.value_int(x), instance.scale) for x in (everything, selection))
        values = (Fraction(s.value_int, s.scale) for s in (optimum, upper))
        opt, top = values
        out.append(losses(opt, whole, top, kept))
    return out


def _relabelled(package: Package, place: dict[str, int], tables: Sequence[_Labels]) -> Iterator[Package]:
    """The package with the coverage of its store's candidates by each table; others keep theirs."""
    n, units = len(package), len(package.units)
    of_store = np.array([place.get(c, -1) for c in package.visible.candidate_ids], dtype=np.int64)
    owner = np.repeat(np.arange(n), np.diff(package.cov_ptr))
    stays = of_store[owner] < 0
    fixed_owner, fixed_unit, fixed_value = owner[stays], package.cov_unit[stays], package.cov_value[stays]
    candidate_of = np.full(len(place), -1, dtype=np.int64)
    candidate_of[of_store[of_store >= 0]] = np.flatnonzero(of_store >= 0)
    for table in tables:
        rows = np.concatenate([fixed_owner, candidate_of[table.cell // units] if units else table.cell])
        columns = np.concatenate([fixed_unit, table.cell % units if units else table.cell])
        values = np.concatenate([fixed_value, table.value])
        order = np.lexsort((columns, rows))
        ptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))]).astype(np.int64)
        yield replace(package, cov_ptr=ptr, cov_unit=columns[order], cov_value=values[order])
