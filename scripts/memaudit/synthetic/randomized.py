"""Randomized variants of the two published distributions whose packages are the same for every seed.

These are ours: the published `update_chain` and `temporal_interval` give one package 500 times, so their
spread over seeds is zero by construction. Here a seed draws, in this order, the number of updates (or
intervals, then closures), each unit's weight, and for each candidate its cost and then its coverages, all
around the published values. Units, roles, representation types and texts stay as published.
"""

from __future__ import annotations

from random import Random

from pydantic import BaseModel, ConfigDict, Field

from .draft import Draft, Member
from .stress import chain_length, fill_chain, fill_intervals, interval_counts, stress


class Spread(BaseModel):
    """How far a drawn value may lie from the published one; every draw is uniform on its grid.

    length_spread: chain length (at least 2), or intervals (at least 2) and closures (at least 1, at most the
    intervals), within +- this many. weight_spread: weights within +- this share of the published weight, on a
    0.01 grid. cost_spread: costs within +- this many units, cut off at 1. coverage_spread: coverages within
    +- this much, on a 0.01 grid, cut off at 0.01 and 1.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    length_spread: int = Field(1, ge=0, le=10, description="give a whole number from 0 to 10")
    weight_spread: float = Field(0.2, ge=0, le=0.9, description="give a number from 0 to 0.9")
    cost_spread: int = Field(1, ge=0, le=10, description="give a whole number from 0 to 10")
    coverage_spread: float = Field(0.1, ge=0, le=0.5, description="give a number from 0 to 0.5")


@stress("update_chain_randomized", 1009, texts_ours=False, parameters=Spread)
def update_chain_randomized(draft: Draft, rng: Random, normal_count: int, update_count: int, spread: Spread) -> None:
    fill_chain(draft, _near(rng, chain_length(update_count), spread.length_spread, 2))
    randomize(draft, rng, spread)


@stress("temporal_interval_randomized", 1013, texts_ours=False, parameters=Spread)
def temporal_interval_randomized(
    draft: Draft, rng: Random, normal_count: int, update_count: int, spread: Spread
) -> None:
    intervals, closures = interval_counts(normal_count, update_count)
    intervals = _near(rng, intervals, spread.length_spread, 2)
    closures = min(intervals, _near(rng, closures, spread.length_spread, 1))
    fill_intervals(draft, intervals, closures)
    randomize(draft, rng, spread)


def randomize(draft: Draft, rng: Random, spread: Spread) -> None:
    """Draw every weight, cost and coverage of `draft` anew around the value it has."""
    for name, weight in draft.weights.items():
        hundredths = round(100 * weight)
        draft.weights[name] = _near(rng, hundredths, round(hundredths * spread.weight_spread), 1) / 100
    draft.members = [_redrawn(rng, member, spread) for member in draft.members]


def _redrawn(rng: Random, member: Member, spread: Spread) -> Member:
    memory = member.memory
    cost = max(1, memory.cost + rng.randint(-spread.cost_spread, spread.cost_spread))
    width = round(100 * spread.coverage_spread)
    coverage = {
        name: max(1, min(100, round(100 * value) + rng.randint(-width, width))) / 100
        for name, value in memory.coverage.items()
    }
    return Member(member.experience, member.time, memory._replace(cost=cost, coverage=coverage))


def _near(rng: Random, centre: int, spread: int, least: int) -> int:
    """A whole number uniform on centre - spread .. centre + spread, without the part below `least`."""
    return rng.randint(max(least, centre - spread), centre + spread)
