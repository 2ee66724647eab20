"""What a list will bring, before it collects: words that KLDA expects of each keyword, as prior for recent counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from klda.advice.word_counts import keyword_word_counts, recency, word_counts
from klda.corpus.corpus import Corpus
from klda.corpus.recode import most_frequent_vocabulary, recoded
from klda.errors import DataError, TrainingError
from klda.selection.arrays import Floats
from klda.selection.word_distribution import from_counts
from klda.types import Progress, silent

if TYPE_CHECKING:
    from klda.model.klda import KLDA

Fit = Callable[["KLDA", Corpus, Progress], "KLDA"]

MOST_DOCUMENTS = 2000
"""Recent documents from which the weight of topics is learnt."""
ATTEMPTS, SMALLER_STEP = 3, 0.25
"""Training that diverges begins anew with a quarter of the step, at most so often."""
SETS_PER_KEYWORD = 12
"""Keyword sets over which the words of a keyword are averaged."""
HALF_LIFE = 0.5
"""Windows after which a post counts half; the model forgets at half that pace."""
STRENGTH = 300.0
"""Tokens that the model's words count beside those of recent posts: a rare keyword borrows strength."""


def train_model(
    history: Corpus,
    *,
    n_topics: int,
    iterations: int,
    n_words: int,
    seed: int,
    fit: Fit | None = None,
    progress: Progress = silent,
) -> KLDA:
    """A model of the history, which tells the most frequent words apart; `fit` trains it elsewhere, on Ray say."""
    from klda.model.klda import KLDA  # brings torch

    corpus = recoded(history, most_frequent_vocabulary(history, n_words))
    for attempt in range(ATTEMPTS):
        model = KLDA(
            n_topics=n_topics,
            pretraining_iterations=iterations,
            max_iterations=0,
            half_life=2 * HALF_LIFE,
            random_state=seed,
        )
        model.set_params(learning_rate=model.learning_rate * SMALLER_STEP**attempt)
        try:
            return model.fit(corpus, progress=progress) if fit is None else fit(model, corpus, progress)
        except TrainingError:
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("every attempt returns or raises")


def predicted_words(model: KLDA, history: Corpus, generator: np.random.Generator) -> Floats:
    """The words that posts with each candidate will have: recent counts, with the model as prior. # (Q, V)"""
    background = word_counts(history) + 1.0
    background /= background.sum()
    counts = keyword_word_counts(history, HALF_LIFE)
    prior = expected_words(model, history, counts, background, generator)
    from_counts(prior, background, 1.0, out=prior)
    return from_counts(counts, prior, STRENGTH, out=counts)


def expected_words(
    model: KLDA, history: Corpus, counts: Floats, background: Floats, generator: np.random.Generator
) -> Floats:
    """Tokens that the model expects from posts with each keyword, as many as were counted (Q, V). # (Q, V)

    The model explains the words that are not keywords; those that are come from the counts themselves. What it does
    not tell apart, rare words and candidates it was not trained on, is as in the background (V,).
    """
    words = np.array([history.vocabulary.index(word) for word in model.vocabulary_.words])  # (words of the model,)
    if (words[1:] == 0).any():
        raise DataError(
            "the model has another vocabulary than the posts; prepare them with vocabulary=model.vocabulary_"
        )
    rare = np.ones(len(history.vocabulary), dtype=np.bool_)
    rare[words[1:]] = False
    known = history if model.candidates_ == history.candidates else history.with_candidates(model.candidates_)
    averaged = _averaged(model, recoded(known, model.vocabulary_), generator)  # (Q of the model, words of the model)
    modelled = np.tile(background, (len(history.candidates), 1))
    for row, keyword in enumerate(model.candidates_):
        if keyword in history.candidates:
            column = history.candidates.index(keyword)
            modelled[column, rare] *= averaged[row, 0] / background[rare].sum()
            modelled[column, words[1:]] = averaged[row, 1:]

    is_keyword = np.zeros(len(history.vocabulary), dtype=np.bool_)
    is_keyword[history.keyword_words.values] = True
    rest = counts @ (~is_keyword).astype(np.float64)  # (Q,) tokens for the model to explain
    modelled[:, is_keyword] = 0.0
    modelled *= (rest / np.maximum(modelled.sum(axis=1), np.finfo(np.float64).tiny))[:, None]  # nothing left: nothing
    modelled[:, is_keyword] = counts[:, is_keyword]
    return modelled


def _averaged(model: KLDA, history: Corpus, generator: np.random.Generator) -> Floats:
    """The model's words for each keyword, over keyword sets that it occurred with, recent ones more likely. # (Q, V)"""
    observed, weight = history.observed, recency(history, 1.0)
    by_keyword = np.argsort(observed.values, kind="stable")
    edges = np.searchsorted(observed.values[by_keyword], np.arange(len(history.candidates) + 1))
    documents = observed.rows[by_keyword]
    uses: dict[tuple[int, ...], Counter[int]] = {}  # how often each keyword is averaged over each set
    for column in range(len(history.candidates)):
        mine = documents[edges[column] : edges[column + 1]]
        sets = [(column,)] * SETS_PER_KEYWORD
        if len(mine):
            chance = weight[mine] / weight[mine].sum()
            sets = [tuple(observed[int(d)].tolist()) for d in generator.choice(mine, SETS_PER_KEYWORD, p=chance)]
        for keywords in sets:
            uses.setdefault(keywords, Counter())[column] += 1
    shares = _topic_shares(model, history)  # (Q, K)
    shares /= shares.sum(axis=1, keepdims=True)
    result = np.zeros((len(history.candidates), len(history.vocabulary)))
    matrices = model.topic_words([[history.candidates[k] for k in keywords] for keywords in uses])
    for matrix, columns in zip(matrices, uses.values(), strict=True):
        rows = list(columns)
        part = shares[rows] * (np.array(list(columns.values())) / SETS_PER_KEYWORD)[:, None]  # (users, K)
        result[rows] += part @ matrix.astype(np.float64)
    return result


def _topic_shares(model: KLDA, history: Corpus) -> Floats:
    """How much of the recent posts with each keyword each topic makes up; even for a keyword without any. # (Q, K)"""
    recent = history.take(slice(max(0, len(history) - MOST_DOCUMENTS), None))
    weights = model.transform(recent)  # (D, K)
    shares = np.full((len(history.candidates), weights.shape[1]), 1e-3)
    np.add.at(shares, recent.observed.values, weights[recent.observed.rows])
    return shares
