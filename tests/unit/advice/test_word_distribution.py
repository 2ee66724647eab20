from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from klda.advice.word_distribution import from_counts, from_topics, mixture
from klda.errors import DataError
from tests.unit.advice.strategies import random_distributions, seeds


@given(seed=seeds)
def test_every_word_distribution_sums_to_one(seed):
    generator = np.random.default_rng(seed)
    topics = random_distributions(seed, 5, 8)
    counts = generator.poisson(0.5, size=(5, 8)).astype(float)
    for rows in (
        from_topics(topics),
        from_topics(topics, generator.random(5)),
        from_counts(counts, topics[0], 3.0),
        mixture(topics, generator.random(5)),
    ):
        np.testing.assert_allclose(rows.sum(axis=-1), 1)


def test_topics_of_several_sets_are_averaged_set_by_set():
    topics = random_distributions(0, 6, 4).reshape(2, 3, 4)
    weights = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 2.0]])
    expected = [topics[0, 0], topics[1, 0] / 4 + topics[1, 1] / 4 + topics[1, 2] / 2]
    np.testing.assert_allclose(from_topics(topics, weights), expected)


def test_many_counts_speak_for_themselves_and_none_leave_the_prior():
    prior = np.array([0.2, 0.8])
    rows = from_counts(np.array([[9e9, 1e9], [0.0, 0.0]]), prior, strength=10)
    np.testing.assert_allclose(rows, [[0.9, 0.1], [0.2, 0.8]], atol=1e-8)


def test_what_has_neither_words_nor_posts_is_an_error_that_says_so():
    with pytest.raises(DataError, match="no smoothing"):
        from_counts(np.zeros((1, 2)), np.array([0.5, 0.5]), strength=0)
    with pytest.raises(DataError, match="no posts"):
        mixture(np.array([[0.5, 0.5]]), np.array([0.0]))


@given(seed=seeds)
def test_smoothing_in_place_gives_what_the_formula_gives(seed):
    generator = np.random.default_rng(seed)
    counts = generator.poisson(0.5, size=(5, 8)).astype(float)
    for prior in (random_distributions(seed, 1, 8)[0], random_distributions(seed, 5, 8)):
        expected = (counts + 3.0 * prior) / (counts.sum(axis=1, keepdims=True) + 3.0)
        np.testing.assert_array_equal(from_counts(counts, prior, 3.0), expected)
        np.testing.assert_array_equal(from_counts(mine := counts.copy(), prior, 3.0, out=mine), expected)
        if prior.ndim == 2:
            np.testing.assert_array_equal(from_counts(counts, mine := prior.copy(), 3.0, out=mine), expected)
