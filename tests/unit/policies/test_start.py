from __future__ import annotations

from datetime import UTC, datetime

import pytest

import klda
from klda.errors import SettingError
from klda.simulation import World

WORLD = World(weeks=3, posts_per_week=400)


def test_from_a_subject_and_posts_to_a_first_list_in_one_call():
    found = klda.start("health", WORLD, most=5)
    assert isinstance(found, klda.FirstList)
    assert found.keywords.texts[0] == "health"
    assert 0 < len(found.words) <= 5


def test_a_corpus_gives_the_same_list_as_its_posts():
    settings = klda.TextSettings(min_count=3)
    corpus = klda.Corpus.from_posts(WORLD, ["horse"], settings=settings)
    assert klda.start("health", corpus) == klda.start("health", WORLD)


def test_examples_may_be_posts_or_texts():
    time = datetime(2026, 1, 5, tzinfo=UTC)
    texts = ["the hospital asks for nurses", "a doctor of the hospital", "nurses and a doctor"]
    posts = [klda.Post(str(n), time, text) for n, text in enumerate(texts)]
    assert klda.start("health", WORLD, examples=posts) == klda.start("health", WORLD, examples=texts)


def test_a_list_of_no_words_is_refused():
    with pytest.raises(SettingError, match="most must be at least 1"):
        klda.start("health", WORLD, most=0)
