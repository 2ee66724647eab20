"""Log-probabilities of given words under a linear layer and a softmax over the vocabulary, in few passes of memory.

With S keyword sets, K topics and V words, most time of an iteration goes into the (K, S, V) array. It is written
once, exponentiated in place, and turned in place into the gradient: expected counts minus sparse counts.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

_LARGEST = 69.0
"""A log of a sum of exponentials beyond ± this (e^69 ≈ 10^30) calls for a shift by the largest logit."""


_AT_ONCE = 1 << 24
"""Largest array of sets · K · V without a gradient: 64 MB, as in a step with the default batch."""


def sets_at_once(n_topics: int, n_words: int) -> int:
    """How many keyword sets are evaluated together without a gradient, which limits memory.

    >>> sets_at_once(5, 10_000)
    335
    """
    return max(1, _AT_ONCE // (n_topics * n_words))


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


def _sum_exponentials(cube: Tensor) -> Tensor:
    """Exponentiates in place; the sums over words. # (K, S, V) → (S, K)"""
    rows = cube.exp_().view(-1, cube.shape[2])
    # A product with ones sums in one quick pass.
    return torch.mv(rows, rows.new_ones(rows.shape[1])).view(cube.shape[:2]).t()


class _WordLogProbability(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor, weight: Tensor, bag: Tensor, word: Tensor, workspace: Workspace) -> Tensor:
        n_sets, (n_topics, n_words) = len(features), weight.shape[1:]
        cube = workspace.take(n_topics, n_sets, n_words, like=features)
        with_one = pad(features, (0, 1), value=1.0)  # (S, F + 1)  the 1 meets the bias
        product = with_one.expand(n_topics, -1, -1), weight.transpose(0, 1)
        torch.bmm(*product, out=cube)
        first = n_sets * n_words * torch.arange(n_topics, device=bag.device)
        at = (bag * n_words + word)[:, None] + first  # (T, K)
        picked = cube.view(-1)[at]
        total = _sum_exponentials(cube)
        log_total = total.log()
        if not bool((log_total.abs() < _LARGEST).all()):  # rare: logits beyond what a float can exponentiate
            torch.bmm(*product, out=cube)
            largest = cube.amax(2)  # (K, S)
            total = _sum_exponentials(cube.sub_(largest[..., None]))
            log_total = total.log() + largest.t()
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
        cube.view(-1).index_add_(0, at.view(-1), counts.view(-1))
        of_weight = torch.empty_like(weight)
        torch.bmm((with_one[..., None] * scale[:, None]).permute(2, 1, 0), cube, out=of_weight.transpose(0, 1))
        # The bias's own feature is constant; 32 columns instead of 33 also make this product twice as fast.
        by_topic = torch.bmm(cube, weight[:-1].permute(1, 2, 0))  # (K, S, F)
        of_features = by_topic.mul_(scale.t()[..., None]).sum(0)
        return of_features, of_weight, None, None, None


def word_log_probability(features: Tensor, weight: Tensor, bag: Tensor, word: Tensor, workspace: Workspace) -> Tensor:
    """log softmax_V(features · weight) at (bag, every topic, word). # (S, F), (F + 1, K, V), (T,), (T,) → (T, K)

    The last row of the weight is the bias. Differentiable once in features and weight; the workspace must not be used
    again before the backward pass. Where no gradient is asked for, a few sets are looked at together.
    """
    at_once = len(features) if torch.is_grad_enabled() else sets_at_once(*weight.shape[1:])
    if len(features) <= at_once:
        value: Tensor = _WordLogProbability.apply(features, weight, bag, word, workspace)  # type: ignore[no-untyped-call]
        return value
    found = features.new_empty(len(bag), weight.shape[1])
    for start in range(0, len(features), at_once):
        here = (bag >= start) & (bag < start + at_once)
        some = features[start : start + at_once]
        found[here] = word_log_probability(some, weight, bag[here] - start, word[here], workspace)
    return found
