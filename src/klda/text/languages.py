"""What is known of each language, and whether posts are in the one that was asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache

from klda.posts.language_detection import detect
from klda.text.general_frequency import is_listed
from klda.text.segmentation import SEGMENTED
from klda.text.stemming import STEMMED
from klda.text.stopwords import STOP_WORDS

FEWEST_TEXTS = 20
"""Texts below which nothing is said of a language: a short text is easily taken for another one."""
LANGUAGES = dict(
    sorted(
        (
            {code: name.capitalize() for code, name in STEMMED.items()}
            | SEGMENTED
            | {"bg": "Bulgarian", "bn": "Bengali", "cs": "Czech", "fa": "Persian", "fil": "Filipino", "he": "Hebrew"}
            | {"is": "Icelandic", "ko": "Korean", "lv": "Latvian", "mk": "Macedonian", "ms": "Malay", "sk": "Slovak"}
            | {"sl": "Slovene", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese"}
        ).items(),
        key=lambda language: language[1],
    )
)
"""Languages of which more is known than how their words are written, by code, in the order of their names."""
_EVERYWHERE = frozenset({"rt", "via", "amp"})  # platforms put these into posts of any language
_ALIKE = {"nb": "no", "nn": "no"}  # written forms of one language, which stemmer and guess name differently


def other_language(texts: Sequence[str], asked: str) -> tuple[str, int] | None:
    """The language that most of these texts look to be in where it is not the one asked for, and how many do.

    >>> other_language(["La scossa di terremoto è stata sentita anche a Modena."] * 20, "en")
    ('it', 20)
    >>> other_language(["The shock of the earthquake was felt in Modena."] * 20, "en") is None
    True
    """
    if len(texts) < FEWEST_TEXTS:
        return None
    own = _telling_words(asked)
    if 2 * sum(not own.isdisjoint(text.casefold().split()) for text in texts) >= len(texts):
        return None  # plain enough, and the model that guesses takes a moment to load
    guesses = Counter(_ALIKE.get(guess, guess) for guess in map(detect, texts) if guess)
    most = [(code, count) for code, count in guesses.items() if 2 * count > len(texts)]
    return most[0] if most and most[0][0] != _ALIKE.get(asked, asked) else None


@cache
def _telling_words(language: str) -> frozenset[str]:
    """The stop words of a language that no other list has: they tell it at a glance."""
    others = (words for code, words in STOP_WORDS.items() if code != language)
    return STOP_WORDS.get(language, frozenset()).difference(_EVERYWHERE, *others)


def taken_as_written(language: str) -> bool:
    """Whether nothing is known of a language: no stemmer, no stop words, no segmenter, no table of frequencies.

    >>> taken_as_written("en"), taken_as_written("ja"), taken_as_written("xx")
    (False, False, True)
    """
    return not (language in STEMMED or language in STOP_WORDS or language in SEGMENTED or is_listed(language))
