"""Closing, proposing and deciding, on a few posts and with policies that need no training."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from klda.advice.proposal import Proposal
from klda.errors import DataError, SettingError, Stopped, StoreError
from klda.monitor.calendar import close, closed
from klda.monitor.collect import collect
from klda.monitor.decide import (
    approve,
    edit,
    reject,
)
from klda.monitor.history import history
from klda.monitor.monitor import Monitor
from klda.monitor.overview import overview, overviews
from klda.monitor.propose import propose
from klda.monitor.rules import rules
from klda.monitor.run import turn
from klda.policies.recommend import recommend
from klda.posts.formats.outcome import Row
from klda.types import KeywordSet
from tests.unit.monitor.conftest import MONDAY, WEEK, WORDS, Make, row, weeks, write_posts


def test_a_proposal_needs_a_window_that_has_closed(make: Make) -> None:
    with make(policy="counting") as monitor, pytest.raises(DataError, match="no window has closed yet"):
        propose(monitor)


def test_a_proposal_is_made_from_all_windows_that_have_ended(collected: Monitor) -> None:
    close(collected, MONDAY + WEEK)
    assert propose(collected).proposal.window == "2026-01-26T00:00:00+00:00"
    assert len(closed(collected)) == 3


def approved_late(monitor: Monitor, *, stray: tuple[Row, ...] = ()) -> None:
    """Decides about the third week when that and two more have been collected with the list before."""
    file = Path(monitor.settings.source["address"])
    write_posts(file, [*stray, *weeks(2)])
    asyncio.run(collect(monitor, asyncio.Event()))
    late = propose(monitor)
    assert late.proposal.window == (MONDAY + 2 * WEEK).isoformat()
    write_posts(file, [*stray, *weeks(5)])
    asyncio.run(collect(monitor, asyncio.Event()))
    before = {size.window: monitor.active_in(size.window) for size in monitor.posts().windows()[:5]}
    edit(monitor, KeywordSet.of("hospital", "redlung"), late.id, decided_by="ann")
    assert {window: monitor.active_in(window) for window in before} == before


def test_approving_late_does_not_change_which_list_collected_what(make: Make) -> None:
    with make(weeks(2), policy="counting", budget={"max_keywords": 4}) as monitor:
        approved_late(monitor)
        assert {span.started for span in monitor.records.keywords.spans()} == {MONDAY, MONDAY + 5 * WEEK}
        assert {o.window_start for story in history(monitor) for o in story.outcomes} == {MONDAY + 5 * WEEK}


def test_a_post_with_a_wrong_clock_does_not_date_a_list(make: Make) -> None:
    with make(weeks(2), policy="counting", budget={"max_keywords": 4}) as monitor:
        approved_late(monitor, stray=(row("stray", week=40),))
        assert monitor.posts().windows()[-1].window.start == MONDAY + 40 * WEEK
        assert {span.started for span in monitor.records.keywords.spans()} == {MONDAY, MONDAY + 5 * WEEK}


def test_a_proposal_can_be_watched_and_stopped(collected: Monitor) -> None:
    close(collected)

    def cancel(stage: str, done: int, total: int | None = None, **facts: float) -> None:
        [job] = [job for job in collected.records.jobs.newest() if job.kind == "propose"]
        collected.records.jobs.cancel(job.id)

    with pytest.raises(Stopped, match="propose of monitor health was cancelled"):
        propose(collected, progress=cancel)
    assert collected.records.proposals.waiting() is None
    assert collected.records.jobs.newest()[0].state == "cancelled"
    propose(collected)
    assert collected.records.jobs.newest()[0].state == "done"


def test_a_proposal_says_what_for_why_and_how_many_posts(proposed: Monitor) -> None:
    saved = proposed.records.proposals.waiting()
    assert saved is not None
    assert saved.proposal.window == "2026-01-26T00:00:00+00:00"
    assert saved.proposal.current.texts == ("hospital", "doctor")
    assert len(saved.proposal.next_keywords) <= 4
    assert all(reason.text for reason in saved.proposal.reasons)
    assert saved.proposal.expected_posts is not None


def test_a_post_that_is_forgotten_while_a_proposal_is_made_is_no_example(
    collected: Monitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone: set[str] = set()

    def meanwhile(*given: Any, **named: Any) -> Proposal:
        made = recommend(*given, **named)
        shown = {example.id for reason in made.reasons for example in reason.examples}
        gone.update(sorted(shown)[::2])
        assert shown > gone > set()
        collected.records.deletions.note("replay", gone)
        assert collected.records.deletions.carry_out(collected.posts()) == len(gone)
        return made

    close(collected, MONDAY + 3 * WEEK)
    monkeypatch.setattr("klda.monitor.propose.recommend", meanwhile)
    shown = {example.id for reason in propose(collected).proposal.reasons for example in reason.examples}
    assert shown
    assert not shown & gone


def test_an_approved_list_holds_and_its_history_tells_why(proposed: Monitor) -> None:
    saved = proposed.records.proposals.waiting()
    assert saved is not None
    decision = approve(proposed, decided_by="ann", note="good")
    assert proposed.records.keywords.active() == saved.proposal.next_keywords == decision.keywords
    for story in history(proposed):
        first = story.spans[0]
        new = story.keyword in saved.proposal.add
        assert first.started == (MONDAY + 3 * WEEK if new else MONDAY)
        assert first.reason
        assert first.decided_by == "ann"
        if story.is_active:
            [outcome] = story.outcomes
            assert outcome.window_start == MONDAY + 3 * WEEK
            assert outcome.realised is None  # the window has not begun: that is not 0 posts
    with pytest.raises(StoreError, match="already decided"):
        approve(proposed, saved.id, decided_by="bob")
    with pytest.raises(DataError, match="no proposal waits"):
        approve(proposed, decided_by="bob")


def test_a_rejected_list_changes_nothing(proposed: Monitor) -> None:
    reject(proposed, decided_by="ann", note="too broad")
    assert proposed.records.keywords.active().texts == ("hospital", "doctor")
    assert proposed.records.proposals.newest()[0].state == "rejected"


def test_an_edited_list_holds_instead_and_keeps_the_forms_of_candidates(proposed: Monitor) -> None:
    saved = proposed.records.proposals.waiting()
    assert saved is not None
    candidate = next(k for k in saved.proposal.ranked if len(k.forms) >= 1 and k not in saved.proposal.current)
    edit(proposed, KeywordSet.of("hospital", candidate.text, "by hand"), decided_by="ann", note="my own")
    active = proposed.records.keywords.active()
    assert set(active.texts) == {"hospital", candidate.text, "by hand"}
    assert active[active.index(candidate.text)].forms == candidate.forms
    [story] = history(proposed, "by hand")
    assert story.spans[0].reason == "my own"
    [gone] = history(proposed, "doctor")
    assert not gone.is_active
    assert gone.spans[0].ended_by == "ann"
    with pytest.raises(DataError, match="'never' has never been active"):
        history(proposed, "never")


def test_a_keyword_that_can_match_nothing_is_refused(proposed: Monitor) -> None:
    with pytest.raises(SettingError, match="nothing to match"):
        edit(proposed, KeywordSet.of("#"), decided_by="ann")
    assert proposed.records.proposals.waiting() is not None


def test_an_overview_shows_windows_and_what_waits(proposed: Monitor) -> None:
    state = overview(proposed)
    saved = proposed.records.proposals.waiting()
    assert saved is not None
    assert (state.posts, state.waiting, state.running) == (120, saved.id, False)
    assert [window["closed"] for window in state.windows] == [True] * 3
    assert [one.name for one in overviews(proposed.folder.path.parent)] == ["health"]


def test_rules_are_those_of_the_platform_or_of_the_one_asked_for(proposed: Monitor) -> None:
    with pytest.raises(SettingError, match="has no platform of its own"):
        rules(proposed)
    assert rules(proposed, "x-v2").terms == ("hospital", "doctor")
    saved = proposed.records.proposals.waiting()
    assert saved is not None
    step = rules(proposed, "bluesky", saved.id)
    assert set(step.terms) == {form for keyword in saved.proposal.next_keywords for form in keyword.forms}


def test_a_word_that_one_author_pushes_is_not_taken_up_by_itself(make: Make) -> None:
    pushed = [row(f"x{i}", f"hospital {WORDS[i % 10]} buyfoo", week=2 + i / 50, author="pusher") for i in range(40)]
    posts = sorted([*weeks(3), *pushed], key=lambda one: one.time)
    with make(posts, policy="cooccurrence", approval="auto", budget={"max_keywords": 6}) as monitor:
        asyncio.run(collect(monitor, asyncio.Event()))
        turn(monitor, MONDAY + 3 * WEEK)
        (saved,) = monitor.records.proposals.newest()
        assert "buyfoo" in saved.proposal.add
        assert "buyfoo: 100% of its posts are from one author" in saved.flags
        assert "buyfoo" not in monitor.records.keywords.active()


def test_a_list_that_the_platform_cannot_take_is_flagged_and_waits_for_a_person(make: Make) -> None:
    with make(weeks(3), policy="static", approval="auto") as monitor:
        asyncio.run(collect(monitor, asyncio.Event()))
        other = monitor.settings.model_copy(
            update={"source": {"kind": "mastodon", "timeline": "hashtag"}, "keywords": ("two words",)}
        )
        monitor.records.keywords.switch(KeywordSet.of("the hospital"), decided_by="ann", at=MONDAY)
        turn(replace(monitor, settings=other), MONDAY + 3 * WEEK)
        saved = monitor.records.proposals.waiting()
        assert saved is not None
        assert "none of the keywords can be a hashtag; follow the public timeline instead" in saved.flags
