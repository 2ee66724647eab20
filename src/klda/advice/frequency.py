"""How many documents carry a keyword, every keyword of a set, or any keyword of a set.

Documents are given by the keywords observed in each, end to end: `ids[indptr[d]:indptr[d + 1]]` are the keywords of
document d, each once.
"""

from __future__ import annotations

import numpy as np

from klda.arrays import Bools, Floats, Ints
from klda.errors import DataError


def document_counts(ids: Ints, n_keywords: int) -> Ints:
    """How many documents carry each keyword. # (Q,)

    >>> document_counts(np.array([0, 1, 1]), n_keywords=3)
    array([1, 2, 0])
    """
    return np.bincount(ids, minlength=n_keywords)


def frequencies(indptr: Ints, ids: Ints, n_keywords: int) -> Floats:
    """freq({w}) of every keyword: the share of documents that carry it. # (Q,)

    >>> frequencies(np.array([0, 2, 3, 3, 3]), np.array([0, 1, 1]), n_keywords=3)
    array([0.25, 0.5 , 0.  ])
    """
    return document_counts(ids, n_keywords) / _n_documents(indptr)


def frequency(indptr: Ints, ids: Ints, keywords: Ints) -> float:
    """freq(S): the share of documents that carry every keyword in S.

    >>> frequency(np.array([0, 2, 3, 3, 3]), np.array([0, 1, 1]), np.array([0, 1]))
    0.25
    """
    wanted = np.unique(keywords)
    found = np.bincount(_documents(indptr)[np.isin(ids, wanted)], minlength=len(indptr) - 1)  # (D,)
    return float((found == len(wanted)).sum() / _n_documents(indptr))


def carrying_any(indptr: Ints, ids: Ints, keywords: Ints) -> Bools:
    """Which documents carry at least one of the keywords. # (D,)

    >>> carrying_any(np.array([0, 2, 3, 3]), np.array([0, 1, 1]), np.array([0, 2]))
    array([ True, False, False])
    """
    carried = np.zeros(len(indptr) - 1, dtype=np.bool_)
    carried[_documents(indptr)[np.isin(ids, keywords)]] = True
    return carried


def window_counts(indptr: Ints, ids: Ints, window: Ints, n_windows: int, n_keywords: int) -> Ints:
    """How many documents of each window carry each keyword; `window` (D,) numbers the window of a document. # (Q, T)

    >>> window_counts(np.array([0, 2, 3]), np.array([0, 1, 1]), np.array([0, 1]), n_windows=2, n_keywords=2)
    array([[1, 0],
           [1, 1]])
    """
    cell = ids.astype(np.int64) * n_windows + window[_documents(indptr)]
    return np.bincount(cell, minlength=n_keywords * n_windows).reshape(n_keywords, n_windows)


def union_window_counts(indptr: Ints, ids: Ints, window: Ints, n_windows: int, keywords: Ints) -> Ints:
    """How many documents of each window carry at least one of the keywords: the volume of a list over time. # (T,)

    >>> union_window_counts(np.array([0, 2, 3]), np.array([0, 1, 1]), np.array([0, 1]), 2, np.array([0, 1]))
    array([1, 1])
    """
    return np.bincount(window[carrying_any(indptr, ids, keywords)], minlength=n_windows)


def _documents(indptr: Ints) -> Ints:
    """The document of each entry of `ids`."""
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))


def _n_documents(indptr: Ints) -> int:
    if len(indptr) < 2:
        raise DataError("there are no posts to count keywords in; give posts that carry a keyword")
    return len(indptr) - 1
