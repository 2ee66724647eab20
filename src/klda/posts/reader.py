"""`read_posts`: reads the files of all platforms, and frames."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import tzinfo
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from klda.errors import SettingError
from klda.posts.columnar import parquet_batches, parquet_dates, to_posts
from klda.posts.files import PathLike, Stream, find_files, json_values, lines, opened, unpacked
from klda.posts.formats.generic import Columns, Mapped, as_mapping
from klda.posts.formats.outcome import FOREIGN_FILE, LANGUAGE, Bad, Outcome, Row, batch_of
from klda.posts.formats.times import DateReader, date_reader, reader_of, time_zone
from klda.posts.input_types import FileType, Frame, PostInput, file_input, frame_batches, frame_input, header_of
from klda.posts.language_detection import detect, primary
from klda.posts.parsing import csv_outcomes, csv_records, json_outcomes
from klda.posts.read_report import ReadLog, ReadReport
from klda.posts.schema import BATCH_ROWS, from_batch
from klda.posts.seen_ids import SeenIds
from klda.types import Post, Progress, silent

STAGE = "read posts"
_BATCH_CHARACTERS = 32_000_000


def read_posts(
    path_or_paths: PathLike | Iterable[PathLike] | Frame,
    *,
    mapping: Mapping[str, str] | None = None,
    reposts: Literal["keep", "drop"] = "keep",
    strict: bool = False,
    languages: str | Collection[str] | None = None,
    timezone: str | tzinfo | None = None,
    date_format: str | None = None,
    memory: int | None = None,
    progress: Progress = silent,
) -> PostReader:
    """A reader of the posts in these files and folders, in the given order, or in a frame of pandas, Polars or Arrow.

    Nothing is read before the reader is iterated.

    Formats are recognised by content: X API v1.1 and v2, Bluesky Jetstream, Mastodon, and plain columns under their
    usual names. Files are JSON lines, JSON, CSV or Parquet, also packed with gzip or Zstandard. Duplicates are dropped.

    mapping: {field of Post: column of the file}, for unusual column names; `is_repost` may name a yes/no column. With
        a mapping, every record is read as plain columns. Dotted names select nested JSON.
    reposts: whether reposts are kept or dropped.
    strict: whether a bad record raises InputError; otherwise it is counted.
    languages: keep only posts in these languages. For a post without a stated language, it is detected from the text.
    timezone: the zone of times without a zone, such as "Europe/Berlin".
    date_format: the format of times in text, as for `strptime`, such as "%d/%m/%Y %H:%M". It is needed only for dates
        like 05/01/2026, when no day above 12 shows whether the day or the month comes first.
    memory: bytes of memory for known ids; more ids go to a temporary file. Without a limit, an id takes 13 bytes.
    progress: called with the bytes read, the bytes in total, and the lines and posts so far.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
    ...     _ = file.write(b'{"id": 1, "time": "2026-01-05T10:00:00Z", "text": "Hello"}\\n{"id": 2')
    ...     file.flush()
    ...     reader = read_posts(file.name)
    ...     [post.text for post in reader], reader.report.lines, dict(reader.report.bad)
    (['Hello'], 2, {'broken JSON': 1})
    """
    if reposts not in ("keep", "drop"):
        raise SettingError(f'reposts must be "keep" or "drop", got {reposts!r}')
    mapped, zone, dates = as_mapping(mapping), time_zone(timezone), date_reader(date_format)
    return PostReader(
        [frame_input(path_or_paths, mapped, zone, dates)]
        if isinstance(path_or_paths, Frame)
        else [file_input(path, named, mapped) for path, named in find_files(path_or_paths)],
        mapped,
        reposts == "drop",
        strict,
        _language_codes(languages),
        zone,
        progress,
        memory,
        dates,
    )


class PostReader:
    """An iterable of `Post`; `batches()` gives record batches, which is faster. Each pass reads the files again."""

    def __init__(
        self,
        sources: list[PostInput],
        mapping: Mapped,
        drop_reposts: bool,
        strict: bool,
        languages: frozenset[str],
        zone: tzinfo | None,
        progress: Progress,
        memory: int | None = None,
        dates: DateReader | None = None,
    ) -> None:
        self._sources, self._mapping, self._zone = sources, mapping, zone
        self._drop_reposts, self._strict, self._languages = drop_reposts, strict, languages
        self._progress, self._memory, self._dates = progress, memory, dates
        self._log = ReadLog()

    def __repr__(self) -> str:
        names = [str(source.path) for source in self._sources[:3]]
        more = f" and {len(self._sources) - 3:,} more" if len(self._sources) > 3 else ""
        return f"<PostReader of {', '.join(names) or 'no file'}{more}>"

    @property
    def report(self) -> ReadReport:
        """The counts of records so far, in the latest pass."""
        return self._log.snapshot()

    def __iter__(self) -> Iterator[Post]:
        for batch in self.batches():
            yield from from_batch(batch)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The posts as record batches in `POST_SCHEMA`."""
        log = self._log = ReadLog(self._strict)
        seen = SeenIds(self._memory)
        total = sum(source.size for source in self._sources)
        done = 0
        for source in self._sources:
            for position, batch in self._read(source, log):
                posts = self._wanted(batch, log)
                fresh = seen.add(posts.column("id"))
                log.duplicates += int(fresh.size - fresh.sum())
                posts = _only(posts, fresh)
                log.posts += posts.num_rows
                self._progress(STAGE, done + position, total, lines=log.lines, posts=log.posts)
                if posts.num_rows:
                    yield posts
            done += source.size
        self._progress(STAGE, total, total, lines=log.lines, posts=log.posts)

    def _read(self, source: PostInput, log: ReadLog) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Batches of the posts in a file, each with the number of bytes read so far."""
        columns = source.columns or Columns()
        if source.frame is not None:
            yield from self._read_columns(source, columns, frame_batches(source.frame, columns), log, source.dates)
        elif source.type is FileType.PARQUET:
            with unpacked(source.path) as plain:
                dates = self._dates or (parquet_dates(plain, columns.time) if columns.time else None)
                yield from self._read_columns(source, columns, parquet_batches(plain, columns), log, dates)
        elif source.type is None:
            log.lines += 1
            log.skipped[FOREIGN_FILE] += 1
        elif source.type is not FileType.EMPTY:
            with opened(source.path) as stream:
                yield from self._pack(source.path, self._outcomes(source, stream), log, lambda: stream.position)

    def _outcomes(self, source: PostInput, stream: Stream) -> Iterator[tuple[int, Outcome]]:
        if source.columns is None:
            cut = json_values if source.type is FileType.VALUES else lines
            return json_outcomes(cut(stream), self._mapping, self._zone, self._dates)
        rows = lines(stream)
        names, delimiter = header_of(rows, self._mapping)
        dates = self._dates or _csv_dates(source.path, source.columns, self._mapping)
        return csv_outcomes(rows, names, delimiter, source.columns, self._zone, dates)

    def _pack(
        self, path: Path, outcomes: Iterator[tuple[int, Outcome]], log: ReadLog, position: Callable[[], int]
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Batches of the posts among these outcomes; others are counted. Posts before a fatal record come first."""
        rows: list[Row] = []
        characters = 0
        for number, outcome in outcomes:
            if isinstance(outcome, Row):
                log.lines += 1
                rows.append(outcome)
                characters += len(outcome.text)
                if len(rows) == BATCH_ROWS or characters > _BATCH_CHARACTERS:
                    yield position(), batch_of(rows)
                    rows, characters = [], 0
            elif isinstance(outcome, Bad):
                if self._strict:
                    yield position(), batch_of(rows)
                log.lines += 1
                log.reject(path, number, outcome)
            else:
                log.lines += 1
                log.skipped[outcome.reason] += 1
        yield position(), batch_of(rows)

    def _read_columns(
        self,
        source: PostInput,
        columns: Columns,
        batches: Iterable[tuple[float, pa.RecordBatch | Bad]],
        log: ReadLog,
        dates: DateReader | None,
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        before = 0
        for share, batch in batches:
            position = int(share * source.size)
            if isinstance(batch, Bad):
                log.lines += 1
                log.reject(source.path, before + 1, batch)
                return
            posts, bad = to_posts(batch, columns, self._zone, dates)
            if bad and self._strict:
                bad = bad[:1]
                log.lines += (good := bad[0][0])
                yield position, posts.slice(0, good)
                log.lines += 1
            else:
                log.lines += batch.num_rows
            for row, problem in bad:
                log.reject(source.path, before + row + 1, problem)
            before += batch.num_rows
            yield position, posts

    def _wanted(self, posts: pa.RecordBatch, log: ReadLog) -> pa.RecordBatch:
        """The posts without dropped reposts and other languages; the dropped posts are counted."""
        if self._drop_reposts:
            original = posts.column("repost_of")
            log.reposts_dropped += len(original) - original.null_count
            posts = _only(posts, np.asarray(original.is_null()))
        if self._languages:
            spoken = np.array([code in self._languages for code in _languages_of(posts)], dtype=np.bool_)
            if not spoken.all():
                log.skipped[LANGUAGE] += int((~spoken).sum())
            posts = _only(posts, spoken)
        return posts


def _csv_dates(path: Path, columns: Columns, mapping: Mapped) -> DateReader | None:
    """The reader of the dates of a CSV file. It reads ahead until a date shows whether the day comes first."""
    with opened(path) as stream:
        rows = lines(stream)
        names, delimiter = header_of(rows, mapping)
        records = (record for _, record in csv_records(rows, names, delimiter) if isinstance(record, dict))
        return reader_of((record.get(columns.time or "") for record in records), str(path))


def _only(posts: pa.RecordBatch, mask: NDArray[np.bool_]) -> pa.RecordBatch:
    return posts if mask.all() else posts.filter(pa.array(mask))


def _languages_of(posts: pa.RecordBatch) -> Iterator[str | None]:
    """The language of each post, as stated or else detected."""
    stated = map(primary, posts.column("language").to_pylist())
    for code, text in zip(stated, posts.column("text"), strict=True):
        yield code or detect(text.as_py())


def _language_codes(languages: str | Collection[str] | None) -> frozenset[str]:
    codes = frozenset(map(primary, [languages] if isinstance(languages, str) else languages or ()))
    if None in codes:
        raise SettingError(f"languages={languages!r}: use codes such as en, de or pt-BR")
    return frozenset(code for code in codes if code)
