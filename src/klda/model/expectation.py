"""The E-step: topic responsibilities φ and topic weights γ of every row, over ragged tokens."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

LOOK_EVERY = 3
"""Iterations between two looks at how far γ still moves."""


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
