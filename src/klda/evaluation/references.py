"""References that see labels, by name. They are no policies, and their names say so."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from klda.evaluation.active_learning import keywords_by_labels
from klda.evaluation.archive import Archive
from klda.evaluation.keyselect import keyselect_keywords
from klda.evaluation.oracle import best_keywords, best_single_keywords
from klda.evaluation.subjects import Subject
from klda.types import KeywordSet

Choice = Callable[[Archive, int, Subject, int, np.random.Generator], KeywordSet]
"""Chooses a list by the labels of one window; the number is the most terms that it may have."""
BOUGHT = (50, 200, 1_000)
"""Labels that an active-learning classifier buys."""


def _buying(n_labels: int) -> Choice:
    return lambda archive, window, subject, max_terms, generator: keywords_by_labels(
        archive, window, subject, max_terms, generator, n_labels=n_labels
    )


LAST_WEEK: dict[str, Choice] = {
    "labels-last-week": lambda archive, window, subject, n, _: best_keywords(archive, window, subject.labels, n),
    "labels-keyselect": lambda archive, window, subject, n, _: keyselect_keywords(archive, window, subject, n),
    **{f"labels-{n_labels}": _buying(n_labels) for n_labels in BOUGHT},
}
"""Lists by the labels of the last week known."""
NEXT_WEEK: dict[str, Choice] = {
    "labels-next-week": lambda archive, window, subject, n, _: best_keywords(archive, window, subject.labels, n),
    "labels-next-week-singly": lambda archive, window, subject, n, _: best_single_keywords(
        archive, window, subject.labels, n
    ),
}
"""Lists by the labels of the week to come."""
RETRIEVAL = "labels-retrieval"
"""Posts rather than a list; see `retrieval`."""
ORACLES = (*LAST_WEEK, *NEXT_WEEK, RETRIEVAL)
"""All of them."""
