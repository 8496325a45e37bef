"""Slow, plain references for the solver: exhaustive search and a textbook branch and bound, in fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise, product

from memaudit.objective import CAP1, Saturation
from memaudit.package import Package


def fraction(number: float) -> Fraction:
    return Fraction(str(number))


def value(package: Package, selection, saturation: Saturation = CAP1) -> Fraction:
    """F of a selection of candidate positions."""
    z = [Fraction(0)] * len(package.units)
    for i in selection:
        for r in range(package.cov_ptr[i], package.cov_ptr[i + 1]):
            z[package.cov_unit[r]] += fraction(float(package.cov_value[r]))
    return sum((fraction(u.weight) * saturation(zr) for u, zr in zip(package.units, z, strict=True)), Fraction(0))


def _groups(package: Package) -> list[range]:
    start = package.visible.group_start.tolist()
    return [range(a, b) for a, b in pairwise(start)]


def selections(package: Package, budget: int, k: int = 1):
    """Every feasible selection, in the protocol's tie-breaking order."""
    options = []
    for group in _groups(package):
        subsets = [c for size in range(k + 1) for c in combinations(group, size)]
        # Position by position: a chosen candidate before the end of the list.
        options.append(sorted(subsets, key=lambda c: [*c, len(package) + 1]))
    for parts in product(*options):
        selection = [i for part in parts for i in part]
        if sum(package.visible.cost[i] for i in selection) <= budget:
            yield selection


def brute_force(package: Package, budget: int, k: int = 1, saturation: Saturation = CAP1):
    """(optimum, cost, selection): highest value, then lowest cost, then first in tie-breaking order."""
    best = None
    for selection in selections(package, budget, k):
        cost = int(sum(package.visible.cost[i] for i in selection))
        rank = (-value(package, selection, saturation), cost)
        if best is None or rank < best[0]:
            best = (rank, selection)
    return -best[0][0], best[0][1], best[1]


def plain_branch_and_bound(package: Package, budget: int) -> float:
    """OPT for cap1 and k = 1 (see `plain_search`)."""
    return plain_search(package, budget)[0]


def plain_search(package: Package, budget: int) -> tuple[float, tuple[int, ...]]:
    """OPT for cap1 and k = 1 with a best selection (ascending positions), by depth-first search over groups with the
    sum of best marginals as bound. It recurses once a group."""
    groups = _groups(package)
    rows = [list(package.coverage_row(i).items()) for i in range(len(package))]
    weight = {u.unit_id: u.weight for u in package.units}
    cost = package.visible.cost.tolist()
    best: tuple[float, tuple[int, ...]] = (0.0, ())

    def gain(i, z):
        return sum(weight[u] * (min(1.0, z[u] + a) - min(1.0, z[u])) for u, a in rows[i])

    def search(g, rem, have, z, chosen):
        nonlocal best
        if have > best[0]:
            best = have, chosen
        if g == len(groups):
            return
        bound = have + sum(max([gain(i, z) for i in group if cost[i] <= rem], default=0.0) for group in groups[g:])
        if bound <= best[0] + 1e-12:
            return
        for i in groups[g]:
            if cost[i] <= rem:
                search(
                    g + 1, rem - cost[i], have + gain(i, z), {**z, **{u: z[u] + a for u, a in rows[i]}}, (*chosen, i)
                )
        search(g + 1, rem, have, z, chosen)

    search(0, budget, 0.0, dict.fromkeys(weight, 0.0), ())
    return best
