"""Which posts have which words and carry which candidates, and what occurs together: in one post, wherever in it.

Posts are short, and a corpus keeps their words without order, so a post is the window in which words are together.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array

from klda.arrays import Floats
from klda.text.corpus import Corpus
from klda.text.documents import Documents


def words_in(documents: Documents, n_words: int) -> csr_array:
    """1 where a document has a word; the placeholder, which is no word, is in none. # (D, V)"""
    known = (documents.words > 0).astype(np.float64)
    present = csr_array(
        (known, documents.words, documents.indptr), shape=(len(documents), n_words), copy=True
    )  # a copy, because taking out zeros changes all three arrays in place
    present.eliminate_zeros()
    return present


def candidates_in(corpus: Corpus) -> csr_array:
    """1 where a document carries a candidate. # (D, Q)"""
    observed = corpus.observed
    ones = np.ones(len(observed.values))
    return csr_array((ones, observed.values, observed.indptr), shape=(len(corpus), len(corpus.candidates)))


def together(present: csr_array, weights: Floats | None = None) -> csr_array:
    """How many documents have both of two words, each counted by its weight (D,); no word is with itself. # (V, V)

    >>> together(csr_array(np.array([[1.0, 1, 0], [1, 1, 1]]))).toarray()
    array([[0., 2., 1.],
           [2., 0., 1.],
           [1., 1., 0.]])
    """
    weighted = present if weights is None else present.multiply(weights[:, None])
    both = (present.T @ weighted).tocsr()
    both = (both - diags_array(both.diagonal())).tocsr()
    both.eliminate_zeros()
    return both


def company(corpus: Corpus, weights: Floats | None = None) -> Floats:
    """How many documents carry a candidate and have a word, each counted by its weight (D,). # (Q, V)

    A candidate's own words are left out, as a word is not with itself. For a candidate that is one word this is the
    word's row of `together`; for a phrase it is what the row of the phrase would be.
    """
    present = words_in(corpus.documents, len(corpus.vocabulary))
    carried = candidates_in(corpus)
    weighted = carried if weights is None else carried.multiply(weights[:, None])
    counts: Floats = (weighted.T @ present).toarray()
    own = corpus.keyword_words
    counts[own.rows, own.values] = 0.0
    return counts
