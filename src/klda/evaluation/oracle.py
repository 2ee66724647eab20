"""References that cheat: keyword lists chosen with the labels of the whole stream.

They bound what any policy can reach in a closed loop. Words are added one by one, each time the one that most raises
the F1 of "carries a word of the list" against "is on topic".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from klda.evaluation.archive import Archive
from klda.types import Keyword, KeywordSet

MIN_POSTS = 3
"""A word in fewer posts of the window is not considered."""


def best_keywords(archive: Archive, window: int, labels: frozenset[str], max_terms: int) -> KeywordSet:
    """The list, of at most so many terms, that greedily best separates on-topic posts in one window."""
    inside = archive.positions(window)
    documents = archive.documents.take(inside)
    relevant = np.isin(archive.labels[inside], list(labels))  # (D,)
    shape = (len(inside), len(archive.corpus.vocabulary))
    present = csr_array((np.ones(len(documents.words)), documents.words, documents.indptr), shape=shape).tocsc()
    total = np.diff(present.indptr)
    useful = np.asarray(relevant.astype(np.float64) @ present).ravel()
    words = np.flatnonzero((useful >= MIN_POSTS) & (total > 0))
    words = words[words != 0]  # the placeholder is no word
    columns = {int(w): present.indices[present.indptr[w] : present.indptr[w + 1]] for w in words}
    caught = np.zeros(len(inside), dtype=bool)
    chosen: list[Keyword] = []
    best = 0.0
    while columns:
        gains = {word: _f1(caught, rows, relevant) for word, rows in columns.items()}
        word = max(gains, key=lambda w: (gains[w], -w))
        keyword = archive.corpus.vocabulary.keyword(word)
        terms = sum(len(k.forms) for k in chosen) + len(keyword.forms)
        rows = columns.pop(word)
        if gains[word] <= best:
            break
        if terms > max_terms:
            continue
        best = gains[word]
        caught[rows] = True
        chosen.append(keyword)
    return KeywordSet(tuple(chosen))


def _f1(caught: NDArray[np.bool_], rows: NDArray[np.int32], relevant: NDArray[np.bool_]) -> float:
    """F1 of the list with one more word, which is carried by `rows`."""
    new = rows[~caught[rows]]
    hits = np.count_nonzero(relevant & caught) + np.count_nonzero(relevant[new])
    size = np.count_nonzero(caught) + len(new)
    return float(2 * hits / (size + np.count_nonzero(relevant)))
