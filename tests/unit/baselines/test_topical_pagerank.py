from __future__ import annotations

import numpy as np
import pytest

from klda.baselines.topical_pagerank import ContextTopicalPageRank, TopicalPageRank, topic_given_word
from klda.baselines.word_graph import WordGraph, pagerank
from klda.model.lda import LDA
from klda.types import silent
from tests.unit.baselines.few_posts import evidence_of, weekly

POSTS = ["horse race track", "horse race whip", "horse vet drug", "vet drug horse pain", "drug pain vet"]
KEYWORDS = ("horse", "race", "drug", "pain")
TOPICS = (TopicalPageRank, ContextTopicalPageRank)


def fake_topics(n_words):
    """Two topics with weights that are easy to follow."""
    generator = np.random.default_rng(3)
    return LDA(generator.dirichlet(np.ones(n_words), size=2), np.array([0.3, 0.1]))


@pytest.fixture
def corpus(monkeypatch):
    corpus = weekly(["old"], POSTS, keywords=KEYWORDS)
    monkeypatch.setattr("klda.model.lda.fit_lda", lambda documents, n_words, *_, **__: fake_topics(n_words))
    return corpus


def by_hand(corpus, per_topic_edges):
    """R(w) = Σ_z p(z | posts) R_z(w), word by word."""
    posts = corpus.window(-1).take(corpus.window(-1).carrying(["horse"]))
    topics = fake_topics(len(corpus.vocabulary))
    weights = topics.infer(posts.documents)
    total = np.zeros(len(KEYWORDS))
    for z in range(2):
        graph = WordGraph.of(posts, weights[:, z] if per_topic_edges else None)
        prior = topics.alpha / topics.alpha.sum()
        restart = np.array(
            [
                topics.topic_word[z, w] * prior[z] / sum(topics.topic_word[k, w] * prior[k] for k in range(2))
                for w in graph.words
            ]
        )
        rank = pagerank(graph.edges, restart, damping=0.3)
        place = [int(np.flatnonzero(graph.words == posts.keyword_words[c][0])[0]) for c in range(len(KEYWORDS))]
        total += weights[:, z].mean() * rank[place]
    return total


@pytest.mark.parametrize(("policy", "per_topic_edges"), [(TopicalPageRank, False), (ContextTopicalPageRank, True)])
def test_scores_are_the_topics_pageranks_weighted_as_in_the_lists_posts(corpus, policy, per_topic_edges):
    found = policy().rank(evidence_of(corpus, "horse"), generator=np.random.default_rng(0), progress=silent)
    np.testing.assert_allclose(found.scores, by_hand(corpus, per_topic_edges), atol=1e-9)


def test_the_two_forms_differ_in_their_edges(corpus):
    plain, context = (
        policy().rank(evidence_of(corpus, "horse"), generator=np.random.default_rng(0), progress=silent).scores
        for policy in TOPICS
    )
    assert np.abs(plain - context).max() > 1e-6


def test_topics_of_a_word_are_those_of_bayes_rule():
    topics = LDA(np.array([[0.5, 0.5], [0.9, 0.1]]), np.array([0.3, 0.1]))
    expected = [[0.375 / 0.6, 0.375 / 0.4], [0.225 / 0.6, 0.025 / 0.4]]
    np.testing.assert_allclose(topic_given_word(topics), expected)


def test_reasons_name_the_topic(corpus):
    found = TopicalPageRank().rank(evidence_of(corpus, "horse"), generator=np.random.default_rng(0), progress=silent)
    assert all(reason.startswith("strongest in the topic of ") and "<rare>" not in reason for reason in found.reasons)
