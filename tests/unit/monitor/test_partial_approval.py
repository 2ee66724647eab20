"""A flag on one keyword holds up that keyword; what nothing is said against is approved automatically."""

from __future__ import annotations

import pytest

from klda.advice.proposal import Proposal
from klda.monitor.decide import AUTOMATIC, approve_automatically
from klda.monitor.flags import _flag, flagged_keywords
from klda.monitor.monitor import Monitor
from klda.types import Keyword, KeywordSet
from tests.unit.monitor.conftest import Make


def poisoned(keyword: str) -> str:
    flag = _flag(Keyword(keyword), "from one author", 40, 50)
    assert flag is not None
    return flag


def proposal(
    monitor: Monitor, *flags: str, keep: tuple[str, ...] = ("hospital",), add: tuple[str, ...] = ("ward", "nurse")
) -> str:
    current = monitor.records.keywords.active()
    kept = KeywordSet.of(*keep)
    made = Proposal(
        "static", current, keep=kept, add=KeywordSet.of(*add), drop=current - kept, window="2026-01-12T00:00:00+00:00"
    )
    return monitor.records.proposals.save(made, flags=flags)


def test_a_flagged_addition_is_left_out_and_the_other_changes_are_made(make: Make) -> None:
    with make(approval="auto") as monitor:
        name = proposal(monitor, poisoned("ward"))
        decision = approve_automatically(monitor)
        assert decision is not None
        assert (decision.decided_by, decision.note) == (AUTOMATIC, "left for a person to decide: ward")
        assert monitor.records.keywords.active().texts == ("hospital", "nurse"), "doctor is dropped, nurse added"
        assert monitor.records.proposals.get(name).state == "edited"


def test_where_a_keyword_that_stays_is_flagged_others_are_dropped_and_none_is_added(make: Make) -> None:
    with make(approval="auto") as monitor:
        proposal(monitor, poisoned("hospital"))
        decision = approve_automatically(monitor)
        assert decision is not None
        assert decision.note == "left for a person to decide: ward, nurse"
        assert monitor.records.keywords.active().texts == ("hospital",)


@pytest.mark.parametrize(
    "flag",
    ["the list has drifted from the subject: distance 0.80, limit 0.50", "ward: X takes no rule of that length"],
)
def test_a_flag_on_the_whole_list_holds_up_all_of_it(make: Make, flag: str) -> None:
    with make(approval="auto") as monitor:
        proposal(monitor, poisoned("ward"), flag)
        assert approve_automatically(monitor) is None
        assert monitor.records.keywords.active().texts == ("hospital", "doctor")


@pytest.mark.parametrize(
    ("keep", "add"),
    [(("hospital", "doctor"), ("ward",)), ((), ("ward",))],
    ids=["nothing else", "an empty list"],
)
def test_where_nothing_is_left_to_do_the_proposal_waits(
    make: Make, keep: tuple[str, ...], add: tuple[str, ...]
) -> None:
    with make(approval="auto") as monitor:
        name = proposal(monitor, poisoned("ward"), keep=keep, add=add)
        assert approve_automatically(monitor) is None
        assert monitor.records.proposals.get(name).state == "waiting"


def test_without_automatic_approval_nothing_is_decided(monitor: Monitor) -> None:
    proposal(monitor, poisoned("ward"))
    assert approve_automatically(monitor) is None


def test_the_keyword_of_a_flag_may_have_any_letters() -> None:
    assert flagged_keywords([poisoned("note: 5% of its posts"), poisoned("two words")]) == {
        "note: 5% of its posts",
        "two words",
    }
