"""Every metric of the protocol for what writers kept, many packages at once, in exact integers.

Definitions (protocol, "Metrics beside the ratio", "Edge cases", "Deterministic decomposition"):

- covered mass of a role: sum over its units of min(1, summed coverage), unweighted; its mass: their number;
- coverable_mass: covered mass of current + invalidation units, each by the at most k candidates of every group that
  cover it most: no store of at most k a group covers more of any unit, at whatever budget;
- validity-type memories: types tombstone and compound_update;
- a query is covered when each unit that it requires has coverage >= 1; queries that require no unit are
  not counted;
- retrieved_fixed: covered mass of current + invalidation units by the three most recent kept memories
  (later time index first, then lower cost, then id). Retrieval mode `oracle` retrieves all that is kept;
- ratio: value / OPT; where OPT = 0, 1 (a package method cannot be worth more); none where OPT is unproven.

Sums stay integers until one last division, so that .35 + .65 covers a unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import chain

import numpy as np
from numba import njit

from ..batch import batch
from ..errors import InputError
from ..objective import INT_LIMIT, Instance, exact
from ..package import VALIDITY_TYPES, Package
from ..schemas import ROLES, STATUSES

FIXED_RETRIEVED = 3
UNPROVEN = "limit"

_ROLE_CODE = {role: code for code, role in enumerate(ROLES)}
_CURRENT, _INVALIDATION, _STALE = (_ROLE_CODE[role] for role in ("current", "invalidation", "stale"))
# Columns of the kernel's result.
_VALUE, _COST, _VALIDITY, _ROLE, _RETRIEVED, _QUERIES, _COLUMNS = 0, 1, 2, 3, 7, 8, 9


class Scorer:
    """Scores selections on a fixed list of packages; made once, used for each writer and budget.

    `instances[i]` holds `packages[i]` (full pool, already re-costed) in exact integers. Raises InputError
    where the two do not belong together.
    """

    def __init__(self, packages: Sequence[Package], instances: Sequence[Instance]):
        if len(packages) != len(instances):
            raise InputError(f"scores: {len(instances)} instances for {len(packages)} packages")
        self.packages = list(packages)
        for package, instance in zip(packages, instances, strict=True):
            if not np.array_equal(package.visible.cost, instance.cost):
                raise InputError(f"{_where(package)}: the instance is of another package or other costs")
        self._size = np.array([len(p) for p in packages], dtype=np.int64)
        self._scale = [int(i.scale) for i in instances]
        self._one = [unit_coverage(p, i) for p, i in zip(packages, instances, strict=True)]
        roles = [_role_codes(p) for p in packages]
        self._mass = [[row.count(code) for row in roles] for code in range(len(ROLES))]
        required = [_required_units(p) for p in packages]
        self._queries = [len(queries) for queries in required]
        flat = batch(instances)
        self._arrays = (
            flat.cand_at, flat.unit_at, flat.line_at, flat.cost, flat.cov_ptr, flat.cov_unit, flat.cov,
            flat.weight, flat.slope, flat.intercept,
            _int64(chain.from_iterable(roles)),
            _int64(t in VALIDITY_TYPES for p in packages for t in p.visible.representation_type),
            _int64(rank for p in packages for rank in _recency_rank(p)),
            np.array(self._one, dtype=np.int64),
            _starts(self._queries),
            _starts([len(units) for queries in required for units in queries]),
            _int64(unit for queries in required for units in queries for unit in units),
        )  # fmt: skip
        self._instances = list(instances)
        self._required = [np.isin(codes, (_CURRENT, _INVALIDATION)) for codes in roles]
        self._coverable: dict[int, list[float]] = {}

    def rows(
        self,
        selections: Sequence[Sequence[int]],
        *,
        writer: str,
        pool: str,
        cost_model: str,
        k: int,
        saturation: str,
        budget_spec: str,
        budget: int,
        opt: Mapping[str, tuple[int, int, str]],
    ) -> tuple[dict[str, list], dict[str, list]]:
        """(columns of table scores, columns of table selections), packages in the given order.

        `selections[i]`: positions kept of package i. `opt`: package_id -> (value_int, scale, status) of
        the optimum on the full pool under the same problem and budget. Raises InputError on a selection
        that repeats or invents a position or passes the budget, and on an optimum that is missing, has
        another scale, or is marked proven and yet smaller than the selection's value.
        """
        chosen, start = self._flatten(selections)
        metric = _metrics(start, chosen, *self._arrays)
        self._refuse_infeasible(metric, writer, budget)
        optimum = [self._optimum(i, opt) for i in range(len(self.packages))]
        key = {"cost_model": cost_model, "k": k, "saturation": saturation, "budget": budget, "writer": writer}
        scores = self._score_columns(metric, np.diff(start), optimum, writer, k)
        scores |= _repeated({**key, "pool": pool, "budget_spec": budget_spec}, len(self.packages))
        return scores, self._selection_columns(selections) | _repeated(key, len(chosen))

    def _flatten(self, selections) -> tuple[np.ndarray, np.ndarray]:
        if len(selections) != len(self.packages):
            raise InputError(f"scores: {len(selections)} selections for {len(self.packages)} packages")
        start = _starts(list(map(len, selections)))
        chosen = _int64(chain.from_iterable(selections))
        size = np.repeat(self._size, np.diff(start))
        bad = np.flatnonzero((chosen < 0) | (chosen >= size))
        if len(bad):
            package = self.packages[int(np.searchsorted(start, bad[0], side="right")) - 1]
            raise InputError(f"{_where(package)}: selected position {chosen[bad[0]]} of {len(package)}")
        return chosen, start

    def _refuse_infeasible(self, metric: np.ndarray, writer: str, budget: int) -> None:
        for i in np.flatnonzero((metric[:, _COST] > budget) | (metric[:, _COST] < 0)):
            cost = metric[i, _COST]
            why = "repeats a position" if cost < 0 else f"costs {cost}, above the budget {budget}"
            raise InputError(f"{_where(self.packages[i])}: the selection of writer {writer} {why}")

    def _optimum(self, i: int, opt: Mapping[str, tuple[int, int, str]]) -> tuple[int, str]:
        package = self.packages[i]
        if package.package_id not in opt:
            raise InputError(f"{_where(package)}: no optimum was given; solve the full pool at this budget")
        value, scale, status = opt[package.package_id]
        if scale != self._scale[i] or status not in STATUSES:
            raise InputError(
                f"{_where(package)}: the optimum has scale {scale} and status {status!r}; expected scale "
                f"{self._scale[i]} and a status of {STATUSES}: it belongs to another problem, solve again"
            )
        return int(value), status

    def _score_columns(self, metric, n_selected, optimum, writer, k) -> dict[str, list]:
        value = metric[:, _VALUE].tolist()
        opt_int = [o for o, _ in optimum]
        status = [s for _, s in optimum]

        def mass(column: int) -> list[float]:
            return self._over_one(metric[:, column])

        def over(values: list[int]) -> list[float]:
            return [v / scale for v, scale in zip(values, self._scale, strict=True)]

        columns = {
            "suite": [p.suite for p in self.packages],
            "package_id": [p.package_id for p in self.packages],
            "distribution": [p.distribution for p in self.packages],
            "value_int": value, "scale": list(self._scale), "value": over(value),
            "opt_status": status, "opt_int": opt_int, "opt": over(opt_int),
            "cost": metric[:, _COST].tolist(),
            "n_selected": n_selected.tolist(),
            "n_validity_selected": metric[:, _VALIDITY].tolist(),
            "coverable_mass": list(self._coverable_masses(k)),
            "retrieved_fixed": mass(_RETRIEVED),
            "queries": list(self._queries), "queries_covered": metric[:, _QUERIES].tolist(),
            "ratio": list(map(_ratio, self.packages, value, opt_int, status, [writer] * len(value))),
        }  # fmt: skip
        for role, code in (("current", _CURRENT), ("invalidation", _INVALIDATION), ("stale", _STALE)):
            columns[f"{role}_covered"] = mass(_ROLE + code)
            columns[f"{role}_mass"] = [float(count) for count in self._mass[code]]
        return columns

    def _coverable_masses(self, k: int) -> list[float]:
        if k not in self._coverable:
            masses = [
                int(np.minimum(most_covered(instance, k), one)[required].sum())
                for instance, one, required in zip(self._instances, self._one, self._required, strict=True)
            ]
            self._coverable[k] = self._over_one(np.array(masses, dtype=np.int64))
        return self._coverable[k]

    def _over_one(self, masses: np.ndarray) -> list[float]:
        """Integer masses, one a package, as decimals."""
        return [m / one for m, one in zip(masses.tolist(), self._one, strict=True)]

    def _selection_columns(self, selections) -> dict[str, list]:
        pairs = [(p, i) for p, chosen in zip(self.packages, selections, strict=True) for i in chosen]
        return {
            "suite": [p.suite for p, _ in pairs],
            "package_id": [p.package_id for p, _ in pairs],
            "candidate_id": [p.visible.candidate_ids[i] for p, i in pairs],
            "representation_type": [p.visible.representation_type[i] for p, i in pairs],
        }


def score_rows(
    packages: Sequence[Package], instances: Sequence[Instance], selections: Sequence[Sequence[int]], **labels
) -> tuple[dict[str, list], dict[str, list]]:
    """`Scorer(packages, instances).rows(selections, **labels)`, for a single writer and budget."""
    return Scorer(packages, instances).rows(selections, **labels)


def _where(package: Package) -> str:
    return f"package {package.package_id} of suite {package.suite}"


def _ratio(package: Package, value: int, opt: int, status: str, writer: str) -> float | None:
    if status == UNPROVEN:
        return None
    if value > opt:
        raise InputError(
            f"{_where(package)}: writer {writer} has value {value}, above the optimum {opt} (both times the "
            f"scale) that is marked {status}: the optimum is wrong or belongs to another problem; solve again"
        )
    return value / opt if opt else 1.0


def _required_units(package: Package) -> list[list[int]]:
    """Unit indices that each query requires, of queries that require any."""
    return [[package.unit_index[u] for u in q.required] for q in package.queries if q.required]


def _role_codes(package: Package) -> list[int]:
    for unit in package.units:
        if unit.role not in _ROLE_CODE:
            raise InputError(f"{_where(package)}: unit {unit.unit_id} has role {unit.role!r}, not of {ROLES}")
    return [_ROLE_CODE[unit.role] for unit in package.units]


def unit_coverage(package: Package, instance: Instance) -> int:
    """Coverage 1 in the instance's integers: any cell's integer over its decimal tells it."""
    if not len(instance.cov):
        return 1
    one = Fraction(int(instance.cov[0])) / exact(float(package.cov_value[0]), _where(package))
    if one.denominator != 1:
        raise InputError(f"{_where(package)}: the instance was made of another package")
    if one * max(1, len(package.units)) >= INT_LIMIT:
        raise InputError(
            f"{_where(package)}: covered masses do not fit 62 bits as exact integers; use fewer decimals or "
            f"set `quantize` for the suite"
        )
    return int(one)


def most_covered(instance: Instance, k: int) -> np.ndarray:
    """Summed integer coverage of each unit (units,) by the at most k candidates of every group that cover it most."""
    group = np.repeat(np.arange(len(instance.group_start) - 1), np.diff(instance.group_start))
    owner = group[np.repeat(np.arange(len(instance.cost)), np.diff(instance.cov_ptr))]
    order = np.lexsort((-instance.cov, owner, instance.cov_unit))
    pair = np.stack([instance.cov_unit[order], owner[order]])
    first = np.flatnonzero(np.append(True, (np.diff(pair) != 0).any(axis=0))) if len(order) else np.zeros(0, np.int64)
    place = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
    taken = order[place < k]
    most = np.zeros(len(instance.weight), dtype=np.int64)
    np.add.at(most, instance.cov_unit[taken], instance.cov[taken])
    return most


def _recency_rank(package: Package) -> list[int]:
    """Rank of each candidate, 0 the most recent: later time index first, then lower cost, then id."""
    v = package.visible
    keys = list(zip((-v.time_index).tolist(), v.cost.tolist(), v.candidate_ids, strict=True))
    rank = [0] * len(keys)
    for place, i in enumerate(sorted(range(len(keys)), key=keys.__getitem__)):
        rank[i] = place
    return rank


def _int64(values) -> np.ndarray:
    return np.fromiter(values, dtype=np.int64)


def _starts(sizes: Sequence[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _repeated(constants: Mapping, length: int) -> dict[str, list]:
    return {name: [value] * length for name, value in constants.items()}


@njit(cache=True)
def _metrics(
    sel_at, sel, cand_at, unit_at, line_at, cost, cov_ptr, cov_unit, cov, weight, slope, intercept,
    role, validity, recency, one, query_at, required_at, required,
):  # fmt: skip
    """Integer metrics (packages, _COLUMNS) of selections `sel[sel_at[p]:sel_at[p + 1]]` (local positions).

    Covered masses are in units of 1 / one[p]. Cost is -1 where a position is repeated.
    """
    packages = len(sel_at) - 1
    out = np.zeros((packages, _COLUMNS), np.int64)
    most_units = 0
    for p in range(packages):
        most_units = max(most_units, unit_at[p + 1] - unit_at[p])
    z = np.zeros(most_units, np.int64)
    taken = np.zeros(len(cost), np.bool_)
    recent = np.zeros(FIXED_RETRIEVED, np.int64)
    for p in range(packages):
        units = unit_at[p + 1] - unit_at[p]
        held = 0
        repeated = False
        z[:units] = 0
        for s in range(sel_at[p], sel_at[p + 1]):
            i = cand_at[p] + sel[s]
            repeated |= taken[i]
            taken[i] = True
            out[p, _COST] += cost[i]
            out[p, _VALIDITY] += validity[i]
            for cell in range(cov_ptr[i], cov_ptr[i + 1]):
                z[cov_unit[cell]] += cov[cell]
            held = _insert(recent, held, i, recency)
        if repeated:
            out[p, _COST] = -1
        for u in range(units):
            unit = unit_at[p] + u
            h = slope[line_at[p]] * z[u] + intercept[line_at[p]]
            for line in range(line_at[p] + 1, line_at[p + 1]):
                h = min(h, slope[line] * z[u] + intercept[line])
            out[p, _VALUE] += weight[unit] * h
            out[p, _ROLE + role[unit]] += min(z[u], one[p])
        for q in range(query_at[p], query_at[p + 1]):
            covered = 1
            for r in range(required_at[q], required_at[q + 1]):
                if z[required[r]] < one[p]:
                    covered = 0
            out[p, _QUERIES] += covered
        z[:units] = 0
        for i in recent[:held]:
            for cell in range(cov_ptr[i], cov_ptr[i + 1]):
                z[cov_unit[cell]] += cov[cell]
        for u in range(units):
            if role[unit_at[p] + u] == _CURRENT or role[unit_at[p] + u] == _INVALIDATION:
                out[p, _RETRIEVED] += min(z[u], one[p])
    return out


@njit(cache=True)
def _insert(recent, held, i, recency):
    """Insert candidate i into the `held` most recent ones, most recent first; the new number held."""
    place = held
    while place > 0 and recency[i] < recency[recent[place - 1]]:
        place -= 1
    if place == len(recent):
        return held
    held = min(held + 1, len(recent))
    for j in range(held - 1, place, -1):
        recent[j] = recent[j - 1]
    recent[place] = i
    return held
