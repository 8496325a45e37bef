"""Exported stores pruned to a budget: what the selections are worth under every denominator, and what they lose.

Denominators (protocol, "Optimum and ratios"): the optimum of the package, of the union of the package and this
store, and of the joint union of all compared stores. Where one is 0 the ratio is undefined. The losses are those of
`stores.union.losses`, in exact integers; the part of a loss in a unit is the difference of its worth in the two
selections that the loss is the difference of. Of neighbours that are worth the same the one that is nearer to what was
kept stands for both: equal values are equal optima, so that a loss of 0 has no unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd

from ..errors import InputError
from ..objective import Instance, Saturation, scale
from ..package import Package
from ..pools import BUILT_IN as POOLS
from ..schemas import TABLES
from ..solve.stage import instances_of
from ..stores.judge_verdict import LOSSES
from ..stores.labelled import LABELS
from ..stores.model import Store
from ..stores.pruning import RULES
from ..stores.union import Labelled, StorePackage, losses, store_package
from ..stores.unions import Cost
from .scores import UNPROVEN, Scorer

ALL_VIEWS = ""
UPPER = "upper_exact"
# Rules that need something of a store, and the field of a memory that it stands in.
NEEDS = {"native_order": "native_order", "salience": "salience", "salience_order": "salience"}
_NUMBERS = ("optimum", "whole", "upper", "selected")

# package id -> (value_int, scale, status); package id -> candidate ids that an optimum keeps.
Optima = Mapping[str, tuple[int, int, str]]
Kept = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class Case:
    """One example: its store, its union (costs of one setting), the store over the same units, and each single view of
    it, where the store has several."""

    store: Store
    union: Package
    stored: StorePackage
    views: Mapping[str, StorePackage]

    @property
    def package_id(self) -> str:
        return self.union.package_id


@dataclass(frozen=True)
class Solved:
    """The optima of one budget. package, union, joint (None: in no comparison), store (best subset of it alone) by
    package id; union_kept, store_kept: the candidates chosen."""

    package: Optima
    union: Optima
    store: Optima
    joint: Optima | None
    union_kept: Kept
    store_kept: Kept


@dataclass(frozen=True)
class StoreScores:
    """Rows of the tables store_scores, store_selections, store_losses and store_lost_units."""

    scores: pd.DataFrame
    selections: pd.DataFrame
    losses: pd.DataFrame
    lost: pd.DataFrame


def case(union: Package, package: Package, labelled: Labelled, cost: Cost) -> Case:
    """A Case; `union` in the costs of the setting, `cost` the one of memories in it."""
    views = sorted({memory.view for memory in labelled.store.memories})
    single = {view: store_package(package, _only(labelled, view), cost) for view in views if len(views) > 1}
    return Case(labelled.store, union, store_package(package, labelled, cost), single)


def _only(labelled: Labelled, view: str) -> Labelled:
    memories = tuple(memory for memory in labelled.store.memories if memory.view == view)
    return replace(labelled, store=replace(labelled.store, memories=memories))


def usable_rules(stores: Sequence[Labelled], wanted: Sequence[str] | None, where: str) -> list[str]:
    """The rules to prune by: `wanted`, or all for which every store that is not empty has what they need.

    InputError naming `where` and the first example that lacks it, where such a rule is wanted.
    """
    rules = list(dict.fromkeys([*(wanted or RULES), UPPER]))
    out = []
    for rule in rules:
        lacking = [s.store.instance_id for s in stores if rule in NEEDS and _lacks(s, NEEDS[rule])]
        if lacking and wanted is not None:
            lack = f"the store of example {lacking[0]} has no {NEEDS[rule]}"
            raise InputError(f"{where}: rule {rule}: {lack}; give it, or leave the rule out")
        if not lacking:
            out.append(rule)
    return out


def _lacks(labelled: Labelled, field: str) -> bool:
    memories = labelled.store.memories
    return bool(memories) and all(getattr(memory, field) is None for memory in memories)


def score_store(
    cases: Sequence[Case],
    rules: Sequence[str],
    solved: Mapping[int, Solved],
    constants: Mapping[str, object],
    budgets: Mapping[int, str],
    saturation: Saturation,
    labels: str = LABELS,
) -> StoreScores:
    """Every rule at every budget (`budgets`: amount -> spelling), with losses.

    `constants`: suite, store, cost_model, k, saturation of the rows; `labels`: who says what memories cover. Raises
    InputError where optima and packages do not belong together.
    """
    unions = [c.union for c in cases]
    instances = instances_of(unions, POOLS["full"], saturation)
    scorer = Scorer(unions, instances)
    positions = [{i: at for at, i in enumerate(p.visible.candidate_ids)} for p in unions]
    alone = [_scaled(c, saturation) for c in cases]
    word = "coverage" if labels == LABELS else "judged"
    best = [_best_memories(c.stored.package, word) for c in cases]
    dearest = [_dearest(c.stored.package, int(constants["k"])) for c in cases]
    parts: dict[str, list[pd.DataFrame]] = {"scores": [], "selections": [], "losses": [], "lost": []}
    for budget, spec in budgets.items():
        at = solved[budget]
        upper = [[positions[i][c] for c in at.store_kept.get(p.package_id, ())] for i, p in enumerate(unions)]
        ledger = _Ledger(cases, instances, positions, at, upper, best, [most <= budget for most in dearest])
        for view, rule, chosen in _selections(cases, alone, positions, rules, budget, upper):
            key = {**constants, "budget": budget, "view": view, "rule": rule}
            scores, memories = scorer.rows(
                chosen, writer=rule, pool="full", budget_spec=spec, budget=budget, opt=at.union,
                **{name: constants[name] for name in ("cost_model", "k", "saturation")},
            )  # fmt: skip
            parts["scores"].append(_scores(pd.DataFrame(scores), cases, view, at, key))
            kept = pd.DataFrame(memories)[["package_id", "candidate_id", "representation_type"]]
            parts["selections"].append(kept.assign(**key))
            if view == ALL_VIEWS:
                of_rule = {**constants, "budget_spec": spec, "budget": budget, "rule": rule}
                parts["losses"].append(pd.DataFrame(ledger.losses(chosen)).assign(**of_rule))
                parts["lost"].append(pd.DataFrame(ledger.lost(chosen)).assign(**of_rule))
    tables = {"scores": "store_scores", "selections": "store_selections", "losses": "store_losses"}
    tables |= {"lost": "store_lost_units"}
    joined = {name: _joined(tables[name], frames) for name, frames in parts.items()}
    said = {name: frame.assign(labels=labels) for name, frame in joined.items() if name != "selections"}
    return StoreScores(**joined | said)


def _joined(table: str, frames: list[pd.DataFrame]) -> pd.DataFrame:
    filled = [frame for frame in frames if len(frame)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=TABLES[table].schema.names)


def _scaled(c: Case, saturation: Saturation) -> dict[str, tuple[StorePackage, Instance]]:
    stored = {ALL_VIEWS: c.stored, **c.views}
    return {view: (s, scale(s.package, saturation)) for view, s in stored.items()}


def _selections(cases, alone, positions, rules, budget, upper) -> Iterator[tuple[str, str, list[list[int]]]]:
    """(view, rule, positions in the union of each case); of a single view no exact best subset, which is not solved."""
    views = sorted({view for own in alone for view in own})
    for view in views:
        for rule in rules:
            if rule == UPPER:
                if view == ALL_VIEWS:
                    yield view, rule, upper
                continue
            chosen = []
            for own, position in zip(alone, positions, strict=True):
                if view not in own:  # this example's store has nothing of the view
                    chosen.append([])
                    continue
                stored, instance = own[view]
                ids = stored.package.visible.candidate_ids
                chosen.append(sorted(position[ids[i]] for i in RULES[rule](stored, instance, budget)))
            yield view, rule, chosen


def _scores(frame: pd.DataFrame, cases: Sequence[Case], view: str, at: Solved, key: Mapping) -> pd.DataFrame:
    """Columns of table store_scores, of the scorer's rows."""
    columns = ["package_id", "budget_spec", "n_selected", "cost", "value_int", "scale", "value"]
    columns += ["invalidation_covered", "invalidation_mass"]
    held = [len({m.memory_id for m in c.stored.memories if view in (ALL_VIEWS, m.view)}) for c in cases]
    frame = frame[columns].assign(n_memories=held, status=_statuses(cases, at, key["rule"]), **key)
    for name in ("package", "union", "joint"):
        optima = getattr(at, name)
        found = [_optimum(optima, c.package_id) for c in cases]
        frame[f"{name}_opt"] = [None if f is None else float(f[0]) for f in found]
        frame[f"{name}_status"] = [None if f is None else f[1] for f in found]
        values = zip(frame["value_int"], frame["scale"], frame["status"], found, strict=True)
        frame[f"{name}_ratio"] = [_ratio(Fraction(v, s), status, f) for v, s, status, f in values]
    return frame


