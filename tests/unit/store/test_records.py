from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import delete, update

from klda.advice.explanation import Example, Reason
from klda.advice.proposal import Proposal
from klda.errors import DataError, SettingError, StoreError
from klda.store.delta.post_store import PostStore
from klda.store.sql import sql_tables
from klda.store.sql.journal import RecordedGap
from klda.store.sql.records import Records
from klda.types import Estimate, Keyword, KeywordSet
from tests.unit.store.conftest import MONDAY, Add

ADVICE = Proposal(
    policy="klda",
    current=KeywordSet.of("health", "drug"),
    keep=KeywordSet.of("health"),
    add=KeywordSet.of(Keyword("masks", ("masks", "mask"))),
    drop=KeywordSet.of("drug"),
    reasons=(Reason(Keyword("masks"), "add", "brings 😷", examples=(Example("1", "a"), Example("2", "b\x00"))),),
    window="2026-01-12T00:00:00Z",
)


def test_keywords_have_a_history(records: Records) -> None:
    history = records.keywords
    history.switch(KeywordSet.of("health", "drug"), decided_by="ann", reasons={"health": "first"}, at=MONDAY)
    later = MONDAY + timedelta(weeks=1)
    wider = Keyword("drug", ("drug", "drugs"))
    history.switch(
        KeywordSet.of("mask", wider), decided_by="auto", reasons={"mask": "emerges", "health": "faded"}, at=later
    )
    assert history.active().keywords == (Keyword("mask"), wider)
    found = [(s.keyword.text, s.started, s.ended, s.reason, s.end_reason, s.ended_by) for s in history.spans()]
    assert found == [
        ("health", MONDAY, later, "first", "faded", "auto"),
        ("drug", MONDAY, later, "", "", "auto"),
        ("mask", later, None, "emerges", None, None),
        ("drug", later, None, "", None, None),
    ]
    history.switch(KeywordSet.of("mask", wider), decided_by="auto", at=later + timedelta(weeks=1))
    assert len(history.spans()) == 4, "a list that stays the same leaves no trace"
    assert [span.keyword for span in history.spans("drug")] == [Keyword("drug"), wider]


def test_what_is_expected_stands_beside_what_came(records: Records) -> None:
    records.keywords.expect(MONDAY, {"mask": Estimate(10, 5, 15), "drug": Estimate(1, 0, 2)})
    records.keywords.expect(MONDAY, {"mask": Estimate(12, 6, 18)})
    row = {"monitor": "health", "sample": False, "period": "window", "start": MONDAY, "keyword": "mask"}
    records.database.write(lambda c: c.execute(sql_tables.volume.insert().values(**row, posts=7, alone=1)))
    found = [
        (outcome.keyword, outcome.expected.mean, outcome.realised) for outcome in records.keywords.outcomes(MONDAY)
    ]
    assert found == [("drug", 1, 0), ("mask", 12, 7)]
    assert records.keywords.outcomes(MONDAY + timedelta(weeks=1)) == []


def test_a_proposal_waits_until_it_is_decided(records: Records) -> None:
    name = records.proposals.save(ADVICE, flags=["far from the subject"], model="m1")
    saved = records.proposals.get(name)
    assert (saved.proposal, saved.state, saved.flags, saved.model) == (
        ADVICE,
        "waiting",
        ("far from the subject",),
        "m1",
    )
    assert records.proposals.waiting() == saved
    decision = records.proposals.decide(name, "approve", decided_by="ann", note="fine ✓")
    assert decision.keywords == ADVICE.next_keywords
    assert records.proposals.waiting() is None
    again = records.proposals.get(name)
    assert (again.state, again.decision) == ("approved", decision)
    entry = records.journal.entries()[0]
    assert (entry.who, entry.action, entry.subject, entry.detail["note"]) == ("ann", "approve", name, "fine ✓")


