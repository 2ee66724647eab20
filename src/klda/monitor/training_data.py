"""What a proposal learns from: the stored windows as a corpus, with the unfiltered sample among and beside them.

The sample shows what the filter misses. Its posts that no keyword caught join the corpus, each standing for as many of
its kind as the sample leaves out; and on its own it is a place to look for candidates.
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
"""Posts of a window's sample that it takes to look for candidates there."""


@dataclass(frozen=True)
class Learning:
    """A corpus of past windows, and the sample on its own where there is enough of it."""

    corpus: Corpus
    sample: Corpus | None
    n_collected: int
    """Rows of the corpus's posts that the filter collected; those behind are from the sample alone."""
    share: float
    """Share of all posts that the sample holds."""


def learning(
    monitor: Monitor, window: Window, *, vocabulary: Vocabulary | None = None, progress: Progress = silent
) -> Learning:
    """What is known at the end of a window, from as many windows as the settings say.

    vocabulary: words that keep their numbers, for a model that goes on.
    """
    settings, store = monitor.settings, monitor.posts()
    windows = _windows(monitor, window)
    collected, sampled = store.read(windows), store.read(windows, sample=True)
    if not len(store.read(window)):
        raise DataError(f"no post of the window {window} was collected; nothing can be proposed from it")
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
    """The last so many windows up to this one, none from before the monitor began."""
    windows = [last]
    while len(windows) < monitor.settings.history and windows[0].start > monitor.began():
        windows.insert(0, monitor.windowing.holding(windows[0].start - timedelta(microseconds=1)))
    return windows


class Both:
    """Collected posts, and then those of the sample that were not collected."""

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
    """The sample of these windows, every post a document; None where the last window has too little of it."""
    if len(store.read(window, sample=True)) < FEWEST_SAMPLED:
        return None
    posts = store.read(windows, sample=True)
    corpus = Corpus.from_posts(posts, current, window=monitor.windowing, settings=monitor.settings.text())
    everything = merged(corpus.documents, corpus.apart)
    nothing = Ragged(np.zeros(len(everything) + 1, dtype=np.int64), np.zeros(0, dtype=np.int32))
    return replace(corpus, documents=everything, observed=nothing, apart=everything.take(slice(0, 0)))
