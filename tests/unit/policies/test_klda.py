"""The words of each candidate under the model, against the same worked out one keyword set at a time."""

from __future__ import annotations

import numpy as np
import pytest

from klda.corpus.corpus import Corpus
from klda.corpus.simulation import World
from klda.evaluation.open_loop import answer_of
from klda.model.klda import KLDA
from klda.policies.klda import SETS_PER_KEYWORD, KLDAPolicy, _averaged, _topic_shares, expected_words
from klda.policies.word_counts import keyword_word_counts, recency, word_counts
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

    policy = KLDAPolicy(n_topics=2, iterations=1, fit=fit)
    policy.propose(history, history.candidates, history.candidates, Budget(), generator=np.random.default_rng(0))
    assert trained[0].vocabulary_.words == history.vocabulary.words


@pytest.fixture(scope="module")
def everything() -> Corpus:
    """All posts with a candidate, whatever the list."""
    words = KeywordSet.of("health", "doctor", "nurse", "hospital", "patient", "horse", "race", "climate")
    return Corpus.from_posts(World(weeks=3, posts_per_week=1500), words)


def _proposed(everything: Corpus, top: int = 2, **settings: object):
    policy = KLDAPolicy(n_topics=2, iterations=5, top=top, **settings)
    current = KeywordSet.of("health", "doctor", "nurse")
    return policy.propose(everything, current, everything.candidates, Budget(), generator=np.random.default_rng(0))


def test_where_all_posts_are_known_the_list_is_extended_as_a_whole(everything: Corpus) -> None:
    together, apart = _proposed(everything), _proposed(everything, joint=False)
    words = {word for row in together.per_keyword.values() for word in row}
    assert 1 <= len(words) <= 2
    assert words <= set(together.ranked.texts[:2])
    assert len({word for row in apart.per_keyword.values() for word in row}) > 2


def test_what_extends_a_list_is_among_its_ranked_candidates_in_that_order(everything: Corpus) -> None:
    found = _proposed(everything)
    place = {text: at for at, text in enumerate(found.ranked.texts)}
    for row in found.per_keyword.values():
        assert [place[word] for word in row] == sorted(place[word] for word in row)


def test_a_longer_answer_cut_short_is_what_would_have_been_proposed_when_fewer_words_were_asked_for(everything: Corpus):
    longer, shorter = _proposed(everything, top=3), _proposed(everything, top=2)
    assert longer.together
    assert answer_of("klda", longer, 0.0).proposed(2) == dict(shorter.per_keyword)
    assert answer_of("klda", longer, 0.0).proposed(3) == dict(longer.per_keyword)


def test_lists_of_keywords_by_themselves_are_cut_one_by_one(everything: Corpus) -> None:
    apart = _proposed(everything, top=3, joint=False)
    assert not apart.together
    assert answer_of("klda", apart, 0.0).proposed(2) == {key: row[:2] for key, row in apart.per_keyword.items()}
