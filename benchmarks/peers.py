"""LDA of other libraries, each on one thread with its own defaults, scored by the same inference."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from klda.model.data import TrainingData
from klda.model.lda import LDA, fit_lda

Floats = NDArray[np.float64]


def scores(
    training: TrainingData, held_out: TrainingData, target: Floats, *, n_topics: int, clock: Callable[[], float]
) -> dict[str, tuple[float, float]]:
    """Seconds to fit, and log predictive probability a target token, of every library that is installed."""
    fits: dict[str, Callable[[TrainingData, int], LDA]] = {"tomotopy": _tomotopy, "scikit-learn": _sklearn}
    if find_spec("gensim"):
        fits["gensim"] = _gensim
    found = {}
    for name, fit in fits.items():
        start = clock()
        model = fit(training, n_topics)
        seconds = clock() - start
        found[name] = (seconds, model.completion_score(held_out, target))
    return found


def _tomotopy(data: TrainingData, n_topics: int) -> LDA:
    return fit_lda(data, data.n_words, n_topics, seed=0)


def _sklearn(data: TrainingData, n_topics: int) -> LDA:
    from sklearn.decomposition import LatentDirichletAllocation

    counts = csr_matrix((data.counts, data.words, data.indptr), shape=(len(data), data.n_words))
    model = LatentDirichletAllocation(n_topics, learning_method="online", random_state=0, n_jobs=1).fit(counts)
    weight = model.components_
    return LDA(weight / weight.sum(1, keepdims=True), np.full(n_topics, float(model.doc_topic_prior_)))


def _gensim(data: TrainingData, n_topics: int) -> LDA:
    from gensim.models import LdaModel

    documents = [
        list(zip(data.words[a:b].tolist(), data.counts[a:b].tolist(), strict=True))
        for a, b in zip(data.indptr[:-1], data.indptr[1:], strict=True)
    ]
    names = {word: str(word) for word in range(data.n_words)}
    model = LdaModel(documents, num_topics=n_topics, id2word=names, random_state=0, passes=2)
    topics = model.get_topics().astype(np.float64)
    return LDA(topics / topics.sum(1, keepdims=True), model.alpha.astype(np.float64))
