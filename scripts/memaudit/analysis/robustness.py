"""Does the ranking of writers survive label noise? Coverage cells are flipped at random; what was kept stays kept,
its value and OPT are computed anew, and the writers' mean ratios are ranked again.

Only cells of units with positive weight are flipped: others change neither value nor optimum. A positive cell
(coverage >= .5) that is flipped becomes 0, any other becomes 1. One draw uses the same random numbers at every
rate, so that a higher rate flips what a lower one flips and more.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from ..objective import Saturation
from ..package import Package
from ..schemas import ROBUSTNESS, ROBUSTNESS_WRITERS
from .bootstrap import mean
from .relabel import ROW, Kept, dense_coverage, reworth, with_coverage

BALANCED, ALL = "balanced", "all"
# Which writers are ranked: all, or those that see no coverage and keep anything.
ALL_WRITERS, BLIND = "all", "blind"


@dataclass(frozen=True)
class Noise:
    """rates: shares of flipped cells; draws: copies at each rate; flips: BALANCED or ALL (see `flipped`)."""

    rates: Sequence[float]
    draws: int
    seed: int = 0
    flips: str = BALANCED
    node_limit: int = 1_000_000


def flipped(package: Package, noise: Noise, rate: float, draw: int) -> Package:
    """One noisy copy of the package's coverage.

    ALL: each cell is flipped with probability `rate`. BALANCED: each positive cell is lost with probability
    `rate`, and as many of the other cells, drawn at random, become 1 (all of them where there are fewer), so
    that the number of positive cells stays. Depends on seed, draw and package id alone.
    """
    random = np.random.Generator(np.random.PCG64([noise.seed, draw, zlib.crc32(package.package_id.encode())]))
    dense = dense_coverage(package)
    uniform = random.random(dense.shape)
    counts = package.weight > 0
    positive = (dense >= 0.5) & counts
    other = ~(dense >= 0.5) & counts
    if noise.flips == ALL:
        lost, gained = positive & (uniform < rate), other & (uniform < rate)
    else:
        lost = positive & (uniform < rate)
        gained = np.zeros_like(lost)
        spots = np.flatnonzero(other)
        first = spots[np.argsort(uniform.ravel()[spots], kind="stable")][: int(lost.sum())]
        gained.ravel()[first] = True
    dense[lost], dense[gained] = 0.0, 1.0
    return with_coverage(package, dense)


def robustness(
    packages: Sequence[Package],
    kept: Kept,
    noise: Noise,
    *,
    suite: str,
    setting: Mapping,
    saturation: Saturation,
    blind: Collection[str] = (),
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(schema ROBUSTNESS, schema ROBUSTNESS_WRITERS) of one setting (keys cost_model, k, saturation).

    Ratios count on packages whose OPT is positive and proven both without and with noise: where OPT is 0
    every writer has ratio 1, which says nothing about labels. kendall_tau is tau-b between the writers' mean
    ratios without and with noise, on the same packages (a pair that is tied on one side only lowers it);
    reversed_pairs: share of the pairs of writers that are apart without noise and stand the other way round
    with it, mean over draws. low, high: least and largest draw.

    ranked: all writers, and apart from them those of `blind` (names: they see no coverage) that keep a memory
    in any package at the budget. The optimum, rules that follow the coverage and writers that keep nothing stay
    at the top and bottom whatever the labels: with them among the ranked a ranking looks firmer than it is.
    """
    clean = reworth(packages, kept, saturation=saturation, k=setting["k"], node_limit=noise.node_limit)
    clean = clean.rename(columns={"new_ratio": "clean"})
    specs = kept.rows.drop_duplicates("budget").set_index("budget")["budget_spec"]
    keeping = _keeping(kept)
    rankings, writers = [], []
    for rate in noise.rates:
        drawn = list(_draws(packages, kept, noise, rate, clean, saturation, setting["k"]))
        for budget in sorted(set(clean["budget"])):
            head = {"suite": suite, "flips": noise.flips, "rate": rate, **{c: setting[c] for c in _SETTING}}
            head |= {"budget": int(budget), "budget_spec": specs[budget], "draws": noise.draws}
            at = [frame[frame["budget"] == budget] for frame in drawn]
            for ranked, names in ((ALL_WRITERS, set(at[0]["writer"])), (BLIND, set(blind) & keeping[budget])):
                rankings.append(head | {"ranked": ranked} | _ranking(at, names))
            writers += [head | numbers for numbers in _by_writer(at)]
    return (
        pd.DataFrame(rankings, columns=ROBUSTNESS.schema.names),
        pd.DataFrame(writers, columns=ROBUSTNESS_WRITERS.schema.names),
    )


