"""Languages: one spelling for tags, a guess where there is none."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import wordfreq
from hypothesis import given
from hypothesis import strategies as st

from klda import extras
from klda.errors import MissingExtraError
from klda.posts.language_detection import detect, primary
from klda.text import languages
from klda.text.corpus import Corpus
from klda.text.languages import LANGUAGES, SEGMENTED, STEMMED, taken_as_written
from klda.text.stopwords import STOP_WORDS
from klda.text.text_settings import TextSettings
from klda.text.tokens import cut, tokens_of
from klda.types import Post


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


TIME = datetime(2026, 1, 5, tzinfo=UTC)


@pytest.mark.parametrize("language", ["zh", "ja"])
def test_text_without_spaces_is_refused_without_the_extra(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "_is_installed", lambda name: False)
    languages.segmenter.cache_clear()
    with pytest.raises(MissingExtraError, match=r"pip install 'klda\[languages\]'"):
        Corpus.from_posts([Post("1", TIME, "日本")], ["日本"], settings=TextSettings(language=language))


def test_a_segmenter_cuts_runs_and_leaves_tags_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "segmenter", lambda _: list)
    tokens = languages.segmented(tokens_of(cut(["日本人 #日本 ok", "人"])), "zh")
    words = tokens.distinct.to_list()
    assert [[words[i] for i in row] for row in tokens.texts.lists()] == [["日", "本", "人", "#日本", "ok"], ["人"]]


def test_other_languages_are_not_segmented() -> None:
    tokens = tokens_of(cut(["日本人"]))
    assert languages.segmented(tokens, "en") is tokens


def test_chinese_is_segmented_with_the_extra() -> None:
    pytest.importorskip("jieba")
    languages.segmenter.cache_clear()
    assert languages.segmenter("zh")("我来到北京清华大学") == ["我", "来到", "北京", "清华大学"]


def test_japanese_is_segmented_with_the_extra() -> None:
    pytest.importorskip("fugashi")
    languages.segmenter.cache_clear()
    assert "日本" in languages.segmenter("ja")("私は日本に住んでいます")
