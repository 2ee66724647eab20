"""The words that a new list brings more of, and less of."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from klda.report.charts.theme import LIGHT, Spec, finished
from klda.report.content import WordChange

GAINED, LOST = "gained", "lost"


def words(changes: Sequence[WordChange]) -> Spec:
    """For each word a line from its share of posts today (tick) to its share with the new list (dot)."""
    ordered = sorted(changes, key=lambda change: -change.difference)
    rows = [
        {
            "word": change.word,
            "current": change.current,
            "proposed": change.proposed,
            "direction": GAINED if change.difference >= 0 else LOST,
        }
        for change in ordered
    ]
    colour = alt.Color(
        "direction:N",
        scale=alt.Scale(domain=[GAINED, LOST], range=[LIGHT["add"], LIGHT["drop"]]),
        legend=alt.Legend(),
    )
    percent = alt.Axis(format="~%", tickCount=7)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y(
            "word:N",
            scale=alt.Scale(domain=list(dict.fromkeys(change.word for change in ordered))),
            axis=alt.Axis(title=None, grid=False, labelColor=LIGHT["ink"]),
        ),
        tooltip=[
            alt.Tooltip("word:N"),
            alt.Tooltip("current:Q", title="current list", format=".2%"),
            alt.Tooltip("proposed:Q", title="proposed list", format=".2%"),
        ],
    )
    x = alt.X("proposed:Q", title="share of posts with the word", axis=percent)
    way = base.mark_rule(strokeWidth=2).encode(x=alt.X("current:Q"), x2="proposed:Q", color=colour)
    today = base.mark_tick(thickness=2, size=11, color=LIGHT["soft"], opacity=1).encode(x=alt.X("current:Q"))
    then = base.mark_point(filled=True, size=70, opacity=1).encode(x=x, color=colour)
    gained = sum(row["direction"] == GAINED for row in rows)
    return finished(
        alt.layer(way, today, then),
        describe=f"Share of posts with each word, current against proposed list: {gained} words gained, "
        f"{len(rows) - gained} lost",
        height=21 * len(rows),
    )
