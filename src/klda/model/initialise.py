"""The start of a training: its settings, the number of topics, and the first parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import torch
from torch import Tensor

from klda.errors import DataError, SettingError
from klda.model.bags import Floats, TokenBags
from klda.model.data import TrainingData, gathered, totals
from klda.model.model_settings import ModelSettings
from klda.model.networks import KeywordBags, TopicPriorNetwork, TopicWordNetwork
from klda.model.objective import Parameters, initial_parameters
from klda.model.trainer import Split
from klda.model.vocabulary_softmax import sets_at_once
from klda.model.workers import ALONE, Workers, in_step, total
from klda.types import Progress, silent

LDA_DOCUMENTS = 5000
"""Documents that plain LDA looks at where topics start from it: enough for a handful of topics."""
LDA_ITERATIONS = 100
SHARED = 0.1
"""Share of each topic's words that starts as in all documents, so that no topic shuts a word out."""
QUIET = 0.1
"""Size of the random weights at the start, relative to the usual: keywords should bend topics, not replace them."""


def settings_of(hyperparameters: Mapping[str, Any], *, n_topics: int) -> ModelSettings:
    """The settings among the hyperparameters of an estimator, with a number of topics that is known."""
    chosen = {f.name: hyperparameters[f.name] for f in fields(ModelSettings)}
    return ModelSettings(**(chosen | {"hidden": tuple(chosen["hidden"]), "n_topics": n_topics}))


def find_n_topics(data: TrainingData, *, seed: int, progress: Progress = silent, workers: Workers = ALONE) -> int:
    """A good number of topics by plain LDA; the first worker looks for it, the others are told."""
    from klda.model.lda import choose_n_topics, halves  # plain LDA is only needed here

    train, test = (gathered(data, half, workers) for half in halves(total(workers, len(data)), seed=seed))

    def look() -> int:
        return choose_n_topics(train, test, data.n_words, seed=seed, progress=progress) if workers.rank == 0 else 0

    return workers.gather(in_step(workers, look))[0]


def first_parameters(parts: Split, settings: ModelSettings, workers: Workers = ALONE) -> Parameters:
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

    parameters = in_step(workers, begin)  # one node alone may lack the device
    if settings.topic_start == "lda":
        _start_from_lda(parameters, parts.training, settings, whole.word_frequency, workers)
    return parameters


def _start_from_lda(
    parameters: Parameters, data: TrainingData, settings: ModelSettings, word_frequency: Floats, workers: Workers
) -> None:
    """Moves the topics to those that plain LDA finds in the words that are no keywords."""
    from klda.model.lda import fit_lda

    n_documents = total(workers, len(data))
    seen = np.random.default_rng([settings.random_state, 2]).permutation(n_documents)[:LDA_DOCUMENTS]
    looked_at = gathered(data, np.sort(seen), workers)
    documents = _without_keywords(looked_at)
    network = parameters.topic_word
    if not isinstance(network, TopicWordNetwork) or not documents.counts.any():
        return
    found = fit_lda(documents, data.n_words, settings.n_topics, seed=settings.random_state, iterations=LDA_ITERATIONS)
    smoothed = word_frequency + 0.5
    mixed = (1 - SHARED) * found.topic_word + SHARED * smoothed / smoothed.sum()  # (K, V)
    with torch.no_grad():
        network.output[-1] = torch.from_numpy(np.log(mixed)).to(network.output)
        network.output[:-1] *= QUIET


def _without_keywords(data: TrainingData) -> TokenBags:
    """The documents without the words that their candidates cover."""
    start = np.repeat(data.indptr[data.observed.rows], data.cover.lengths)
    counts = data.counts.copy()
    counts[start + data.cover.values] = 0
    return TokenBags(data.indptr, data.words, counts)


_DOCUMENTS = 500
"""Documents that suffice to estimate the scale of logits."""


@torch.no_grad()
def carry_over(
    old: Parameters,
    new: Parameters,
    columns: Sequence[tuple[int, int]],
    n_known_words: int,
    data: TrainingData,
) -> None:
    """Copies what `old` knows into `new`; `columns` pairs each candidate's place in `new` with that in `old`.

    For a word that `old` did not know, its weights are 0 and its bias is shifted onto the scale of the known ones, so
    keyword sets start by giving it about the share that its frequency suggests: on average over those that the
    documents of `data` carry.
    """
    if not isinstance(old.topic_word, TopicWordNetwork) or not isinstance(new.topic_word, TopicWordNetwork):
        raise SettingError("only the built-in network can be carried over to another vocabulary")
    into = torch.tensor([place for place, _ in columns], dtype=torch.long, device=new.theta.device)
    source = torch.tensor([place for _, place in columns], dtype=torch.long, device=old.theta.device)
    _copy_layers(old.topic_word, new.topic_word, into, source)
    fresh = new.topic_word.output.detach()[-1, :, n_known_words:].clone()  # (K, new words)
    known = new.topic_word.output.detach()[-1, :, :n_known_words]
    learned = old.topic_word.output.detach()  # (F + 1, K, known words)
    scale = _mean_log_total(new.topic_word, learned, data) - torch.logsumexp(known, -1)  # (K,)
    new.topic_word.output[:, :, :n_known_words] = learned
    new.topic_word.output[:-1, :, n_known_words:] = 0
    new.topic_word.output[-1, :, n_known_words:] = fresh + scale[:, None]
    new.theta[into] = old.theta[source]
    if isinstance(old.topic_prior, TopicPriorNetwork) and isinstance(new.topic_prior, TopicPriorNetwork):
        _copy_layers(old.topic_prior, new.topic_prior, into, source)
        new.topic_prior.weight.copy_(old.topic_prior.weight)
        new.topic_prior.bias.copy_(old.topic_prior.bias)


def _mean_log_total(network: TopicWordNetwork, learned: Tensor, data: TrainingData) -> Tensor:
    """log Σ e^logit over the known words, the mean over the documents' keyword sets. # (F + 1, K, V) → (K,)

    Documents that are spread evenly over all will do.
    """
    chosen = np.unique(np.linspace(0, len(data) - 1, _DOCUMENTS).astype(np.int64))
    weight = torch.from_numpy(data.weights[chosen] / data.weights[chosen].sum()).to(learned)  # (n,)
    bags = KeywordBags.of([data.observed[document].tolist() for document in chosen], learned.device)
    totals = [
        torch.logsumexp(torch.tensordot(network.layers(some), learned[:-1], 1) + learned[-1], -1)
        for some in bags.pieces(sets_at_once(*learned.shape[1:]))
    ]
    return weight @ torch.cat(totals)


def _copy_layers(
    old: TopicWordNetwork | TopicPriorNetwork,
    new: TopicWordNetwork | TopicPriorNetwork,
    into: torch.Tensor,
    source: torch.Tensor,
) -> None:
    new.layers.keyword[into] = old.layers.keyword[source]
    new.layers.bias.copy_(old.layers.bias)
    for mine, theirs in zip(new.layers.dense, old.layers.dense, strict=True):
        mine.copy_(theirs)
