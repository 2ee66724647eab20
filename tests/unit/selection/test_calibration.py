from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.errors import DataError
from klda.selection import Interval, calibrated


@pytest.mark.parametrize(("bias", "scale"), [(0.0, 1.0), (-3.0, 5.0), (2.0, 0.5)])
def test_whatever_was_wrong_with_the_past_the_next_interval_holds_nine_of_ten(bias, scale):
    generator = np.random.default_rng(3)
    mean, deviation = generator.gamma(3.0, size=(2, 5_000)), generator.gamma(2.0, size=(2, 5_000))
    measured = generator.normal(mean + bias * deviation, scale * deviation)
    past, predicted = (Interval.normal(m, s) for m, s in zip(mean, deviation, strict=True))
    result = calibrated(predicted, past, measured[0])
    inside = (result.low <= measured[1]) & (measured[1] <= result.high)
    assert inside.mean() == pytest.approx(0.9, abs=0.02)
    assert np.mean(result.mean - measured[1]) == pytest.approx(0.0, abs=0.05 * scale * deviation.mean())


@given(coverage=st.floats(0.5, 0.99))
def test_the_mean_stays_inside_and_more_coverage_is_wider(coverage):
    generator = np.random.default_rng(1)
    past = Interval.normal(np.zeros(200), np.ones(200))
    measured = generator.exponential(size=200)
    predicted = Interval.normal(np.array([4.0]), np.array([2.0]))
    result, wider = calibrated(predicted, past, measured, coverage), calibrated(predicted, past, measured, 0.995)
    assert result.low[0] <= result.mean[0] <= result.high[0]
    assert wider.low[0] <= result.low[0]
    assert result.high[0] <= wider.high[0]


def test_pairs_without_noise_neither_count_nor_change():
    mean = np.array([[0.0, np.inf, *np.arange(30.0)]])
    deviation = np.array([[0.0, 0.0, *np.ones(30)]])
    past = Interval.normal(mean, deviation)
    measured = np.where(np.isfinite(mean), mean + 2 * deviation, 5.0)
    result = calibrated(past, past, measured)
    assert result.mean[0, :2].tolist() == [0.0, np.inf]
    np.testing.assert_allclose(result.mean[0, 2:], measured[0, 2:])


def test_too_few_past_predictions_are_an_error():
    past = Interval.normal(np.zeros(19), np.ones(19))
    with pytest.raises(DataError, match="got 19"):
        calibrated(past, past, np.zeros(19))
