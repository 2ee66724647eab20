"""The words of each candidate under the model, against the same worked out one keyword set at a time."""

from __future__ import annotations

import numpy as np
import pytest

from klda.advice.advise import KLDAPolicy
from klda.advice.prediction import SETS_PER_KEYWORD, _averaged, _topic_shares, expected_words, train_model
from klda.advice.word_counts import keyword_word_counts, recency, word_counts
from klda.corpus.corpus import Corpus
from klda.corpus.simulation import World
from klda.errors import TrainingError
from klda.model.klda import KLDA
from klda.types import Budget, KeywordSet, Progress
from tests.unit.policies.few_posts import weekly


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    words = KeywordSet.of("health", "doctor", "nurse", "horse", "race", "never seen")
    return Corpus.from_posts(World(weeks=2, posts_per_week=800), words)


@pytest.fixture(scope="module")
def model(corpus: Corpus) -> KLDA:
    return KLDA(n_topics=2, pretraining_iterations=3, max_iterations=0).fit(corpus)


def slow_average(model: KLDA, corpus: Corpus, generator: np.random.Generator) -> np.ndarray:
    weight, shares = recency(corpus, 1.0), _topic_shares(model, corpus)
    result = np.zeros((len(corpus.candidates), len(corpus.vocabulary)))
    for column in range(len(corpus.candidates)):
        mine = [d for d in range(len(corpus)) if column in corpus.observed[d]]
        drawn = [[column]]
        if mine:
            chance = weight[mine] / weight[mine].sum()
            drawn = [corpus.observed[int(d)].tolist() for d in generator.choice(mine, SETS_PER_KEYWORD, p=chance)]
        for keywords in drawn:
            topics = model.topic_word([corpus.candidates[k] for k in keywords])
            result[column] += shares[column] / shares[column].sum() @ topics / len(drawn)
    return result


def test_words_of_many_sets_at_once_are_those_of_one_set_after_another(model: KLDA, corpus: Corpus) -> None:
    found = _averaged(model, corpus, np.random.default_rng(0))
    np.testing.assert_allclose(found, slow_average(model, corpus, np.random.default_rng(0)), rtol=1e-4, atol=1e-9)


def test_expected_words_are_as_many_as_were_counted(model: KLDA, corpus: Corpus) -> None:
    counts = keyword_word_counts(corpus)
    background = (word_counts(corpus) + 1) / (word_counts(corpus) + 1).sum()
    found = expected_words(model, corpus, counts, background, np.random.default_rng(0))
    np.testing.assert_allclose(found.sum(axis=1), counts.sum(axis=1))
    every_word = corpus.with_candidates(KeywordSet.of("horse", "race"))
    assert np.isfinite(
        expected_words(model, every_word, keyword_word_counts(every_word), background, np.random.default_rng(0))
    ).all()


def test_a_small_history_keeps_all_of_its_words() -> None:
    """Also those that it has only once, which are most of them."""
    history = weekly(["the doctor was late", "health for all"], ["doctor and nurse"], keywords=("doctor", "health"))
    trained: list[KLDA] = []

    def fit(model: KLDA, corpus: Corpus, progress: Progress) -> KLDA:
        trained.append(model.fit(corpus, progress=progress))
        return trained[-1]

    policy = KLDAPolicy(n_topics=2, iterations=1, predict=True, fit=fit)
    policy.propose(history, history.candidates, history.candidates, Budget(), generator=np.random.default_rng(0))
    assert trained[0].vocabulary_.words == history.vocabulary.words


def test_training_that_diverges_begins_anew_with_a_smaller_step(corpus: Corpus) -> None:
    steps: list[float] = []

    def fit(model: KLDA, corpus: Corpus, progress: Progress) -> KLDA:
        steps.append(model.learning_rate)
        if len(steps) < 3:
            raise TrainingError("diverged")
        return model

    train_model(corpus, n_topics=2, iterations=1, n_words=100, seed=0, fit=fit)
    assert steps[0] > steps[1] > steps[2] > 0


def test_advice_does_not_wait_for_a_model_that_cannot_be_trained(corpus: Corpus) -> None:
    def fit(model: KLDA, corpus: Corpus, progress: Progress) -> KLDA:
        raise TrainingError("diverged")

    policy = KLDAPolicy(predict=True, fit=fit)
    current = KeywordSet.of("health", "doctor")
    found = policy.propose(corpus, current, current, Budget(), generator=np.random.default_rng(0))
    assert len(found.next_keywords)
    assert any("topic model could not be trained" in note for note in found.notes)
