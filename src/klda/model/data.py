"""The arrays that a model trains on, and how a corpus or plain texts become such arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from klda.errors import SettingError
from klda.model.bags import Floats
from klda.model.workers import ALONE, Workers, place, total
from klda.text.documents import BLOCK, Ints, Ragged, Words, chosen, gather, offsets, picked, room, runs, sums
from klda.text.tokens import normalise
from klda.types import KeywordSet

if TYPE_CHECKING:
    from klda.text.corpus import Corpus


from collections.abc import Iterable

import pyarrow as pa

from klda.errors import DataError
from klda.text.encoding import count_words, encode
from klda.text.matching import Matcher
from klda.text.text_settings import TextSettings
from klda.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class TrainingData:
    """Token counts in CSR form, the candidates each document carries, and how much each document counts.

    A *pair* is a document with one candidate that it carries; pairs are numbered along `observed.values`. Nothing
    here grows with documents × candidates.
    """

    indptr: Ints  # (D + 1,)
    words: Words  # (nnz,)  ascending within a document
    counts: Words  # (nnz,)
    observed: Ragged  # D lists of candidates
    keyword_words: Ragged  # Q lists of words
    n_words: int
    weights: Floats  # (D,)  mean 1

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_keywords(self) -> int:
        """How many candidates there are."""
        return len(self.keyword_words)

    @property
    def n_pairs(self) -> int:
        """How many (document, observed candidate) pairs there are."""
        return len(self.observed.values)

    @cached_property
    def lengths(self) -> Ints:
        """Tokens of each document. # (D,)"""
        return sums(self.counts, self.indptr)

    @cached_property
    def n_tokens(self) -> float:
        """Tokens in all documents, each document as often as it counts."""
        return float(self.lengths @ self.weights)

    @cached_property
    def word_frequency(self) -> Floats:
        """How often each word occurs, weighted like the documents. # (V,)"""
        found = np.zeros(self.n_words)
        for some in self._blocks():
            per_token = np.repeat(some.weights, np.diff(some.indptr)) * some.counts
            found += np.bincount(some.words, per_token, self.n_words)
        return found

    @cached_property
    def keyword_frequency(self) -> Floats:
        """The share of documents that carry each candidate, weighted like the documents. # (Q,)"""
        return np.asarray(self.keyword_weight / self.weights.sum(), dtype=np.float64)

    @cached_property
    def keyword_weight(self) -> Floats:
        """How much the documents that carry each candidate count together. # (Q,)"""
        found = np.zeros(self.n_keywords)
        for some in self._blocks():
            per_pair = np.repeat(some.weights, some.observed.lengths)
            found += np.bincount(some.observed.values, per_pair, self.n_keywords)
        return found

    @cached_property
    def cover(self) -> Ragged:
        """For each pair, the entries of its document that its candidate covers, counted from 0."""
        return Ragged.joined([some._covered() for some in self._blocks()])

    def _covered(self) -> Ragged:
        pair_document = self.observed.rows
        keyword = self.observed.values.astype(np.int64)
        n_each = self.keyword_words.lengths[keyword]
        pair = np.repeat(np.arange(self.n_pairs), n_each)
        word = self.keyword_words.values[gather(self.keyword_words.indptr[keyword], n_each)]
        wanted = pair_document[pair] * self.n_words + word
        places = np.repeat(np.arange(len(self)), np.diff(self.indptr)) * self.n_words + self.words
        at = np.searchsorted(places, wanted)
        hit = at < len(places)
        hit[hit] = places[at[hit]] == wanted[hit]
        own = at[hit] - self.indptr[pair_document[pair[hit]]]
        return Ragged(offsets(np.bincount(pair[hit], minlength=self.n_pairs)), own.astype(np.int32))

    def _blocks(self) -> Iterator[TrainingData]:
        """The documents in blocks, so that arrays with an entry for each token stay small."""
        for start in range(0, max(1, len(self)), BLOCK):
            yield self.stretch(start, min(start + BLOCK, len(self)))

    def take(self, index: Ints) -> TrainingData:
        """The documents at these positions, with the weights scaled to mean 1 again."""
        return self.pick(index).even()

    def even(self) -> TrainingData:
        """The same documents with the weights scaled to mean 1."""
        return replace(self, weights=self.weights / self.weights.mean()) if len(self) else self

    def stretch(self, start: int, stop: int) -> TrainingData:
        """The documents from `start` up to but without `stop`, as views; their weights stay as they are."""
        tokens, pairs = (slice(*indptr[[start, stop]]) for indptr in (self.indptr, self.observed.indptr))
        return TrainingData(
            self.indptr[start : stop + 1] - self.indptr[start],
            self.words[tokens],
            self.counts[tokens],
            Ragged(self.observed.indptr[start : stop + 1] - pairs.start, self.observed.values[pairs]),
            self.keyword_words,
            self.n_words,
            self.weights[start:stop],
        )

    def pick(self, index: Ints) -> TrainingData:
        """The documents at these positions; their weights stay as they are."""
        starts, lengths = runs(self.indptr, index)
        return TrainingData(
            offsets(lengths),
            picked(self.words, starts, lengths),
            picked(self.counts, starts, lengths),
            self.observed.take(index),
            self.keyword_words,
            self.n_words,
            chosen(self.weights, index),
        )


