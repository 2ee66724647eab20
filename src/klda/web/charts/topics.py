"""Topics over time: how the shares of the same topics move from window to window."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from klda.report.charts.theme import LIGHT, Spec, window_labels
from klda.store import TopicOverTime, WindowTopics
from klda.web.charts.frame import colour, framed, window_axis

HEIGHT = 280


def name_of(topic: TopicOverTime) -> str:
    """A topic as a legend calls it."""
    return ", ".join(topic.words[:2])


def topics_over_time(found: WindowTopics, zone: str) -> Spec:
    """Bars that each hold all posts of a window, cut by topic in the order of the last window."""
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
    return framed(spec, describe=describe, height=HEIGHT)
