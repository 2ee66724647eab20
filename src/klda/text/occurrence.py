"""Where words occur in strings: as whole words, between two boundaries.

Most strings are ASCII. Most words are runs of letters, digits and underscores, perhaps after a sigil. There a word
occurs exactly where a run equals it, and a hash table finds it. An Aho-Corasick automaton finds all other words
(punctuation inside a word, accents, emoji, scripts without spaces); a hit counts if both its edges are boundaries.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain

import ahocorasick
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from klda.text.documents import Ints, Ragged, offsets

_WORD, _EXTENDS, _JOINS, _SIGIL = 1, 2, 4, 8
_SPACELESS = ("CJK", "HIRAGANA", "KATAKANA", "BOPOMOFO", "IDEOGRAPHIC", "THAI", "LAO", "KHMER", "MYANMAR")
_FLAG_CODES = range(0x1F1E6, 0x1F200)  # the letters of which flags are made, two each
_FLAG_LETTERS = "".join(map(chr, _FLAG_CODES))
_RUN, _TAG = "[a-z0-9_]+", r"\B[#@][a-z0-9_]+"


class WordFinder:
    """Finds which of these words occur in strings; words and strings are normalised.

    >>> WordFinder(["drug", "#drug", "日本"]).find(pl.Series(["drug-free", "drugs", "#drug", "私は日本人"])).lists()
    [[0], [], [0, 1], [2]]
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._length = np.array([len(word) for word in words], dtype=np.int64)
        self._first = np.array([_kind(word[0]) for word in words], dtype=np.uint8)
        self._flag = np.array([word[0] in _FLAG_LETTERS for word in words], dtype=np.bool_)
        self._last = np.array([_kind(word[-1]) for word in words], dtype=np.uint8)
        is_plain = pl.Series(words, dtype=pl.String).str.contains(r"^[#@]?[a-z0-9_]+$").to_list()
        self._plain = [number for number, plain in enumerate(is_plain) if plain]
        self._plain_words = pa.array([words[number] for number in self._plain], pa.large_string())
        self._automaton = ahocorasick.Automaton()
        for number, word in enumerate(words):
            self._automaton.add_word(word, number)
        self._automaton.make_automaton()
        self._odd_words = [word for word, plain in zip(words, is_plain, strict=True) if not plain]

    def find(self, strings: pl.Series) -> Ragged:
        """The numbers of the words that occur in each string; a word that occurs twice may be listed twice."""
        ascii_ = ~strings.str.contains(r"[^\x00-\x7F]")
        easy, hard = ascii_.arg_true().to_numpy(), (~ascii_).arg_true().to_numpy()
        if self._odd_words:  # scan only strings that contain one
            hard = np.concatenate([hard, easy[strings.gather(easy).str.contains_any(self._odd_words).to_numpy()]])
        found = [
            (easy, self._look_up(strings.gather(easy), _RUN)),
            (easy, self._look_up(strings.gather(easy), _TAG)),
            (hard, self._scan(strings.gather(hard))),
        ]
        rows = np.concatenate([which[row] for which, (row, _) in found])
        numbers = np.concatenate([word for _, (_, word) in found]).astype(np.int32)
        return Ragged(offsets(np.bincount(rows, minlength=len(strings))), numbers[np.argsort(rows, kind="stable")])

    def _look_up(self, strings: pl.Series, pattern: str) -> tuple[Ints, Ints]:
        """Plain words in ASCII strings: (string, word) pairs."""
        runs = strings.str.extract_all(pattern).to_arrow(compat_level=pl.CompatLevel.oldest())
        place = pc.index_in(runs.flatten(), value_set=self._plain_words).fill_null(-1).to_numpy()
        hit = np.flatnonzero(place >= 0)
        rows = np.searchsorted(runs.offsets.to_numpy(), hit, side="right") - 1
        return rows, np.array(self._plain, dtype=np.int64)[place[hit]]

    def _scan(self, strings: pl.Series) -> tuple[Ints, Ints]:
        """Any words in any strings: (string, word) pairs."""
        if not len(self._automaton) or not len(strings):
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        text = "\n" + strings.str.join("\n").item() + "\n"
        hits = np.fromiter(chain.from_iterable(self._automaton.iter(text)), dtype=np.int64).reshape(-1, 2)
        last, word = hits[:, 0], hits[:, 1]
        codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
        before, after = _kinds(codes[last - self._length[word]]), _kinds(codes[last + 1])
        whole = _parted(before, self._first[word]) & _parted(self._last[word], after & ~np.uint8(_SIGIL))
        if self._flag[word].any():  # half of one flag and half of the next look like a third
            place = _place_in_run((codes >= _FLAG_CODES.start) & (codes < _FLAG_CODES.stop))
            whole &= ~self._flag[word] | (place[last + 1 - self._length[word]] % 2 == 0)
        ends = np.cumsum(strings.str.len_chars().to_numpy() + np.int64(1))
        return np.searchsorted(ends, last[whole]), word[whole]


