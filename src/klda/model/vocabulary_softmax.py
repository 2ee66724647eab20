"""Log-probabilities of given words under a linear layer and a softmax over the vocabulary, in few passes of memory.

With S keyword sets, K topics and V words the (K, S, V) array is what an iteration's time goes into. It is written
once, exponentiated in place, and turned in place into the gradient: expected counts minus sparse counts. All of this
goes topic by topic, so that a topic's part is still in the cache when the next operation wants it.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

_LARGEST = 69.0
"""A log of a sum of exponentials beyond ± this (e^69 ≈ 10^30) calls for a shift by the largest logit."""


class Workspace:
    """One buffer that grows as needed: fresh memory for each iteration would cost as much as a pass over it."""

    def __init__(self) -> None:
        self._buffer: Tensor | None = None

    def take(self, *shape: int, like: Tensor) -> Tensor:
        """An uninitialised array that stays valid until the next call."""
        buffer = self._buffer
        needed = math.prod(shape)
        if buffer is None or buffer.numel() < needed or buffer.dtype != like.dtype or buffer.device != like.device:
            buffer = self._buffer = torch.empty(needed, dtype=like.dtype, device=like.device)
        return buffer[:needed].view(shape)


def _exponentiate(
    features: Tensor, weight: Tensor, at: Tensor, cube: Tensor, *, shifted: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """Fills the cube with multiples of e^logit. # (S, F + 1), (F + 1, K, V), (T,), (K, S, V) → (T, K), (S, K), (S, K)

    Gives the logits at `at`, the sums of the multiples over words, and log Σ e^logit.
    """
    picked, totals, shifts = [], [], []
    ones = cube.new_ones(cube.shape[2])
    for topic, logits in enumerate(cube):
        torch.mm(features, weight[:, topic], out=logits)
        picked.append(logits.view(-1)[at])
        if shifted:
            shifts.append(logits.amax(1))
            logits.sub_(shifts[-1][:, None])
        totals.append(torch.mv(logits.exp_(), ones))
    total = torch.stack(totals, 1)
    return torch.stack(picked, 1), total, total.log() + torch.stack(shifts, 1) if shifted else total.log()


class _WordLogProbability(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor, weight: Tensor, bag: Tensor, word: Tensor, workspace: Workspace) -> Tensor:
        n_topics, n_words = weight.shape[1:]
        with_one = pad(features, (0, 1), value=1.0)  # (S, F + 1)  the 1 meets the bias
        cube = workspace.take(n_topics, len(features), n_words, like=features)
        at = bag * n_words + word  # (T,)
        picked, total, log_total = _exponentiate(with_one, weight, at, cube)
        if not bool((log_total.abs() < _LARGEST).all()):  # rare: logits beyond what a float can exponentiate
            picked, total, log_total = _exponentiate(with_one, weight, at, cube, shifted=True)
        ctx.save_for_backward(with_one, weight, bag, at, total)
        ctx.cube, ctx.written = cube, cube._version
        return picked - log_total[bag]

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        with_one, weight, bag, at, total = ctx.saved_tensors
        cube = ctx.cube
        # The gradient takes the place of the exponentials, so there is one backward pass, before any other use.
        assert cube._version == ctx.written, "the workspace was used again before this backward pass"
        scale = torch.zeros_like(total).index_add_(0, bag, gradient).neg_().div_(total)  # (S, K)
        # The gradient of the logits is scale · exponentials + counts. The scale is left to the small factors of the
        # products, which saves a pass, and the counts are divided by it; unless it is too small for that.
        counts = gradient / scale[bag]  # (T, K)
        if not bool((counts.abs() < math.exp(_LARGEST)).all()):
            cube.mul_(scale.t()[..., None])
            counts, scale = gradient, torch.ones_like(scale)
        of_features = torch.zeros_like(with_one[:, :-1])
        of_weight = torch.empty_like(weight)
        for topic, logits in enumerate(cube):
            by_row = scale[:, topic, None]  # (S, 1)
            logits.view(-1).index_add_(0, at, counts[:, topic])
            torch.mm((with_one * by_row).t(), logits, out=of_weight[:, topic])
            of_features.addcmul_(torch.mm(logits, weight[:-1, topic].t()), by_row)
        return of_features, of_weight, None, None, None


def word_log_probability(features: Tensor, weight: Tensor, bag: Tensor, word: Tensor, workspace: Workspace) -> Tensor:
    """log softmax_V(features · weight) at (bag, every topic, word). # (S, F), (F + 1, K, V), (T,), (T,) → (T, K)

    The last row of the weight is the bias. Differentiable once in features and weight; the workspace must not be used
    again before the backward pass.
    """
    value: Tensor = _WordLogProbability.apply(features, weight, bag, word, workspace)  # type: ignore[no-untyped-call]
    return value
