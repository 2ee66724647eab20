"""Values of files → values of posts; a value that does not fit becomes None."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from contextlib import suppress

_LIMIT = 2**63
_SHORT_LINK = re.compile(r"https?://[\w.]+/\w+")
_TAG_BREAKS = re.compile(r"[\s,;|#\[\]'\"]+")


def as_count(value: object) -> int | None:
    """A whole number, from a number or its decimal digits.

    >>> as_count(3), as_count("12"), as_count(4.0), as_count("many"), as_count(True)
    (3, 12, 4, None, None)
    """
    if type(value) is int:
        return value if -_LIMIT <= value < _LIMIT else None
    if isinstance(value, str):
        try:
            return as_count(float(value) if "." in value else int(value))
        except ValueError:
            return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return None


def as_name(value: object) -> str | None:
    """A name or an id: non-empty text, or a whole number as its digits.

    >>> as_name("anna"), as_name(17), as_name(""), as_name({"id": 1})
    ('anna', '17', None, None)
    """
    if type(value) is str:
        return value or None
    if type(value) is int:
        return str(value)
    number = as_count(value) if isinstance(value, float) else None
    return None if number is None else str(number)


def as_label(value: object) -> str | None:
    """The label of a post: a text, or several joined with commas.

    >>> as_label("AAPL"), as_label(["AAPL", "GOOG"])
    ('AAPL', 'AAPL,GOOG')
    """
    if isinstance(value, list | tuple):
        return ",".join(filter(None, map(as_name, value))) or None
    return as_name(value)


def as_flag(value: object) -> bool:
    """Whether a yes/no value means yes.

    >>> as_flag(True), as_flag("True"), as_flag(0), as_flag("no"), as_flag(None)
    (True, True, False, False, False)
    """
    if isinstance(value, str):
        return value.strip().lower() in {"true", "t", "yes", "y", "1"}
    return isinstance(value, int) and value == 1


def as_tags(value: object, key: str = "text") -> tuple[str, ...]:
    """Hashtags without their #: from a list of words, of objects that name the word under `key`, or from one text.

    >>> as_tags([{"tag": "Sun"}, {"tag": None}], "tag"), as_tags("#sun, #moon"), as_tags(["sun"]), as_tags(7)
    (('Sun',), ('sun', 'moon'), ('sun',), ())
    """
    if value is None:
        return ()
    if isinstance(value, str):
        if value.startswith("[{"):  # the form of twarc's tables
            with suppress(ValueError):
                return as_tags(json.loads(value), key)
        return tuple(filter(None, _TAG_BREAKS.split(value)))
    if not isinstance(value, list | tuple):
        return ()
    words = (item.get(key) or item.get("tag") if isinstance(item, dict) else item for item in value)
    return tuple(word.removeprefix("#") for word in words if isinstance(word, str) and word)


def part(record: Mapping[str, object], key: str) -> dict[str, object]:
    """The nested object under a key, or an empty one."""
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def items(record: Mapping[str, object], key: str) -> list[dict[str, object]]:
    """The nested objects in the list under a key."""
    value = record.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def unescaped(text: object) -> object:
    """The text without HTML entities, which X's API writes for &, < and >; other values stay as they are."""
    return html.unescape(text) if isinstance(text, str) and "&" in text else text


def with_whole_links(text: object, entities: Mapping[str, object]) -> object:
    """The text with full addresses in place of X's short links, as X's v1.1 filter matches them; pictures stay short.

    >>> link = {"url": "https://t.co/a1", "expanded_url": "https://nasa.gov/moon"}
    >>> with_whole_links("Look: https://t.co/a1", {"urls": [link]})
    'Look: https://nasa.gov/moon'
    """
    if not isinstance(text, str):
        return text
    whole: dict[object, object] = {
        link.get("url"): link.get("unwound_url") or link.get("expanded_url")
        for link in items(entities, "urls")
        if "media_key" not in link and not str(link.get("display_url")).startswith("pic.")
    }
    return _SHORT_LINK.sub(lambda found: str(whole.get(found[0]) or found[0]), text) if whole else text


def with_full_original(text: object, original: object) -> object:
    """The text of a repost with the full original text, because the platform cuts it short in the repost.

    >>> with_full_original("RT @nasa: We are going to the Mo…", "We are going to the Moon")
    'RT @nasa: We are going to the Moon'
    """
    if not isinstance(original, str) or not isinstance(text, str):
        return text
    head, colon, _ = text.partition(": ")
    return f"{head}{colon}{original}" if text.startswith("RT @") and colon else text
