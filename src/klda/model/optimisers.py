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


def fused_adam(
    parameters: Iterable[nn.Parameter],
    learning_rate: float,
    *,
    penalised: Iterable[tuple[nn.Parameter, int]] = (),
    penalty: float = 0.0,
) -> torch.optim.Adam:
    """Adam that updates all in one pass over memory, with the gradient of penalty · ‖weights‖² added on the way.

    `penalised` names parameters and how many of their leading rows are weights; call `cancel_weight_decay` before each
    step for the rows behind them.
    """
    decayed = [parameter for parameter, _ in penalised]
    of_penalty = {id(parameter) for parameter in decayed}
    others = [parameter for parameter in parameters if id(parameter) not in of_penalty]
    groups = [{"params": decayed, "weight_decay": 2 * penalty}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.Adam([group for group in groups if group["params"]], lr=learning_rate, fused=True)


@torch.no_grad()
def cancel_weight_decay(adam: torch.optim.Adam, penalised: Iterable[tuple[nn.Parameter, int]]) -> None:
    """Takes the penalty's gradient back for the rows that are biases: they share an array with weights, so Adam's
    own decay, which costs nothing extra, covers them too."""
    strength = adam.param_groups[0]["weight_decay"]
    for parameter, n_weights in penalised:
        if strength and parameter.grad is not None and n_weights < len(parameter):
            parameter.grad[n_weights:].sub_(parameter.detach()[n_weights:], alpha=strength)
