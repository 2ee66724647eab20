"""An archive as a replay sees it: every post of every window, and what a filter would have collected of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import csr_array

from klda.errors import DataError
from klda.evaluation.subjects import labels_in
from klda.policies.recommend import MIN_COUNT
from klda.posts.schema import POST_SCHEMA, PostTable
from klda.text.corpus import Corpus
from klda.text.documents import Documents, Ints, merged
from klda.text.matching import Matcher
from klda.text.recode import frequent_vocabulary, recoded
from klda.text.tokens import Pieces, cut
from klda.text.vectors import word_vectors
from klda.types import KeywordSet

MOST_WINDOWS = 16
"""Windows whose split texts are kept in memory; a case of ten weeks has eleven windows."""


@dataclass(frozen=True)
class Archive:
    """All posts of a corpus, whether they carry one of its candidates or not; positions are in the order of time."""

    corpus: Corpus

    @cached_property
    def documents(self) -> Documents:
        """Every post as a document."""
        return merged(self.corpus.documents, self.corpus.apart)

    @cached_property
    def labels(self) -> NDArray[np.object_]:
        """The label of each post, several with commas between them; None for a post without a label. # (D,)"""
        return np.array(self.corpus.posts.column("label", self.documents.post).to_pylist(), dtype=object)

    @property
    def n_windows(self) -> int:
        """How many windows the archive spans."""
        return self.corpus.n_windows

    def positions(self, window: int) -> Ints:
        """All posts of one window."""
        low, high = np.searchsorted(self.documents.window, [window, window + 1])
        return np.arange(low, high)

    def sample(self, window: int, rate: float, generator: np.random.Generator) -> Ints:
        """A uniform sample of one window's posts, whatever they are about."""
        inside = self.positions(window)
        return inside[generator.random(len(inside)) < rate] if rate else inside[:0]

    def on_topic(self, labels: frozenset[str], window: int) -> Ints:
        """The posts of one window that carry one of these labels."""
        inside = self.positions(window)
        return inside[self.labelled(inside, labels)]

    def labelled(self, positions: Ints, labels: frozenset[str]) -> NDArray[np.bool_]:
        """Whether each of these posts carries one of these labels, alone or among others. # (n,)"""
        found = np.array([bool(known & labels) for known in self._coded[1]], dtype=np.bool_)
        chosen: NDArray[np.bool_] = found[self._coded[0][positions]]
        return chosen

    @cached_property
    def _coded(self) -> tuple[Ints, list[frozenset[str]]]:
        """The number of each post's set of labels, and the distinct sets. # (D,)"""
        code: dict[str | None, int] = {}
        codes = np.array([code.setdefault(label, len(code)) for label in self.labels.tolist()], dtype=np.int64)
        return codes, [frozenset() if label is None else labels_in(label) for label in code]

    def meaning(self, positions: Ints) -> NDArray[np.float32] | None:
        """What each of these posts means: the mean vector of its words, of length 1. # (n, dimensions)

        Zeros where no word has a vector; None where the language has none.
        """
        if self._word_vectors is None:
            return None
        documents = self.documents.take(positions)
        counts = csr_array(
            (documents.counts.astype(np.float32), documents.words, documents.indptr),
            shape=(len(documents), len(self._word_vectors)),
        )
        return unit_rows(np.asarray(counts @ self._word_vectors))

    @cached_property
    def _word_vectors(self) -> NDArray[np.float32] | None:
        """A vector for each word of the vocabulary; zeros for the placeholder, which is no word. # (V, dimensions)"""
        words = self.corpus.vocabulary
        found = word_vectors([words.display(word) for word in range(len(words))], words.language)
        if found is not None:
            found[0] = 0
        return found

    def collect(self, window: int, keywords: KeywordSet) -> Ints:
        """The posts of one window that a filter with these keywords lets through."""
        found = Matcher(keywords, adjacent=self.corpus.adjacent).match_pieces(self._pieces(window))
        return self.positions(window)[found.lengths > 0]

    @cached_property
    def _pieces(self) -> Callable[[int], Pieces]:
        """The split texts of a window, kept because a replay matches the same windows against many lists."""

        @lru_cache(maxsize=MOST_WINDOWS)
        def pieces(window: int) -> Pieces:
            return cut(self.corpus.posts.texts(self.documents.post[self.positions(window)]))

        return pieces

    def seen(
        self,
        positions: Ints,
        history: Sequence[KeywordSet],
        *,
        first_window: int = 0,
        candidates: KeywordSet | None = None,
        min_count: int = MIN_COUNT,
    ) -> Corpus:
        """The posts that `candidates` match among these, by the words of the archive; for a test window.

        `history` are the lists of the windows from `first_window` on. Words that occur fewer than `min_count` times in
        these posts become the placeholder, so that no word is known before it was collected. `read` gives posts
        as `klda recommend` reads them.
        """
        last_window = first_window + len(history)
        chosen = self.documents.take(positions).shifted(first_window)
        everything = replace(
            self.corpus,
            documents=chosen.take(slice(0, 0)),
            observed=self.corpus.observed.take(np.arange(0)),
            apart=chosen,
            candidates=KeywordSet(),  # none is matched yet
            windows=self.corpus.windows[first_window:last_window],
            history=tuple(history),
        )
        keywords = candidates if candidates is not None else _union(history)
        collected = everything.with_candidates(keywords)
        return recoded(collected, frequent_vocabulary(collected, min_count))

    def read(
        self, positions: Ints, lists: Sequence[KeywordSet], *, first_window: int = 0, every_window: bool = False
    ) -> Corpus:
        """These posts as `klda recommend` reads them: words and their forms are those of these posts alone.

        `lists` are the keyword lists of the windows from `first_window` on; the last is the current one. With
        `every_window`, the corpus spans all of these windows, also those at its ends without a post.
        """
        whole = self.corpus
        rows = np.unique(self.documents.post[positions])  # in the order of the file
        if not len(rows):
            raise DataError("no post was collected; nothing can be advised from it")
        columns = [whole.posts.column(name, rows) for name in POST_SCHEMA.names]
        corpus = Corpus.from_posts(
            PostTable(pa.table(columns, schema=POST_SCHEMA)),
            lists[-1],
            window=whole.windowing,
            settings=replace(whole.settings, min_count=MIN_COUNT),
            adjacent=whole.adjacent,
            workers=1,
        )
        windows = whole.windows[first_window : first_window + len(lists)]
        used = dict(zip(windows, lists, strict=True))
        if every_window:
            before = windows.index(corpus.windows[0])
            corpus = replace(
                corpus,
                documents=corpus.documents.shifted(-before),
                apart=corpus.apart.shifted(-before),
                windows=windows,
            )
        return corpus.with_history([used[window] for window in corpus.windows])


def unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same directions, of length 1; zeros stay. # (n, dimensions)

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32))
    array([[0.6, 0.8],
           [0. , 0. ]], dtype=float32)
    """
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0))


def capped(positions: Ints, cap: int, generator: np.random.Generator) -> Ints:
    """All positions; if there are more than `cap`, a uniform sample of `cap` of them.

    >>> len(capped(np.arange(100), 5, np.random.default_rng(0)))
    5
    """
    if len(positions) <= cap:
        return positions
    return np.sort(generator.choice(positions, size=cap, replace=False))


def _union(sets: Sequence[KeywordSet]) -> KeywordSet:
    """The keywords of all lists, and the exclusions of the last."""
    return KeywordSet(tuple(k for keywords in sets for k in keywords.included)) | sets[-1].exclusions
