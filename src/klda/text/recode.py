"""The same documents under another vocabulary."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from klda.text.corpus import Corpus
from klda.text.documents import Documents, offsets
from klda.text.vocabulary import PLACEHOLDER, Vocabulary


def recoded(corpus: Corpus, vocabulary: Vocabulary) -> Corpus:
    """The corpus with its words numbered as in `vocabulary`; words that it does not know become the placeholder."""
    new_index = np.array([vocabulary.index(word) for word in corpus.vocabulary.words], dtype=np.int32)
    return replace(
        corpus,
        documents=_renumbered(corpus.documents, new_index),
        apart=_renumbered(corpus.apart, new_index),
        vocabulary=vocabulary,
    )


def frequent_vocabulary(corpus: Corpus, min_count: int = 10) -> Vocabulary:
    """The words that occur at least `min_count` times in the documents of the corpus.

    A part of a larger corpus has the words of the whole. A replay must not know them: they come from its future.
    """
    kept = [i for i in np.flatnonzero(_seen(corpus) >= min_count).tolist() if i != 0]
    old = corpus.vocabulary
    return Vocabulary(
        words=(PLACEHOLDER, *(old.words[i] for i in kept)),
        forms=((), *(old.forms[i] for i in kept)),
        form_counts=((), *(old.form_counts[i] for i in kept)),
        language=old.language,
    )


def most_frequent_vocabulary(corpus: Corpus, n_words: int) -> Vocabulary:
    """The `n_words` most frequent words of the documents of the corpus, or all if there are fewer.

    Of equally frequent words, all are in or none.
    """
    seen = np.sort(_seen(corpus))[::-1]
    there_is_room = len(seen) - 1 <= n_words  # the placeholder is no word
    return frequent_vocabulary(corpus, 1 if there_is_room else int(seen[n_words]) + 1)


def _seen(corpus: Corpus) -> NDArray[np.int64]:
    """How often each word occurs in the documents. # (V,)"""
    seen = np.zeros(len(corpus.vocabulary), dtype=np.int64)
    np.add.at(seen, corpus.documents.words, corpus.documents.counts)
    return seen


def _renumbered(documents: Documents, new_index: NDArray[np.int32]) -> Documents:
    rows = np.repeat(np.arange(len(documents)), np.diff(documents.indptr))
    words = new_index[documents.words]
    order = np.lexsort((words, rows))
    rows, words, counts = rows[order], words[order], documents.counts[order]
    first = np.ones(len(words), dtype=bool)
    first[1:] = (words[1:] != words[:-1]) | (rows[1:] != rows[:-1])
    starts = np.flatnonzero(first)
    summed = np.add.reduceat(counts, starts) if len(starts) else counts[:0]
    return replace(
        documents,
        indptr=offsets(np.bincount(rows[starts], minlength=len(documents))),
        words=words[starts],
        counts=summed.astype(np.int32),
    )
