"""How sure a diagnosis is that rests on a judge: the losses under labels drawn from what the judge is known to confuse.

In each draw every cell of the store gets a true label, independently, from P(true | judged) of the judge's test
(`Judge.provenance["true_given_judged"]`: shares of all cells, not of the audit frame). What the store kept stays. Cells
judged 0 and far are the bulk of a large store; that one of them covers after all is as likely, by unit, as in the
examples of the test, and so by cell the rarer the more memories there are beyond theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from itertools import islice

import numpy as np

from ..batch import batch
from ..errors import InputError
from ..objective import CAP1, Instance, Saturation, scale
from ..package import Package, TextSize
from ..solve.bnb import DEFAULT_NODE_LIMIT, OPTIMAL, solve_batch
from ..solve.choose import quick_nodes, solve_all
from ..solve.frontier import LimitReached, frontier
from .judge import FAR, LEVELS, ROWS, Judged, Source
from .model import Store
from .union import Labelled, Losses, StorePackage, candidate_id, losses, store_package, union

UNDECIDED, NO_LOSS = "undecided", "nothing"
LOSSES = tuple(field.name for field in fields(Losses))
MIN_SHARE, MIN_KAPPA = 0.8, 0.4
DRAWS = 200
# Mean losses that differ by less are equal.
EQUAL = Fraction(1, 10**9)
# The optima of one draw: comparisons of the one curve that is tried where a short search does not close.
DRAW_WORK = 30_000_000
# A draw is searched for this part of the usual short search: what does not close at once costs less as a curve.
_SHORTER = 20
# Draws whose packages are held at once.
_BLOCK = 20

# A budget, and the name of what was kept within it (a pruning rule).
Kept = tuple[int, str]


@dataclass(frozen=True)
class Verdict:
    """The losses of a store as judged, and whether drawn labels bear the largest of them out.

    verdict: `largest` (missing, size, selection, or nothing where all are 0; of equal ones the first), or undecided
    where fewer than 80 % of the draws have the same largest loss, the judge's kappa is below 0.4 (on the audit
    frame, or of all cells), or the draws lean away from it (`leans`, our own rule). counts: largest loss -> draws;
    `unproven` draws had an optimum that was not proven, and agree with nothing. losses: as judged. mean: of the proven
    draws, None where there is none.
    """

    verdict: str
    largest: str
    share: float
    losses: Losses
    mean: Losses | None
    leans: bool
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
    k: int = 1,
    saturation: Saturation = CAP1,
    draws: int = DRAWS,
    seed: int = 0,
    node_limit: int = DEFAULT_NODE_LIMIT,
) -> Verdict:
    """The verdict on the store of one example at one budget.

    judged: `judge_store(store, package, judge)`. selection: what was kept, ascending candidate positions of
    `store_package(package, Labelled(store, judged.coverage), cost).package` (a rule of `pruning`). InputError where
    the optimum under the judged labels is not proven, draws is below 1, or the judge does not say what it confuses.
    """
    labelled = Labelled(store, judged.coverage)
    both, alone = union(package, [labelled], cost), store_package(package, labelled, cost)
    kept = {(budget, ""): selection}
    drawn = drawn_losses(
        both, alone, store, judged, kept, k=k, saturation=saturation, draws=draws, seed=seed
    )  # fmt: skip
    instances = [scale(p, saturation) for p in (both, alone.package)]
    optimum, upper = solve_all(instances[:1], budget, k, node_limit) + solve_all(instances[1:], budget, k, node_limit)
    if {optimum.status, upper.status} != {OPTIMAL}:
        raise InputError(
            f"verdict of store {store.name}: an optimum at budget {budget} is not proven; raise the node limit"
        )
    values = (Fraction(s.value_int, s.scale) for s in (optimum, upper))
    return conclude(_losses(instances[1], *values, selection), drawn[budget, ""], judged.judge)


def conclude(as_judged: Losses, drawn: Sequence[Losses | None], judge: Source) -> Verdict:
    """The verdict on losses of one example, or on their sums or means over several, under the judge's labels and
    under each draw (None: not proven)."""
    kappa = kappa_of(judge)
    proven = [one for one in drawn if one is not None]
    own = [largest_loss(one) for one in proven]
    largest = largest_loss(as_judged)
    share, mean = own.count(largest) / len(drawn), _mean(proven)
    lean = mean is not None and leans(as_judged, mean)
    sure = share >= MIN_SHARE and kappa >= MIN_KAPPA and not lean
    return Verdict(
        largest if sure else UNDECIDED,
        largest,
        share,
        as_judged,
        mean,
        lean,
        {name: own.count(name) for name in sorted(set(own))},
        len(drawn) - len(proven),
        len(drawn),
        kappa,
        judge.name,
        judge.kind,
    )


def kappa_of(judge: Source) -> float:
    """The lower of the judge's two kappas; InputError where its provenance does not say what a verdict needs."""
    missing = [key for key in ("kappa", "kappa_all_cells", "true_given_judged") if key not in judge.provenance]
    if missing:
        raise InputError(f"judge {judge.name}: its provenance has no {', '.join(missing)}; test it on labels first")
    return min(judge.provenance["kappa"], judge.provenance["kappa_all_cells"])


