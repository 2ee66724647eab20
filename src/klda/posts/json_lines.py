"""JSON text → outcomes, one record after another; also the raw text of a server-sent event stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import tzinfo

import orjson

from klda.posts.files import Line
from klda.posts.formats.generic import Mapped
from klda.posts.formats.outcome import Bad, Outcome, Skip
from klda.posts.formats.times import DateReader
from klda.posts.reasons import BROKEN_JSON, INVALID_UTF8, KEEP_ALIVE, NUL_BYTES
from klda.posts.recognise import parse_record

_FIELDS = (b"event:", b"id:", b"retry:", b":")


def json_outcomes(
    lines: Iterable[Line], mapping: Mapped = (), zone: tzinfo | None = None, dates: DateReader | None = None
) -> Iterator[tuple[int, Outcome]]:
    """What becomes of each line, with its number; a line may hold several records.

    >>> [outcome.reason for _, outcome in json_outcomes([(1, b""), (2, b"[]"), (3, b"{")])]
    ['keep-alive', 'not an object', 'broken JSON']
    """
    event = b""
    for number, content in lines:
        if isinstance(content, Bad):
            yield number, content
            continue
        try:
            record = orjson.loads(content)
        except orjson.JSONDecodeError:
            line = content.strip()
            if not line or line.startswith(_FIELDS):
                if not line or line.startswith(b"event:"):  # a blank line ends an event
                    event = line[6:].strip()
                yield number, Skip(KEEP_ALIVE)
            elif line.startswith(b"data:"):
                found = _event_data(event, line[5:].strip(), mapping, zone, dates)
                yield from ((number, outcome) for outcome in found)
            else:
                yield number, Bad(_why_broken(content), value=content)
            continue
        for outcome in parse_record(record, mapping, zone, dates):
            yield number, outcome


def _event_data(
    event: bytes, data: bytes, mapping: Mapped, zone: tzinfo | None, dates: DateReader | None
) -> Iterable[Outcome]:
    """What becomes of the data line of a server-sent event."""
    if event not in (b"", b"update", b"message"):
        return parse_record({"event": event.decode("utf-8", "replace"), "payload": data.decode("utf-8", "replace")})
    try:
        record = orjson.loads(data)
    except orjson.JSONDecodeError:
        return (Bad(_why_broken(data), value=data),)
    return parse_record(record, mapping, zone, dates)


def _why_broken(content: bytes) -> str:
    if b"\0" in content:
        return NUL_BYTES
    try:
        content.decode()
    except UnicodeDecodeError:
        return INVALID_UTF8
    return BROKEN_JSON
