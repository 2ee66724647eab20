from __future__ import annotations

import polars as pl
import pytest

from klda.errors import SettingError
from klda.text.languages import STEMMED, stem_words
from klda.text.stopwords import STOP_WORDS
from klda.text.text_settings import TextSettings
from klda.text.tokens import normalise


@pytest.mark.parametrize("word", ["world", "work", "home", "system", "health", "war", "people", "new", "bill", "state"])
def test_words_that_may_be_keywords_are_no_stop_words(word: str) -> None:
    assert word not in STOP_WORDS["en"]


@pytest.mark.parametrize("language", ["en", "es", "fr", "de", "it", "pt", "nl"])
def test_stop_words_are_written_as_tokens_are(language: str) -> None:
    assert len(STOP_WORDS[language]) > 80
    assert all(normalise(word) == word for word in STOP_WORDS[language])
    assert language in STEMMED


def test_mentions_and_stop_words_stay_when_asked() -> None:
    tokens = pl.Series(["the", "@who", "mask"])
    assert TextSettings().keeps(tokens).to_list() == [False, True, True]
    assert TextSettings(keep_mentions=False, keep_stop_words=True).keeps(tokens).to_list() == [True, False, True]


def test_the_stemmer_follows_the_language() -> None:
    assert TextSettings(language="es").stems(["trabajadores"]) == TextSettings(language="es").stems(["trabajador"])
    assert TextSettings(language="xx").stems(["trabajadores"]) == ["trabajadores"]
    assert TextSettings(stem=False).stems(["masks"]) == ["masks"]


def test_tags_emoji_and_abbreviations_are_not_stemmed() -> None:
    tokens = ["#masks", "@masks", "👍🏽", "u.s.", "d.c", "..."]
    assert stem_words(tokens) == ["#masks", "@masks", "👍🏽", "u.s", "d.c", "..."]


@pytest.mark.parametrize("settings", [{"min_count": 0}, {"language": "english"}, {"language": ""}])
def test_settings_out_of_range_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(SettingError, match=str(next(iter(settings)))):
        TextSettings(**settings)  # type: ignore[arg-type]