def side_by_side(words: Sequence[str], text: str) -> bool:
    """Whether the words stand in a normalised text one after another, with nothing but punctuation between them.

    >>> side_by_side(["computer", "virus"], "a computer-virus"), side_by_side(["virus", "computer"], "a computer-virus")
    (True, False)
    """
    ends: set[int] | None = None
    for word in words:
        ends = {
            stop
            for start, stop in _places(word, text)
            if ends is None or any(end <= start and not any(map(_is_letter, text[end:start])) for end in ends)
        }
    return bool(ends)


def _places(word: str, text: str) -> Iterator[tuple[int, int]]:
    """Where a word stands between boundaries."""
    padded = f"\n{text}\n"
    start = padded.find(word)
    while start >= 0:
        stop = start + len(word)
        before, first, last, after = (_kind(padded[i]) for i in (start - 1, start, stop - 1, stop))
        letters = len(padded[:start]) - len(padded[:start].rstrip(_FLAG_LETTERS)) if word[0] in _FLAG_LETTERS else 0
        if _is_parted(before, first) and _is_parted(last, after & ~_SIGIL) and letters % 2 == 0:
            yield start - 1, stop - 1
        start = padded.find(word, start + 1)


def _is_parted(before: int, after: int) -> bool:
    """The same as `_parted`, of one place."""
    in_word = before & _WORD and after & (_WORD | _SIGIL)
    return not (in_word or after & (_EXTENDS | _JOINS) or before & _JOINS)


def _parted(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether a word may begin or end between characters of these kinds; a sigil begins one only outside of words."""
    in_word = (before & _WORD > 0) & (after & (_WORD | _SIGIL) > 0)
    return ~(in_word | (after & (_EXTENDS | _JOINS) > 0) | (before & _JOINS > 0))


def _place_in_run(inside: NDArray[np.bool_]) -> Ints:
    """The length of the run of inside places that ends just before each place.

    >>> _place_in_run(np.array([False, True, True, False, True])).tolist()
    [0, 0, 1, 0, 0]
    """
    places = np.arange(len(inside))
    outside = np.maximum.accumulate(np.where(inside, -1, places))
    return np.where(inside, places - outside - 1, 0)


def _kinds(codes: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """The kind of each character."""
    distinct, which = np.unique(codes, return_inverse=True)
    return np.array([_kind(chr(code)) for code in distinct], dtype=np.uint8)[which]


@lru_cache(maxsize=65_536)
def _kind(character: str) -> int:
    """How a character joins its neighbours, as flags."""
    if character in "\u200c\u200d":
        return _JOINS
    if character in "#@":
        return _SIGIL
    category = unicodedata.category(character)
    extends = category[0] == "M" or "\U0001f3fb" <= character <= "\U0001f3ff"  # marks, skin tones
    word = _is_letter(character) or category in ("Mn", "Mc")
    if word and unicodedata.name(character, "").startswith(_SPACELESS):
        word = False
    return _WORD * word + _EXTENDS * extends


def _is_letter(character: str) -> bool:
    return character.isalnum() or character == "_"
