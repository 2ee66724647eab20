"""The keywords of a monitor as rules of its platform, and the list that its source uses now."""

from __future__ import annotations

from klda.errors import SettingError
from klda.monitor.monitor import Monitor
from klda.monitor.monitor_settings import MonitorSettings
from klda.streams.platform_rules import PLATFORMS, Platform, Rules, hashtags, platform_rules
from klda.types import KeywordSet

_PLATFORM: dict[str, Platform] = {"jetstream": "bluesky", "mastodon": "mastodon", "x": "x-v2"}
TAKEN, REFUSED = "filter", "filter refused"
"""Names of the actions in the audit log."""


def rules(monitor: Monitor, platform: Platform | None = None, proposal: str | None = None) -> Rules:
    """The active list as rules. With a proposal: the change from the active list to the proposed one."""
    chosen = platform or _PLATFORM.get(monitor.settings.source["kind"])
    if chosen is None:
        raise SettingError(f"monitor {monitor.name} has no platform of its own; choose one of {', '.join(PLATFORMS)}")
    active, adjacent = monitor.records.keywords.active(), monitor.settings.adjacent
    if proposal is None:
        return platform_rules(active, chosen, adjacent=adjacent, owner=monitor.name)
    wanted = monitor.records.proposals.get(proposal).proposal.next_keywords
    return platform_rules(wanted, chosen, current=active, adjacent=adjacent, owner=monitor.name)


def check_rules(settings: MonitorSettings, keywords: KeywordSet) -> None:
    """Refuses a list that the platform could not take. A source that delivers everything takes any list."""
    source = settings.source_table()
    if source["kind"] == "x":
        platform_rules(keywords, "x-v2", adjacent=source["adjacent"])
    elif source["kind"] == "mastodon" and source.get("timeline") == "hashtag":
        hashtags(keywords)


def followed(monitor: Monitor) -> KeywordSet:
    """The last list that the source accepted, or the first list. A new run can always start with it."""
    known = {span.keyword.text: span.keyword for span in monitor.records.keywords.spans()}
    taken = monitor.records.journal.entries(1, action=TAKEN)
    texts = taken[0].detail["keywords"] if taken else monitor.settings.first_keywords().texts
    found = KeywordSet(tuple(known[text] for text in texts if text in known))
    return found or monitor.records.keywords.active()


def refusal(monitor: Monitor) -> str | None:
    """Why the source does not use the active list. None if it does, or was not asked yet."""
    active, journal = list(monitor.records.keywords.active().texts), monitor.records.journal
    refused, taken = journal.entries(1, action=REFUSED), journal.entries(1, action=TAKEN)
    if not refused or refused[0].detail["keywords"] != active or (taken and taken[0].detail["keywords"] == active):
        return None
    return str(refused[0].detail["reason"])
