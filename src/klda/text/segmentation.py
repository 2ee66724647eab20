"""Japanese and Chinese text cut into words, by the segmenters of the extra `languages`."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import polars as pl

from klda.extras import require
from klda.text.documents import Ragged
from klda.text.tokens import Tokens, chained

SEGMENTED = {"ja": "Japanese", "zh": "Chinese"}
"""Languages whose text is cut into words, by their two-letter code."""
_RUN = r"[\p{Han}\p{Hiragana}\p{Katakana}ー々]"


def segmented(tokens: Tokens, language: str) -> Tokens:
    """The same texts, with tokens in a script without spaces cut into words when the language is ja or zh.

    Hashtags and mentions stay whole: people search for them as they are.
    """
    if language not in SEGMENTED:
        return tokens
    segment = segmenter(language)
    runs = tokens.distinct.str.contains(_RUN) & ~tokens.distinct.str.contains("^[#@]|://")
    number: dict[str, int] = {}
    lists = [
        [number.setdefault(word, len(number)) for word in (segment(token) if run else [token])]
        for token, run in zip(tokens.distinct.to_list(), runs.to_list(), strict=True)
    ]
    return Tokens(pl.Series(list(number), dtype=pl.String), chained(tokens.texts, Ragged.of(lists)))


@lru_cache(maxsize=2)
def segmenter(language: str) -> Callable[[str], list[str]]:
    """What cuts a run of Japanese (ja) or Chinese (zh) text into words."""
    require("languages", f"cutting {SEGMENTED[language]} text into words")
    if language == "zh":
        import jieba

        jieba.setLogLevel("ERROR")
        tokenizer = jieba.Tokenizer()
        return lambda text: [str(word) for word in tokenizer.lcut(text)]
    import fugashi

    tagger = fugashi.Tagger()
    return lambda text: [str(word.surface) for word in tagger(text)]