def training_data(corpus: Corpus, *, half_life: float | None = None, workers: Workers = ALONE) -> TrainingData:
    """The arrays of a corpus; with a half-life (in windows), older documents count less.

    Of several workers, each has the corpus of its own documents.
    """
    documents = corpus.documents
    return TrainingData(
        documents.indptr,
        documents.words,
        documents.counts,
        longest_only(corpus.observed, corpus.candidates),
        corpus.keyword_words,
        len(corpus.vocabulary),
        recency_weights(documents.window, half_life, workers),
    )


def longest_only(observed: Ragged, candidates: KeywordSet) -> Ragged:
    """The observed candidates without those that are a part of a longer observed one. # D lists

    A document with `computer virus` is not also one with `virus`. Where no candidate is a part of another, nothing
    changes.

    >>> longest_only(Ragged.of([[0, 1], [0]]), KeywordSet.of("virus", "computer virus")).lists()
    [[1], [0]]
    """
    for part, whole in _parts(candidates):
        rows = observed.rows
        dropped = (observed.values == part) & np.isin(rows, rows[observed.values == whole])
        if dropped.any():
            kept = np.bincount(rows[~dropped], minlength=len(observed))
            observed = Ragged(offsets(kept), observed.values[~dropped])
    return observed


def _parts(candidates: KeywordSet) -> list[tuple[int, int]]:
    """Pairs (part, whole): every form of the second candidate contains all words of a form of the first."""
    words = [[frozenset(normalise(form).split()) for form in keyword.forms] for keyword in candidates]
    phrases = [column for column, forms in enumerate(words) if any(len(form) > 1 for form in forms)]
    return [
        (part, whole)
        for whole in phrases
        for part, forms in enumerate(words)
        if all(any(form < longer for form in forms) for longer in words[whole])
    ]


def recency_weights(window: Words, half_life: float | None, workers: Workers = ALONE) -> Floats:
    """A weight for each document that halves every `half_life` windows into the past; mean 1 over all. # (D,)"""
    if half_life is None:
        weights = room(len(window), np.float64)
        weights[:] = 1.0
        return weights
    if not half_life > 0:
        raise SettingError(f"half_life must be positive (in windows) or None, got {half_life}")
    last = max(workers.gather(int(window.max(initial=0))))
    weights = np.exp2(-(last - window.astype(np.float64)) / half_life)
    mean = total(workers, float(weights.sum())) / max(1, total(workers, len(window)))
    return np.asarray(weights / mean) if len(weights) else weights


def gathered(mine: TrainingData, index: Ints, workers: Workers) -> TrainingData:
    """The documents at these positions (ascending) among the documents of all workers."""
    held, _ = place(workers, len(mine))
    here = index[(index >= held.start) & (index < held.stop)] - held.start
    parts = workers.gather(mine.pick(here))
    return TrainingData(
        offsets(np.concatenate([np.diff(part.indptr) for part in parts])),
        np.concatenate([part.words for part in parts]),
        np.concatenate([part.counts for part in parts]),
        Ragged.joined([part.observed for part in parts]),
        mine.keyword_words,
        mine.n_words,
        np.concatenate([part.weights for part in parts]),
    )


@dataclass(frozen=True)
class Totals:
    """Sums over the documents of all workers; documents count with their weight."""

    n_documents: int
    n_tokens: float
    weight: float
    word_frequency: Floats  # (V,)
    keyword_frequency: Floats  # (Q,)  shares of documents

    @property
    def mean_length(self) -> float:
        """Tokens of a document."""
        return self.n_tokens / self.weight


def totals(mine: TrainingData, workers: Workers = ALONE) -> Totals:
    """The sums over the documents of all workers; `mine` are the documents of this one."""
    weight = total(workers, float(mine.weights.sum()))
    return Totals(
        total(workers, len(mine)),
        total(workers, mine.n_tokens),
        weight,
        total(workers, mine.word_frequency),
        total(workers, mine.keyword_weight) / weight,
    )


def texts_of(given: object) -> list[str]:
    """The given texts as a list; an error if they are no texts."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise DataError(f"{given!r} is neither a corpus nor a list of texts; give texts as in transform(['some text'])")
    texts = list(given)
    for text in texts:
        if not isinstance(text, str):
            raise DataError(
                f"transform takes a Corpus or a list of texts, and {type(text).__name__} is neither; of posts, give "
                "[post.text for post in posts]"
            )
    return texts


def data_of_texts(
    texts: list[str], vocabulary: Vocabulary, candidates: KeywordSet, keyword_words: Ragged
) -> TrainingData:
    """The arrays of texts, read in the language of the vocabulary; words that it lacks are the placeholder."""
    # A vocabulary that was made without stemming has each word as its own only form.
    stemmed = any(forms != (word,) for word, forms in zip(vocabulary.words[1:], vocabulary.forms[1:], strict=True))
    settings = TextSettings(language=vocabulary.language, stem=stemmed)
    found = encode(pa.array(texts, type=pa.large_string()), Matcher(candidates), settings)
    stems = settings.stems(found.forms)
    word_of_form = np.fromiter(map(vocabulary.index, stems), dtype=np.int32, count=len(stems))
    numbered = Ragged(found.texts.indptr, word_of_form[found.texts.values])
    indptr, words, counts = count_words(numbered, len(vocabulary))
    return TrainingData(
        indptr,
        words,
        counts,
        longest_only(found.observed, candidates),
        keyword_words,
        len(vocabulary),
        np.ones(len(texts), dtype=np.float64),
    )