def _statuses(cases: Sequence[Case], at: Solved, rule: str) -> list[str]:
    """Of the best subset how far it is proven; what a rule keeps needs no proof."""
    return [at.store[c.package_id][2] if rule == UPPER else "optimal" for c in cases]


def _optimum(optima: Optima | None, package_id: str) -> tuple[Fraction, str] | None:
    if optima is None or package_id not in optima:
        return None
    value, scaled, status = optima[package_id]
    return Fraction(value, scaled), status


def _ratio(value: Fraction, status: str, optimum: tuple[Fraction, str] | None) -> float | None:
    if optimum is None or UNPROVEN in (status, optimum[1]) or optimum[0] == 0:
        return None
    return float(value / optimum[0])


class _Ledger:
    """What every case's optimum, whole store and best subset are worth, unit by unit, at one budget."""

    def __init__(self, cases, instances, positions, at: Solved, upper, best, fits: Sequence[bool]):
        self._cases, self._instances, self._fits = cases, instances, fits
        proven = [UNPROVEN not in (at.union[c.package_id][2], at.store[c.package_id][2]) for c in cases]
        self._cases_proven = [i for i, yes in enumerate(proven) if yes]
        optimum = [[p[i] for i in at.union_kept.get(c.package_id, ())] for c, p in zip(cases, positions, strict=True)]
        whole = [[p[i] for i in c.stored.package.visible.candidate_ids] for c, p in zip(cases, positions, strict=True)]
        self._best = best
        self._worth = {
            name: [worths(instance, s) for instance, s in zip(instances, chosen, strict=True)]
            for name, chosen in (("optimum", optimum), ("whole", whole), ("upper", upper))
        }
        equal = [a.sum() == b.sum() for a, b in zip(self._worth["optimum"], self._worth["upper"], strict=True)]
        # The optimum that is told of: the best subset of the store where that is one.
        self._told = [u if same else o for o, u, same in zip(optimum, upper, equal, strict=True)]

    def _levels(self, i: int, selection: Sequence[int]) -> list[np.ndarray]:
        """Worth by unit of O, of the smaller of O and Y, of U and of S: each loss is a difference of neighbours, of
        equal ones of none."""
        optimum, whole, upper = (self._worth[name][i] for name in ("optimum", "whole", "upper"))
        reached = whole if whole.sum() < optimum.sum() else optimum
        levels = [optimum, reached, upper, worths(self._instances[i], selection)]
        for at in (2, 1, 0):
            if levels[at].sum() == levels[at + 1].sum():
                levels[at] = levels[at + 1]
        return levels

    def losses(self, chosen: Sequence[Sequence[int]]) -> list[dict]:
        """A row a case whose optima are proven."""
        rows = []
        for i in self._cases_proven:
            one, scaled = self._cases[i], self._instances[i].scale
            levels = self._levels(i, chosen[i])
            whole = self._worth["whole"][i]
            numbers = (levels[0], whole, *levels[2:])
            exact = losses(*(Fraction(int(worth.sum()), scaled) for worth in numbers))
            roles = np.array([unit.role == "invalidation" for unit in one.union.units], dtype=bool)
            row = {"package_id": one.package_id, "scale": scaled, "fits": self._fits[i]}
            row |= {f"{n}_int": int(worth.sum()) for n, worth in zip(_NUMBERS, numbers, strict=True)}
            for name, (above, below) in zip(LOSSES, pairwise(levels), strict=True):
                row[name] = float(getattr(exact, name))
                row[f"{name}_invalidation"] = _stale(above - below, roles) / scaled
            rows.append(row)
        return rows

    def lost(self, chosen: Sequence[Sequence[int]]) -> list[dict]:
        """A row a unit of which a proven case's selection holds less than its optimum, where that is worth more."""
        rows = []
        for i in self._cases_proven:
            one, levels, scaled = self._cases[i], self._levels(i, chosen[i]), self._instances[i].scale
            gap = int(levels[0].sum() - levels[-1].sum())
            for u in np.flatnonzero(levels[0] > levels[-1]).tolist() if gap else ():
                unit = one.union.units[u]
                steps = {n: int(a[u] - b[u]) / scaled for n, (a, b) in zip(LOSSES, pairwise(levels), strict=True)}
                kept = [_described(one.union, c) for c in self._told[i] if _covers(one.union, c, u)]
                rows.append({
                    "package_id": one.package_id, "unit_id": unit.unit_id, "role": unit.role, "kind": unit.kind,
                    "unit_text": unit.text, "lost": int(levels[0][u] - levels[-1][u]) / scaled, **steps,
                    "gap": gap / scaled,
                    "kept_instead": "\n".join(kept),
                    "store_best": self._best[i].get(unit.unit_id),
                })  # fmt: skip
        return rows


