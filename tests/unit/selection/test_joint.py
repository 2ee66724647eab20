from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.selection import chances, extend_jointly, rank_extensions
from klda.selection.high_frequency import high_frequency_threshold
from klda.selection.joint import BEST, LEAST_CHANCE, MANY, equal_volumes
from klda.selection.sampling_noise import draw_scores
from klda.selection.word_distribution import from_counts
from tests.unit.selection.strategies import random_distributions

N_WORDS = 150
SMOOTHING = {"prior": np.full(N_WORDS, 1 / N_WORDS), "strength": 7.5}


def _extended(words, current, *, frequencies=None, tokens=800.0, top=2, seed=0, **options):
    n = len(words)
    return extend_jointly(
        words,
        np.full(n, 0.1) if frequencies is None else frequencies,
        np.asarray(current),
        np.full(n, tokens) if np.isscalar(tokens) else tokens,
        generator=np.random.default_rng(seed),
        top=top,
        **(SMOOTHING | options),
    )


@given(seed=st.integers(0, 10_000), n_windows=st.integers(1, 5), best=st.integers(1, 3))
def test_a_chance_is_the_share_of_windows_in_which_a_candidate_is_among_the_best(seed, n_windows, best):
    generator = np.random.default_rng(seed)
    current, frequencies = np.array([0, 2]), generator.choice([0.001, 0.1], 6)
    windows = [(generator.random((2, 6)), generator.integers(-3, 4, (2, 6)).astype(float)) for _ in range(n_windows)]
    extends, joins = chances(iter(windows), frequencies, current, best=best)
    for column in range(6):
        among = []
        for divergence, distance in windows:
            lists = rank_extensions(divergence, distance, frequencies, current, top=best).ranked
            among.append([column in row for row in lists])
        np.testing.assert_allclose(extends[:, column], np.mean(among, axis=0))
        np.testing.assert_allclose(joins[column], np.any(among, axis=1).mean())


@given(seed=st.integers(0, 10_000), top=st.integers(1, 4))
def test_every_list_holds_only_candidates_that_were_chosen_for_the_whole(seed, top):
    words, current = random_distributions(seed, 8, N_WORDS), np.array([0, 1, 2])
    frequencies = np.where(np.arange(8) == 7, 0.001, 0.1)
    found = _extended(words, current, frequencies=frequencies, top=top, seed=seed, draws=10)
    assert len(found.chosen) <= max(top, len(current) if found.fell_back else 0)
    for keyword, row in zip(current, found.ranked, strict=True):
        assert keyword not in row
        assert 7 not in row  # too rare
        assert (np.diff(found.chance[row]) <= 0).all()


def test_the_words_of_each_keyword_vary_from_one_drawn_window_to_the_next(monkeypatch):
    drawn = []

    def watched(distributions, volumes, **options):
        drawn.append(np.array(volumes))
        return draw_scores(distributions, volumes, **options)

    monkeypatch.setattr("klda.selection.joint.draw_scores", watched)
    for spread in (0.0, 0.4):
        _extended(random_distributions(1, 8, N_WORDS), [0], volume_spread=spread, equal_posts=False)
        growth = np.log(drawn[-1] / 800.0)
        assert np.median(growth) == pytest.approx(0.0, abs=0.1)
        assert growth.std() == pytest.approx(spread, abs=0.05)


def test_what_extends_several_keywords_comes_before_what_extends_one():
    base = random_distributions(1, 4, N_WORDS)
    # 0 and 1 are current. 2 lies between the two; 3 is as near to 1 as 2 is, and far from 0.
    words = np.stack([base[0], base[1], (base[0] + base[1]) / 2, (base[1] + base[2]) / 2, base[3]])
    found = _extended(words, [0, 1], tokens=5_000.0, top=1, draws=30)
    assert [row.tolist() for row in found.ranked] == [[2], [2]]


def test_a_keyword_that_no_chosen_candidate_extends_has_an_empty_list():
    words = random_distributions(3, 2, N_WORDS)
    # The only other frequent candidate is the current keyword 0 itself: it extends 1, and nothing extends 0.
    found = _extended(words, [0, 1], frequencies=np.array([0.1, 0.001]), top=1, draws=20)
    assert [row.tolist() for row in found.ranked] == [[], [0]]
    assert found.chosen.tolist() == [0]


def test_nothing_that_qualifies_leaves_the_list_as_it_is():
    words = random_distributions(2, 3, N_WORDS)
    found = _extended(words, [0, 1], frequencies=np.array([0.1, 0.001, 0.001]), top=2, draws=5)
    rows = [row.tolist() for row in found.ranked]
    assert rows[0] == []  # the only frequent candidate is this keyword itself
    alone = _extended(words, [0], frequencies=np.array([0.1, 0.001, 0.001]), top=2, draws=5)
    assert alone.fell_back
    assert alone.chosen.tolist() == [0]


