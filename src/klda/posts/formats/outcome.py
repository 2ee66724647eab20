"""What becomes of a record: a row of the post table, a record that is no post, or a bad one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, TypeAlias

import pyarrow as pa

from klda.posts.reasons import NO_ID, NO_TEXT, NUL_BYTES
from klda.posts.schema import POST_SCHEMA
from klda.types import Post


class Row(NamedTuple):
    """A post in the column order of `POST_SCHEMA`, its time in microseconds: what `Post` costs five times as long."""

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
    """A record that takes a post back; with `author`, all posts of an account, and `id` is what they call it."""

    id: str
    author: bool = False


@dataclass(frozen=True, slots=True)
class Edit(Skip):
    """A record that brings the new text of a post; whoever reads an archive keeps what came first."""

    row: Row


@dataclass(frozen=True, slots=True)
class Bad:
    """A record that should have been a post and cannot be used."""

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
    """The row, when it has what every post needs; `rest` follows the order of `Row`.

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
