"""Which list a source follows: the active one, unless the source has refused it. The audit log remembers."""

from __future__ import annotations

from klda.monitor.monitor import Monitor
from klda.types import KeywordSet

TAKEN, REFUSED = "filter", "filter refused"
"""What the audit log calls it."""


def followed(monitor: Monitor) -> KeywordSet:
    """The list that the source took last, the first one if no other: what a new run can begin with in any case."""
    known = {span.keyword.text: span.keyword for span in monitor.records.keywords.spans()}
    taken = monitor.records.journal.entries(1, action=TAKEN)
    texts = taken[0].detail["keywords"] if taken else monitor.settings.first_keywords().texts
    found = KeywordSet(tuple(known[text] for text in texts if text in known))
    return found or monitor.records.keywords.active()


def refusal(monitor: Monitor) -> str | None:
    """Why the source does not follow the active list; None where it does, or has not been asked yet."""
    active, journal = list(monitor.records.keywords.active().texts), monitor.records.journal
    refused, taken = journal.entries(1, action=REFUSED), journal.entries(1, action=TAKEN)
    if not refused or refused[0].detail["keywords"] != active or (taken and taken[0].detail["keywords"] == active):
        return None
    return str(refused[0].detail["reason"])
