from __future__ import annotations

from math import prod

import numpy as np
import pytest

from klda.baselines.rm3 import RM3
from klda.errors import SettingError
from klda.types import silent
from tests.unit.baselines.few_posts import evidence_of, weekly

NOW = ["horse race whip", "horse race", "horse owl night rain", "race owl", "owl night rain", "sun"]
WORDS = ("horse", "race", "whip", "owl", "night")


def ranking(corpus, *current, **settings):
    policy = RM3(**settings)
    return policy.rank(evidence_of(corpus, *current), generator=np.random.default_rng(0), progress=silent)


def written_out(query: tuple[str, ...], n: int, weight: float, smoothing: float) -> dict[str, float]:
    """RM3 word by word: p(query | post), p(word | best posts), and the mean with the query."""
    posts = [set(post.split()) for post in NOW]
    n_tokens = sum(map(len, posts))

    def likelihood(post: set[str]) -> float:
        general = {word: sum(word in other for other in posts) / n_tokens for word in query}
        return prod(((word in post) + smoothing * general[word]) / (len(post) + smoothing) for word in query)

    best = sorted((post for post in posts if post & set(query)), key=likelihood, reverse=True)[:n]
    total = sum(map(likelihood, best))
    relevance = {w: sum(likelihood(p) / total * (w in p) / len(p) for p in best) for w in WORDS}
    return {w: weight * (w in query) / len(query) + (1 - weight) * relevance[w] for w in WORDS}


@pytest.mark.parametrize("query", [("horse",), ("horse", "race")])
@pytest.mark.parametrize(("n", "weight", "smoothing"), [(100, 0.5, 100.0), (2, 0.0, 5.0), (1, 0.8, 1.0)])
def test_is_the_query_and_the_words_of_its_best_posts(query, n, weight, smoothing):
    corpus = weekly(["old"], NOW, keywords=WORDS)
    found = ranking(corpus, *query, feedback_posts=n, query_weight=weight, smoothing=smoothing)
    assert dict(zip(WORDS, found.scores, strict=True)) == pytest.approx(written_out(query, n, weight, smoothing))


def test_a_post_with_more_keywords_says_more():
    corpus = weekly(["old"], ["horse race whip", "horse night owl"], keywords=WORDS)
    found = ranking(corpus, "horse", "race")
    whip, owl = found.scores[2], found.scores[3]
    assert whip > owl
    assert ranking(corpus, "horse", "race", feedback_posts=1).reasons[2:4] == [
        "in 1 of the 1 posts that answer the list best",
        "in 0 of the 1 posts that answer the list best",
    ]


def test_a_keyword_that_nobody_says_changes_only_its_own_share_of_the_query():
    corpus = weekly(["old"], NOW, keywords=(*WORDS, "unicorn"))
    with_it, without = (ranking(corpus, *query).scores for query in (("horse", "unicorn"), ("horse",)))
    np.testing.assert_allclose(with_it[1:5], without[1:5])
    assert with_it[5] == pytest.approx(0.25)


@pytest.mark.parametrize("wrong", [{"feedback_posts": 0}, {"query_weight": 1.5}, {"smoothing": 0.0}])
def test_nonsense_is_refused(wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        ranking(weekly(["old"], NOW, keywords=WORDS), "horse", **wrong)
