"""A reference after KeySelect: words by the company they keep, each accepted or rejected by labels.

KeySelect grows a list with a person's answers. It asks about the word that shares most posts with accepted words, less
those with rejected ones. Here labels answer: a word is accepted if it raises the list's F1.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from klda.arrays import Ints
from klda.baselines.incidence import words_in
from klda.evaluation.archive import Archive
from klda.evaluation.oracle import MIN_POSTS, f1_with, n_terms
from klda.evaluation.subjects import Subject
from klda.types import Keyword, KeywordSet

QUESTIONS = 210
"""Most words that are asked about in a week: 30 a day, the most that a person answered in the original."""


def keyselect_keywords(
    archive: Archive, window: int, subject: Subject, max_terms: int, n_questions: int = QUESTIONS
) -> KeywordSet:
    """The words that labels of one window accept, at most `max_terms` terms; those of the first list are asked first.

    A question is one word. Where scores are equal, the word of more posts is asked about first.
    """
    inside = archive.positions(window)
    relevant = archive.labelled(inside, subject.labels)  # (D,)
    vocabulary = archive.corpus.vocabulary
    present = words_in(archive.documents.take(inside), len(vocabulary)).tocsc()
    posts = np.asarray(present.sum(axis=0))  # (V,)
    company = np.zeros(len(inside))  # (D,)  accepted words that each post has, less the rejected ones
    caught = np.zeros(len(inside), dtype=np.bool_)
    accepted: list[Keyword] = []
    best = 0.0

    def questions() -> Iterator[tuple[Keyword, Ints]]:
        """Keywords with their posts, the next one chosen when the last was answered."""
        for keyword in subject.keywords.included:
            yield keyword, np.searchsorted(inside, archive.collect(window, KeywordSet((keyword,))))
        left = np.flatnonzero(posts >= MIN_POSTS)
        while len(left):
            word = int(left[np.lexsort((-posts[left], -(company @ present[:, left])))[0]])
            left = left[left != word]
            yield vocabulary.keyword(word), present.indices[present.indptr[word] : present.indptr[word + 1]]

    fitting = ((keyword, rows) for keyword, rows in questions() if n_terms([*accepted, keyword]) <= max_terms)
    for keyword, rows in islice(fitting, n_questions):
        f1 = f1_with(caught, rows, relevant)
        company[rows] += 1 if f1 > best else -1
        if f1 > best:
            best = f1
            caught[rows] = True
            accepted.append(keyword)
        if n_terms(accepted) >= max_terms:
            break
    return KeywordSet(tuple(accepted))
