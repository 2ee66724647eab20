"""What a filter shows about itself."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from klda.selection.company import (
    ASSUMED_RECALL,
    FEWEST_KEYWORDS,
    OTHERS,
    Company,
    as_in_the_language,
    company,
    company_by_chance,
    less_company,
    share_by_sample,
    share_on_subject,
    worth_listing,
)


def _known(posts: list[float], rates: list[float]) -> Company:
    return Company(np.array(posts), np.array(posts) * np.array(rates), np.ones(len(posts), dtype=bool))


def test_rare_words_and_words_in_company_are_surer() -> None:
    known = _known([200.0, 200.0, 200.0], [0.2, 0.2, 0.02])
    share = share_on_subject(known, np.array([1e-6, 1e-4, 1e-4]))
    assert share[0] > share[1] > share[2]


def test_company_that_chance_explains_does_not_count() -> None:
    """Half of all posts of seventy words carry a word that is one in a hundred."""
    known = _known([200.0, 200.0], [0.5, 0.5])
    frequency, first = np.array([1e-5, 1e-2]), np.ones(2, dtype=bool)
    by_chance = company_by_chance(frequency, first, frequency.sum(), words_a_post=70)
    assert 0.45 < by_chance[0] < 0.55
    assert share_on_subject(known, frequency, by_chance)[0] < 0.3 * share_on_subject(known, frequency)[0]


def test_a_word_that_nobody_listed_has_to_show_company() -> None:
    alone = _known([200.0, 200.0], [0.0, 0.0])
    rare = np.array([1e-6, 1e-6])
    assert share_on_subject(alone, rare, judgement=OTHERS)[0] < 0.3 * share_on_subject(alone, rare)[0]


def test_company_alone_decides_where_rarity_is_unknown() -> None:
    share = share_on_subject(_known([200.0, 200.0], [0.3, 0.01]), None)
    assert share[0] > 4 * share[1]


def test_a_keyword_with_hardly_a_post_has_the_benefit_of_the_doubt() -> None:
    share = share_on_subject(_known([2.0, 200.0], [0.0, 0.0]), np.array([1e-5, 1e-5]))
    assert share[0] > 2 * share[1]


@given(st.lists(st.tuples(st.floats(20, 1e4), st.floats(0, 1)), min_size=1, max_size=8))
def test_never_do_all_keywords_keep_less_company_than_the_others(keywords: list[tuple[float, float]]) -> None:
    posts, rates = zip(*keywords, strict=True)
    less = less_company(_known(list(posts), list(rates)))
    assert not less.all()


def test_the_word_that_brings_most_posts_is_not_to_blame_for_finding_little_company() -> None:
    """Five words, independent of each other, in 2,000 posts that are all on the subject; one in three has the first."""
    rates = np.array([0.33, 0.08, 0.07, 0.05, 0.04])
    posts = np.random.default_rng(0).random((2_000, 5)) < rates
    everywhere = np.ones(5, dtype=bool)
    known = company(posts, everywhere, np.ones_like(posts), np.ones(len(posts)))
    assert known.rate[0] < 0.7 * known.rate[1:].mean()
    assert not less_company(known).any()


COMMON = np.array([3e-4, 1e-4, 3e-5, 1e-5, 3e-6])


def test_on_a_platform_of_all_subjects_keywords_come_as_in_the_language() -> None:
    """Of 200,000 posts one in a hundred is on the subject, and has its words; all posts have words of the language."""
    generator = np.random.default_rng(0)
    on_subject = generator.random(200_000) < 0.01
    chance = np.where(on_subject[:, None], 0.1, 0.0) + 10 * COMMON
    posts = generator.random(chance.shape) < chance
    known = company(posts, np.ones(5, dtype=bool), np.ones_like(posts), np.ones(len(posts)))
    assert as_in_the_language(known, known.posts, COMMON)


@given(st.integers(0, 10_000))
def test_where_all_is_on_the_subject_company_does_not_hang_on_how_common_words_are(seed: int) -> None:
    generator = np.random.default_rng(seed)
    posts = generator.random((4_000, 5)) < np.array([0.02, 0.05, 0.03, 0.08, 0.06])
    known = company(posts, np.ones(5, dtype=bool), np.ones_like(posts), np.ones(len(posts)))
    assert not as_in_the_language(known, known.posts, COMMON)


def test_too_few_keywords_say_nothing_of_the_stream() -> None:
    known = _known([900.0, 300.0, 90.0], [0.01, 0.03, 0.2])
    assert not as_in_the_language(known, known.posts, COMMON[:3])


def test_less_doubt_lets_more_keywords_go() -> None:
    known = _known([100.0] * 4, [0.3, 0.3, 0.3, 0.22])
    assert not less_company(known).any()
    assert less_company(known, doubt=0.0).tolist() == [False, False, False, True]


def test_a_single_keyword_is_not_held_to_company_that_it_cannot_have() -> None:
    only = _known([200.0], [0.0])
    among_others = _known([200.0, 200.0], [0.0, 0.2])
    rare = np.array([1e-5])
    assert share_on_subject(only, rare)[0] > 2 * share_on_subject(among_others, np.repeat(rare, 2))[0]


def test_a_word_that_a_sample_holds_as_often_as_the_subject_does_is_none_of_its_words() -> None:
    believed, rare = np.array([10.0, 10.0, 0.5]), np.full(3, 1e-5)
    share = share_by_sample(believed, 200.0, np.array([0.0, 50.0, 0.0]), 1_000, rare)
    assert share[0] > 5 * share[1]
    assert share[0] > 5 * share[2]
    alone = share_by_sample(believed, 200.0, np.array([0.0, 50.0, 0.0]), 1_000, None)
    assert alone[0] > 5 * max(alone[1:])


@given(
    st.lists(st.tuples(st.floats(1, 1e4), st.floats(1e-3, 0.99), st.booleans()), min_size=1, max_size=12),
)
def test_keywords_worth_listing_are_the_surest_and_some_first_ones_stay(
    keywords: list[tuple[float, float, bool]],
) -> None:
    posts, share, first = (np.array(column) for column in zip(*keywords, strict=True))
    worth, _ = worth_listing(posts, share, first, np.count_nonzero(first))
    assert worth.any()
    assert np.count_nonzero(worth & first) >= min(FEWEST_KEYWORDS, np.count_nonzero(first))
    if worth[~first].any() and (~worth[~first]).any():
        assert share[~first & worth].min() >= share[~first & ~worth].max()


def test_at_least_half_of_an_odd_number_of_first_keywords_stay() -> None:
    worth, _ = worth_listing(np.full(9, 100.0), np.array([0.9, *[1e-6] * 8]), np.ones(9, dtype=bool), 9)
    assert worth.sum() == 5


def test_the_list_that_is_kept_has_the_best_f1() -> None:
    """Against all subsets, with as many posts on the subject as the assumed recall implies."""
    posts, share = np.array([40.0, 60.0, 30.0, 200.0, 900.0, 400.0]), np.array([0.6, 0.5, 0.4, 0.2, 0.03, 0.02])
    worth, needed = worth_listing(posts, share, np.ones(6, dtype=bool), 6)
    relevant = (posts * share)[worth].sum() / ASSUMED_RECALL

    def f1(chosen: np.ndarray) -> float:
        return float(2 * (posts * share)[chosen].sum() / (posts[chosen].sum() + relevant))

    subsets = [np.array([bool(n >> i & 1) for i in range(6)]) for n in range(1, 64)]
    assert f1(worth) == max(f1(subset) for subset in subsets)
    assert np.isclose(needed, f1(worth) / 2)
