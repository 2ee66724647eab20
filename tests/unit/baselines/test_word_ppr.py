from __future__ import annotations

import numpy as np
import pytest

from klda.baselines.word_ppr import WordPPR
from klda.errors import DataError
from klda.types import silent
from tests.unit.baselines.few_posts import evidence_of, weekly

NOW = ["horse race", "horse race track", "race track", "owl rain", "owl rain night"]
WORDS = ("horse", "race", "track", "owl", "rain", "night")


def ranking(corpus, *current, **settings):
    policy = WordPPR(**settings)
    return policy.rank(evidence_of(corpus, *current), generator=np.random.default_rng(0), progress=silent)


def visits(posts: list[str], starts: list[str], damping: float) -> dict[str, float]:
    """How often the walk is at each word, by solving its equations."""
    words = sorted({word for post in posts for word in post.split()})
    together = np.array([[sum({a, b} <= set(p.split()) for p in posts) * (a != b) for b in words] for a in words])
    begin = np.array([(word in starts) / len(starts) for word in words])
    step = together / together.sum(axis=1, keepdims=True)
    found = np.linalg.solve(np.eye(len(words)) - damping * step.T, (1 - damping) * begin)
    return dict(zip(words, found, strict=True))


@pytest.mark.parametrize("current", [("horse",), ("horse", "owl")])
@pytest.mark.parametrize("damping", [0.2, 0.85])
def test_scores_are_the_visits_of_a_walk_that_restarts_at_the_keywords(current, damping):
    found = ranking(weekly(["old"], NOW, keywords=WORDS), *current, damping=damping)
    of_list = [post for post in NOW if set(post.split()) & set(current)]
    expected = visits(of_list, list(current), damping)
    scores = dict(zip(WORDS, found.scores, strict=True))
    assert scores == pytest.approx({word: expected.get(word, 0.0) for word in WORDS})


def test_only_posts_of_the_list_count_and_what_no_walk_reaches_scores_nothing():
    found = ranking(weekly(["old"], NOW, keywords=WORDS), "horse")
    assert found.scores[3:].tolist() == [0, 0, 0]
    assert found.reasons[2:4] == [
        "a walk from the keywords reaches it by race, horse",
        "no walk from the keywords reaches it",
    ]


def test_a_phrase_counts_as_one_keyword():
    corpus = weekly(["old"], ["burn pits smoke", "burn pits", "owl rain"], keywords=("burn pits", "owl", "smoke"))
    phrase, owl, smoke = ranking(corpus, "burn pits", "owl", damping=0.0).scores
    assert (phrase, owl, smoke) == pytest.approx((0.5, 0.5, 0.0))


def test_keywords_without_a_known_word_are_refused():
    corpus = weekly(["old"], ["the horse", "the race"], keywords=("the", "horse"))
    with pytest.raises(DataError, match="walk has no start"):
        ranking(corpus, "the")
