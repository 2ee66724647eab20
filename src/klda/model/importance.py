"""The paper's importance-sampling estimate of log Z, with a statement of how far it can be trusted."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import torch
from torch import Tensor

TRUSTED_SAMPLE = 500
"""Effective samples below which the estimate is not to be relied upon."""


class UnreliableEstimateWarning(UserWarning):
    """A sampling estimate rests on too few effective samples to be trusted."""


@dataclass(frozen=True)
class PartitionEstimate:
    """log Ẑ, its standard error (delta method), and how many independent samples of p_kw it is worth."""

    log_partition: float
    standard_error: float
    effective_sample_size: float


def estimate_log_partition(
    theta: Tensor,
    penalty: float,
    generator: torch.Generator,
    *,
    n_samples: int = 100_000,
    success: float = 0.25,
    allow_empty: bool = False,
) -> PartitionEstimate:
    """log Z from sets of geometric size; warns when the effective sample is below 500.

    >>> generator = torch.Generator().manual_seed(0)
    >>> estimate = estimate_log_partition(torch.zeros(3), 1.5, generator)
    >>> abs(estimate.log_partition - 1.313) < 0.02, estimate.effective_sample_size > 10_000
    (True, True)
    """
    theta = theta.detach().double()
    subsets, sizes = draw_subsets(len(theta), n_samples, generator, success=success)
    inside = torch.cat([theta, theta.new_zeros(1)])[subsets].sum(1)  # the padding index -1 adds the final 0
    log_weight = inside - penalty * (sizes - 1) - log_proposal(sizes, len(theta), success=success)  # (n,)

    total = torch.logsumexp(log_weight, 0)
    effective = float(torch.exp(2 * total - torch.logsumexp(2 * log_weight, 0)))
    if effective < TRUSTED_SAMPLE:
        warnings.warn(
            f"log Z rests on {effective:.0f} effective of {n_samples} samples; use the exact partition function",
            UnreliableEstimateWarning,
            stacklevel=2,
        )
    estimate = float(total) - math.log(n_samples)
    error = math.sqrt(max(0.0, 1 / effective - 1 / n_samples) * n_samples / (n_samples - 1))
    if allow_empty:  # p̃(0) = e^c is known, so only the rest carries error
        with_empty = max(estimate, penalty) + math.log1p(math.exp(-abs(estimate - penalty)))
        error *= math.exp(estimate - with_empty)
        estimate = with_empty
    return PartitionEstimate(estimate, error, effective)


def draw_subsets(
    n_keywords: int, n_samples: int, generator: torch.Generator, *, success: float = 0.25
) -> tuple[Tensor, Tensor]:
    """Uniform subsets of size min(geometric, Q), padded with -1, and their sizes. # (n, largest), (n,)

    >>> subsets, sizes = draw_subsets(5, 4, torch.Generator().manual_seed(1))
    >>> bool(((subsets >= 0).sum(1) == sizes).all())
    True
    """
    device = generator.device
    sizes = torch.empty(n_samples, dtype=torch.float64, device=device)
    sizes = sizes.geometric_(success, generator=generator).clamp_max(n_keywords).long()  # (n,)
    largest = int(sizes.max())
    subsets = torch.full((n_samples, largest), -1, device=device)
    # Floyd's sampling without replacement, all samples side by side: element i of a subset of size m is
    # uniform on [0, Q − m + i]; when it is taken already, Q − m + i itself is not.
    for i in range(largest):
        rows = torch.nonzero(sizes > i).squeeze(1)
        last = n_keywords - sizes[rows] + i
        uniform = torch.rand(len(rows), dtype=torch.float64, generator=generator, device=device)
        drawn = (uniform * (last + 1)).long()
        taken = (subsets[rows, :i] == drawn[:, None]).any(1)
        subsets[rows, i] = torch.where(taken, last, drawn)
    return subsets, sizes


def log_proposal(sizes: Tensor, n_keywords: int, *, success: float = 0.25) -> Tensor:
    """log h(X) of subsets of these sizes: P(size) spread evenly over the subsets of that size. # (n,) → (n,)

    >>> log_proposal(torch.tensor([1, 2]), 2).exp()
    tensor([0.1250, 0.7500], dtype=torch.float64)
    """
    size = sizes.double()
    of_this_size = math.lgamma(n_keywords + 1) - torch.lgamma(size + 1) - torch.lgamma(n_keywords - size + 1)
    # A geometric tail beyond Q is cut off and lands on Q.
    reached = torch.where(sizes < n_keywords, math.log(success), 0.0)
    return (size - 1) * math.log1p(-success) + reached - of_this_size
