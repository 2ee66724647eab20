"""The history of every keyword: when it was active, why it came and went, who decided, what it brought."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from klda.errors import DataError
from klda.monitor.monitor import Monitor
from klda.monitor.reached import horizon
from klda.store import KeywordSpan, Outcome


@dataclass(frozen=True)
class KeywordStory:
    """The stretches of time in which a keyword was active, and what was expected of it against what it brought."""

    keyword: str
    forms: tuple[str, ...]
    spans: tuple[KeywordSpan, ...]
    outcomes: tuple[Outcome, ...]

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
        return {
            "keyword": self.keyword,
            "forms": list(self.forms),
            "active": self.is_active,
            "spans": spans,
            "outcomes": outcomes,
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
    return [
        KeywordStory(text, own[-1].keyword.forms, tuple(own), tuple(outcomes.get(text, ())))
        for text, own in spans.items()
    ]
