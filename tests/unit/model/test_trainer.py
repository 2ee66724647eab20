from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from klda.errors import DataError, TrainingError
from klda.model.data import TrainingData
from klda.model.model_settings import ModelSettings
from klda.model.networks import KeywordBags
from klda.model.objective import Parameters, initial_parameters, initial_theta
from klda.model.prior import log_partition_gradient
from klda.model.trainer import PRETRAINING, TRAINING, Trainer, split
from tests.unit.model.small import data_of, random_data

QUICK = ModelSettings(
    n_topics=2,
    hidden=(8, 8),
    batch_size=16,
    pretraining_iterations=6,
    max_iterations=8,
    check_every=4,
    held_out=0.2,
    patience=None,
)


def trainer_of(data: TrainingData, settings: ModelSettings) -> Trainer:
    parts = split(data, settings)
    parameters = initial_parameters(
        settings,
        n_words=data.n_words,
        word_frequency=parts.training.word_frequency,
        keyword_frequency=parts.training.keyword_frequency,
        generator=torch.Generator().manual_seed(settings.random_state),
    )
    return Trainer(parameters, parts, settings)


def copied(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in tensors.items()}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("relaxation", ["exact", "enumerate", "gumbel", "categorical"])
@pytest.mark.parametrize("partition", ["exact", "gibbs"])
def test_the_same_seed_gives_the_same_parameters_bit_for_bit(relaxation: str, partition: str):
    settings = replace(QUICK, relaxation=relaxation, partition=partition)
    runs = [trainer_of(random_data(), settings) for _ in range(2)]
    for run in runs:
        run.run()
    assert same(runs[0].state.tensors(), runs[1].state.tensors())
    other = trainer_of(random_data(), replace(settings, random_state=1))
    other.run()
    assert not same(runs[0].state.tensors(), other.state.tensors())


@pytest.mark.parametrize("stop_at", [3, 6, 11])
@pytest.mark.parametrize(("relaxation", "partition"), [("exact", "exact"), ("enumerate", "gibbs"), ("gumbel", "gibbs")])
def test_a_run_resumed_from_any_iteration_equals_one_that_never_stopped(stop_at, relaxation, partition):
    settings = replace(QUICK, relaxation=relaxation, partition=partition, topic_prior="parametric")
    data = random_data()
    whole = trainer_of(data, settings)
    whole.run()

    kept: list[tuple[dict[str, torch.Tensor], dict[str, object]]] = []
    seen = 0

    def interrupt(stage: str, done: int, total: int | None = None, **facts: float) -> None:
        nonlocal seen
        seen += 1
        if seen == stop_at:
            raise KeyboardInterrupt

    stopped = trainer_of(data, settings)
    with pytest.raises(KeyboardInterrupt):
        stopped.run(save=lambda state: kept.append((copied(state.tensors()), state.facts())), progress=interrupt)
    resumed = trainer_of(data, settings)
    resumed.state.restore(*kept[-1])
    resumed.run()
    assert same(resumed.state.tensors(), whole.state.tensors())
    assert resumed.state.position == whole.state.position


def test_a_run_resumed_from_any_of_its_checkpoints_equals_one_that_never_stopped():
    data = random_data()
    kept: list[tuple[dict[str, torch.Tensor], dict[str, object]]] = []
    whole = trainer_of(data, QUICK)
    whole.run(save=lambda state: kept.append((copied(state.tensors()), state.facts())))
    assert len(kept) == 6  # the start of each stage, and its checks
    for record in kept:
        resumed = trainer_of(data, QUICK)
        resumed.state.restore(*record)
        resumed.run()
        assert same(resumed.state.tensors(), whole.state.tensors())
        assert resumed.state.position == whole.state.position


def test_training_raises_the_held_out_bound():
    generator = np.random.default_rng(0)
    documents, observed = [], []
    for _ in range(300):
        j = int(generator.integers(2))
        documents.append([j, *(2 + 4 * j + generator.integers(0, 4, 6)).tolist()])
        observed.append([j])
    data = data_of(documents, observed, [[0], [1]], 10)
    trainer = trainer_of(data, replace(QUICK, pretraining_iterations=40, max_iterations=20, learning_rate=0.02))
    trainer.run()
    of_pretraining = [v for stage, _, v in trainer.state.position.history if stage == PRETRAINING]
    of_training = [v for stage, _, v in trainer.state.position.history if stage == TRAINING]
    assert of_pretraining[-1] > of_pretraining[0] + 0.3
    assert of_training[-1] >= of_training[0] - 0.01


