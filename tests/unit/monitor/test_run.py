"""Who runs a monitor is told that a proposal waits for them, what happens meanwhile, and what to type."""

from __future__ import annotations

import asyncio

from klda.advice.proposal import Proposal
from klda.monitor.collect import collect
from klda.monitor.monitor import Monitor
from klda.monitor.run import run, tell_waiting, turn
from klda.types import KeywordSet
from tests.unit.monitor.conftest import MONDAY, WEEK, Make, weeks


def waiting(monitor: Monitor, *flags: str) -> str:
    current = monitor.records.keywords.active()
    made = Proposal("static", current, keep=current, add=KeywordSet.of("ward"), window="2026-01-12T00:00:00+00:00")
    return monitor.records.proposals.save(made, flags=flags)


def test_a_turn_ends_with_what_to_type(make: Make) -> None:
    with make(weeks(3), policy="counting", budget={"max_keywords": 4}) as monitor:
        asyncio.run(collect(monitor, asyncio.Event()))
        told: list[str] = []
        turn(monitor, MONDAY + 3 * WEEK, tell=told.append)
        saved = monitor.records.proposals.waiting()
        assert saved is not None
        assert told[-3:] == [
            f"Proposal {saved.id} is flagged and waits for your approval. The replay waits until then.",
            "  to see it:     klda monitor show health",
            f"  to approve it: klda monitor approve health {saved.id}",
        ]


def test_a_run_that_begins_with_a_waiting_proposal_says_so_first(make: Make) -> None:
    with make(weeks(1)) as monitor:
        name = waiting(monitor)
        told: list[str] = []
        stop = asyncio.Event()
        stop.set()
        asyncio.run(run(monitor, stop, tell=told.append))
        assert told[0].startswith(f"Proposal {name} waits for your approval.")


def test_a_flagged_proposal_of_an_automatic_monitor_waits_while_it_goes_on(make: Make) -> None:
    with make(approval="auto") as monitor:
        told: list[str] = []
        tell_waiting(monitor, told.append)
        assert told == []
        name = waiting(monitor, "the list has drifted")
        tell_waiting(monitor, told.append)
        flagged = f"Proposal {name} is flagged and waits for your approval."
        assert told[0] == f"{flagged} Collecting continues with the current keywords."
