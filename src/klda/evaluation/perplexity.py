"""How well models that know earlier windows predict the words of the next one (Table 4 of the paper).

Two scores, both in nats a token, higher is better:

- **log-likelihood**: of whole documents, as sequences of tokens, every token counted, for every model. KLDA's is the
  proper one (`KLDA.log_likelihood`). Where there are several topics it is a lower bound, and the looser the shorter the
  posts: that counts against topic models, not against the unigram.
- **completion**: one half of each document predicts the other. All models predict the same tokens. No such token
  belongs to a candidate, and predictions are among the words that no candidate covers. So it is no advantage to be told
  the keywords of a document.

The yardstick is LDA on the test window itself, cross-fitted: each fold is scored by a model of the other folds. The
paper scores it on the posts it was fitted to, which no model of earlier windows can be held to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from math import isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from klda.advice.word_counts import word_counts
from klda.arrays import Floats
from klda.errors import DataError
from klda.model.bags import Bags, document_of_entry, take
from klda.model.coherence import leading_npmi, leading_words, mean_of_pairs
from klda.model.data import training_data
from klda.model.klda import KLDA
from klda.model.lda import LDA, fit_lda
from klda.model.scores import completion_targets, may_be_hidden
from klda.text.corpus import Corpus
from klda.text.recode import frequent_vocabulary, recoded
from klda.text.text_settings import TextSettings
from klda.types import Progress, silent


@dataclass(frozen=True)
class TopicQuality:
    """Means over topics."""

    npmi: float
    """Normalised pointwise mutual information of pairs of top words in one document; -1 never together, 1 always."""
    c_v: float
    """Cosine between the NPMI vectors of each top word and of all top words together (Röder et al. 2015, one
    document as the window, as fits short posts)."""
    diversity: float
    """Share of distinct words among all topics' top words."""


def topic_quality(topic_word: Floats, documents: Bags, n_top: int = 10) -> TopicQuality:
    """The quality of topics, judged by how their top words occur together in these documents.

    `topic_word` is (K, V), with the place that rare words share first, which is no top word; documents are the
    reference, best ones that the topics were not fitted on.
    """
    leading = leading_words(topic_word, n_top)  # (K, n_top)
    together = leading_npmi(leading, documents, topic_word.shape[1])
    return TopicQuality(
        npmi=float(np.mean([mean_of_pairs(npmi) for npmi in together])),
        c_v=float(np.mean([_mean_cosine_to_sum(npmi) for npmi in together])),
        diversity=len(np.unique(leading)) / max(leading.size, 1),
    )


def _mean_cosine_to_sum(vectors: Floats) -> float:
    """The mean cosine between each row and the sum of all rows."""
    total = vectors.sum(axis=0)
    norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(total)
    cosines = np.divide(vectors @ total, norms, out=np.zeros(len(vectors)), where=norms > 0)
    return float(cosines.mean()) if len(cosines) else 0.0


UNTRAINED, UNIGRAM, EARLIER, LAST, SAME = MODELS = ("untrained", "unigram", "klda", "lda-last", "lda-same")
"""KLDA as it starts; word frequencies, KLDA and LDA of earlier windows; LDA of the test window, cross-fitted."""
SCORES = ("log_likelihood", "completion")
LEAST_GAP = 1e-6
"""Smallest gap, in nats a token, between the unigram and the LDA of the same window for a share of it to be defined."""
MOST_SCORED = 2000
"""Most documents of the test window that are scored; models of that window train on all of it."""


@dataclass(frozen=True)
class Fit:
    """How well a model predicts the test window, in nats a token."""

    log_likelihood: float
    completion: float


@dataclass(frozen=True)
class Perplexity:
    """The study of one case."""

    models: Mapping[str, Fit]
    """By name, those of `MODELS`."""
    gap_closed: Fit
    """Where KLDA stands between the unigram (0) and the same-window LDA (1)."""
    topics: Mapping[str, TopicQuality]
    """Of KLDA and of the last window's LDA, judged on the test window."""
    printed: Mapping[str, float] = field(default_factory=dict)
    """The paper's own numbers, if they were asked for: the bound a token of KLDA as it starts and as it is trained,
    and of LDA of the test window on the documents that it was fitted to."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data; None where a share of the gap is not defined."""
        closed = {score: None if isnan(share) else share for score, share in asdict(self.gap_closed).items()}
        return asdict(self) | {"gap_closed": closed}


def measure_perplexity(
    history: Corpus,
    test: Corpus,
    *,
    seed: int,
    n_topics: int = 5,
    folds: int = 5,
    settings: Mapping[str, Any] | None = None,
    recipe: Callable[..., KLDA] = KLDA,
    min_count: int | None = None,
    printed: bool = False,
    progress: Progress = silent,
) -> Perplexity:
    """The scores of all models on a test window that shares the history's vocabulary and candidates.

    `settings` are those of the `recipe`, `KLDA` or `KLDA.paper`, in place of its defaults. Models learn the words that
    occur `min_count` times in the history, by default those that a corpus made for training keeps. `printed` asks for
    the paper's own numbers too.
    """
    if len(test) < folds:
        raise DataError(f"the test window has {len(test)} documents, too few for {folds} folds; take another window")
    known = frequent_vocabulary(history, min_count or TextSettings().min_count)
    history, test, n_words = recoded(history, known), recoded(test, known), len(known)
    shared = {"n_topics": n_topics} | dict(settings or {}) | {"random_state": seed}
    n_topics = shared["n_topics"]
    start = shared | {"unigram_bias": False, "pretraining_iterations": 0, "max_iterations": 0}
    untrained = recipe(**start).fit(history)
    trained = recipe(**shared).fit(history, progress=progress)
    last = fit_lda(history.window(-1).documents, n_words, n_topics, seed=seed)

    chosen = np.sort(np.random.default_rng(seed).permutation(len(test))[:MOST_SCORED])
    scored = test.take(chosen)
    task = PerplexityTask.of(scored, seed)
    models = {
        UNTRAINED: _klda_fit(untrained, scored, seed),
        UNIGRAM: _mean_fit([(unigram(history), task)]),
        EARLIER: _klda_fit(trained, scored, seed),
        LAST: _mean_fit([(last, task)]),
        SAME: cross_fitted(task, test.documents, chosen, n_words, n_topics, folds=folds, seed=seed),
    }
    return Perplexity(
        models,
        Fit(*(gap_closed(*(getattr(models[m], score) for m in (EARLIER, UNIGRAM, SAME))) for score in SCORES)),
        {
            EARLIER: topic_quality(trained.topic_word().astype(np.float64), test.documents),
            LAST: topic_quality(last.topic_word, test.documents),
        },
        _printed(untrained, trained, test, scored, n_words, n_topics, seed) if printed else {},
    )


