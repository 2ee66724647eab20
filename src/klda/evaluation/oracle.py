"""References that cheat: keyword lists chosen with the labels of the whole stream.

They say what a list could reach in a closed loop. `best_keywords` adds words one by one, each time the one that most
raises the F1 of "carries a word of the list" against "is on topic"; `best_single_keywords` takes the words that have
the best F1 each by itself, as an informed user without a computer would. The first is the stronger by far.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from klda.evaluation.archive import Archive
from klda.types import Keyword, KeywordSet

MIN_POSTS = 3
"""A word in fewer on-topic posts of the window is not considered."""


def best_keywords(archive: Archive, window: int, labels: frozenset[str], max_terms: int) -> KeywordSet:
    """The list of at most `max_terms` terms that separates on-topic posts best, chosen greedily, in one window."""
    columns, relevant = _words(archive, window, labels)
    caught = np.zeros(len(relevant), dtype=bool)
    chosen: list[Keyword] = []
    best = 0.0
    while columns:
        gains = {word: _f1(caught, rows, relevant) for word, rows in columns.items()}
        word = max(gains, key=lambda w: (gains[w], -w))
        rows = columns.pop(word)
        if gains[word] <= best:
            break
        keyword = archive.corpus.vocabulary.keyword(word)
        if _terms([*chosen, keyword]) > max_terms:
            continue
        best = gains[word]
        caught[rows] = True
        chosen.append(keyword)
    return KeywordSet(tuple(chosen))


def best_single_keywords(archive: Archive, window: int, labels: frozenset[str], max_terms: int) -> KeywordSet:
    """The words that separate on-topic posts in one window best, each by itself, as many as there are terms."""
    columns, relevant = _words(archive, window, labels)
    alone = np.zeros(len(relevant), dtype=bool)
    f1 = {word: _f1(alone, rows, relevant) for word, rows in columns.items()}
    chosen: list[Keyword] = []
    for word in sorted(f1, key=lambda w: (-f1[w], w)):
        keyword = archive.corpus.vocabulary.keyword(word)
        if _terms([*chosen, keyword]) <= max_terms:
            chosen.append(keyword)
    return KeywordSet(tuple(chosen))


def _words(
    archive: Archive, window: int, labels: frozenset[str]
) -> tuple[dict[int, NDArray[np.int32]], NDArray[np.bool_]]:
    """The posts of a window that carry each word worth a look, and which of its posts are on topic."""
    inside = archive.positions(window)
    documents = archive.documents.take(inside)
    relevant = archive.labelled(inside, labels)  # (D,)
    shape = (len(inside), len(archive.corpus.vocabulary))
    present = csr_array((np.ones(len(documents.words)), documents.words, documents.indptr), shape=shape).tocsc()
    useful = np.asarray(relevant.astype(np.float64) @ present).ravel()
    words = np.flatnonzero(useful >= MIN_POSTS)
    words = words[words != 0]  # the placeholder is no word
    return {int(w): present.indices[present.indptr[w] : present.indptr[w + 1]] for w in words}, relevant


def _terms(keywords: Iterable[Keyword]) -> int:
    return sum(len(keyword.forms) for keyword in keywords)


def _f1(caught: NDArray[np.bool_], rows: NDArray[np.int32], relevant: NDArray[np.bool_]) -> float:
    """F1 of the list with one more word, which is carried by `rows`."""
    new = rows[~caught[rows]]
    hits = np.count_nonzero(relevant & caught) + np.count_nonzero(relevant[new])
    size = np.count_nonzero(caught) + len(new)
    return float(2 * hits / (size + np.count_nonzero(relevant)))
