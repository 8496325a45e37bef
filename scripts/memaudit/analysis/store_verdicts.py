"""How sure the diagnosis of a store is whose coverage a judge said: its largest mean loss under drawn labels.

In each draw the cells of all examples get labels, what was kept stays, and the mean losses are computed anew; the
draw agrees where the same mean loss is the largest (`stores.judge_verdict`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import pandas as pd

from ..errors import InputError
from ..objective import Saturation
from ..stores.judge import Judged
from ..stores.judge_verdict import DRAWS, LOSSES, NO_LOSS, Kept, Verdict, conclude, drawn_losses
from ..stores.union import Losses, losses
from .store_scores import ALL_VIEWS, Case

# Rules that no system could prune by: upper bounds, which know what memories cover.
BOUNDS = ("upper_exact", "upper_greedy")
_NUMBERS = ("optimum_int", "whole_int", "upper_int", "selected_int")


class Verdicts(NamedTuple):
    """Rows in the schemas STORE_VERDICTS and STORE_DRAWS."""

    verdicts: pd.DataFrame
    draws: pd.DataFrame


def verdict_rows(
    cases: Sequence[Case],
    judged: Mapping[str, Judged],
    stored: pd.DataFrame,
    selections: pd.DataFrame,
    constants: Mapping[str, object],
    saturation: Saturation,
    *,
    k: int,
    draws: int = DRAWS,
    seed: int = 0,
) -> Verdicts:
    """The verdicts on one store in one setting, and the draws that they are counted from.

    `cases`: the examples that count; `judged`: example -> the judge's word; `stored`, `selections`: the store's rows in
    the schemas STORE_LOSSES and STORE_SELECTIONS. An example counts at a budget and rule where it has a row of losses
    (its optima are proven). `constants`: suite, store, cost_model, k, saturation of the rows. Draws are seeded by
    `seed`, store and example, and the same at every budget, rule and setting. InputError where a row is of a candidate
    that the example's union does not have.
    """
    counted = stored[stored["package_id"].isin([c.package_id for c in cases]) & ~stored["rule"].isin(BOUNDS)]
    if counted.empty:
        return Verdicts(pd.DataFrame(), pd.DataFrame())
    sums: dict[Kept, list[Losses | None]] = {}
    for one in cases:
        # What one example gave up is undecided, whatever the others say.
        given_up = {key for key, found in sums.items() if not any(found)}
        kept = {key: own for key, own in _kept(one, counted, selections).items() if key not in given_up}
        own = judged[one.package_id]
        drawn = drawn_losses(
            one.union, one.stored, one.store, own, kept,
            k=k, saturation=saturation, draws=draws, seed=seed_of(seed, str(constants["store"]), one.package_id),
        )  # fmt: skip
        for key, found in drawn.items():
            sums[key] = [_sum(a, b) for a, b in zip(sums[key], found, strict=True)] if key in sums else found
    judge = next(iter(judged.values())).judge
    rows, drawn_rows = [], []
    for (budget, spec, rule), part in counted.groupby(["budget", "budget_spec", "rule"], sort=True):
        means = [None if one is None else _over(one, len(part)) for one in sums[budget, rule]]
        verdict = conclude(_as_judged(part), means, judge)
        at = {**constants, "budget": budget, "budget_spec": spec, "rule": rule}
        rows.append({**at, "n": len(part), **_columns(verdict)})
        drawn_rows += [{**at, "judge": judge.name, "draw": i, **_floats(one)} for i, one in enumerate(means)]
    return Verdicts(pd.DataFrame(rows), pd.DataFrame(drawn_rows))


def _floats(one: Losses | None) -> dict[str, float | None]:
    return {name: None if one is None else float(getattr(one, name)) for name in LOSSES}


def seed_of(seed: int, store: str, package_id: str) -> int:
    """The seed of an example's draws: sha256 of `seed`, store and example, as a number."""
    return int.from_bytes(hashlib.sha256(f"{seed}\0{store}\0{package_id}".encode()).digest(), "big")


def _kept(one: Case, counted: pd.DataFrame, selections: pd.DataFrame) -> dict[Kept, list[int]]:
    """(budget, rule) -> positions in the store alone of what was kept."""
    position = {name: at for at, name in enumerate(one.stored.package.visible.candidate_ids)}
    rows = counted[counted["package_id"] == one.package_id]
    kept: dict[Kept, list[int]] = {(b, r): [] for b, r in zip(rows["budget"], rows["rule"], strict=True)}
    own = selections[(selections["package_id"] == one.package_id) & (selections["view"] == ALL_VIEWS)]
    for budget, rule, name in zip(own["budget"], own["rule"], own["candidate_id"], strict=True):
        if name not in position:
            raise InputError(f"example {one.package_id}: {name} was kept and is no memory of the store; run again")
        if (budget, rule) in kept:
            kept[budget, rule].append(position[name])
    return {key: sorted(chosen) for key, chosen in kept.items()}


def _as_judged(part: pd.DataFrame) -> Losses:
    """Mean losses of the rows, exact."""
    total: Losses | None = None
    for scale, *numbers in part[["scale", *_NUMBERS]].itertuples(index=False):
        own = losses(*(Fraction(int(n), int(scale)) for n in numbers))
        total = own if total is None else _sum(total, own)
    return _over(total, len(part))


def _sum(a: Losses | None, b: Losses | None) -> Losses | None:
    if a is None or b is None:
        return None
    return Losses(*(getattr(a, name) + getattr(b, name) for name in LOSSES))


def _over(of: Losses, n: int) -> Losses:
    return Losses(*(getattr(of, name) / n for name in LOSSES))


def _columns(verdict: Verdict) -> dict[str, object]:
    return {
        "judge": verdict.judge,
        "kind": verdict.kind,
        "kappa": verdict.kappa,
        "verdict": verdict.verdict,
        "largest": verdict.largest,
        "agreement": verdict.share,
        "draws": verdict.draws,
        "unproven_draws": verdict.unproven,
        "leans": verdict.leans,
        **{f"{name}_draws": verdict.counts.get(name, 0) for name in (*LOSSES, NO_LOSS)},
        **{f"drawn_{name}": value for name, value in _floats(verdict.mean).items()},
    }
