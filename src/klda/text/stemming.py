"""Stems of words, by language; the forms that people write are kept elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import Stemmer

_NAMES = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "et": "estonian", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
STEMMED = {code: name for code, name in _NAMES.items() if name in Stemmer.algorithms()}
"""Languages that have a stemmer here, by their two-letter code."""


def stem_words(words: Sequence[str], language: str = "en") -> list[str]:
    """The stem of each word; hashtags, mentions, emoji, abbreviations and languages without a stemmer stay whole.

    >>> stem_words(["veterans", "veteran's", "#veterans", "👍", "u.s."])
    ['veteran', 'veteran', '#veterans', '👍', 'u.s']
    """
    bare = [word.rstrip(".") or word for word in words]
    name = STEMMED.get(language)
    if name is None:
        return bare
    stemmer = Stemmer.Stemmer(name, 0)  # no cache: callers ask for distinct words
    stems: list[str] = stemmer.stemWords(bare)
    return [w if w[0] in "#@" or "." in w else s for w, s in zip(bare, stems, strict=True)]
