"""The graph of words that stand in the same posts, with the candidates beside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from klda.advice.frequency import document_counts
from klda.arrays import Bools, Floats, Ints
from klda.baselines.incidence import company, together, words_in
from klda.errors import DataError, SettingError
from klda.text.corpus import Corpus

TOLERANCE = 1e-12
"""Total change at which the iteration stops; each step shrinks the error at least by the damping."""


def pagerank(edges: csr_array, restart: Floats | None = None, *, damping: float = 0.85) -> Floats:
    """How often a walk is at each node that follows edges (N, N) by weight, and restarts with 1 − damping. # (N,)

    `restart` (N,) says how likely it begins anew at each node, up to a factor: everywhere alike unless given. At a node
    without a way on it always begins anew. The result sums to 1.

    >>> star = csr_array(np.array([[0.0, 1, 1], [1, 0, 0], [1, 0, 0]]))
    >>> pagerank(star).round(2)
    array([0.49, 0.26, 0.26])
    >>> pagerank(star, np.array([0.0, 1, 0]), damping=0.5).round(2)
    array([0.33, 0.58, 0.08])
    """
    if not 0 <= damping < 1:
        raise SettingError(f"damping must be at least 0 and below 1, got {damping}")
    n = edges.shape[0]
    begin = np.ones(n) if restart is None else restart
    if not begin.sum() > 0:
        raise DataError("a walk needs a node to start from: the graph is empty, or no node has a chance to restart at")
    begin = begin / begin.sum()
    share = outgoing_share(edges)
    stuck = share == 0
    back = edges.T.tocsr()
    rank = begin
    while True:
        flow = back @ (rank * share) + rank[stuck].sum() * begin
        after = damping * flow + (1 - damping) * begin
        change = np.abs(after - rank).sum()
        rank = after
        if change < TOLERANCE:
            return np.asarray(rank)


def outgoing_share(edges: csr_array) -> Floats:
    """One over the total weight of the edges that leave a node; 0 if there are none. # (N,)"""
    total = np.asarray(edges.sum(axis=1), dtype=np.float64)
    return np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)


@dataclass(frozen=True)
class WordGraph:
    """Words joined by the number of posts that have both.

    A candidate is not always a word: it may be a phrase, or a word and its hashtag. So it is scored as one more node
    would be that has the candidate's posts, which for a plain word is the word's own score. One that no post carries is
    no node: it scores 0.
    """

    words: Ints  # (N,)  numbers in the vocabulary
    edges: csr_array  # (N, N)
    bridges: Floats  # (Q, N)  posts that carry the candidate and have the word
    carried: Bools  # (Q,)  whether any post carries the candidate

    @classmethod
    def of(cls, corpus: Corpus, weights: Floats | None = None) -> WordGraph:
        """The graph of a corpus, each post counted by its weight (D,)."""
        present = words_in(corpus.documents, len(corpus.vocabulary))
        words = np.unique(present.indices).astype(np.int64)
        carried = document_counts(corpus.observed.values.astype(np.int64), len(corpus.candidates)) > 0
        return cls(words, together(present[:, words], weights), company(corpus, weights)[:, words], carried)

    def scores(
        self, restart: Floats | None = None, candidate_restart: Floats | None = None, *, damping: float
    ) -> Floats:
        """PageRank of the candidates, restarting at words by `restart` (N,), alike by default. # (Q,)

        `candidate_restart` (Q,) is what `restart` would be for the candidates.
        """
        begin = np.ones(len(self.words)) if restart is None else restart
        of_candidates = self.carried * (1.0 if candidate_restart is None else candidate_restart)
        rank = pagerank(self.edges, begin, damping=damping)
        share = outgoing_share(self.edges)
        anew = 1 - damping + damping * rank[share == 0].sum()  # how often the walk restarts
        return np.asarray(damping * self.bridges @ (rank * share) + anew * of_candidates / begin.sum())

    def neighbours(self, column: int, n: int = 3) -> Ints:
        """The words that share most posts with a candidate, at most n: numbers in the vocabulary."""
        posts = self.bridges[column]
        order = np.argsort(-posts, kind="stable")[:n]
        return np.asarray(self.words[order[posts[order] > 0]])