def _printed(
    untrained: KLDA, trained: KLDA, test: Corpus, scored: Corpus, n_words: int, n_topics: int, seed: int
) -> dict[str, float]:
    """The paper's own numbers. They do not compare: LDA is scored on its own training data, and KLDA adds log p_kw."""
    same = fit_lda(test.documents, n_words, n_topics, seed=seed)
    in_sample = float(same.log_likelihood(scored.documents).sum() / scored.documents.counts.sum())
    return {SAME: in_sample, EARLIER: trained.bound(scored), UNTRAINED: untrained.bound(scored)}


def gap_closed(model: float, unigram: float, same: float) -> float:
    """Where a model stands between the unigram (0) and the same-window LDA (1); NaN if LDA is not better.

    >>> round(gap_closed(model=-6.5, unigram=-7.0, same=-6.0), 2)
    0.5
    """
    return (model - unigram) / (same - unigram) if same - unigram > LEAST_GAP else nan


def unigram(history: Corpus) -> LDA:
    """The word frequencies of a history as a model of one topic; every word counts once more than it occurs."""
    counts = word_counts(history) + 1.0
    return LDA((counts / counts.sum())[None, :], np.ones(1))


@dataclass(frozen=True)
class PerplexityTask:
    """Documents to score, and the tokens that completion hides."""

    documents: Bags
    target: Floats  # (nnz,)
    """How many tokens of each entry are hidden."""
    possible: NDArray[np.bool_]  # (V,)
    """Words that may be hidden."""

    @classmethod
    def of(cls, test: Corpus, seed: int) -> PerplexityTask:
        """The test window; the same seed hides the same tokens as `KLDA.completion` does."""
        data = training_data(test)
        return cls(test.documents, completion_targets(data, np.random.default_rng(seed)), may_be_hidden(data))

    def take(self, inside: NDArray[np.bool_]) -> PerplexityTask:
        """Some of the documents. # (D,)"""
        entries = inside[document_of_entry(self.documents)]
        return replace(self, documents=take(self.documents, np.flatnonzero(inside)), target=self.target[entries])


def cross_fitted(
    task: PerplexityTask, window: Bags, chosen: NDArray[np.int64], n_words: int, n_topics: int, *, folds: int, seed: int
) -> Fit:
    """The scores of a window's `chosen` documents, the task, each fold under LDA of the window's other folds.

    Copies of a text are in one fold: otherwise a repost would be predicted by a model that has read it.
    """
    text = distinct_texts(window)  # (D,)
    fold_of = np.random.default_rng(seed).permutation(np.arange(text.max() + 1) % folds)[text]  # (D,)
    parts = []
    for fold in np.unique(fold_of[chosen]).tolist():
        others = take(window, np.flatnonzero(fold_of != fold))
        parts.append((fit_lda(others, n_words, n_topics, seed=seed), task.take(fold_of[chosen] == fold)))
    return _mean_fit(parts)


def distinct_texts(documents: Bags) -> NDArray[np.int64]:
    """The number of each document's text; documents of the same words have the same. # (D,)

    >>> from klda.model.bags import TokenBags
    >>> distinct_texts(TokenBags.of([[3, 1], [2], [1, 3]])).tolist()
    [0, 1, 0]
    """
    numbers: dict[bytes, int] = {}
    found = []
    for start, end in pairwise(documents.indptr.tolist()):
        order = np.argsort(documents.words[start:end])
        key = np.stack([documents.words[start:end][order], documents.counts[start:end][order]]).tobytes()
        found.append(numbers.setdefault(key, len(numbers)))
    return np.array(found, dtype=np.int64)


def _mean_fit(parts: Sequence[tuple[LDA, PerplexityTask]]) -> Fit:
    """The scores a token of several tasks together, each under its own model."""
    likelihood = sum(float(model.log_likelihood(task.documents).sum()) for model, task in parts)
    completion = sum(float(model.completion(task.documents, task.target, task.possible).sum()) for model, task in parts)
    n_tokens = sum(float(task.documents.counts.sum()) for _, task in parts)
    n_hidden = sum(float(task.target.sum()) for _, task in parts)
    if not n_hidden:
        raise DataError("no token of the test window is left to predict: every one belongs to a candidate")
    return Fit(likelihood / n_tokens, completion / n_hidden)


def _klda_fit(model: KLDA, test: Corpus, seed: int) -> Fit:
    return Fit(model.log_likelihood(test), model.completion(test, random_state=seed))
