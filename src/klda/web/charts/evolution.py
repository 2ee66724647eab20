"""Keyword evolution: a bar for each stretch of time in which a keyword was active."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from klda.monitor.history import KeywordStory
from klda.report.charts.theme import LIGHT, MOST_ROWS, Spec
from klda.web.charts.frame import framed

ACTIVE, GONE = "active now", "gone"
SHORTEST = 0.006
"""Least length of a bar, as a share of the whole time: a keyword that has just come is seen, too."""


def evolution(stories: Sequence[KeywordStory], now: datetime) -> Spec:
    """A row for each keyword in the order in which they came; the newest are shown where there are many."""
    shown = stories[-MOST_ROWS:]
    ends = [max(span.ended or now, span.started) for story in shown for span in story.spans]
    least = SHORTEST * (max(ends, default=now) - min((s.started for story in shown for s in story.spans), default=now))
    rows = [
        {
            "keyword": story.keyword,
            "from": span.started.isoformat(),
            "to": max(span.ended or now, span.started).isoformat(),
            "drawn": max(span.ended or now, span.started + least).isoformat(),
            "state": GONE if span.ended else ACTIVE,
            "why": span.reason,
            "by": span.decided_by,
        }
        for story in shown
        for span in story.spans
    ]
    present = [state for state in (ACTIVE, GONE) if any(row["state"] == state for row in rows)]
    shades = {ACTIVE: LIGHT["keep"], GONE: LIGHT["past"]}
    spec = {
        "data": {"values": rows},
        "mark": {"type": "bar", "height": 12, "cornerRadius": 3},
        "encoding": {
            "x": {
                "field": "from",
                "type": "temporal",
                "title": None,
                "axis": {"grid": True, "labelOverlap": True, "tickCount": 5, "format": "%-d %b"},
            },
            "x2": {"field": "drawn"},
            "y": {
                "field": "keyword",
                "type": "nominal",
                "title": None,
                "scale": {"domain": [story.keyword for story in shown]},
                "axis": {"grid": False, "labelColor": LIGHT["ink"], "labelLimit": 110},
            },
            "color": {
                "field": "state",
                "type": "nominal",
                "scale": {"domain": present, "range": [shades[state] for state in present]},
                "legend": {"symbolType": "square"},
            },
            "tooltip": [
                {"field": "keyword", "type": "nominal"},
                {"field": "from", "type": "temporal", "format": "%-d %b %Y"},
                {"field": "to", "type": "temporal", "format": "%-d %b %Y"},
                {"field": "by", "type": "nominal", "title": "decided by"},
                {"field": "why", "type": "nominal"},
            ],
        },
    }
    describe = f"When each of {len(shown)} keywords was active"
    return framed(spec, describe=describe, height=26 * len(shown))
