"""The two optimisers: RMSprop for parameters that are visited rarely, and fused Adam for the rest."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn


class RaggedRMSprop:
    """RMSprop that touches only the parameters of the batch, yet equals the dense one.

    In dense RMSprop a parameter without a gradient stays where it is while its mean square decays by α each step. A
    visit first makes up for the steps that the parameter missed, so nothing is lost by skipping them.
    """

    def __init__(
        self, values: Tensor, *, learning_rate: float = 0.005, alpha: float = 0.99, epsilon: float = 1e-8
    ) -> None:
        self.values = values  # (P,)
        self.mean_square = torch.zeros_like(values)  # (P,)
        self.last_visit = torch.zeros(len(values), dtype=torch.int32, device=values.device)  # (P,)
        self.learning_rate = learning_rate
        self.alpha = alpha
        self.epsilon = epsilon

    @torch.no_grad()
    def step(self, index: Tensor, gradient: Tensor, iteration: int) -> None:
        """Moves the parameters at `index` (each once) against their gradient; iterations count from 1."""
        missed = (iteration - self.last_visit[index]).to(gradient.dtype)
        mean_square = self.mean_square[index] * self.alpha**missed + (1 - self.alpha) * gradient.square()
        self.values[index] -= self.learning_rate * gradient / (mean_square.sqrt() + self.epsilon)
        self.mean_square[index] = mean_square
        self.last_visit[index] = iteration


def fused_adam(parameters: Iterable[nn.Parameter], learning_rate: float) -> torch.optim.Adam:
    """Adam that updates all in one pass over memory: about four times as fast as the plain one."""
    return torch.optim.Adam(list(parameters), lr=learning_rate, fused=True)


@torch.no_grad()
def add_weight_decay(penalised: Iterable[tuple[nn.Parameter, slice]], strength: float) -> None:
    """Adds the gradient of strength · ‖weights‖² to the gradients that are there."""
    for parameter, rows in penalised:
        if parameter.grad is not None and strength:
            parameter.grad[rows].add_(parameter.detach()[rows], alpha=2 * strength)
