"""Charts on pages of the studio, as Vega-Lite in plain data, with the look of the reports.

They are written as data, not built with Altair, because a page draws them for every request.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import altair as alt

from klda.monitor.history import KeywordStory
from klda.monitor.overview import FlowPoint
from klda.report.charts.theme import CATEGORIES, LIGHT, MOST_ROWS, Spec, finished, full_date, window_labels
from klda.store import Outcome, TopicOverTime, WindowTopics
from klda.store.sql.volume_records import Period

OTHERS = "other keywords"
VOLUME_HEIGHT = 280
TOPICS_HEIGHT = 280
OUTCOMES_HEIGHT = 300
SPARSE = {"grid": False, "labelAngle": 0, "labelOverlap": True, "labelSeparation": 8}
"""A time axis without labels that would overlap."""
SHORT = "format(datum.value, '~s')"
"""Formats each number alone, because an axis format would write 0k."""
ACTIVE, GONE = "active now", "gone"
SHORTEST = 0.006
"""The shortest bar, as a share of the whole time, so that a new keyword is visible."""
WITHIN, OUTSIDE = "within what was expected", "outside"


def volume(points: Sequence[FlowPoint], period: Period, zone: str) -> Spec:
    """Stacked bars with the number of distinct posts. The largest keywords have a colour of their own.

    Windows are named in the zone in which they begin, days in UTC, and hours in the reader's zone.
    """
    sums: Counter[str] = Counter()
    for point in points:
        sums[point.keyword] += point.posts
    named = [keyword for keyword, _ in sums.most_common(len(CATEGORIES))]
    place = {keyword: order for order, keyword in enumerate(named)}
    parts: Counter[tuple[datetime, str]] = Counter()
    posts: Counter[tuple[datetime, str]] = Counter()
    for point in points:
        key = (point.start, point.keyword if point.keyword in place else OTHERS)
        parts[key] += point.share  # type: ignore[assignment]
        posts[key] += point.posts
    starts = sorted({point.start.astimezone(ZoneInfo(zone)) for point in points})
    labels = window_labels(starts)
    rows = [
        {
            "start": start.isoformat(),
            "label": labels[start.astimezone(ZoneInfo(zone))],
            "when": full_date(start.astimezone(ZoneInfo(zone))),
            "keyword": keyword,
            "part": round(part, 2),
            "posts": posts[start, keyword],
            "order": place.get(keyword, len(place)),
        }
        for (start, keyword), part in sorted(parts.items())
    ]
    rest = OTHERS if len(sums) > len(named) else None
    spec = {
        "data": {"values": rows},
        "mark": {"type": "bar", "stroke": LIGHT["paper"], "strokeWidth": 1},
        "encoding": {
            "x": _axis(period, list(labels.values())),
            "y": {
                "field": "part",
                "type": "quantitative",
                "title": "posts",
                "axis": {"labelExpr": SHORT, "tickCount": 5},
            },
            "color": colour("keyword", named, rest=rest),
            "order": {"field": "order", "type": "quantitative"},
            "tooltip": [
                {"field": "keyword", "type": "nominal"},
                _when(period),
                {"field": "posts", "type": "quantitative", "title": "posts with it", "format": ",d"},
            ],
        },
    }
    describe = f"Posts of {len(labels)} {period}s, stacked by keyword: {', '.join(named) or 'none'}"
    return framed(spec, describe=describe, height=VOLUME_HEIGHT)


def _axis(period: Period, labels: list[str]) -> dict[str, Any]:
    if period == "window":
        return window_axis(labels)
    unit = "utcyearmonthdate" if period == "day" else "yearmonthdatehours"
    shown = {"format": "%-d %b" if period == "day" else "%-d %b %H:%M", "tickCount": 6}
    return {"field": "start", "type": "temporal", "timeUnit": unit, "title": None, "axis": SPARSE | shown}


def _when(period: Period) -> dict[str, Any]:
    if period == "hour":
        return {"field": "start", "type": "temporal", "title": "from", "format": "%-d %b %Y, %H:%M"}
    return {"field": "when", "type": "nominal", "title": f"{period} from"}


def topics_over_time(found: WindowTopics, zone: str) -> Spec:
    """One bar for each window, divided by topic, in the order of the last window."""
    labels = window_labels(start.astimezone(ZoneInfo(zone)) for start in found.windows)
    names = [name_of(topic) for topic in found.topics]
    rows = [
        {"label": label, "topic": name, "share": share, "words": ", ".join(topic.words), "order": order}
        for order, (name, topic) in enumerate(zip(names, found.topics, strict=True))
        for label, share in zip(labels.values(), topic.shares, strict=True)
    ]
    spec = {
        "data": {"values": rows},
        "mark": {"type": "bar", "stroke": LIGHT["paper"], "strokeWidth": 1},
        "encoding": {
            "x": window_axis(list(labels.values())),
            "y": {
                "field": "share",
                "type": "quantitative",
                "title": "share of posts",
                "scale": {"domain": [0, 1]},
                "axis": {"format": "%", "tickCount": 5},
            },
            "color": colour("topic", list(dict.fromkeys(names))),
            "order": {"field": "order", "type": "quantitative"},
            "tooltip": [
                {"field": "words", "type": "nominal", "title": "topic"},
                {"field": "label", "type": "nominal", "title": "window from"},
                {"field": "share", "type": "quantitative", "title": "share of posts", "format": ".0%"},
            ],
        },
    }
    describe = f"Shares of {len(names)} topics in {len(labels)} windows"
    return framed(spec, describe=describe, height=TOPICS_HEIGHT)


def name_of(topic: TopicOverTime) -> str:
    """The name of a topic in a legend."""
    return ", ".join(topic.words[:2])


def evolution(stories: Sequence[KeywordStory], now: datetime) -> Spec:
    """A row for each keyword, in the order in which they were added. If there are many, the newest are shown."""
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


def outcomes(found: Sequence[Outcome], zone: str) -> Spec:
    """A dot for each keyword and window. On the line, exactly the expected posts came."""
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
    return framed({"layer": [line, dots]}, describe=describe, height=OUTCOMES_HEIGHT)


def framed(spec: Mapping[str, Any], *, describe: str, height: int) -> Spec:
    """A chart as wide as its container, with a description for screen readers."""
    return {**_frame(), **spec, "height": height, "description": describe}


def colour(field: str, names: Sequence[str], *, rest: str | None = None) -> dict[str, Any]:
    """The encoding that gives each name a colour, and grey to the rest."""
    domain = [*names, *([rest] if rest else [])]
    shades = [*CATEGORIES[: len(names)], *([LIGHT["past"]] if rest else [])]
    legend = {"symbolType": "square"}
    return {"field": field, "type": "nominal", "scale": {"domain": domain, "range": shades}, "legend": legend}


def window_axis(labels: Sequence[str]) -> dict[str, Any]:
    """The encoding that shows windows side by side, in this order."""
    scale = {"domain": list(labels), "paddingInner": 0.18}
    return {"field": "label", "type": "ordinal", "title": None, "scale": scale, "axis": SPARSE}


@cache
def _frame() -> Spec:
    """Width, margins and typography of the reports."""
    whole = finished(alt.Chart(alt.InlineData(values=[])).mark_bar(), describe="", height=1)
    return {name: part for name, part in whole.items() if name not in ("data", "mark", "description", "height")}
