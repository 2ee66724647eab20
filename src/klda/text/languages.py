"""What depends on the language of posts: stems, words of scripts without spaces, and which language posts are in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, lru_cache

import polars as pl
import Stemmer

from klda.extras import require
from klda.posts.language_detection import detect
from klda.text.documents import Ragged
from klda.text.general_frequency import is_listed
from klda.text.stopwords import STOP_WORDS
from klda.text.tokens import Tokens, chained

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
    """A function that cuts a run of Japanese (ja) or Chinese (zh) text into words."""
    require("languages", f"cutting {SEGMENTED[language]} text into words")
    if language == "zh":
        import jieba

        jieba.setLogLevel("ERROR")
        tokenizer = jieba.Tokenizer()
        return lambda text: [str(word) for word in tokenizer.lcut(text)]
    import fugashi

    tagger = fugashi.Tagger()
    return lambda text: [str(word.surface) for word in tagger(text)]


FEWEST_TEXTS = 20
"""With fewer texts, no language is guessed: guesses on short texts are often wrong."""
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
"""Languages with a stemmer, stop words, a segmenter or frequencies, by code, sorted by name."""
_EVERYWHERE = frozenset({"rt", "via", "amp"})  # platforms put these into posts of any language
_ALIKE = {"nb": "no", "nn": "no"}  # written forms of one language; the guess names them, the stemmer does not


def other_language(texts: Sequence[str], asked: str) -> tuple[str, int] | None:
    """The language of most of these texts and their number, if it is another one than was asked for.

    >>> other_language(["La scossa di terremoto è stata sentita anche a Modena."] * 20, "en")
    ('it', 20)
    >>> other_language(["The shock of the earthquake was felt in Modena."] * 20, "en") is None
    True
    """
    if len(texts) < FEWEST_TEXTS:
        return None
    own = _telling_words(asked)
    if 2 * sum(not own.isdisjoint(text.casefold().split()) for text in texts) >= len(texts):
        return None  # sure enough, without loading the model that guesses
    guesses = Counter(_ALIKE.get(guess, guess) for guess in map(detect, texts) if guess)
    most = [(code, count) for code, count in guesses.items() if 2 * count > len(texts)]
    return most[0] if most and most[0][0] != _ALIKE.get(asked, asked) else None


@cache
def _telling_words(language: str) -> frozenset[str]:
    """The stop words that only this language has, which identify it quickly."""
    others = (words for code, words in STOP_WORDS.items() if code != language)
    return STOP_WORDS.get(language, frozenset()).difference(_EVERYWHERE, *others)


def taken_as_written(language: str) -> bool:
    """Whether nothing is known of a language: no stemmer, no stop words, no segmenter, no table of frequencies.

    >>> taken_as_written("en"), taken_as_written("ja"), taken_as_written("xx")
    (False, False, True)
    """
    return not (language in STEMMED or language in STOP_WORDS or language in SEGMENTED or is_listed(language))
