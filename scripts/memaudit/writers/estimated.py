"""Estimated writers: the rules of the oracle writers, run on an estimate of value from visible metadata.

A profile says where a candidate's singleton estimate v comes from. An estimate that the candidate carries
(`estimated_value`, else `estimated_coverage`) stands in every profile; without one, `default` describes the
candidate by type, cues, text and confidence, `noisy` multiplies that by a hashed factor, `external` says 0
and `learned` predicts it with the coefficients that `fit` made.

The marginal of a candidate at a store is v times a share that falls as its signature tokens are already
held; v <= 0 has marginal 0. All are floats here: nothing is known exactly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numba import boolean, float64, int64, njit

from ..errors import InputError, shown
from ..objective import CAP1, Saturation
from ..package import Package, VisiblePackage
from .coverage_free import HASH_MODULUS, stable_hash
from .cues import CUE_GROUPS, canonical, cue_hits, signature_tokens
from .learned import fit_ridge, predict
from .registry import rule

# Type priors of the default estimate, by canonical type (raw_span is raw, atomic_fact is fact).
PRIORS = {
    "compound_update": 3.2,
    "compound_evidence": 3.0,
    "tombstone": 2.6,
    "abstention": 2.4,
    "uncertainty": 2.3,
    "interval_fact": 2.0,
    "raw": 2.0,
    "summary": 1.7,
    "graph_edge": 1.6,
    "skill": 1.6,
    "fact": 1.55,
}
OTHER_PRIOR = 1.0

# Marginal = v * (kept + novel * share of signature tokens not in the store), (kept, novel) by profile.
SHARES = {"default": (0.35, 0.65), "noisy": (0.35, 0.65), "external": (0.35, 0.65), "learned": (0.85, 0.15)}
PROFILES = tuple(SHARES)

# A marginal counts as positive above this; a density reaches a threshold within it.
EPSILON = 1e-12

_ints, _floats = int64[::1], float64[::1]
# Kernels: group_start, cost, token_ptr, token, id rank, v, (gvt: thresholds), kept, novel, budget; they
# return positions.
_STORE = (_ints,) * 5
_SHARE = (float64, float64)


def fit(
    training: Sequence[Package], *, profile: str = "default", saturation: Saturation = CAP1, **_parameters
) -> dict[str, np.ndarray]:
    """Parameters made from training packages: {"ridge": coefficients} for profile learned, else nothing.

    The target is F under `saturation`, the one the writer is scored under.

    Raises InputError on an unknown profile and, for learned, on a training set without candidates.
    """
    _check_profile(profile)
    return {"ridge": fit_ridge(training, saturation)} if profile == "learned" else {}


def _is_learned(parameters: Mapping[str, object]) -> bool:
    return parameters.get("profile") == "learned"


def _check(parameters: Mapping[str, object]) -> None:
    """InputError with a line for each configured parameter of a value that the rules do not take."""
    problems = []
    profile, model = parameters.get("profile", "default"), parameters.get("model", "noisy")
    if not isinstance(profile, str) or profile not in SHARES:
        problems.append(f"profile: {shown(profile)} is no estimate profile; known: {', '.join(PROFILES)}")
    if not isinstance(model, str):
        problems.append(f"model: {shown(model)} is not text; give a name, which the noise is drawn from")
    if "ridge" in parameters:
        problems.append("ridge: is made by the fit of profile learned; remove it")
    if problems:
        raise InputError("\n".join(problems))


@rule("estimated_gvt", sees="metadata", fit=fit, learns=_is_learned, reads_text=True, check=_check)
def estimated_gvt(
    visible: VisiblePackage,
    budget: int,
    *,
    profile: str = "default",
    model: str = "noisy",
    ridge: Sequence[float] | None = None,
) -> np.ndarray:
    """Grouped value-threshold on estimates: the best of one pass over the groups per threshold.

    Thresholds are the positive singleton densities v / cost of candidates with cost <= budget, and 0. A pass
    inserts, group by group, of the candidates that fit with a positive marginal and density >= threshold the
    max by (marginal, -cost, id). Best: largest sum of marginals, then lowest cost, then highest threshold.

    `model` names the noise of profile noisy; `ridge` holds the coefficients of profile learned.
    Raises InputError on an unknown profile, learned without coefficients, an estimate that is no number.
    """
    estimates = _estimates(visible, profile, model, ridge)
    tried = {d for d, cost in zip(estimates.density, estimates.cost, strict=True) if d > 0 and cost <= budget}
    thresholds = np.array([*sorted(tried, reverse=True), 0.0])
    return _gvt(*_arrays(visible), estimates.value, thresholds, *SHARES[profile], budget)


@rule("estimated_utility", sees="metadata", fit=fit, learns=_is_learned, reads_text=True, check=_check)
def estimated_utility(
    visible: VisiblePackage,
    budget: int,
    *,
    profile: str = "default",
    model: str = "noisy",
    ridge: Sequence[float] | None = None,
) -> np.ndarray:
    """Greedy on estimates: repeatedly, over all unused groups, of the candidates that fit with a positive
    marginal insert the max by (density, marginal, -cost, id). Parameters and errors as `estimated_gvt`."""
    estimates = _estimates(visible, profile, model, ridge)
    return _greedy(*_arrays(visible), estimates.value, *SHARES[profile], budget)


def singleton_estimates(
    visible: VisiblePackage,
    *,
    profile: str = "default",
    model: str = "noisy",
    ridge: Sequence[float] | None = None,
) -> np.ndarray:
    """v of each candidate, float64 (candidates): the supplied estimate, else what the profile says."""
    _check_profile(profile)
    if profile == "learned" and ridge is None:
        raise InputError("profile 'learned' needs the parameter ridge, the coefficients that `fit` returns")
    predicted = predict(visible, ridge) if profile == "learned" else None
    out = np.empty(len(visible))
    for i in range(len(visible)):
        supplied = _supplied(visible, i)
        if supplied is not None:
            out[i] = supplied
        elif predicted is not None:
            out[i] = predicted[i]
        else:
            out[i] = 0.0 if profile == "external" else _described_value(visible, i)
            if profile == "noisy":
                out[i] *= noise(model, visible.candidate_ids[i], visible.text[i])
    return out


def noise(model: str, candidate_id: str, text: str | None) -> float:
    """The factor of profile noisy: max(.05, 1 + .40 * (hash("{model}|{id}|{text}") / 1,000,000,007 - .5))."""
    return max(0.05, 1 + 0.40 * (stable_hash(f"{model}|{candidate_id}|{text or ''}") / HASH_MODULUS - 0.5))


def described_value(representation_type: str, text: str | None, confidence: float) -> float:
    """The default estimate: (prior of the type + cue bonuses + min(.55, .035 a signature token)) times
    (.55 + .45 * confidence clipped to [0, 1.25]), at least 0."""
    value = PRIORS.get(canonical(representation_type), OTHER_PRIOR)
    for (bonus, _), hit in zip(CUE_GROUPS, cue_hits(representation_type, text), strict=True):
        value += bonus if hit else 0.0
    value += min(0.55, 0.035 * len(signature_tokens(representation_type, text)))
    return max(0.0, value * (0.55 + 0.45 * min(max(confidence, 0.0), 1.25)))


def _described_value(visible: VisiblePackage, i: int) -> float:
    return described_value(visible.representation_type[i], visible.text[i], float(visible.confidence[i]))


def _supplied(visible: VisiblePackage, i: int) -> float | None:
    """The estimate that candidate i carries: its value, else the sum of min(1, entry) of its coverage, else
    None. A value of 0 is an estimate; an empty coverage is not."""
    value = visible.estimated_value[i]
    if value is None:
        coverage: Mapping[str, float] | None = visible.estimated_coverage[i]
        if not coverage:
            return None
        if None in coverage.values():
            raise InputError(f"candidate {visible.candidate_ids[i]}: estimated_coverage has a null entry; remove it")
        value = sum(min(1.0, entry) for entry in coverage.values())
    if not math.isfinite(value):
        raise InputError(
            f"candidate {visible.candidate_ids[i]}: its supplied estimate is {value!r}; give a finite "
            f"number, or null for none"
        )
    return float(value)


def _check_profile(profile: str) -> None:
    if profile not in SHARES:
        raise InputError(f"unknown estimate profile {profile!r}; known: {', '.join(PROFILES)}")


# ---- what a package's budgets share, computed once


@dataclass(frozen=True, eq=False)
class _Estimates:
    """v and v / cost of each candidate; `cost` and `density` as lists, for the thresholds of one budget."""

    value: np.ndarray
    density: list[float]
    cost: list[int]


def _estimates(visible: VisiblePackage, profile: str, model: str, ridge: Sequence[float] | None) -> _Estimates:
    if profile == "learned" and ridge is not None:
        # As bytes, so that they can key the cache.
        return _cached_estimates(visible, profile, model, np.asarray(ridge, dtype=np.float64).tobytes())
    return _cached_estimates(visible, profile, model, None)


@lru_cache(maxsize=512)
def _cached_estimates(visible: VisiblePackage, profile: str, model: str, ridge: bytes | None) -> _Estimates:
    coefficients = None if ridge is None else np.frombuffer(ridge)
    value = singleton_estimates(visible, profile=profile, model=model, ridge=coefficients)
    return _Estimates(value, (value / visible.cost).tolist(), visible.cost.tolist())


@lru_cache(maxsize=512)
def _arrays(visible: VisiblePackage) -> tuple[np.ndarray, ...]:
    """The kernels' view of a package, all int64: group_start, cost, signature tokens row-sparse (candidate i
    has the token numbers token[token_ptr[i]:token_ptr[i + 1]]), rank of the id among the ids in string order.

    Copies, since a compiled signature takes no read-only array.
    """
    number: dict[str, int] = {}
    rows = [
        [number.setdefault(token, len(number)) for token in sorted(signature_tokens(*cell))]
        for cell in zip(visible.representation_type, visible.text, strict=True)
    ]
    ids = visible.candidate_ids
    rank = np.empty(len(ids), dtype=np.int64)
    rank[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    return (
        np.array(visible.group_start, dtype=np.int64),
        np.array(visible.cost, dtype=np.int64),
        np.cumsum([0] + [len(row) for row in rows], dtype=np.int64),
        np.array([token for row in rows for token in row], dtype=np.int64),
        rank,
    )


# ---- kernels


@njit(float64(int64, boolean[::1], _ints, _ints, _floats, float64, float64), cache=True)
def _marginal(i, held, token_ptr, token, value, kept, novel):
    """Estimated marginal of candidate i at a store that holds the tokens `held`."""
    if value[i] <= 0:
        return 0.0
    new, total = 0, token_ptr[i + 1] - token_ptr[i]
    for cell in range(token_ptr[i], token_ptr[i + 1]):
        new += not held[token[cell]]
    share = new / total if total > 0 else 1.0
    return value[i] * (kept + novel * share)


@njit(boolean(float64, int64, int64, float64, int64, int64), cache=True)
def _larger(marg, cost, rank, best_marg, best_cost, best_rank):
    """(marg, -cost, rank) > (best_marg, -best_cost, best_rank)."""
    if marg != best_marg:
        return marg > best_marg
    if cost != best_cost:
        return cost < best_cost
    return rank > best_rank


@njit(_ints(*_STORE, _floats, _floats, *_SHARE, int64), cache=True)
def _gvt(group_start, cost, token_ptr, token, rank, value, thresholds, kept, novel, budget):
    n_groups = len(group_start) - 1
    n_tokens = token.max() + 1 if len(token) else 0
    held = np.zeros(n_tokens, dtype=np.bool_)
    chosen = np.empty(n_groups, dtype=np.int64)
    best = np.empty(n_groups, dtype=np.int64)
    best_size, best_total, best_cost = 0, -1.0, 0
    for threshold in thresholds:
        held[:] = False
        size, total, used = 0, 0.0, 0
        for g in range(n_groups):
            pick, pick_marg = -1, 0.0
            for i in range(group_start[g], group_start[g + 1]):
                if used + cost[i] > budget:
                    continue
                marg = _marginal(i, held, token_ptr, token, value, kept, novel)
                if marg <= EPSILON or marg / cost[i] + EPSILON < threshold:
                    continue
                if pick < 0 or _larger(marg, cost[i], rank[i], pick_marg, cost[pick], rank[pick]):
                    pick, pick_marg = i, marg
            if pick >= 0:
                held[token[token_ptr[pick] : token_ptr[pick + 1]]] = True
                chosen[size] = pick
                size += 1
                total += pick_marg
                used += cost[pick]
        if total > best_total or (total == best_total and used < best_cost):
            best[:size] = chosen[:size]
            best_size, best_total, best_cost = size, total, used
    return best[:best_size]


@njit(_ints(*_STORE, _floats, *_SHARE, int64), cache=True)
def _greedy(group_start, cost, token_ptr, token, rank, value, kept, novel, budget):
    n_tokens = token.max() + 1 if len(token) else 0
    held = np.zeros(n_tokens, dtype=np.bool_)
    is_open = np.ones(len(cost), dtype=np.bool_)
    chosen = np.empty(len(group_start) - 1, dtype=np.int64)
    size, used = 0, 0
    while True:
        pick, pick_marg, pick_density = -1, 0.0, 0.0
        for i in range(len(cost)):
            if not is_open[i] or used + cost[i] > budget:
                continue
            marg = _marginal(i, held, token_ptr, token, value, kept, novel)
            density = marg / cost[i]
            if marg <= EPSILON or density < pick_density:
                continue
            if pick < 0 or density > pick_density or _larger(marg, cost[i], rank[i], pick_marg, cost[pick], rank[pick]):
                pick, pick_marg, pick_density = i, marg, density
        if pick < 0:
            return chosen[:size]
        held[token[token_ptr[pick] : token_ptr[pick + 1]]] = True
        g = np.searchsorted(group_start, pick, side="right") - 1
        is_open[group_start[g] : group_start[g + 1]] = False
        chosen[size] = pick
        size += 1
        used += cost[pick]
