"""The words of each candidate under the model, against the same worked out one keyword set at a time."""

from __future__ import annotations

import numpy as np
import pytest

from klda.advice.advise import KLDAPolicy
from klda.advice.prediction import (
    MOST_POSTS,
    SETS_PER_KEYWORD,
    _averaged,
    _topic_shares,
    expected,
    expected_words,
    recent_posts,
    train_model,
)
from klda.advice.situation import Situation
from klda.advice.word_counts import keyword_word_counts, recency, word_counts
from klda.errors import DivergedError, TrainingError
from klda.model.klda import KLDA
from klda.simulation import World
from klda.text.corpus import Corpus
from klda.types import KeywordSet, Progress
from tests.unit.baselines.few_posts import weekly


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    words = KeywordSet.of("health", "doctor", "nurse", "horse", "race", "never seen")
    return Corpus.from_posts(World(weeks=2, posts_per_week=800), words)


@pytest.fixture(scope="module")
def model(corpus: Corpus) -> KLDA:
    return KLDA(n_topics=2, pretraining_iterations=3, max_iterations=0).fit(corpus)


def slow_average(model: KLDA, corpus: Corpus, generator: np.random.Generator) -> np.ndarray:
    weight, shares = recency(corpus, 1.0), _topic_shares(corpus, model.transform(corpus))
    result = np.zeros((*shares.shape, len(corpus.vocabulary)))
    for column in range(len(corpus.candidates)):
        mine = [d for d in range(len(corpus)) if column in corpus.observed[d]]
        drawn = [[column]]
        if mine:
            chance = weight[mine] / weight[mine].sum()
            drawn = [corpus.observed[int(d)].tolist() for d in generator.choice(mine, SETS_PER_KEYWORD, p=chance)]
        for keywords in drawn:
            topics = model.topic_word([corpus.candidates[k] for k in keywords])
            result[column] += shares[column][:, None] * topics / len(drawn)
    return result


def test_words_of_many_sets_at_once_are_those_of_one_set_after_another(model: KLDA, corpus: Corpus) -> None:
    found = _averaged(model, corpus, model.transform(corpus), np.random.default_rng(0))
    np.testing.assert_allclose(found, slow_average(model, corpus, np.random.default_rng(0)), rtol=1e-4, atol=1e-9)


def test_expected_words_are_as_many_as_were_counted(model: KLDA, corpus: Corpus) -> None:
    counts = keyword_word_counts(corpus)
    background = (word_counts(corpus) + 1) / (word_counts(corpus) + 1).sum()
    found = expected_words(expected(model, corpus, np.random.default_rng(0)), corpus, counts, background)
    np.testing.assert_allclose(found.sum(axis=1), counts.sum(axis=1))
    some = corpus.with_candidates(KeywordSet.of("horse", "race"))
    of_some = expected(model, some, np.random.default_rng(0))
    assert np.isfinite(expected_words(of_some, some, keyword_word_counts(some), background)).all()


def test_topic_weights_of_a_post_are_those_of_its_words(model: KLDA, corpus: Corpus) -> None:
    found = expected(model, corpus, np.random.default_rng(0))
    np.testing.assert_allclose(found.of_posts.sum(axis=1), 1.0)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1.0, rtol=1e-5)
    # The prior of a topic counts as a word: without it, posts are further from even.
    assert found.of_posts.max(axis=1).mean() > model.transform(corpus).max(axis=1).mean()


def test_posts_of_the_shown_lists_come_first(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("klda.advice.prediction.MOST_POSTS", 50)
    horse = np.array([corpus.candidates.index(keyword) for keyword in KeywordSet.of("horse", "race")])
    drawn = recent_posts(corpus, horse, seed=0)
    assert len(drawn) == 50 < MOST_POSTS
    assert (np.diff(drawn) > 0).all()
    of_lists = np.isin(drawn, corpus.carrying(["horse", "race"])).mean()
    assert of_lists == pytest.approx(0.8, abs=0.01)
    with pytest.raises(TrainingError, match="fewer than 20 recent posts"):
        recent_posts(corpus, np.array([corpus.candidates.index(k) for k in KeywordSet.of("never seen")]), seed=0)


def test_a_small_history_keeps_all_of_its_words() -> None:
    """Also those that it has only once, which are most of them."""
    history = weekly(
        ["the doctor was late", "health for all"] * 10, ["doctor and nurse"], keywords=("doctor", "health")
    )
    trained: list[KLDA] = []

    def fit(model: KLDA, corpus: Corpus, progress: Progress) -> KLDA:
        trained.append(model.fit(corpus, progress=progress))
        return trained[-1]

    policy = KLDAPolicy(n_topics=2, iterations=1, predict=True, fit=fit)
    policy.propose(
        Situation(history=history, current=history.candidates, candidates=history.candidates),
        generator=np.random.default_rng(0),
    )
    assert trained[0].vocabulary_.words == history.vocabulary.words


def test_training_that_diverges_begins_anew_with_a_smaller_step(corpus: Corpus) -> None:
    steps: list[float] = []

    def fit(model: KLDA, corpus: Corpus, progress: Progress) -> KLDA:
        steps.append(model.learning_rate)
        if len(steps) < 3:
            raise DivergedError("diverged")
        return model

    train_model(corpus, n_topics=2, iterations=1, n_words=100, seed=0, fit=fit)
    assert len(steps) == 3
    assert steps[0] > steps[1] > steps[2] > 0


def test_advice_does_not_wait_for_a_model_that_cannot_be_trained(corpus: Corpus) -> None:
    def fit(model: KLDA, corpus: Corpus, progress: Progress) -> KLDA:
        raise TrainingError("the bound is not finite; lower learning_rate")

    policy = KLDAPolicy(predict=True, fit=fit)
    current = KeywordSet.of("health", "doctor")
    found = policy.propose(
        Situation(history=corpus, current=current, candidates=current), generator=np.random.default_rng(0)
    )
    assert len(found.next_keywords)
    assert any("topic model could not be trained" in note for note in found.notes)
    assert not any("learning_rate" in note for note in found.notes)
    assert found.choices is not None
    assert found.choices.topics is None