def test_pre_training_leaves_theta_and_epsilon_alone():
    trainer = trainer_of(random_data(), replace(QUICK, max_iterations=0, relaxation="enumerate"))
    theta = trainer.state.parameters.theta.detach().clone()
    trainer.run()
    assert torch.equal(theta, trainer.state.parameters.theta)
    assert not trainer.state.keyword_logits.values.any()


def test_the_exact_posterior_needs_no_parameters_and_bounds_at_least_as_tightly():
    data = random_data()
    exact = trainer_of(
        data, replace(QUICK, batch_size=10_000, pretraining_iterations=0, enumeration_limit=4, share_sets=False)
    )
    epsilon = trainer_of(data, replace(exact.settings, relaxation="enumerate"))
    for trainer in (exact, epsilon):
        trainer.state.position.stage = TRAINING
    assert len(exact.state.keyword_logits.values) == 0
    assert exact.step() > epsilon.step()


class LogLinear(torch.nn.Module):
    """Another g: every keyword adds its own scores of words to those of a background; all topics start apart."""

    def __init__(self, n_keywords: int, n_topics: int, n_words: int) -> None:
        super().__init__()
        start = torch.randn(n_topics, n_words, generator=torch.Generator().manual_seed(0))
        self.keyword = torch.nn.Parameter(torch.zeros(n_keywords, n_topics * n_words))
        self.background = torch.nn.Parameter(0.1 * start)

    def log_distribution(self, bags: KeywordBags) -> torch.Tensor:
        scores = torch.nn.functional.embedding_bag(bags.keywords, self.keyword, bags.start, mode="sum")
        return torch.log_softmax(scores.view(-1, *self.background.shape) + self.background, -1)

    def word_log_probability(self, bags: KeywordBags, bag: torch.Tensor, word: torch.Tensor) -> torch.Tensor:
        return self.log_distribution(bags)[bag, :, word]

    def penalised(self) -> list[tuple[torch.nn.Parameter, int]]:
        return [(self.keyword, len(self.keyword))]


class Constant(torch.nn.Module):
    """Another f: the same weak preference for few topics, with nothing to train."""

    def forward(self, bags: KeywordBags) -> torch.Tensor:
        return torch.full((len(bags), QUICK.n_topics), 0.5)


def test_another_g_and_f_plug_in():
    data = random_data()
    settings = replace(QUICK, pretraining_iterations=30, max_iterations=10, learning_rate=0.05)

    def start() -> Trainer:
        parts = split(data, settings)
        theta = torch.nn.Parameter(initial_theta(parts.training.keyword_frequency, settings))
        g = LogLinear(data.n_keywords, settings.n_topics, data.n_words)
        return Trainer(Parameters(g, Constant(), theta), parts, settings)

    whole, again = start(), start()
    kept: list[tuple[dict[str, torch.Tensor], dict[str, object]]] = []
    whole.run(save=lambda state: kept.append((copied(state.tensors()), state.facts())))
    bounds = [value for stage, _, value in whole.state.position.history if stage == PRETRAINING]
    assert max(bounds) > bounds[0] + 0.01
    assert {"topic_word.keyword", "topic_word.background"} < whole.state.parameters.tensors().keys()
    again.state.restore(*kept[3])
    again.run()
    assert same(again.state.tensors(), whole.state.tensors())


def test_only_the_pairs_of_visited_documents_move():
    data = random_data(n_documents=200)
    trainer = trainer_of(data, replace(QUICK, pretraining_iterations=0, max_iterations=1, relaxation="gumbel"))
    trainer.run()
    moved = trainer.state.keyword_logits.values != 0
    assert 0 < int(moved.sum()) < data.n_pairs / 2
    assert torch.equal(moved, trainer.state.keyword_logits.last_visit == 1)


def test_the_end_has_the_parameters_of_the_best_check():
    trainer = trainer_of(random_data(), replace(QUICK, learning_rate=0.3, max_iterations=12))
    trainer.run()
    assert same(trainer.state.best, trainer.state.parameters.tensors())


def test_without_an_early_stop_all_iterations_are_run_and_the_last_parameters_are_kept():
    settings = replace(QUICK, learning_rate=0.3, max_iterations=12, patience=1, early_stop=None)
    trainer = trainer_of(random_data(), settings)
    last = {}
    trainer.run(
        progress=lambda stage, done, *_, **__: (
            last.update(copied(trainer.state.parameters.tensors())) if (stage, done) == (TRAINING, 12) else None
        )
    )
    bounds = [bound for stage, _, bound in trainer.state.position.history if stage == TRAINING]
    assert trainer.state.position.iteration == 12
    assert bounds[-1] < max(bounds), "the last parameters are not the best here"
    assert same(last, trainer.state.parameters.tensors())


