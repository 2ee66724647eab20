from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.selection import emerging_words
from tests.unit.selection.strategies import random_distributions, seeds


@given(seed=seeds, tokens=st.floats(1, 1e6))
def test_emerging_words_are_those_beyond_what_is_known_and_beyond_chance(seed, tokens):
    predicted, known = random_distributions(seed, 2, 12)
    plain, sure = emerging_words(predicted, known), emerging_words(predicted, known, tokens)
    np.testing.assert_array_equal(plain > 0, predicted > known)
    assert (sure <= plain).all()
    assert (sure >= 0).all()
    assert plain.sum() <= 1


def test_a_word_as_common_in_the_background_is_no_news():
    predicted, last, background = np.array([0.5, 0.3, 0.2]), np.array([0.8, 0.1, 0.1]), np.array([0.5, 0.4, 0.1])
    assert emerging_words(predicted, np.maximum(last, background)).tolist() == pytest.approx([0.0, 0.0, 0.1])


def test_what_sampling_can_explain_is_taken_off():
    margin = 1.645 * np.sqrt(0.5 * 0.5 / 100)  # of a share of one half in a hundred tokens
    rise = emerging_words(np.array([0.8, 0.2]), np.array([0.5, 0.5]), tokens=100)
    assert rise.tolist() == pytest.approx([0.3 - margin, 0.0])


def test_a_word_that_only_seems_to_rise_is_rarely_called_emerging():
    known = np.full(500, 1 / 500)
    drawn = np.random.default_rng(2).multinomial(20_000, known) / 20_000
    assert (emerging_words(drawn, known, tokens=20_000) > 0).mean() == pytest.approx(0.05, abs=0.03)
