"""Fit the proxy judge (`stores.judge`) on labels of natural packages, and say what it is worth.

Examples are split once, by a hash of their id. Vocabulary, coefficients and thresholds come of the training split
alone, the quality of the test split alone. Each cell stands for `weight` cells of its example: the labelled ones are
all that a first labeller found covered, and a sample of the others.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from ..errors import InputError
from ..natural.conversations import SEPARATOR
from ..stores.judge import (
    FEATURES,
    LEVELS,
    ROW_LEVEL,
    ROWS,
    Comparison,
    Parameters,
    Score,
    Vocabulary,
    judged_rows,
)
from ..stores.judge_text import read
from .agreement import cohen_kappa, kappa_interval
from .bootstrap import percentile_interval, resample_indices

SPLIT = (
    "by example: test where the first 8 hexadecimal digits of sha256('judge:' + question id without '_abs'), as a "
    "number, modulo 5 are below 2 (two fifths), else train; variants of one question stay together"
)
ABSTENTION = "_abs"
_RIDGE = 1e-3
_DECIMALS = 4
# Thresholds are sought among so many quantiles of the training scores.
_QUANTILES = 199


@dataclass(frozen=True)
class Example:
    """A cell to learn from. weight: of how many cells of its example and first label it stands for one."""

    example: str
    memory: str
    unit: str
    representation_type: str
    label: float
    weight: float

    @property
    def test(self) -> bool:
        """Whether the split gives it to the test (SPLIT)."""
        name = f"judge:{self.example.removesuffix(ABSTENTION)}"
        return int(hashlib.sha256(name.encode()).hexdigest()[:8], 16) % 5 < 2


def examples(tables: Mapping[str, Iterable[Mapping[str, Any]]], first: str, second: str) -> list[Example]:
    """The cells that `second` labelled in the rows of a coverage package (`natural.labelled.package_tables`).

    `first`: the labeller whose positive labels and sampled zeros they are. Candidates without text are left out, of
    the weights too. InputError where no cell is labelled by both.
    """
    texts = {row["candidate_id"]: row.get("serialized", row.get("text")) for row in tables["candidates"]}
    types = {row["candidate_id"]: row["representation_type"] for row in tables["candidates"]}
    units = {row["unit_id"]: row["canonical_text"] for row in tables["units"]}
    cells = [
        (row["candidate_id"], row["unit_id"], row["labels"])
        for row in tables["coverage"]
        if second in row.get("labels", ()) and texts[row["candidate_id"]] is not None
    ]
    if not cells:
        raise InputError(
            f"no cell with a text is labelled by {first} and {second}; give the tables of an audited package"
        )
    memories = Counter(_example(c) for c, text in texts.items() if text is not None)
    every = {name: count * sum(_example(u) == name for u in units) for name, count in memories.items()}
    positive = Counter(_example(c) for c, _, labels in cells if labels[first] >= 0.5)
    zero = Counter(_example(c) for c, _, labels in cells if labels[first] < 0.5)
    return [
        Example(
            _example(c), texts[c], units[u], types[c], float(labels[second]),
            1.0 if labels[first] >= 0.5 else (every[_example(c)] - positive[_example(c)]) / zero[_example(c)],
        )
        for c, u, labels in sorted(cells, key=lambda cell: cell[:2])
    ]  # fmt: skip


def _example(name: str) -> str:
    return name.split(SEPARATOR)[0]


# ---- Fitting


def fit(cells: Sequence[Example]) -> Parameters:
    """The parameters, from the training split of `cells`."""
    train = [cell for cell in cells if not cell.test]
    label, weight = _column(train, "label"), _column(train, "weight")
    vocabulary = vocabulary_of(text for cell in train for text in (cell.memory, cell.unit))
    features = features_of(vocabulary, train)
    # Without a shared word or number a cell is 0 by rule; it has no score to learn from.
    scored, covered = ~np.isnan(features[:, 0]), label > 0
    any_ = _fitted(features[scored], covered[scored], weight[scored])
    any_ = _with_threshold(any_, features, covered, weight)
    known = scored & covered
    full = _fitted(features[known], label[known] == 1, weight[known])
    full = _with_threshold(full, features[known], label[known] == 1, weight[known])
    far = _rounded(min(any_.of(features[known]).min(), any_.threshold))
    return Parameters(vocabulary, any_, full, far, _rounded((far + any_.threshold) / 2))


def vocabulary_of(texts: Iterable[str]) -> Vocabulary:
    """In how many of the distinct texts each stem stands."""
    distinct = sorted(set(texts))
    counts = Counter(word for text in distinct for word in read(text).words)
    return Vocabulary(len(distinct), dict(sorted(counts.items())))


def features_of(vocabulary: Vocabulary, cells: Sequence[Example]) -> np.ndarray:
    """Features (cells, FEATURES); NaN for a cell that shares no content word or number."""
    out = np.full((len(cells), len(FEATURES)), np.nan)
    for i, _, pairs in _compared(vocabulary, cells):
        if len(pairs.memory):
            out[i] = pairs.features[0]
    return out


def _compared(vocabulary: Vocabulary, cells: Sequence[Example]):
    readings = {text: read(text) for cell in cells for text in (cell.memory, cell.unit)}
    comparisons = {cell.unit: Comparison(vocabulary, [readings[cell.unit]]) for cell in cells}
    for i, cell in enumerate(cells):
        yield i, cell, comparisons[cell.unit].pairs([readings[cell.memory]])


def _fitted(features: np.ndarray, label: np.ndarray, weight: np.ndarray) -> Score:
    """Weighted logistic regression on standardised features with a ridge and coefficients >= 0."""
    mean, spread = features.mean(axis=0), features.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    z, sign, share = (features - mean) / spread, np.where(label, 1.0, -1.0), weight / weight.sum()

    def loss(p: np.ndarray) -> tuple[float, np.ndarray]:
        margin = sign * (z @ p[:-1] + p[-1])
        slope = -sign * share / (1 + np.exp(np.clip(margin, -500, 500)))
        value = (np.logaddexp(0, -margin) * share).sum() + _RIDGE * (p[:-1] ** 2).sum()
        return float(value), np.append(z.T @ slope + 2 * _RIDGE * p[:-1], slope.sum())

    bounds = [(0, None)] * features.shape[1] + [(None, None)]
    start = np.zeros(features.shape[1] + 1)
    options = {"maxiter": 10_000, "ftol": 1e-14, "gtol": 1e-9}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    coefficients = found[:-1] / spread
    return Score(_rounded(found[-1] - coefficients @ mean), tuple(map(_rounded, coefficients)), 0.0)


def _with_threshold(score: Score, features: np.ndarray, label: np.ndarray, weight: np.ndarray) -> Score:
    """The score with the threshold of the largest weighted kappa, the lowest of several."""
    values = np.nan_to_num(score.of(features), nan=-np.inf)
    tried = sorted(
        {_rounded(t) for t in np.quantile(values[np.isfinite(values)], np.linspace(0, 1, _QUANTILES + 2)[1:-1])}
    )
    kappas = [cohen_kappa((values >= t).astype(np.int64), label.astype(np.int64), weight) for t in tried]
    return Score(score.intercept, score.coefficients, tried[int(np.argmax(kappas))])


def _rounded(value: float) -> float:
    return round(float(value), _DECIMALS) + 0.0


def _column(cells: Sequence[Example], name: str) -> np.ndarray:
    return np.array([getattr(cell, name) for cell in cells], dtype=np.float64)


# ---- Quality


def quality(parameters: Parameters, cells: Sequence[Example], resamples: int = 1000, seed: int = 0) -> dict[str, Any]:
    """What the proxy is worth on the test split of `cells`, as JSON values.

    kappa: binary (>= .5), every cell counting once, with its interval clustered by example; kappa_all_cells: every
    cell counting for as many as it stands for. confusion: true label -> judged label -> cells (confusion_all_cells:
    weights). true_given_judged: row of ROWS -> shares of LEVELS, of all cells.
    memories_per_example: mean number of memories with text in a test example, which those shares hold for.
    """
    test = [cell for cell in cells if cell.test]
    rows = rows_of(parameters, test)
    label, weight = _column(test, "label"), _column(test, "weight")
    judged = np.array([ROW_LEVEL[row] for row in rows])
    a, b = (judged >= 0.5).astype(np.int64), (label >= 0.5).astype(np.int64)
    groups = np.array([cell.example.removesuffix(ABSTENTION) for cell in test])
    return {
        "test_examples": len({cell.example for cell in test}),
        "train_examples": len({cell.example for cell in cells if not cell.test}),
        "test_cells": len(test),
        "train_cells": len(cells) - len(test),
        "memories_per_example": round(
            len({(cell.example, cell.memory) for cell in test}) / len({cell.example for cell in test}), 1
        ),
        "kappa": _four(cohen_kappa(a, b)),
        "kappa_interval": [_four(x) for x in kappa_interval(a, b, groups, resamples, seed)],
        "kappa_all_cells": _four(cohen_kappa(a, b, weight)),
        "kappa_all_cells_interval": [_four(x) for x in _weighted_interval(a, b, weight, groups, resamples, seed)],
        "confusion": _table(label, judged, np.ones(len(test))),
        "confusion_all_cells": _table(label, judged, weight),
        "by_representation_type": {
            kind: {
                "cells": int(own.sum()),
                "kappa": _four(cohen_kappa(a[own], b[own])),
                "kappa_all_cells": _four(cohen_kappa(a[own], b[own], weight[own])),
                "confusion": _table(label[own], judged[own], np.ones(int(own.sum()))),
            }
            for kind in sorted({cell.representation_type for cell in test})
            for own in [np.array([cell.representation_type == kind for cell in test])]
        },
        "true_given_judged": _given(rows, label, weight),
        "judged_cells": {row: rows.count(row) for row in ROWS},
    }


def rows_of(parameters: Parameters, cells: Sequence[Example]) -> list[str]:
    """The row of ROWS of each cell."""
    found = [judged_rows(parameters, pairs) for _, _, pairs in _compared(parameters.vocabulary, cells)]
    return [rows[0] if rows else ROWS[0] for rows in found]


def _given(rows: Sequence[str], label: np.ndarray, weight: np.ndarray) -> dict[str, list[float]]:
    """Row -> share of each true level; a row that no test cell has is taken at its word."""
    out = {}
    for row in ROWS:
        own = np.array([r == row for r in rows])
        parts = [weight[own & (label == level)].sum() for level in LEVELS] if own.any() else []
        if not parts:
            parts = [float(level == ROW_LEVEL[row]) for level in LEVELS]
        out[row] = [round(float(part / sum(parts)), 6) for part in parts]
    return out


def _table(label: np.ndarray, judged: np.ndarray, weight: np.ndarray) -> dict[str, dict[str, float]]:
    return {
        f"{true:g}": {f"{j:g}": round(float(weight[(label == true) & (judged == j)].sum()), 1) for j in LEVELS}
        for true in LEVELS
    }


def _weighted_interval(a, b, weight, groups, resamples: int, seed: int) -> tuple[float, float]:
    """As `kappa_interval`, of weighted kappa."""
    _, code = np.unique(groups, return_inverse=True)
    count = int(code.max()) + 1
    tables = np.bincount(4 * code + 2 * a + b, weight, 4 * count).reshape(count, 4)
    drawn = [
        cohen_kappa([0, 0, 1, 1], [0, 1, 0, 1], tables[row].sum(axis=0))
        for index in resample_indices(count, resamples, seed)
        for row in index
    ]
    return percentile_interval(np.array(drawn))


def _four(value: float) -> float:
    return round(float(value), 4)
