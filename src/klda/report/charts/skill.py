"""Skill with its intervals: a row for each policy, from chance to the ceiling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import altair as alt

from klda.report.charts.theme import CATEGORIES, LIGHT, Spec, finished


@dataclass(frozen=True)
class SkillRow:
    """The skill of a policy by one reading of the truth."""

    policy: str
    reading: str
    mean: float
    low: float
    high: float


def skill(rows: Sequence[SkillRow], order: Sequence[str], readings: Sequence[str]) -> Spec:
    """Dots with intervals for each policy, one for each reading; rules at chance (0) and at the ceiling (1)."""
    y = alt.Y(
        "policy:N",
        scale=alt.Scale(domain=list(order)),
        axis=alt.Axis(title=None, grid=False, labelColor=LIGHT["ink"], labelLimit=190),
    )
    offset = alt.YOffset("reading:N", scale=alt.Scale(domain=list(readings), paddingInner=0.5, paddingOuter=0.6))
    colour = alt.Color(
        "reading:N",
        scale=alt.Scale(domain=list(readings), range=[LIGHT["keep"], CATEGORIES[1]]),
        legend=alt.Legend(symbolType="circle"),
    )
    tooltip = [
        alt.Tooltip("policy:N"),
        alt.Tooltip("reading:N", title="truth"),
        alt.Tooltip("mean:Q", title="skill", format=".2f"),
        alt.Tooltip("low:Q", title="from", format=".2f"),
        alt.Tooltip("high:Q", title="to", format=".2f"),
    ]
    base = alt.Chart(alt.InlineData(values=[asdict(row) for row in rows])).encode(y=y, yOffset=offset, color=colour)
    x = alt.X("mean:Q", title="skill", scale=alt.Scale(zero=True, padding=8), axis=alt.Axis(tickCount=7))
    bars = base.mark_rule(strokeWidth=2, strokeCap="round").encode(x=alt.X("low:Q"), x2="high:Q", tooltip=tooltip)
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(x=x, tooltip=tooltip)
    chance, ceiling = _mark(0, "chance", inwards="left"), _mark(1, "ceiling", inwards="right")
    return finished(
        alt.layer(*chance, *ceiling, bars, dots),
        describe=f"Skill of {len(order)} policies with 95 % intervals, between chance and the ceiling",
        height=16 + 30 * len(order),
    )


def _mark(at: float, label: str, *, inwards: Literal["left", "right"]) -> tuple[alt.Chart, alt.Chart]:
    """A dashed rule with its name, on the side of the plot."""
    base = alt.Chart(alt.InlineData(values=[{"at": at, "label": label}])).encode(x="at:Q")
    rule = base.mark_rule(strokeDash=[4, 3], color=LIGHT["soft"])
    name = base.mark_text(
        align=inwards, baseline="top", dx=5 if inwards == "left" else -5, dy=2, fontSize=11, fill=LIGHT["soft"]
    ).encode(y=alt.value(0), text="label:N")
    return rule, name