def test_an_edit_brings_its_own_list_and_a_rejection_keeps_the_old_one(records: Records) -> None:
    first = records.proposals.save(ADVICE)
    own = KeywordSet.of("mask", Keyword("virus", ("virus", "viruses")))
    with pytest.raises(SettingError, match="the verdict edit needs keywords"):
        records.proposals.decide(first, "edit", decided_by="ann")
    assert records.proposals.decide(first, "edit", decided_by="ann", keywords=own).keywords == own
    assert records.proposals.get(first).decision.keywords == own  # type: ignore[union-attr]
    second = records.proposals.save(ADVICE)
    assert records.proposals.decide(second, "reject", decided_by="bob").keywords == ADVICE.current
    assert [saved.state for saved in records.proposals.newest()] == ["rejected", "edited"]


def test_a_newer_proposal_takes_the_place_of_one_that_waits(records: Records) -> None:
    old, new = records.proposals.save(ADVICE), records.proposals.save(ADVICE)
    assert records.proposals.waiting().id == new  # type: ignore[union-attr]
    with pytest.raises(StoreError, match="superseded"):
        records.proposals.decide(old, "approve", decided_by="ann")


def test_of_two_who_decide_at_once_one_is_told(records: Records) -> None:
    name = records.proposals.save(ADVICE)
    barrier = Barrier(2)

    def decide(who: str) -> str:
        barrier.wait()
        try:
            records.proposals.decide(name, "approve", decided_by=who)
        except StoreError as error:
            return str(error)
        return "decided"

    with ThreadPoolExecutor(2) as pool:
        outcomes = sorted(pool.map(decide, ["ann", "bob"]))
    assert outcomes[0] == "decided"
    assert "already decided" in outcomes[1]
    assert len(records.journal.entries()) == 1


def test_deleted_posts_leave_the_examples_of_proposals(records: Records) -> None:
    name = records.proposals.save(ADVICE)
    assert records.proposals.withdraw_examples(["1", "9"]) == 1
    assert [example.id for example in records.proposals.get(name).proposal.reasons[0].examples] == ["2"]
    assert records.proposals.withdraw_examples(["1"]) == 0


def test_unknown_ids_are_clear_errors(records: Records) -> None:
    with pytest.raises(DataError, match="proposal 'x'"):
        records.proposals.get("x")
    with pytest.raises(DataError, match="job 'x'"):
        records.jobs.get("x")


def test_jobs_tell_how_far_they_are_and_end_once(records: Records) -> None:
    jobs = records.jobs
    name = jobs.add("backtest")
    assert jobs.get(name).state == "waiting"
    assert jobs.report(name, "train", 3, 10)
    job = jobs.get(name)
    assert (job.state, job.stage, job.done, job.total) == ("running", "train", 3, 10)
    jobs.finish(name, accuracy=0.5)
    jobs.finish(name, error="too late")
    assert (jobs.get(name).state, jobs.get(name).result, jobs.get(name).error) == ("done", {"accuracy": 0.5}, None)
    failed = jobs.add("train")
    jobs.finish(failed, error="no posts")
    assert [(job.state, job.error) for job in jobs.newest()] == [("failed", "no posts"), ("done", None)]


def test_a_job_is_told_that_it_should_stop(records: Records) -> None:
    name = records.jobs.add("backtest")
    assert records.jobs.report(name, "week", 1)
    records.jobs.cancel(name)
    assert not records.jobs.report(name, "week", 2)
    records.jobs.finish(name, error="stopped")
    assert records.jobs.get(name).state == "cancelled"


def test_jobs_of_dead_processes_are_given_up(records: Records) -> None:
    dead, alive = records.jobs.add("train"), records.jobs.add("train")
    records.jobs.report(dead, "train", 1)
    for _ in range(10):  # the clock moves on by a minute each time
        records.jobs.report(alive, "train", 1)
    assert records.jobs.abandon(timedelta(minutes=5)) == 1
    assert (records.jobs.get(dead).state, records.jobs.get(alive).state) == ("failed", "running")


