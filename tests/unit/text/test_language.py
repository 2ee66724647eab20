"""Languages: one spelling for tags, a guess where there is none."""

from __future__ import annotations

import pytest
import wordfreq
from hypothesis import given
from hypothesis import strategies as st

from klda.posts.language_detection import detect, primary
from klda.text.languages import LANGUAGES, taken_as_written
from klda.text.segmentation import SEGMENTED
from klda.text.stemming import STEMMED
from klda.text.stopwords import STOP_WORDS


@pytest.mark.parametrize(
    ("tag", "language"), [("EN", "en"), ("zh-Hant", "zh"), ("in", "id"), ("iw", "he"), ("fil", "fil")]
)
def test_tags_are_reduced_to_their_language(tag: str, language: str) -> None:
    assert primary(tag) == language


@pytest.mark.parametrize("tag", [None, "", " ", "und", "zxx", "qht", "qme"])
def test_tags_that_tell_nothing_are_none(tag: str | None) -> None:
    assert primary(tag) is None


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Der Ausschuss wird am Donnerstag über den Haushalt beraten.", "de"),
        ("El comité volverá a reunirse el jueves para debatir el presupuesto.", "es"),
        ("委員会は木曜日に予算について議論します。", "ja"),
    ],
)
def test_sentences_are_told_apart(text: str, language: str) -> None:
    assert detect(text) == language


@given(st.text())
def test_any_text_has_a_language_or_none(text: str) -> None:
    language = detect(text)
    assert language is None or language == primary(language)


def test_every_language_of_which_something_is_known_has_a_name():
    listed = set(wordfreq.available_languages("small")) - {"nb", "sh"}  # Norwegian has the code no; sh is no language
    assert set(LANGUAGES) == listed | set(STEMMED) | set(STOP_WORDS) | set(SEGMENTED)
    assert not any(taken_as_written(code) for code in LANGUAGES)
