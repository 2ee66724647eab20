"""Files of posts that people upload. They are checked, previewed, and kept in a private folder until a monitor is made.

No part of a request becomes a path. We draw the id of an upload at random, and its file is always called `posts`. A
compressed file may unpack to a limited size only, because more could fill memory and disk.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import time
from collections import Counter
from collections.abc import AsyncIterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from klda.errors import DataError, InputError, MissingExtraError, SettingError
from klda.posts.columnar import TABLE_ROWS
from klda.posts.files import CHUNK, opened, unpacked
from klda.posts.formats.generic import resolve
from klda.posts.input_types import FileType, file_type
from klda.posts.reader import read_posts
from klda.posts.schema import PostTable, from_batch
from klda.text.languages import other_language
from klda.text.stopwords import COMMON_WORDS
from klda.text.text_settings import TextSettings
from klda.types import KeywordSet, Progress, silent

MOST_WAITING = 40
"""Uploads that may wait at once. Without a limit, anybody could fill the disk."""
KEPT = timedelta(hours=24)
"""Time that an upload waits for its monitor."""
MOST_UNPACKED = 8_000_000_000
"""Bytes that a compressed file may unpack to."""
MOST_TIMES = 200
"""How many times its own size it may unpack to. Text usually packs to a tenth."""
MOST_ROWS = 20_000_000
"""Rows of a Parquet file. A few bytes can stand for any number of them."""
MOST_VALUES = 5 * MOST_ROWS
"""Values of a column. A column of lists has more values than rows."""
MOST_AT_ONCE = 1_000_000_000
"""Bytes of rows that are read at once."""
SHOWN_POSTS = 5
SUGGESTED = 24
_LOOKED_AT = 5_000  # posts that suggestions come from
_USUAL, _GUESSED_BY = "en", 300  # the default language, and the number of posts from which another one is guessed
_BUFFER = 1 << 20
_ID = re.compile(r"[0-9a-f]{32}")
_COMMANDS = re.compile(r", or [^,(]*\(--map[^)]*\)|\s*\((?:--|in Python)[^)]*\)")
_MOST_TEXT = 600


@dataclass(frozen=True)
class Preview:
    """The content of an upload."""

    id: str
    size: int
    """Bytes."""
    lines: int
    posts: int
    duplicates: int
    bad: dict[str, int]
    """Records that should have been posts, by reason."""
    skipped: dict[str, int]
    examples: tuple[str, ...]
    """The first bad records, in words."""
    start: str
    """Time of the earliest post, ISO 8601."""
    end: str
    first: tuple[dict[str, str | None], ...]
    """The first posts: id, time, author, text."""
    language: str
    """Language of most posts, or English if that is unclear."""
    suggestions: tuple[str, ...]
    """Frequent words, as keywords to start with."""
    timezone: str | None = None
    """The zone of times without a zone, as given with the file."""
    date_format: str | None = None
    """The format of times, as given with the file."""

    @property
    def reading(self) -> dict[str, str]:
        """The options with which the file is read, for `read_posts` and the source `replay`."""
        given = {"timezone": self.timezone, "date_format": self.date_format}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def begins(self) -> datetime:
        """Time of the earliest post."""
        return datetime.fromisoformat(self.start)

    @property
    def ends(self) -> datetime:
        """Time of the latest post."""
        return datetime.fromisoformat(self.end)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


async def receive(home: Path, chunks: AsyncIterable[bytes], limit: int) -> str:
    """The id of an upload, once all its bytes are on disk. InputError if there are more than `limit`."""
    sweep(home)
    if sum(1 for _ in _folder(home).glob("*")) >= MOST_WAITING:
        raise InputError(f"{MOST_WAITING} uploads already wait for a monitor; make monitors of them, or delete some")
    name = secrets.token_hex(16)
    folder = _folder(home) / name
    folder.mkdir(parents=True, mode=0o700)
    try:
        size = 0
        with (folder / "posts").open("xb") as file:
            async for chunk in chunks:
                size += len(chunk)
                if size > limit:
                    raise InputError(
                        f"the file is larger than {limit:,} bytes; split it, or read it with `klda recommend`"
                    )
                file.write(chunk)
        if not size:
            raise InputError("the file is empty; choose another one")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return name


def preview(
    home: Path,
    upload: str,
    *,
    timezone: str | None = None,
    date_format: str | None = None,
    progress: Progress = silent,
) -> Preview:
    """The content of an upload. It is read once and remembered. InputError if it has no posts.

    timezone, date_format: how to read its times, as in `read_posts`. Only the first call reads the file.
    """
    path = file_of(home, upload)
    known = path.with_name("preview.json")
    if known.is_file():
        return _from_dict(json.loads(known.read_text(encoding="utf-8")))
    try:
        check_size(path)
        found = _read(path, upload, timezone, date_format, progress)
    except (InputError, SettingError) as error:
        discard(home, upload)
        raise type(error)(_for_people(str(error), path)) from None
    unfinished = known.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(found.to_dict(), ensure_ascii=False), encoding="utf-8")
    unfinished.replace(known)
    return found


def file_of(home: Path, upload: str) -> Path:
    """The path of an uploaded file."""
    if not _ID.fullmatch(upload):
        raise InputError("there is no such upload; send the file again")
    path = _folder(home) / upload / "posts"
    if not path.is_file() or _is_old(path.parent, KEPT):
        raise InputError("the upload is gone: uploads are kept for a day; send the file again")
    return path


def discard(home: Path, upload: str) -> None:
    """Deletes an upload."""
    shutil.rmtree(file_of(home, upload).parent, ignore_errors=True)


def sweep(home: Path, kept: timedelta = KEPT) -> int:
    """The number of uploads that were deleted because nobody made a monitor in time."""
    gone = 0
    for folder in _folder(home).glob("*"):
        if _ID.fullmatch(folder.name) and _is_old(folder, kept):
            shutil.rmtree(folder, ignore_errors=True)
            gone += 1
    return gone


def _is_old(folder: Path, kept: timedelta) -> bool:
    return time.time() - folder.stat().st_mtime > kept.total_seconds()


def _read(path: Path, upload: str, timezone: str | None, date_format: str | None, progress: Progress) -> Preview:
    reader = read_posts(path, timezone=timezone, date_format=date_format, progress=progress)
    earliest: datetime | None = None
    latest: datetime | None = None
    head: list[pa.RecordBatch] = []
    held = 0
    for batch in reader.batches():
        low, high = (bound.as_py() for bound in pc.min_max(batch.column("time")).values())
        earliest = low if earliest is None else min(earliest, low)
        latest = high if latest is None else max(latest, high)
        if held < _LOOKED_AT:
            head.append(batch)
            held += batch.num_rows
    report = reader.report
    if earliest is None or latest is None:
        why = ", ".join(f"{n:,} × {reason}" for reason, n in {**report.bad, **report.skipped}.items())
        first = f"; {_for_people(str(report.examples[0]), path)}" if report.examples else ""
        raise InputError(f"no post was found in the file ({why or 'it has no records'}){first}")
    posts = PostTable(pa.Table.from_batches(head).slice(0, _LOOKED_AT))
    other = other_language(posts.texts(np.arange(min(len(posts), _GUESSED_BY))), _USUAL)
    language = _USUAL if other is None else other[0]
    return Preview(
        id=upload,
        size=path.stat().st_size,
        lines=report.lines,
        posts=report.posts,
        duplicates=report.duplicates,
        bad=dict(report.bad),
        skipped=dict(report.skipped),
        examples=tuple(_for_people(str(bad), path) for bad in report.examples[:5]),
        start=earliest.astimezone(UTC).isoformat(),
        end=latest.astimezone(UTC).isoformat(),
        first=tuple(
            {"id": p.id, "time": p.time.isoformat(), "author": p.author, "text": p.text[:_MOST_TEXT]}
            for p in islice(from_batch(head[0]), SHOWN_POSTS)
        ),
        language=language,
        suggestions=_suggested(posts, language),
        timezone=timezone,
        date_format=date_format,
    )


def _for_people(message: str, path: Path) -> str:
    """A message without our path of the file, and without options of the command line and of Python."""
    return _COMMANDS.sub("", message.replace(str(path), "the file")).replace("--date-format", "the date format")


def _suggested(posts: PostTable, language: str) -> tuple[str, ...]:
    """Frequent nouns and hashtags, without words that are common in any subject."""
    from klda.baselines.nouns import LONGEST, frequent_nouns
    from klda.text.corpus import Corpus
    from klda.text.documents import merged

    text = TextSettings(language=language)
    try:
        corpus = Corpus.from_posts(posts, KeywordSet.of("klda"), window="36500d", settings=text)
    except (DataError, MissingExtraError):
        return ()
    everything = merged(corpus.documents, corpus.apart)
    words = frequent_nouns(replace(corpus, documents=everything), 2 * SUGGESTED)
    tags = Counter(
        f"#{tag.lower()}" for batch in posts.batches() for post in from_batch(batch) for tag in post.hashtags
    )
    found = [word.text for word in words if word.text.casefold() not in COMMON_WORDS]
    fewest = max(5, len(posts) // 200)
    often = [tag for tag, n in tags.most_common(SUGGESTED // 4) if n >= fewest and len(tag) <= LONGEST]
    return tuple(dict.fromkeys([*found[: SUGGESTED - len(often)], *often]))


def _folder(home: Path) -> Path:
    return home / ".uploads"


def _from_dict(plain: dict[str, Any]) -> Preview:
    lists = {name: tuple(plain[name]) for name in ("examples", "first", "suggestions")}
    return Preview(**({"language": _USUAL} | plain | lists))  # older versions did not guess the language


def check_size(path: Path, most: int = MOST_UNPACKED, times: int = MOST_TIMES) -> None:
    """Refuses a file that unpacks to too much. It stops unpacking as soon as that is clear."""
    size, seen = path.stat().st_size, 0
    limit = min(most, max(times * size, 1_000_000))
    with opened(path) as stream:
        if stream.packed:
            try:
                while piece := stream.read(CHUNK):
                    seen += len(piece)
                    if seen > limit:
                        raise InputError(f"the file unpacks to more than {limit:,} bytes; unpack it and send a part")
            except OSError:
                return  # damaged: the reader reports it
    if file_type(path) is FileType.PARQUET:
        with unpacked(path) as plain:
            _check_parquet(plain, limit)


def _check_parquet(path: Path, limit: int) -> None:
    try:
        facts = pq.read_metadata(path)
        fits = _claims_to_fit(facts, limit) and _fits(path, facts, limit)
    except (pa.ArrowException, OSError, ValueError):
        return  # damaged: the reader reports it
    if not fits:
        raise InputError(f"the {facts.num_rows:,} rows of the file unpack to too much; send a part of it")


def _claims_to_fit(facts: pq.FileMetaData, limit: int) -> bool:
    """Whether the file is small enough by its own metadata. Values of a fixed length count as often as they occur."""
    groups = [facts.row_group(number) for number in range(facts.num_row_groups)]
    fixed = sum(max(facts.schema.column(i).length, 0) for i in range(len(facts.schema)))
    values = (sum(group.column(i).num_values for group in groups) for i in range(facts.num_columns))
    size = fixed * facts.num_rows + sum(group.total_byte_size for group in groups)
    return facts.num_rows <= MOST_ROWS and max(values, default=0) <= MOST_VALUES and size <= limit


def _fits(path: Path, facts: pq.FileMetaData, limit: int) -> bool:
    """Whether the columns of posts fit if every row holds its own text. The file may store a text once for all rows."""
    wanted = [name for name in resolve(tuple(facts.schema.to_arrow_schema().names), ()) if name is not None]
    leaves = [facts.schema.column(i) for i in range(len(facts.schema))]
    texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
    total = 0
    with pq.ParquetFile(path, read_dictionary=texts, buffer_size=_BUFFER) as file:
        for batch in file.iter_batches(batch_size=TABLE_ROWS, columns=wanted):
            size = sum(map(_size, batch.columns))
            total += size
            if total > limit or size > MOST_AT_ONCE:
                return False
    return True


def _size(column: pa.Array) -> int:
    """Bytes of a column without a dictionary."""
    while pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        column = column.flatten()
    if not isinstance(column, pa.DictionaryArray):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary).cast(pa.int64())
    return int(pc.sum(lengths.take(column.indices)).as_py() or 0)
