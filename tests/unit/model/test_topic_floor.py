"""A parametric f collapses: under some keywords one topic takes all. A floor keeps the others alive."""

from __future__ import annotations

import numpy as np
import pytest

from klda.errors import SettingError
from klda.model.data import TrainingData
from klda.model.generate import generate
from klda.model.initialise import first_parameters
from klda.model.model_settings import ModelSettings
from klda.model.networks import KeywordBags
from klda.model.scores import topic_shares
from klda.model.trainer import Trainer, split
from klda.text.documents import Ragged

N_TOPICS, N_WORDS, N_KEYWORDS = 3, 60, 4
SETTINGS = {
    "n_topics": N_TOPICS,
    "hidden": (8, 8),
    "batch_size": 64,
    "learning_rate": 0.03,
    "pretraining_iterations": 250,
    "max_iterations": 100,
    "patience": None,
    "topic_prior": "parametric",
}


@pytest.fixture(scope="module")
def data() -> TrainingData:
    """Documents whose keywords all bring three topics of equal weight."""
    own = np.random.default_rng(7).dirichlet(np.full(N_WORDS, 0.05), size=(N_KEYWORDS, N_TOPICS))
    keyword_words = Ragged.of([[j] for j in range(N_KEYWORDS)])
    drawn = generate(
        1500,
        theta=np.ones(N_KEYWORDS),
        penalty=2.0,
        keyword_words=keyword_words,
        topic_word=lambda columns: own[list(columns)].mean(0).astype(np.float32),
        generator=np.random.default_rng(0),
        length=12,
        poisson=True,
    )
    return TrainingData(
        drawn.indptr, drawn.words, drawn.counts, drawn.observed, keyword_words, N_WORDS, np.ones(len(drawn))
    )


def _fewest_topics(data: TrainingData, floor: float) -> float:
    """The number of topics in use (e to the entropy of their mean weights) under the keyword that has fewest."""
    settings = ModelSettings(**SETTINGS, topic_floor=floor)
    parts = split(data, settings)
    parameters = first_parameters(parts, settings)
    Trainer(parameters, parts, settings).run()
    shares = topic_shares(parameters, data, settings)  # (D, K)
    alone = data.observed.lengths == 1
    keyword = data.observed.values[data.observed.indptr[:-1][alone]]
    means = np.array([shares[alone][keyword == j].mean(0) for j in range(N_KEYWORDS)])  # (Q, K)
    return float(np.exp(-(means * np.log(means + 1e-12)).sum(1)).min())


def test_a_parametric_prior_collapses_to_one_topic_unless_it_has_a_floor(data: TrainingData):
    assert _fewest_topics(data, 0.0) < 1.3
    assert _fewest_topics(data, 0.5) > 1.7


def test_no_topic_is_expected_to_weigh_less_than_the_floor(data: TrainingData):
    settings = ModelSettings(**SETTINGS, topic_floor=0.5)
    parameters = first_parameters(split(data, settings), settings)
    parameters.topic_prior.bias.data[0] = 50.0  # f wants one topic only
    f = parameters.topic_prior(KeywordBags.of([[0], [1, 2]])).detach()
    share = f / f.sum(1, keepdim=True)
    assert float(share.min()) >= 0.5 / N_TOPICS - 1e-6


def test_a_floor_of_one_or_more_is_refused():
    with pytest.raises(SettingError, match="topic_floor"):
        ModelSettings(topic_floor=1.0)
