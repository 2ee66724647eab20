"""What is held in memory grows with tokens and with the candidates that occur, never with documents × candidates."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from klda.model import scores, vocabulary_softmax
from klda.model.data import TrainingData
from klda.model.model_settings import ModelSettings
from tests.unit.model.small import data_of, parameters_of
from tests.unit.model.test_trainer import trainer_of

N_DOCUMENTS = N_KEYWORDS = 2000
N_WORDS = 60
SETTINGS = ModelSettings(
    n_topics=2, hidden=(4, 4), batch_size=16, pretraining_iterations=2, max_iterations=2, check_every=1, max_held_out=40
)


class Largest(TorchDispatchMode):
    """Remembers how many numbers the largest tensor had that any operation gave."""

    n_numbers = 0

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = operation(*args, **(kwargs or {}))
        sizes = [leaf.numel() for leaf in tree_leaves(found) if isinstance(leaf, torch.Tensor)]
        self.n_numbers = max(self.n_numbers, *sizes, 0)
        return found


def largest(work: Callable[[], object]) -> tuple[int, int]:
    """Numbers in the largest tensor, and bytes of all arrays together at their most, while the work is done."""
    with Largest():  # what torch loads with its first mode is not counted
        torch.zeros(1).add_(1)
    tracemalloc.start()
    with Largest() as tensors:
        work()
    in_arrays = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return tensors.n_numbers, in_arrays


@pytest.fixture(scope="module")
def data() -> TrainingData:
    generator = np.random.default_rng(0)
    observed = [sorted(set(generator.integers(0, N_KEYWORDS, 2).tolist())) for _ in range(N_DOCUMENTS)]
    documents = [[j % 50 for j in of_one] + generator.integers(0, N_WORDS, 5).tolist() for of_one in observed]
    return data_of(documents, observed, [[j % 50] for j in range(N_KEYWORDS)], N_WORDS)


@pytest.mark.parametrize(("relaxation", "partition"), [("exact", "exact"), ("enumerate", "exact"), ("gumbel", "gibbs")])
def test_nothing_grows_with_documents_times_candidates(data: TrainingData, relaxation: str, partition: str):
    settings = replace(SETTINGS, relaxation=relaxation, partition=partition)

    def work() -> None:
        trainer = trainer_of(data, settings)
        trainer.run()
        parameters, frequency = trainer.state.parameters, data.word_frequency
        scores.topic_shares(parameters, data, settings)
        scores.document_log_likelihood(parameters, data, settings, frequency)
        scores.completion(parameters, data, settings, scores.completion_targets(data, np.random.default_rng(0)))

    n_numbers, in_arrays = largest(work)
    assert n_numbers < N_DOCUMENTS * N_KEYWORDS / 8
    assert in_arrays < N_DOCUMENTS * N_KEYWORDS  # not even a byte for each


def test_scoring_with_little_memory_gives_the_same_scores(data: TrainingData, monkeypatch: pytest.MonkeyPatch):
    """However many keyword sets the documents have, their words are looked at within the same memory."""
    some = data.stretch(0, 300)
    parameters, target = parameters_of(some, SETTINGS), scores.completion_targets(some, np.random.default_rng(0))

    def scored() -> list[float]:
        return [
            scores.held_out_bound(parameters, some, SETTINGS),
            float(scores.document_log_likelihood(parameters, some, SETTINGS, some.word_frequency).sum()),
            float(scores.topic_shares(parameters, some, SETTINGS)[:, 0].sum()),
            *scores.completion(parameters, some, SETTINGS, target),
        ]

    at_once = scored()
    monkeypatch.setattr(vocabulary_softmax, "_AT_ONCE", 20 * SETTINGS.n_topics * N_WORDS)
    take, taken = vocabulary_softmax.Workspace.take, []
    monkeypatch.setattr(
        vocabulary_softmax.Workspace,
        "take",
        lambda self, *shape, like: [taken.append(shape), take(self, *shape, like=like)][1],
    )
    np.testing.assert_allclose(scored(), at_once, rtol=1e-6)
    assert max(sets for _, sets, _ in taken) == 20


def test_a_dense_array_would_be_noticed():
    n_numbers, in_arrays = largest(lambda: torch.from_numpy(np.zeros((N_DOCUMENTS, N_KEYWORDS), dtype=bool)) | True)
    assert n_numbers == N_DOCUMENTS * N_KEYWORDS <= in_arrays
