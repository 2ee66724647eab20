from __future__ import annotations

import numpy as np
import pytest

from klda.baselines.word_graph import WordGraph, pagerank
from tests.unit.baselines.few_posts import weekly

POSTS = ["horse race", "horse whip", "race whip horse", "race track", "alone"]


@pytest.mark.parametrize("damping", [0.3, 0.85])
def test_a_candidate_that_is_a_word_scores_as_the_word_does(damping):
    corpus = weekly(POSTS, keywords=("horse", "track", "race", "alone"))
    graph = WordGraph.of(corpus)
    restart = np.arange(1.0, len(graph.words) + 1)
    rank = dict(zip(graph.words.tolist(), pagerank(graph.edges, restart, damping=damping), strict=True))
    words = [int(corpus.keyword_words[column][0]) for column in range(4)]
    own = restart[np.searchsorted(graph.words, words)]
    np.testing.assert_allclose(graph.scores(restart, own, damping=damping), [rank[word] for word in words], atol=1e-9)


def test_a_word_and_its_hashtag_are_one_candidate():
    corpus = weekly(["mask shop", "#mask shop", "mask #mask shop", "shop open"], keywords=("mask", "shop", "open"))
    graph = WordGraph.of(corpus)
    shop = np.flatnonzero(graph.words == corpus.vocabulary.index("shop"))[0]
    assert graph.bridges[0, shop] == 3
    assert graph.bridges[0].sum() == 3


def test_a_phrase_scores_below_its_words():
    corpus = weekly(
        ["computer virus attack", "computer shop", "virus ward"], keywords=("computer virus", "virus", "computer")
    )
    phrase, *words = WordGraph.of(corpus).scores(damping=0.85)
    assert phrase < min(words)


def test_a_candidate_that_no_post_carries_scores_nothing():
    corpus = weekly(POSTS, keywords=("horse", "xylophone"))
    assert WordGraph.of(corpus).scores(damping=0.85)[1] == 0


def test_posts_join_words_by_their_weight():
    corpus = weekly(["horse race", "horse whip"], keywords=("horse",))
    graph = WordGraph.of(corpus, np.array([0.25, 2.0]))
    assert sorted(set(graph.edges.data.tolist())) == [0.25, 2.0]
    assert sorted(graph.bridges[0].tolist()) == [0.0, 0.25, 2.0]


def test_neighbours_share_most_posts():
    corpus = weekly(["horse race", "horse race whip", "horse race whip", "horse track"], keywords=("horse",))
    words = [corpus.vocabulary.display(int(word)) for word in WordGraph.of(corpus).neighbours(0, 2)]
    assert words == ["race", "whip"]
