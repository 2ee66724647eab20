"""Topical PageRank (Liu et al., 2010) on the posts of the current list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from klda.advice.evidence import Evidence
from klda.arrays import Floats
from klda.baselines.ranked import Ranking, RankingPolicy, posts_of_list
from klda.baselines.word_graph import WordGraph
from klda.model.coherence import leading_words
from klda.text.corpus import Corpus
from klda.text.documents import Documents, concatenated
from klda.types import Progress

if TYPE_CHECKING:
    from klda.model.lda import LDA


@dataclass
class TopicalPageRank(RankingPolicy):
    """PageRank once for each topic, restarting at the topic's words; topics count as in the list's posts.

    The last window's posts with a current keyword take the place of the document in the original: the graph and the
    weights of the topics are theirs. LDA finds `n_topics` in them and as many other posts of the window, drawn at
    random, so that what is said everywhere has topics of its own. The walk of a topic restarts at a word in proportion
    to p(topic | word). `damping` is the chance that it goes on instead.
    """

    n_topics: int = 10
    damping: float = 0.3
    iterations: int = 100
    """Of LDA's sampler."""

    name = "topical-pagerank"

    def rank(self, evidence: Evidence, *, generator: np.random.Generator, progress: Progress) -> Ranking:
        """PageRank of every candidate, averaged over topics."""
        from klda.model.lda import fit_lda  # brings torch

        posts = posts_of_list(evidence)
        read = concatenated(posts.documents, _others(evidence, len(posts), generator))
        seed = int(generator.integers(2**31))
        topics = fit_lda(read, len(posts.vocabulary), self.n_topics, seed=seed, iterations=self.iterations)
        progress(self.name, 1, 2)
        weights = topics.infer(posts.documents)  # (D, K)
        of_word = topic_given_word(topics)  # (K, V)
        of_candidate = _over_candidates(of_word, posts)  # (K, Q)
        parts = np.array(
            [
                share * graph.scores(words[graph.words], own, damping=self.damping)
                for share, graph, words, own in zip(
                    weights.mean(axis=0), self.graphs(posts, weights), of_word, of_candidate, strict=True
                )
            ]
        )  # (K, Q)
        progress(self.name, 2, 2)
        return Ranking(parts.sum(axis=0), _reasons(evidence, topics, weights.mean(axis=0), parts))

    def graphs(self, posts: Corpus, weights: Floats) -> Iterator[WordGraph]:
        """The graph that each topic's walk goes on: the same for all."""
        graph = WordGraph.of(posts)
        for _ in range(weights.shape[1]):
            yield graph


def topic_given_word(topics: LDA) -> Floats:
    """p(topic | word) by Bayes' rule, topics as frequent beforehand as the Dirichlet's mean says. # (K, V)"""
    joint = topics.topic_word * (topics.alpha / topics.alpha.sum())[:, None]  # (K, V)
    return np.asarray(joint / joint.sum(axis=0))


def _others(evidence: Evidence, n: int, generator: np.random.Generator) -> Documents:
    """At most n posts of the last window without a current keyword, drawn at random."""
    last = evidence.last
    outside = np.setdiff1d(np.arange(len(last)), last.carrying(evidence.keywords(evidence.current)))
    others = concatenated(last.documents.take(outside), last.apart)
    return others.take(np.sort(generator.permutation(len(others))[:n]))


def _over_candidates(of_word: Floats, posts: Corpus) -> Floats:
    """p(topic | candidate): the mean over its words; 0 for a candidate without a word of the vocabulary. # (K, Q)"""
    own = posts.keyword_words
    mean = csr_array((1 / own.lengths[own.rows], own.values, own.indptr), shape=(len(own), of_word.shape[1]))  # (Q, V)
    return np.asarray(of_word @ mean.T)


def _reasons(evidence: Evidence, topics: LDA, shares: Floats, parts: Floats) -> list[str]:
    """The topic that gives each candidate most of its score, in words."""
    vocabulary = evidence.history.vocabulary
    leading = leading_words(topics.topic_word, 3)
    words = [", ".join(vocabulary.display(int(word)) for word in row) for row in leading]
    return [
        f"strongest in the topic of {words[topic]}, {shares[topic]:.0%} of the list's posts"
        for topic in parts.argmax(axis=0).tolist()
    ]


@dataclass
class ContextTopicalPageRank(TopicalPageRank):
    """As `topical-pagerank`, and each topic's words are joined only as far as posts on that topic join them.

    Where the original gives a post to one topic and counts it there, here it counts in every topic by the topic's
    weight in it.
    """

    name = "context-topical-pagerank"

    def graphs(self, posts: Corpus, weights: Floats) -> Iterator[WordGraph]:
        """The graph that each topic's walk goes on: posts count by the topic's weight in them."""
        for topic in weights.T:
            yield WordGraph.of(posts, topic)