def test_the_audit_log_only_grows(records: Records) -> None:
    records.journal.note("ann", "create", "monitor", source="bluesky")
    records.journal.note("bob", "export")
    assert [(e.who, e.action, dict(e.detail)) for e in records.journal.entries()] == [
        ("bob", "export", {}),
        ("ann", "create", {"source": "bluesky"}),
    ]
    for change in (update(sql_tables.audit).values(who="eve"), delete(sql_tables.audit)):
        with pytest.raises(StoreError, match="append-only"):
            records.database.write(lambda c, change=change: c.execute(change))
    assert len(records.journal.entries()) == 2


def test_gaps_and_models_come_back(records: Records) -> None:
    records.journal.add_gap(RecordedGap("stream", MONDAY, MONDAY + timedelta(minutes=1), "reset"))
    records.journal.add_gap(RecordedGap("stream", MONDAY, MONDAY + timedelta(minutes=5), "reset"))
    assert records.journal.gaps() == [RecordedGap("stream", MONDAY, MONDAY + timedelta(minutes=5), "reset")]
    assert records.journal.gaps(since=MONDAY + timedelta(hours=1)) == []
    first = records.journal.add_model(MONDAY, "models/1", bound=-7.4)
    second = records.journal.add_model(MONDAY + timedelta(weeks=1), "models/2")
    assert [(model.id, model.facts) for model in records.journal.models()] == [(second, {}), (first, {"bound": -7.4})]


def test_monitors_that_share_a_database_do_not_see_each_other(records: Records) -> None:
    other = Records(records.database, "sports")
    records.keywords.switch(KeywordSet.of("health"), decided_by="ann")
    name, job = records.proposals.save(ADVICE), records.jobs.add("train")
    records.journal.note("ann", "create")
    assert (other.keywords.spans(), other.proposals.newest(), other.jobs.newest(), other.journal.entries()) == ([],) * 4
    with pytest.raises(DataError):
        other.proposals.decide(name, "approve", decided_by="eve")
    other.jobs.cancel(job)
    assert not records.jobs.get(job).cancelled


def at_once(work: Callable[[], object]) -> None:
    """Does it in two threads at the same time."""
    barrier = Barrier(2)

    def begin() -> None:
        barrier.wait()
        work()

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(begin) for _ in range(2)]:
            done.result()


def test_of_proposals_that_are_saved_at_the_same_time_one_waits(records: Records) -> None:
    for _ in range(10):
        at_once(partial(records.proposals.save, ADVICE))
        assert [saved.state for saved in records.proposals.newest()].count("waiting") == 1


def test_a_list_that_is_made_active_twice_at_once_has_each_keyword_once(records: Records) -> None:
    for n in range(10):
        wanted = KeywordSet.of("health", f"word {n}")
        at_once(partial(records.keywords.switch, wanted, decided_by="ann"))
        active = [span.keyword.text for span in records.keywords.spans() if span.ended is None]
        assert sorted(active) == sorted(wanted.texts)


def test_a_deleted_id_that_no_post_can_have_is_passed_over(records: Records) -> None:
    records.deletions.note("stream", ["\0\0\0", "good"])
    assert [post for _, post, *_ in records.deletions.pending()] == ["good"]


def test_a_proposal_that_is_saved_while_a_post_is_deleted_does_not_show_it(
    records: Records, store: PostStore, add: Add
) -> None:
    class Slow(PostStore):
        def delete(self, *arguments: Any, **options: Any) -> int:
            records.proposals.save(ADVICE)  # it read the post before
            return super().delete(*arguments, **options)

    add("1", "9")
    records.deletions.note("stream", ["1"])
    assert records.deletions.carry_out(Slow(store.uri, store.windowing)) == 1
    [saved] = records.proposals.newest()
    assert [example.id for reason in saved.proposal.reasons for example in reason.examples] == ["2"]
