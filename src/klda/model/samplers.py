"""The paper's random draws: Gibbs chains for ∇ log Z, importance sampling for log Z, and Gumbel draws of keywords.

Each has an exact counterpart: `prior` for Z, `keyword_sets` for the keywords of a document.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import torch
from torch import Tensor

from klda.model import prior


def start_chains(
    n_keywords: int, generator: torch.Generator, *, n_chains: int = 100, allow_empty: bool = False
) -> Tensor:
    """Chains that start uniformly over all keyword sets. # (C, Q) bool

    >>> start_chains(3, torch.Generator().manual_seed(0), n_chains=5).shape
    torch.Size([5, 3])
    """
    if allow_empty:
        shape = (n_chains, n_keywords)
        return torch.rand(shape, generator=generator, device=generator.device) < 0.5
    level = torch.zeros(n_keywords, device=generator.device)  # θ = c makes every non-empty set equally likely
    return prior.sample(level, 0.0, n_chains, generator)


def gibbs_steps(
    state: Tensor,
    theta: Tensor,
    penalty: float,
    steps: int,
    generator: torch.Generator,
    *,
    allow_empty: bool = False,
) -> Tensor:
    """The chains after `steps` steps. In a step, each chain redraws one coordinate at random. # (C, Q) bool

    >>> generator = torch.Generator().manual_seed(0)
    >>> chains = start_chains(3, generator, n_chains=5)
    >>> bool(gibbs_steps(chains, torch.full((3,), 30.0), 2.0, 50, generator).all())
    True
    """
    n_chains, n_keywords = state.shape
    device = state.device
    rate = torch.sigmoid(theta.detach() - penalty)  # (Q,)
    state = state.clone()
    coordinates = torch.randint(n_keywords, (steps, n_chains), generator=generator, device=device)
    uniform = torch.rand(steps, n_chains, dtype=rate.dtype, generator=generator, device=device)
    drawn = uniform < rate[coordinates]
    if allow_empty:  # then no draw depends on another: what was drawn last for a coordinate stands
        number = torch.arange(1, steps + 1, device=device).expand(n_chains, -1)  # (C, steps)
        last = torch.zeros(n_chains, n_keywords, dtype=torch.long, device=device)
        last = last.scatter_reduce(1, coordinates.t(), number, "amax")  # (C, Q)  0 where nothing was drawn
        return torch.where(last > 0, drawn.t().gather(1, (last - 1).clamp_min(0)), state)
    size = state.sum(1)  # (C,)
    chain = torch.arange(n_chains, device=device)
    for coordinate, wanted in zip(coordinates, drawn, strict=True):
        others = size - state[chain, coordinate].long()
        present = wanted | (others == 0)  # the last keyword of a set cannot leave it
        state[chain, coordinate] = present
        size = others + present.long()
    return state


def gibbs_schedule(iteration: int, *, period: int = 100, long: int = 1000) -> int:
    """m_t, the Gibbs steps before training iteration t = 1, 2, …: many every so often, otherwise one.

    >>> [gibbs_schedule(t) for t in (1, 99, 100, 101, 200)]
    [1, 1, 1000, 1, 1000]
    """
    return long if iteration % period == 0 else 1


def negative_phase(state: Tensor, *, dtype: torch.dtype = torch.float32) -> Tensor:
    """The chains' estimate of ∇_θ log Z. # (C, Q) → (Q,)

    ∇_θ log p̃(z) = z, so it is the share of chains that hold each keyword.

    >>> negative_phase(torch.tensor([[True, False], [True, True]]))
    tensor([1.0000, 0.5000])
    """
    return state.to(dtype).mean(0)


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


def binary_gumbel(logits: Tensor, temperature: float, noise: Tensor) -> Tensor:
    """y between 0 and 1 for each pair: the paper's binary Gumbel draw. # (P,), (2, P) → (P,)

    The two Gumbel draws of a pair enter only by their difference, in favour of 1 against 0.
    """
    yes, no = noise
    return torch.sigmoid((logits + yes - no) / temperature)


def categorical_gumbel(
    logits: Tensor,
    document: Tensor,
    keyword: Tensor,
    temperature: float,
    noise: Tensor,
) -> Tensor:
    """0 or 1 for each pair from Q draws of one candidate each: the paper's equation (1). # (P,), (B, Q, Q) → (P,)

    Candidates that a document does not carry compete at rate 0.5 and are masked afterwards. s_0.5 is a step, so its
    gradient is taken straight through, from the sum it is applied to.
    """
    log_rate = torch.full(noise.shape[:2], math.log(0.5), dtype=logits.dtype, device=logits.device)
    log_rate = log_rate.index_put((document, keyword), torch.nn.functional.logsigmoid(logits))  # (B, Q)
    drawn = torch.softmax((log_rate[:, :, None] + noise) / temperature, dim=1).sum(2)  # (B, Q)
    soft = drawn[document, keyword]
    return (soft.detach() >= 0.5).to(soft.dtype) + soft - soft.detach()


def gumbel(shape: tuple[int, ...], like: Tensor, generator: torch.Generator) -> Tensor:
    """Standard Gumbel draws."""
    exponential = torch.empty(shape, dtype=like.dtype, device=like.device).exponential_(generator=generator)
    return -torch.log(exponential)


def temperature_at(iteration: int, *, rate: float = 1e-4, lowest: float = 0.25) -> float:
    """τ_t = max(lowest, exp(−rate · t)).

    >>> temperature_at(0), temperature_at(100_000)
    (1.0, 0.25)
    """
    return max(lowest, math.exp(-rate * iteration))
