"""The report on a backtest: one HTML file of tables with intervals and curves from week to week."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from klda.report.closed_loop import closed_view
from klda.report.open_loop import open_view
from klda.report.page import page, write_page


def render_backtest(summary: Mapping[str, Any], *, title: str) -> str:
    """The page of a backtest in open or closed loop, from what `klda.evaluation.summary` makes of its cases.

    Names of subjects, keywords and errors are text, whatever they look like.
    """
    if "ceiling" in summary:
        opened = open_view(summary)
        return page("open_loop.html", opened.pictures, title=title, view=opened)
    closed = closed_view(summary)
    return page("closed_loop.html", closed.pictures, title=title, view=closed)


def write_backtest(summary: Mapping[str, Any], path: Path | str, *, title: str) -> None:
    """Writes the page; the file is either the old one or the whole new one, never a part."""
    write_page(render_backtest(summary, title=title), path)
