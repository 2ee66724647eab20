"""The topics of one keyword list: share and first words, with the words that another list does not have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import altair as alt

from klda.report.charts.theme import LIGHT, Spec, finished
from klda.report.content import Topic

MOST_WORDS = 6


def topics(
    these: Sequence[Topic],
    others: Sequence[Topic],
    *,
    side: Literal["current", "proposed"],
) -> Spec:
    """A bar for each topic with its words above and, below, those that are in no topic of the other list.

    Both sides share one scale, so that the bars compare.
    """
    largest = max((topic.share for topic in [*these, *others]), default=1.0)
    elsewhere = {word for topic in others for word in topic.words}
    rows = []
    for number, topic in enumerate(these, start=1):
        words = topic.words[:MOST_WORDS]
        alone = [word for word in words if word not in elsewhere] if others else []
        rows.append(
            {
                "topic": number,
                "share": topic.share,
                "words": ", ".join(words),
                "alone": "only here: " + ", ".join(alone) if alone else "",
            }
        )
    colour = LIGHT["add"] if side == "proposed" else LIGHT["drop"]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("topic:O", axis=None, scale=alt.Scale(padding=0.1)),
        tooltip=[
            alt.Tooltip("words:N"),
            alt.Tooltip("share:Q", title="share of posts", format=".0%"),
        ],
    )
    fits = alt.ExprRef("width - 4")
    bars = base.mark_bar(height=10, cornerRadius=2, color=LIGHT["keep"], opacity=0.85).encode(
        x=alt.X("share:Q", axis=None, stack=None, scale=alt.Scale(domain=[0, largest * 1.16], nice=False))
    )
    shares = base.mark_text(align="left", dx=6, fontSize=11, fill=LIGHT["soft"]).encode(
        x="share:Q", text=alt.Text("share:Q", format=".0%")
    )
    words_above = base.mark_text(align="left", dy=-17, fontSize=13, limit=fits).encode(x=alt.value(0), text="words:N")
    alone_below = base.mark_text(align="left", dy=15, fontSize=11, fill=colour, limit=fits).encode(
        x=alt.value(0), text="alone:N"
    )
    return finished(
        alt.layer(bars, shares, words_above, alone_below),
        describe=f"{len(these)} topics of the {side} list with their first words and share of posts",
        height=60 * len(rows),
    )
