"""Templates of reports and pages. Whatever one prints is text: posts are hostile, and none of them becomes markup."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from klda.report import phrases

Shown = Callable[[str], str]
"""How a text is made fit to be shown."""


def environment(package: str, shown: Shown) -> Environment:
    """The templates of a package; every text that one prints passes through `shown`, so that none is forgotten."""

    def finalize(value: Any) -> Any:
        return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    made = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )
    made.filters |= {
        "count": phrases.count,
        "percent": phrases.percent,
        "between": phrases.between,
        "decimal": phrases.decimal,
        "marked": phrases.marked,
    }
    return made


def cleaned(node: Any, shown: Shown) -> Any:
    """Plain data with every text in it fit to be shown.

    >>> cleaned({"title": ["a", 1]}, str.upper)
    {'title': ['A', 1]}
    """
    if isinstance(node, dict):
        return {key: cleaned(value, shown) for key, value in node.items()}
    if isinstance(node, list):
        return [cleaned(value, shown) for value in node]
    return shown(node) if isinstance(node, str) else node
