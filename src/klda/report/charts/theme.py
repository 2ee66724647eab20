"""The style of all pictures: one palette, one typography, and how dates are written.

Charts use the light palette, so they can also be used alone. `themed` replaces its colours by CSS variables, so that a
page can show them light or dark. People with colour-vision deficiencies can distinguish the hues (after Okabe and Ito).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import altair as alt

Spec = dict[str, Any]
"""A Vega-Lite specification as plain data."""

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1c2733",
    "soft": "#566270",
    "line": "#dde2e8",
    "keep": "#0068a8",
    "add": "#00785a",
    "drop": "#b94a00",
    "hold": "#6f6a86",
    "past": "#9aa4b0",
    "page": "#f4f6f8",
    "shade": "#eef1f5",
    "add-tint": "#e3f3ed",
    "drop-tint": "#fbebe1",
    "mark": "#fff0b8",
}
"""From `page` on, the colours of backgrounds."""
DARK = {
    "paper": "#161b22",
    "ink": "#e8ecf1",
    "soft": "#a5b0bd",
    "line": "#323b46",
    "keep": "#62b6ee",
    "add": "#43c99d",
    "drop": "#f29058",
    "hold": "#b3acd2",
    "past": "#77828f",
    "page": "#0e1217",
    "shade": "#202832",
    "add-tint": "#12332a",
    "drop-tint": "#3b2415",
    "mark": "#5c4a10",
}

ACTIONS = {"keep": "keep", "add": "add", "drop": "drop", "hold": "hold back"}
"""Each action and its name in legends."""
EARLIER = "used earlier"
"""The name in legends of a past keyword without an action now."""

CATEGORIES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
"""Colours without a fixed meaning; readable on light and on dark backgrounds."""

FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'

LEGEND_COLUMNS = "max(1, floor(((containerSize()[0] || 680) - 80) / 120))"
"""As many columns as fit into the container; the width of the plot is not yet known when Vega lays out legends."""

MOST_ROWS = 40
"""A picture shows at most this many rows, the largest."""


def finished(chart: alt.Chart | alt.LayerChart | alt.FacetChart, *, describe: str, height: int) -> Spec:
    """The specification of a chart with the width of its container, and with a description for screen readers."""
    spec = (
        chart.properties(
            width="container",
            height=height,
            description=describe,
            background="transparent",
            autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
            padding={"left": 0, "right": 4, "top": 4, "bottom": 4},
        )
        .configure_view(stroke=None)
        .configure_mark(aria=False)
        .configure_axis(
            labelColor=LIGHT["soft"],
            titleColor=LIGHT["soft"],
            gridColor=LIGHT["line"],
            domain=False,
            ticks=False,
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            labelFont=FONT,
            titleFont=FONT,
            labelPadding=8,
            titlePadding=10,
            labelLimit=150,
            aria=False,
        )
        .configure_legend(
            orient="top",
            title=None,
            labelColor=LIGHT["ink"],
            labelFont=FONT,
            labelFontSize=12,
            symbolStrokeWidth=1.5,
            offset=12,
            columnPadding=16,
            columns=alt.ExprRef(LEGEND_COLUMNS),
            labelLimit=95,
            aria=False,
        )
        .configure_text(font=FONT, fontSize=12, fill=LIGHT["ink"])
        .to_dict()
    )
    return dict(spec)


def action_colour(rows: Iterable[Mapping[str, Any]]) -> alt.Color:
    """The colour of actions, the same in all pictures; the legend shows the actions in these rows."""
    present = {row["action"] for row in rows}
    colours = {name: LIGHT[action] for action, name in ACTIONS.items()} | {EARLIER: LIGHT["past"]}
    domain = [name for name in colours if name in present]
    return alt.Color(
        "action:N",
        scale=alt.Scale(domain=domain, range=[colours[name] for name in domain]),
        legend=alt.Legend(symbolType="circle"),
    )


def themed(spec: Spec) -> Spec:
    """The same picture with CSS variables in place of the palette; data do not change.

    >>> themed({"mark": {"fill": "#0068a8"}, "datasets": {"rows": ["#0068a8"]}})
    {'mark': {'fill': 'var(--keep)'}, 'datasets': {'rows': ['#0068a8']}}
    """
    variables = {colour: f"var(--{name})" for name, colour in LIGHT.items()}

    def walk(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: value if key in ("data", "datasets", "domain") else walk(value) for key, value in node.items()}
        if isinstance(node, list):
            return [walk(value) for value in node]
        return variables.get(node, node) if isinstance(node, str) else node

    return {key: value if key in ("data", "datasets") else walk(value) for key, value in spec.items()}


def window_labels(starts: Iterable[datetime]) -> dict[datetime, str]:
    """A short label for each window start, in order; with the hour or the year where the day is ambiguous.

    >>> list(window_labels([datetime(2020, 1, 27), datetime(2020, 1, 20)]).values())
    ['20 Jan', '27 Jan']
    >>> list(window_labels([datetime(2020, 12, 28), datetime(2021, 1, 4)]).values())
    ['28 Dec 2020', '4 Jan 2021']
    """
    times = sorted(set(starts))
    several_years = len({time.year for time in times}) > 1
    within_days = len({time.date() for time in times}) < len(times)
    pattern = "{0.day} {0:%b}" + (" {0.year}" if several_years else "") + (" {0:%H:%M}" if within_days else "")
    return {time: pattern.format(time) for time in times}


def full_date(start: datetime | str) -> str:
    """A window start in full, with the hour unless it is midnight; a text that is not an ISO 8601 time does not change.

    >>> full_date("2020-04-06T00:00:00+00:00"), full_date("2020-04-06T18:30:00+00:00"), full_date("next week")
    ('6 April 2020', '6 April 2020, 18:30', 'next week')
    """
    try:
        time = datetime.fromisoformat(start) if isinstance(start, str) else start
    except ValueError:
        return str(start)
    date = f"{time.day} {time:%B} {time.year}"
    return date if (time.hour, time.minute) == (0, 0) else f"{date}, {time:%H:%M}"
