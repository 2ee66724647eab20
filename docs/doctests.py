"""Puts the examples of docstrings (`>>> …`) into code blocks, so that the site shows them as they are written."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^( *)>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)


def fenced(text: str) -> str:
    """A docstring with each example in a block of its own."""
    return _EXAMPLE.sub(lambda found: f"{found[1]}```pycon\n{found[0]}\n{found[1]}```", text)


class Doctests(griffe.Extension):
    """Works on every docstring that the site reads."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Fences the examples of one object."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
