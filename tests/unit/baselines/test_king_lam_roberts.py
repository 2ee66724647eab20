from __future__ import annotations

from math import comb, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.baselines.incidence import words_in
from klda.baselines.king_lam_roberts import KingLamRoberts, directed_likelihood, target_posts
from klda.errors import DataError
from klda.types import KeywordSet, silent
from tests.unit.baselines.few_posts import evidence_of, weekly

READ_ALIKE = ["horse jockey saddle race", "horse jockey gallop race", "horse saddle gallop race"] * 8
WITHOUT_KEYWORD = ["jockey saddle gallop whip", "jockey gallop saddle whip"] * 3
OTHERS = ["rain wind cloud today", "wind storm cloud today", "rain storm cloud race"] * 10
POSTS = [*READ_ALIKE, *WITHOUT_KEYWORD, *OTHERS]
KEYWORDS = ("horse", "whip", "cloud", "race", "owl")


def ranking(corpus, *current, **settings):
    policy = KingLamRoberts(**settings)
    return policy.rank(evidence_of(corpus, *current), generator=np.random.default_rng(0), progress=silent)


def listed(corpus, *first):
    """The corpus with the same list in every window."""
    return corpus.with_history([KeywordSet.of(*first)] * corpus.n_windows)


@st.composite
def splits(draw):
    n_target, n_rest = draw(st.integers(1, 30)), draw(st.integers(1, 30))
    return draw(st.integers(0, n_target)), draw(st.integers(0, n_rest)), n_target, n_rest


def evidence_for(target: int, rest: int, n_target: int, n_rest: int) -> float:
    """The log-likelihood of a split by integrating two binomial chances, in whole numbers."""
    without = (n_target - target, n_rest - rest)
    return -sum(log((a + b + 1) * comb(a + b, a)) for a, b in ((target, rest), without))


@given(st.lists(splits(), min_size=1, max_size=5).map(lambda found: [(*s[:2], *found[0][2:]) for s in found]))
def test_words_rank_by_the_likelihood_of_the_split(found):
    n_target, n_rest = found[0][2:]
    found = [(min(target, n_target), min(rest, n_rest), n_target, n_rest) for target, rest, *_ in found]
    scores = directed_likelihood(
        np.array([f[0] for f in found], dtype=float), np.array([f[1] for f in found], dtype=float), n_target, n_rest
    )
    expected = np.array([evidence_for(*f) for f in found])
    np.testing.assert_allclose(np.abs(scores[scores != 0]), (expected - expected.min() + 1)[scores != 0])
    more = np.array([f[0] / n_target - f[1] / n_rest for f in found])
    np.testing.assert_array_equal(np.sign(scores), np.sign(np.where(np.abs(more) < 1e-12, 0, more)))


def test_posts_that_read_like_the_reference_set_are_the_target_set():
    corpus = weekly(POSTS, keywords=("horse",))
    vocabulary = corpus.vocabulary
    kept = [word for word in range(1, len(vocabulary)) if word != vocabulary.index("hors")]
    reference, search = (words_in(part, len(vocabulary))[:, kept] for part in (corpus.documents, corpus.apart))
    target = target_posts(reference, search, np.random.default_rng(0))
    whip = vocabulary.index("whip")
    carries = [whip in corpus.apart.take(slice(i, i + 1)).words for i in range(len(corpus.apart))]
    assert target.tolist() == carries


def test_a_word_of_the_posts_that_the_list_misses_ranks_above_one_of_other_posts():
    found = ranking(listed(weekly(POSTS, keywords=KEYWORDS), "horse"), "horse")
    horse, whip, cloud, race, owl = found.scores
    assert horse > whip > owl > cloud  # nobody says owl
    assert owl == 0
    assert race < 0  # frequent in the reference set, but in the search set only the others say it
    assert found.reasons[:2] == [
        "a keyword of the first list, which says what to look for",
        "in 6 of 6 posts that read like the first list's without its keywords, and in 0 of 30 others",
    ]


def test_the_keywords_themselves_teach_the_classifiers_nothing():
    posts = ["horse cloud", "horse rain"] * 10 + ["cloud", "rain"] * 20 + ["whip cloud"]
    found = ranking(listed(weekly(posts, keywords=("horse", "whip")), "horse"), "horse")
    assert found.reasons[1].startswith("in 0 of 0 posts")  # without horse, they are the same posts


def test_the_first_list_is_the_reference_also_after_the_list_has_moved_on():
    corpus = listed(weekly(POSTS, keywords=KEYWORDS), "cloud")
    moved = ranking(corpus, "cloud", founding=KeywordSet.of("horse"))
    stayed = ranking(listed(corpus, "horse"), "cloud")
    np.testing.assert_array_equal(moved.scores, stayed.scores)
    assert moved.scores.argmax() == 0


def test_the_same_seed_gives_the_same_ranking():
    corpus = listed(weekly(POSTS, keywords=KEYWORDS), "horse")
    np.testing.assert_array_equal(ranking(corpus, "horse").scores, ranking(corpus, "horse").scores)


def test_without_posts_beside_the_lists_there_is_nothing_to_compare():
    corpus = listed(weekly(["horse race", "horse whip"] * 9, keywords=("horse", "whip")), "horse")
    with pytest.raises(DataError, match="a sample of all"):
        ranking(corpus, "horse")


def test_where_posts_are_nothing_but_keywords_no_post_reads_like_them():
    corpus = listed(weekly(["horse"] * 9 + ["the"] * 9, keywords=("horse", "the")), "horse")
    assert ranking(corpus, "horse").reasons[1].startswith("in 0 of 0 posts")
