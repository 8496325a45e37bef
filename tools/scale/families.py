"""Seeded families of packages for measuring solvers against size."""

from __future__ import annotations

import numpy as np

from memaudit.package import Candidate, Package, Unit, build


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
