"""A simulated platform with known truth: every post, week by week, and files of them."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import zstandard

from klda.errors import SettingError
from klda.posts.schema import BATCH_ROWS, POST_SCHEMA, from_batch, microseconds
from klda.simulation.behaviour import People, Trends
from klda.simulation.known_truth import KnownTruth
from klda.simulation.lexicon import SOURCES, Lexicon
from klda.simulation.sentences import Grammar, Language
from klda.simulation.simulated_subjects import CHATTER, SUBJECTS, SimulatedSubject
from klda.simulation.urn import Floats, Ints, Urn
from klda.types import Post, Progress, silent

WEEK = timedelta(days=7)
BLOCK = 8192
"""Posts drawn together. A seed gives the same posts only with the same number."""
REPOST_SHARE = 0.2
POSTS_PER_AUTHOR = 4
_TRENDS, _PEOPLE, _POSTS = range(3)
"""Independent streams of random numbers from one seed."""


@dataclass(frozen=True)
class Emerging:
    """The new story: its subject, its first week, and its own words, the most used first."""

    subject: str
    week: int
    words: tuple[str, ...]


@dataclass(frozen=True)
class World:
    """A simulated platform. The same settings give the same posts, in batches of any size.

    Weeks are numbered from 0. `emergence` is the week in which a new story starts. The default is half-way. From
    `weeks` on, it never starts.

    >>> world = World(weeks=2, posts_per_week=100)
    >>> sum(batch.num_rows for batch in world.batches())
    200
    >>> post = next(world.posts())
    >>> post.id, post.language, post.time >= world.start
    ('1000000000', 'en', True)
    """

    weeks: int = 11
    posts_per_week: int = 20_000
    seed: int = 0
    start: datetime = datetime(2026, 1, 5, tzinfo=UTC)
    subjects: tuple[SimulatedSubject, ...] = SUBJECTS
    emergence: int | None = None

    def __post_init__(self) -> None:
        for name in ("weeks", "posts_per_week"):
            if getattr(self, name) < 1:
                raise SettingError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.seed < 0:
            raise SettingError(f"seed must not be negative, got {self.seed}")
        if self.start.tzinfo is None:
            raise SettingError(f"start {self.start} has no time zone; give one, as in 2026-01-05T00:00Z")
        if not self.subjects:
            raise SettingError("a world needs at least one subject")

    def __len__(self) -> int:
        return self.weeks * self.posts_per_week

    def batches(self, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """Yields all posts in the order of time, at most `rows` at once."""
        for week in range(self.weeks):
            used = Urn.of_matrix(self._used(week).reshape(-1, len(self._lexicon.words)))
            for first in range(0, self.posts_per_week, BLOCK):
                block = self._block(week, first, min(BLOCK, self.posts_per_week - first), used)
                for start in range(0, block.num_rows, rows):
                    yield block.slice(start, rows)

    def posts(self) -> Iterator[Post]:
        """Yields all posts one by one."""
        for batch in self.batches():
            yield from from_batch(batch)

    # the truth about it

    @property
    def emerging(self) -> Emerging:
        """The new story."""
        breaking = np.flatnonzero(np.isfinite(self._trends.breaks))
        if not len(breaking):
            raise SettingError("no thread of these subjects emerges; give one thread `emerges=0`")
        base, truth = self._lexicon.base, self._truth
        known = truth.written(np.delete(base, breaking, axis=0).sum(axis=(0, 1)) + self._lexicon.everyday.sum(axis=0))
        own = truth.written(base[breaking, SOURCES.index("thing")].sum(axis=0))
        own[truth.said_by_all | (known > 0)] = 0
        words = tuple(truth.vocabulary[i] for i in np.argsort(-own, kind="stable")[: np.count_nonzero(own)])
        subject = self._everything[self._trends.thread_subject[breaking[0]]]
        return Emerging(subject.name, self._emergence, words)

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The words of `word_distribution`."""
        return self._truth.vocabulary

    def word_distribution(self, subject: str, week: int) -> Floats:
        """The distribution of words in the subject's original posts of a week, over `vocabulary`."""
        weight = self._trends.thread_shares(week) * self._on_topic(subject)
        counts = weight @ self._truth.expected_counts(self._used(week), self._voice)
        return np.asarray(counts / counts.sum(), dtype=np.float64)

    def best_keywords(self, subject: str, week: int, n: int) -> tuple[str, ...]:
        """The n single words that together filter the subject's original posts best (F1), the best first.

        >>> "horse" in World().best_keywords("racing", week=0, n=5)
        True
        """
        shares, on_topic = self._trends.thread_shares(week), self._on_topic(subject)
        return self._truth.best(self._used(week), self._voice, shares, on_topic, n)

    def subject_share(self, subject: str, week: int) -> float:
        """The subject's share of the original posts of a week."""
        return float(self._trends.thread_shares(week) @ self._on_topic(subject))

    # how it is made

    @property
    def _emergence(self) -> int:
        return self.weeks // 2 if self.emergence is None else self.emergence

    @cached_property
    def _everything(self) -> tuple[SimulatedSubject, ...]:
        return (*self.subjects, CHATTER)

    @cached_property
    def _lexicon(self) -> Lexicon:
        return Lexicon.of(self._everything)

    @cached_property
    def _grammar(self) -> Grammar:
        return Grammar.of_phrases()

    @cached_property
    def _truth(self) -> KnownTruth:
        return KnownTruth.of(self._lexicon, self._grammar)

    @cached_property
    def _trends(self) -> Trends:
        words = (len(SOURCES), len(self._lexicon.words))
        return Trends.of(self._everything, self._emergence, words, self._generator(_TRENDS))

    @cached_property
    def _people(self) -> People:
        n = max(100, self.posts_per_week // POSTS_PER_AUTHOR)
        return People.of(n, len(self._everything), self._generator(_PEOPLE))

    @cached_property
    def _language(self) -> Language:
        return Language(self._lexicon, self._grammar, self._people.handles, self._trends.thread_subject)

    @cached_property
    def _voice(self) -> Ints:
        voice: Ints = (self._trends.thread_subject == len(self.subjects)).astype(np.int64)
        return voice

    def _generator(self, stream: int, *place: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, stream, *place])

    def _used(self, week: int) -> Floats:
        """The words of each thread in a week. # (threads, sources, words)"""
        return self._lexicon.used(self._trends.drifted(self._lexicon.base, week))

    def _on_topic(self, subject: str) -> Floats:
        names = [s.name for s in self._everything]
        if subject not in names:
            raise SettingError(f"no subject {subject!r} in this world; there are {', '.join(names)}")
        on_topic: Floats = (self._trends.thread_subject == names.index(subject)).astype(np.float64)
        return on_topic

    def _block(self, week: int, first: int, n: int, used: Urn) -> pa.RecordBatch:
        """Posts `first` … `first + n - 1` of a week."""
        generator = self._generator(_POSTS, week, first)
        people = self._people
        shares = np.cumsum(self._trends.thread_shares(week))
        thread = np.minimum(np.searchsorted(shares, generator.random(n)), len(shares) - 1)
        subject = self._trends.thread_subject[thread]
        author = people.authors(subject, generator)
        texts = self._language.speak(used, thread, self._voice[thread], generator)
        back = people.engagement(author, self._trends.heat(week)[thread], texts.n_hashtags, texts.linked, generator)
        origin = _origins(back.reposts, generator)
        passed_on = origin != np.arange(n)
        number = week * self.posts_per_week + first + np.arange(n)
        quantile = (first + np.sort(generator.random(n)) * n) / self.posts_per_week

        take, ids, handles = pa.array(origin), _ids(number), people.names().take(pa.array(author))
        original = pa.array(passed_on)
        prefix = pc.if_else(original, pc.binary_join_element_wise("RT @", handles.take(take), ": ", ""), "")
        names = pa.array([s.name for s in self._everything])
        columns = {
            "id": ids,
            "time": _times(quantile, self.start + week * WEEK),
            "text": pc.binary_join_element_wise(prefix.cast(pa.large_string()), texts.text.take(take), _NOTHING),
            "author": handles,
            "language": pa.repeat("en", n),
            "repost_of": pc.if_else(original, ids.take(take), None),
            "hashtags": texts.hashtags.take(take),
            "reposts": back.reposts[origin],
            "likes": np.where(passed_on, 0, back.likes),
            "replies": np.where(passed_on, 0, back.replies),
            "quotes": np.where(passed_on, 0, back.quotes),
            "followers": people.followers[author],
            "following": people.following[author],
            "author_posts": people.posts[author],
            "author_likes": people.likes[author],
            "label": names.take(pa.array(subject[origin])),
        }
        return pa.RecordBatch.from_pydict(columns, schema=POST_SCHEMA)


