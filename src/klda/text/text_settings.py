"""How text becomes words of a model: which tokens are kept, and how they are stemmed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from klda.errors import SettingError
from klda.text.languages import stem_words
from klda.text.stopwords import STOP_WORDS
from klda.text.tokens import is_word


@dataclass(frozen=True)
class TextSettings:
    """How text becomes words.

    Words, hashtags, mentions and emoji become words of a model. Web addresses, numbers, punctuation, single Latin
    letters and stop words do not. A language without a stemmer or stop words of its own is taken as it is written.
    """

    language: str = "en"
    """Two-letter code; it chooses stemmer, stop words and, for Japanese (ja) and Chinese (zh), the segmenter."""
    stem: bool = True
    min_count: int = 10
    """Words that occur less often become one placeholder."""
    keep_mentions: bool = True
    keep_stop_words: bool = False

    def __post_init__(self) -> None:
        if self.min_count < 1:
            raise SettingError(f"min_count must be at least 1, got {self.min_count}")
        if not (self.language.isascii() and self.language.isalpha() and 2 <= len(self.language) <= 3):
            raise SettingError(f"language {self.language!r}: give a code such as en, es or ja")

    def keeps(self, tokens: pl.Series) -> pl.Series:
        """Whether each token becomes a word of a model.

        >>> TextSettings().keeps(pl.Series(["the", "world", "@who", "2020"])).to_list()
        [False, True, True, False]
        """
        keep = is_word(tokens)
        if not self.keep_stop_words:
            keep &= ~tokens.is_in(list(STOP_WORDS.get(self.language, ())))
        if not self.keep_mentions:
            keep &= ~tokens.str.starts_with("@")
        return keep

    def stems(self, forms: Sequence[str]) -> list[str]:
        """The stem of each form; the form itself when stemming is off."""
        return stem_words(forms, self.language) if self.stem else list(forms)
