"""What "this post matches this keyword" means, for every part of the program.

A keyword matches when one of its forms does; a form matches when each of its words occurs in the text, in any order
(or side by side and in order, when asked). Both sides are normalised as the tokeniser does. A word occurs where its
characters stand between two boundaries: so `drug` is found in "drug-free", "#drug", "@drug", "a.com/drug?x", and not in
"drugs". `#drug` is found only with its sigil. Scripts that are written without spaces have a boundary everywhere.
These are the rules of a platform's streaming filter.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain

import ahocorasick
import numpy as np
import polars as pl
from numpy.typing import NDArray

from klda.corpus.documents import Ragged, offsets
from klda.corpus.tokens import Pieces, chained, cut, normalise
from klda.corpus.vocabulary import Vocabulary
from klda.errors import SettingError
from klda.types import KeywordSet

CHUNK = 32_768
"""Texts matched at a time."""

_WORD, _EXTENDS, _JOINS, _SIGIL = 1, 2, 4, 8
_SPACELESS = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "BOPOMOFO", "IDEOGRAPHIC")


@lru_cache(maxsize=65_536)
def _kind(character: str) -> int:
    """How a character ties itself to its neighbours."""
    if character in "\u200c\u200d":
        return _JOINS
    if character in "#@":
        return _SIGIL
    mark = unicodedata.category(character)[0] == "M" or "\U0001f3fb" <= character <= "\U0001f3ff"
    word = character.isalnum() or character == "_" or unicodedata.category(character) in ("Mn", "Mc")
    if word and unicodedata.name(character, "").startswith(_SPACELESS):
        word = False
    return _WORD * word + _EXTENDS * mark


def _parted(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether there is a boundary between characters of these kinds."""
    in_word = (before & _WORD > 0) & (after & (_WORD | _SIGIL) > 0)
    return ~(in_word | (after & (_EXTENDS | _JOINS) > 0) | (before & _JOINS > 0))


