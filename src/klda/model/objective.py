"""The objective of one batch: rows through the networks, the E-step and the bound, down to one number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from klda.errors import SettingError
from klda.model import bound, prior, samplers
from klda.model.bags import Floats
from klda.model.batches import Batch
from klda.model.bound import expectation
from klda.model.data import Totals
from klda.model.keyword_sets import Rows
from klda.model.model_settings import ModelSettings
from klda.model.networks import FixedTopicPrior, TopicPrior, TopicPriorNetwork, TopicWord, TopicWordNetwork
from klda.model.workers import ALONE, Workers, mean, total


@dataclass(frozen=True)
class Parameters:
    """What the model consists of: g, f and θ."""

    topic_word: TopicWord
    topic_prior: TopicPrior
    theta: nn.Parameter  # (Q,)

    def tensors(self) -> dict[str, Tensor]:
        """All parameters by name; writing into them changes the model."""
        modules = {"topic_word": self.topic_word, "topic_prior": self.topic_prior}
        named = {
            f"{part}.{name}": value.detach()
            for part, module in modules.items()
            if isinstance(module, nn.Module)
            for name, value in module.named_parameters()
        }
        return named | {"theta": self.theta.detach()}


def _device(name: str) -> torch.device:
    """The device of this name, after a test that it works here."""
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, ValueError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise SettingError(f"device {name!r} cannot be used here ({reason}); use cpu, or one that torch has") from error
    return device


def initial_parameters(
    settings: ModelSettings,
    *,
    n_words: int,
    word_frequency: Floats,
    keyword_frequency: Floats,
    generator: torch.Generator,
) -> Parameters:
    """Parameters before training. The biases of g start at the log unigram, unless that is switched off."""
    device = _device(settings.device)
    word_bias = None
    if settings.unigram_bias:
        smoothed = torch.from_numpy(word_frequency + 0.5)
        word_bias = torch.log(smoothed / smoothed.sum()).float()
    n_keywords, n_topics = len(keyword_frequency), settings.n_topics
    network = TopicWordNetwork(
        n_keywords, n_topics, n_words, hidden=settings.hidden, word_bias=word_bias, generator=generator
    )
    topic_prior: nn.Module = (
        FixedTopicPrior(n_topics)
        if settings.topic_prior == "fixed"
        else TopicPriorNetwork(
            n_keywords, n_topics, hidden=settings.hidden, floor=settings.topic_floor, generator=generator
        )
    )
    theta = initial_theta(keyword_frequency, settings)
    return Parameters(network.to(device), topic_prior.to(device), nn.Parameter(theta.to(device)))


def initial_theta(keyword_frequency: Floats, settings: ModelSettings) -> Tensor:
    """θ at the start: log frequency, or calibrated so that p_kw gives every keyword its share of documents. # (Q,)

    Calibrated: σ(θ − c) = a · share, where a = 1 − Π(1 − a · share) is the chance of a non-empty set; found by
    iterating from 1, which converges because every document carries a keyword.
    """
    share = np.clip(keyword_frequency, 1e-6, 1 - 1e-6)
    if settings.theta_start == "log_frequency":
        return torch.from_numpy(np.log(share)).float()
    chance = 1.0
    if not settings.allow_empty:
        for _ in range(200):
            chance = max(-np.expm1(np.log1p(-chance * share).sum()), 1e-3)
    rate = chance * share
    return torch.from_numpy(np.log(rate) - np.log1p(-rate)).float() + settings.keyword_penalty


@dataclass(frozen=True)
class Explanation:
    """Rows as the model sees them: log β of their words, and γ, φ at their best."""

    log_beta: Tensor  # (T, K)
    prior: Tensor  # (R, K)
    counts: Tensor  # (T,)
    gamma: Tensor  # (R, K)
    phi: Tensor  # (T, K)

    def terms(self, rows: Rows, *, keyword_log_probability: Tensor, keyword_log_density: Tensor) -> bound.BoundTerms:
        """The seven terms of every row; differentiable in all parameters."""
        return bound.terms(
            keyword_log_probability=keyword_log_probability,
            keyword_log_density=keyword_log_density,
            prior=self.prior,
            gamma=self.gamma,
            phi=self.phi,
            word_log_probability=self.log_beta,
            counts=self.counts,
            row=rows.token_row,
        )


def explain(parameters: Parameters, rows: Rows, settings: ModelSettings, workers: Workers = ALONE) -> Explanation:
    """Takes rows through the networks and the E-step."""
    log_beta = parameters.topic_word.word_log_probability(rows.bags, rows.token_bag, rows.words)
    topic_prior = parameters.topic_prior(rows.bags)[rows.bag].to(log_beta.dtype)
    counts = rows.counts.to(log_beta.dtype)
    gamma, phi = expectation(
        log_beta.detach(),
        counts,
        rows.token_row,
        topic_prior.detach(),
        iterations=settings.expectation_iterations,
        tolerance=settings.expectation_tolerance,
        mean=mean(workers),
    )
    return Explanation(log_beta, topic_prior, counts, gamma, phi)


def row_terms(
    parameters: Parameters,
    rows: Rows,
    settings: ModelSettings,
    *,
    keyword_log_probability: Tensor,
    keyword_log_density: Tensor,
    workers: Workers = ALONE,
) -> bound.BoundTerms:
    """The seven terms of every row at its best γ and φ; differentiable in all parameters."""
    return explain(parameters, rows, settings, workers).terms(
        rows, keyword_log_probability=keyword_log_probability, keyword_log_density=keyword_log_density
    )


def row_keyword_log_probability(
    theta: Tensor, rows: Rows, batch: Batch, settings: ModelSettings, chains: Tensor | None = None
) -> Tensor:
    """log p_kw of every row. With chains, ∇ log Z is their estimate; its weight is the paper's c_neg. # (R,)"""
    keyword = torch.from_numpy(batch.pair_keyword.astype(np.int64)).to(theta.device)[rows.member_pair]
    energy = bound.keyword_energy(
        theta, settings.keyword_penalty, keyword, rows.member_row, rows.member_value, len(rows)
    )
    with torch.no_grad():
        allowed = {"allow_empty": settings.allow_empty}
        log_z = prior.log_partition(theta, settings.keyword_penalty, **allowed)
        rate = (
            prior.log_partition_gradient(theta, settings.keyword_penalty, **allowed)
            if chains is None
            else samplers.negative_phase(chains, dtype=theta.dtype)
        )  # (Q,)  ∇ log Z
    # The value is always the exact log Z; a term that is 0 carries its gradient, times c_neg. With c_neg below 1, a
    # keyword in a larger share of the documents than that has no finite θ: the paper's 0.1 leaves p_kw uncalibrated.
    slope = torch.dot(theta - theta.detach(), settings.negative_weight * rate)
    return energy - (log_z + slope)


def batch_weights(
    whole: Totals, batch: Batch, settings: ModelSettings, workers: Workers = ALONE
) -> tuple[float, float]:
    """The weights of sums over a batch: D / B for documents, N / N_B for words (V / N_B in the paper)."""
    words = len(whole.word_frequency) if settings.word_weight == "vocabulary" else whole.n_tokens
    n_documents, n_tokens = total(workers, np.array([len(batch), batch.n_tokens], dtype=np.float64)).tolist()
    return whole.n_documents / n_documents, words / max(n_tokens, 1)
