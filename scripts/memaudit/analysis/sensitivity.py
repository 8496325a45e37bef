"""How optima change with k, with the cost model (on both sides), and with the pool of candidates.

Read from finished solutions: what a suite's `k`, `cost_models` and `pools` ask for. The paper's mixed setting
(declared costs for the package, words for exported memories) needs an export and is no matter of this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from ..schemas import SENSITIVITY
from .bootstrap import mean, mean_interval

FULL = "full"
_PROBLEM = ["cost_model", "pool", "k", "saturation"]
_ON = ["package_id", "budget_spec"]


def sensitivity(
    suite: str, solutions: pd.DataFrame, cost_models: Sequence[str], *, resamples: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """Schema SENSITIVITY, from rows in schema SOLUTIONS of one suite.

    varied "k": full pool, each k over k = 1 (the least k, where 1 was not solved) under the same cost model;
    "cost_model": full pool, each of `cost_models` (as configured) over each earlier one, at the same k; "pool":
    each pool over the full one. Budgets match as written: a fraction is one of each cost model's own mean cost, an
    absolute budget the same number of units, which under two cost models are different units.
    mean_ratio: mean over packages of OPT / reference OPT, with its interval, least and largest; mean_value,
    mean_reference: mean optima over all packages with both proven (n + undefined_n).
    """
    rows = [
        {"suite": suite, **head} | _numbers(own, reference, resamples, seed)
        for head, own, reference in _pairs(solutions, list(cost_models))
    ]
    return pd.DataFrame(rows, columns=SENSITIVITY.schema.names).sort_values(list(SENSITIVITY.key), ignore_index=True)


def _pairs(solutions: pd.DataFrame, cost_models: list[str]) -> Iterator[tuple[dict, pd.DataFrame, pd.DataFrame]]:
    """(head, own rows, reference rows) of every problem that has another to be compared with."""
    parts = {key: part for key, part in solutions.groupby([*_PROBLEM, "budget_spec"], sort=True)}
    first_k = min(solutions["k"], default=1)
    for (cost_model, pool, k, saturation, spec), own in parts.items():
        references = [("pool", pool, FULL, (cost_model, FULL, k, saturation))] if pool != FULL else []
        if pool == FULL and k != first_k:
            references.append(("k", str(k), str(first_k), (cost_model, pool, first_k, saturation)))
        if pool == FULL:
            earlier = cost_models[: cost_models.index(cost_model)]
            references += [("cost_model", cost_model, c, (c, pool, k, saturation)) for c in earlier]
        for varied, value, reference, problem in references:
            other = parts.get((*problem, spec))
            if other is not None:
                yield {
                    "varied": varied, "value": value, "reference": reference,
                    "cost_model": cost_model, "pool": pool, "k": k, "saturation": saturation,
                    "budget_spec": spec, "budget": int(own["budget"].iloc[0]),
                    "reference_budget": int(other["budget"].iloc[0]),
                }, own, other  # fmt: skip


def _numbers(own: pd.DataFrame, reference: pd.DataFrame, resamples: int, seed: int) -> dict:
    columns = [*_ON, "value", "status"]
    both = own[columns].merge(reference[columns], on=_ON, suffixes=("", "_reference"), validate="one_to_one")
    proven = both[(both["status"] != "limit") & (both["status_reference"] != "limit")]
    defined = proven[proven["value_reference"] > 0]
    ratio = (defined["value"] / defined["value_reference"]).to_numpy()
    numbers = {
        "n": len(defined),
        "undefined_n": len(proven) - len(defined),
        "n_unproven": len(both) - len(proven),
        "mean_value": mean(proven["value"].to_numpy()) if len(proven) else np.nan,
        "mean_reference": mean(proven["value_reference"].to_numpy()) if len(proven) else np.nan,
        "mean_ratio": np.nan,
        "ci_low": np.nan,
        "ci_high": np.nan,
        "min_ratio": np.nan,
        "max_ratio": np.nan,
    }
    if len(ratio):
        interval = dict(zip(("mean_ratio", "ci_low", "ci_high"), mean_interval(ratio, resamples, seed), strict=True))
        numbers |= interval | {"min_ratio": float(ratio.min()), "max_ratio": float(ratio.max())}
    return numbers
