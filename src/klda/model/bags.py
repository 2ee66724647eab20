"""Documents as bags of words and nothing else: what LDA reads and what a generative process writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from klda.text.documents import Ints, Words, gather, offsets

Floats = NDArray[np.float64]


class Bags(Protocol):
    """Anything with token counts in CSR form: documents of a corpus, training data, generated documents."""

    @property
    def indptr(self) -> Ints:
        """Offsets of the documents. # (D + 1,)"""
        ...

    @property
    def words(self) -> Words:
        """Word ids, ascending within a document. # (nnz,)"""
        ...

    @property
    def counts(self) -> Words:
        """How often each of them occurs. # (nnz,)"""
        ...


@dataclass(frozen=True)
class TokenBags:
    """Token counts in CSR form.

    >>> TokenBags.of([[4, 2, 4], []]).counts
    array([1, 2], dtype=int32)
    """

    indptr: Ints
    words: Words
    counts: Words

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @classmethod
    def of(cls, documents: list[list[int]]) -> TokenBags:
        """Counts of documents that are given as lists of word ids."""
        lengths = np.array([len(document) for document in documents], dtype=np.int64)
        words = np.fromiter((w for document in documents for w in document), np.int64, int(lengths.sum()))
        return cls.count(np.repeat(np.arange(len(documents)), lengths), words, len(documents))

    @classmethod
    def count(cls, document: Ints, word: Ints, n_documents: int) -> TokenBags:
        """Counts of tokens, given each token's document and word. # (N,), (N,)"""
        n_words = int(word.max(initial=0)) + 1
        place, counts = np.unique(document * n_words + word, return_counts=True)
        indptr = offsets(np.bincount(place // n_words, minlength=n_documents))
        return cls(indptr, (place % n_words).astype(np.int32), counts.astype(np.int32))


def document_of_entry(documents: Bags) -> Ints:
    """Which document each entry of `words` belongs to. # (nnz,)

    >>> document_of_entry(TokenBags.of([[4, 2, 4], [], [2]]))
    array([0, 0, 2])
    """
    return np.repeat(np.arange(len(documents.indptr) - 1), np.diff(documents.indptr))


def take(documents: Bags, index: Ints) -> TokenBags:
    """The documents at these positions.

    >>> take(TokenBags.of([[4, 2, 4], [], [2]]), np.array([2, 1])).words
    array([2], dtype=int32)
    """
    lengths = np.diff(documents.indptr)[index]
    where = gather(documents.indptr[index], lengths)
    return TokenBags(offsets(lengths), documents.words[where], documents.counts[where])
