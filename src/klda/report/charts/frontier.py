"""What keeping today's topics costs in new ground: the best list at each setting of the dial."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import altair as alt

from klda.policies.proposal import FrontierPoint
from klda.report.charts.theme import LIGHT, Spec, finished


def frontier(points: Sequence[FrontierPoint], chosen: Collection[str] = ()) -> Spec:
    """Retention against new ground, one point a setting; the point with the chosen keywords is filled."""
    rows = [
        {
            "novelty": point.novelty,
            "dial": f"{point.novelty:.2g}" + (" (proposed)" if set(point.keywords) == set(chosen) else ""),
            "retention": point.retention,
            "new_ground": point.new_ground,
            "posts": point.expected_posts,
            "keywords": ", ".join(point.keywords),
            "chosen": set(point.keywords) == set(chosen),
        }
        for point in sorted(points, key=lambda point: point.novelty)
    ]
    share = alt.Axis(format="~%", tickCount=6)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("retention:Q", title="today's topics retained", axis=share, scale=alt.Scale(zero=False, padding=24)),
        y=alt.Y("new_ground:Q", title="new ground", axis=share, scale=alt.Scale(zero=False, padding=20)),
        tooltip=[
            alt.Tooltip("novelty:Q", title="novelty", format=".2f"),
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
    dial = base.mark_text(align="right", dx=-9, dy=12).encode(text="dial:N")
    return finished(
        alt.layer(line, dots, dial),
        describe=f"Retention against new ground of the best list at {len(rows)} settings of the dial",
        height=300,
    )
