"""Plain texts given to a trained model, its topic-word matrix, and the warning that a model says nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from klda import KLDA, Corpus
from klda.errors import DataError, TrainingWarning
from klda.simulation import World
from klda.text.text_settings import TextSettings

KEYWORDS = ["health", "hospital", "climate"]
QUICK = {"n_topics": 3, "random_state": 1, "max_iterations": 0}


def corpus_of(stem: bool = True, posts: int = 1500) -> Corpus:
    settings = TextSettings(min_count=3, stem=stem)
    return Corpus.from_posts(World(weeks=3, posts_per_week=posts, seed=1), KEYWORDS, settings=settings)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return corpus_of()


@pytest.fixture(scope="module")
def model(corpus: Corpus) -> KLDA:
    return KLDA(pretraining_iterations=60, **QUICK).fit(corpus)


@pytest.mark.parametrize("stem", [True, False])
def test_texts_get_the_shares_that_their_posts_have_in_a_corpus(stem: bool) -> None:
    corpus = corpus_of(stem)
    model = KLDA(pretraining_iterations=20, **QUICK).fit(corpus)
    texts = corpus.posts.texts(corpus.documents.post[:50])
    np.testing.assert_allclose(model.transform(texts), model.transform(corpus.take(slice(0, 50))), atol=1e-6)


def test_a_text_without_a_keyword_gets_shares_by_its_words(model: KLDA) -> None:
    leading = [[word for word, _ in topic] for topic in model.topics(8)]
    own = [[w for w in words if sum(w in other for other in leading) == 1 and w not in KEYWORDS] for words in leading]
    shares = model.transform([" ".join(words * 3) for words in own])
    assert shares.argmax(1).tolist() == [0, 1, 2]
    np.testing.assert_allclose(model.transform(["entirely unheardof wordings", ""]).sum(1), 1)


def test_the_order_of_texts_is_kept(model: KLDA, corpus: Corpus) -> None:
    texts = ["no keyword here", *corpus.posts.texts(corpus.documents.post[:3]), "nor here"]
    shares = model.transform(texts)
    assert shares.shape == (5, 3)
    for text, share in zip(texts, shares, strict=True):
        np.testing.assert_allclose(model.transform([text])[0], share, atol=1e-4)
    assert model.transform([]).shape == (0, 3)


@pytest.mark.parametrize("wrong", ["one text", 7, [7], [None]])
def test_what_is_no_list_of_texts_is_refused_with_how_to_give_one(model: KLDA, wrong: object) -> None:
    with pytest.raises(DataError, match=r"transform\(\['some text'\]\)|post\.text for post in posts"):
        model.transform(wrong)  # type: ignore[arg-type]


def test_components_are_the_words_of_topics(model: KLDA) -> None:
    components = model.components_
    assert components.shape == (3, len(model.vocabulary_))
    np.testing.assert_allclose(components.sum(1), 1, atol=1e-4)
    for row, topic in zip(components, model.topics(5), strict=True):
        assert model.vocabulary_.display(1 + int(row[1:].argmax())) == topic[0][0]
    with pytest.raises(NotFittedError):
        KLDA().components_  # noqa: B018
    assert not hasattr(KLDA(), "components_")


def test_topics_that_are_nearly_alike_are_warned_of(corpus: Corpus, model: KLDA) -> None:
    with pytest.warns(TrainingWarning, match="topics have nearly the same words"):
        alike = KLDA(pretraining_iterations=0, **QUICK).fit(corpus)
    assert alike.topics_alike_
    assert not model.topics_alike_
    assert not KLDA(pretraining_iterations=0, **(QUICK | {"n_topics": 1})).fit(corpus).topics_alike_


def test_training_that_learnt_nothing_is_warned_of() -> None:
    with pytest.warns(TrainingWarning, match="give more posts") as told:
        KLDA(pretraining_iterations=100, **QUICK).fit(corpus_of(posts=150))
    assert told[0].filename == __file__
