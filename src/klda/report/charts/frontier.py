"""What keeping today's topics costs in new ground and in posts: the lists that are best at settings of the dial."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import altair as alt

from klda.advice.explanation import FrontierPoint
from klda.report.charts.theme import LIGHT, Spec, finished

_WIDE, _HIGH = 0.25, 0.07  # of the picture, that a label takes


def frontier(points: Sequence[FrontierPoint], chosen: Collection[str] = ()) -> Spec:
    """Retention against new ground, one point a list; the one with the chosen keywords is filled.

    Where labels would lie upon each other, one is shown; the others are in what a point tells when it is pointed at.
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
    """The settings at which a list is the best, as a range."""
    first, last = f"{same[0].novelty:.2g}", f"{same[-1].novelty:.2g}"
    return first if first == last else f"{first} to {last}"


def _label(rows: Sequence[dict[str, Any]]) -> None:
    """Gives each row what is written beside its point, towards the middle; nothing where another is written there."""
    spots: list[tuple[float, float]] = []
    xs, ys = _scaled([row["retention"] for row in rows]), _scaled([row["new_ground"] for row in rows])
    for row, x, y in sorted(zip(rows, xs, ys, strict=True), key=lambda one: not one[0]["chosen"]):
        free = all(abs(x - other) > _WIDE or abs(y - beside) > _HIGH for other, beside in spots)
        posts = f"{row['dial']}: {row['posts']:,.0f} posts"
        row["right"] = x > 0.5
        row["label"] = ("proposed, " if row["chosen"] else "") + posts if free else ""
        spots += [(x, y)] if free else []


def _scaled(values: Sequence[float]) -> list[float]:
    """The values between 0 and 1."""
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high > low else 0.0 for value in values]
