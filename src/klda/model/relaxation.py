"""The paper's relaxed draws of a document's keywords, and the temperature they cool down with."""

from __future__ import annotations

import math

import torch
from torch import Tensor


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
