"""Expected against realised posts."""

from __future__ import annotations

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from klda.report.charts.theme import LIGHT, Spec, full_date
from klda.store import Outcome
from klda.web.charts.frame import framed

HEIGHT = 300
WITHIN, OUTSIDE = "within what was expected", "outside"


def outcomes(found: Sequence[Outcome], zone: str) -> Spec:
    """A dot for each keyword and window; on the line, exactly what was expected came."""
    rows = [
        {
            "keyword": outcome.keyword,
            "window": full_date(outcome.window_start.astimezone(ZoneInfo(zone))),
            "expected": max(outcome.expected.mean, 1.0),
            "realised": max(float(outcome.realised), 1.0),
            "posts": outcome.realised,
            "about": round(outcome.expected.mean),
            "low": round(outcome.expected.low),
            "high": round(outcome.expected.high),
            "state": WITHIN if outcome.expected.low <= outcome.realised <= outcome.expected.high else OUTSIDE,
        }
        for outcome in found
        if outcome.realised is not None
    ]
    most = max([10.0, *(value for row in rows for value in (row["expected"], row["realised"]))])  # type: ignore[type-var]
    scale = {"type": "log", "domain": [1, most], "nice": True}  # a keyword brings ten posts or ten thousand
    axis = {"format": "~s", "values": [10**power for power in range(10)]}
    line = {
        "data": {"values": [{"x": 1, "y": 1}, {"x": most, "y": most}]},
        "mark": {"type": "line", "strokeDash": [4, 3], "color": LIGHT["soft"], "strokeWidth": 1.5},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "scale": scale},
            "y": {"field": "y", "type": "quantitative", "scale": scale},
        },
    }
    dots = {
        "data": {"values": rows},
        "mark": {"type": "point", "filled": True, "size": 60, "opacity": 0.75},
        "encoding": {
            "x": {"field": "expected", "type": "quantitative", "title": "expected posts", "scale": scale, "axis": axis},
            "y": {"field": "realised", "type": "quantitative", "title": "realised", "scale": scale, "axis": axis},
            "color": {
                "field": "state",
                "type": "nominal",
                "scale": {"domain": [WITHIN, OUTSIDE], "range": [LIGHT["keep"], LIGHT["drop"]]},
                "legend": {"symbolType": "circle", "labelLimit": 190, "columns": 1},
            },
            "tooltip": [
                {"field": "keyword", "type": "nominal"},
                {"field": "window", "type": "nominal", "title": "window from"},
                {"field": "about", "type": "quantitative", "title": "expected", "format": ",d"},
                {"field": "low", "type": "quantitative", "title": "at least", "format": ",d"},
                {"field": "high", "type": "quantitative", "title": "at most", "format": ",d"},
                {"field": "posts", "type": "quantitative", "title": "realised", "format": ",d"},
            ],
        },
    }
    inside = sum(row["state"] == WITHIN for row in rows)
    describe = f"Expected against realised posts, {len(rows)} times; {inside} lie within what was expected"
    return framed({"layer": [line, dots]}, describe=describe, height=HEIGHT)
