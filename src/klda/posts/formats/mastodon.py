"""Mastodon: statuses, alone or in the envelope `{event, payload}` of a stream; their text is HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

import orjson

from klda.posts.formats.outcome import (
    BROKEN_JSON,
    DELETE,
    MEDIA_ONLY,
    NOT_AN_OBJECT,
    OTHER_EVENT,
    UPDATE,
    Bad,
    Edit,
    Removal,
    Row,
    Skip,
    checked,
)
from klda.posts.formats.times import parse_time
from klda.posts.formats.values import as_count, as_name, as_tags, part

_BREAK = re.compile(r"<br[^<>]*>|</(?:p|li|blockquote|h\d)>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")  # stops at the next <, so that hostile text takes linear time only
_EVENTS = {"delete": DELETE, "status.update": UPDATE}


def recognises(record: Mapping[str, object]) -> bool:
    """Whether the record is a status."""
    return isinstance(record.get("account"), dict) and "content" in record


def recognises_envelope(record: Mapping[str, object]) -> bool:
    """Whether the record is an event of the streaming API."""
    return isinstance(record.get("event"), str) and isinstance(record.get("payload"), str | dict)


def parse_envelope(record: Mapping[str, object]) -> Row | Skip | Bad:
    """The outcome of one event. An `update` holds a new status, as an object or as JSON in a string.

    >>> parse_envelope({"event": "delete", "payload": "109"})
    Removal(reason='delete', id='109', author=False)
    """
    event, status = record.get("event"), record.get("payload")
    if event == "delete" and (own := as_name(status)):
        return Removal(DELETE, own)
    outcome = _payload(status) if event in ("update", "status.update") else None
    if event == "status.update" and isinstance(outcome, Row):
        return Edit(UPDATE, outcome)
    return outcome if outcome and event == "update" else Skip(_EVENTS.get(str(event), OTHER_EVENT))


def _payload(status: object) -> Row | Skip | Bad:
    """The outcome of the status in an event."""
    if isinstance(status, str):
        try:
            status = orjson.loads(status)
        except orjson.JSONDecodeError:
            return Bad(BROKEN_JSON, "payload", status)
    return parse(status) if isinstance(status, dict) else Bad(NOT_AN_OBJECT, "payload", status)


def parse(status: Mapping[str, object]) -> Row | Skip | Bad:
    """The outcome of one status. Its id is the `uri`, which is the same on every server.

    >>> parse({"id": "1", "created_at": "2026-01-05T10:00:00Z", "content": "<p>Sun &amp;<br>Moon</p>"}).text
    'Sun & Moon'
    """
    account, original = part(status, "account"), part(status, "reblog")
    said = original or status  # a boost has the text of the original
    text = " ".join(filter(None, (as_plain(said.get("spoiler_text")), as_plain(said.get("content")))))
    if not text and said.get("media_attachments"):
        return Skip(MEDIA_ONLY)
    return checked(
        _id(status),
        parse_time(status.get("created_at")),
        text,
        as_name(account.get("acct")) or as_name(account.get("id")),
        as_name(said.get("language")),
        (_id(original) or "") if original else None,
        as_tags(said.get("tags"), "name"),
        as_count(status.get("reblogs_count")),
        as_count(status.get("favourites_count")),
        as_count(status.get("replies_count")),
        as_count(status.get("quotes_count")),
        as_count(account.get("followers_count")),
        as_count(account.get("following_count")),
        as_count(account.get("statuses_count")),
    )


def as_plain(content: object) -> str:
    """The text of a piece of HTML; line breaks and paragraphs become spaces.

    >>> as_plain('<p>See <a href="x"><span>https://</span><span>a.org</span></a></p><p>Now</p>')
    'See https://a.org Now'
    """
    if not isinstance(content, str):
        return ""
    return " ".join(html.unescape(_TAG.sub("", _BREAK.sub(" ", content))).split())


def _id(status: Mapping[str, object]) -> str | None:
    return as_name(status.get("uri")) or as_name(status.get("id"))


def parse_of(host: str, status: object) -> Row | Skip | Bad:
    """The outcome of a status with the server's own id (`host/123`), the only id that deletions name."""
    if not isinstance(status, dict):
        return Bad(NOT_AN_OBJECT, value=status)
    original = status.get("reblog")
    if isinstance(original, dict):
        status = {**status, "reblog": _named(host, original)}
    return parse(_named(host, status))


def _named(host: str, status: Mapping[str, object]) -> dict[str, object]:
    own = as_name(status.get("id"))
    return {**status, "uri": f"{host}/{own}" if own else None, "id": None}
