"""The posts that a proposal learns from: stored windows as a corpus, with the unfiltered sample.

The sample shows posts that the filter misses. Sampled posts without a keyword join the corpus, and each counts for as
many as the sample leaves out. The sample alone is also a source of candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from klda.errors import DataError
from klda.monitor.monitor import Monitor
from klda.store import PostStore, StoredPosts
from klda.text.corpus import Corpus
from klda.text.documents import Ragged, merged
from klda.text.vocabulary import Vocabulary
from klda.types import KeywordSet, Progress, Window, silent

FEWEST_SAMPLED = 50
"""Sampled posts that a window needs before candidates are looked for there."""


@dataclass(frozen=True)
class Learning:
    """A corpus of past windows, and the sample alone if it is large enough."""

    corpus: Corpus
    sample: Corpus | None
    n_collected: int
    """Number of rows that the filter collected. The rows after them are from the sample only."""
    share: float
    """The sample's share of all posts."""


def learning(
    monitor: Monitor, window: Window, *, vocabulary: Vocabulary | None = None, progress: Progress = silent
) -> Learning:
    """The posts known at the end of a window, from as many windows as the settings say.

    vocabulary: words that keep their numbers, for a model that is continued.
    """
    settings, store = monitor.settings, monitor.posts()
    windows = _windows(monitor, window)
    collected, sampled = store.read(windows), store.read(windows, sample=True)
    if not len(store.read(window)):
        raise DataError(f"window {window} has no posts; nothing can be proposed from it")
    current = monitor.active_in(window)
    both = Both(collected, sampled)
    corpus = Corpus.from_posts(
        both,
        current,
        window=monitor.windowing,
        settings=settings.text(),
        adjacent=settings.adjacent,
        vocabulary=vocabulary,
        extend_vocabulary=vocabulary is not None,
        progress=progress,
    )
    corpus = corpus.with_history([monitor.active_in(w) for w in corpus.windows])
    alone = _sample(monitor, store, window, windows, current)
    return Learning(corpus, alone, both.n_collected, settings.sample)


def _windows(monitor: Monitor, last: Window) -> list[Window]:
    """The last windows up to this one, none from before the monitor began."""
    windows = [last]
    while len(windows) < monitor.settings.history and windows[0].start > monitor.began():
        windows.insert(0, monitor.windowing.holding(windows[0].start - timedelta(microseconds=1)))
    return windows


class Both:
    """Collected posts, followed by sampled posts that were not collected."""

    def __init__(self, collected: StoredPosts, sample: StoredPosts) -> None:
        self._collected, self._sample = collected, sample
        self.n_collected = 0

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yields both, one after the other."""
        sample = list(self._sample.batches())
        unseen = {name for batch in sample for name in batch.column("id").to_pylist()}
        self.n_collected = 0
        for batch in self._collected.batches():
            self.n_collected += batch.num_rows
            unseen.difference_update(batch.column("id").to_pylist())
            yield batch
        left = pa.array(sorted(unseen), pa.string())
        for batch in sample:
            yield batch.filter(pc.is_in(batch.column("id"), left))


def _sample(
    monitor: Monitor, store: PostStore, window: Window, windows: list[Window], current: KeywordSet
) -> Corpus | None:
    """The sample of these windows, with every post as a document. None if the last window has too few."""
    if len(store.read(window, sample=True)) < FEWEST_SAMPLED:
        return None
    posts = store.read(windows, sample=True)
    corpus = Corpus.from_posts(posts, current, window=monitor.windowing, settings=monitor.settings.text())
    everything = merged(corpus.documents, corpus.apart)
    nothing = Ragged(np.zeros(len(everything) + 1, dtype=np.int64), np.zeros(0, dtype=np.int32))
    return replace(corpus, documents=everything, observed=nothing, apart=everything.take(slice(0, 0)))