class Matcher:
    """Finds the keywords that texts carry; the time hardly depends on how many keywords there are.

    >>> matcher = Matcher(KeywordSet.of("computer virus", "#Mask", "drug"))
    >>> matcher.match("A virus in my COMPUTER! No mask, no drugs."), matcher.match("drug-free #mask")
    ([0], [1, 2])
    """

    def __init__(self, keywords: KeywordSet, *, adjacent: bool = False) -> None:
        self.keywords = keywords
        self.adjacent = adjacent
        self._number: dict[str, int] = {}  # of each distinct word of all forms
        self._forms: list[tuple[str, ...]] = []  # the words of each form, in order
        columns: list[int] = []
        for column, keyword in enumerate(keywords):
            for form in keyword.forms:
                words = tuple(normalise(form).split())
                if not words or not set("".join(words)) - set("#@"):
                    raise SettingError(f"keyword {keyword.text!r}: its form {form!r} has nothing to match")
                self._forms.append(words)
                columns.append(column)
                for word in words:
                    self._number.setdefault(word, len(self._number))
        self._column = np.array(columns, dtype=np.int32)  # (forms,)
        self._needs = np.array([len(set(words)) for words in self._forms], dtype=np.int64)  # (forms,)
        of_word: list[list[int]] = [[] for _ in self._number]
        for form_number, words in enumerate(self._forms):
            for word in set(words):
                of_word[self._number[word]].append(form_number)
        self._forms_of_word = Ragged.of(of_word)
        self._length = np.array([len(word) for word in self._number], dtype=np.int64)
        self._first = np.array([_kind(word[0]) for word in self._number], dtype=np.uint8)
        self._last = np.array([_kind(word[-1]) for word in self._number], dtype=np.uint8)
        self._automaton = ahocorasick.Automaton()
        for word, number in self._number.items():
            self._automaton.add_word(word, number)
        self._automaton.make_automaton()

    def match(self, text: str) -> list[int]:
        """The columns of the keywords that a text carries, ascending."""
        found: list[int] = self.match_many([text]).values.tolist()
        return found

    def match_many(self, texts: Sequence[str]) -> Ragged:
        """The columns of the keywords that each text carries, ascending."""
        return Ragged.joined([self.match_pieces(cut(texts[i : i + CHUNK])) for i in range(0, len(texts), CHUNK)])

    def match_pieces(self, pieces: Pieces) -> Ragged:
        """As `match_many`, for texts that have been cut already."""
        words = chained(pieces.texts, self._words_in(pieces.distinct))
        n_words, n_forms, n_columns = (max(1, n) for n in (len(self._number), len(self._forms), len(self.keywords)))
        row, word = np.divmod(np.unique(words.rows * n_words + words.values), n_words)
        forms = self._forms_of_word.take(word)
        seen, times = np.unique(row[forms.rows] * n_forms + forms.values, return_counts=True)
        row, form = np.divmod(seen, n_forms)
        complete = times == self._needs[form]
        row, form = row[complete], form[complete]
        if self.adjacent:
            close = np.array(
                [_side_by_side(self._forms[f], pieces.text(r)) for r, f in zip(row, form, strict=True)], bool
            )
            row, form = row[close], form[close]
        row, column = np.divmod(np.unique(row * n_columns + self._column[form]), n_columns)
        return Ragged(offsets(np.bincount(row, minlength=len(pieces.texts))), column.astype(np.int32))

    def words_of(self, vocabulary: Vocabulary) -> Ragged:
        """The vocabulary's words that each keyword covers: those with a surface form in which one of its words occurs.

        >>> words = Vocabulary.of({"mask": {"masks": 5, "mask": 4}, "#mask": {"#mask": 3}, "virus": {"virus": 2}})
        >>> Matcher(KeywordSet.of("mask", "#mask", "virus masks")).words_of(words).lists()
        [[1, 2], [2], [1, 3]]
        """
        surface = pl.Series([form for forms in vocabulary.forms for form in forms], dtype=pl.String)
        owner = np.repeat(np.arange(len(vocabulary)), [len(forms) for forms in vocabulary.forms])
        hits = self._words_in(surface)
        covered: list[set[int]] = [set() for _ in self._number]
        for word, index in zip(hits.values.tolist(), owner[hits.rows].tolist(), strict=True):
            covered[word].add(index)
        lists: list[set[int]] = [set() for _ in self.keywords]
        for form, column in zip(self._forms, self._column.tolist(), strict=True):
            lists[column].update(*(covered[self._number[word]] for word in form))
        return Ragged.of([sorted(found) for found in lists])

    def _words_in(self, strings: pl.Series) -> Ragged:
        """The words (of all forms) that occur in each of these strings, which are normalised; repeats are kept."""
        if not self._number or not len(strings):
            return Ragged(np.zeros(len(strings) + 1, dtype=np.int64), np.zeros(0, dtype=np.int32))
        text = "\n" + strings.str.join("\n").item() + "\n"
        hits = np.fromiter(chain.from_iterable(self._automaton.iter(text)), dtype=np.int64).reshape(-1, 2)
        last, word = hits[:, 0], hits[:, 1]
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        before = _kinds(codes[last - self._length[word]])
        after = _kinds(codes[last + 1])
        whole = _parted(before, self._first[word]) & _parted(self._last[word], after)
        last, word = last[whole], word[whole]
        ends = np.cumsum(strings.str.len_chars().to_numpy() + np.int64(1))
        bounds = np.searchsorted(last, np.concatenate([[0], ends]), side="right")
        return Ragged(bounds.astype(np.int64), word.astype(np.int32))


def _kinds(codes: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """The kind of each character."""
    distinct, which = np.unique(codes, return_inverse=True)
    return np.array([_kind(chr(code)) for code in distinct], dtype=np.uint8)[which]


def _side_by_side(words: tuple[str, ...], text: str) -> bool:
    """Whether the words stand in a normalised text one after another with nothing but punctuation between them."""
    if len(words) == 1:
        return True
    ends = {end for _, end in _occurrences(words[0], text)}
    for word in words[1:]:
        ends = {
            stop
            for start, stop in _occurrences(word, text)
            if any(end <= start and not any(map(_is_letter, text[end:start])) for end in ends)
        }
    return bool(ends)


def _occurrences(word: str, text: str) -> Iterator[tuple[int, int]]:
    """Where a word stands between boundaries."""
    padded = f"\n{text}\n"
    start = padded.find(word)
    while start >= 0:
        stop = start + len(word)
        kinds = np.array([_kind(padded[i]) for i in (start - 1, start, stop - 1, stop)], dtype=np.uint8)
        if _parted(kinds[:1], kinds[1:2])[0] and _parted(kinds[2:3], kinds[3:])[0]:
            yield start - 1, stop - 1
        start = padded.find(word, start + 1)


def _is_letter(character: str) -> bool:
    return character.isalnum() or character == "_"
