"""Pictures of a backtest: a measure of each policy over windows, and the skill of policies with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal

import altair as alt

from klda.report.charts.theme import CATEGORIES, LIGHT, Spec, finished, window_labels

CEILING = "ceiling"
DEFAULT = "klda"
FEW_WINDOWS = 8
"""With more windows, large dots would hide the lines."""


@dataclass(frozen=True)
class Point:
    """A measure of a policy in one window."""

    window: str
    policy: str
    value: float


def curves(
    points: Sequence[Point],
    coloured: Sequence[str],
    *,
    measure: str,
    number: str = ".2f",
    height: int = 260,
    dashed: str | None = None,
) -> Spec:
    """Lines over windows. The policies in `coloured` have their own colours, in this order; others are grey.

    `dashed` is the name of the reference line.
    """
    label = short_labels(point.window for point in points)
    shade = dict(zip(coloured, CATEGORIES, strict=False))
    names = list(dict.fromkeys(point.policy for point in points))
    order = sorted(names, key=lambda name: (name in shade, name == dashed))  # grey lines below coloured lines
    rows = [
        {"label": label[point.window], "window": point.window, "policy": point.policy, "value": point.value}
        for point in points
    ]
    colours = [LIGHT["ink"] if name == dashed else shade.get(name, LIGHT["past"]) for name in order]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "label:O",
            title=None,
            scale=alt.Scale(domain=list(label.values())),
            axis=alt.Axis(grid=False, labelAngle=0, labelOverlap=True, labelSeparation=8),
        ),
        y=alt.Y("value:Q", title=measure, axis=alt.Axis(tickCount=4, format=number)),
        color=alt.Color("policy:N", scale=alt.Scale(domain=order, range=colours), legend=None),
        strokeDash=alt.condition(alt.datum.policy == dashed, alt.value([4, 3]), alt.value([1, 0])),
        tooltip=[
            alt.Tooltip("policy:N"),
            alt.Tooltip("window:N"),
            alt.Tooltip("value:Q", title=measure, format=number),
        ],
    )
    lines = base.mark_line(strokeWidth=2, strokeJoin="round")
    dots = base.mark_point(filled=True, size=28 if len(label) <= FEW_WINDOWS else 10, opacity=1)
    return finished(
        alt.layer(lines, dots),
        describe=f"{measure} of {len(names)} policies in {len(label)} windows",
        height=height,
    )


def with_colour(order: Sequence[str], *, reference: str) -> tuple[str, ...]:
    """The policies with their own colours: `klda` and the best others, without the reference.

    >>> with_colour(["a", "random", "b", "klda"], reference="random")
    ('klda', 'a', 'b')
    """
    others = [name for name in order if name not in (reference, DEFAULT)]
    return (*(name for name in order if name == DEFAULT), *others)[: len(CATEGORIES)]


def short_labels(windows: Iterable[str]) -> Mapping[str, str]:
    """A short label for each window, in order of time; a text that is not a time is its own label.

    >>> dict(short_labels(["2020-01-27", "2020-01-20"]))
    {'2020-01-20': '20 Jan', '2020-01-27': '27 Jan'}
    """
    starts: dict[str, datetime] = {}
    texts = list(dict.fromkeys(windows))
    for text in texts:
        try:
            starts[text] = datetime.fromisoformat(text)
        except ValueError:
            return {text: text for text in texts}
    labels = window_labels(starts.values())
    return {text: labels[starts[text]] for text in sorted(texts, key=lambda text: starts[text])}


@dataclass(frozen=True)
class SkillRow:
    """The skill of a policy, measured against one version of the truth."""

    policy: str
    reading: str
    mean: float
    low: float
    high: float


def skill(rows: Sequence[SkillRow], order: Sequence[str], readings: Sequence[str]) -> Spec:
    """Dots with intervals for each policy and version of the truth; rules at chance (0) and at the ceiling (1)."""
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
    """A dashed rule and its name, at the side of the plot."""
    base = alt.Chart(alt.InlineData(values=[{"at": at, "label": label}])).encode(x="at:Q")
    rule = base.mark_rule(strokeDash=[4, 3], color=LIGHT["soft"])
    name = base.mark_text(
        align=inwards, baseline="top", dx=5 if inwards == "left" else -5, dy=2, fontSize=11, fill=LIGHT["soft"]
    ).encode(y=alt.value(0), text="label:N")
    return rule, name
