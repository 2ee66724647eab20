"""References that cheat: keyword lists chosen with the labels of the whole stream.

They say what a list could reach in a closed loop. `best_keywords` adds words one by one, each time the one that most
raises the F1 of "carries a word of the list" against "is on topic"; `best_single_keywords` takes the words that have
the best F1 each by itself, as an informed user without a computer would. The first is the stronger by far.
`best_keywords_for` makes the same choice by any other answers, such as those of a classifier.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from klda.arrays import Bools, Ints
from klda.baselines.incidence import words_in
from klda.evaluation.archive import Archive
from klda.text.documents import Words
from klda.types import Keyword, KeywordSet

MIN_POSTS = 3
"""A word in fewer on-topic posts of the window is not considered."""


def best_keywords(archive: Archive, window: int, labels: frozenset[str], max_terms: int) -> KeywordSet:
    """The list of at most `max_terms` terms that separates on-topic posts best, chosen greedily, in one window."""
    relevant = archive.labelled(archive.positions(window), labels)
    return best_keywords_for(archive, window, relevant, max_terms)


def best_keywords_for(archive: Archive, window: int, relevant: Bools, max_terms: int) -> KeywordSet:
    """The same by other answers than labels: which of the window's posts are taken to be on topic. # relevant (D,)"""
    columns = carriers(archive, window, relevant)
    caught = np.zeros(len(relevant), dtype=np.bool_)
    chosen: list[Keyword] = []
    best = 0.0
    while columns:
        gains = {word: f1_with(caught, rows, relevant) for word, rows in columns.items()}
        word = max(gains, key=lambda w: (gains[w], -w))
        rows = columns.pop(word)
        if gains[word] <= best:
            break
        keyword = archive.corpus.vocabulary.keyword(word)
        if n_terms([*chosen, keyword]) > max_terms:
            continue
        best = gains[word]
        caught[rows] = True
        chosen.append(keyword)
    return KeywordSet(tuple(chosen))


def best_single_keywords(archive: Archive, window: int, labels: frozenset[str], max_terms: int) -> KeywordSet:
    """The words that separate on-topic posts in one window best, each by itself, as many as there are terms."""
    relevant = archive.labelled(archive.positions(window), labels)
    alone = np.zeros(len(relevant), dtype=np.bool_)
    f1 = {word: f1_with(alone, rows, relevant) for word, rows in carriers(archive, window, relevant).items()}
    chosen: list[Keyword] = []
    for word in sorted(f1, key=lambda w: (-f1[w], w)):
        keyword = archive.corpus.vocabulary.keyword(word)
        if n_terms([*chosen, keyword]) <= max_terms:
            chosen.append(keyword)
    return KeywordSet(tuple(chosen))


def carriers(archive: Archive, window: int, relevant: Bools) -> dict[int, Words]:
    """The posts of a window that carry each word worth a look: one in `MIN_POSTS` on-topic posts."""
    present = words_in(archive.documents.take(archive.positions(window)), len(archive.corpus.vocabulary)).tocsc()
    useful = np.asarray(relevant.astype(np.float64) @ present).ravel()
    words = np.flatnonzero(useful >= MIN_POSTS)
    return {int(w): present.indices[present.indptr[w] : present.indptr[w + 1]] for w in words}


def n_terms(keywords: Iterable[Keyword]) -> int:
    """How many terms these keywords take."""
    return sum(len(keyword.forms) for keyword in keywords)


def f1_with(caught: Bools, rows: Words | Ints, relevant: Bools) -> float:
    """F1 of the list with one more word, which is carried by `rows`."""
    new = rows[~caught[rows]]
    hits = np.count_nonzero(relevant & caught) + np.count_nonzero(relevant[new])
    size = np.count_nonzero(caught) + len(new)
    return float(2 * hits / (size + np.count_nonzero(relevant)))
