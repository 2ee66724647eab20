"""Minibatches: the documents of one iteration, their tokens, and the candidates they carry, end to end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klda.errors import SettingError
from klda.model.bags import Floats
from klda.model.data import TrainingData
from klda.model.workers import ALONE, Workers, place
from klda.text.documents import Ints, Words, gather, offsets, room


@dataclass(frozen=True)
class Batch:
    """Some documents as flat arrays; `token_*` and `pair_*` run along the documents, positions are local.

    `cover_pair`, `cover_token` say which tokens a pair's candidate covers, along the pairs.
    """

    documents: Ints  # (B,)
    words: Words  # (n,)
    counts: Words  # (n,)
    token_start: Ints  # (B + 1,)
    pair: Ints  # (P,)  numbers of the pairs in the whole data
    pair_keyword: Words  # (P,)
    pair_start: Ints  # (B + 1,)
    cover_token: Ints  # (C,)
    cover_start: Ints  # (P + 1,)

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def n_tokens(self) -> int:
        """Tokens of all documents, those of keywords included."""
        return int(self.counts.sum(dtype=np.int64))

    @property
    def lengths(self) -> Ints:
        """Tokens of each document. # (B,)"""
        return np.diff(np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])[self.token_start])

    @property
    def pair_document(self) -> Ints:
        """The local document of each pair. # (P,)"""
        return np.repeat(np.arange(len(self)), np.diff(self.pair_start))

    @property
    def token_document(self) -> Ints:
        """The local document of each token entry. # (n,)"""
        return np.repeat(np.arange(len(self)), np.diff(self.token_start))


def make_batch(data: TrainingData, documents: Ints) -> Batch:
    """The batch of these documents."""
    n_tokens = data.indptr[documents + 1] - data.indptr[documents]
    n_pairs = data.observed.indptr[documents + 1] - data.observed.indptr[documents]
    token = gather(data.indptr[documents], n_tokens)
    token_start = offsets(n_tokens)
    pair = gather(data.observed.indptr[documents], n_pairs)
    n_cover = data.cover.indptr[pair + 1] - data.cover.indptr[pair]
    cover = data.cover.values[gather(data.cover.indptr[pair], n_cover)]
    moved = np.repeat(token_start[:-1], n_pairs)  # from places in a document to those in the batch
    return Batch(
        documents,
        data.words[token],
        data.counts[token],
        token_start,
        pair,
        data.observed.values[pair],
        offsets(n_pairs),
        np.repeat(moved, n_cover) + cover,
        offsets(n_cover),
    )


class DocumentSampler:
    """Draws documents with probability in proportion to their weight, spread evenly over the corpus.

    One document is drawn from each of `size` equal strata of the cumulated weight. Documents lie in the order of
    time, so every batch spans the whole period; the cost does not grow with the number of documents. No document is
    twice in a batch: where a batch is a large part of all, those that weigh more than a stratum come in once each time,
    and count less than their weight says.

    With `uniform`, a batch is a uniform sample of the documents without replacement, as the paper prints it; documents
    then cannot differ in weight.

    Of several workers, each holds one stretch of the documents. All draw the same points; each takes those that fall
    into its stretch.
    """

    def __init__(self, weights: Floats, workers: Workers = ALONE, *, uniform: bool = False) -> None:
        if uniform and len(weights) and np.ptp(weights) > 1e-9 * weights.max():
            raise SettingError("uniform batches draw all documents alike; leave half_life out, or batches='uniform'")
        self._uniform = uniform
        self._mine, self._n_documents = place(workers, len(weights))
        self.edges = np.cumsum(weights, out=room(len(weights), np.float64))  # (D,)
        ends = np.cumsum(workers.gather(float(self.edges[-1])))
        self._start = float(ends[workers.rank - 1]) if workers.rank else 0.0
        self._end = float(ends[workers.rank]) if workers.rank < workers.size - 1 else np.inf
        self._whole = float(ends[-1])

    def draw(self, size: int, generator: np.random.Generator) -> Ints:
        """At most `size` distinct documents of all, ascending: those among them that are held here."""
        size = min(size, self._n_documents)
        if self._uniform:
            drawn = np.sort(generator.choice(self._n_documents, size, replace=False, shuffle=False))
            return np.asarray(drawn[(drawn >= self._mine.start) & (drawn < self._mine.stop)] - self._mine.start)
        points = (np.arange(size) + generator.random(size)) * (self._whole / size)
        points = points[(points >= self._start) & (points < self._end)] - self._start
        drawn = np.minimum(np.searchsorted(self.edges, points, side="right"), len(self.edges) - 1)
        fresh = np.ones(len(drawn), dtype=bool)
        fresh[1:] = drawn[1:] > drawn[:-1]  # neighbouring strata may meet in one document
        return np.asarray(drawn[fresh])
