"""The history of every keyword: when it was active, why it came and went, who decided, what it brought."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from klda.errors import DataError
from klda.monitor.monitor import Monitor
from klda.monitor.replay_clock import horizon
from klda.store import KeywordSpan, Outcome
from klda.types import Estimate


@dataclass(frozen=True)
class ActiveWindow:
    """A window in which a keyword was active, wholly or in part."""

    start: datetime
    expected: Estimate | None
    """None where nothing was expected of it: it was on the first list, or no proposal was decided for the window."""
    realised: int | None
    """Posts that it brought so far; None where nothing can have come yet, and of an exclusion."""


@dataclass(frozen=True)
class KeywordStory:
    """The stretches of time in which a keyword was active, and what was expected of it against what it brought."""

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
        """Plain data; times in ISO 8601."""
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
    """The story of every keyword that was ever active, or of one, in the order in which they came."""
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
    """The starts of the windows that a span touches, up to a time."""
    end = until if span.ended is None else min(span.ended, until)
    window = monitor.windowing.holding(span.started)
    while window.start < end:
        yield window.start
        window = monitor.windowing.holding(window.end)
