"""How good topics read: coherence of their top words (NPMI and c_v) and how much they differ."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from klda.corpus.documents import Documents

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TopicQuality:
    """Means over topics."""

    npmi: float
    """Normalised pointwise mutual information of pairs of top words in one document; -1 never together, 1 always."""
    c_v: float
    """Cosine between the NPMI vectors of each top word and of all top words together (Röder et al. 2015, one
    document as the window, as fits short posts)."""
    diversity: float
    """Share of distinct words among all topics' top words."""


def topic_quality(topic_word: Floats, documents: Documents, n_top: int = 10) -> TopicQuality:
    """The quality of topics, judged by how their top words occur together in these documents.

    `topic_word` is (K, V); documents are the reference, best ones that the topics were not fitted on.
    """
    tops = np.argsort(-topic_word, axis=1, kind="stable")[:, :n_top]  # (K, n_top)
    words, inverse = np.unique(tops, return_inverse=True)
    npmi = npmi_matrix(documents, words)  # (n_words, n_words)
    local = inverse.reshape(tops.shape)
    pairwise = [np.mean([npmi[a, b] for a, b in combinations(row, 2)]) for row in local]
    vectors = [npmi[np.ix_(row, row)] for row in local]
    return TopicQuality(
        npmi=float(np.mean(pairwise)),
        c_v=float(np.mean([_mean_cosine_to_sum(v) for v in vectors])),
        diversity=len(words) / tops.size,
    )


def npmi_matrix(documents: Documents, words: NDArray[np.int64]) -> Floats:
    """NPMI of each pair of words over documents: log p(a,b)/p(a)p(b), divided by -log p(a,b). # (n, n)

    The diagonal is 1 for a word that occurs. A pair that never occurs together has -1.
    """
    keep = np.isin(documents.words, words)
    column = np.searchsorted(words, documents.words[keep])
    row = np.repeat(np.arange(len(documents)), np.diff(documents.indptr))[keep]
    shape = (len(documents), len(words))
    present = sp.csr_matrix((np.ones(len(row)), (row, column)), shape=shape)
    joint = (present.T @ present).toarray() / max(len(documents), 1)  # (n, n)
    single = np.diag(joint)
    expected = np.outer(single, single)
    together = joint > 0
    ratio = np.log(joint, where=together, out=np.zeros_like(joint)) - np.log(
        expected, where=together, out=np.zeros_like(joint)
    )
    # A word in every document has -log p = 0; it tells nothing about any other, and everything about itself.
    surprise = -np.log(joint, where=together, out=np.full_like(joint, -1.0))
    informative = together & (surprise > 0)
    npmi = np.where(informative, np.divide(ratio, surprise, where=informative, out=np.zeros_like(joint)), 0.0)
    npmi[~together] = -1.0
    npmi[np.diag_indices_from(npmi)] = np.where(single > 0, 1.0, -1.0)
    return npmi


def _mean_cosine_to_sum(vectors: Floats) -> float:
    """The mean cosine between each row and the sum of all rows."""
    total = vectors.sum(axis=0)
    norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(total)
    cosines = np.divide(vectors @ total, norms, out=np.zeros(len(vectors)), where=norms > 0)
    return float(cosines.mean())
