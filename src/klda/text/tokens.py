"""Text as words: normalising, which matching uses too, and cutting into tokens."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from klda.text.documents import Ints, Ragged, Words, gather, offsets

_COMMON = str.maketrans(
    {"‘": "'", "’": "'", "´": "'", "“": '"', "”": '"', "\ufe0f": None, "™": " ", "℠": " "}
)  # before NFKC, which makes an accent of ´ and letters of ™
_ALL = _COMMON | str.maketrans(
    {
        **dict.fromkeys("‛ʼ′`", "'"),
        **dict.fromkeys("„‟«»″", '"'),
        **dict.fromkeys("‐‑", "-"),  # hyphens only: dashes part words
        **dict.fromkeys("\ufe0e\u00ad\u2060\ufeff", None),  # choose a glyph or a line break; nobody types them
        "\u200b": " ",
    }
)

_WEB = r"https?://\S+ | www\.\S+ | (?:[\w-]+\.)+[a-z]{2,}/\S* | \w[\w.+-]*@[\w-]+(?:\.[\w-]+)+"
_PICTURE = r"[\p{Extended_Pictographic}--[©®]]\p{Emoji_Modifier}?"
_EMOJI = rf"""
    [0-9\#*]\x{{20E3}}                                                 # keycaps
  | \p{{Regional_Indicator}}{{2}}                                      # flags
  | {_PICTURE}[\x{{E0020}}-\x{{E007F}}]*(?:\x{{200D}}{_PICTURE})*      # sequences, skin tones, flags of regions
"""
_TOKEN = rf"""(?x)
    {_WEB}
  | {_EMOJI}
  | @\w+(?:@[\w-]+(?:\.[\w-]+)+ | (?:\.[a-z0-9-]+){{2,}})?             # also @name@host and @name.bsky.social
  | \#\w+
  | \p{{L}}(?:\.\p{{L}})+\b\.?                                         # u.s.
  | \w+(?:['-]\w+)*                                                    # don't, covid-19
"""
_NO_WORD = rf"(?x) ^(?: {_WEB} | [\#@]?[\d\W_]+ | \p{{Latin}} )$"
_IS_EMOJI = rf"(?x) ^(?: {_EMOJI} )$"


def normalise(text: str) -> str:
    """The text in the form in which texts are compared: NFKC, case folded, straight quotes, HTML entities resolved.

    >>> normalise("Don’t PANIC &amp; ｃａｒｒｙ a Straße")
    "don't panic & carry a strasse"
    """
    if "&" in text:
        text = html.unescape(text)
    if text.isascii():
        return text.lower()
    text = text.translate(_COMMON)  # often only quotes are not ASCII
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text).casefold().replace("i\u0307", "i")  # İ has its dot twice
    return unicodedata.normalize("NFKC", folded.translate(_ALL))


def tokenise(text: str) -> list[str]:
    """The tokens of a text, in order: words, hashtags, mentions, emoji, web addresses; punctuation is left out.

    >>> tokenise("Don’t miss #COVID19 news, @WHO: https://who.int/x 👍🏽🇫🇷 covid-19")
    ["don't", 'miss', '#covid19', 'news', '@who', 'https://who.int/x', '👍🏽', '🇫🇷', 'covid-19']
    """
    found: list[str] = pl.Series([normalise(text)]).str.extract_all(_TOKEN).to_list()[0]
    return found


@dataclass(frozen=True)
class Pieces:
    """Texts cut at white space, each distinct piece once.

    Tokens and words of keywords contain no white space, so distinct pieces are searched instead of texts. They have
    several times fewer characters.
    """

    distinct: pl.Series  # of strings, normalised
    texts: Ragged  # the pieces of each text, in order

    def text(self, row: int) -> str:
        """A text again, normalised."""
        return " ".join(self.distinct.gather(self.texts[row]).to_list())


def cut(texts: Sequence[str] | pa.Array) -> Pieces:
    """The pieces of these texts.

    >>> pieces = cut(["Stay home", "stay  HOME stay"])
    >>> pieces.distinct.to_list(), pieces.texts.lists()
    (['stay', 'home', 'stay', 'home'], [[0, 1], [2, 3, 2]])
    """
    array = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.large_string())
    split = pc.ascii_split_whitespace(array)
    encoded = split.flatten().dictionary_encode()
    raw = pl.Series(encoded.dictionary, dtype=pl.String)
    hard = raw.str.contains(r"[^\x00-\x7F]|&").arg_true()  # all others only need lower case
    normal = raw.str.to_lowercase().scatter(hard, [normalise(piece) for piece in raw.gather(hard)])
    indptr = split.offsets.to_numpy().astype(np.int64)
    return Pieces(normal, Ragged(indptr - indptr[0], encoded.indices.to_numpy()))


@dataclass(frozen=True)
class Tokens:
    """The tokens of many texts, each distinct one once."""

    distinct: pl.Series  # of strings
    texts: Ragged  # the tokens of each text, in order


def tokens_of(pieces: Pieces) -> Tokens:
    """The tokens of these texts.

    >>> tokens = tokens_of(cut(["Stay home!", "(home)"]))
    >>> tokens.distinct.to_list(), tokens.texts.lists()
    (['stay', 'home'], [[0, 1], [1]])
    """
    found = pieces.distinct.str.extract_all(_TOKEN)
    lists = found.to_arrow(compat_level=pl.CompatLevel.oldest())
    encoded = lists.flatten().dictionary_encode()
    of_piece = Ragged(lists.offsets.to_numpy(), encoded.indices.to_numpy())
    return Tokens(pl.Series(encoded.dictionary, dtype=pl.String), chained(pieces.texts, of_piece))


def chained(outer: Ragged, inner: Ragged) -> Ragged:
    """Each list of `outer` with every value replaced by the list of `inner` that it names.

    >>> chained(Ragged.of([[1, 0], [], [1]]), Ragged.of([[7], [8, 9]])).lists()
    [[8, 9, 7], [], [8, 9]]
    """
    lengths: Ints = inner.lengths[outer.values]
    values: Words = inner.values[gather(inner.indptr[outer.values], lengths)]
    return Ragged(offsets(lengths)[outer.indptr], values)


def is_word(tokens: pl.Series) -> pl.Series:
    """Whether each token can be a word of a model: not a web address, a number, a bare sigil or a single Latin letter.

    >>> is_word(pl.Series(["home", "#home", "@home", "👍", "https://home.com", "2020", "1,5", "x"])).to_list()
    [True, True, True, True, False, False, False, False]
    """
    return ~tokens.str.contains(_NO_WORD) | tokens.str.contains(_IS_EMOJI)
