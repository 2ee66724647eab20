"""Topics under two lists: the share of each today and, predicted, with the proposed list; and its words."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from klda.advice.topics import TopicShare
from klda.report.charts.theme import LIGHT, Spec, finished

ROW = 78
"""Height of a topic: a line of words, two bars, a line of new words."""


def topics(found: Sequence[TopicShare]) -> Spec:
    """Two bars for each topic, today's above, with its words over them and new words below."""
    largest = max((max(topic.now, topic.then) for topic in found), default=1.0)
    rows = [
        {
            "topic": number,
            "today": topic.now,
            "proposed": topic.then,
            "words": ", ".join(topic.words),
            "new": "new: " + ", ".join(topic.arriving) if topic.arriving else "",
        }
        for number, topic in enumerate(found, start=1)
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("topic:O", axis=None, scale=alt.Scale(padding=0.1)),
        tooltip=[
            alt.Tooltip("words:N", title="topic"),
            alt.Tooltip("today:Q", title="share of posts today", format=".0%"),
            alt.Tooltip("proposed:Q", title="predicted share, proposed list", format=".0%"),
        ],
    )
    fits = alt.ExprRef("width - 4")
    words = base.mark_text(align="left", dy=-26, fontSize=13, limit=fits).encode(x=alt.value(0), text="words:N")
    new = base.mark_text(align="left", dy=26, fontSize=11, fill=LIGHT["add"], limit=fits).encode(
        x=alt.value(0), text="new:N"
    )
    layers = [words, new]
    for field, name, place, colour in (
        ("today", "today", -8, LIGHT["keep"]),
        ("proposed", "predicted", 8, LIGHT["add"]),
    ):
        length = alt.X(f"{field}:Q", axis=None, stack=None, scale=alt.Scale(domain=[0, largest * 1.3], nice=False))
        label = alt.ExprRef(f"format(datum.{field}, '.0%') + ' {name}'")
        layers += [
            base.mark_bar(height=10, yOffset=place, cornerRadius=2, color=colour, opacity=0.85).encode(x=length),
            base.mark_text(align="left", dx=6, dy=place, fontSize=11, fill=LIGHT["soft"], text=label).encode(x=length),
        ]
    return finished(
        alt.layer(*layers),
        describe=f"{len(rows)} topics with their words, their share of posts today and with the proposed list",
        height=ROW * len(rows),
    )
