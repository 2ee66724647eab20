"""How many posts each keyword, and the whole list, should bring next, against the budget."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import altair as alt

from klda.advice.explanation import Reason
from klda.report.charts.theme import ACTIONS, LIGHT, MOST_ROWS, Spec, action_colour, finished
from klda.types import Estimate

WHOLE_LIST = "the whole list"


def expected(reasons: Sequence[Reason], total: Estimate | None = None, max_posts: float | None = None) -> Spec:
    """A dot with its interval for each keyword, keywords of the next list filled, and a rule at the budget."""
    forecast = [(r, r.expected_posts) for r in reasons if r.expected_posts is not None and _finite(r.expected_posts)]
    forecast.sort(key=lambda pair: (pair[0].action in ("drop", "hold"), -pair[1].mean))
    rows = [
        _row(reason.keyword.text, estimate, ACTIONS[reason.action], reason.action in ("keep", "add"))
        for reason, estimate in forecast[:MOST_ROWS]
    ]
    whole = [_row(WHOLE_LIST, total, "whole", True)] if total is not None and _finite(total) else []
    order = list(dict.fromkeys(row["keyword"] for row in [*whole, *rows]))
    colour = action_colour(rows)
    y = alt.Y(
        "keyword:N",
        scale=alt.Scale(domain=order),
        axis=alt.Axis(title=None, grid=False, labelColor=LIGHT["ink"]),
    )
    x = alt.X(
        "mean:Q", title="expected posts a window", scale=alt.Scale(zero=True), axis=alt.Axis(format=",d", tickCount=6)
    )
    tooltip = [
        alt.Tooltip("keyword:N"),
        alt.Tooltip("mean:Q", title="expected posts", format=",.0f"),
        alt.Tooltip("low:Q", title="from", format=",.0f"),
        alt.Tooltip("high:Q", title="to", format=",.0f"),
    ]
    keywords = alt.Chart(alt.InlineData(values=rows))
    layers: list[alt.Chart] = [
        keywords.mark_rule(strokeWidth=2, strokeCap="round").encode(
            x=alt.X("low:Q"), x2="high:Q", y=y, color=colour, tooltip=tooltip
        ),
        keywords.mark_point(size=80, strokeWidth=2, opacity=1).encode(
            x=x,
            y=y,
            color=colour,
            fill=alt.condition("datum.chosen", colour, alt.value(LIGHT["paper"])),
            tooltip=tooltip,
        ),
    ]
    if whole:
        sum_of_all = alt.Chart(alt.InlineData(values=whole))
        layers += [
            sum_of_all.mark_rule(strokeWidth=3, strokeCap="round", color=LIGHT["ink"]).encode(
                x=alt.X("low:Q"), x2="high:Q", y=y, tooltip=tooltip
            ),
            sum_of_all.mark_point(shape="diamond", size=130, fill=LIGHT["ink"], stroke=LIGHT["ink"], opacity=1).encode(
                x=x, y=y, tooltip=tooltip
            ),
        ]
    if max_posts is not None:
        layers += _budget(max_posts)
    return finished(
        alt.layer(*layers),
        describe=f"Expected posts a window with 90 % intervals for {len(rows)} keywords"
        + (f", against a budget of {max_posts:,} posts" if max_posts else ""),
        height=24 * len(order),
    )


def _budget(max_posts: float) -> list[alt.Chart]:
    budget = alt.Chart(alt.InlineData(values=[{"posts": max_posts, "label": f"budget {max_posts:,}"}]))
    x = alt.X("posts:Q")
    return [
        budget.mark_rule(strokeDash=[4, 3], strokeWidth=1.5, color=LIGHT["ink"]).encode(x=x),
        budget.mark_text(align="right", baseline="bottom", dx=-6, dy=-2).encode(
            x=x, y=alt.value("height"), text="label:N"
        ),
    ]


def _row(keyword: str, estimate: Estimate, action: str, chosen: bool) -> dict[str, str | float | bool]:
    return {
        "keyword": keyword,
        "mean": estimate.mean,
        "low": estimate.low,
        "high": estimate.high,
        "action": action,
        "chosen": chosen,
    }


def _finite(estimate: Estimate) -> bool:
    return all(isfinite(value) for value in (estimate.mean, estimate.low, estimate.high))
