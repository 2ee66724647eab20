"""Carrying a trained model over to more words and other candidates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from klda.errors import SettingError
from klda.model.data import TrainingData
from klda.model.networks import KeywordBags, TopicPriorNetwork, TopicWordNetwork
from klda.model.objective import Parameters
from klda.model.vocabulary_softmax import sets_at_once

_DOCUMENTS = 500
"""So many tell the scale on which keyword sets judge words."""


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
