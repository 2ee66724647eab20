"""The generative process of the model as a sampler: keywords, topic weights, words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from klda.errors import SettingError
from klda.model import prior
from klda.model.bags import Floats, TokenBags
from klda.text.documents import Ints, Ragged, Words, gather, offsets

TopicWordOf = Callable[[tuple[int, ...]], ArrayLike]
"""g: the topic-word matrix of a keyword set (columns, ascending). # → (K, V)"""
TopicPriorOf = Callable[[tuple[int, ...]], ArrayLike]
"""f: the Dirichlet prior that a keyword set gives to topic weights. # → (K,)"""


@dataclass(frozen=True)
class Generated:
    """Documents drawn from the model, the candidates that a collector would observe, and the hidden truth."""

    indptr: Ints  # (D + 1,)
    words: Words  # (nnz,)  ascending within a document
    counts: Words  # (nnz,)
    observed: Ragged  # candidates all of whose words occur in the document
    keywords: Ragged  # candidates that were drawn as its keywords: z
    topic_weights: Floats  # (D, K)

    def __len__(self) -> int:
        return len(self.indptr) - 1


def generate(
    n_documents: int,
    *,
    theta: ArrayLike,
    penalty: float,
    keyword_words: Ragged,
    topic_word: TopicWordOf,
    generator: np.random.Generator,
    topic_prior: TopicPriorOf | None = None,
    length: float = 20,
    poisson: bool = False,
) -> Generated:
    """Documents of `length` words, or of Poisson length with that mean; each has its keywords' words at least.

    keyword_words[j] are the words that keyword j writes into a document (several for a phrase); a word that two
    keywords share is written once. Without `topic_prior`, f = 1. g and f are called once for each distinct set.

    >>> one_word_each = Ragged.of([[0], [1]])
    >>> even = lambda keywords: np.full((2, 6), 1 / 6)
    >>> rng = np.random.default_rng(0)
    >>> drawn = generate(
    ...     3, theta=[0, 0], penalty=2, keyword_words=one_word_each, topic_word=even, generator=rng, length=5
    ... )
    >>> len(drawn), int(drawn.counts.sum()), drawn.topic_weights.shape
    (3, 15, (3, 2))
    """
    if n_documents < 1:
        raise SettingError(f"n_documents must be at least 1, got {n_documents}")
    if length < 0 or (not poisson and length != int(length)):
        raise SettingError(f"length must be a whole number of words, or positive with poisson=True; got {length}")
    z = _draw_keywords(n_documents, torch.from_numpy(np.asarray(theta, dtype=np.float64)), penalty, generator)
    wanted = generator.poisson(length, n_documents) if poisson else np.full(n_documents, int(length))
    document, word = _keyword_tokens(z, keyword_words)
    remaining = np.maximum(wanted - np.bincount(document, minlength=n_documents), 0)  # (D,)

    documents, words = [document], [word]
    topic_weights: Floats = np.zeros((0, 0))
    for keywords, members in _groups(z):
        beta = np.asarray(topic_word(keywords), dtype=np.float64)  # (K, V)
        alpha = np.ones(len(beta)) if topic_prior is None else np.asarray(topic_prior(keywords), dtype=np.float64)
        eta = generator.dirichlet(alpha, size=len(members))  # (members, K)
        if not len(topic_weights):
            topic_weights = np.zeros((n_documents, len(beta)))
        topic_weights[members] = eta
        place = np.repeat(np.arange(len(members)), remaining[members])  # one entry for each word to draw
        topic = _draw(eta, place, generator)
        documents.append(members[place])
        words.append(_draw(beta, topic, generator))
    bags = TokenBags.count(np.concatenate(documents), np.concatenate(words), n_documents)
    return Generated(bags.indptr, bags.words, bags.counts, _observed(bags, keyword_words), _members(z), topic_weights)


def blended_topics(matrices: ArrayLike) -> TopicWordOf:
    """A g for simulations: the topics of a keyword set are the mean of its keywords' topics. # (Q, K, V)

    >>> blended_topics([[[1.0, 0.0]], [[0.0, 1.0]]])((0, 1))
    array([[0.5, 0.5]])
    """
    of_keyword = np.asarray(matrices, dtype=np.float64)
    return lambda keywords: of_keyword[list(keywords)].mean(axis=0)


def _draw_keywords(n: int, theta: torch.Tensor, penalty: float, generator: np.random.Generator) -> NDArray[np.bool_]:
    """z of n documents. # (n, Q)"""
    seed = int(generator.integers(2**63 - 1))
    return prior.sample(theta, penalty, n, torch.Generator().manual_seed(seed)).numpy()


def _members(z: NDArray[np.bool_]) -> Ragged:
    """The keywords of each row of z."""
    return Ragged(offsets(z.sum(axis=1)), np.nonzero(z)[1].astype(np.int32))


def _groups(z: NDArray[np.bool_]) -> Iterator[tuple[tuple[int, ...], Ints]]:
    """Each distinct keyword set, with the documents that have it."""
    packed = np.packbits(z, axis=1)
    _, first, group, sizes = np.unique(packed, axis=0, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(group, kind="stable")
    for row, members in zip(first, np.split(order, np.cumsum(sizes)[:-1]), strict=True):
        yield tuple(np.flatnonzero(z[row]).tolist()), members


def _keyword_tokens(z: NDArray[np.bool_], keyword_words: Ragged) -> tuple[Ints, Ints]:
    """Document and word of every token that a keyword writes, each word of a document once."""
    document, keyword = np.nonzero(z)
    n_each = keyword_words.lengths[keyword]
    word = keyword_words.values[gather(keyword_words.indptr[keyword], n_each)].astype(np.int64)
    bags = TokenBags.count(np.repeat(document, n_each), word, len(z))
    return np.repeat(np.arange(len(z)), np.diff(bags.indptr)), bags.words.astype(np.int64)


def _draw(distributions: Floats, which: Ints, generator: np.random.Generator) -> Ints:
    """One draw from the distribution in row which[i], for every i. # (rows, n), (m,) → (m,)"""
    n = distributions.shape[1]
    cumulative = np.cumsum(distributions, axis=1)
    cumulative /= cumulative[:, -1:]
    # Row r covers (r, r + 1], so that one sorted search serves all rows.
    cumulative += np.arange(len(distributions))[:, None]
    at = np.searchsorted(cumulative.ravel(), which + generator.random(len(which)), side="right")
    return np.asarray(np.minimum(at - which * n, n - 1))


def _observed(bags: TokenBags, keyword_words: Ragged) -> Ragged:
    """For each document the keywords all of whose words occur in it."""
    n_words = int(max(bags.words.max(initial=0), keyword_words.values.max(initial=0))) + 1
    has = csr_array((np.ones(len(bags.words)), bags.words, bags.indptr), shape=(len(bags), n_words))
    needs = csr_array(
        (np.ones(len(keyword_words.values)), keyword_words.values, keyword_words.indptr),
        shape=(len(keyword_words), n_words),
    )
    found = (has @ needs.T).tocoo()
    complete = found.data == keyword_words.lengths[found.col]
    document, keyword = found.row[complete], found.col[complete]
    order = np.lexsort((keyword, document))
    lengths = np.bincount(document, minlength=len(bags))
    return Ragged(offsets(lengths), keyword[order].astype(np.int32))
