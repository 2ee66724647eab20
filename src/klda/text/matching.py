"""What "this post matches this keyword" means, for every part of the program.

A keyword matches when one of its forms does; a form matches when each of its words occurs in the text, in any order
(or side by side and in order, when asked). Both sides are normalised as the tokeniser does. A word occurs where its
characters stand between two boundaries: `drug` is found in "drug-free", "#drug", "@drug" and "a.com/drug?x", and not
in "drugs". `#drug` is found only with its sigil. Scripts that are written without spaces have a boundary everywhere.
These are the rules of a platform's streaming filter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from klda.errors import SettingError
from klda.text.documents import Ints, Ragged, Words, distinct, offsets
from klda.text.occurrence import WordFinder, side_by_side
from klda.text.tokens import Pieces, chained, cut, normalise
from klda.text.vocabulary import Vocabulary
from klda.types import KeywordSet

CHUNK = 32_768
"""Texts matched at a time."""


class Matcher:
    """Finds the keywords that texts carry; the time hardly depends on how many keywords there are.

    >>> matcher = Matcher(KeywordSet.of("computer virus", "#Mask", "drug"))
    >>> matcher.match("A virus in my COMPUTER! No mask, no drugs."), matcher.match("drug-free #mask")
    ([0], [1, 2])
    """

    def __init__(self, keywords: KeywordSet, *, adjacent: bool = False) -> None:
        self.keywords = keywords
        self.adjacent = adjacent
        self._phrases: list[tuple[str, ...]] = []  # the words of each form that has several, in order
        alone: dict[str, list[int]] = {}  # columns that a word matches on its own
        parts: dict[str, list[int]] = {}  # phrases that a word is a part of
        phrase_column: list[int] = []
        for column, keyword in enumerate(keywords):
            for form in keyword.forms:
                words = tuple(normalise(form).split())
                if not set("".join(words)) - set("#@"):
                    raise SettingError(f"keyword {keyword.text!r}: its form {form!r} has nothing to match")
                if len(words) == 1:
                    alone.setdefault(words[0], []).append(column)
                    continue
                for word in dict.fromkeys(words):
                    parts.setdefault(word, []).append(len(self._phrases))
                self._phrases.append(words)
                phrase_column.append(column)
        words = tuple(dict.fromkeys([*alone, *parts]))
        self._finder = WordFinder(words)
        self._alone = Ragged.of([alone.get(word, []) for word in words])
        self._parts = Ragged.of([parts.get(word, []) for word in words])
        self._phrase_column = np.array(phrase_column, dtype=np.int32)
        self._phrase_size = np.bincount(self._parts.values, minlength=len(self._phrases))

    def match(self, text: str) -> list[int]:
        """The columns of the keywords that a text carries, ascending."""
        found: list[int] = self.match_many([text]).values.tolist()
        return found

    def match_many(self, texts: Sequence[str]) -> Ragged:
        """The columns of the keywords that each text carries, ascending."""
        return Ragged.joined([self.match_pieces(cut(texts[i : i + CHUNK])) for i in range(0, len(texts), CHUNK)])

    def match_pieces(self, pieces: Pieces) -> Ragged:
        """As `match_many`, for texts that have been cut already."""
        words = self._finder.find(pieces.distinct)
        found = chained(pieces.texts, chained(words, self._alone))
        rows, columns = found.rows, found.values
        if self._phrases:
            more_rows, more_columns = self._match_phrases(pieces, words)
            rows, columns = np.concatenate([rows, more_rows]), np.concatenate([columns, more_columns])
        return _grouped(rows, columns, len(pieces.texts), len(self.keywords))

    def _match_phrases(self, pieces: Pieces, words: Ragged) -> tuple[Ints, Words]:
        """The texts that carry a phrase, and the column of that phrase, pair by pair."""
        n_parts, n_phrases = len(self._parts.values), len(self._phrases)
        part_numbers = Ragged(self._parts.indptr, np.arange(n_parts, dtype=np.int32))
        found = chained(pieces.texts, chained(words, part_numbers))
        rows, parts = np.divmod(distinct(found.rows * n_parts + found.values)[0], n_parts)
        pairs, present = distinct(rows * n_phrases + self._parts.values[parts])
        rows, phrases = np.divmod(pairs, n_phrases)
        complete = present == self._phrase_size[phrases]
        rows, phrases = rows[complete], phrases[complete]
        if self.adjacent:
            pairs_left = zip(rows.tolist(), phrases.tolist(), strict=True)
            close = [side_by_side(self._phrases[phrase], pieces.text(row)) for row, phrase in pairs_left]
            rows, phrases = rows[np.array(close, dtype=bool)], phrases[np.array(close, dtype=bool)]
        return rows, self._phrase_column[phrases]

    def words_of(self, vocabulary: Vocabulary) -> Ragged:
        """The vocabulary's words that each keyword covers: those with a surface form in which one of its words occurs.

        >>> words = Vocabulary.of({"mask": {"masks": 5, "mask": 4}, "#mask": {"#mask": 3}, "virus": {"virus": 2}})
        >>> Matcher(KeywordSet.of("mask", "#mask", "virus masks")).words_of(words).lists()
        [[1, 2], [2], [1, 3]]
        """
        surface = pl.Series([form for forms in vocabulary.forms for form in forms], dtype=pl.String)
        owner = np.repeat(np.arange(len(vocabulary)), [len(forms) for forms in vocabulary.forms])
        words = self._finder.find(surface)
        alone, parts = chained(words, self._alone), chained(words, self._parts)
        columns = np.concatenate([alone.values, self._phrase_column[parts.values]])
        covered = np.concatenate([owner[alone.rows], owner[parts.rows]])
        return _grouped(columns, covered, len(self.keywords), len(vocabulary))


def _grouped(rows: NDArray[Any], values: NDArray[Any], n_rows: int, n_values: int) -> Ragged:
    """The distinct values of each row, ascending."""
    width = max(1, n_values)
    rows, values = np.divmod(distinct(rows.astype(np.int64) * width + values)[0], width)
    return Ragged(offsets(np.bincount(rows, minlength=n_rows)), values.astype(np.int32))
