"""Bluesky Jetstream: v1 frames `{did, time_us, kind, commit}` and v2 frames `{$type: message, payload}`.

Commits that create an `app.bsky.feed.post` are posts. Commits that delete one are deletions. The time is that of the
server, not of the client.
"""

from __future__ import annotations

from collections.abc import Mapping

from klda.posts.formats.outcome import (
    ACCOUNT,
    DELETE,
    FOLLOW,
    IDENTITY,
    LIKE,
    MEDIA_ONLY,
    OTHER_EVENT,
    REPOST_EVENT,
    UPDATE,
    Bad,
    Removal,
    Row,
    Skip,
    checked,
)
from klda.posts.formats.times import parse_time
from klda.posts.formats.values import as_name, as_tags, items, part

POST = "app.bsky.feed.post"

_GONE = ("deleted", "takendown")  # accounts in other states may return
_EVENTS = {"identity": IDENTITY, "account": ACCOUNT}
_OPERATIONS = {"delete": DELETE, "update": UPDATE}
_COLLECTIONS = {
    "app.bsky.feed.like": LIKE,
    "app.bsky.feed.repost": REPOST_EVENT,
    "app.bsky.graph.follow": FOLLOW,
}


def recognises(record: Mapping[str, object]) -> bool:
    """Whether the record is a Jetstream frame of either version."""
    return ("kind" in record and "did" in record) or ("payload" in record and "$type" in record)


def parse(frame: Mapping[str, object]) -> Row | Skip | Bad:
    """The outcome of one frame.

    >>> parse({"did": "did:plc:a", "time_us": 1, "kind": "identity", "identity": {}})
    Skip(reason='identity')
    """
    if "kind" in frame:
        return _event(str(frame["kind"]), frame, part(frame, "commit"), frame.get("time_us"))
    payload = part(frame, "payload")
    kind = str(payload.get("$type", "")).rpartition("#")[2]
    return _event(kind, payload, payload, payload.get("time"))


def _event(kind: str, event: Mapping[str, object], commit: Mapping[str, object], time: object) -> Row | Skip | Bad:
    did, key = as_name(event.get("did")), as_name(commit.get("rkey"))
    account = part(event, "account")
    if did and account.get("active") is False and account.get("status") in _GONE:
        return Removal(ACCOUNT, did, author=True)
    if kind != "commit":
        return Skip(_EVENTS.get(kind, OTHER_EVENT))
    collection, operation = commit.get("collection"), commit.get("operation")
    if operation == "delete" and collection == POST and did and key:
        return Removal(DELETE, f"at://{did}/{POST}/{key}")
    if operation != "create":
        return Skip(_OPERATIONS.get(str(operation), OTHER_EVENT))
    if collection != POST:
        return Skip(_COLLECTIONS.get(str(collection), OTHER_EVENT))
    record = part(commit, "record")
    if record.get("text") == "" and "embed" in record:
        return Skip(MEDIA_ONLY)
    languages = as_tags(record.get("langs"))
    return checked(
        f"at://{did}/{POST}/{key}" if did and key else None,
        parse_time(time),
        record.get("text"),
        did,
        languages[0] if languages else None,
        None,
        _hashtags(record),
    )


def _hashtags(record: Mapping[str, object]) -> tuple[str, ...]:
    """The hashtags in the text (facets) and beside it, each once."""
    inside = [
        feature.get("tag")
        for facet in items(record, "facets")
        for feature in items(facet, "features")
        if "tag" in feature
    ]
    return tuple(dict.fromkeys((*as_tags(inside), *as_tags(record.get("tags")))))