def test_a_stop_by_words_does_not_watch_the_keywords_own_probability():
    def watched(early_stop: str) -> list[float]:
        settings = replace(QUICK, early_stop=early_stop, learning_rate=1e-9, pretraining_iterations=0)
        trainer = trainer_of(random_data(), settings)
        trainer.state.parameters.theta.data += 3.0  # p_kw now expects far more keywords than there are
        trainer.run()
        return [bound for *_, bound in trainer.state.position.history]

    moved = trainer_of(random_data(), replace(QUICK, early_stop="words", learning_rate=1e-9, pretraining_iterations=0))
    moved.run()
    assert watched("words") == pytest.approx([bound for *_, bound in moved.state.position.history], abs=1e-6)
    assert watched("bound")[0] < watched("words")[0] - 0.2


def test_a_stage_stops_when_the_smoothed_bound_no_longer_gains():
    settings = replace(QUICK, max_iterations=400, pretraining_iterations=400, patience=2, min_improvement=10.0)
    trainer = trainer_of(random_data(), settings)
    trainer.run()
    assert trainer.state.position.stopped
    assert trainer.state.position.iteration == 8


def test_nan_is_named_and_the_last_good_state_stays():
    data = random_data()
    trainer = trainer_of(data, replace(QUICK, pretraining_iterations=0))
    saved = []

    def spoil(stage: str, done: int, total: int | None = None, **facts: float) -> None:
        if done == 5:
            trainer.state.parameters.theta.data[0] = torch.nan

    with pytest.raises(
        TrainingError, match=r"training, iteration 6: keyword_prior.* not finite; fit again with a smaller step"
    ):
        trainer.run(save=lambda state: saved.append(copied(state.tensors())), progress=spoil)
    assert len(saved) == 2
    assert all(torch.isfinite(t).all() for t in saved[-1].values() if t.is_floating_point())


def test_divergence_is_found_at_the_next_check():
    trainer = trainer_of(random_data(), replace(QUICK, learning_rate=30.0, pretraining_iterations=100))
    with pytest.raises(TrainingError, match="held-out bound went to"):
        trainer.run()


def test_progress_tells_stage_bound_and_temperature():
    calls = []
    trainer = trainer_of(random_data(), QUICK)
    trainer.run(progress=lambda stage, done, total=None, **facts: calls.append((stage, done, total, facts)))
    assert [call[:3] for call in calls] == [
        *(("pretraining", i, 6) for i in range(1, 7)),
        *(("training", i, 8) for i in range(1, 9)),
    ]
    assert all(facts.keys() == {"bound", "temperature"} for *_, facts in calls)


def test_without_documents_there_is_nothing_to_train():
    with pytest.raises(DataError, match="candidate"):
        split(random_data().take(np.zeros(0, dtype=np.int64)), QUICK)


def test_watched_documents_without_a_word_are_as_none_to_watch():
    """Where posts are few, one that says nothing may be all that is held out."""
    training = random_data(n_documents=20)
    silent = data_of([[], []], [[0], [1]], training.keyword_words.lists(), training.n_words)
    runs = []
    for held_out in (silent, silent.take(np.zeros(0, dtype=np.int64))):
        run = trainer_of(training, replace(QUICK, held_out=0.0))
        run.data = replace(run.data, held_out=held_out)
        run.run()
        runs.append(run.state)
    assert runs[0].position.history == []
    assert same(runs[0].tensors(), runs[1].tensors())


def test_a_checkpoint_of_other_shapes_is_refused():
    one, other = trainer_of(random_data(), QUICK), trainer_of(random_data(n_words=9), QUICK)
    with pytest.raises(TrainingError, match="does not belong"):
        other.state.restore(one.state.tensors(), one.state.facts())


def test_calibrated_theta_gives_every_keyword_its_share():
    share = np.array([0.5, 0.4, 0.3, 0.1])
    theta = initial_theta(share, QUICK)
    rates = log_partition_gradient(theta, QUICK.keyword_penalty)
    torch.testing.assert_close(rates.double(), torch.from_numpy(share), atol=1e-4, rtol=0)
    literal = initial_theta(share, replace(QUICK, theta_start="log_frequency"))
    torch.testing.assert_close(literal.double(), torch.from_numpy(np.log(share)), atol=1e-6, rtol=0)
