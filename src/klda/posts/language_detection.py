"""The language of a text: what the platform says, in one spelling, or a guess from the words."""

from __future__ import annotations

_UNKNOWN = frozenset({"und", "zxx", "mul", "mis"})
_RENAMED = {"in": "id", "iw": "he", "ji": "yi"}  # codes that X still uses under their old names


def primary(tag: str | None) -> str | None:
    """The language of a tag without its region, in lower case; None when the tag does not tell.

    >>> primary("en-GB"), primary("PT_br"), primary("und"), primary("qme"), primary(None)
    ('en', 'pt', None, None, None)
    """
    code = (tag or "").strip().lower().replace("_", "-").partition("-")[0]
    if not code or code in _UNKNOWN or (len(code) == 3 and code.startswith("q")):  # qaa … qtz are for private use
        return None
    return _RENAMED.get(code, code)


def detect(text: str) -> str | None:
    """The most likely language of a text, or None when it holds no words.

    >>> detect("The committee will meet again on Thursday to discuss the budget.")
    'en'
    """
    from py3langid import classify  # here, because its model takes a moment to load

    return primary(classify(text)[0])
