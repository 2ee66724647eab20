"""Records of no particular platform: columns are found by their usual names, or by a mapping."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import tzinfo
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from klda.errors import SettingError
from klda.posts.formats.outcome import Bad, Row, checked
from klda.posts.formats.times import DateReader, parse_time
from klda.posts.formats.values import as_count, as_flag, as_label, as_name, as_tags


class Columns(NamedTuple):
    """The name of the column for each field of a post; None where there is none."""

    id: str | None = None
    time: str | None = None
    text: str | None = None
    author: str | None = None
    language: str | None = None
    repost_of: str | None = None
    hashtags: str | None = None
    reposts: str | None = None
    likes: str | None = None
    replies: str | None = None
    quotes: str | None = None
    followers: str | None = None
    following: str | None = None
    author_posts: str | None = None
    author_likes: str | None = None
    label: str | None = None
    is_repost: str | None = None
    """A yes/no column, for files that mark reposts without the id of the original."""


Mapped = tuple[tuple[str, str], ...]

# In order of preference. Dotted names are those of twarc's CSV files.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "id": ("id", "id_str", "post_id", "tweet_id", "status_id", "message_id", "uri"),
    "time": (
        "time", "created_at", "timestamp", "datetime", "date", "published_at", "posted_at", "created_utc",
        "createdat", "created", "time_us",
    ),
    "text": ("full_text", "text", "content", "body", "message", "tweet", "title"),
    "author": (
        "author", "username", "screen_name", "user_name", "user", "handle", "author.username", "user.screen_name",
        "acct", "did", "author_id", "user_id",
    ),
    "language": ("language", "lang", "langs"),
    "repost_of": ("repost_of", "retweet_of", "reblog_of", "retweeted_status_id", "referenced_tweets.retweeted.id"),
    "hashtags": ("hashtags", "tags", "entities.hashtags"),
    "reposts": (
        "reposts", "retweets", "repost_count", "retweet_count", "reblogs", "reblogs_count", "shares", "share_count",
        "public_metrics.retweet_count",
    ),
    "likes": (
        "likes", "like_count", "favorite_count", "favorites", "favourites", "favourites_count", "score",
        "public_metrics.like_count",
    ),
    "replies": ("replies", "reply_count", "replies_count", "num_comments", "public_metrics.reply_count"),
    "quotes": ("quotes", "quote_count", "quotes_count", "public_metrics.quote_count"),
    "followers": (
        "followers", "followers_count", "author_followers", "author.public_metrics.followers_count",
        "user.followers_count",
    ),
    "following": (
        "following", "following_count", "friends", "friends_count", "author.public_metrics.following_count",
        "user.friends_count",
    ),
    "author_posts": (
        "author_posts", "statuses_count", "posts_count", "author.public_metrics.tweet_count", "user.statuses_count",
    ),
    "author_likes": ("author_likes", "author.public_metrics.like_count", "user.favourites_count"),
    "label": ("label", "subreddit"),
    "is_repost": ("x_is_repost", "is_repost", "is_retweet", "is_reblog"),
}  # fmt: skip


def as_mapping(mapping: Mapping[str, str] | None) -> Mapped:
    """A user's {field: column} as a hashable value; SettingError for an unknown field."""
    for field in mapping or {}:
        if field not in Columns._fields:
            raise SettingError(
                f"mapping names {field!r}, which posts do not have; use one of {', '.join(Columns._fields)}"
            )
    return tuple(sorted((mapping or {}).items()))


@lru_cache(maxsize=256)
def resolve(names: tuple[str, ...], mapping: Mapped = ()) -> Columns:
    """The column of each field, given the existing names; case, spaces and dashes do not matter.

    >>> resolve(("Tweet ID", "full_text", "date"), (("author", "who"),))[:4]
    ('Tweet ID', 'date', 'full_text', 'who')
    """
    known: dict[str, str] = {}
    for name in names:
        known.setdefault(name.strip().lower().replace(" ", "_").replace("-", "_"), name)
    found = {field: next((known[s] for s in usual if s in known), None) for field, usual in SYNONYMS.items()}
    return Columns(**(found | dict(mapping)))


def missing(columns: Columns, names: Iterable[str]) -> list[str]:
    """The needed and the mapped fields for which a file with these column names has no column."""
    there = set(names)
    needed = [field for field in ("time", "text") if getattr(columns, field) is None]
    return needed + [field for field, name in columns._asdict().items() if name is not None and name not in there]


def parse(
    record: Mapping[str, object], columns: Columns, zone: tzinfo | None = None, dates: DateReader | None = None
) -> Row | Bad:
    """The outcome of one record. Without an id column, the id is made from time, author and text.

    >>> record = {"created_at": "2026-01-05T10:00:00Z", "body": "Hello"}
    >>> parse(record, resolve(tuple(record))).text
    'Hello'
    """
    values = map(record.get, columns)  # type: ignore[arg-type]  # no record has the key None
    id_, time, text, author, language, repost_of, hashtags, *counts, label, is_repost = values
    when = parse_time(time, zone, dates)
    who = as_name(author)
    return checked(
        as_name(id_) if columns.id is not None else derived_id(when, who, text),
        when,
        text,
        who,
        as_tags(language)[0] if isinstance(language, list) and as_tags(language) else as_name(language),
        original(repost_of, columns.repost_of, as_flag(is_repost)),
        as_tags(hashtags),
        *[None if count is None else as_count(count) for count in counts],
        as_label(label),
    )


def with_nested(record: Mapping[str, object], mapping: Mapped) -> Mapping[str, object]:
    """The record with nested values also under the dotted names of the mapping.

    >>> with_nested({"user": {"name": "anna"}}, (("author", "user.name"),))["user.name"]
    'anna'
    """
    found = {}
    for _, name in mapping:
        if "." in name and name not in record:
            inner: object = record
            for step in name.split("."):
                inner = inner.get(step) if isinstance(inner, dict) else None
            found[name] = inner
    return {**record, **found} if found else record


def original(value: object, name: str | None, flagged: bool) -> str | None:
    """The id of the reposted post; empty for an unknown one, as in our own files; None for no repost."""
    known = as_name(value)
    if known is None and (flagged or (value == "" and name == "repost_of")):
        return ""
    return known


def derived_id(time: int | Bad, author: str | None, text: object) -> str:
    """An id for a post without one: the same time, author and text give the same id.

    >>> derived_id(0, "anna", "Hello") == derived_id(0, "anna", "Hello") != derived_id(1, "anna", "Hello")
    True
    """
    content = f"{time}\0{author or ''}\0{text}".encode("utf-8", "surrogatepass")
    return blake2b(content, digest_size=12).hexdigest()