def _dearest(package: Package, k: int) -> int:
    """What a store costs with the k dearest views of each memory kept: a budget of as much holds nothing back."""
    v = package.visible  # in a group the cheapest first
    groups = pairwise(v.group_start.tolist())
    return sum(int(v.cost[max(start, end - k) : end].sum()) for start, end in groups)


def _stale(parts: np.ndarray, invalidation: np.ndarray) -> int:
    """What of a loss (its parts by unit) is lost in invalidation units: 0 where they gain, and at most the loss, which
    is less where other units gain in exchange."""
    return int(np.clip(parts[invalidation].sum(), 0, parts.sum()))


def worths(instance: Instance, selection: Sequence[int]) -> np.ndarray:
    """What each unit adds to F_int of a selection (candidate positions); int64, summing to it."""
    z = np.zeros(len(instance.weight), dtype=np.int64)
    for i in selection:
        cells = slice(instance.cov_ptr[i], instance.cov_ptr[i + 1])
        z[instance.cov_unit[cells]] += instance.cov[cells]
    lines = instance.slope[:, None] * z[None, :] + instance.intercept[:, None]
    return instance.weight * lines.min(axis=0)


def _covers(package: Package, candidate: int, unit: int) -> bool:
    return unit in package.cov_unit[package.cov_ptr[candidate] : package.cov_ptr[candidate + 1]]


def _described(package: Package, i: int) -> str:
    v = package.visible
    return f"{v.candidate_ids[i]} ({v.representation_type[i]}, cost {int(v.cost[i])}){_quoted(v.text[i])}"


def _quoted(text: str | None) -> str:
    """A memory's text, whole and on one line; nothing where the text stands elsewhere."""
    return "" if text is None else f' "{" ".join(text.split())}"'


def _best_memories(package: Package, word: str) -> dict[str, str]:
    """Unit -> the store's memory that covers it most, then the cheapest; units that none covers are left out. `word`:
    what the amount is called."""
    best: dict[str, tuple[float, int, int]] = {}
    for i, cost in enumerate(package.visible.cost.tolist()):
        for unit_id, value in package.coverage_row(i).items():
            found = (-value, cost, i)
            best[unit_id] = min(found, best.get(unit_id, found))
    v = package.visible
    return {
        u: f"{v.candidate_ids[i]} ({word} {-value:g}, cost {cost}){_quoted(v.text[i])}"
        for u, (value, cost, i) in best.items()
    }
