"""X API v2: an envelope `{data, includes, matching_rules}` with one tweet or a page; or tweets flattened by twarc.

A page on one line holds several tweets. The report counts each of them as one line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from klda.posts.formats.outcome import CONTROL, EMPTY_PAGE, NOT_AN_OBJECT, Bad, Outcome, Row, Skip, checked
from klda.posts.formats.times import parse_time
from klda.posts.formats.values import (
    as_count,
    as_name,
    as_tags,
    items,
    part,
    unescaped,
    with_full_original,
    with_whole_links,
)

Record = Mapping[str, object]
Expansions = Mapping[str | None, Record]

_NONE: Expansions = MappingProxyType({})
_ENVELOPE = frozenset({"data", "includes", "matching_rules", "meta", "errors", "__twarc", "__twarc_version"})


def recognises_envelope(record: Record) -> bool:
    """Whether the record is an envelope with tweets, as the API's stream and search return."""
    return record.keys() <= _ENVELOPE and isinstance(record.get("data", {}), dict | list) and len(record) > 0


def recognises(record: Record) -> bool:
    """Whether the record is a bare tweet: from `data`, or flattened by twarc."""
    return "edit_history_tweet_ids" in record or (
        ("author_id" in record or "__twarc" in record)
        and (
            isinstance(record.get("public_metrics"), dict)
            or isinstance(record.get("author"), dict)
            or isinstance(record.get("referenced_tweets"), list)
            or isinstance(record.get("entities"), dict)
            or "conversation_id" in record
        )
    )


def parse_envelope(record: Record) -> Iterator[Outcome]:
    """The outcome of each tweet in the envelope.

    >>> page = {"data": [{"id": "7", "text": "Hi", "created_at": "2026-01-05T10:00:00Z", "author_id": "1"}],
    ...         "includes": {"users": [{"id": "1", "username": "anna"}]}}
    >>> [row.author for row in parse_envelope(page)]
    ['anna']
    """
    includes = part(record, "includes")
    users = {as_name(user.get("id")): user for user in items(includes, "users")}
    tweets = {as_name(tweet.get("id")): tweet for tweet in items(includes, "tweets")}
    data = record.get("data")
    if not data:
        yield Skip(CONTROL if "errors" in record else EMPTY_PAGE)
        return
    for tweet in data if isinstance(data, list) else [data]:
        yield parse(tweet, users, tweets) if isinstance(tweet, dict) else Bad(NOT_AN_OBJECT, "data", tweet)


def parse(tweet: Record, users: Expansions = _NONE, tweets: Expansions = _NONE) -> Row | Bad:
    """The outcome of one tweet; `users` and `tweets` are the expansions of the envelope, by id."""
    author_id = as_name(tweet.get("author_id"))
    author = users.get(author_id) or part(tweet, "author")
    about_author = part(author, "public_metrics")
    metrics = part(tweet, "public_metrics")
    text = _text(tweet)
    original, entities = None, _entities(tweet)
    for reference in items(tweet, "referenced_tweets"):
        if reference.get("type") == "retweeted":
            original = as_name(reference.get("id")) or ""
            said = tweets.get(original) or reference
            text, entities = (
                with_full_original(text, _text(said)),
                _entities(said) or entities,
            )  # a repost cuts both
    return checked(
        as_name(tweet.get("id")),
        parse_time(tweet.get("created_at")),
        with_whole_links(unescaped(text), entities),
        as_name(author.get("username")) or author_id,
        as_name(tweet.get("lang")),
        original,
        as_tags(entities.get("hashtags"), "tag"),
        as_count(metrics.get("retweet_count")),
        as_count(metrics.get("like_count")),
        as_count(metrics.get("reply_count")),
        as_count(metrics.get("quote_count")),
        as_count(about_author.get("followers_count")),
        as_count(about_author.get("following_count")),
        as_count(about_author.get("tweet_count")),
        as_count(about_author.get("like_count")),
    )


def _entities(tweet: Record) -> Record:
    """The hashtags and links of the text; a long post has them in `note_tweet`."""
    return part(part(tweet, "note_tweet"), "entities") or part(tweet, "entities")


def _text(tweet: Record) -> object:
    """The longest form of the text; a long post has it in `note_tweet`."""
    return part(tweet, "note_tweet").get("text") or tweet.get("text")
