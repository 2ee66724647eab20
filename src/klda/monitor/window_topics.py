"""The topics of recent windows, with their share of each window and with examples.

They are learned when a window closes, or on request. Pages show the saved result. A sample of each window is enough:
the shares and first words of six topics settle with a few thousand posts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa

from klda.advice.prediction import ITERATIONS, N_WORDS, Expected, expected, train_model
from klda.advice.topics import topics_of
from klda.arrays import Floats
from klda.errors import DataError
from klda.monitor.calendar import horizon
from klda.monitor.forget import check_examples
from klda.monitor.jobs import recorded
from klda.monitor.monitor import Monitor
from klda.store.delta.rows import ALL
from klda.store.sql.topic_records import TopicExample, TopicOverTime, WindowTopics
from klda.text.corpus import Corpus
from klda.text.documents import Documents
from klda.types import KeywordSet, Progress, Window, silent

N_TOPICS = 6
MOST_WINDOWS = 12
MOST_POSTS = 1_200
"""Posts drawn from each window."""
MOST_LEARNT = 5_000
"""Posts that the model is trained on. Topics of the others are inferred."""
FEWEST_POSTS = 30
"""With fewer posts, topics are not worth showing."""
N_EXAMPLES = 3
_FEWEST_WORDS = 5  # of an example: shorter posts say too little


def learn_topics(
    monitor: Monitor, window: Window | None = None, *, progress: Progress = silent, job: str | None = None
) -> WindowTopics:
    """The topics of a window and of those before it. They are saved too. The default is the newest window with posts.

    job: the id of this job, if it is already recorded.
    """
    with recorded(monitor, "topics", progress, job=job) as (report, result):
        posts = _totals(monitor)
        last = window or _newest(monitor, posts)
        windows = [start for start in posts if start <= last.start][-MOST_WINDOWS:]
        report("reading posts", 0, len(windows))
        corpus = _sampled(monitor, windows, posts)
        report("learning topics", 0, 1)
        found = topics_over_time(corpus, seed=monitor.settings.seed, made=monitor.clock())
        monitor.records.topics.save(found)
        check_examples(monitor, (e for topic in found.topics for e in topic.examples), corpus.windows)
        result["window"] = found.windows[-1].isoformat()
        return found


def topics_over_time(corpus: Corpus, *, seed: int, made: datetime) -> WindowTopics:
    """The topics of all posts of a corpus, with their share of each window, and examples from the last one.

    The topics come from KLDA, averaged over the keywords of the posts.
    """
    documents = corpus.documents
    if len(documents) < FEWEST_POSTS:
        raise DataError(f"{len(documents)} posts are too few for topics; wait for {FEWEST_POSTS}")
    generator = np.random.default_rng(seed)
    learnt = np.sort(generator.permutation(len(documents))[:MOST_LEARNT])
    model = train_model(corpus.take(learnt), n_topics=N_TOPICS, iterations=ITERATIONS, n_words=N_WORDS, seed=seed)
    found = expected(model, corpus, generator)
    weights = found.of_posts  # (D, K)
    shares = _shares(documents, weights, corpus.n_windows)  # (T, K)
    words = _words(corpus, found)
    topics = [
        TopicOverTime(
            words[k], tuple(round(float(s), 4) for s in shares[:, k]), _examples(corpus, documents, weights[:, k])
        )
        for k in np.argsort(-shares[-1], kind="stable")
    ]
    return WindowTopics(tuple(w.start for w in corpus.windows), tuple(topics), len(documents), made)


def _totals(monitor: Monitor) -> dict[datetime, int]:
    """The number of posts in each window, by its start."""
    points = monitor.records.volume.series("window", until=horizon(monitor), keywords=[ALL])
    return {point.start: point.posts for point in points}


def _newest(monitor: Monitor, posts: dict[datetime, int]) -> Window:
    if not posts:
        raise DataError(f"monitor {monitor.name}: there are no posts yet, so there are no topics")
    return monitor.windowing.holding(max(posts))


@dataclass(frozen=True)
class _Held:
    """Drawn posts, which can be read more than once."""

    drawn: Sequence[pa.RecordBatch]

    def batches(self) -> Iterator[pa.RecordBatch]:
        yield from self.drawn


def _sampled(monitor: Monitor, windows: Sequence[datetime], posts: dict[datetime, int]) -> Corpus:
    generator, store = np.random.default_rng(monitor.settings.seed), monitor.posts()
    drawn: list[pa.RecordBatch] = []
    active = KeywordSet()
    for start in windows:
        window = monitor.windowing.holding(start)
        active = active | monitor.active_in(window)
        share = min(1.0, MOST_POSTS / max(posts[start], 1))
        drawn += [
            batch.filter(pa.array(generator.random(batch.num_rows) < share)) for batch in store.read(window).batches()
        ]
    keywords = (active | monitor.records.keywords.active()).included
    settings = monitor.settings
    return Corpus.from_posts(_Held(drawn), keywords, window=monitor.windowing, settings=settings.text())


def _shares(documents: Documents, weights: Floats, n_windows: int) -> Floats:
    """The mean weight of each topic in each window, 0 for a window without posts. # (T, K)"""
    counts = np.bincount(documents.window, minlength=n_windows)  # (T,)
    sums = np.stack([np.bincount(documents.window, column, n_windows) for column in weights.T], axis=1)  # (T, K)
    return np.asarray(sums / np.maximum(counts, 1)[:, None])


def _words(corpus: Corpus, found: Expected) -> list[tuple[str, ...]]:
    """The words that distinguish each topic, without keywords, because every post has one."""
    topics = topics_of(found, corpus, np.zeros(len(corpus), dtype=np.int64), 1)
    posts = np.bincount(corpus.observed.values, minlength=len(corpus.candidates)).astype(np.float64)  # (Q,)
    _, words = topics.of_list(np.ones(1), posts)
    leading = topics.leading(words, np.asarray(topics.own.any(axis=0)))
    return [tuple(topics.vocabulary[word] for word in row) for row in leading]


def _examples(corpus: Corpus, documents: Documents, weight: Floats) -> tuple[TopicExample, ...]:
    """The posts of the last window with the most of a topic: each text once, no reposts."""
    fit = np.where((documents.window == corpus.n_windows - 1) & (documents.lengths >= _FEWEST_WORDS), weight, -1.0)
    best = np.argsort(-fit, kind="stable")[: 10 * N_EXAMPLES]
    best = best[fit[best] > 0]
    rows = documents.post[best]
    found: dict[str, TopicExample] = {}
    columns = [corpus.posts.column(name, rows).to_pylist() for name in ("id", "text", "repost_of")]
    for name, text, original, time in zip(*columns, documents.time[best].tolist(), strict=True):
        if original is None:
            moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time)
            found.setdefault(" ".join(text.split()).casefold(), TopicExample(name, text, moment))
    return tuple(found.values())[:N_EXAMPLES]
