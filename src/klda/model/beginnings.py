"""Where training starts from: the settings of a run, the number of topics found, and the first parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import torch

from klda.errors import DataError
from klda.model.data import TrainingData, gathered
from klda.model.objective import Parameters, initial_parameters
from klda.model.settings import Settings
from klda.model.totals import totals
from klda.model.trainer import Split
from klda.model.workers import ALONE, Workers, in_step, total
from klda.types import Progress, silent


def settings_of(hyperparameters: Mapping[str, Any], *, n_topics: int) -> Settings:
    """The settings among the hyperparameters of an estimator, with a number of topics that is known."""
    chosen = {f.name: hyperparameters[f.name] for f in fields(Settings)}
    return Settings(**(chosen | {"hidden": tuple(chosen["hidden"]), "n_topics": n_topics}))


def find_n_topics(data: TrainingData, *, seed: int, progress: Progress = silent, workers: Workers = ALONE) -> int:
    """A good number of topics by plain LDA; the first worker looks for it, the others are told."""
    from klda.model.lda import choose_n_topics, halves  # plain LDA is only needed here

    train, test = (gathered(data, half, workers) for half in halves(total(workers, len(data)), seed=seed))

    def look() -> int:
        return choose_n_topics(train, test, data.n_words, seed=seed, progress=progress) if workers.rank == 0 else 0

    return workers.gather(in_step(workers, look))[0]


def first_parameters(parts: Split, settings: Settings, workers: Workers = ALONE) -> Parameters:
    """Parameters before training, from the frequencies of the documents that will be trained on."""
    whole = totals(parts.training, workers)
    if not whole.n_tokens:
        raise DataError(
            "no document to train on has a word: stop words, numbers and web addresses are none; give keywords "
            "whose posts say more, or keep stop words with TextSettings(keep_stop_words=True)"
        )

    def begin() -> Parameters:
        return initial_parameters(
            settings,
            n_words=parts.training.n_words,
            word_frequency=whole.word_frequency,
            keyword_frequency=whole.keyword_frequency,
            generator=torch.Generator().manual_seed(settings.random_state),
        )

    return in_step(workers, begin)  # one node alone may lack the device
