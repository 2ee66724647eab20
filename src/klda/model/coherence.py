"""How readily words occur together: normalised pointwise mutual information, and the coherence of topics by it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from klda.model.bags import Bags, Floats


def coherence(topic_word: Floats, documents: Bags, *, n_top: int = 10) -> Floats:
    """How readily each topic's leading words occur together in documents: mean NPMI over their pairs. # (K,)

    −1: never together; 0: as often as chance has it; 1: only together.

    >>> from klda.model.bags import TokenBags
    >>> documents = TokenBags.of([[1, 2], [1, 2], [3, 4], [3, 4]])
    >>> coherence(np.array([[0, 0.4, 0.4, 0.1, 0.1], [0, 0.4, 0.1, 0.4, 0.1]]), documents, n_top=2)
    array([ 1., -1.])
    """
    leading = leading_words(topic_word, n_top)
    return np.array([mean_of_pairs(npmi) for npmi in leading_npmi(leading, documents, topic_word.shape[1])])


def leading_words(topic_word: NDArray[np.floating], n_top: int) -> NDArray[np.int64]:
    """The most probable words of each topic, without the place that rare words share, which is no word. # (K, n_top)

    >>> leading_words(np.array([[0.5, 0.1, 0.4]]), 2)
    array([[2, 1]])
    """
    return 1 + np.argsort(-topic_word[:, 1:], axis=1, kind="stable")[:, :n_top]


def leading_npmi(leading: NDArray[np.int64], documents: Bags, n_words: int) -> list[Floats]:
    """NPMI of each pair of a topic's leading words, for each topic. # K × (n_top, n_top)"""
    shape = (len(documents.indptr) - 1, n_words)
    present = csr_array((np.ones(len(documents.words)), documents.words, documents.indptr), shape=shape).tocsc()
    return [npmi((present[:, words].T @ present[:, words]).toarray() / shape[0]) for words in leading]


def mean_of_pairs(npmi: Floats) -> float:
    """The mean over pairs of words; 0, the value of chance, if there is no pair. # (n, n) → ()"""
    pairs = npmi[np.triu_indices(len(npmi), k=1)]
    return float(pairs.mean()) if len(pairs) else 0.0


def npmi(joint: Floats) -> Floats:
    """Normalised pointwise mutual information from the share of documents with both words. # (n, n) → (n, n)"""
    single = np.diag(joint)
    chance = np.outer(single, single)
    result = np.full(joint.shape, -1.0)
    result[joint >= 1] = 0.0  # two words in every document say nothing about each other
    some = (joint > 0) & (joint < 1)
    result[some] = np.log(joint[some] / chance[some]) / -np.log(joint[some])
    return result
