"""Decides about a proposal, and activates the keywords."""

from __future__ import annotations

from datetime import datetime

from klda.errors import DataError
from klda.monitor.calendar import collected_until
from klda.monitor.monitor import Monitor
from klda.monitor.rules import check_rules
from klda.store import Decision, SavedProposal
from klda.text.matching import Matcher
from klda.types import KeywordSet

AUTOMATIC = "automatic approval"
"""Name in the records for a decision that no person made."""


def approve(monitor: Monitor, proposal: str | None = None, *, decided_by: str, note: str = "") -> Decision:
    """The decision to use a proposed list: of the named proposal, or of the waiting one."""
    saved = chosen(monitor, proposal)
    if not saved.proposal.next_keywords.included:
        raise DataError(f"proposal {saved.id} is an empty list and would collect nothing; edit it, or reject it")
    check_rules(monitor.settings, saved.proposal.next_keywords)
    monitor.records.proposals.decide(saved.id, "approve", decided_by=decided_by, note=note)
    return activate(monitor, saved.id)


def edit(
    monitor: Monitor, keywords: KeywordSet, proposal: str | None = None, *, decided_by: str, note: str = ""
) -> Decision:
    """The decision to use another list instead of the proposed one."""
    if not keywords.included:
        raise DataError("an empty list would collect nothing; give at least one keyword")
    Matcher(keywords, adjacent=monitor.settings.adjacent)  # refuses a keyword that can match nothing
    saved = chosen(monitor, proposal)
    known = saved.proposal.next_keywords | saved.proposal.current | saved.proposal.ranked
    wanted = KeywordSet(tuple(known[known.index(k)] if k in known else k for k in keywords))
    check_rules(monitor.settings, wanted)
    monitor.records.proposals.decide(saved.id, "edit", decided_by=decided_by, note=note, keywords=wanted)
    return activate(monitor, saved.id)


def reject(monitor: Monitor, proposal: str | None = None, *, decided_by: str, note: str = "") -> Decision:
    """The decision to keep the current list."""
    saved = chosen(monitor, proposal)
    decision = monitor.records.proposals.decide(saved.id, "reject", decided_by=decided_by, note=note)
    _expect(monitor, saved, decision.keywords)
    return decision


def approve_automatically(monitor: Monitor) -> Decision | None:
    """The automatic decision on the waiting proposal: all changes that have no flag.

    None if the settings do not allow it.
    """
    waiting = monitor.records.proposals.waiting()
    if waiting is None or monitor.settings.approval != "auto":
        return None
    if not waiting.flags:
        return approve(monitor, waiting.id, decided_by=AUTOMATIC)
    wanted = unflagged(waiting)
    if wanted is None or set(wanted) == set(waiting.proposal.current):
        return None
    left_out = waiting.proposal.add - wanted
    note = f"left for a person to decide: {', '.join(left_out.texts)}" if left_out else "a keyword is flagged"
    return edit(monitor, wanted, waiting.id, decided_by=AUTOMATIC, note=note)


def unflagged(saved: SavedProposal) -> KeywordSet | None:
    """The proposed list without flagged changes. None if a flag is about the whole list.

    A flagged keyword is not added. If a kept keyword is flagged, nothing is added: its posts may have suggested the
    others. Drops are made in any case.
    """
    from klda.monitor.flags import flagged_keywords  # imports scipy

    flagged = flagged_keywords(saved.flags)
    if flagged is None:
        return None
    proposal = saved.proposal
    if any(keyword.text in flagged for keyword in proposal.keep):
        return proposal.keep or None
    return KeywordSet(tuple(k for k in proposal.next_keywords if k.text not in flagged)) or None


def activate(monitor: Monitor, proposal: str) -> Decision:
    """The decision of a proposal, after its keywords were made active. A second call changes nothing.

    A running collector takes the keywords over within seconds. In a replay, they are active from the proposal's window
    on, or from the time that the replay has reached since. Earlier posts belong to the list before.
    """
    saved = monitor.records.proposals.get(proposal)
    decision = saved.decision
    if decision is None or decision.verdict == "reject":
        raise DataError(f"proposal {proposal} was not approved; there is nothing to activate")
    at = _from(monitor, saved)
    reasons = {reason.keyword.text: reason.text for reason in saved.proposal.reasons}
    if decision.verdict == "edit":
        changed = {k.text for k in decision.keywords} ^ {k.text for k in saved.proposal.next_keywords}
        reasons |= dict.fromkeys(changed, decision.note or "edited by hand")
    monitor.records.keywords.switch(
        decision.keywords, decided_by=decision.decided_by, reasons=reasons, proposal=saved.id, at=at
    )
    _expect(monitor, saved, decision.keywords, at)
    return decision


def activate_pending(monitor: Monitor) -> Decision | None:
    """The decision that a crash left without activation, after activating it. None if there is none."""
    decided = [p for p in monitor.records.proposals.newest(10) if p.decision is not None]
    if not decided or decided[0].state == "rejected":
        return None
    newest = decided[0]
    assert newest.decision is not None
    if set(newest.decision.keywords) == set(monitor.records.keywords.active()):  # the order does not matter
        return None
    return activate(monitor, newest.id)


def _from(monitor: Monitor, saved: SavedProposal) -> datetime:
    """The time from which the keywords of a proposal are active, if somebody decides now."""
    if not monitor.settings.by_event_time:
        return monitor.clock()
    return max(_next_window(saved), collected_until(monitor) or _next_window(saved))


def _expect(monitor: Monitor, saved: SavedProposal, keywords: KeywordSet, at: datetime | None = None) -> None:
    """Records the expected posts of each keyword, for the proposal's window or for the later one in which they start.

    at: the time from which the keywords are active. None if they already are.
    """
    found = ((k.text, saved.proposal.reason(k)) for k in keywords)
    posts = {text: reason.expected_posts for text, reason in found if reason and reason.expected_posts}
    if posts and saved.proposal.window is not None:
        start = _next_window(saved)
        begun = start if at is None else monitor.windowing.holding(at).start
        monitor.records.keywords.expect(max(start, begun), posts)


def _next_window(saved: SavedProposal) -> datetime:
    assert saved.proposal.window is not None, "proposals of a monitor say which window they are for"
    return datetime.fromisoformat(saved.proposal.window)


def chosen(monitor: Monitor, proposal: str | None) -> SavedProposal:
    """The named proposal, or the waiting one."""
    if proposal is not None:
        return monitor.records.proposals.get(proposal)
    waiting = monitor.records.proposals.waiting()
    if waiting is None:
        raise DataError(f"monitor {monitor.name}: no proposal waits for a decision")
    return waiting
