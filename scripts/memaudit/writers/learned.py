"""The learned profile of the estimated writers: ridge regression of singleton value on visible features.

Packages of even seeds train, packages of odd seeds score. Only training sees F; a prediction uses visible
features alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ..errors import InputError
from ..objective import CAP1, Instance, Saturation, scale
from ..package import Package, VisiblePackage
from .cues import CUE_GROUPS, canonical, cue_hits, relative_time, signature_tokens

TRAINS_ON = "even seeds"
SCORES_ON = "odd seeds"

TYPES = (
    "compound_update",
    "compound_evidence",
    "tombstone",
    "abstention",
    "uncertainty",
    "interval_fact",
    "raw",
    "summary",
    "graph_edge",
    "skill",
    "fact",
    "other",
)
FEATURES = (
    "bias",
    "cost",
    "inverse_cost",
    "root_cost",
    "confidence",
    "time",
    "signature_tokens",
    "cue_share",
    *(f"type:{t}" for t in TYPES),
    *(f"cue:{cues[0]}" for _, cues in CUE_GROUPS),
)
PENALTY = 1.0
BIAS_PENALTY = 0.01
# Ridge keeps the solution far better conditioned than this; rounding there makes the coefficients the same
# bytes whatever order a BLAS sums in.
COEFFICIENT_DECIMALS = 9


def is_training(package: Package) -> bool:
    """True for a package that trains: one with an even seed. A package without a seed never trains."""
    return package.seed is not None and package.seed % 2 == 0


def is_held_out(package: Package) -> bool:
    """True for a package on which a learned writer (and its comparators) may be scored: an odd seed."""
    return package.seed is not None and package.seed % 2 == 1


@lru_cache(maxsize=512)
def features(visible: VisiblePackage) -> np.ndarray:
    """Visible features, float64 (candidates, len(FEATURES)); read-only."""
    cost = visible.cost.astype(np.float64)
    cells = list(zip(visible.representation_type, visible.text, strict=True))
    cues = np.array([cue_hits(*cell) for cell in cells], dtype=np.float64)
    cues = cues.reshape(len(cells), len(CUE_GROUPS))
    tokens = np.array([len(signature_tokens(*cell)) for cell in cells], dtype=np.float64)
    columns = [
        np.ones(len(cells)),
        np.minimum(cost, 20) / 20,
        1 / cost,
        np.sqrt(cost) / np.sqrt(20),
        np.clip(visible.confidence, 0, 1.25) / 1.25,
        relative_time(visible.time_index),
        np.minimum(tokens, 20) / 20,
        cues.mean(axis=1),
    ]
    out = np.column_stack([*columns, _one_hot(visible.representation_type), cues])
    out.flags.writeable = False
    return out


def _one_hot(types: Sequence[str]) -> np.ndarray:
    out = np.zeros((len(types), len(TYPES)))
    for i, t in enumerate(map(canonical, types)):
        out[i, TYPES.index(t if t in TYPES else "other")] = 1
    return out


def singleton_values(instance: Instance) -> np.ndarray:
    """F of each candidate alone, float64 (candidates): exact integers, divided once by the scale."""
    lines = zip(instance.slope, instance.intercept, strict=True)
    saturated = np.min([slope * instance.cov + intercept for slope, intercept in lines], axis=0)
    # A running sum may wrap around; the differences, each below the scale's limit, are right all the same.
    running = np.concatenate([[0], np.cumsum(instance.weight[instance.cov_unit] * saturated)])
    return (running[instance.cov_ptr[1:]] - running[instance.cov_ptr[:-1]]) / instance.scale


def fit_ridge(training: Sequence[Package], saturation: Saturation = CAP1) -> np.ndarray:
    """Coefficients, float64 (len(FEATURES)), of the ridge regression over all candidates of `training`.

    The target is the singleton value of F under `saturation`. Penalty 1.0 on every coefficient but
    the bias, .01 there. Raises InputError when there is no candidate to learn from.
    """
    from sklearn.linear_model import Ridge  # slow to import, and only needed here

    if not any(len(package) for package in training):
        raise InputError(
            f"profile 'learned' trains on packages of {TRAINS_ON} and was given none with a candidate; add "
            f"even seeds to the suite, or leave the learned writers out of its `writers`"
        )
    x = np.concatenate([features(package.visible) for package in training])
    y = np.concatenate([singleton_values(scale(package, saturation)) for package in training])
    # Ridge has one penalty. A column stretched by s takes a coefficient s times smaller, so its own is
    # charged PENALTY / s**2.
    stretch = np.ones(len(FEATURES))
    stretch[0] = np.sqrt(PENALTY / BIAS_PENALTY)
    model = Ridge(alpha=PENALTY, fit_intercept=False, solver="cholesky").fit(x * stretch, y)
    return np.round(model.coef_ * stretch, COEFFICIENT_DECIMALS)


def predict(visible: VisiblePackage, ridge: Sequence[float]) -> np.ndarray:
    """Predicted singleton values, float64 (candidates), floored at 0.

    Raises InputError when `ridge` does not hold one coefficient a feature.
    """
    coefficients = np.asarray(ridge, dtype=np.float64)
    if coefficients.shape != (len(FEATURES),):
        raise InputError(
            f"parameter ridge holds {coefficients.size} coefficients, the features are {len(FEATURES)}; fit it again"
        )
    # Row sums, not a matrix product: equal feature rows must give equal bits, ties depend on it.
    return np.maximum((features(visible) * coefficients).sum(axis=1), 0.0)
