"""The outcome of reading a record: a post, a skipped record, or a bad one; with all reasons and advice.

Reasons are short, stable names. Reports, tests and programs rely on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, TypeAlias

import pyarrow as pa

from klda.posts.schema import POST_SCHEMA
from klda.types import Post

# Reasons for `Bad`: the record should have been a post.
BROKEN_JSON = "broken JSON"
NOT_AN_OBJECT = "not an object"
NO_ID = "no id"
NO_TEXT = "no text"
NO_TIME = "no time"
TIME_WITHOUT_ZONE = "time without zone"
UNREADABLE_TIME = "unreadable time"
TIME_OUT_OF_RANGE = "time out of range"
NUL_BYTES = "NUL bytes"
TOO_LONG = "line over 10 MB"
INVALID_UTF8 = "invalid UTF-8"
BROKEN_ROW = "broken row"
COLUMN_COUNT = "wrong number of columns"
DAMAGED = "damaged file"

# Reasons for `Skip`: the record is well formed, but it is not a post.
KEEP_ALIVE = "keep-alive"
LIKE = "like"
REPOST_EVENT = "repost"
FOLLOW = "follow"
DELETE = "delete"
UPDATE = "update"
IDENTITY = "identity"
ACCOUNT = "account"
CONTROL = "control message"
OTHER_EVENT = "other event"
MEDIA_ONLY = "media only"
EMPTY_PAGE = "empty page"
LANGUAGE = "language"
FOREIGN_FILE = "unknown format"

HINTS = {
    BROKEN_JSON: "each line must hold one complete JSON value; the line may be cut off",
    NOT_AN_OBJECT: 'a post is a JSON object {"id": …, "time": …, "text": …}',
    NO_ID: "every post needs an id; files without any id column get ids from time, author and text",
    NO_TEXT: 'call the column text, or say which one it is (--map text=NAME, in Python mapping={"text": "NAME"})',
    NO_TIME: 'call the column time, or say which one it is (--map time=NAME, in Python mapping={"time": "NAME"})',
    TIME_WITHOUT_ZONE: "write times like 2026-01-05T10:00:00Z, or give the zone (--timezone Europe/Berlin, in Python "
    'timezone="Europe/Berlin")',
    UNREADABLE_TIME: "write times like 2026-01-05T10:00:00Z, or as seconds since 1970, or give their format "
    '(--date-format "%d/%m/%Y %H:%M", in Python date_format="%d/%m/%Y %H:%M")',
    TIME_OUT_OF_RANGE: "times must lie between 1900 and 2200; check the unit of numeric times",
    NUL_BYTES: "remove the zero bytes; the file may have been cut by a crash",
    TOO_LONG: "a record may have 10 MB at most; check that records end in line breaks",
    INVALID_UTF8: "save the file as UTF-8",
    BROKEN_ROW: 'write a quote inside a quoted cell twice (""); a cell may have 131,072 characters at most',
    COLUMN_COUNT: "each row needs as many cells as the header; quote cells that contain the delimiter",
    DAMAGED: "the rest of the file cannot be read; download or pack it again",
}
"""What to do about each reason for `Bad`."""


class Row(NamedTuple):
    """A post in the column order of `POST_SCHEMA`, with its time in microseconds; much faster to make than `Post`."""

    id: str
    time: int
    text: str
    author: str | None = None
    language: str | None = None
    repost_of: str | None = None
    hashtags: tuple[str, ...] = ()
    reposts: int | None = None
    likes: int | None = None
    replies: int | None = None
    quotes: int | None = None
    followers: int | None = None
    following: int | None = None
    author_posts: int | None = None
    author_likes: int | None = None
    label: str | None = None

    def post(self) -> Post:
        """The row as a `Post`."""
        time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=self.time)
        return Post(self.id, time, *self[2:])


def batch_of(rows: Sequence[Row]) -> pa.RecordBatch:
    """Rows as a record batch in `POST_SCHEMA`."""
    columns = zip(*rows, strict=True) if rows else ([] for _ in POST_SCHEMA)
    arrays = [pa.array(column, type=field.type) for column, field in zip(columns, POST_SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=POST_SCHEMA)


@dataclass(frozen=True, slots=True)
class Skip:
    """A well-formed record that is not a post: a like, a deletion, a keep-alive."""

    reason: str


@dataclass(frozen=True, slots=True)
class Removal(Skip):
    """A record that deletes a post; with `author`, all posts of the account that `id` names."""

    id: str
    author: bool = False


@dataclass(frozen=True, slots=True)
class Edit(Skip):
    """A record with the new text of a post. Readers of archives ignore it and keep the first text."""

    row: Row


@dataclass(frozen=True, slots=True)
class Bad:
    """A record that should have been a post and cannot be read."""

    reason: str
    field: str | None = None
    value: object = None


Outcome: TypeAlias = Row | Skip | Bad


def checked(
    id: str | None,  # noqa: A002 - the fields are named as in Post
    time: int | Bad,
    text: object,
    *rest: object,
) -> Row | Bad:
    """The row, or `Bad` without a valid id, time and text; `rest` follows the order of `Row`.

    >>> checked("1", 0, "Hello").text
    'Hello'
    >>> checked("1", 0, " ")
    Bad(reason='no text', field='text', value=None)
    """
    if not id:
        return Bad(NO_ID, "id")
    if "\0" in id:
        return Bad(NUL_BYTES, "id", id)
    if not isinstance(text, str) or not text or text.isspace():
        return Bad(NO_TEXT, "text")
    if "\0" in text:
        return Bad(NUL_BYTES, "text", text)
    if isinstance(time, Bad):
        return time
    return Row(id, time, text, *rest)  # type: ignore[arg-type]
