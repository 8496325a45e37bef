"""The learned profile: features by hand, exact targets, and the ridge against its normal equations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from text_packages import text_package

from memaudit.errors import InputError
from memaudit.objective import CAP1, piecewise_linear, scale
from memaudit.package import Candidate, build
from memaudit.pools import BUILT_IN as POOLS
from memaudit.writers import estimated, learned
from memaudit.writers.registry import Rule, Writer
from memaudit.writers.stage import kept
from strategies import packages, saturations

TRAINING = [text_package(seed, package_seed=2 * seed) for seed in range(60)]


def test_fit_solves_the_normal_equations():
    x = np.concatenate([learned.features(p.visible) for p in TRAINING])
    y = np.array([scale(p).value_int([i]) / scale(p).scale for p in TRAINING for i in range(len(p))])
    penalty = np.diag([0.01] + [1.0] * (x.shape[1] - 1))
    expected = np.linalg.solve(x.T @ x + penalty, x.T @ y)
    got = estimated.fit(TRAINING, profile="learned", model="noisy")["ridge"]
    assert got.shape == (len(learned.FEATURES),)
    np.testing.assert_allclose(got, expected, atol=1e-8)
    assert np.abs(expected).max() > 0.1


def test_fit_repeats_and_other_profiles_fit_nothing():
    first = learned.fit_ridge(TRAINING).tobytes()
    learned.features.cache_clear()
    assert learned.fit_ridge(list(TRAINING)).tobytes() == first
    for profile in ("default", "noisy", "external"):
        assert estimated.fit(TRAINING, profile=profile) == {}


def test_features_by_hand():
    candidates = [
        Candidate("a", "g", "atomic_fact", 4, 3, "no longer current", 0.5),
        Candidate("b", "h", "odd_type", 50, 5, None, 2.0),
        Candidate("c", "i", "raw", 1, 7, None, 1.0),
    ]
    visible = build("test", "p", "d", None, candidates, [], {}, []).visible
    rows = [dict(zip(learned.FEATURES, row, strict=True)) for row in learned.features(visible).tolist()]
    shown = {name: value for name, value in rows[0].items() if value}
    assert shown == pytest.approx(
        {
            "bias": 1,
            "cost": 0.2,
            "inverse_cost": 0.25,
            "root_cost": np.sqrt(0.2),
            "confidence": 0.4,
            "signature_tokens": 2 / 20,
            "cue_share": 2 / 6,
            "type:fact": 1,
            "cue:tombstone": 1,
            "cue:update": 1,
        }
    )  # tokens atomic, longer
    assert (rows[1]["cost"], rows[1]["confidence"], rows[1]["time"]) == (1, 1, 0.5)
    assert rows[1]["type:other"] == 1 and rows[2]["type:raw"] == 1 and rows[2]["time"] == 1


def test_equal_times_are_in_the_middle():
    candidates = [Candidate(i, i, "fact", 1, 9) for i in "ab"]
    visible = build("test", "p", "d", None, candidates, [], {}, []).visible
    assert learned.features(visible)[:, learned.FEATURES.index("time")].tolist() == [0.5, 0.5]


@settings(max_examples=50)
@given(packages(), saturations())
def test_singleton_values_are_exact(package, saturation):
    instance = scale(package, saturation)
    expected = [instance.value_int([i]) / instance.scale for i in range(len(package))]
    assert learned.singleton_values(instance).tolist() == expected


def test_predictions_are_floored_and_used():
    package = next(p for p in TRAINING if len(p) > 5)
    ridge = learned.fit_ridge(TRAINING)
    assert (learned.predict(package.visible, -np.abs(ridge)) == 0).any()
    values = estimated.singleton_estimates(package.visible, profile="learned", ridge=ridge.tolist())
    np.testing.assert_allclose(values, np.maximum(learned.features(package.visible) @ ridge, 0), atol=1e-12)


def test_even_seeds_train_and_odd_seeds_score():
    even, odd, none = (text_package(0, package_seed=seed) for seed in (4, 5, None))
    assert [learned.is_training(p) for p in (even, odd, none)] == [True, False, False]
    assert [learned.is_held_out(p) for p in (even, odd, none)] == [False, True, False]


def test_missing_and_wrong_coefficients_are_named():
    visible = TRAINING[1].visible
    with pytest.raises(InputError, match="ridge"):
        estimated.estimated_gvt(visible, 5, profile="learned")
    with pytest.raises(InputError, match="3 coefficients, the features are 26"):
        estimated.estimated_gvt(visible, 5, profile="learned", ridge=[1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="even seeds"):
        estimated.fit([], profile="learned")


def test_the_target_is_f_under_the_saturation_that_is_scored():
    steep = piecewise_linear("steep", [[0, 0], [0.5, 0.8], [1, 1]])
    assert not np.array_equal(learned.fit_ridge(TRAINING, steep), learned.fit_ridge(TRAINING))
    got = estimated.fit(TRAINING, profile="learned", saturation=steep)["ridge"]
    np.testing.assert_array_equal(got, learned.fit_ridge(TRAINING, steep))


@pytest.mark.parametrize("returned", [{}, {"most": 1}])
def test_a_fitted_writer_is_scored_on_odd_seeds_whatever_its_fit_returns(returned):
    seen = []

    def fit(training, *, saturation, **parameters):
        seen.append(([p.seed for p in training], saturation.name))
        return returned

    writer = Writer("mine", Rule("mine.py:f", "metadata", lambda visible, budget, most=0: [], fit))
    some = [text_package(seed, package_seed=seed) for seed in range(4)]
    [(_, _, scored, _)] = kept([writer], some, some, pools=POOLS, saturation=CAP1, k=1, optima={3: {}})
    assert {p.seed % 2 for p in scored} == {1} and seen == [([0, 2], "cap1")]


def test_a_fit_that_returns_no_dict_is_refused():
    writer = Writer("mine", Rule("mine.py:f", "metadata", lambda visible, budget: [], lambda training, **_: None))
    with pytest.raises(InputError, match="its fit returned None"):
        list(kept([writer], [], [], pools=POOLS, saturation=CAP1, k=1, optima={3: {}}))
