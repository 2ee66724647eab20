"""Which words may become keywords: the paper's union, and by option further places to look.

The paper takes words used as keywords in earlier windows, the recommendations of `viral`, and frequent nouns not among
them. Further sources are hashtags, collocations, rising words, and words of an unfiltered sample that read like the
subject. Words come from posts that carry a keyword of the list: the frequent nouns of everything else are another
subject's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest

import numpy as np

from klda.advice.word_counts import recency, tokens
from klda.baselines.collocations import find_phrases
from klda.baselines.incidence import words_in
from klda.baselines.nouns import LONGEST, document_frequency, frequent_nouns, nouns_by
from klda.baselines.places import PAPER_SOURCES, SIZE, SOURCES, Tagger
from klda.baselines.ranked import stems_of
from klda.baselines.viral import Viral
from klda.errors import DataError, SettingError
from klda.text.corpus import Corpus
from klda.text.languages import stem_words
from klda.types import Keyword, KeywordSet, Progress, silent

HALF_LIFE = 4.0
"""Windows after which the use of a hashtag counts half."""
FEWEST_TAGGED, LEAST_TAGGED = 4, 0.01
"""Fewest posts of a hashtag in use, with older posts counted less, and their smallest share of all posts."""
RECENT = 4
"""A hashtag must be in use in these last windows: rare ones would take the places of words."""


@dataclass(frozen=True)
class Candidates:
    """Words that may become keywords, current ones first; `origin` says where each was found."""

    keywords: KeywordSet
    origin: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def assemble_candidates(
    history: Corpus,
    current: KeywordSet,
    *,
    sources: Sequence[str] = PAPER_SOURCES,
    size: int = SIZE,
    viral: Viral | Sequence[Keyword] | None = None,
    sample: Corpus | None = None,
    tagger: Tagger = "pattern",
    generator: np.random.Generator,
    progress: Progress = silent,
) -> Candidates:
    """The candidates for the window after the history's last: at most `size`, each stem once.

    A keyword of the list keeps the form in which it was typed; one found in the data carries the surface forms of its
    stem. After the words of earlier lists, the sources take turns until the size is reached. `viral` is the policy, or
    the words that it recommends. It is left out if nothing is known about reposts. A note says so if `viral` was given,
    or if `sources` names it without the other usual sources.
    """
    unknown = set(sources) - set(SOURCES)
    if unknown:
        raise SettingError(f"no source of candidates {', '.join(sorted(unknown))}; there are {', '.join(SOURCES)}")
    if size < len(current):
        raise SettingError(f"{len(current)} current keywords do not fit in {size} candidates; raise the size")
    earlier = KeywordSet(tuple(keyword for used in reversed(history.history) for keyword in used))
    lists = current | earlier
    subject = history if history.candidates == lists else history.with_candidates(lists)
    found: dict[str, Iterable[Keyword]] = {}
    notes: list[str] = []
    for done, source in enumerate(sources):
        progress("candidates", done, len(sources))
        if source == "viral" and isinstance(viral, Sequence):
            found[source] = viral
        elif source == "viral":
            policy = viral if isinstance(viral, Viral) else Viral(tagger=tagger)
            try:
                found[source] = policy.recommended(subject, current, generator=generator)
            except DataError as error:
                if viral is not None or not set(PAPER_SOURCES) <= set(sources):
                    notes.append(f"candidates of `viral` are left out: {error}")
        elif source == "sample":
            if sample is None:
                raise SettingError(
                    "candidates from the unfiltered sample need one; give it (--sample) or leave the source out"
                )
            found[source] = _sample_words(subject, sample, 3 * size, tagger)
        elif source != "history":
            found[source] = _FINDERS[source](subject, 3 * size, tagger)
    progress("candidates", len(sources), len(sources))
    return _union(current, earlier if "history" in sources else KeywordSet(), found, size, history, tuple(notes))


def _union(
    current: KeywordSet,
    earlier: KeywordSet,
    found: dict[str, Iterable[Keyword]],
    size: int,
    corpus: Corpus,
    notes: tuple[str, ...],
) -> Candidates:
    key = partial(stems_of, language=corpus.vocabulary.language)
    known = {key(keyword) for keyword in current}  # a typed list may hold two forms of one stem: both stay
    chosen = [(keyword, "current") for keyword in current]
    turns: Iterator[tuple[str, Keyword]] = (
        pair
        for turn in zip_longest(*([(source, k) for k in keywords] for source, keywords in found.items()))
        for pair in turn
        if pair is not None
    )
    for source, keyword in (*(("history", k) for k in earlier), *turns):
        if len(chosen) >= size:
            break
        if len(keyword.text) <= LONGEST and key(keyword) not in known:
            known.add(key(keyword))
            chosen.append((keyword, source))
    return Candidates(
        KeywordSet(tuple(keyword for keyword, _ in chosen)),
        {keyword.text: source for keyword, source in chosen},
        notes,
    )


def _frequent(subject: Corpus, limit: int, tagger: Tagger) -> list[Keyword]:
    return frequent_nouns(subject, limit, tagger)


def _hashtags(subject: Corpus, limit: int, _: Tagger) -> list[Keyword]:
    """Hashtags in use that are never written without the sign; otherwise the plain word would match both."""
    recent = subject.span(max(0, subject.n_windows - RECENT))
    vocabulary, count = recent.vocabulary, document_frequency(recent)
    weight = recency(subject, HALF_LIFE)  # (D,)
    used = np.asarray(weight @ words_in(subject.documents, len(vocabulary)))  # (V,)
    in_use = (used >= max(FEWEST_TAGGED, LEAST_TAGGED * float(weight.sum()))) & (count >= FEWEST_TAGGED)
    tags = [word for word, used in zip(vocabulary.words, in_use, strict=True) if used and word.startswith("#")]
    bare = [vocabulary.index(word) for word in stem_words([tag[1:] for tag in tags], vocabulary.language)]
    coined = [vocabulary.index(tag) for tag, word in zip(tags, bare, strict=True) if not (word and count[word])]
    return [vocabulary.keyword(word) for word in sorted(coined, key=lambda word: -count[word])[:limit]]


def _rising(subject: Corpus, limit: int, tagger: Tagger) -> list[Keyword]:
    """Nouns that the last window has more of than the windows before led to expect, in standard deviations."""
    if subject.n_windows < 2:
        raise DataError("rising words need posts of two windows; give older posts, or do not name the source rising")
    last, before = subject.window(-1), subject.span(0, -1)
    expected = document_frequency(before) * (len(last) / max(len(before), 1))
    return nouns_by((document_frequency(last) - expected) / np.sqrt(expected + 1), last, limit, tagger)


def _phrases(subject: Corpus, limit: int, _: Tagger) -> list[Keyword]:
    last = subject.window(-1)
    found = find_phrases(last.posts.texts(last.documents.post), settings=last.settings)
    return [phrase.keyword for phrase in sorted(found, key=lambda phrase: -phrase.count)[:limit]]


def _sample_words(subject: Corpus, sample: Corpus, limit: int, tagger: Tagger) -> list[Keyword]:
    """Nouns of those posts of the sample's last window that read like the subject."""
    here, there = subject.vocabulary, sample.vocabulary
    known = np.array([here.index(word) for word in there.words])  # (V of the sample,)
    ours = (
        np.where(known > 0, np.bincount(subject.documents.words, subject.documents.counts, len(here))[known], 0.0) + 1
    )
    theirs = np.bincount(sample.documents.words, sample.documents.counts, len(there)) + 1
    likeness = np.where(known > 0, np.log(ours / ours.sum()) - np.log(theirs / theirs.sum()), 0.0)  # (V,)
    last = sample.window(-1)
    alike = np.flatnonzero(tokens(last) @ likeness > 0)
    return frequent_nouns(last.take(alike), limit, tagger)


_FINDERS: dict[str, Callable[[Corpus, int, Tagger], list[Keyword]]] = {
    "nouns": _frequent,
    "hashtags": _hashtags,
    "phrases": _phrases,
    "rising": _rising,
}
