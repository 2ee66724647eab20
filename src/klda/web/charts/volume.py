"""Volume over time, stacked by keyword."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from klda.monitor.volume_series import FlowPoint
from klda.report.charts.theme import CATEGORIES, LIGHT, Spec, full_date, window_labels
from klda.store.sql.volume_records import Period
from klda.web.charts.frame import OTHERS, SPARSE, colour, framed, window_axis

HEIGHT = 280
SHORT = "format(datum.value, '~s')"
"""Each number by itself: an axis that is given a format would write 0k."""


def volume(points: Sequence[FlowPoint], period: Period, zone: str) -> Spec:
    """Stacked bars whose height is the number of distinct posts; the largest keywords have a colour of their own.

    Windows are named in the zone in which they begin, days in UTC, hours in the reader's zone.
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
    return framed(spec, describe=describe, height=HEIGHT)


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
