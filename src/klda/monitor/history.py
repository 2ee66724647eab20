"""The history of each keyword: when it was active, who added and dropped it, why, and how many posts it brought."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from klda.errors import DataError
from klda.monitor.calendar import horizon
from klda.monitor.monitor import Monitor
from klda.store import KeywordSpan, Outcome
from klda.types import Estimate


@dataclass(frozen=True)
class ActiveWindow:
    """A window in which a keyword was active, at least for a part."""

    start: datetime
    expected: Estimate | None
    """None if nothing was expected: the keyword was on the first list, or no proposal was made for the window."""
    realised: int | None
    """The posts that it brought so far, or None if the window has not begun. None for an exclusion too."""


@dataclass(frozen=True)
class KeywordStory:
    """The times in which a keyword was active, with expected and actual posts."""

    keyword: str
    forms: tuple[str, ...]
    spans: tuple[KeywordSpan, ...]
    outcomes: tuple[Outcome, ...]
    windows: tuple[ActiveWindow, ...] = ()
    """Every window in which it was active, in order."""

    @property
    def is_active(self) -> bool:
        """Whether it is active now."""
        return self.spans[-1].ended is None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with times in ISO 8601."""
        spans = [
            {
                "started": span.started.isoformat(),
                "ended": span.ended.isoformat() if span.ended else None,
                "reason": span.reason,
                "decided_by": span.decided_by,
                "proposal": span.proposal,
                "end_reason": span.end_reason,
                "ended_by": span.ended_by,
            }
            for span in self.spans
        ]
        outcomes = [
            {"window": o.window_start.isoformat(), "expected": asdict(o.expected), "realised": o.realised}
            for o in self.outcomes
        ]
        windows = [
            {
                "window": window.start.isoformat(),
                "expected": None if window.expected is None else asdict(window.expected),
                "realised": window.realised,
            }
            for window in self.windows
        ]
        return {
            "keyword": self.keyword,
            "forms": list(self.forms),
            "active": self.is_active,
            "spans": spans,
            "outcomes": outcomes,
            "windows": windows,
        }


def history(monitor: Monitor, keyword: str | None = None) -> list[KeywordStory]:
    """The history of one keyword, or of all that were ever active, in the order in which they were added."""
    spans: dict[str, list[KeywordSpan]] = {}
    for span in monitor.records.keywords.spans(keyword):
        spans.setdefault(span.keyword.text, []).append(span)
    if keyword is not None and not spans:
        raise DataError(f"monitor {monitor.name}: {keyword!r} has never been active; `klda monitor history` lists all")
    outcomes: dict[str, list[Outcome]] = {}
    begun = monitor.records.volume.newest("window", horizon(monitor))
    for outcome in monitor.records.keywords.outcomes():
        to_come = begun is None or outcome.window_start > begun
        told = replace(outcome, realised=None) if to_come else outcome
        outcomes.setdefault(outcome.keyword, []).append(told)
    points = monitor.records.volume.series("window", keywords=list(spans))
    brought = {(point.keyword, point.start): point.posts for point in points}
    until = horizon(monitor)

    def active(text: str, own: list[KeywordSpan]) -> tuple[ActiveWindow, ...]:
        expected = {outcome.window_start: outcome.expected for outcome in outcomes.get(text, ())}
        starts = sorted({start for span in own for start in _windows(monitor, span, until)} | set(expected))
        brings = not own[-1].keyword.excludes
        return tuple(
            ActiveWindow(
                start,
                expected.get(start),
                brought.get((text, start), 0) if brings and begun is not None and start <= begun else None,
            )
            for start in starts
        )

    return [
        KeywordStory(text, own[-1].keyword.forms, tuple(own), tuple(outcomes.get(text, ())), active(text, own))
        for text, own in spans.items()
    ]


def _windows(monitor: Monitor, span: KeywordSpan, until: datetime) -> Iterator[datetime]:
    """Yields the start of each window in a span, up to a time."""
    end = until if span.ended is None else min(span.ended, until)
    window = monitor.windowing.holding(span.started)
    while window.start < end:
        yield window.start
        window = monitor.windowing.holding(window.end)
