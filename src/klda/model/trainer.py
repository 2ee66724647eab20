"""Training: pre-training on observed keywords, then the full model, until the held-out bound stops improving."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from klda.errors import DataError, DivergedError
from klda.model import prior, samplers
from klda.model.bags import Floats
from klda.model.batches import Batch, DocumentSampler, make_batch
from klda.model.bound import BoundTerms
from klda.model.data import TrainingData, gathered, totals
from klda.model.keyword_sets import Rows, all_observed, choose, enumerate_rows, log_weights, relaxed_rows
from klda.model.model_settings import ModelSettings
from klda.model.objective import (
    Parameters,
    batch_weights,
    row_keyword_log_probability,
    row_terms,
)
from klda.model.samplers import binary_gumbel, categorical_gumbel, gumbel, temperature_at
from klda.model.scores import held_out_bound, log_sum_rows
from klda.model.training_state import PRETRAINING, TRAINING, TrainingState
from klda.model.workers import ALONE, WorkerDraws, Workers, place, total
from klda.text.documents import room
from klda.types import Progress, silent

DIVERGED = 3.0
"""If the held-out bound falls by more nats a token than this below its best, training counts as diverged."""
LEAST_DOCUMENTS = 50
"""Fewest documents of each of several workers, so that every worker has some in each batch."""


@dataclass(frozen=True)
class Split:
    """Documents to train on, and documents that are held out."""

    training: TrainingData
    held_out: TrainingData


def split(data: TrainingData, settings: ModelSettings, workers: Workers = ALONE) -> Split:
    """Holds out a share of the documents, at random, never more than `max_held_out`.

    Of several workers, each trains on its own documents, and all hold out the same ones.
    """
    mine, n_documents = place(workers, len(data))
    if not n_documents:
        raise DataError("the corpus has no document that carries a candidate; check the candidates")
    n_held = min(int(n_documents * settings.held_out), settings.max_held_out)
    held = np.sort(np.random.default_rng([settings.random_state, 1]).permutation(n_documents)[:n_held])
    trained_on = np.ones(len(data), dtype=np.bool_)
    trained_on[held[(held >= mine.start) & (held < mine.stop)] - mine.start] = False
    training = data.pick(np.flatnonzero(trained_on))
    mean_weight = total(workers, float(training.weights.sum())) / total(workers, len(training))
    even = np.divide(training.weights, mean_weight, out=room(len(training), np.float64))
    return Split(replace(training, weights=even), gathered(data, held, workers).even())


def own_stretch(weights: Floats, workers: Workers) -> slice:
    """The documents of this worker, as a slice; all workers get about the same total weight."""
    if workers.size == 1:
        return slice(0, len(weights))
    edges = np.cumsum(weights)
    shares = np.arange(1, workers.size) / workers.size
    cuts = [0, *np.searchsorted(edges, shares * edges[-1:].sum()).tolist(), len(weights)]
    if min(np.diff(cuts)) < LEAST_DOCUMENTS:
        raise DataError(f"{len(weights):,} documents are too few for {workers.size} workers; use fewer")
    return slice(cuts[workers.rank], cuts[workers.rank + 1])


class Trainer:
    """One training run over arrays; `run` continues from the current state."""

    def __init__(self, parameters: Parameters, data: Split, settings: ModelSettings, workers: Workers = ALONE) -> None:
        self.settings = settings
        self.data = data
        self.workers = workers
        self.device = parameters.theta.device
        self.whole = totals(data.training, workers)
        self.state = TrainingState(parameters, data.training, settings, n_tokens=self.whole.n_tokens)
        self._sampler = DocumentSampler(data.training.weights, workers, uniform=settings.batches == "uniform")
        self._draws = WorkerDraws(workers, self.state.draws)
        share = torch.from_numpy(self.whole.keyword_frequency).float()
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
        if position.iteration == 0 and position.smoothed is None and total:
            self._check()
            if save is not None:
                save(state)  # a run that is killed at once can be resumed too
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
                    temperature=self._temperature(position.iteration),
                )
            except KeyboardInterrupt:
                # Between two iterations the state is whole; one that hits inside leaves the last check's.
                if save is not None:
                    save(state)
                raise

    def step(self) -> float:
        """One iteration over a batch of each worker; gives the bound of all a token."""
        position = self.state.position
        iteration = position.iteration + 1
        loss, terms, logits, pairs = self._loss(iteration)
        adam = self.state.adam
        adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        summed = loss.detach().clone()
        self.workers.add_up([summed, *adam.gradients()])
        value = summed.item()
        if not math.isfinite(value):
            self._fail(iteration, terms)
        adam.step()
        if logits is not None and logits.grad is not None:
            self.state.keyword_logits.step(pairs, logits.grad, iteration)
        position.iteration = iteration
        return -value

    def _loss(self, iteration: int) -> tuple[Tensor, BoundTerms, Tensor | None, Tensor]:
        """The loss of a fresh batch, its terms, and the logits of the pairs that are trained, with their numbers."""
        state, settings, data = self.state, self.settings, self.data.training
        theta = state.parameters.theta
        batch = make_batch(data, self._sampler.draw(settings.batch_size * self.workers.size, state.draws))
        document_weight, word_weight = batch_weights(self.whole, batch, settings, self.workers)
        pairs = torch.from_numpy(batch.pair).to(theta.device)
        logits: Tensor | None = None
        weight: Tensor | None = None  # of rows; 1 when a document has only one

        if state.position.stage == PRETRAINING:
            terms = self._observed_terms(batch)
        elif settings.relaxation == "exact":
            terms, weight = self._exact_terms(batch, iteration)
        else:
            logits = state.keyword_logits.values[pairs].requires_grad_()
            if settings.relaxation == "enumerate":
                terms, weight = self._enumerated_terms(batch, logits, iteration)
            else:
                terms = self._relaxed_terms(batch, logits, iteration)
        value = terms.total(document_weight=document_weight, word_weight=word_weight)
        loss = -(value.sum() if weight is None else value @ weight)
        if state.position.stage == TRAINING and self.workers.rank == 0:  # losses are added up; this part is no sum
            loss = loss + settings.frequency_penalty * prior.frequency_penalty(theta, self._empirical)
        return loss / self.whole.n_tokens, terms, logits, pairs

    def _observed_terms(self, batch: Batch) -> BoundTerms:
        """Pre-training: the observed candidates are the keywords, and their own probability plays no part."""
        rows = enumerate_rows(batch, all_observed(batch), allow_empty=True, device=self.device)
        nothing = torch.zeros(len(rows), device=self.device)
        return self._terms(rows, nothing, nothing)

    def _exact_terms(self, batch: Batch, iteration: int) -> tuple[BoundTerms, Tensor]:
        """Every keyword set of each document, weighed by the best q there is: in proportion to e^bound."""
        on = np.ones(len(batch.pair))
        choice = choose(batch, self.settings.enumeration_limit, on, self._draws)
        rows = enumerate_rows(
            batch,
            choice,
            allow_empty=False,
            device=self.device,
            shared=self.settings.share_sets,
            carried=None if self.workers.size == 1 else lambda keys: np.concatenate(self.workers.gather(keys)),
        )
        log_prior = self._log_prior(rows, batch, iteration)
        terms = self._terms(rows, log_prior, torch.zeros_like(log_prior))
        value = terms.total().detach()
        density = value - log_sum_rows(value, rows.document, len(batch))[rows.document]
        return replace(terms, keyword_posterior=-density), density.exp()

    def _enumerated_terms(self, batch: Batch, logits: Tensor, iteration: int) -> tuple[BoundTerms, Tensor]:
        """Every keyword set of each document, weighed by its probability under ε."""
        settings = self.settings
        rate = torch.sigmoid(logits.detach()).cpu().numpy()
        choice = choose(batch, settings.enumeration_limit, rate, self._draws)
        rows = enumerate_rows(batch, choice, allow_empty=settings.allow_empty, device=self.device)
        log_weight, rest = log_weights(rows, logits, choice, batch, allow_empty=settings.allow_empty)
        return self._terms(rows, self._log_prior(rows, batch, iteration), log_weight + rest), log_weight.exp()

    def _relaxed_terms(self, batch: Batch, logits: Tensor, iteration: int) -> BoundTerms:
        """One relaxed keyword vector a document, drawn under ε by one of the paper's two methods."""
        settings, temperature = self.settings, self._temperature(iteration)
        if settings.relaxation == "gumbel":
            mine, n_pairs = place(self.workers, len(logits))
            y = binary_gumbel(logits, temperature, gumbel((2, n_pairs), logits, self.state.noise)[:, mine])
        else:
            mine, n_documents = place(self.workers, len(batch))
            shape = (n_documents, *(self.data.training.n_keywords,) * 2)
            noise = gumbel(shape, logits, self.state.noise)[mine]
            document = torch.from_numpy(batch.pair_document).to(self.device)
            keyword = torch.from_numpy(batch.pair_keyword.astype(np.int64)).to(self.device)
            y = categorical_gumbel(logits, document, keyword, temperature, noise)
        rows = relaxed_rows(batch, y, threshold=settings.threshold)
        off = torch.nn.functional.logsigmoid(-logits)
        density = off.new_zeros(len(rows)).index_add(0, rows.member_row, y * logits + off)
        return self._terms(rows, self._log_prior(rows, batch, iteration), density)

    def _terms(self, rows: Rows, log_probability: Tensor, log_density: Tensor) -> BoundTerms:
        """The terms of every row, given log p_kw and log q of its keywords."""
        return row_terms(
            self.state.parameters,
            rows,
            self.settings,
            keyword_log_probability=log_probability,
            keyword_log_density=log_density,
            workers=self.workers,
        )

    def _log_prior(self, rows: Rows, batch: Batch, iteration: int) -> Tensor:
        """log p_kw of every row, after the chains (if there are any) have moved. # (R,)"""
        self._advance_chains(iteration)
        theta = self.state.parameters.theta
        return row_keyword_log_probability(theta, rows, batch, self.settings, self.state.chains)

    def _advance_chains(self, iteration: int) -> None:
        state, settings = self.state, self.settings
        if state.chains is not None:
            state.chains = samplers.gibbs_steps(
                state.chains,
                state.parameters.theta,
                settings.keyword_penalty,
                samplers.gibbs_schedule(iteration, period=settings.gibbs_period, long=settings.gibbs_steps),
                state.noise,
                allow_empty=settings.allow_empty,
            )

    def _temperature(self, iteration: int) -> float:
        settings = self.settings
        return temperature_at(iteration, rate=settings.cooling, lowest=settings.lowest_temperature)

    def _check(self) -> None:
        """Measures the bound of the held-out documents, keeps the best parameters, and decides whether to stop."""
        state, settings, position = self.state, self.settings, self.state.position
        if not self.data.held_out.lengths.sum():  # no document is held out, or none has a word
            state.keep_as_best()
            return
        value = held_out_bound(
            state.parameters,
            self.data.held_out,
            settings,
            observed_only=position.stage == PRETRAINING or settings.early_stop == "words",
            workers=self.workers,
        )
        position.history.append((position.stage, position.iteration, value))
        best = position.best_bound
        fell = settings.early_stop is not None and best is not None and value < best - DIVERGED
        if not math.isfinite(value) or fell:
            raise DivergedError(
                f"{position.stage}, iteration {position.iteration}: the held-out bound went to {value:.3g} a token "
                f"(best {best if best is not None else float('nan'):.3g}); fit again with a smaller step, "
                f"KLDA(learning_rate={settings.learning_rate / 4:g}). The last checkpoint is intact."
            )
        if settings.early_stop is None or best is None or value > best:
            position.best_bound = value
            state.keep_as_best()
        before = position.smoothed
        position.smoothed = value if before is None else settings.smoothing * before + (1 - settings.smoothing) * value
        if position.best_smoothed is None or position.smoothed > position.best_smoothed + settings.min_improvement:
            position.best_smoothed = position.smoothed
            position.checks_without_gain = 0
        else:
            position.checks_without_gain += 1
        patient = settings.early_stop is None or settings.patience is None
        position.stopped = not patient and position.checks_without_gain >= (settings.patience or 0)

    def _fail(self, iteration: int, terms: BoundTerms) -> None:
        names = terms.not_finite()
        what = f"{', '.join(names)} not finite" if names else "the loss is not finite"
        raise DivergedError(
            f"{self.state.position.stage}, iteration {iteration}: {what}; fit again with a smaller step, "
            f"KLDA(learning_rate={self.settings.learning_rate / 4:g}). The last checkpoint is intact."
        )


__all__ = ["PRETRAINING", "TRAINING", "Split", "Trainer", "split"]
