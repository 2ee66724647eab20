"""How common words are in a language at large."""

from __future__ import annotations

import numpy as np

from klda.text.general_frequency import RAREST, general_frequencies
from klda.types import Keyword


def _of(*texts: str, language: str = "en") -> list[float]:
    found = general_frequencies([Keyword(text) for text in texts], language)
    assert found is not None
    return found.tolist()


def test_everyday_words_are_more_common_than_names() -> None:
    day, police, manchester, unheard = _of("day", "police", "manchester", "redlung")
    assert day > police > manchester > unheard == RAREST


def test_case_and_hash_do_not_matter() -> None:
    assert len(set(_of("Police", "police", "#POLICE"))) == 1


def test_a_phrase_is_as_common_as_its_rarest_word_and_forms_add_up() -> None:
    one, two, phrase = _of("law", "enforcement", "law enforcement")
    assert phrase == min(one, two)
    both = general_frequencies([Keyword("law", ("law", "enforcement"))], "en")
    assert both is not None
    assert np.isclose(both[0], one + two)


def test_other_languages_have_words_of_their_own() -> None:
    assert _of("polizei", language="de")[0] > _of("polizei")[0]
    assert _of("警察", language="ja")[0] > RAREST  # whole words are looked up: no segmenter is needed


def test_a_language_that_is_not_listed_is_unknown() -> None:
    assert general_frequencies([Keyword("fara")], "mg") is None
