"""Why a record did not become a post: short, stable names that reports, tests and machines can rely on."""

from __future__ import annotations

# Bad: the record should have been a post.
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

# Skipped: the record is well formed and is not a post.
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
    NO_TEXT: 'call it text, or say which name it has (--map text=NAME, in Python mapping={"text": "NAME"})',
    NO_TIME: 'call it time, or say which name it has (--map time=NAME, in Python mapping={"time": "NAME"})',
    TIME_WITHOUT_ZONE: "write times like 2026-01-05T10:00:00Z, or state the zone (--timezone Europe/Berlin, in Python "
    'timezone="Europe/Berlin")',
    UNREADABLE_TIME: "write times like 2026-01-05T10:00:00Z, or as seconds since 1970, or say how they are written "
    '(--date-format "%d/%m/%Y %H:%M", in Python date_format="%d/%m/%Y %H:%M")',
    TIME_OUT_OF_RANGE: "times must lie between 1900 and 2200; check the unit of numeric times",
    NUL_BYTES: "remove the zero bytes; the file may have been cut by a crash",
    TOO_LONG: "one record may take 10 MB; check that records end in line breaks",
    INVALID_UTF8: "save the file as UTF-8",
    BROKEN_ROW: 'a quote inside a quoted cell is written twice (""), and a cell may hold 131,072 characters',
    COLUMN_COUNT: "each row needs as many cells as the header; quote cells that hold the delimiter",
    DAMAGED: "the rest of the file cannot be read; fetch or pack it again",
}
"""What to do about each bad reason."""
