"""The words of the simulated world with all their spellings, and which threads use them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from klda.simulation.simulated_subjects import SimulatedSubject
from klda.simulation.urn import Floats, zipf

SOURCES = ("thing", "topic", "adj", "verb")
"""Kinds of words that depend on the subject of a post."""
EVERYDAY_SHARE = 0.12
"""Share of words that belong to no subject."""
BORROWED_SHARE = 0.06
"""Share of words that come from another subject, in passing or as a figure of speech."""
MISSPELT_SHARE = 0.03
SYNONYM_SHARES = (0.6, 0.3, 0.1)
SHORTEST_MISSPELT = 6

EVERYDAY_THINGS = (
    "people, thing~s, year~s, day~s, question~s, idea~s, problem~s, plan~s, answer~s, chance~s, change~s, number~s, "
    "word~s, moment~s, rule~s, price~s, job~s, book~s, picture~s, worker~s, school~s, city~cities, street~s, money, "
    "room~s, letter~s, group~s, law~s, market~s, record~s, video~s, detail~s, expert~s, decision~s, result~s, test~s, "
    "report~s, lesson~s, mistake~s, leader~s, company~companies, country~countries, community~communities, student~s, "
    "teacher~s, worry~worries, rumour~s, promise~s, budget~s, cost~s, target~s, tool~s, case~s, period~s, contact~s, "
    "border~s, kit~s, suit~s, site~s, team~s, habit~s, dream~s, memory~memories, opinion~s, secret~s, source~s, "
    "study~studies, survey~s, surprise~s, trend~s, update~s, visit~s, voice~s, vote~s, voter~s, warning~s, winner~s"
)
EVERYDAY_ADJECTIVES = (
    "new, big, good, bad, old, small, real, strange, great, local, important, free, huge, amazing, awful, public, "
    "serious, expensive, simple, quiet, weird, beautiful, final, perfect, secret, recent, famous, difficult, "
    "ordinary, stupid"
)
EVERYDAY_VERBS = (
    "help, save, stop, change, fix, find, understand, ignore, improve, support, check, follow, explain, forget, "
    "remember, cut, pay for, keep, move, replace, fight, celebrate, defend, compare, question, trust, rethink, see, "
    "bring, use"
)


@dataclass(frozen=True)
class Word:
    """One word or short phrase as it is written: in the plural, in the singular, and as a hashtag."""

    many: str
    one: str

    @property
    def tag(self) -> str:
        """The hashtag, without its sign: `waiting list` gives `WaitingList`."""
        parts = self.one.replace("-", " ").split()
        return parts[0] if len(parts) == 1 else "".join(part[0].upper() + part[1:] for part in parts)

    def written(self, style: str) -> str:
        """The word as it stands in a text. `Many` and `One` are the capitalised styles.

        >>> [Word("colts", "colt").written(style) for style in ("many", "One", "tag")]
        ['colts', 'Colt', '#colt']
        """
        if style == "tag":
            return f"#{self.tag}"
        text = self.many if style.lower() == "many" else self.one
        return text[0].upper() + text[1:] if style[0].isupper() else text


@dataclass(frozen=True)
class Lexicon:
    """All words, and how each thread of each subject uses them before any drift.

    `base[t, s]` is the distribution of thread t's words of source s. Threads are numbered through all subjects.
    """

    words: tuple[Word, ...]
    well_spelt: int
    """Words from this number on are misspellings. All words before it are spelt correctly."""
    misspelling: tuple[int, ...]
    """The misspelling of each word, or the word itself if it has none."""
    base: Floats  # (threads, sources, words)
    everyday: Floats  # (sources, words)

    @classmethod
    def of(cls, subjects: Sequence[SimulatedSubject]) -> Lexicon:
        """The lexicon of these subjects.

        >>> from klda.simulation.simulated_subjects import SUBJECTS
        >>> lexicon = Lexicon.of(SUBJECTS)
        >>> lexicon.words[1].many, lexicon.words[1].one, lexicon.base.shape[:2]
        ('hospitals', 'hospital', (26, 4))
        """
        numbers: dict[Word, int] = {}
        materials = [
            (thread.things, subject.topics, thread.adjectives, thread.verbs)
            for subject in subjects
            for thread in subject.threads
        ]
        for subject in subjects:
            _number(subject.topics, numbers)
        parsed = [[_number(material, numbers) for material in row] for row in materials]
        common = [
            _number(material, numbers)
            for material in (EVERYDAY_THINGS, EVERYDAY_THINGS, EVERYDAY_ADJECTIVES, EVERYDAY_VERBS)
        ]
        misspelling, variants = _misspellings(list(numbers))
        base = np.zeros((len(parsed), len(SOURCES), len(numbers) + len(variants)))
        everyday = np.zeros(base.shape[1:])
        for thread, row in enumerate(parsed):
            for source, weights in enumerate(row):
                base[thread, source, list(weights)] = list(weights.values())
        for source, weights in enumerate(common):
            everyday[source, list(weights)] = list(weights.values())
        return cls((*numbers, *variants), len(numbers), misspelling, base, everyday)

    def used(self, base: Floats) -> Floats:
        """The words that are written if threads mean `base`: with everyday and borrowed words, and some misspelt."""
        # one subject takes general words from the others, not those of a new story
        lent = base[:, SOURCES.index("topic")].mean(axis=0)
        written = base.copy()
        for noun in (SOURCES.index("thing"), SOURCES.index("topic")):
            written[:, noun] += BORROWED_SHARE / (1 - BORROWED_SHARE) * lent
        written *= (1 - EVERYDAY_SHARE) / written.sum(axis=2, keepdims=True)
        written += EVERYDAY_SHARE * self.everyday
        right = np.arange(self.well_spelt)
        wrong = np.array(self.misspelling)
        slips = np.flatnonzero(wrong != right)
        written[..., wrong[slips]] = MISSPELT_SHARE * written[..., slips]
        written[..., slips] *= 1 - MISSPELT_SHARE
        return written


def _number(material: str, numbers: dict[Word, int]) -> dict[int, float]:
    """The words of some material with their shares. New words get the next number."""
    weights: dict[int, float] = {}
    entries = material.split(",")
    for entry, weight in zip(entries, zipf(len(entries)), strict=True):
        synonyms = entry.strip().split("=")
        shares = np.array(SYNONYM_SHARES[: len(synonyms)])
        for text, share in zip(synonyms, weight * shares / shares.sum(), strict=True):
            number = numbers.setdefault(_word(text), len(numbers))
            weights[number] = weights.get(number, 0.0) + float(share)
    return weights


def _word(text: str) -> Word:
    one, _, plural = text.partition("~")
    many = one + plural if len(plural) <= 1 else plural
    return Word(many=many or one, one=one)


def _misspellings(words: list[Word]) -> tuple[tuple[int, ...], list[Word]]:
    """The number of the usual misspelling of each word (two inner letters swapped), and the misspellings."""
    taken = {part for word in words for part in (word.many, word.one)}
    candidates = [Word(_slip(word.many), _slip(word.one)) for word in words]
    apart = [
        len(word.one) >= SHORTEST_MISSPELT and not {slip.many, slip.one} & taken
        for word, slip in zip(words, candidates, strict=True)
    ]
    ranks = list(accumulate(apart, initial=0))
    misspelling = tuple(
        len(words) + rank if ok else i for i, (ok, rank) in enumerate(zip(apart, ranks[:-1], strict=True))
    )
    return misspelling, [slip for slip, ok in zip(candidates, apart, strict=True) if ok]


def _slip(text: str) -> str:
    """The text with two letters in the middle of its first word swapped, as fast typists do.

    >>> _slip("hospital")
    'hosptial'
    """
    middle = len(text.split()[0]) // 2
    return text[:middle] + text[middle : middle + 2][::-1] + text[middle + 2 :]
