from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from klda.advice.high_frequency import high_frequency_distance
from klda.baselines.algorithm2 import extend, extend_scored, rank_extensions
from klda.baselines.divergences import divergence
from tests.unit.advice.strategies import random_distributions, seeds


def _paper(words, frequencies, current, top, threshold):
    """Algorithm 2 line by line, without W_last itself and with the `top` best in place of the best."""
    found, lists = [], []
    for last in current:
        kl = [float(divergence("kl")(words[last : last + 1], words[j : j + 1])[0, 0]) for j in range(len(words))]
        qualified = [
            j
            for j in range(len(words))
            if j != last
            and high_frequency_distance(words[[last]], words[[j]], threshold)[0, 0] >= 0
            and frequencies[j] > 0.005
        ]
        lists.append(sorted(qualified, key=lambda j: kl[j])[:top])
        found += [j for j in lists[-1] if j not in found]
    return lists, found or list(current)


@given(seed=seeds, top=st.integers(1, 4))
def test_extensions_are_those_of_the_papers_algorithm(seed, top):
    generator = np.random.default_rng(seed)
    words = random_distributions(seed, 8, 15)
    frequencies = generator.choice([0.001, 0.005, 0.01, 0.2], size=8)
    current = generator.choice(8, size=3, replace=False)
    result = extend(words, frequencies, current, top=top, threshold=0.05)
    lists, chosen = _paper(words, frequencies, current.tolist(), top, 0.05)
    assert [row.tolist() for row in result.ranked] == lists
    assert result.chosen.tolist() == chosen
    assert result.fell_back == (not any(lists))


def test_a_keyword_never_extends_itself_but_may_extend_another():
    words = np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]])
    result = extend(words, np.array([0.5, 0.5]), np.array([0, 1]), threshold=0.01, top=5)
    assert [row.tolist() for row in result.ranked] == [[1], [0]]
    assert result.chosen.tolist() == [1, 0]


def test_a_word_found_twice_is_listed_once():
    result = rank_extensions(np.zeros((2, 4)), np.zeros((2, 4)), np.full(4, 0.5), np.array([0, 1]), top=None)
    assert result.chosen.tolist() == [1, 2, 3, 0]


def test_the_current_list_stays_when_no_candidate_qualifies():
    words = random_distributions(3, 4, 10)
    result = extend(words, np.full(4, 0.005), np.array([2, 0]))
    assert result.fell_back
    assert result.chosen.tolist() == [2, 0]
    assert [len(row) for row in result.ranked] == [0, 0]


def test_candidates_that_are_not_allowed_are_left_out():
    scores, distance = np.array([[0.0, 0.1, 0.2]]), np.zeros((1, 3))
    allowed = np.array([True, False, True])
    result = rank_extensions(scores, distance, np.ones(3), np.array([0]), allowed=allowed)
    assert result.chosen.tolist() == [2]


def test_scores_under_next_windows_sample_size_prefer_the_keyword_that_will_be_measured_well():
    words = random_distributions(5, 3, 60)
    words[1] = 0.95 * words[0] + 0.05 * words[2]
    words[2] = 0.94 * words[0] + 0.06 * words[2]
    tokens = np.array([5_000.0, 20.0, 5_000.0])
    frequencies, current = np.full(3, 0.2), np.array([0])
    assert extend(words, frequencies, current, threshold=0.5).chosen.tolist() == [1]
    found, scores = extend_scored(
        words, frequencies, current, tokens, prior=np.full(60, 1 / 60), strength=5.0, threshold=0.5,
        generator=np.random.default_rng(0),
    )  # fmt: skip
    assert found.chosen.tolist() == [2]
    np.testing.assert_array_equal(found.divergence, scores.divergence.mean)


def test_candidates_too_rare_to_be_chosen_are_not_drawn():
    words = random_distributions(5, 3, 20)
    _, scores = extend_scored(
        words, np.array([0.2, 0.001, 0.2]), np.array([0]), np.full(3, 100.0), prior=np.full(20, 0.05), strength=1.0,
        generator=np.random.default_rng(0),
    )  # fmt: skip
    assert np.isinf(scores.divergence.mean).tolist() == [[False, True, False]]
