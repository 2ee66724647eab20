"""Writes posts: sentences with blanks, everyday phrases, and the parts of coined names.

A blank in braces is filled with a word of the post's thread: `{things}` and `{topics}` with plurals or mass nouns,
`{thing}` and `{topic}` with singulars. Capitalised blanks start a sentence, and `{#thing}` makes a hashtag. `{name}`,
`{mention}`, `{number}`, `{emoji}` and `{link}` are coined. Phrases avoid verbs that would have to agree in number.

Phrases are compiled to numbers. Pieces are then drawn and joined for thousands of posts at a time, without a loop over
words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pyarrow as pa

from klda.simulation.lexicon import SOURCES, Lexicon
from klda.simulation.urn import Floats, Ints, Urn, zipf
from klda.text.documents import Ragged

OPENERS: Mapping[str, float] = {
    "": 80,
    "{mention} ": 7,
    "{mention} {mention} ": 1.5,
    "Update: ": 2,
    "Breaking: ": 1.5,
    "Hot take: ": 1.5,
    "Wow. ": 1.5,
    "Question: ": 1,
    "Good morning! ": 1.5,
    "Not again. ": 1,
    "Thread: ": 1,
    "Finally! ": 1,
}

SENTENCES = (
    "The {adj} {things} changed everything for the {topics}.",
    "So many questions about {things} today.",
    "{Name} says the {topics} will {verb} more {things}.",
    "Can we talk about the {thing} story in {name}?",
    "Another week, another {thing} headline.",
    "Who else is following the {adj} {thing} debate?",
    "We need to {verb} the {things} before it is too late.",
    "New report from {name}: {adj} {things} and what it means for {topics}.",
    "I never thought {things} would matter this much to {topics}.",
    "{Things} and {topics}: everything you need to know.",
    "They want to {verb} our {things}. Enough is enough.",
    "Still thinking about the {adj} {things} in {name}.",
    "{Number} reasons to care about {things}.",
    "My sister knows about {topics} and says the {things} got worse.",
    "Great conversation with {name} about {things} and the future of {topics}.",
    "If you {verb} the {things}, you help the {topics}. Simple.",
    "Nobody told me that {things} could be so {adj}.",
    "More {things}, fewer excuses.",
    "{Adj} {things} again in {name} this week.",
    "What do you think about the new {things}?",
    "The {topic} people in {name} waited {number} days for the {things}.",
    "Reading about {things} all night. The {topics} deserved better.",
    "Why does nobody {verb} the {adj} {things}?",
    "This is how we {verb} the {adj} {things}.",
    "Live from {name}: {topics}, {things} and a lot of patience.",
    "Proud of everyone who helped to {verb} the {things} in {name}.",
    "{Topics} without {things} would be so much better.",
    "It took {number} days to {verb} the {things}.",
    "The truth about {things} that {topics} will not tell you.",
    "Looking for {things} near {name}, any tips?",
    "{Name} just confirmed the {adj} {thing} story.",
    "Please share: {name} is short of {things} for the {topics}.",
    "You cannot {verb} {things} with good wishes.",
    "Everyone keeps asking me about {things}, so here we go.",
    "The {topic} people told me to stop worrying about {things}.",
    "That {adj} {thing} moment though.",
    "The {thing} numbers are out and the {topics} looked {adj}.",
    "How {name} learned to {verb} {things}.",
    "The {topic} team in {name} wants to {verb} the {things} for good.",
    "Every {topic} fan should know this {thing} trick.",
    "One {thing} problem can ruin your whole day. Ask the {topics}.",
    "The best {topic} expert in {name} has no time for {things}.",
    "There is always one more {thing} story in {name}.",
    "Never trust {adj} {things}.",
    "Big day for {topics}: the {things} finally arrived.",
    "Do not forget the {topics} when you talk about {things}.",
    "I would rather {verb} the {things} all day than do that again.",
    "{Things}? In this economy?",
)

SMALL_TALK = (
    "Good night everyone, see you tomorrow.",
    "I really need some {things} right now.",
    "Cannot sleep again.",
    "Does anyone else love {adj} {things} as much as I do?",
    "Just found the best {things} in {name}.",
    "Happy birthday {name}, have a wonderful day!",
    "I forgot my {things} at home again.",
    "Best {thing} ever, thank you {name}!",
    "Today was {adj} and I am not sorry.",
    "Who wants to {verb} some {things} with me?",
    "Trying to {verb} the {things} before {name} wakes up.",
    "Everyone told me to {verb} the {things}.",
    "It is only {number} days until the {topics}.",
    "Missing {name} and the {topics} a lot.",
    "{Adj} {things} made my week.",
)

SECOND_SENTENCES = (
    " We should {verb} them.",
    " First the {things}, now the {topics}.",
    " {Adj} {things} everywhere.",
    " No {things}, no {topics}.",
    " We cannot {verb} the {things} alone.",
    " Less {thing}, more {topic} please.",
    " Even the {topics} want to {verb} the {things}.",
    " All because of the {adj} {things}.",
    " {Topics} and {things}, what could go wrong.",
    " What a time to be alive.",
    " The {topics} deserved an answer.",
    " Ask the {topics}.",
    " More on {things} tomorrow.",
    " It is always the {things}.",
    " I am so tired of this.",
    " And yes, the {thing} part is true.",
    " {Name} was right.",
    " Someone tell {mention}.",
    " Even {mention} said so.",
    " Thoughts?",
    " Let that sink in.",
    " Full story below.",
    " The {adj} ones too.",
    " Same in {name}, by the way.",
)

CLOSERS: Mapping[str, float] = {"": 86, " {emoji}": 10, " {emoji}{emoji}": 3, " lol": 1}

TAGS: Mapping[str, float] = {
    "": 70,
    " {#thing}": 12,
    " {#topic}": 8,
    " {#thing} {#topic}": 7,
    " {#topic} {#thing} {#thing}": 3,
}

LINKS: Mapping[str, float] = {"": 78, " {link}": 22}

EMOJI = "😂, ❤️, 🙏, 🔥, 😭, 👏, 🎉, 😊, 🤔, 💪, 👀, 😍, 🙌, 😡, 💔, 🚨, ✨, 😅, 👍🏽, 🤷‍♀️"

ONSETS = "b, br, c, ch, cr, d, dr, f, g, gr, h, j, k, l, m, n, p, pr, r, s, sh, st, t, tr, v, w, y, z"
VOWELS = "a, e, i, o, u, ai, ea"
ENDINGS = "n, r, s, l, ton, dale, ma, ro, ra, lli, sson, ven, field, ville, ski, no, by, rd, nt, way, to, la"
SITES = "https://, https://www., https://m."
ENDS_OF_SITES = ".example/, .example/p/, .example/v/"


STYLES = ("many", "one", "Many", "One", "tag")
"""The ways in which a word can be written. Capitalised ones start a sentence."""

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
"""Sources of coined pieces. The favourites among the first three differ by subject."""

SLOTS: tuple[tuple[str, str], ...] = tuple(dict.fromkeys(slot for slots in _SLOTS.values() for slot in slots))
"""Every kind of blank, as (source, style)."""
SLOT_SOURCE = np.array([(*SOURCES, *COINED).index(source) for source, _ in SLOTS])
SLOT_STYLE = np.array([STYLES.index(style) if style else 0 for _, style in SLOTS])
TAG_STYLE = STYLES.index("tag")


@dataclass(frozen=True)
class Grammar:
    """Phrases as codes, and how often each is used in each part of a post.

    A code from 0 is a literal. Code -1 - s is a blank of kind s of `SLOTS`. `choice[v, p]` is the distribution of
    phrases in part p of a post in voice v (0 for subjects, 1 for small talk).
    """

    literals: tuple[str, ...]
    phrases: Ragged
    choice: Floats  # (voices, parts, phrases)
    blanks: Ints  # (phrases, slots)  how many blanks of each kind a phrase has

    @classmethod
    def of_phrases(cls) -> Grammar:
        """The grammar of the phrases above."""
        sentences = {
            voice: dict.fromkeys(SENTENCES, voice[0]) | dict.fromkeys(SMALL_TALK, voice[1])
            for voice in ((1.0, 0.02), (0.3, 3.0))
        }
        second = {"": 0.9 * len(SECOND_SENTENCES)} | dict.fromkeys(SECOND_SENTENCES, 1.0)
        voices = [(OPENERS, first, second, CLOSERS, TAGS, LINKS) for first in sentences.values()]
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
        """Number of phrases in a post, some of them empty."""
        return int(self.choice.shape[1])

    def urn(self) -> Urn:
        """An urn of phrases, by voice × part."""
        return Urn.of_matrix(self.choice.reshape(-1, self.choice.shape[2]))

    def compose(self, voice: Ints, urn: Urn, generator: np.random.Generator) -> Ragged:
        """The codes of one post for each given voice."""
        rows = (voice[:, None] * self.n_parts + np.arange(self.n_parts)).ravel()
        chosen = self.phrases.take(urn.draw(rows, generator))
        return Ragged(chosen.indptr[:: self.n_parts], chosen.values)


def _codes(phrase: str, literals: dict[str, int]) -> list[int]:
    """A phrase as codes. New literals get the next number."""
    codes: list[int] = []
    for i, part in enumerate(re.split(r"\{(#?\w+)\}", phrase)):
        if i % 2:
            codes.extend(-1 - SLOTS.index(slot) for slot in _SLOTS[part])
        elif part:
            codes.append(literals.setdefault(part, len(literals)))
    return codes


SYLLABLES = tuple(onset + vowel for onset, vowel in product(ONSETS.split(", "), VOWELS.split(", ")))
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
    """All pieces of text, and what is needed to draw and join them."""

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
            # each subject has its own favourites among the syllables, and so its own names
            turns = [subject * len(texts) // n_subjects for subject in range(n_subjects if own else 1)]
            rows.extend((entries, np.roll(weights, turn)) for turn in turns)
        self._coined = Urn.of(rows)
        self._first_literal = len(pieces)
        self._pieces = pa.array([*pieces, *grammar.literals], type=pa.large_string())
        self._tags = pa.array([word.tag for word in lexicon.words], type=pa.string())

    def speak(self, used: Urn, thread: Ints, voice: Ints, generator: np.random.Generator) -> Texts:
        """One text for each given thread. `used` holds the words in use, by thread × source."""
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
        """The pieces of each post, joined. They already lie end to end in memory, so only the offsets change."""
        flat = self._pieces.take(pa.array(pieces.values))
        ends = np.frombuffer(flat.buffers()[1], dtype=np.int64)
        offsets = np.ascontiguousarray(ends[pieces.indptr])
        return pa.LargeStringArray.from_buffers(len(pieces), pa.py_buffer(offsets), flat.buffers()[2])


def _coined(handles: Sequence[str]) -> list[tuple[list[str], Floats]]:
    """The pieces and weights of each source in `COINED`, in that order."""
    letters = "abcdefghijkmnpqrstuvwxyz23456789"
    codes = [a + b for a, b in product(letters, letters)]
    numbers = [str(n) for n in (*range(2, 100), *range(100, 1000, 50))]
    endings, emoji = ENDINGS.split(", "), EMOJI.split(", ")
    sites, ends = SITES.split(", "), ENDS_OF_SITES.split(", ")
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
