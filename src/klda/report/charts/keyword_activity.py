"""Pictures of the past: the collected posts by keyword, and the windows in which each keyword was active."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import isfinite

import altair as alt

from klda.advice.explanation import Action
from klda.report.charts.theme import (
    ACTIONS,
    CATEGORIES,
    EARLIER,
    LIGHT,
    MOST_ROWS,
    Spec,
    action_colour,
    finished,
    full_date,
    window_labels,
)
from klda.report.content import Activity

OTHERS = "other keywords"


def collected(activity: Sequence[Activity]) -> Spec:
    """Stacked bars of the distinct posts in each window; the largest keywords have their own colours."""
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


NEXT = "next"


def evolution(
    activity: Sequence[Activity], actions: Mapping[str, Action], forecast: Mapping[str, float] | None = None
) -> Spec:
    """A row for each keyword with a circle for each window: filled while it was active, its area the matching posts.

    `actions` is the proposed action for each keyword and gives the colour of its row. `forecast` has the expected posts
    of each keyword of the proposed list, and adds a last column.
    """
    label = window_labels(row.window for row in activity)
    shown = _most_important(activity, actions)
    rows: list[dict[str, str | float | bool]] = [
        {
            "label": label[row.window],
            "window": full_date(row.window),
            "keyword": row.keyword,
            "posts": row.posts,
            "state": "in the list" if row.active else "not in the list",
            "active": row.active,
            "action": ACTIONS[actions[row.keyword]] if row.keyword in actions else EARLIER,
        }
        for row in activity
        if row.keyword in shown and row.posts > 0
    ]
    rows += [
        {
            "label": NEXT,
            "window": NEXT,
            "keyword": keyword,
            "posts": posts,
            "state": "proposed",
            "active": True,
            "action": ACTIONS[actions[keyword]],
        }
        for keyword, posts in (forecast or {}).items()
        if keyword in shown and keyword in actions and isfinite(posts)
    ]
    columns = [*label.values(), *([NEXT] if forecast else [])]
    colour = action_colour(rows)
    circles = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(shape="circle", strokeWidth=1.5, opacity=1)
        .encode(
            x=alt.X(
                "label:O",
                title=None,
                scale=alt.Scale(domain=columns),
                axis=alt.Axis(grid=False, labelAngle=0, labelOverlap=True),
            ),
            y=alt.Y(
                "keyword:N",
                scale=alt.Scale(domain=shown),
                axis=alt.Axis(title=None, grid=True, labelColor=LIGHT["ink"]),
            ),
            size=alt.Size("posts:Q", scale=alt.Scale(rangeMin=4, rangeMax=520, zero=True), legend=None),
            color=colour,
            fill=alt.condition("datum.active", colour, alt.value(LIGHT["paper"])),
            tooltip=[
                alt.Tooltip("keyword:N"),
                alt.Tooltip("window:N", title="window from"),
                alt.Tooltip("posts:Q", format=",.0f"),
                alt.Tooltip("state:N"),
            ],
        )
    )
    return finished(
        circles,
        describe=f"Posts that carry each of {len(shown)} keywords in each window; filled circles where the keyword was "
        "in the list",
        height=28 * len(shown),
    )


def _most_important(activity: Sequence[Activity], actions: Mapping[str, Action]) -> list[str]:
    """The keywords to show, by action and then by posts, largest first; keywords without an action come last."""
    posts: dict[str, int] = {}
    for row in activity:
        posts[row.keyword] = posts.get(row.keyword, 0) + row.posts
    rank = {action: place for place, action in enumerate(ACTIONS)}
    order = sorted(posts, key=lambda k: (rank[actions[k]] if k in actions else len(rank), -posts[k]))
    return order[:MOST_ROWS]
