"""The state of a training run: parameters, optimisers, random generators, position. A resumed run needs all of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from klda.errors import TrainingError
from klda.model import samplers
from klda.model.data import TrainingData
from klda.model.model_settings import ModelSettings
from klda.model.objective import Parameters

PRETRAINING = "pretraining"
TRAINING = "training"


@dataclass
class TrainingPosition:
    """Where a run stands."""

    stage: str = PRETRAINING
    iteration: int = 0
    """Iterations done in this stage."""
    smoothed: float | None = None
    """The held-out bound a token, smoothed over checks."""
    best_smoothed: float | None = None
    best_bound: float | None = None
    checks_without_gain: int = 0
    stopped: bool = False
    history: list[tuple[str, int, float]] = field(default_factory=list)
    """Stage, iteration and held-out bound of every check."""

    def next_stage(self) -> None:
        """Starts the full model's training with fresh records."""
        self.__dict__.update(TrainingPosition(stage=TRAINING, history=self.history).__dict__)


class TrainingState:
    """Parameters, optimisers, random generators and position of one run."""

    def __init__(self, parameters: Parameters, data: TrainingData, settings: ModelSettings, *, n_tokens: float) -> None:
        device = parameters.theta.device
        self.parameters = parameters
        self.position = TrainingPosition()
        self.draws = np.random.default_rng(settings.random_state)
        self.noise = torch.Generator(device).manual_seed(settings.random_state)
        self.settings = settings
        self._n_tokens = n_tokens  # the loss is divided by it, and so are its penalties
        self.adam = self._fresh_adam()
        # ε starts at 0.5, a logit of 0; only pairs of a document and a candidate that it carries have one.
        self.keyword_logits = RaggedRMSprop(
            torch.zeros(data.n_pairs if settings.trains_epsilon else 0, device=device),
            learning_rate=settings.keyword_learning_rate,
        )
        self.chains: Tensor | None = None
        if settings.partition == "gibbs":
            self.chains = samplers.start_chains(
                len(parameters.theta), self.noise, n_chains=settings.n_chains, allow_empty=settings.allow_empty
            )
        self.best = {name: tensor.clone() for name, tensor in parameters.tensors().items()}

    def _trained(self) -> list[nn.Parameter]:
        parts = self.parameters
        return [*parts.topic_word.parameters(), *parts.topic_prior.parameters(), parts.theta]

    def _fresh_adam(self) -> FusedAdam:
        return FusedAdam(
            self._trained(),
            self.settings.learning_rate,
            penalised=self.parameters.topic_word.penalised(),
            penalty=self.settings.l2 / self._n_tokens,
        )

    def start_full_training(self) -> None:
        """Goes from pre-training to the full model: g is kept, the optimiser starts anew."""
        self.restore_best()
        self.adam = self._fresh_adam()
        self.position.next_stage()

    def keep_as_best(self) -> None:
        """Remembers the present parameters as the best so far."""
        for name, tensor in self.parameters.tensors().items():
            self.best[name].copy_(tensor)

    def restore_best(self) -> None:
        """Goes back to the best parameters of this stage."""
        for name, tensor in self.parameters.tensors().items():
            tensor.copy_(self.best[name])

    def own_tensors(self) -> dict[str, Tensor]:
        """The tensors that belong to the documents of this worker, by name: ε and its optimiser."""
        logits = self.keyword_logits
        return {f"keyword_logits.{name}": getattr(logits, name) for name in ("values", "mean_square", "last_visit")}

    def tensors(self) -> dict[str, Tensor]:
        """Everything that is a tensor, by name."""
        return self.shared_tensors() | self.own_tensors()

    def shared_tensors(self) -> dict[str, Tensor]:
        """The tensors that are the same for all workers, between any two iterations, by name."""
        found = {f"parameters.{name}": tensor for name, tensor in self.parameters.tensors().items()}
        found |= {f"best.{name}": tensor for name, tensor in self.best.items()}
        for i, parameter in enumerate(self._trained()):
            for name, value in self.adam.state.get(parameter, {}).items():
                found[f"adam.{i}.{name}"] = value
        found["noise"] = self.noise.get_state()
        if self.chains is not None:
            found["chains"] = self.chains
        return found

    def facts(self) -> dict[str, Any]:
        """Everything else, as JSON can hold it."""
        return {"position": asdict(self.position), "draws": self.draws.bit_generator.state}

    def restore(self, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        """Restores the state that `tensors` and `facts` returned."""
        device = self.parameters.theta.device
        try:
            for name, tensor in self.parameters.tensors().items():
                tensor.copy_(tensors[f"parameters.{name}"])
                self.best[name].copy_(tensors[f"best.{name}"])
            for i, parameter in enumerate(self._trained()):
                kept = {
                    name.rsplit(".", 1)[1]: value.to(device).clone()
                    for name, value in tensors.items()
                    if name.startswith(f"adam.{i}.")
                }
                if kept:
                    self.adam.state[parameter] = kept
            logits = self.keyword_logits
            for name in ("values", "mean_square", "last_visit"):
                getattr(logits, name).copy_(tensors[f"keyword_logits.{name}"])
            self.noise.set_state(tensors["noise"].cpu())
            if self.chains is not None:
                self.chains = tensors["chains"].to(device)
            position = dict(facts["position"])
            position["history"] = [(stage, int(at), float(value)) for stage, at, value in position["history"]]
            self.position = TrainingPosition(**position)
            self.draws.bit_generator.state = facts["draws"]
        except (KeyError, RuntimeError, TypeError, ValueError) as error:
            raise TrainingError(
                f"the checkpoint does not belong to this corpus and these settings ({error}); "
                "train without resume, or with the corpus and settings it was made with"
            ) from error


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
