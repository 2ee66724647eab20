"""The two optimisers: RMSprop for parameters that are visited rarely, and fused Adam for the rest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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


@dataclass
class Group:
    """Parameters with one weight decay."""

    parameters: list[nn.Parameter]
    weight_decay: float


class FusedAdam:
    """Adam that updates all in one pass over memory, with the gradient of penalty · ‖weights‖² added on the way.

    `penalised` names parameters and how many of their leading rows are weights; a step takes the penalty back for the
    rows behind them, which are biases. It is `torch.optim.Adam(fused=True)` to the bit: that class loads torch's
    compiler when it is first used, which takes longer than a short training.
    """

    betas = (0.9, 0.999)
    epsilon = 1e-8

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        learning_rate: float,
        *,
        penalised: Iterable[tuple[nn.Parameter, int]] = (),
        penalty: float = 0.0,
    ) -> None:
        self.learning_rate = learning_rate
        self.penalised = list(penalised)
        self.state: dict[nn.Parameter, dict[str, Tensor]] = {}
        decayed = [parameter for parameter, _ in self.penalised]
        of_penalty = {id(parameter) for parameter in decayed}
        others = [parameter for parameter in parameters if id(parameter) not in of_penalty]
        self.groups = [Group(decayed, 2 * penalty), Group(others, 0.0)]

    def gradients(self) -> list[Tensor]:
        """The gradients that there are, in a fixed order."""
        return [p.grad for group in self.groups for p in group.parameters if p.grad is not None]

    def zero_grad(self) -> None:
        """Forgets all gradients."""
        for group in self.groups:
            for parameter in group.parameters:
                parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Moves the parameters that have a gradient."""
        self._spare_biases()
        for group in self.groups:
            moved = [parameter for parameter in group.parameters if parameter.grad is not None]
            if not moved:
                continue
            states = [self._state(parameter) for parameter in moved]
            steps = [state["step"] for state in states]
            torch._foreach_add_(steps, 1)
            torch._fused_adam_(
                list[Tensor](moved),
                [parameter.grad for parameter in moved if parameter.grad is not None],
                [state["exp_avg"] for state in states],
                [state["exp_avg_sq"] for state in states],
                [],
                steps,
                amsgrad=False,
                lr=self.learning_rate,
                beta1=self.betas[0],
                beta2=self.betas[1],
                weight_decay=group.weight_decay,
                eps=self.epsilon,
                maximize=False,
                grad_scale=None,
                found_inf=None,
            )

    def _state(self, parameter: nn.Parameter) -> dict[str, Tensor]:
        """The records of a parameter, which begin with its first gradient."""
        if parameter not in self.state:
            self.state[parameter] = {
                "step": torch.zeros((), dtype=torch.float32, device=parameter.device),
                "exp_avg": torch.zeros_like(parameter, memory_format=torch.preserve_format),
                "exp_avg_sq": torch.zeros_like(parameter, memory_format=torch.preserve_format),
            }
        return self.state[parameter]

    def _spare_biases(self) -> None:
        """Takes the penalty's gradient back for the rows that are biases: they share an array with weights."""
        strength = self.groups[0].weight_decay
        for parameter, n_weights in self.penalised:
            if strength and parameter.grad is not None and n_weights < len(parameter):
                parameter.grad[n_weights:].sub_(parameter.detach()[n_weights:], alpha=strength)
