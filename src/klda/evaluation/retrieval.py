"""A reference beyond keywords: the posts that mean most nearly what the subject's posts mean.

No keyword list collects them. They show what another kind of filter brings in as many posts as the best list.
"""

from __future__ import annotations

import numpy as np

from klda.arrays import Ints
from klda.errors import DataError
from klda.evaluation.archive import Archive, unit_rows
from klda.evaluation.oracle import best_keywords
from klda.evaluation.subjects import Subject


def retrieved(archive: Archive, window: int, subject: Subject, max_terms: int) -> Ints:
    """The posts of a window nearest to the subject, as many as its best list of `max_terms` terms collects.

    The subject's direction is the mean of its posts in the window before, by their labels. Posts are compared with it
    by the cosine of their vectors, less what all posts of the window before have in common.
    """
    before = archive.meaning(archive.positions(window - 1))
    example = archive.meaning(archive.on_topic(subject.labels, window - 1))
    inside = archive.positions(window)
    posts = archive.meaning(inside)
    if before is None or example is None or posts is None:
        raise DataError(f"there are no word vectors for the language {archive.corpus.vocabulary.language!r}")
    if not example.any():
        raise DataError(f"subject {subject.name}: no post of {archive.corpus.windows[window - 1]} tells what it means")
    usual = before.mean(axis=0)
    best = best_keywords(archive, window, subject.labels, max_terms)
    volume = len(archive.collect(window, best)) if best else 0
    cosine = unit_rows(posts - usual) @ unit_rows(example - usual).mean(axis=0)
    return np.sort(inside[np.argsort(-cosine, kind="stable")[:volume]])
