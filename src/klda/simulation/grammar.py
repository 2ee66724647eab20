"""Phrases compiled to numbers: a post is a row of pieces, each fixed or drawn when the post is written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from klda.simulation import word_lists as phrases
from klda.simulation.lexicon import SOURCES
from klda.simulation.urn import Floats, Ints, Urn
from klda.text.documents import Ragged

STYLES = ("many", "one", "Many", "One", "tag")
"""The ways in which a word can be written; capitalised ones start a sentence."""

_SLOTS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "things": (("thing", "many"),),
    "thing": (("thing", "one"),),
    "Things": (("thing", "Many"),),
    "Thing": (("thing", "One"),),
    "#thing": (("thing", "tag"),),
    "topics": (("topic", "many"),),
    "topic": (("topic", "one"),),
    "Topics": (("topic", "Many"),),
    "#topic": (("topic", "tag"),),
    "adj": (("adj", "many"),),
    "Adj": (("adj", "Many"),),
    "verb": (("verb", "many"),),
    "name": (("first syllable", ""), ("syllable", ""), ("ending", "")),
    "Name": (("first syllable", ""), ("syllable", ""), ("ending", "")),
    "mention": (("handle", ""),),
    "number": (("number", ""),),
    "Number": (("number", ""),),
    "emoji": (("emoji", ""),),
    "link": (("site", ""), ("syllable", ""), ("ending", ""), ("end of site", ""), ("code", ""), ("code", "")),
}
COINED = ("first syllable", "syllable", "ending", "handle", "number", "emoji", "site", "end of site", "code")
"""Sources of what is coined rather than looked up; their first ones differ by subject."""

SLOTS: tuple[tuple[str, str], ...] = tuple(dict.fromkeys(slot for slots in _SLOTS.values() for slot in slots))
"""Every kind of blank, as (source, style)."""
SLOT_SOURCE = np.array([(*SOURCES, *COINED).index(source) for source, _ in SLOTS])
SLOT_STYLE = np.array([STYLES.index(style) if style else 0 for _, style in SLOTS])
TAG_STYLE = STYLES.index("tag")


@dataclass(frozen=True)
class Grammar:
    """Phrases as codes, and how often each is used in each part of a post.

    A code from 0 is a literal; code -1 - s is a blank of kind s of `SLOTS`. `choice[v, p]` is the distribution of
    phrases in part p of a post in voice v (0 for subjects, 1 for small talk).
    """

    literals: tuple[str, ...]
    phrases: Ragged
    choice: Floats  # (voices, parts, phrases)
    blanks: Ints  # (phrases, slots)  how many blanks of each kind a phrase has

    @classmethod
    def of_phrases(cls) -> Grammar:
        """The grammar of the written phrases."""
        sentences = {
            voice: dict.fromkeys(phrases.SENTENCES, voice[0]) | dict.fromkeys(phrases.SMALL_TALK, voice[1])
            for voice in ((1.0, 0.02), (0.3, 3.0))
        }
        second = {"": 0.9 * len(phrases.SECOND_SENTENCES)} | dict.fromkeys(phrases.SECOND_SENTENCES, 1.0)
        voices = [
            (phrases.OPENERS, first, second, phrases.CLOSERS, phrases.TAGS, phrases.LINKS)
            for first in sentences.values()
        ]
        return cls._compiled(voices)

    @classmethod
    def _compiled(cls, voices: Sequence[Sequence[Mapping[str, float]]]) -> Grammar:
        numbers: dict[str, int] = {}
        for part in (part for voice in voices for part in voice):
            for phrase in part:
                numbers.setdefault(phrase, len(numbers))
        literals: dict[str, int] = {}
        coded = Ragged.of([_codes(phrase, literals) for phrase in numbers])
        choice = np.zeros((len(voices), len(voices[0]), len(numbers)))
        for v, voice in enumerate(voices):
            for p, part in enumerate(voice):
                choice[v, p, [numbers[phrase] for phrase in part]] = list(part.values())
        blanks = np.zeros((len(numbers), len(SLOTS)), dtype=np.int64)
        blank = coded.values < 0
        np.add.at(blanks, (coded.rows[blank], -1 - coded.values[blank]), 1)
        return cls(tuple(literals), coded, choice / choice.sum(axis=2, keepdims=True), blanks)

    @property
    def n_parts(self) -> int:
        """How many phrases, some of them empty, make a post."""
        return int(self.choice.shape[1])

    def urn(self) -> Urn:
        """Phrases to draw from, by voice × part."""
        return Urn.of_matrix(self.choice.reshape(-1, self.choice.shape[2]))

    def compose(self, voice: Ints, urn: Urn, generator: np.random.Generator) -> Ragged:
        """The codes of one post for each voice given."""
        rows = (voice[:, None] * self.n_parts + np.arange(self.n_parts)).ravel()
        chosen = self.phrases.take(urn.draw(rows, generator))
        return Ragged(chosen.indptr[:: self.n_parts], chosen.values)


def _codes(phrase: str, literals: dict[str, int]) -> list[int]:
    """A phrase as codes, its literals numbered when first met."""
    codes: list[int] = []
    for i, part in enumerate(re.split(r"\{(#?\w+)\}", phrase)):
        if i % 2:
            codes.extend(-1 - SLOTS.index(slot) for slot in _SLOTS[part])
        elif part:
            codes.append(literals.setdefault(part, len(literals)))
    return codes
