from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import klda.advice.first_list as module
from klda.advice.first_list import first_list, subject_keyword
from klda.errors import SettingError
from klda.text.corpus import Corpus
from klda.text.text_settings import TextSettings
from klda.types import Post

TEXTS = (
    "the ballot was counted and every voter queued at the polls",
    "a voter asked for a ballot by mail before the election",
    "voters and turnout: the election is on Tuesday, said the clerk",
    "the pasta needs garlic and a good sauce from the oven",
    "grilled chicken with garlic, a recipe for the oven",
    "rain and wind over the hills on the weekend",
    "the match ended with a late goal and a red card",
)


def corpus(texts: tuple[str, ...] = TEXTS, times: int = 40) -> Corpus:
    monday = datetime(2026, 1, 5, tzinfo=UTC)
    posts = [
        Post(f"{n}-{i}", monday + timedelta(hours=8 * n + i), f"{text} {n}")
        for n in range(times)
        for i, text in enumerate(texts)
    ]
    return Corpus.from_posts(posts, ["anything"], settings=TextSettings(min_count=3))


@pytest.fixture(scope="module")
def known() -> Corpus:
    return corpus()


@pytest.fixture
def without_vectors(monkeypatch):
    monkeypatch.setattr(module, "word_vectors", lambda texts, language="en": None)


def test_the_subject_itself_comes_first_with_its_posts(known):
    first = first_list(known, "election").words[0]
    assert (first.keyword.text, first.posts, first.relevance) == ("election", 80, 1.0)
    assert first.text == "The subject in your own words"


def test_words_of_the_subject_are_listed_and_words_of_other_subjects_are_not(known):
    words = set(first_list(known, "election").keywords.texts)
    assert words & {"ballot", "voters", "voter", "polls", "turnout"}
    assert not words & {"garlic", "oven", "goal", "hills"}


def test_each_word_has_posts_that_show_it(known):
    for word in first_list(known, "election").words:
        assert word.examples
        assert any(form in example.text for form in word.keyword.forms for example in word.examples) or (
            " " in word.keyword.text
        )


def test_a_list_has_at_most_so_many_words(known):
    assert len(first_list(known, "election", most=2).words) == 2


def test_a_subject_that_no_post_has_is_met_by_words_near_in_meaning(known):
    found = first_list(known, "voting")
    assert "voting" not in found.keywords.texts
    assert "No known post has the words of the subject: voting." in found.notes
    assert set(found.keywords.texts) & {"ballot", "voters", "voter", "election"}


def test_a_subject_far_from_all_posts_finds_nothing_and_says_so(known):
    found = first_list(known, "submarine cables")
    assert found.words == ()
    assert any("fits the subject" in note for note in found.notes)
    assert repr(found) == "<FirstList for 'submarine cables': no word fits>"


def test_without_vectors_a_list_starts_from_the_words_of_the_subject(known, without_vectors):
    found = first_list(known, "garlic and oven", use_vectors=True)
    assert found.words
    assert any(note.startswith("No word vectors for language en") for note in found.notes)
    assert first_list(known, "ocean").words == ()


def test_example_posts_tell_words_that_the_subject_does_not(known, without_vectors):
    examples = ["grilled chicken with garlic", "a recipe with chicken", "chicken and garlic from the oven"]
    assert first_list(known, "dinner").words == ()
    words = first_list(known, "dinner", examples)
    assert "chicken" in words.keywords.texts
    assert next(word for word in words.words if word.keyword.text == "chicken").text == "In 3 of your 3 example posts"


def test_function_words_of_a_subject_do_not_count():
    assert subject_keyword("The cars of Norway", TextSettings()).texts == ("cars of norway",)
    with pytest.raises(SettingError, match="names nothing"):
        subject_keyword("of the", TextSettings())


def test_words_are_picked_by_their_numbers(known):
    found = first_list(known, "election")
    assert found.picked(2, 1).texts == (found.keywords.texts[1], found.keywords.texts[0])
    with pytest.raises(SettingError, match="no word 99"):
        found.picked(99)


def test_a_notebook_shows_a_row_for_each_word(known):
    found = first_list(known, "election")
    assert found._repr_html_().count("<tr>") == len(found.words) + 1
    plain = found.to_dict()["words"]
    assert isinstance(plain, list)
    assert [word["number"] for word in plain] == list(range(1, len(found.words) + 1))