_NOTHING = pa.scalar("", type=pa.large_string())
_HOURS = np.array([3, 2, 1.5, 1.2, 1.2, 1.8, 3, 5, 6, 6, 6, 6.5, 7, 6.5, 6, 6, 6.5, 7, 8, 8.5, 9, 8.5, 7, 5])
_DAYS = np.array([1.0, 1.02, 1.05, 1.05, 1.0, 0.9, 0.88])


def _times(quantile: Floats, start: datetime) -> pa.Array:
    """Times in the week at these quantiles: quiet nights, busy evenings, calmer weekends."""
    busy = np.outer(_DAYS, _HOURS).ravel()
    passed = np.concatenate([[0.0], np.cumsum(busy) / busy.sum()])
    hour = np.interp(quantile, passed, np.arange(len(passed)))
    inside = np.minimum((hour * 3_600_000).astype(np.int64), len(busy) * 3_600_000 - 1) * 1000
    return pa.array(microseconds(start) + inside, type=pa.timestamp("us", tz="UTC"))


def _origins(reposts: Ints, generator: np.random.Generator) -> Ints:
    """The post that each post passes on: an earlier original, chosen by its reposts, or itself."""
    n = len(reposts)
    own = np.arange(n)
    passes_on = generator.random(n) < REPOST_SHARE
    passes_on[0] = False
    pull = np.cumsum(np.where(passes_on, 0.0, reposts + 0.5))
    chosen = np.searchsorted(pull, generator.random(n) * pull, side="right")
    return np.where(passes_on, np.minimum(chosen, own), own)


