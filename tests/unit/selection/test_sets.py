from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.errors import DataError, SettingError
from klda.selection import UnionVolume, divergence, mixture, set_problem
from tests.unit.selection.strategies import end_to_end, random_distributions, random_documents, seeds

N = 5


def _problem(seed, overlapping=True, **options):
    generator = np.random.default_rng(seed)
    words = random_distributions(seed, N + 2, 12)
    expected = generator.gamma(3.0, 4.0, size=N)
    documents = random_documents(seed, 30, N)
    volume = UnionVolume.of(*end_to_end(documents), expected) if overlapping else UnionVolume.disjoint(expected)
    return words, set_problem(words[:N], volume, words[N], words[N + 1] * 0.3, target_posts=20.0, **options)


@given(seed=seeds)
def test_retention_and_novelty_are_covered_mass_of_target_and_emerging_words(seed):
    words, problem = _problem(seed)
    chosen = np.array([0, 2, 3])
    share = problem.volume.share(chosen)
    supply = [sum(c * words[q][w] for c, q in zip(share.credit, chosen, strict=True)) / 20 for w in range(12)]
    score = problem.score(chosen)
    assert score.retention == pytest.approx(sum(min(t, s) for t, s in zip(words[N], supply, strict=True)))
    emerging = words[N + 1] * 0.3
    assert score.novelty == pytest.approx(sum(min(e, s) for e, s in zip(emerging, supply, strict=True)) / 0.3)
    assert score.cost == pytest.approx(problem.volume.posts(chosen) / 20)
    assert score.overlap == pytest.approx((problem.volume.expected[chosen].sum() - score.posts) / 20)


@given(seed=seeds)
def test_at_equal_volume_retention_is_one_minus_total_variation_from_the_target(seed):
    words, _ = _problem(seed)
    expected = np.random.default_rng(seed).gamma(3.0, size=N)
    volume = UnionVolume.disjoint(expected)
    problem = set_problem(words[:N], volume, words[N], words[N + 1], target_posts=float(expected.sum()))
    together = mixture(words[:N], expected)
    variation = divergence("total-variation")(words[N : N + 1], together[None])[0, 0]
    assert problem.score(np.arange(N)).retention == pytest.approx(1 - variation)


@given(seed=seeds, novelty=st.floats(0, 1), overlapping=st.booleans())
def test_parts_stay_within_their_ranges(seed, novelty, overlapping):
    _, problem = _problem(seed, overlapping, price=np.linspace(0, 0.1, N))
    for n in range(N + 1):
        for chosen in combinations(range(N), n):
            score = problem.score(np.array(chosen, dtype=np.int64))
            assert -1e-9 <= score.retention <= 1 + 1e-9
            assert -1e-9 <= score.novelty <= 1 + 1e-9
            assert score.overlap >= 0
            assert problem.value(score, novelty) <= 1 + 1e-9


@given(seed=seeds, novelty=st.floats(0, 1))
def test_where_posts_are_not_shared_a_keyword_adds_less_to_a_larger_set(seed, novelty):
    _, problem = _problem(seed, overlapping=False)

    def value(*chosen):
        return problem.value(problem.score(np.array(chosen, dtype=np.int64)), novelty)

    for q in range(1, N):
        smaller, larger = value(0, q) - value(0), value(*range(q), q) - value(*range(q))
        assert larger <= smaller + 1e-9


def test_a_keyword_that_brings_the_same_posts_again_adds_nothing():
    words = random_distributions(3, 2, 10)
    twice = np.array([words[0], words[0]])
    volume = UnionVolume.of(*end_to_end([[0, 1]] * 6), np.array([6.0, 6.0]))
    problem = set_problem(twice, volume, words[0], words[1], target_posts=12.0)
    one, both = problem.score(np.array([0])), problem.score(np.array([0, 1]))
    assert both.retention == pytest.approx(one.retention)
    assert both.posts == one.posts == 6.0
    assert problem.value(both, 0.5) < problem.value(one, 0.5)


def test_contributions_say_what_the_set_would_lose():
    _, problem = _problem(8)
    chosen = np.array([0, 1, 4])
    parts = problem.contributions(chosen)
    without = problem.score(np.array([0, 4]))
    assert parts[1].retention == pytest.approx(problem.score(chosen).retention - without.retention)
    assert parts[1].posts == pytest.approx(problem.score(chosen).posts - without.posts)


def test_only_the_most_probable_words_count_when_asked_so():
    words = np.array([[0.0, 0.4, 0.6]])
    volume = UnionVolume.disjoint(np.array([10.0]))
    problem = set_problem(words, volume, np.array([0.2, 0.5, 0.3]), np.zeros(3), target_posts=10, max_words=1)
    assert problem.score(np.array([0])).retention == pytest.approx(0.4 / 0.5)
    assert problem.score(np.array([0])).novelty == 0.0


def test_a_target_without_posts_or_words_and_a_dial_beyond_its_range_are_errors():
    words, volume = np.array([[1.0]]), UnionVolume.disjoint(np.array([1.0]))
    with pytest.raises(DataError, match="0 posts"):
        set_problem(words, volume, np.ones(1), np.ones(1), target_posts=0)
    with pytest.raises(DataError, match="no words"):
        set_problem(words, volume, np.zeros(1), np.ones(1), target_posts=1)
    with pytest.raises(SettingError, match="novelty"):
        set_problem(words, volume, np.ones(1), np.ones(1), target_posts=1).word_weights(1.2)
