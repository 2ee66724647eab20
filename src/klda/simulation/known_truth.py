"""The truth about the simulated world, computed from its settings, not counted in its posts.

It is about original posts. Words are those of the material in lower case. A hashtag of one word counts as the word, as
in the filter of a platform. Coined names, handles, numbers and links are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from klda.simulation.lexicon import SOURCES, Lexicon
from klda.simulation.sentences import SLOT_SOURCE, SLOT_STYLE, SLOTS, STYLES, TAG_STYLE, Grammar
from klda.simulation.urn import Floats, Ints
from klda.text.tokens import cut, tokens_of

SHORTLIST = 200
"""Number of words that are compared exactly when the best keywords are chosen."""


@dataclass(frozen=True)
class KnownTruth:
    """The words in each piece of text, and how often each phrase is used."""

    vocabulary: tuple[str, ...]
    spelling: tuple[sparse.csr_array, ...]  # for each word slot (W, V): words in the lexicon's entry, so written
    literal: sparse.csr_array  # (phrases, V)
    grammar: Grammar

    @classmethod
    def of(cls, lexicon: Lexicon, grammar: Grammar) -> KnownTruth:
        """The truth about a language."""
        numbers: dict[str, int] = {}
        texts = {
            "many": [word.many for word in lexicon.words],
            "one": [word.one for word in lexicon.words],
            "tag": [word.tag for word in lexicon.words],
        }
        tables = {style: _table(written, numbers) for style, written in texts.items()}
        spoken = [" ".join(grammar.literals[code] for code in codes if code >= 0) for codes in grammar.phrases.lists()]
        literal = _table(spoken, numbers)
        for table in (*tables.values(), literal):
            table.resize((table.shape[0], len(numbers)))
        styles = [STYLES[style].lower() for style in SLOT_STYLE[_WORD_SLOTS]]
        return cls(tuple(numbers), tuple(tables[style] for style in styles), literal, grammar)

    @property
    def _slots(self) -> list[tuple[int, sparse.csr_array]]:
        return list(zip(_WORD_SLOTS.tolist(), self.spelling, strict=True))

    @property
    def said_by_all(self) -> NDArray[np.bool_]:
        """Whether each word is in the phrases themselves, for any subject. # (V,)"""
        return np.asarray(self.literal.sum(axis=0)).ravel() > 0

    def written(self, weights: Floats) -> Floats:
        """How often each word is seen, without hashtags, if the lexicon is used with these weights. # (V,)"""
        return np.asarray(
            sum(weights @ spelling for slot, spelling in self._slots if SLOT_STYLE[slot] != TAG_STYLE), dtype=np.float64
        )

    def expected_counts(self, used: Floats, voice: Ints) -> Floats:
        """How often each word occurs in a post of each thread, on average. # (threads, V)"""
        uses = self.grammar.choice.sum(axis=1)  # (voices, phrases)
        blanks = (uses @ self.grammar.blanks)[voice]  # (threads, slots)
        counts = (uses @ self.literal)[voice]
        for slot, spelling in self._slots:
            counts = counts + blanks[:, slot, None] * (used[:, SLOT_SOURCE[slot]] @ spelling)
        return np.asarray(counts, dtype=np.float64)

    def best(self, used: Floats, voice: Ints, shares: Floats, on_topic: Floats, n: int) -> tuple[str, ...]:
        """The n words that together find the posts of the threads on topic best by F1, chosen one by one."""
        volume = self.expected_counts(used, voice) * shares[:, None]  # (threads, V)
        relevant = float(shares @ on_topic)
        alone = 2 * (on_topic @ volume) / (volume.sum(axis=0) + relevant)
        alone[self.said_by_all] = 0  # nobody monitors `the`
        candidates = np.argsort(-alone, kind="stable")[: max(SHORTLIST, n)]
        chosen: list[int] = []
        while len(chosen) < min(n, len(candidates)):
            found = 1 - self._missed(used, voice, chosen, candidates)  # (threads, candidates)
            hits = (shares * on_topic) @ found
            score = 2 * hits / (shares @ found + relevant)
            score[np.isin(candidates, chosen)] = -1
            chosen.append(int(candidates[np.argmax(score)]))
        return tuple(self.vocabulary[word] for word in chosen)

    def _missed(self, used: Floats, voice: Ints, chosen: Sequence[int], candidates: Ints) -> Floats:
        """The probability that a post has no chosen word and not the candidate. # (threads, candidates)"""
        grammar = self.grammar
        silent = np.zeros((len(used), len(SLOTS), len(candidates)))  # log of: a blank is filled with none of them
        for slot, spelling in self._slots:
            words = used[:, SLOT_SOURCE[slot]]
            covered = np.asarray(spelling[:, chosen].sum(axis=1)).ravel() > 0
            further = (words * ~covered) @ spelling[:, candidates]
            hit = words[:, covered].sum(axis=1)[:, None] + np.minimum(further, 1)
            silent[:, slot] = np.log1p(-np.minimum(hit, 1 - 1e-12))
        spoken = self.literal[:, candidates].toarray() > 0
        spoken |= (np.asarray(self.literal[:, chosen].sum(axis=1)).ravel() > 0)[:, None]
        unsaid = (
            np.exp(np.einsum("ps,tsv->tpv", grammar.blanks, silent, optimize=True)) * ~spoken
        )  # (threads, phrases, cand.)
        parts = np.einsum("tqp,tpv->tqv", grammar.choice[voice], unsaid, optimize=True)
        missed: Floats = parts.prod(axis=1)
        return missed


_WORD_SLOTS = np.flatnonzero(np.isin(SLOT_SOURCE, range(len(SOURCES))))


def words_in(texts: Sequence[str]) -> list[list[str]]:
    """The words of each text, in lower case and without the sign of a hashtag.

    >>> words_in(["Not again: #colts!"])
    [['not', 'again', 'colts']]
    """
    tokens = tokens_of(cut(texts))
    words = [token.removeprefix("#") for token in tokens.distinct.to_list()]
    return [[words[token] for token in row] for row in tokens.texts.lists()]


def _table(texts: Sequence[str], numbers: dict[str, int]) -> sparse.csr_array:
    """How often each word occurs in each text. New words get the next number."""
    rows = [[numbers.setdefault(word, len(numbers)) for word in text] for text in words_in(texts)]
    row = np.repeat(np.arange(len(rows)), [len(r) for r in rows])
    column = np.array([word for r in rows for word in r], dtype=np.int64)
    return sparse.csr_array((np.ones(len(row)), (row, column)), shape=(len(rows), len(numbers)))
