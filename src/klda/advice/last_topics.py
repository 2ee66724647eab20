"""Topics of the last window's posts, so that lists can be compared by how much of each topic they bring."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from klda.advice.choices import Choices, Topics
from klda.advice.volume import patterns
from klda.corpus.corpus import Corpus
from klda.model.coherence import leading_words
from klda.model.lda import fit_lda
from klda.selection.arrays import Floats, Ints

N_TOPICS = 5
N_WORDS = 8
MOST_POSTS = 4_000
"""Posts that the topics are learnt from, evenly spread where there are more: enough for a handful of topics."""
FEWEST_POSTS = 20


def with_topics(choices: Choices, history: Corpus, *, seed: int = 0) -> Choices:
    """The choices with the topics of the last window; `history` is what `choices.seen` was counted from.

    Without topics where posts are few. Words of current keywords are left out: every post has them.
    """
    inside = np.flatnonzero(history.documents.window == history.n_windows - 1)
    if len(inside) < FEWEST_POSTS:
        return choices
    chosen = inside[np.linspace(0, len(inside) - 1, min(MOST_POSTS, len(inside))).astype(np.int64)]
    documents = history.documents.take(chosen)
    model = fit_lda(documents, len(history.vocabulary), N_TOPICS, seed=seed, iterations=100)
    sums = np.zeros((len(choices.seen.posts), N_TOPICS))
    counts = np.zeros(len(choices.seen.posts))
    at = patterns(history.observed)[0][chosen]
    np.add.at(sums, at, model.infer(documents))
    np.add.at(counts, at, 1.0)
    shares = sums / np.maximum(counts, 1.0)[:, None]
    return replace(choices, topics=Topics(_words(model.topic_word, history, choices.current), shares))


def _words(topic_word: Floats, history: Corpus, current: Ints) -> tuple[tuple[str, ...], ...]:
    """The first words of each topic: those that it has often, and more often than the topics together."""
    shown = topic_word * np.log(topic_word / topic_word.mean(axis=0))  # (K, V)
    for column in current.tolist():
        shown[:, history.keyword_words[column]] = 0.0
    leading = leading_words(shown, N_WORDS)
    return tuple(tuple(history.vocabulary.display(int(word)) for word in row) for row in leading)