def largest_loss(one: Losses) -> str:
    """The largest of LOSSES, the first of equal ones; NO_LOSS where all are 0."""
    values = {name: getattr(one, name) for name in LOSSES}
    return max(values, key=values.__getitem__) if any(values.values()) else NO_LOSS


def leans(as_judged: Losses, mean: Losses) -> bool:
    """Whether the mean of the draws, or as large a step from the judged losses the other way, puts another loss ahead.

    Draws lean to one side (docs/stores.md, "Calibration"), and the judged losses may be as far from the truth on either
    side: a verdict that such a step turns rests on the lean. Losses below 0 that the step back makes count as 0.
    """
    largest = largest_loss(as_judged)
    back = Losses(*(max(Fraction(0), 2 * getattr(as_judged, n) - getattr(mean, n)) for n in LOSSES))
    return any(
        getattr(one, n) > (0 if largest == NO_LOSS else getattr(one, largest)) + EQUAL
        for one in (mean, back)
        for n in LOSSES
    )


def _mean(of: Sequence[Losses]) -> Losses | None:
    if not of:
        return None
    return Losses(*(sum(getattr(one, name) for one in of) / len(of) for name in LOSSES))


# ---- Label tables: (memories, units) as sorted flat cells and their labels


@dataclass(frozen=True, eq=False)
class _Labels:
    """cell: memory place * units + unit place, ascending; value: 0.5 or 1. All other cells are 0."""

    cell: np.ndarray
    value: np.ndarray


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


def drawn_losses(
    both: Package,
    alone: StorePackage,
    store: Store,
    judged: Judged,
    kept: Mapping[Kept, Sequence[int]],
    *,
    k: int = 1,
    saturation: Saturation = CAP1,
    draws: int = DRAWS,
    seed: int = 0,
    work: int | None = None,
) -> dict[Kept, list[Losses | None]]:
    """Losses of each of `kept` (candidate positions of `alone.package`) under each draw, exact.

    `both`: the union, `alone`: the store over the same units. The labels of a draw are the same for all that was kept.
    None where an optimum is not proven by a short search, nor by one curve of `work` comparisons (DRAW_WORK). A budget
    at which more draws are so than a verdict can bear is given up: tried no more, and None in all draws. So what a
    store takes is bounded, whatever its size. InputError where draws is below 1 or the judge does not say what it
    confuses.
    """
    if draws < 1:
        raise InputError(f"verdict of store {store.name}: draws is {draws}; it must be at least 1")
    kappa_of(judged.judge)
    work = DRAW_WORK if work is None else work
    place = {candidate_id(store, memory): i for i, memory in enumerate(store.memories)}
    budgets = sorted({budget for budget, _ in kept})
    out: dict[Kept, list[Losses | None]] = {key: [] for key in kept}
    tables = _drawn_tables(store, both, judged, draws, seed)
    while budgets and (block := list(islice(tables, _BLOCK))):
        unions, stores = (
            [scale(p, saturation) for p in _relabelled(own, place, block)] for own in (both, alone.package)
        )
        for instance, optima, best in zip(
            stores, _optima(unions, budgets, k, work), _optima(stores, budgets, k, work), strict=True
        ):
            for (budget, name), selection in kept.items():
                optimum, upper = optima.get(budget), best.get(budget)
                proven = optimum is not None and upper is not None
                out[budget, name].append(_losses(instance, optimum, upper, selection) if proven else None)
        given_up = {budget for (budget, _), one in out.items() if one.count(None) > (1 - MIN_SHARE) * draws}
        out |= {key: [None] * draws for key in out if key[0] in given_up}
        kept = {key: own for key, own in kept.items() if key[0] not in given_up}
        budgets = [budget for budget in budgets if budget not in given_up]
    return out


def _losses(store: Instance, optimum: Fraction, upper: Fraction, selection: Sequence[int]) -> Losses:
    """`store`: all of it alone, in exact integers."""
    everything = range(len(store.cost))
    whole, kept = (Fraction(store.value_int(x), store.scale) for x in (everything, selection))
    return losses(optimum, whole, upper, kept)


def _optima(
    instances: Sequence[Instance], budgets: Sequence[int], k: int, work: int
) -> list[dict[int, Fraction | None]]:
    """Of each instance budget -> optimum, None where it is not proven."""
    few = max(1, quick_nodes(max((len(i.cost) for i in instances), default=1)) // _SHORTER)
    together = batch(instances)
    quick = [solve_batch(together, budget, k, few) for budget in budgets]
    out = []
    for at, instance in enumerate(instances):
        found = {b: Fraction(s[at].value_int, s[at].scale) if s[at].status == OPTIMAL else None
                 for b, s in zip(budgets, quick, strict=True)}  # fmt: skip
        still_open = [b for b, value in found.items() if value is None]
        if still_open:
            found |= _on_curve(instance, still_open, k, work)
        out.append(found)
    return out


def _on_curve(instance: Instance, budgets: Sequence[int], k: int, work: int) -> dict[int, Fraction]:
    """Budget -> optimum, from one curve; nothing where it does not close."""
    try:
        curve = frontier(instance, max(budgets), k, work)
    except LimitReached:
        return {}
    return {b: Fraction(int(curve.at(b)[0]), instance.scale) for b in budgets}


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
