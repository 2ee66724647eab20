"""Small training data and corpora for the tests of the model, made without text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import torch

from klda.model.data import TrainingData
from klda.model.model_settings import ModelSettings
from klda.model.objective import Parameters, initial_parameters
from klda.posts.schema import PostTable, microseconds
from klda.text.corpus import Corpus
from klda.text.documents import Documents, Ragged, offsets
from klda.text.vocabulary import Vocabulary
from klda.types import KeywordSet, Post, Window

QUICK = {
    "n_topics": 2, "hidden": (8, 8), "batch_size": 16, "pretraining_iterations": 6, "max_iterations": 8,
    "check_every": 4, "held_out": 0.2, "patience": None,
}  # fmt: skip
"""ModelSettings of a model that is trained in a moment."""


def data_of(
    documents: list[list[int]],
    observed: list[list[int]],
    keyword_words: list[list[int]],
    n_words: int,
    weights: list[float] | None = None,
) -> TrainingData:
    """Training data of documents given as lists of word numbers, repetitions included."""
    unique = [np.unique(d, return_counts=True) for d in documents]
    return TrainingData(
        offsets(np.array([len(w) for w, _ in unique])),
        np.concatenate([w for w, _ in unique]).astype(np.int32),
        np.concatenate([c for _, c in unique]).astype(np.int32),
        Ragged.of(observed),
        Ragged.of(keyword_words),
        n_words,
        np.ones(len(documents)) if weights is None else np.array(weights),
    )


def random_data(
    n_documents: int = 40, n_words: int = 12, n_keywords: int = 4, length: int = 8, seed: int = 0
) -> TrainingData:
    """Documents of random words; keyword j is word j, and every document carries at least one."""
    generator = np.random.default_rng(seed)
    documents = [
        [int(generator.integers(n_keywords)), *generator.integers(0, n_words, length - 1).tolist()]
        for _ in range(n_documents)
    ]
    observed = [sorted({w for w in d if w < n_keywords}) for d in documents]
    return data_of(documents, observed, [[j] for j in range(n_keywords)], n_words)


def parameters_of(data: TrainingData, settings: ModelSettings, *, spread: float = 1.0, seed: int = 0) -> Parameters:
    """Random parameters, in double precision, with logits that are clearly not flat."""
    parameters = initial_parameters(
        settings,
        n_words=data.n_words,
        word_frequency=data.word_frequency,
        keyword_frequency=data.keyword_frequency,
        generator=torch.Generator().manual_seed(seed),
    )
    generator = torch.Generator().manual_seed(seed + 1)
    for tensor in parameters.tensors().values():
        tensor.add_(torch.randn(tensor.shape, generator=generator) * spread * 0.3)
    for module in (parameters.topic_word, parameters.topic_prior):
        module.double()
    parameters.theta.data = parameters.theta.data.double()
    return parameters


def tokens_of(data: TrainingData, document: int) -> list[int]:
    """A document as a list of word numbers."""
    where = slice(data.indptr[document], data.indptr[document + 1])
    return np.repeat(data.words[where], data.counts[where]).tolist()


def corpus_of(data: TrainingData, *, n_windows: int = 2, names: list[str] | None = None) -> Corpus:
    """A corpus with these arrays; keyword j is called like the first word it covers."""
    start = datetime(2026, 1, 5, tzinfo=UTC)
    length = timedelta(weeks=1)
    window = np.arange(len(data)) * n_windows // len(data)
    times = [start + int(w) * length + timedelta(seconds=d) for d, w in enumerate(window)]
    words = names or [f"word{v}" for v in range(1, data.n_words)]
    candidates = KeywordSet.of(*(["<rare>", *words][data.keyword_words[j][0]] for j in range(data.n_keywords)))
    documents = Documents(
        data.indptr,
        data.words,
        data.counts,
        np.array([microseconds(time) for time in times]),
        window.astype(np.int32),
        np.arange(len(data)),
    )
    return Corpus(
        documents,
        data.observed,
        documents.take(slice(0, 0)),
        Vocabulary.of({word: {word: 10} for word in words}),
        candidates,
        tuple(Window(start + w * length, start + (w + 1) * length) for w in range(n_windows)),
        (candidates,) * n_windows,
        PostTable.of([Post(id=str(d), time=time, text="") for d, time in enumerate(times)]),
    )
