"""Pictures of the proposed list: expected posts, topics, words, and lists for other settings of the dial."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import isfinite
from typing import Any

import altair as alt

from klda.advice.explanation import FrontierPoint, Reason
from klda.advice.topics import TopicShare
from klda.report.charts.theme import ACTIONS, LIGHT, MOST_ROWS, Spec, action_colour, finished
from klda.report.content import WordChange
from klda.types import Estimate

WHOLE_LIST = "the whole list"


def expected_posts(reasons: Sequence[Reason], total: Estimate | None = None, max_posts: float | None = None) -> Spec:
    """A dot with interval for each keyword and the whole list, filled for the next list; a rule at the budget."""
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


ROW = 78
"""The height of a topic: a line of words, two bars, a line of new words."""


def topic_bars(found: Sequence[TopicShare]) -> Spec:
    """Two bars for each topic, today's share above; its words over the bars, its new words below."""
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


GAINED, LOST = "gained", "lost"


def word_shifts(changes: Sequence[WordChange]) -> Spec:
    """A line for each word, from its share of posts today (tick) to its share with the new list (dot)."""
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


_WIDE, _HIGH = 0.25, 0.07  # the size of a label, as a share of the picture


def frontier(points: Sequence[FrontierPoint], chosen: Collection[str] = ()) -> Spec:
    """Retention against new ground, one point for each list; the point of the chosen keywords is filled.

    If labels would overlap, one is shown. The tooltip of a point has its label in any case.
    """
    lists: dict[frozenset[str], list[FrontierPoint]] = {}
    for point in sorted(points, key=lambda point: point.novelty):
        lists.setdefault(frozenset(point.keywords), []).append(point)
    rows = [
        {
            "novelty": same[0].novelty,
            "dial": _dial(same),
            "retention": same[0].retention,
            "new_ground": same[0].new_ground,
            "posts": same[0].expected_posts,
            "keywords": ", ".join(same[0].keywords),
            "chosen": keywords == set(chosen),
        }
        for keywords, same in lists.items()
    ]
    _label(rows)
    share = alt.Axis(format="~%", tickCount=6)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("retention:Q", title="today's topics retained", axis=share, scale=alt.Scale(zero=False, padding=24)),
        y=alt.Y("new_ground:Q", title="new ground", axis=share, scale=alt.Scale(zero=False, padding=20)),
        tooltip=[
            alt.Tooltip("dial:N", title="novelty"),
            alt.Tooltip("retention:Q", format=".0%"),
            alt.Tooltip("new_ground:Q", title="new ground", format=".0%"),
            alt.Tooltip("posts:Q", title="expected posts", format=",.0f"),
            alt.Tooltip("keywords:N"),
        ],
    )
    line = base.mark_line(color=LIGHT["past"], strokeWidth=2).encode(order="novelty:Q", tooltip=alt.Undefined)
    dots = base.mark_point(size=110, strokeWidth=2, stroke=LIGHT["keep"], opacity=1).encode(
        fill=alt.condition("datum.chosen", alt.value(LIGHT["keep"]), alt.value(LIGHT["paper"]))
    )
    right, left = (base.transform_filter(f"{'' if side else '!'}datum.right") for side in (True, False))
    labels = (
        right.mark_text(align="right", dx=-10, dy=13).encode(text="label:N", tooltip=alt.Undefined),
        left.mark_text(align="left", dx=10, dy=13).encode(text="label:N", tooltip=alt.Undefined),
    )
    return finished(
        alt.layer(line, dots, *labels),
        describe=f"Retention against new ground of {len(rows)} lists, each the best at some settings of the dial",
        height=300,
    )


def _dial(same: Sequence[FrontierPoint]) -> str:
    """The range of dial settings at which a list is the best."""
    first, last = f"{same[0].novelty:.2g}", f"{same[-1].novelty:.2g}"
    return first if first == last else f"{first} to {last}"


def _label(rows: Sequence[dict[str, Any]]) -> None:
    """Adds a label to each row, to show beside its point towards the middle; empty if another label is there."""
    spots: list[tuple[float, float]] = []
    xs, ys = _scaled([row["retention"] for row in rows]), _scaled([row["new_ground"] for row in rows])
    for row, x, y in sorted(zip(rows, xs, ys, strict=True), key=lambda one: not one[0]["chosen"]):
        free = all(abs(x - other) > _WIDE or abs(y - beside) > _HIGH for other, beside in spots)
        posts = f"{row['dial']}: {row['posts']:,.0f} posts"
        row["right"] = x > 0.5
        row["label"] = ("proposed, " if row["chosen"] else "") + posts if free else ""
        spots += [(x, y)] if free else []


def _scaled(values: Sequence[float]) -> list[float]:
    """The values scaled to between 0 and 1."""
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high > low else 0.0 for value in values]
