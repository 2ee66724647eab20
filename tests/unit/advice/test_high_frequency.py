from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.advice.high_frequency import (
    gained_counts,
    gained_words,
    high_frequency_distance,
    high_frequency_threshold,
    largest_outside,
    lost_counts,
    lost_words,
)
from tests.unit.advice.strategies import random_distributions, seeds

rates = st.floats(0.05, 1.0)
thresholds = st.floats(0.0, 0.3)


def _extension(last, new, threshold, retention):
    """The paper's E, as it is written there."""
    return {w for w in range(len(new)) if new[w] > threshold and last[w] / new[w] < retention}


def _failure(last, new, threshold, retention):
    """The paper's F, as it is written there."""
    return {w for w in range(len(new)) if last[w] > threshold and new[w] / last[w] < retention}


@given(seed=seeds, threshold=thresholds, retention=rates, zeros=st.booleans())
def test_counts_and_words_are_those_of_the_papers_sets(seed, threshold, retention, zeros):
    last, new = random_distributions(seed, 3, 12, zeros), random_distributions(seed + 1, 4, 12, zeros)
    gained, lost = gained_counts(last, new, threshold, retention), lost_counts(last, new, threshold, retention)
    for i, a in enumerate(last):
        for j, b in enumerate(new):
            extension, failure = _extension(a, b, threshold, retention), _failure(a, b, threshold, retention)
            assert (gained[i, j], lost[i, j]) == (len(extension), len(failure))
            assert set(gained_words(a, b, threshold, retention).tolist()) == extension
            assert set(lost_words(a, b, threshold, retention).tolist()) == failure


@given(seed=seeds, threshold=thresholds, retention=rates, penalty=st.floats(0.1, 5))
def test_distance_is_words_gained_minus_the_price_of_words_lost(seed, threshold, retention, penalty):
    last, new = random_distributions(seed, 2, 12), random_distributions(seed + 1, 3, 12)
    expected = gained_counts(last, new, threshold, retention) - penalty * lost_counts(last, new, threshold, retention)
    np.testing.assert_allclose(high_frequency_distance(last, new, threshold, retention, penalty), expected)


@given(seed=seeds, threshold=thresholds, retention=rates)
def test_what_one_way_gains_the_way_back_loses(seed, threshold, retention):
    rows = random_distributions(seed, 4, 12, zeros=True)
    distance = high_frequency_distance(rows, rows, threshold, retention)
    np.testing.assert_array_equal(distance, -distance.T)
    assert (np.diag(distance) == 0).all()


@pytest.mark.parametrize(("n_last", "n_new"), [(2, 5), (5, 2)])
@pytest.mark.parametrize("n_words", [8, 400], ids=["frequent words are many", "frequent words are few"])
def test_a_word_at_the_threshold_is_not_frequent_and_one_at_the_retention_rate_is_retained(n_last, n_new, n_words):
    last, new = (np.zeros((n, n_words)) for n in (n_last, n_new))  # numbers that halve exactly
    new[:, :4] = [0.125, 0.25, 0.25, 0.375]
    last[:, :4] = [0.0, 0.125, 0.0625, 0.8125]
    extension = _extension(last[0], new[0], 0.125, 0.5)
    assert extension == {2}
    assert gained_words(last[0], new[0], 0.125).tolist() == [2]
    np.testing.assert_array_equal(gained_counts(last, new, 0.125), np.ones((n_last, n_new)))
    np.testing.assert_array_equal(lost_counts(new, last, 0.125), np.ones((n_new, n_last)))


def test_gained_words_come_most_frequent_first():
    last, new = np.array([0.7, 0.1, 0.1, 0.1]), np.array([0.1, 0.25, 0.35, 0.3])
    assert gained_words(last, new, threshold=0.01).tolist() == [2, 3, 1]
    assert lost_words(new, last, threshold=0.01).tolist() == [2, 3, 1]


@given(seed=seeds, size=st.integers(1, 20))
def test_the_threshold_leaves_the_wanted_number_of_words_to_the_median_keyword(seed, size):
    rows = random_distributions(seed, 5, 40)
    sizes = (rows > high_frequency_threshold(rows, size)).sum(axis=1)
    assert np.median(sizes) == size


def test_a_vocabulary_smaller_than_the_wanted_set_is_frequent_altogether():
    assert high_frequency_threshold(random_distributions(0, 3, 20), size=100) == 0.0


@given(seeds, st.integers(1, 20), st.booleans())
def test_looking_only_at_probable_words_finds_the_same_edge(seed: int, size: int, zeros: bool) -> None:
    rows = random_distributions(seed, 30, 40, zeros)
    rows[::3] = rows[0]  # rows alike, and rows quite unlike the one before
    rows[1::3] = np.eye(40)[np.arange(10)]
    expected = np.sort(rows, axis=1)[:, ::-1][:, size]
    np.testing.assert_array_equal(largest_outside(rows, size), expected)
