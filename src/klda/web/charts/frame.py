"""What all pictures of the studio share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import altair as alt

from klda.report.charts.theme import CATEGORIES, LIGHT, Spec, finished

OTHERS = "other keywords"
SPARSE = {"grid": False, "labelAngle": 0, "labelOverlap": True, "labelSeparation": 8}
"""An axis of times: labels that would touch are left out."""


def framed(spec: Mapping[str, Any], *, describe: str, height: int) -> Spec:
    """A picture as wide as its container, with the text that screen readers say for it."""
    return {**_frame(), **spec, "height": height, "description": describe}


def colour(field: str, names: Sequence[str], *, rest: str | None = None) -> dict[str, Any]:
    """The encoding that gives each name a colour of its own, and grey to the rest."""
    domain = [*names, *([rest] if rest else [])]
    shades = [*CATEGORIES[: len(names)], *([LIGHT["past"]] if rest else [])]
    legend = {"symbolType": "square"}
    return {"field": field, "type": "nominal", "scale": {"domain": domain, "range": shades}, "legend": legend}


def window_axis(labels: Sequence[str]) -> dict[str, Any]:
    """The encoding that sets windows side by side, in this order."""
    scale = {"domain": list(labels), "paddingInner": 0.18}
    return {"field": "label", "type": "ordinal", "title": None, "scale": scale, "axis": SPARSE}


@cache
def _frame() -> Spec:
    """Width, margins and typography, as reports have them."""
    whole = finished(alt.Chart(alt.InlineData(values=[])).mark_bar(), describe="", height=1)
    return {name: part for name, part in whole.items() if name not in ("data", "mark", "description", "height")}
