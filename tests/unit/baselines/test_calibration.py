from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from klda.baselines.uncertainty import calibrated_forecast, running_forecasts
from klda.errors import DataError


def slow_forecast(past, half_life):
    """The weighted mean of what was measured, written out."""
    ages = range(len(past) - 1, -1, -1)
    known = [(0.5 ** (age / half_life), value) for age, value in zip(ages, past, strict=True) if np.isfinite(value)]
    return sum(w * v for w, v in known) / sum(w for w, _ in known) if known else np.nan


@given(arrays(float, (6, 2), elements=st.one_of(st.floats(-1e3, 1e3), st.just(np.nan))), st.floats(0.3, 5.0))
def test_each_window_is_forecast_from_those_before_it_only(series, half_life):
    found = running_forecasts(series, half_life)
    expected = [[slow_forecast(series[:t, i], half_life) for i in range(2)] for t in range(7)]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def series_of(change, sampling, generator, windows=9, n=400):
    """Series whose level walks from window to window, each measured with noise of its own size."""
    size = generator.uniform(0.2, 2.0, size=n) * sampling
    level = generator.normal(size=n) + np.cumsum(generator.normal(0.0, change, size=(windows, n)), axis=0)
    return level + generator.normal(size=(windows, n)) * size


@pytest.mark.parametrize(("change", "sampling"), [(0.0, 1.0), (1.0, 0.1), (0.5, 0.5)])
def test_whether_the_subject_moves_or_the_sample_is_small_the_interval_holds_nine_of_ten(change, sampling):
    series = series_of(change, sampling, np.random.default_rng(3))
    result = calibrated_forecast(series[:-1])
    inside = (result.low <= series[-1]) & (series[-1] <= result.high)
    assert inside.mean() == pytest.approx(0.9, abs=0.05)


def test_series_that_are_noisier_by_nature_get_wider_intervals_and_all_hold():
    generator = np.random.default_rng(5)
    size = np.repeat([0.1, 10.0], 300)
    series = 3.0 + size * generator.normal(size=(9, 600))
    result = calibrated_forecast(series[:-1], np.broadcast_to(size, (9, 600)))
    inside = (result.low <= series[-1]) & (series[-1] <= result.high)
    assert inside[:300].mean() == pytest.approx(0.9, abs=0.06)
    assert inside[300:].mean() == pytest.approx(0.9, abs=0.06)


def test_an_error_counts_by_what_was_expected_of_its_own_window():
    series = np.array([[0.0], [6.0]])
    noise = np.array([[1.0], [2.0], [5.0]])  # the only error is one of the second window, where 2 was expected
    result = calibrated_forecast(series, noise)
    assert result.high[0] - result.mean[0] == pytest.approx(6.0 / 2.0 * 5.0)


def test_few_errors_are_not_trusted_to_show_the_tails():
    series = np.array([[0.0], [1.0], [0.0], [1.0]])
    result = calibrated_forecast(series)
    largest = np.abs(series - running_forecasts(series)[:-1])[1:].max()
    assert result.high[0] - result.mean[0] == pytest.approx(largest)


def test_a_series_without_any_measurement_has_no_forecast_and_harms_no_other():
    series = np.array([[1.0, np.nan], [2.0, np.nan], [1.0, np.nan]])
    result = calibrated_forecast(series)
    alone = calibrated_forecast(series[:, :1])
    assert np.isnan(result.mean[1])
    assert result.at(0) == alone.at(0)


@pytest.mark.parametrize("series", [np.ones((1, 5)), np.array([[np.nan, 1.0], [1.0, np.nan]])])
def test_windows_that_cannot_be_compared_are_an_error(series):
    with pytest.raises(DataError, match="at least two windows"):
        calibrated_forecast(series)
