from __future__ import annotations

import numpy as np
import pytest

from klda.advice.evidence import Evidence
from klda.advice.situation import Situation
from klda.advice.word_counts import keyword_tokens, keyword_word_counts, recency, word_counts
from klda.baselines.counting import Counting
from klda.text.corpus import Corpus
from klda.types import silent


def slow_counts(corpus: Corpus, half_life: float | None) -> np.ndarray:
    counts = np.zeros((len(corpus.candidates), len(corpus.vocabulary)))
    documents = corpus.documents
    for d in range(len(corpus)):
        age = corpus.n_windows - 1 - int(documents.window[d])
        weight = 1.0 if half_life is None else 0.5 ** (age / half_life)
        for keyword in corpus.observed[d]:
            for i in range(documents.indptr[d], documents.indptr[d + 1]):
                counts[keyword, documents.words[i]] += weight * documents.counts[i]
    return counts


@pytest.mark.parametrize("half_life", [None, 0.7, 2.0])
def test_counts_are_those_of_a_loop_over_documents(history, half_life):
    some = history.take(np.arange(0, len(history), 5))
    np.testing.assert_allclose(keyword_word_counts(some, half_life), slow_counts(some, half_life), atol=1e-9)
    np.testing.assert_allclose(keyword_tokens(some, half_life), slow_counts(some, half_life).sum(axis=1), atol=1e-9)


def test_words_of_all_documents_count_each_document_once(history):
    documents = history.documents
    expected = np.zeros(len(history.vocabulary))
    np.add.at(expected, documents.words, documents.counts)
    np.testing.assert_allclose(word_counts(history), expected)


def test_the_last_window_counts_fully_and_one_half_life_before_it_half(history):
    weights = recency(history, 2.0)
    window = history.documents.window
    assert set(weights[window == history.n_windows - 1]) == {1.0}
    np.testing.assert_allclose(weights[window == history.n_windows - 3], 0.5)


def test_counting_smooths_towards_the_recent_background(history, current, candidates):
    evidence = Evidence.of(Situation(history=history, current=current, candidates=candidates))
    uniform = np.full(len(history.vocabulary), 1 / len(history.vocabulary))
    policy = Counting(half_life=0.7, smoothing=100.0)
    words = policy.estimate(evidence, uniform, generator=np.random.default_rng(0), progress=silent)
    counts = slow_counts(history, 0.7)
    recent = word_counts(history, 0.7)
    recent = (recent + uniform) / (recent.sum() + 1)
    expected = (counts + 100 * recent) / (counts.sum(axis=1, keepdims=True) + 100)
    np.testing.assert_allclose(words, expected, rtol=1e-9)
    np.testing.assert_allclose(words.sum(axis=1), 1.0)
