"""Which platform a decoded record comes from, and what becomes of it: the door for files and live streams alike."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import tzinfo

from klda.posts.formats import bluesky, generic, mastodon, x_v1, x_v2
from klda.posts.formats.outcome import Bad, Outcome
from klda.posts.formats.times import DateReader
from klda.posts.reasons import NOT_AN_OBJECT


def parse_record(
    record: object, mapping: generic.Mapped = (), zone: tzinfo | None = None, dates: DateReader | None = None
) -> Iterable[Outcome]:
    """What becomes of a record, whatever its platform: one outcome, or one for each tweet of an X v2 page.

    With a mapping, the record is read as plain columns: what the user says goes before what we recognise.

    >>> [row] = parse_record({"id": 1, "time": "2026-01-05T10:00:00Z", "body": "Hello"})
    >>> row.id, row.text
    ('1', 'Hello')
    """
    if not isinstance(record, dict):
        return (Bad(NOT_AN_OBJECT, value=record),)
    if mapping:
        record = generic.with_nested(record, mapping)
    else:
        # Cheap keys first; each platform has one that the others lack.
        if bluesky.recognises(record):
            return (bluesky.parse(record),)
        if mastodon.recognises_envelope(record):
            return (mastodon.parse_envelope(record),)
        if x_v2.recognises_envelope(record):
            return x_v2.parse_envelope(record)
        if mastodon.recognises(record):
            return (mastodon.parse(record),)
        if x_v1.recognises(record):
            return (x_v1.parse(record),)
        if x_v2.recognises(record):
            return (x_v2.parse(record),)
    columns = generic.resolve(tuple(record), mapping)
    return (generic.parse(record, columns, zone, dates),)
