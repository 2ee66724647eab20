"""Deciding about proposals: automatically or not, once, and never for an empty list."""

from __future__ import annotations

from pathlib import Path

import pytest

from klda.advice.proposal import Proposal
from klda.errors import DataError, SettingError
from klda.monitor.create import create
from klda.monitor.decide import AUTOMATIC, activate, activate_pending, approve, approve_automatically, edit, reject
from klda.monitor.monitor import Monitor
from klda.monitor.monitor_settings import MonitorSettings
from klda.monitor.rules import rules
from klda.types import KeywordSet
from tests.unit.monitor.conftest import Make


def waiting(monitor: Monitor, flags: tuple[str, ...] = ()) -> str:
    current = monitor.records.keywords.active()
    made = Proposal("static", current, keep=current, add=KeywordSet.of("ward"), window="2026-01-12T00:00:00+00:00")
    return monitor.records.proposals.save(made, flags=flags)


def test_automatic_approval_is_for_those_who_asked_for_it(monitor: Monitor) -> None:
    waiting(monitor)
    assert approve_automatically(monitor) is None


def test_a_flagged_proposal_is_never_approved_automatically(make: Make) -> None:
    with make(approval="auto") as monitor:
        flagged = waiting(monitor, ("ward: 80% of its posts come from one author",))
        assert approve_automatically(monitor) is None
        assert "ward" not in monitor.records.keywords.active()
        approve(monitor, flagged, decided_by="ann")
        assert "ward" in monitor.records.keywords.active()


def test_a_proposal_without_flags_is_approved_automatically(make: Make) -> None:
    with make(approval="auto") as monitor:
        waiting(monitor)
        decision = approve_automatically(monitor)
        assert decision is not None
        assert decision.decided_by == AUTOMATIC
        assert monitor.records.keywords.active().texts == ("hospital", "doctor", "ward")
        assert approve_automatically(monitor) is None


def test_a_decision_whose_activation_was_interrupted_is_finished(monitor: Monitor) -> None:
    assert activate_pending(monitor) is None
    name = waiting(monitor)
    monitor.records.proposals.decide(name, "approve", decided_by="ann")
    assert activate_pending(monitor) is not None
    assert "ward" in monitor.records.keywords.active()
    spans = monitor.records.keywords.spans()
    activate(monitor, name)
    assert activate_pending(monitor) is None
    assert monitor.records.keywords.spans() == spans


def test_what_was_not_approved_is_not_activated(monitor: Monitor) -> None:
    with pytest.raises(DataError, match="was not approved"):
        activate(monitor, waiting(monitor))


def test_an_empty_list_is_neither_approved_nor_typed(monitor: Monitor) -> None:
    current = monitor.records.keywords.active()
    empty = monitor.records.proposals.save(Proposal("static", current, drop=current))
    with pytest.raises(DataError, match=f"proposal {empty} is an empty list and would collect nothing; edit it"):
        approve(monitor, decided_by="ann")
    with pytest.raises(DataError, match="an empty list would collect nothing"):
        edit(monitor, KeywordSet(), decided_by="ann")
    assert monitor.records.proposals.get(empty).state == "waiting"
    assert monitor.records.keywords.active() == current
    reject(monitor, decided_by="ann")
    assert monitor.records.keywords.active() == current


@pytest.mark.parametrize(
    ("source", "refused", "why"),
    [
        ({"kind": "x"}, "back\\slash", "X v2 reads"),
        ({"kind": "mastodon", "timeline": "hashtag"}, "two words", "none of the keywords can be a hashtag"),
    ],
)
def test_a_list_that_the_platform_cannot_take_is_refused_before_it_is_stored(
    make: Make, tmp_path: Path, source: dict[str, str], refused: str, why: str
) -> None:
    with make(source=source) as monitor:
        current = monitor.records.keywords.active()
        wanted = KeywordSet.of(refused)
        name = monitor.records.proposals.save(Proposal("static", current, add=wanted, drop=current))
        with pytest.raises(SettingError, match=why):
            approve(monitor, decided_by="ann")
        with pytest.raises(SettingError, match=why):
            edit(monitor, wanted, decided_by="ann")
        assert monitor.records.proposals.get(name).state == "waiting"
        assert monitor.records.keywords.active() == current
        edit(monitor, KeywordSet.of("ward"), decided_by="ann")
        assert monitor.records.keywords.active().texts == ("ward",)
    values = {"subject": "discs", "keywords": [refused], "source": source}
    with pytest.raises(SettingError, match=why):
        create(tmp_path / "home", "discs", MonitorSettings.of(values), created_by="ann")
    assert not (tmp_path / "home" / "discs").exists()


def test_where_the_filter_is_ours_any_list_goes(make: Make) -> None:
    with make(source={"kind": "mastodon", "timeline": "public"}) as monitor:
        waiting(monitor)
        edit(monitor, KeywordSet.of("two words", "back\\slash"), decided_by="ann")
        assert monitor.records.keywords.active().texts == ("two words", "back\\slash")


def test_rules_of_x_name_their_monitor(make: Make) -> None:
    with make(source="x") as monitor:
        [request] = rules(monitor).requests
        assert request["add"][0]["tag"] == "klda health: hospital and 1 more"
        assert vars(monitor.source())["_owner"] == "health"


def test_a_list_in_another_order_is_not_made_active_again(make: Make) -> None:
    with make() as monitor:
        edit(monitor, KeywordSet.of("ward", "hospital"), waiting(monitor), decided_by="ann")
        assert activate_pending(monitor) is None
