"""X API v1.1: one object per post, with `user` inside; control messages of the stream have a single key."""

from __future__ import annotations

from collections.abc import Mapping

from klda.posts.formats.outcome import CONTROL, DELETE, Bad, Removal, Row, Skip, checked
from klda.posts.formats.times import parse_time
from klda.posts.formats.values import (
    as_count,
    as_name,
    as_tags,
    part,
    unescaped,
    with_full_original,
    with_whole_links,
)

_CONTROL = frozenset(
    {"limit", "scrub_geo", "status_withheld", "user_withheld", "disconnect", "warning", "friends", "event"}
)


def recognises(record: Mapping[str, object]) -> bool:
    """Whether the record is a v1.1 status or a control message of its stream."""
    if isinstance(record.get("user"), dict):
        return "text" in record or "full_text" in record or "id_str" in record
    return len(record) == 1 and (isinstance(record.get("delete"), dict) or not _CONTROL.isdisjoint(record))


def parse(record: Mapping[str, object]) -> Row | Skip | Bad:
    """The outcome of one object.

    >>> status = {"id_str": "7", "created_at": "Wed Oct 10 20:19:24 +0000 2018", "text": "Hi"}
    >>> parse({**status, "user": {"screen_name": "anna"}}).author
    'anna'
    >>> parse({"delete": {"status": {"id_str": "7"}}})
    Removal(reason='delete', id='7', author=False)
    """
    if len(record) == 1:
        gone = part(part(record, "delete"), "status")
        if name := as_name(gone.get("id_str")) or as_name(gone.get("id")):
            return Removal(DELETE, name)
        return Skip(DELETE if "delete" in record else CONTROL)
    user = part(record, "user")
    original = part(record, "retweeted_status")
    text = _text(record)
    if original:
        text = with_full_original(text, _text(original))
    said = original or record  # a repost has only part of the entities, as its text is cut short
    entities = part(part(said, "extended_tweet"), "entities") or part(said, "entities") or part(record, "entities")
    return checked(
        as_name(record.get("id_str")) or as_name(record.get("id")),
        parse_time(record.get("created_at")),
        with_whole_links(unescaped(text), entities),
        as_name(user.get("screen_name")) or as_name(user.get("id_str")) or as_name(user.get("id")),
        as_name(record.get("lang")),
        (as_name(original.get("id_str")) or as_name(original.get("id")) or "") if original else None,
        as_tags(entities.get("hashtags")),
        as_count(record.get("retweet_count")),
        as_count(record.get("favorite_count")),
        as_count(record.get("reply_count")),
        as_count(record.get("quote_count")),
        as_count(user.get("followers_count")),
        as_count(user.get("friends_count")),
        as_count(user.get("statuses_count")),
        as_count(user.get("favourites_count")),
    )


def _text(record: Mapping[str, object]) -> object:
    """The longest form of the text in the object."""
    return part(record, "extended_tweet").get("full_text") or record.get("full_text") or record.get("text")