_SETTING = ("cost_model", "k", "saturation")


def _keeping(kept: Kept) -> dict[int, set[str]]:
    """Budget -> the writers that keep a memory in any package."""
    # Rows of `kept` stand package by package.
    counts = [kept.chosen[p].sum(axis=1) for p in kept.rows["package_id"].unique()]
    rows = kept.rows[["budget", "writer"]].assign(n=np.concatenate([np.zeros(0, np.int64), *counts]))
    return {int(budget): set(part["writer"][part["n"] > 0]) for budget, part in rows.groupby("budget")}


def _draws(packages, kept, noise, rate, clean, saturation, k) -> Iterator[pd.DataFrame]:
    """For each draw: columns package_id, budget, writer, clean, new_ratio, proven, opt_int."""
    for draw in range(noise.draws):
        noisy = [flipped(p, noise, rate, draw) for p in packages]
        new = reworth(noisy, kept, saturation=saturation, k=k, node_limit=noise.node_limit)
        before = clean[[*ROW, "clean", "proven"]].rename(columns={"proven": "clean_proven"})
        yield before.merge(new, on=ROW, validate="one_to_one")


def _usable(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["clean"].notna() & frame["new_ratio"].notna()]


def _ranking(draws: Sequence[pd.DataFrame], names: Collection[str]) -> dict:
    """Numbers of one rate and budget over the draws; of the writers in `names`."""
    taus, turned, sizes, zero, unproven = [], [], [], [], []
    for frame in draws:
        used = _usable(frame)
        packages = frame.drop_duplicates("package_id")
        sizes.append(used["package_id"].nunique())
        unproven.append(int((~(packages["proven"] & packages["clean_proven"])).sum()))
        zero.append(len(packages) - sizes[-1] - unproven[-1])
        used = used[used["writer"].isin(names)]
        if used.empty:
            continue
        means = used.groupby("writer")[["clean", "new_ratio"]].agg(lambda values: mean(values.to_numpy()))
        clean, noisy = (np.round(means[column].to_numpy(), 12) for column in ("clean", "new_ratio"))
        turned += _reversed(clean, noisy)
        if len(set(clean)) > 1 and len(set(noisy)) > 1:
            taus.append(float(kendalltau(clean, noisy).statistic))
    return {
        "writers": len(names),
        "packages": draws[0]["package_id"].nunique(),
        "n": mean(np.array(sizes)),
        "n_zero": mean(np.array(zero)),
        "n_unproven": mean(np.array(unproven)),
        "kendall_tau": mean(np.array(taus)) if taus else np.nan,
        "tau_low": min(taus, default=np.nan),
        "tau_high": max(taus, default=np.nan),
        "reversed_pairs": mean(np.array(turned)) if turned else np.nan,
    }


def _reversed(clean: np.ndarray, noisy: np.ndarray) -> list[float]:
    """Share of the pairs apart in `clean` that `noisy` turns round, as a list of one; empty without such a pair."""
    upper = np.triu_indices(len(clean), 1)
    order = [np.sign(means[upper[0]] - means[upper[1]]) for means in (clean, noisy)]
    apart = order[0] != 0
    return [float((order[0][apart] == -order[1][apart]).mean())] if apart.any() else []


def _by_writer(draws: Sequence[pd.DataFrame]) -> Iterator[dict]:
    """Mean ratios of every writer, without and with noise, over the draws."""
    for writer in sorted(set(draws[0]["writer"])):
        parts = [_usable(frame[frame["writer"] == writer]) for frame in draws]
        parts = [part for part in parts if len(part)]
        if not parts:
            yield {"writer": writer}
            continue
        noisy = [mean(part["new_ratio"].to_numpy()) for part in parts]
        change = np.concatenate([(part["new_ratio"] - part["clean"]).to_numpy() for part in parts])
        yield {
            "writer": writer,
            "clean_ratio": mean(np.array([mean(part["clean"].to_numpy()) for part in parts])),
            "mean_ratio": mean(np.array(noisy)),
            "low": min(noisy),
            "high": max(noisy),
            "mean_change": mean(change),
            "mean_absolute_change": mean(np.abs(change)),
        }
