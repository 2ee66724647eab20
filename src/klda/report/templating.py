"""Templates of reports and pages. They show all values as text: posts may be hostile, and never become markup."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from klda.report import wording
from klda.safe_text import visible


def environment(package: str) -> Environment:
    """The templates of a package; every text in them passes through `visible`."""

    def finalize(value: Any) -> Any:
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    made = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )
    made.filters |= {
        "count": wording.count,
        "percent": wording.percent,
        "between": wording.between,
        "decimal": wording.decimal,
        "marked": wording.marked,
    }
    return made


def cleaned(node: Any) -> Any:
    """Plain data with every text made safe by `visible`.

    >>> cleaned({"title": ["a\\x00", 1]})
    {'title': ['a', 1]}
    """
    if isinstance(node, dict):
        return {key: cleaned(value) for key, value in node.items()}
    if isinstance(node, list):
        return [cleaned(value) for value in node]
    return visible(node) if isinstance(node, str) else node
