"""Counting words: those of the posts that carry each keyword, recent windows first."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from klda.arrays import Floats
from klda.text.corpus import Corpus


def recency(corpus: Corpus, half_life: float | None) -> Floats:
    """The weight of each document: 1 in the last window, halved for every `half_life` windows before it. # (D,)"""
    return window_recency(corpus.n_windows, half_life)[corpus.documents.window]


def window_recency(n_windows: int, half_life: float | None) -> Floats:
    """The weight of each window: 1 for the last, halved for every `half_life` windows before it. # (n_windows,)

    >>> window_recency(3, half_life=1.0)
    array([0.25, 0.5 , 1.  ])
    """
    if half_life is None:
        return np.ones(n_windows)
    return np.asarray(0.5 ** (np.arange(n_windows)[::-1] / half_life), dtype=np.float64)


def keyword_word_counts(corpus: Corpus, half_life: float | None = None) -> Floats:
    """How often each word occurs in posts that carry each candidate, weighted by recency. # (Q, V)"""
    counts: Floats = keyword_word_matrix(corpus, half_life).toarray()
    return counts


def keyword_tokens(corpus: Corpus, half_life: float | None = None) -> Floats:
    """How many words occur in posts that carry each candidate, weighted by recency. # (Q,)"""
    return np.asarray(keyword_word_matrix(corpus, half_life).sum(axis=1), dtype=np.float64)


def keyword_word_matrix(corpus: Corpus, half_life: float | None = None) -> csr_array:
    """The same counts as a sparse matrix: with thousands of candidates nearly all are zero. # (Q, V)"""
    observed = corpus.observed
    weight = np.repeat(recency(corpus, half_life), observed.lengths)
    carries = csr_array(
        (weight, observed.values, observed.indptr), shape=(len(corpus), len(corpus.candidates))
    )  # (D, Q)
    return (carries.T @ tokens(corpus)).tocsr()


def word_counts(corpus: Corpus, half_life: float | None = None) -> Floats:
    """How often each word occurs in all documents, weighted by recency. # (V,)"""
    counts: Floats = recency(corpus, half_life) @ tokens(corpus)
    return counts


def tokens(corpus: Corpus) -> csr_array:
    """Token counts of the documents as a sparse matrix. # (D, V)"""
    documents = corpus.documents
    return csr_array(
        (documents.counts.astype(np.float64), documents.words, documents.indptr),
        shape=(len(documents), len(corpus.vocabulary)),
    )
