"""How common a word is in its language, for when no sample of the stream is known.

The frequencies are those of `wordfreq` (books, news, subtitles, the web, social media, up to 2021), its small lists:
all words rarer than one in a million count the same. Words of one platform and of recent news are missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from klda.query import Condition, Either, SearchTerm
from klda.types import Keyword

RAREST = 1e-6
"""Frequency of words that are not listed."""

_PARTS = re.compile(r"[\s-]+")

_LISTED_AS = {"no": "nb"}  # of the two written forms of Norwegian, only the more common one is listed


def general_frequencies(keywords: Iterable[Keyword], language: str) -> NDArray[np.float64] | None:
    """The share of all words that each keyword makes up in a language; None for a language that is not listed. # (n,)

    The forms of a keyword add up. A phrase is as common as its rarest word, a hashtag as its word. So are words that
    AND joins; those that OR joins add up.

    >>> bitcoin, news, phrase = general_frequencies([Keyword("bitcoin"), Keyword("news"), Keyword("the news")], "en")
    >>> bool(bitcoin < news), bool(phrase == news)
    (True, True)
    """
    known = _listed(language)
    if known is None:
        return None
    return np.array([sum(_frequency(query.condition, known) for query in keyword.queries) for keyword in keywords])


def is_listed(language: str) -> bool:
    """Whether frequencies of this language's words are known.

    >>> is_listed("it"), is_listed("no"), is_listed("xx")
    (True, True, False)
    """
    return _listed(language) is not None


def _frequency(condition: Condition, known: Mapping[str, float]) -> float:
    if isinstance(condition, SearchTerm):
        words = (word for part in condition.words for word in _PARTS.split(part.casefold()) if word)
        return min((known.get(word.lstrip("#"), RAREST) for word in words), default=RAREST)
    of_parts = [_frequency(part, known) for part in condition.parts]
    return sum(of_parts) if isinstance(condition, Either) else min(of_parts)


@cache
def _listed(language: str) -> Mapping[str, float] | None:
    import wordfreq  # takes a moment to import, and only advice asks

    language = _LISTED_AS.get(language, language)
    if language not in wordfreq.available_languages("small"):
        return None
    found: Mapping[str, float] = wordfreq.get_frequency_dict(language, wordlist="small")
    return found
