"""Writing posts: drawn pieces joined into texts, thousands at a time and without a loop over words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pyarrow as pa

from klda.simulation import word_lists as phrases
from klda.simulation.grammar import COINED, SLOT_SOURCE, SLOT_STYLE, STYLES, TAG_STYLE, Grammar
from klda.simulation.lexicon import SOURCES, Lexicon
from klda.simulation.urn import Floats, Ints, Urn, zipf
from klda.text.documents import Ragged

SYLLABLES = tuple(onset + vowel for onset, vowel in product(phrases.ONSETS.split(", "), phrases.VOWELS.split(", ")))
_BY_SUBJECT = ("first syllable", "syllable", "ending")


@dataclass(frozen=True)
class Texts:
    """Texts of posts, the hashtags in each, and whether each has a link."""

    text: pa.Array
    hashtags: pa.Array
    linked: Ints  # (N,)  0 or 1

    @property
    def n_hashtags(self) -> Ints:
        """Hashtags in each post. # (N,)"""
        lengths: Ints = np.diff(self.hashtags.offsets.to_numpy())
        return lengths


class Language:
    """All pieces of text, and what is needed to draw and join them; `speak` is its one verb."""

    def __init__(self, lexicon: Lexicon, grammar: Grammar, handles: Sequence[str], thread_subject: Ints) -> None:
        self._grammar = grammar
        self._phrases = grammar.urn()
        self._n_words = len(lexicon.words)
        pieces = [word.written(style) for style in STYLES for word in lexicon.words]
        rows: list[tuple[Ints, Floats]] = []
        self._coined_row = np.zeros((len(COINED), len(thread_subject)), dtype=np.int64)
        n_subjects = int(thread_subject.max()) + 1
        for source, (texts, weights) in enumerate(_coined(handles)):
            entries = len(pieces) + np.arange(len(texts))
            pieces.extend(texts)
            own = COINED[source] in _BY_SUBJECT
            self._coined_row[source] = len(rows) + (thread_subject if own else 0)
            # each subject has its own favourites among the syllables, hence its own names
            turns = [subject * len(texts) // n_subjects for subject in range(n_subjects if own else 1)]
            rows.extend((entries, np.roll(weights, turn)) for turn in turns)
        self._coined = Urn.of(rows)
        self._first_literal = len(pieces)
        self._pieces = pa.array([*pieces, *grammar.literals], type=pa.large_string())
        self._tags = pa.array([word.tag for word in lexicon.words], type=pa.string())

    def speak(self, used: Urn, thread: Ints, voice: Ints, generator: np.random.Generator) -> Texts:
        """One text for each thread given; `used` holds the words in use, by thread × source."""
        codes = self._grammar.compose(voice, self._phrases, generator)
        post = codes.rows
        blank = np.flatnonzero(codes.values < 0)
        slot = -1 - codes.values[blank]
        source, style, about = SLOT_SOURCE[slot], SLOT_STYLE[slot], thread[post[blank]]
        looked_up = source < len(SOURCES)
        coined = ~looked_up

        drawn = np.empty(len(blank), dtype=np.int64)
        word = used.draw(about[looked_up] * len(SOURCES) + source[looked_up], generator)
        drawn[looked_up] = word + style[looked_up] * self._n_words
        drawn[coined] = self._coined.draw(self._coined_row[source[coined] - len(SOURCES), about[coined]], generator)
        piece = codes.values + np.int32(self._first_literal)
        piece[blank] = drawn

        tagged = style[looked_up] == TAG_STYLE
        link = np.zeros(len(codes), dtype=np.int64)
        link[post[blank[source == (*SOURCES, *COINED).index("site")]]] = 1
        tags = np.bincount(post[blank[looked_up][tagged]], minlength=len(codes))
        return Texts(
            text=self._joined(Ragged(codes.indptr, piece)),
            hashtags=pa.ListArray.from_arrays(_offsets32(tags), self._tags.take(pa.array(word[tagged]))),
            linked=link,
        )

    def _joined(self, pieces: Ragged) -> pa.Array:
        """The pieces of each post end to end: they already lie so in memory, only the offsets are thinned out."""
        flat = self._pieces.take(pa.array(pieces.values))
        ends = np.frombuffer(flat.buffers()[1], dtype=np.int64)
        offsets = np.ascontiguousarray(ends[pieces.indptr])
        return pa.LargeStringArray.from_buffers(len(pieces), pa.py_buffer(offsets), flat.buffers()[2])


def _coined(handles: Sequence[str]) -> list[tuple[list[str], Floats]]:
    """The pieces and weights of each source in `COINED`, in that order."""
    letters = "abcdefghijkmnpqrstuvwxyz23456789"
    codes = [a + b for a, b in product(letters, letters)]
    numbers = [str(n) for n in (*range(2, 100), *range(100, 1000, 50))]
    endings, emoji = phrases.ENDINGS.split(", "), phrases.EMOJI.split(", ")
    sites, ends = phrases.SITES.split(", "), phrases.ENDS_OF_SITES.split(", ")
    return [
        ([syllable.capitalize() for syllable in SYLLABLES], zipf(len(SYLLABLES))),
        (["", *SYLLABLES], np.append(0.3, 0.7 * zipf(len(SYLLABLES)))),
        (endings, zipf(len(endings), 0.6)),
        ([f"@{handle}" for handle in handles], zipf(len(handles), 0.8, shift=5.0)),
        (numbers, zipf(len(numbers), 0.7)),
        (emoji, zipf(len(emoji))),
        (sites, zipf(len(sites))),
        (ends, zipf(len(ends))),
        (codes, np.ones(len(codes))),
    ]


def _offsets32(lengths: Ints) -> pa.Array:
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
