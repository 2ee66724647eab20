"""Data drawn from the model lead back to the model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.optimize import linear_sum_assignment

from klda.model.data import TrainingData
from klda.model.generate import blended_topics, generate
from klda.model.model_settings import ModelSettings
from klda.model.networks import KeywordBags
from klda.model.objective import Parameters
from klda.model.trainer import Trainer
from klda.text.documents import Ragged
from tests.unit.model.test_trainer import trainer_of

N_WORDS, N_KEYWORDS, N_TOPICS = 500, 3, 3


def _world(seed: int) -> tuple[np.ndarray, TrainingData]:
    generator = np.random.default_rng(seed)
    truth = generator.dirichlet(np.full(N_WORDS, 0.05), size=(N_KEYWORDS, N_TOPICS))  # (Q, K, V)
    keyword_words = Ragged.of([[j] for j in range(N_KEYWORDS)])
    drawn = generate(
        20_000,
        theta=np.zeros(N_KEYWORDS),
        penalty=2.0,
        keyword_words=keyword_words,
        topic_word=blended_topics(truth),
        generator=generator,
        length=30,
    )
    data = TrainingData(
        drawn.indptr, drawn.words, drawn.counts, drawn.observed, keyword_words, N_WORDS, np.ones(len(drawn))
    )
    return truth, data


@torch.no_grad()
def _matched_cosine(parameters: Parameters, truth: np.ndarray) -> float:
    """The mean cosine of learned and true rows, each matched with the one it fits best."""
    singles = KeywordBags.of([[j] for j in range(N_KEYWORDS)])
    learned = parameters.topic_word.log_distribution(singles).exp().numpy()
    cosines = []
    for mine, true in zip(learned, truth, strict=True):
        unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (mine, true)]
        similarity = unit[0] @ unit[1].T
        cosines.append(similarity[linear_sum_assignment(-similarity)].mean())
    return float(np.mean(cosines))


@pytest.mark.slow
def test_training_finds_the_topics_that_the_data_were_drawn_from():
    truth, data = _world(0)
    settings = ModelSettings(
        n_topics=N_TOPICS, learning_rate=0.01, pretraining_iterations=300, max_iterations=100, check_every=100
    )
    trainer: Trainer = trainer_of(data, replace(settings, random_state=1))
    assert _matched_cosine(trainer.state.parameters, truth) < 0.5
    trainer.run()
    assert _matched_cosine(trainer.state.parameters, truth) > 0.9
