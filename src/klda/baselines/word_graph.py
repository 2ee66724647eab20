"""The graph of words that stand in the same posts, with the candidates beside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from klda.advice.frequency import document_counts
from klda.arrays import Bools, Floats, Ints
from klda.baselines.incidence import company, together, words_in
from klda.baselines.pagerank import outgoing_share, pagerank
from klda.text.corpus import Corpus


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
