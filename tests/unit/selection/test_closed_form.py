from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import poisson

from klda.errors import SettingError
from klda.selection import divergence, expected_kl, expected_scores
from klda.selection.closed_form import poisson_means
from tests.unit.selection.strategies import random_distributions

CURRENT = np.array([1, 4])


@pytest.fixture(scope="module")
def words():
    zipf = 1 / np.arange(1, 301)
    rows = random_distributions(2, 6, 300) * zipf
    return rows / rows.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("strength", [10.0, 200.0])
def test_the_closed_form_is_what_draws_average_to(words, strength):
    tokens, prior = np.array([30.0, 100.0, 300.0, 1_000.0, 5_000.0, 50_000.0]), words.mean(axis=0)
    closed = expected_kl(words, tokens, CURRENT, prior=prior, strength=strength)
    drawn = expected_scores(
        words, tokens, CURRENT, prior=prior, strength=strength, threshold=0.01, draws=600,
        generator=np.random.default_rng(3),
    ).divergence  # fmt: skip
    others = np.arange(6) != CURRENT[:, None]
    deviation = (drawn.high - drawn.mean)[others] / 1.645
    error = np.abs(closed.mean - drawn.mean)[others]
    assert (error < 5 * deviation / np.sqrt(600) + 1 / 100 * drawn.mean[others]).all()
    np.testing.assert_allclose((closed.high - closed.mean)[others] / 1.645, deviation, rtol=0.2)


def test_many_words_leave_the_plain_divergence(words):
    closed = expected_kl(words, np.full(6, 1e12), CURRENT, prior=words.mean(axis=0), strength=1.0)
    np.testing.assert_allclose(closed.mean, divergence("kl")(words[CURRENT], words), atol=1e-6)


def test_no_words_leave_the_prior(words):
    closed = expected_kl(words, np.zeros(6), CURRENT, prior=words.mean(axis=0), strength=1.0)
    np.testing.assert_allclose(closed.mean, 0, atol=1e-9)


@pytest.mark.parametrize("rate", [0.001, 0.4, 0.6, 2.9, 3.1, 11.9, 12.1, 45.0, 900.0])
@pytest.mark.parametrize("offset", [0.05, 3.0])
def test_poisson_means_are_sums_over_all_counts(rate, offset):
    counts = np.arange(3_000)
    [log, times_log] = poisson_means(np.array([[rate]]), np.array([offset]), lambda s: [np.log(s), s * np.log(s)])
    s, probability = counts + offset, poisson.pmf(counts, rate)
    assert log[0, 0] == pytest.approx((probability * np.log(s)).sum(), abs=1e-3)
    assert times_log[0, 0] == pytest.approx((probability * s * np.log(s)).sum(), abs=1e-3, rel=1e-4)


def test_without_smoothing_the_expectation_is_infinite_and_says_so(words):
    with pytest.raises(SettingError, match="smoothing"):
        expected_kl(words, np.full(6, 10.0), CURRENT, prior=words.mean(axis=0), strength=0.0)
