from __future__ import annotations

from itertools import repeat

import numpy as np
import pytest

from klda.advice.high_frequency import high_frequency_distance
from klda.advice.word_distribution import from_counts
from klda.baselines.divergences import divergence
from klda.baselines.sampling_noise import draw_scores, draw_words, expected_scores
from klda.errors import SettingError
from tests.unit.advice.strategies import random_distributions

PRIOR = np.full(40, 1 / 40)
WORDS = random_distributions(7, 6, 40)
CURRENT = np.array([0, 3])


def _scores(tokens, **options):
    settings = {"prior": PRIOR, "strength": 4.0, "threshold": 0.03, "draws": 40}
    generator = np.random.default_rng(11)
    return expected_scores(WORDS, np.full(6, float(tokens)), CURRENT, generator=generator, **(settings | options))


def test_expected_scores_agree_with_drawing_word_by_word():
    tokens, generator = 80, np.random.default_rng(5)
    kl, distance = [], []
    for _ in range(400):
        rows = from_counts(
            np.array([np.bincount(generator.choice(40, tokens, p=p), minlength=40) for p in WORDS]), PRIOR, 4.0
        )
        kl.append(divergence("kl")(rows[CURRENT], rows))
        distance.append(high_frequency_distance(rows[CURRENT], rows, 0.03))
    scores = _scores(tokens, draws=400)
    kl_error = np.std(kl, axis=0) / np.sqrt(400) + 1e-12
    distance_error = np.std(distance, axis=0) / np.sqrt(400) + 1e-12
    assert (np.abs(scores.divergence.mean - np.mean(kl, axis=0)) < 6 * kl_error).all()
    assert (np.abs(scores.distance.mean - np.mean(distance, axis=0)) < 6 * distance_error).all()


@pytest.mark.parametrize("name", ["kl", "jensen-shannon", "hellinger"])
def test_many_words_leave_no_noise(name):
    scores = _scores(10**9, divergence=name, draws=5)
    np.testing.assert_allclose(scores.divergence.mean, divergence(name)(WORDS[CURRENT], WORDS), atol=1e-3)


def test_fewer_words_push_distributions_apart():
    few, many = (_scores(n, strength=0.4).divergence.mean for n in (30, 3_000))
    others = np.arange(6) != CURRENT[:, None]
    assert (few > many)[others].all()


def test_a_keyword_is_one_sample_and_so_never_apart_from_itself():
    scores = _scores(50)
    for i, q in enumerate(CURRENT):
        assert scores.divergence.high[i, q] == pytest.approx(0, abs=1e-12)
        assert scores.distance.mean[i, q] == 0


def test_intervals_hold_nine_of_ten_windows():
    scores, generator = _scores(60, draws=200), np.random.default_rng(9)
    inside = []
    for _ in range(200):
        rows = from_counts(generator.multinomial(60, WORDS), PRIOR, 4.0)
        drawn = divergence("kl")(rows[CURRENT], rows)
        inside.append((scores.divergence.low - 1e-9 <= drawn) & (drawn <= scores.divergence.high + 1e-9))
    assert np.mean(inside) == pytest.approx(0.9, abs=0.06)


def test_candidates_that_are_not_needed_can_never_be_chosen():
    needed = np.array([True, False, True, True, True, False])
    scores = _scores(50, needed=needed, draws=3)
    assert (np.isposinf(scores.divergence.mean) == ~needed).all()
    assert (np.isneginf(scores.distance.mean) == ~needed).all()


def test_the_same_generator_gives_the_same_scores():
    np.testing.assert_array_equal(_scores(50).divergence.mean, _scores(50).divergence.mean)


def test_a_keyword_without_words_is_measured_as_the_prior():
    scores = _scores(0, draws=2)
    np.testing.assert_allclose(scores.divergence.mean, 0, atol=1e-12)


def test_the_spread_of_two_draws_is_that_of_a_sample_not_of_all_there_is():
    both = list(
        draw_scores(
            WORDS,
            repeat(np.full(6, 80.0), 2),
            CURRENT,
            np.arange(6),
            prior=PRIOR,
            strength=4.0,
            threshold=0.03,
            generator=np.random.default_rng(11),
        )
    )
    deviation = np.abs(both[0][0] - both[1][0]) / np.sqrt(2)
    found = _scores(80, draws=2).divergence
    np.testing.assert_allclose(found.high - found.mean, 1.6449 * deviation, rtol=1e-3, atol=1e-12)


def test_a_single_draw_has_no_interval():
    with pytest.raises(SettingError, match="draws"):
        _scores(50, draws=1)


@pytest.mark.parametrize("size", [40, 400])
def test_words_are_drawn_by_their_chances_whether_they_outnumber_the_vocabulary_or_not(size):
    chance, generator = np.append(np.full(99, 0.5 / 99), 0.5), np.random.default_rng(3)
    drawn = np.array([draw_words(size, chance, generator) for _ in range(2_000)])  # (draws, V)
    assert (drawn.sum(axis=1) == size).all()
    np.testing.assert_allclose(drawn[:, -1].mean(), size / 2, rtol=0.01)
    np.testing.assert_allclose(drawn[:, -1].var(), size / 4, rtol=0.15)  # of a multinomial
    np.testing.assert_allclose(drawn[:, :-1].mean(), size * 0.5 / 99, rtol=0.01)


def test_what_is_drawn_does_not_hang_on_how_many_windows_are_drawn_at_a_time(monkeypatch):
    together = _scores(50).divergence.mean
    monkeypatch.setattr("klda.baselines.sampling_noise.THREADS", 1)
    np.testing.assert_array_equal(_scores(50).divergence.mean, together)


def test_windows_too_large_to_hold_two_of_are_drawn_one_at_a_time_and_alike(monkeypatch):
    together = _scores(50).divergence.mean
    monkeypatch.setattr("klda.baselines.sampling_noise.MOST_HELD", 0)
    np.testing.assert_array_equal(_scores(50).divergence.mean, together)
