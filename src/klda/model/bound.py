"""The evidence lower bound, term by term, and the E-step that makes it tight: documents under keyword sets."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields

import torch
from torch import Tensor


@dataclass(frozen=True)
class BoundTerms:
    """The seven terms of the paper's estimator, each for every row and with its sign in the bound. # (R,)

    The first, second, fifth and sixth are sums over documents, the others over the words that keywords leave.
    """

    keyword_prior: Tensor  # log p_kw(y | θ)
    topic_prior: Tensor  # E log p(η | f)
    topic_labels: Tensor  # Σ_w E log p(z_w | η)
    words: Tensor  # Σ_w E log p(W_w | z_w, β)
    keyword_posterior: Tensor  # −log q(y | ε)
    topic_posterior: Tensor  # −E log q(η | γ)
    label_posterior: Tensor  # −Σ_w E log q(z_w | φ)

    def total(self, *, document_weight: float = 1.0, word_weight: float = 1.0) -> Tensor:
        """The bound of every row. # (R,)"""
        of_document = self.keyword_prior + self.topic_prior + self.keyword_posterior + self.topic_posterior
        of_words = self.topic_labels + self.words + self.label_posterior
        return document_weight * of_document + word_weight * of_words

    def not_finite(self) -> list[str]:
        """The names of the terms that hold NaN or infinity."""
        return [f.name for f in fields(self) if not bool(torch.isfinite(getattr(self, f.name)).all())]


def terms(
    *,
    keyword_log_probability: Tensor,
    keyword_log_density: Tensor,
    prior: Tensor,
    gamma: Tensor,
    phi: Tensor,
    word_log_probability: Tensor,
    counts: Tensor,
    row: Tensor,
) -> BoundTerms:
    """The seven terms for every row, at any γ and φ.

    keyword_log_probability, keyword_log_density: (R,), log p_kw and log q of the row's keywords; prior, gamma: (R, K);
    phi, word_log_probability: (T, K); counts, row: (T,).
    """
    expected = expected_log_weights(gamma)  # (R, K)
    weighted = phi * counts[:, None]  # (T, K)
    log_phi = torch.log(phi.clamp_min(torch.finfo(phi.dtype).tiny))

    def over_words(value: Tensor) -> Tensor:
        return gamma.new_zeros(len(gamma)).index_add(0, row, value.sum(1))

    return BoundTerms(
        keyword_prior=keyword_log_probability,
        topic_prior=dirichlet_log_density(prior, expected),
        topic_labels=over_words(weighted * expected[row]),
        words=over_words(weighted * word_log_probability),
        keyword_posterior=-keyword_log_density,
        topic_posterior=-dirichlet_log_density(gamma, expected),
        label_posterior=-over_words(weighted * log_phi),
    )


def expected_log_weights(gamma: Tensor) -> Tensor:
    """E log η under Dirichlet(γ). # (R, K) → (R, K)"""
    return torch.digamma(gamma) - torch.digamma(gamma.sum(1, keepdim=True))


def dirichlet_log_density(parameter: Tensor, expected: Tensor) -> Tensor:
    """E log Dir(η | parameter) where E log η is given: the paper's h̃. # (R, K), (R, K) → (R,)"""
    normaliser = torch.lgamma(parameter.sum(1)) - torch.lgamma(parameter).sum(1)
    return ((parameter - 1) * expected).sum(1) + normaliser


def keyword_energy(
    theta: Tensor, penalty: float, keyword: Tensor, row: Tensor, value: Tensor | None, n_rows: int
) -> Tensor:
    """log p̃_kw of keyword sets given as members: yᵀθ − c (1ᵀy − 1), without a (rows, Q) array. # (A,) → (R,)"""
    member = theta[keyword] - penalty
    base = torch.full((n_rows,), penalty, dtype=theta.dtype, device=theta.device)
    return base.index_add(0, row, member if value is None else member * value)


LOOK_EVERY = 3
"""Iterations between two measurements of the change of γ."""


@torch.no_grad()
def expectation(
    word_log_probability: Tensor,
    counts: Tensor,
    row: Tensor,
    prior: Tensor,
    *,
    iterations: int = 20,
    tolerance: float = 1e-4,
    start: Tensor | None = None,
    mean: Callable[[Tensor], Tensor] = torch.mean,
) -> tuple[Tensor, Tensor]:
    """γ and φ after alternating φ ∝ β e^Ψ(γ) and γ = f + Σ φ, until γ moves less than the tolerance on average.

    word_log_probability: (T, K); counts and row: (T,), rows ascending; prior: (R, K); gives (R, K) and (T, K). γ starts
    at prior + tokens / K. Ψ(Σ γ) is the same for all topics of a row, so it drops out of φ. `mean` may be taken over
    the rows of other workers too, so that all end at the same iteration.

    >>> log_beta = torch.tensor([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9]]).log()
    >>> one_row = torch.zeros(3, dtype=torch.long)
    >>> gamma, phi = expectation(log_beta, torch.ones(3), one_row, torch.ones(1, 2))
    >>> float(gamma.sum()), bool(gamma[0, 0] > gamma[0, 1])
    (5.0, True)
    """
    n_topics = prior.shape[1]
    if start is None:
        tokens = prior.new_zeros(len(prior)).index_add_(0, row, counts)
        start = prior + (tokens / n_topics)[:, None]
    # Each token's largest β is scaled to 1: only ratios between topics matter, and rare words must not underflow.
    likelihood = torch.exp(word_log_probability - word_log_probability.amax(1, keepdim=True))  # (T, K)
    # Tokens lie along the rows, so a sum over the tokens of each row is a sum over a bag.
    token = torch.arange(len(row), device=row.device)
    first = torch.searchsorted(row, torch.arange(len(prior), device=row.device))  # (R,)
    ones = likelihood.new_ones(n_topics)
    joint = torch.empty_like(likelihood)
    # Where f is tiny and no token counts, e^Ψ of every topic would underflow, and φ would be 0 / 0.
    least = 0.9 * math.log(torch.finfo(likelihood.dtype).tiny)
    gamma = start
    for iteration in range(1, iterations + 1):
        before = gamma
        weight = torch.digamma(before).clamp_min_(least).exp_()  # (R, K)
        torch.mul(likelihood, weight.index_select(0, row), out=joint)
        evidence = torch.mv(joint, ones)  # (T,)  φ = joint / evidence
        share = torch.embedding_bag(likelihood, token, first, per_sample_weights=counts / evidence)[0]
        gamma = torch.addcmul(prior, weight, share)
        # Looking costs about half an iteration, so not every one is looked at.
        if tolerance and iteration % LOOK_EVERY == 0 and mean((gamma - before).abs_()) < tolerance:
            break
    return gamma, joint.div_(evidence[:, None])
