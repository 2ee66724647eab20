"""The language of a text: as the platform states it, in one spelling; or detected from the words."""

from __future__ import annotations

_UNKNOWN = frozenset({"und", "zxx", "mul", "mis"})
_RENAMED = {"in": "id", "iw": "he", "ji": "yi"}  # codes that X still uses under their old names


def primary(tag: str | None) -> str | None:
    """The language of a tag, in lower case and without its region; None when the tag names no language.

    >>> primary("en-GB"), primary("PT_br"), primary("und"), primary("qme"), primary(None)
    ('en', 'pt', None, None, None)
    """
    code = (tag or "").strip().lower().replace("_", "-").partition("-")[0]
    if not code or code in _UNKNOWN or (len(code) == 3 and code.startswith("q")):  # qaa to qtz are private
        return None
    return _RENAMED.get(code, code)


def detect(text: str) -> str | None:
    """The most likely language of a text; None when it has no words.

    >>> detect("The committee will meet again on Thursday to discuss the budget.")
    'en'
    """
    from py3langid import classify  # imported here, because loading its model takes time

    return primary(classify(text)[0])
