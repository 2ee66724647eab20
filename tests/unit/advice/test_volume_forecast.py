from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import nbinom

from klda.advice.volume import _quantile, forecast_posts
from klda.errors import DataError, SettingError

histories = hnp.arrays(np.int64, st.tuples(st.integers(1, 4), st.integers(1, 6)), elements=st.integers(0, 10_000))


@given(histories)
def test_the_interval_holds_the_mean_and_the_mean_lies_within_the_past(counts):
    result = forecast_posts(counts)
    assert (result.low >= 0).all()
    assert (result.low <= result.mean).all()
    assert (result.mean <= result.high).all()
    assert (result.mean >= counts.min(axis=1) - 1e-9).all()
    assert (result.mean <= counts.max(axis=1) + 1e-9).all()
    assert np.isfinite(result.high).all()


@given(histories, st.integers(1, 100))
def test_more_posts_in_the_past_never_mean_fewer_to_come(counts, more):
    later = counts.copy()
    later[:, -1] += more
    assert (forecast_posts(later).mean > forecast_posts(counts).mean).all()
    if counts.shape[1] > 1:
        earlier = counts.copy()
        earlier[:, 0] += more
        assert (forecast_posts(earlier).mean <= forecast_posts(later).mean + 1e-9).all()


@pytest.mark.parametrize("dispersion", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("level", [3, 30, 300])
@pytest.mark.parametrize("n_windows", [3, 10])
def test_nine_of_ten_next_windows_fall_into_the_interval(n_windows, level, dispersion):
    generator = np.random.default_rng(17)
    shape = (800, n_windows + 1)
    rate = generator.gamma(1 / dispersion, dispersion * level, shape) if dispersion else np.full(shape, float(level))
    counts = generator.poisson(rate)
    result = forecast_posts(counts[:, :-1])
    inside = (result.low <= counts[:, -1]) & (counts[:, -1] <= result.high)
    assert 0.86 <= inside.mean() <= 0.98


def test_the_mean_is_unbiased():
    counts = np.random.default_rng(1).poisson(5.0, size=(4_000, 6))
    assert forecast_posts(counts).mean.mean() == pytest.approx(5.0, abs=0.1)


def test_one_window_behind_gives_a_wider_interval_than_ten():
    steady = np.full((1, 10), 100)
    short, long = forecast_posts(steady[:, :1]), forecast_posts(steady)
    assert short.high[0] - short.low[0] > long.high[0] - long.low[0]


def test_no_post_so_far_is_not_proof_of_none_to_come():
    result = forecast_posts(np.zeros((1, 4), dtype=np.int64))
    assert result.mean[0] == 0
    assert 0 < result.high[0] < 5


def test_a_shock_moves_the_level_and_widens_the_interval():
    calm, shocked = forecast_posts(np.array([[10, 10, 10, 10]])), forecast_posts(np.array([[10, 10, 10, 500]]))
    assert shocked.mean[0] > 100
    assert shocked.low[0] < 50
    assert shocked.high[0] > 500
    assert calm.high[0] < 30


def test_a_shorter_half_life_follows_the_last_window_closer():
    counts = np.array([[10, 10, 100]])
    means = [forecast_posts(counts, half_life=h).mean[0] for h in (0.2, 1.0, 5.0)]
    assert 100 > means[0] > means[1] > means[2] > 40


def test_one_explosion_does_not_widen_the_interval_of_everyone():
    calm = np.random.default_rng(4).poisson(100, size=(50, 8))
    with_explosion = calm.copy()
    with_explosion[0, -2] = 1_000_000
    alone, beside = forecast_posts(calm), forecast_posts(with_explosion)
    assert beside.high[1] < alone.high[1] * 1.2


def test_counts_without_windows_are_an_error():
    with pytest.raises(DataError, match="at least one window"):
        forecast_posts(np.zeros((3, 0)))
    with pytest.raises(SettingError, match="half_life"):
        forecast_posts(np.ones((1, 2)), half_life=0)


@given(st.floats(1e-3, 1e6), st.floats(1e-3, 1e5), st.floats(0.005, 0.995))
def test_quantiles_are_those_of_the_negative_binomial(level, size, share):
    chance = size / (size + level)
    found = _quantile(share, np.array([size]), np.array([chance]))
    assert found.tolist() == [nbinom.ppf(share, size, chance)]
