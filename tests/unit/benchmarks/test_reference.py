"""The reference that speed is measured against must itself be right."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from benchmarks.reference import Documents, Reference
from tests.unit.model import slow_reference as slow

KEYWORD_WORDS = [[0], [1], [2]]
TOKENS = [[0, 5, 5, 3], [1, 2, 4, 4, 3, 1], [2, 5], [0]]


def documents_of(tokens: list[list[int]]) -> Documents:
    counted = [np.unique(document, return_counts=True) for document in tokens]
    observed = [[j for j, words in enumerate(KEYWORD_WORDS) if set(words) & set(d)] for d in tokens]
    return Documents(
        np.cumsum([0, *(len(words) for words, _ in counted)]),
        np.concatenate([words for words, _ in counted]),
        np.concatenate([counts for _, counts in counted]),
        np.cumsum([0, *map(len, observed)]),
        np.concatenate(observed),
    )


def test_the_held_out_bound_is_that_of_the_equations() -> None:
    documents = documents_of(TOKENS)
    reference = Reference(documents, KEYWORD_WORDS, 6, n_topics=2)
    layers = [
        (layer.weight.detach().double().numpy(), layer.bias.detach().double().numpy())
        for layer in reference.g
        if isinstance(layer, torch.nn.Linear)
    ]
    total = 0.0
    for d, tokens in enumerate(TOKENS):
        z = np.zeros(3)
        z[documents.observed[documents.observed_indptr[d] : documents.observed_indptr[d + 1]]] = 1
        beta = slow.g(z, layers, 2)
        phi, gamma = slow.e_step(tokens, z, KEYWORD_WORDS, beta, np.ones(2), 50)
        state = slow.DocumentState(tokens, [], z, np.full(3, 0.5), np.ones(2), beta, phi, gamma)
        terms = slow.document_terms(state, np.zeros(3), 2.0, KEYWORD_WORDS)
        total += sum(value for name, value in terms.items() if not name.startswith("keyword"))
    assert reference.heldout_bound(documents) == pytest.approx(total / 13, rel=1e-5)


def test_both_stages_of_training_raise_the_bound() -> None:
    generator = np.random.default_rng(0)
    tokens = [[int(j), *(3 + 3 * j + generator.integers(0, 3, 8)).tolist()] for j in generator.integers(0, 3, 300)]
    documents = documents_of(tokens)
    reference = Reference(documents, KEYWORD_WORDS, 12, n_topics=2)
    bounds = [reference.heldout_bound(documents)]
    for step in (reference.pretrain_step, reference.full_step):
        for _ in range(120):
            step()
        bounds.append(reference.heldout_bound(documents))
    assert bounds[0] + 0.2 < bounds[1] < bounds[2]


def test_same_seed_same_run() -> None:
    documents = documents_of(TOKENS)
    runs = [Reference(documents, KEYWORD_WORDS, 6, seed=3) for _ in range(2)]
    values = [[run.pretrain_step(), run.full_step(), run.full_step()] for run in runs]
    assert values[0] == values[1]
