"""The posts that the list collected in each window, by keyword."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import altair as alt

from klda.report.charts.dates import full_date, window_labels
from klda.report.charts.theme import CATEGORIES, LIGHT, Spec, finished
from klda.report.content import Activity

OTHERS = "other keywords"


def collected(activity: Sequence[Activity]) -> Spec:
    """Stacked bars whose height is the number of distinct posts; the largest keywords have a colour of their own."""
    label = window_labels(row.window for row in activity)
    totals: dict[str, float] = {}
    for row in activity:
        if row.collected > 0:
            totals[row.keyword] = totals.get(row.keyword, 0.0) + row.collected
    named = sorted(totals, key=lambda keyword: -totals[keyword])[: len(CATEGORIES)]
    place = {keyword: order for order, keyword in enumerate(named)}
    stacks: dict[tuple[datetime, str], float] = {}
    for row in activity:
        if row.collected > 0:
            key = (row.window, row.keyword if row.keyword in place else OTHERS)
            stacks[key] = stacks.get(key, 0.0) + row.collected
    rows = [
        {
            "label": label[window],
            "window": full_date(window),
            "keyword": keyword,
            "posts": posts,
            "order": place.get(keyword, len(place)),
        }
        for (window, keyword), posts in stacks.items()
    ]
    domain = [*named, *([OTHERS] if len(totals) > len(named) else [])]
    bars = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(strokeWidth=1, stroke=LIGHT["paper"])
        .encode(
            x=alt.X(
                "label:O",
                title=None,
                scale=alt.Scale(domain=list(label.values()), paddingInner=0.18),
                axis=alt.Axis(grid=False, labelAngle=0, labelOverlap=True),
            ),
            y=alt.Y("posts:Q", title="posts", axis=alt.Axis(format=",d", tickCount=5)),
            color=alt.Color(
                "keyword:N",
                scale=alt.Scale(domain=domain, range=[*CATEGORIES[: len(named)], LIGHT["past"]][: len(domain)]),
                legend=alt.Legend(symbolType="square"),
            ),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip("keyword:N"),
                alt.Tooltip("window:N", title="window from"),
                alt.Tooltip("posts:Q", title="posts (shared)", format=",.0f"),
            ],
        )
    )
    return finished(
        bars,
        describe=f"Posts collected in each of {len({row['window'] for row in rows})} windows, by keyword",
        height=260,
    )
