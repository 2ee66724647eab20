"""Log-probabilities of given words under a linear layer and a softmax over the vocabulary, in few passes of memory.

With S keyword sets, K topics and V words the (S, K, V) array is what an iteration's time goes into. It is written
once, exponentiated in place, and turned in place into the gradient: expected counts minus sparse counts.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

_LARGEST = 69.0
"""A log of a sum of exponentials beyond ± this (e^69 ≈ 10^30) calls for a shift by the largest logit."""


class Workspace:
    """One buffer that grows as needed: fresh memory for each iteration would cost as much as a pass over it."""

    def __init__(self) -> None:
        self._buffer: Tensor | None = None

    def take(self, rows: int, columns: int, like: Tensor) -> Tensor:
        """An uninitialised matrix that stays valid until the next call. # (rows, columns)"""
        buffer = self._buffer
        needed = rows * columns
        if buffer is None or buffer.numel() < needed or buffer.dtype != like.dtype or buffer.device != like.device:
            buffer = self._buffer = torch.empty(needed, dtype=like.dtype, device=like.device)
        return buffer[:needed].view(rows, columns)


def _exponentiate(features: Tensor, flat: Tensor, cube: Tensor, out: Tensor) -> tuple[Tensor, Tensor]:
    """Turns logits into multiples of e^logit; the sum of these over words, and log Σ e^logit. # (S, K), (S, K)"""
    total = cube.exp_().sum(-1)
    log_total = total.log()
    if bool((log_total.abs() < _LARGEST).all()):
        return total, log_total
    torch.mm(features, flat, out=out)  # rare: logits beyond what a float can exponentiate
    shift = cube.amax(-1)
    total = cube.sub_(shift[..., None]).exp_().sum(-1)
    return total, shift + total.log()


class _WordLogProbability(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor, weight: Tensor, bag: Tensor, word: Tensor, workspace: Workspace) -> Tensor:
        n_features, n_topics, n_words = weight.shape
        out = workspace.take(len(features), n_topics * n_words, features)
        flat = weight.view(n_features, -1)
        torch.mm(features, flat, out=out)
        cube = out.view(-1, n_topics, n_words)
        at = ((bag * n_topics)[:, None] + torch.arange(n_topics, device=bag.device)) * n_words + word[:, None]  # (T, K)
        picked = out.view(-1)[at]
        total, log_total = _exponentiate(features, flat, cube, out)
        ctx.save_for_backward(features, weight, bag, at, total)
        ctx.exponentials, ctx.written = out, out._version
        return picked - log_total[bag]

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        features, weight, bag, at, total = ctx.saved_tensors
        n_features, n_topics, n_words = weight.shape
        out = ctx.exponentials
        # The gradient takes the place of the exponentials, so there is one backward pass, before any other use.
        assert out._version == ctx.written, "the workspace was used again before this backward pass"
        expected = torch.zeros_like(total).index_add_(0, bag, gradient)  # (S, K)
        out.view(-1, n_topics, n_words).mul_((-expected / total)[..., None])
        out.view(-1).index_add_(0, at.view(-1), gradient.reshape(-1))
        of_features = out @ weight.view(n_features, -1).t()  # (S, F)
        of_weight = (features.t() @ out).view_as(weight)  # (F, K, V)
        return of_features, of_weight, None, None, None


def word_log_probability(features: Tensor, weight: Tensor, bag: Tensor, word: Tensor, workspace: Workspace) -> Tensor:
    """log softmax_V(features · weight) at (bag, every topic, word). # (S, F), (F, K, V), (T,), (T,) → (T, K)

    Differentiable once in features and weight; the workspace must not be used again before the backward pass.
    """
    value: Tensor = _WordLogProbability.apply(features, weight, bag, word, workspace)  # type: ignore[no-untyped-call]
    return value
