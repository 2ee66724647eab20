"""Of overlapping phrases, the longest is the keyword of a document."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from klda.model.data import training_data
from klda.model.klda import KLDA
from klda.text.corpus import Corpus
from klda.text.text_settings import TextSettings
from klda.types import Post
from tests.unit.model.small import QUICK

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
TEXTS = ("a computer virus spreads", "the flu virus spreads", "my computer is slow", "viruses and a computer virus")


def corpus_of(*candidates: str) -> Corpus:
    posts = [Post(str(i), MONDAY + timedelta(hours=i), text) for i, text in enumerate(TEXTS)]
    return Corpus.from_posts(posts, candidates, settings=TextSettings(min_count=1))


def test_a_document_with_a_phrase_is_not_also_one_with_a_word_of_it():
    data = training_data(corpus_of("virus", "computer virus"))
    assert data.observed.lists() == [[1], [0], [1]]
    assert data.n_pairs == 3


def test_a_longer_phrase_hides_a_shorter_one():
    data = training_data(corpus_of("computer virus", "computer virus spreads"))
    assert data.observed.lists() == [[1], [0]]


def test_candidates_that_are_no_part_of_each_other_both_count():
    data = training_data(corpus_of("virus", "computer", "slow"))
    assert data.observed.lists() == [[0, 1], [0], [1, 2], [0, 1]]


def test_texts_are_read_by_the_same_rule():
    model = KLDA(**QUICK).fit(corpus_of("virus", "computer virus"))
    alone = KLDA(**QUICK).fit(corpus_of("virus", "computer virus")).keyword_frequency_
    assert alone.tolist() == [1 / 3, 2 / 3]
    assert model.transform([TEXTS[0]]).shape == (1, 2)
