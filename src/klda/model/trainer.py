"""Training: pre-training on observed keywords, then the full model, until the held-out bound stops improving."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from klda.errors import DataError, TrainingError
from klda.model import gibbs, prior
from klda.model.batches import DocumentSampler, make_batch
from klda.model.bound import Terms
from klda.model.data import TrainingData
from klda.model.objective import (
    Parameters,
    batch_weights,
    row_keyword_log_probability,
    row_terms,
)
from klda.model.optimisers import add_weight_decay
from klda.model.relaxation import (
    all_observed,
    binary_gumbel,
    categorical_gumbel,
    choose,
    enumerate_rows,
    log_weights,
    relaxed_rows,
    temperature_at,
)
from klda.model.scores import held_out_bound
from klda.model.settings import Settings
from klda.model.training_state import PRETRAINING, TRAINING, TrainingState
from klda.types import Progress, silent

DIVERGED = 3.0
"""Nats a token that the held-out bound may fall below the best before training counts as diverged."""


@dataclass(frozen=True)
class Split:
    """Documents to train on and documents to watch."""

    training: TrainingData
    held_out: TrainingData


def split(data: TrainingData, settings: Settings) -> Split:
    """Holds out a share of the documents, at random, never more than `max_held_out`."""
    if not len(data):
        raise DataError("the corpus has no document that carries a candidate; check the candidates")
    n_held = min(int(len(data) * settings.held_out), settings.max_held_out)
    order = np.random.default_rng([settings.random_state, 1]).permutation(len(data))
    return Split(data.take(np.sort(order[n_held:])), data.take(np.sort(order[:n_held])))


class Trainer:
    """One training run over arrays; `run` goes on from wherever the state stands."""

    def __init__(self, parameters: Parameters, data: Split, settings: Settings) -> None:
        self.settings = settings
        self.data = data
        self.state = TrainingState(parameters, data.training, settings)
        self._sampler = DocumentSampler(data.training.weights)
        share = torch.from_numpy(data.training.keyword_frequency).float()
        self._empirical = (share / share.sum()).to(settings.device)  # (Q,)

    def run(self, *, save: Callable[[TrainingState], None] | None = None, progress: Progress = silent) -> None:
        """Trains to the end. `save` is called with a good state at every check, and when `progress` interrupts."""
        position = self.state.position
        if position.stage == PRETRAINING:
            self._run_stage(self.settings.pretraining_iterations, save, progress)
            self.state.start_full_training()
        self._run_stage(self.settings.max_iterations, save, progress)
        self.state.restore_best()

    def _run_stage(self, total: int, save: Callable[[TrainingState], None] | None, progress: Progress) -> None:
        state, position = self.state, self.state.position
        if position.iteration == 0 and not position.stopped and total:
            self._check()
        while position.iteration < total and not position.stopped:
            value = self.step()
            at_check = position.iteration % self.settings.check_every == 0 or position.iteration == total
            if at_check:
                self._check()
                if save is not None:
                    save(state)
            try:
                progress(
                    position.stage,
                    position.iteration,
                    total,
                    bound=position.smoothed if position.smoothed is not None else value,
                    temperature=temperature_at(position.iteration),
                )
            except KeyboardInterrupt:
                # Between two iterations the state is whole; one that hits inside leaves the last check's.
                if save is not None:
                    save(state)
                raise

    def step(self) -> float:
        """One iteration; gives the batch's bound a token."""
        position = self.state.position
        iteration = position.iteration + 1
        loss, terms, logits, pairs = self._loss(iteration)
        value = loss.item()
        if not math.isfinite(value):
            self._fail(iteration, terms)
        adam = self.state.adam
        adam.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        add_weight_decay(self.state.parameters.topic_word.penalised(), self.settings.l2 / self.data.training.n_tokens)
        adam.step()
        if logits is not None and logits.grad is not None and pairs is not None:
            self.state.keyword_logits.step(pairs, logits.grad, iteration)
        position.iteration = iteration
        return -value

    def _loss(self, iteration: int) -> tuple[Tensor, Terms, Tensor | None, Tensor | None]:
        """The loss of a fresh batch, its terms, and in full training the pairs' logits with their numbers."""
        state, settings, data = self.state, self.settings, self.data.training
        parameters, device = state.parameters, state.parameters.theta.device
        batch = make_batch(data, self._sampler.draw(settings.batch_size, state.draws))
        document_weight, word_weight = batch_weights(data, batch, settings)

        if state.position.stage == PRETRAINING:
            rows = enumerate_rows(batch, all_observed(batch), allow_empty=True, device=device)
            nothing = torch.zeros(len(rows), device=device)
            terms = row_terms(parameters, rows, settings, keyword_log_probability=nothing, keyword_log_density=nothing)
            total = terms.total(document_weight=document_weight, word_weight=word_weight).sum()
            return -total / data.n_tokens, terms, None, None

        pairs = torch.from_numpy(batch.pair).to(device)
        logits = state.keyword_logits.values[pairs].requires_grad_()
        weight: Tensor | None = None
        if settings.relaxation == "enumerate":
            rate = torch.sigmoid(logits.detach()).cpu().numpy()
            choice = choose(batch, settings.enumeration_limit, rate, state.draws)
            rows = enumerate_rows(batch, choice, allow_empty=settings.allow_empty, device=device)
            log_weight, rest = log_weights(rows, logits, choice, batch, allow_empty=settings.allow_empty)
            weight, density = log_weight.exp(), log_weight + rest
        else:
            y = self._relaxed(batch.pair_document, batch.pair_keyword, logits, len(batch), iteration)
            rows = relaxed_rows(batch, y, threshold=settings.threshold)
            off = torch.nn.functional.logsigmoid(-logits)
            density = off.new_zeros(len(rows)).index_add(0, rows.member_row, y * logits + off)
        self._advance_chains(iteration)
        log_prior = row_keyword_log_probability(parameters.theta, rows, batch, settings, state.chains)
        terms = row_terms(parameters, rows, settings, keyword_log_probability=log_prior, keyword_log_density=density)
        value = terms.total(document_weight=document_weight, word_weight=word_weight)
        total = value.sum() if weight is None else (value * weight).sum()
        penalty = settings.frequency_penalty * prior.frequency_penalty(parameters.theta, self._empirical)
        return (penalty - total) / data.n_tokens, terms, logits, pairs

    def _relaxed(
        self, document: np.ndarray, keyword: np.ndarray, logits: Tensor, n_documents: int, iteration: int
    ) -> Tensor:
        temperature = temperature_at(iteration)
        if self.settings.relaxation == "gumbel":
            return binary_gumbel(logits, temperature, self.state.noise)
        device = logits.device
        return categorical_gumbel(
            logits,
            torch.from_numpy(document).to(device),
            torch.from_numpy(keyword.astype(np.int64)).to(device),
            (n_documents, self.data.training.n_keywords),
            temperature,
            self.state.noise,
        )

    def _advance_chains(self, iteration: int) -> None:
        state, settings = self.state, self.settings
        if state.chains is not None:
            state.chains = gibbs.gibbs_steps(
                state.chains,
                state.parameters.theta,
                settings.keyword_penalty,
                gibbs.gibbs_schedule(iteration),
                state.noise,
                allow_empty=settings.allow_empty,
            )

    def _check(self) -> None:
        """Looks at the held-out documents, keeps the best parameters, and decides whether to stop."""
        state, settings, position = self.state, self.settings, self.state.position
        if not len(self.data.held_out):
            state.keep_as_best()
            return
        value = held_out_bound(
            state.parameters, self.data.held_out, settings, observed_only=position.stage == PRETRAINING
        )
        position.history.append((position.stage, position.iteration, value))
        best = position.best_bound
        if not math.isfinite(value) or (best is not None and value < best - DIVERGED):
            raise TrainingError(
                f"{position.stage}, iteration {position.iteration}: the held-out bound went to {value:.3g} a token "
                f"(best {best if best is not None else float('nan'):.3g}); lower learning_rate. "
                "The last checkpoint is intact."
            )
        if best is None or value > best:
            position.best_bound = value
            state.keep_as_best()
        before = position.smoothed
        position.smoothed = value if before is None else settings.smoothing * before + (1 - settings.smoothing) * value
        if position.best_smoothed is None or position.smoothed > position.best_smoothed + settings.min_improvement:
            position.best_smoothed = position.smoothed
            position.checks_without_gain = 0
        else:
            position.checks_without_gain += 1
        position.stopped = settings.patience is not None and position.checks_without_gain >= settings.patience

    def _fail(self, iteration: int, terms: Terms) -> None:
        names = terms.not_finite()
        what = f"{', '.join(names)} not finite" if names else "the loss is not finite"
        raise TrainingError(
            f"{self.state.position.stage}, iteration {iteration}: {what}; lower learning_rate "
            f"(now {self.settings.learning_rate}). The last checkpoint is intact."
        )


__all__ = ["PRETRAINING", "TRAINING", "Split", "Trainer", "split"]