def _ids(number: Ints) -> pa.Array:
    return pa.array(1_000_000_000 + number).cast(pa.string())


_RENAMED = {"reposts": "retweets", "language": "lang"}
_COLUMNS = (
    *("id", "time", "text", "author", "reposts", "likes", "followers", "following", "author_posts", "author_likes"),
    *("language", "label", "hashtags"),
)
ENDINGS = (".parquet", ".jsonl", ".jsonl.gz", ".jsonl.zst")


def write(world: World, path: Path | str, progress: Progress = silent) -> Path:
    """The path of the file with all posts. Its ending sets the format: .parquet, .jsonl, .jsonl.gz or .jsonl.zst.

    The file appears under its name only when it is complete.
    """
    path = Path(path)
    if not path.name.endswith(ENDINGS):
        raise SettingError(f"{path}: cannot tell the format; end the name in {', '.join(ENDINGS)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    try:
        if path.suffix == ".parquet":
            _write_parquet(world, partial, progress)
        else:
            _write_lines(world, partial, path.suffix, progress)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def archive_batches(world: World, progress: Progress = silent) -> Iterator[pa.RecordBatch]:
    """Yields the posts in the columns of archives. Reposts are marked by `x_is_repost`."""
    done = 0
    for batch in world.batches():
        columns = {_RENAMED.get(name, name): batch.column(name) for name in _COLUMNS}
        yield pa.RecordBatch.from_pydict(columns | {"x_is_repost": pc.is_valid(batch.column("repost_of"))})
        done += batch.num_rows
        progress("simulate", done, len(world))


def _write_parquet(world: World, path: Path, progress: Progress) -> None:
    writer: pq.ParquetWriter | None = None
    try:
        for batch in archive_batches(world, progress):
            writer = writer or pq.ParquetWriter(path, batch.schema, compression="zstd")
            writer.write_batch(batch)
    finally:
        if writer is not None:
            writer.close()


def _write_lines(world: World, path: Path, suffix: str, progress: Progress) -> None:
    with _compressed(path, suffix) as sink:
        for batch in archive_batches(world, progress):
            lines = io.BytesIO()
            pl.DataFrame(pl.from_arrow(batch)).write_ndjson(lines)
            sink.write(lines.getvalue())


@contextmanager
def _compressed(path: Path, suffix: str) -> Iterator[BinaryIO]:
    with path.open("wb") as file:
        if suffix == ".gz":
            # no name and no time in the header: the same world gives the same bytes
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=5, mtime=0) as sink:
                yield cast(BinaryIO, sink)
        elif suffix == ".zst":
            with zstandard.ZstdCompressor().stream_writer(file) as sink:
                yield cast(BinaryIO, sink)
        else:
            yield file