def test_the_same_seed_gives_the_same_lists():
    words = random_distributions(4, 12, N_WORDS)
    one, other = (_extended(words, [0, 5], seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.chance, other.chance)
    assert [row.tolist() for row in one.ranked] == [row.tolist() for row in other.ranked]


def test_chances_add_up_to_at_most_the_best_of_each_keyword():
    words = random_distributions(6, 12, N_WORDS)
    found = _extended(words, [0, 5], top=12)
    assert found.chance.sum() <= 2 * BEST + 1e-9
    assert all((found.chance[row] >= LEAST_CHANCE).all() for row in found.ranked)


def test_what_says_the_same_in_few_posts_has_a_chance_beside_what_says_most_of_it_in_many():
    base = random_distributions(7, 4, N_WORDS)
    words = np.stack([base[0], 0.97 * base[0] + 0.03 * base[1], *((3 * base[0] + other) / 4 for other in base[2:])])
    tokens = np.array([30_000.0, 400.0, 30_000.0, 30_000.0])
    options = {"tokens": tokens, "frequencies": tokens / 60_000, "top": 2}
    assert _extended(words, [0], **options).chance[1] >= 0.3
    assert _extended(words, [0], equal_posts=False, **options).chance[1] <= 0.1


def test_among_very_many_candidates_the_same_ones_are_chosen_as_among_the_near_ones():
    base = random_distributions(11, 3, N_WORDS)
    near = np.stack([(2 * base[0] + other) / 3 for other in random_distributions(12, 5, N_WORDS)])
    far = np.stack([(base[1] + 9 * other) / 10 for other in random_distributions(13, 3 * MANY, N_WORDS)])
    few = _extended(np.concatenate([base[:1], near]), [0], tokens=3_000.0)
    many = _extended(np.concatenate([base[:1], near, far]), [0], tokens=3_000.0)
    np.testing.assert_allclose(many.chance[:6], few.chance, atol=0.25)
    assert set(many.chosen) <= set(range(1, 6))
    assert np.isinf(many.divergence[0, 6:]).mean() > 0.5  # most were not looked at twice


@given(seed=st.integers(0, 10_000))
def test_equal_volumes_are_those_of_as_many_posts_for_all(seed):
    generator = np.random.default_rng(seed)
    posts, words_a_post = generator.integers(1, 50, 8).astype(float), generator.uniform(3, 20, 8)
    allowed = generator.random(8) < 0.7
    found = equal_volumes(posts * words_a_post, posts, allowed) / words_a_post
    fewest = posts[allowed].min() if allowed.any() else np.inf
    np.testing.assert_allclose(found, np.minimum(posts, fewest))


def test_a_keyword_without_a_post_has_no_words_in_equal_volumes():
    assert equal_volumes(np.array([0.0, 8.0]), np.array([0.0, 2.0]), np.array([False, True])).tolist() == [0.0, 8.0]


def test_windows_of_uncertain_volume_differ_more_in_what_they_measure():
    words, rows = random_distributions(8, 5, N_WORDS), np.arange(5)

    def deviation(spread: float) -> float:
        generator = np.random.default_rng(1)
        volumes = [600.0 * np.exp(spread * generator.standard_normal(5)) for _ in range(60)]
        drawn = draw_scores(words, volumes, np.array([0]), rows, threshold=0.01, generator=generator, **SMOOTHING)
        return float(np.std([divergence[0, 1:] for divergence, _ in drawn], axis=0).mean())

    assert deviation(0.0) < deviation(0.4) < deviation(0.8)


def test_without_a_threshold_each_window_has_its_own():
    words, rows = random_distributions(9, 4, N_WORDS), np.arange(4)

    def distances(threshold: float | None) -> np.ndarray:
        drawn = draw_scores(
            words, [np.full(4, 200.0)], np.array([0]), rows, threshold=threshold, generator=np.random.default_rng(2),
            **SMOOTHING,
        )  # fmt: skip
        return next(drawn)[1]

    generator = np.random.default_rng(2)
    last = generator.multinomial(np.full(1, 200), words[:1])
    new = np.concatenate([last, generator.multinomial(np.full(4, 200), words)[1:]])
    own = high_frequency_threshold(from_counts(new.astype(float), SMOOTHING["prior"], SMOOTHING["strength"]))
    np.testing.assert_array_equal(distances(None), distances(own))
    assert (distances(None) != distances(30 * own)).any()
