"""Bootstrap intervals against a plain loop over the same definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.analysis import bootstrap
from memaudit.analysis.bootstrap import mean, mean_interval
from memaudit.errors import InputError

VALUES = st.lists(st.floats(-5, 5), min_size=1, max_size=30)


def plain_interval(values, resamples, seed, clusters=None):
    """Resample by resample, value by value."""
    labels = list(range(len(values))) if clusters is None else clusters
    members = [[v for v, own in zip(values, labels, strict=True) if own == label] for label in sorted(set(labels))]
    generator = np.random.Generator(np.random.PCG64(seed))
    means = []
    for _ in range(resamples):
        drawn = [v for j in generator.integers(0, len(members), len(members)) for v in members[j]]
        means.append(sum(drawn) / len(drawn))
    low, high = np.percentile(means, [2.5, 97.5])
    return sum(values) / len(values), low, high


@given(VALUES, st.integers(1, 60), st.integers(0, 3))
def test_interval_is_that_of_a_plain_loop(values, resamples, seed):
    assert mean_interval(values, resamples, seed) == pytest.approx(plain_interval(values, resamples, seed), abs=1e-9)


@given(
    VALUES.flatmap(lambda v: st.tuples(st.just(v), st.lists(st.sampled_from("abcd"), min_size=len(v), max_size=len(v))))
)
def test_clustered_interval_is_that_of_a_plain_loop(pair):
    values, clusters = pair
    expected = plain_interval(values, 40, 0, clusters)
    assert mean_interval(values, 40, 0, clusters=clusters) == pytest.approx(expected, abs=1e-9)


def test_chunked_draws_are_those_of_one_draw(monkeypatch):
    values = np.random.default_rng(3).random(50)
    whole = mean_interval(values, 200, 5)
    monkeypatch.setattr(bootstrap, "_KEPT", 0)
    monkeypatch.setattr(bootstrap, "_CHUNK", 170)
    assert len(list(bootstrap.resample_indices(50, 200, 5))) == 67
    assert mean_interval(values, 200, 5) == whole


def test_default_is_thousand_resamples_of_seed_zero():
    values = np.random.default_rng(1).random(40)
    assert mean_interval(values) == mean_interval(values, 1000, 0) != mean_interval(values, 1000, 1)
    assert mean_interval(values) == pytest.approx(plain_interval(values, 1000, 0))


@given(st.floats(0, 3), st.integers(1, 40))
def test_equal_values_have_an_interval_of_zero_width(value, n):
    assert mean_interval([value] * n, 30) == (value, value, value)


@given(VALUES.flatmap(lambda v: st.tuples(st.just(v), st.permutations(v))))
def test_mean_does_not_depend_on_order(pair):
    values, shuffled = pair
    assert mean(np.array(values)) == mean(np.array(shuffled)) == pytest.approx(sum(values) / len(values), abs=1e-9)


def test_one_cluster_has_no_spread():
    assert mean_interval([0.0, 1.0], clusters=["x", "x"]) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize("values", [[], [1.0, np.nan], [np.inf], [[1.0]]])
def test_bad_values_are_refused(values):
    with pytest.raises(InputError, match="at least one value, all finite"):
        mean_interval(values)


def test_bad_settings_are_refused():
    with pytest.raises(InputError, match="resamples is 0"):
        mean_interval([1.0], 0)
    with pytest.raises(InputError, match="1 cluster labels for 2 values"):
        mean_interval([1.0, 2.0], clusters=["a"])
