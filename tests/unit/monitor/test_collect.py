from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

import klda.monitor.batch as batches
from klda.errors import KldaError, SettingError, SourceError, StoreError
from klda.monitor.collect import Collector, Counts, collect
from klda.monitor.monitor import Monitor
from klda.monitor.overview import overview
from klda.policies.proposal import Example, Proposal, Reason
from klda.sources.formats.outcome import batch_of
from klda.sources.live import Deleted, Event, Gap, Received
from klda.store import PostStore
from klda.types import Keyword, KeywordSet
from tests.unit.monitor.conftest import MONDAY, WEEK, Scripted, received, row

Make = Callable[..., AbstractContextManager[Monitor]]


def gathered(monitor: Monitor, source: Scripted) -> Counts:
    return asyncio.run(Collector(monitor, source).run(asyncio.Event()))


class Refusing(Scripted):
    """A source that refuses keywords for as long as an error stands against them."""

    error: KldaError | None = None

    async def update_keywords(self, keywords: KeywordSet) -> None:
        if self.error is not None and "ward" in keywords:
            raise self.error
        await super().update_keywords(keywords)


def stored(monitor: Monitor, *, sample: bool = False) -> list[str]:
    posts = monitor.posts().read(sample=sample)
    return sorted(name for batch in posts.batches() for name in batch.column("id").to_pylist())


def texts(monitor: Monitor, *, sample: bool = False) -> dict[str, list[str]]:
    """The texts of the rows of each id."""
    found: dict[str, list[str]] = {}
    for batch in monitor.posts().read(sample=sample).batches():
        for name, text in zip(batch.column("id").to_pylist(), batch.column("text").to_pylist(), strict=True):
            found.setdefault(name, []).append(text)
    return found


def test_posts_that_carry_a_keyword_are_stored_with_it(monitor: Monitor) -> None:
    counts = gathered(
        monitor, Scripted(received(row("a"), row("b", "nothing of note")), received(row("c", "a DOCTOR")))
    )
    assert (counts.received, counts.stored, counts.ended) == (3, 2, True)
    assert stored(monitor) == ["a", "c"]
    volume = monitor.records.volume.series("window")
    assert {(point.keyword, point.posts) for point in volume} == {("", 2), ("hospital", 1), ("doctor", 1)}


def test_a_second_run_goes_on_where_the_first_stopped(monitor: Monitor) -> None:
    gathered(monitor, Scripted(received(row("a"))))
    counts = gathered(monitor, Scripted(received(row("never asked for")), received(row("b"))))
    assert counts.received == 1
    assert stored(monitor) == ["a", "b"]


def test_what_a_source_brings_twice_is_stored_once(monitor: Monitor) -> None:
    counts = gathered(monitor, Scripted(received(row("a"), row("b")), received(row("b"), row("c"))))
    assert stored(monitor) == ["a", "b", "c"]
    assert counts.duplicates == 1


def test_the_sample_is_kept_apart(make: Make) -> None:
    with make(sample=1.0) as monitor:
        gathered(monitor, Scripted(received(row("a"), row("b", "nothing of note"))))
        assert stored(monitor) == ["a"]
        assert stored(monitor, sample=True) == ["a", "b"]


def test_a_batch_is_committed_when_it_is_full(monitor: Monitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "MOST_EVENTS", 2)
    counts = gathered(monitor, Scripted(*(received(row(str(n))) for n in range(5))))
    assert (counts.batches, counts.stored) == (3, 5)


def test_a_late_post_lands_in_the_window_of_its_own_time(monitor: Monitor) -> None:
    gathered(monitor, Scripted(received(row("new", week=1.5)), received(row("late", week=0.5))))
    sizes = {str(size.window): size.posts for size in monitor.posts().windows()}
    assert sizes == {"2026-01-05": 1, "2026-01-12": 1}


def test_a_post_deleted_at_its_source_leaves_the_table_and_the_examples(monitor: Monitor) -> None:
    gathered(monitor, Scripted(received(row("a"), row("b"))))
    reason = Reason(
        Keyword("ward"), "add", "why", examples=(Example("a", "the hospital"), Example("b", "the hospital"))
    )
    name = monitor.records.proposals.save(
        Proposal(policy="static", current=KeywordSet.of("hospital"), add=KeywordSet.of("ward"), reasons=(reason,))
    )
    gathered(monitor, Scripted([], [Deleted("a"), Deleted("never stored")]))
    assert stored(monitor) == ["b"]
    kept = monitor.records.proposals.get(name).proposal.reasons[0].examples
    assert [example.id for example in kept] == ["b"]
    assert monitor.records.volume.total() == 1


@pytest.mark.parametrize("pseudonymise", [False, True])
def test_with_an_account_that_is_gone_go_its_posts_and_their_examples(make: Make, pseudonymise: bool) -> None:
    with make(sample=1.0, pseudonymise=pseudonymise) as monitor:
        posts = [row(name)._replace(author=author) for name, author in (("a", "ann"), ("b", "bob"), ("ann", "bob"))]
        gathered(monitor, Scripted(received(*posts)))
        shown = tuple(Example(monitor.posts().stored_id(name), "the hospital") for name in ("a", "b"))
        reason = Reason(Keyword("ward"), "add", "why", examples=shown)
        name = monitor.records.proposals.save(
            Proposal(policy="static", current=KeywordSet.of("hospital"), reasons=(reason,))
        )
        gathered(monitor, Scripted([], [Deleted("ann", author=True), Deleted("nobody", author=True)]))
        left = sorted(monitor.posts().stored_id(post) for post in ("b", "ann"))
        assert stored(monitor) == stored(monitor, sample=True) == left
        assert monitor.records.proposals.get(name).proposal.reasons[0].examples == shown[1:]
        assert monitor.records.volume.total() == 2


def test_a_post_and_its_deletion_in_one_burst_leave_nothing(monitor: Monitor) -> None:
    gathered(monitor, Scripted([*received(row("a")), Deleted("a")]))
    assert stored(monitor) == []


def test_an_edit_takes_the_place_of_the_stored_post(make: Make) -> None:
    with make(sample=1.0) as monitor:
        gathered(monitor, Scripted(received(row("a"), row("b"))))
        name = monitor.records.proposals.save(
            Proposal(
                policy="static",
                current=KeywordSet.of("hospital"),
                reasons=(Reason(Keyword("ward"), "add", "why", examples=(Example("a", "the hospital"),)),),
            )
        )
        edit = Received(row("a", "the doctor"), edited=True)
        gathered(monitor, Scripted([], [edit, *received(row("a"))]))
        assert texts(monitor) == texts(monitor, sample=True) == {"a": ["the doctor"], "b": ["the hospital"]}
        volume = monitor.records.volume.series("window", keywords=["", "hospital", "doctor"])
        assert [(point.keyword, point.posts) for point in volume] == [("", 2), ("doctor", 1), ("hospital", 1)]
        assert not monitor.records.proposals.get(name).proposal.reasons[0].examples, "it quotes the old text"


def test_a_post_and_its_edit_in_one_burst_leave_the_new_text(make: Make) -> None:
    with make(sample=1.0) as monitor:
        gathered(monitor, Scripted([*received(row("a")), Received(row("a", "no more of it"), edited=True)]))
        assert (stored(monitor), texts(monitor, sample=True)) == ([], {"a": ["no more of it"]})


WITHOUT, WITH = (Received(row("a", text), edited=True) for text in ("no more of it", "the doctor"))


@pytest.mark.parametrize("at_once", [1, 100])
@pytest.mark.parametrize(
    ("changes", "left"),
    [([WITHOUT], {}), ([WITHOUT, WITH], {"a": ["the doctor"]}), ([WITH, WITHOUT], {}), ([WITH, Deleted("a")], {})],
    ids=["keywords gone", "keywords back", "keywords gone again", "deleted"],
)
def test_what_happened_last_to_a_post_holds(
    monitor: Monitor,
    changes: list[Event],
    left: dict[str, list[str]],
    at_once: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batches, "MOST_EVENTS", at_once)
    gathered(monitor, Scripted(received(row("a")), *([change] for change in changes)))
    assert texts(monitor) == left


def test_an_old_post_that_is_edited_has_one_row(monitor: Monitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PostStore.__init__.__kwdefaults__, "remembered", 1)
    gathered(monitor, Scripted(received(*(row(name) for name in "abc"))))
    edits = [[Received(row(name, f"the doctor {name}"), edited=True)] for name in "ab"]
    gathered(monitor, Scripted([], *edits, received(row("d"))))
    assert texts(monitor) == {"a": ["the doctor a"], "b": ["the doctor b"]} | {name: ["the hospital"] for name in "cd"}


@pytest.mark.parametrize("dies", ["append", "delete"])
def test_an_edit_loses_nothing_when_the_process_dies(
    monitor: Monitor, dies: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gathered(monitor, Scripted(received(row("a"))))
    source = Scripted([], [Received(row("a", "the doctor"), edited=True)])

    def dying(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(f"klda.store.posts.PostStore.{dies}", dying)
        with pytest.raises(KeyboardInterrupt):
            gathered(monitor, source)
    monitor.records.deletions.carry_out(monitor.posts())
    assert texts(monitor) == {"a": ["the hospital" if dies == "append" else "the doctor"]}
    gathered(monitor, source)
    assert texts(monitor) == {"a": ["the doctor"]}


def test_gaps_are_recorded_and_those_that_were_filled_are_in_the_audit_log(monitor: Monitor) -> None:
    gaps = [Gap(MONDAY, MONDAY + WEEK, "asleep"), Gap(MONDAY + WEEK, MONDAY + 2 * WEEK, "away", filled=True)]
    gathered(monitor, Scripted([*gaps]))
    journal = monitor.records.journal
    [open_gap] = journal.gaps()
    assert (open_gap.source, open_gap.start, open_gap.end) == ("scripted", MONDAY, MONDAY + WEEK)
    assert open_gap.reason == "asleep"
    [filled] = journal.entries(action="gap filled")
    assert (filled.subject, filled.detail["reason"]) == ("scripted", "away")
    assert filled.detail["start"] == (MONDAY + WEEK).isoformat()
    assert filled.detail["end"] == (MONDAY + 2 * WEEK).isoformat()


def test_pseudonyms_hide_authors_and_deletions_still_find_their_posts(make: Make) -> None:
    with make(pseudonymise=True) as monitor:
        gathered(monitor, Scripted(received(row("a"), row("b"))))
        [batch] = monitor.posts().read().batches()
        assert "author of a" not in batch.column("author").to_pylist()
        gathered(monitor, Scripted([], [Deleted("a")]))
        assert stored(monitor) == [monitor.posts().stored_id("b")]


def test_keywords_that_change_meanwhile_are_followed(monitor: Monitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("klda.monitor.collect.POLL", 0.0)
    source = Scripted(received(row("a")), received(row("b", "a ward")), received(row("c", "a ward")))

    async def change() -> None:
        monitor.records.keywords.switch(KeywordSet.of("ward"), decided_by="ann", at=MONDAY + WEEK)

    counts = asyncio.run(Collector(monitor, source).run(asyncio.Event(), change))
    assert counts.ended
    assert "c" in stored(monitor)
    assert source.keywords[-1].texts == ("ward",)


@pytest.mark.parametrize("error", [SourceError("busy; try again later"), SettingError("too many rules")])
def test_a_refused_list_does_not_end_collecting_and_is_told_once(
    monitor: Monitor, monkeypatch: pytest.MonkeyPatch, error: KldaError
) -> None:
    monkeypatch.setattr("klda.monitor.collect.POLL", 0.0)
    monkeypatch.setattr("klda.monitor.collect.AGAIN", 0.0)
    source = Refusing(*(received(row(str(n))) for n in range(5)))
    source.error = error
    monitor.records.keywords.switch(KeywordSet.of("ward"), decided_by="ann", at=MONDAY + WEEK)
    assert gathered(monitor, source).ended
    assert stored(monitor) == ["0", "1", "2", "3", "4"], "the old list holds"
    [entry] = monitor.records.journal.entries(action="filter refused")
    assert (entry.subject, entry.detail) == ("scripted", {"keywords": ["ward"], "reason": str(error)})
    assert overview(monitor).refused == str(error)


def test_a_refused_list_is_tried_again_and_holds_once_the_source_takes_it(
    monitor: Monitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("klda.monitor.collect.POLL", 0.0)
    monkeypatch.setattr("klda.monitor.collect.AGAIN", 0.0)
    source = Refusing(*(received(row(str(n), "the hospital ward")) for n in range(5)))
    source.error = SourceError("busy")

    async def change() -> None:
        if monitor.records.journal.entries(action="filter refused"):
            source.error = None
        else:
            monitor.records.keywords.switch(KeywordSet.of("ward"), decided_by="ann", at=MONDAY + WEEK)

    asyncio.run(Collector(monitor, source).run(asyncio.Event(), change))
    assert [keywords.texts for keywords in source.keywords] == [("hospital", "doctor"), ("ward",)]
    assert overview(monitor).refused is None


def test_a_source_that_refuses_is_not_asked_again_at_once(monitor: Monitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("klda.monitor.collect.POLL", 0.0)
    asked = 0

    class Counting(Scripted):
        async def update_keywords(self, keywords: KeywordSet) -> None:
            nonlocal asked
            asked += "ward" in keywords
            if "ward" in keywords:
                raise SettingError("too many rules")

    monitor.records.keywords.switch(KeywordSet.of("ward"), decided_by="ann", at=MONDAY + WEEK)
    gathered(monitor, Counting(*(received(row(str(n))) for n in range(20))))
    assert asked == 1


def test_a_run_after_a_refused_list_begins_with_the_one_before(monitor: Monitor) -> None:
    source = Refusing(received(row("a")))
    source.error = SettingError("too many rules")
    switch = monitor.records.keywords.switch
    switch(KeywordSet.of("hospital", "nurse"), decided_by="ann", at=MONDAY + WEEK)
    gathered(monitor, source)
    switch(KeywordSet.of("ward"), decided_by="ann", at=MONDAY + WEEK)
    for _ in range(2):
        assert gathered(monitor, source).ended
        assert source.keywords[-1].texts == ("hospital", "nurse")


def test_collecting_goes_on_while_a_platform_lets_a_change_wait(
    monitor: Monitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("klda.monitor.collect.POLL", 0.0)
    monkeypatch.setattr("klda.monitor.collect.PATIENCE", 0.01)
    changing = asyncio.Event()

    class Slow(Scripted):
        async def update_keywords(self, keywords: KeywordSet) -> None:
            if "ward" in keywords:
                changing.set()
                await asyncio.Event().wait()

    async def change() -> None:
        if not changing.is_set():
            monitor.records.keywords.switch(KeywordSet.of("ward"), decided_by="ann", at=MONDAY + WEEK)

    source = Slow(received(row("a")), received(row("b")), received(row("c")), received(row("d", "a ward")))
    assert asyncio.run(Collector(monitor, source).run(asyncio.Event(), change)).ended
    assert changing.is_set()
    assert stored(monitor) == ["a", "b", "c", "d"], "old and new keywords are matched meanwhile"


def test_what_is_in_hand_is_stored_when_a_run_ends_by_an_error(monitor: Monitor) -> None:
    async def fail() -> None:
        raise RuntimeError("something else")

    with pytest.raises(RuntimeError, match="something else"):
        asyncio.run(Collector(monitor, Scripted(received(row("a")))).run(asyncio.Event(), fail))
    assert stored(monitor) == ["a"]
    assert monitor.records.jobs.newest()[0].error == "something else"


def test_a_stop_stores_what_is_in_hand(monitor: Monitor) -> None:
    source = Scripted(*(received(row(str(n))) for n in range(100)))
    stop = asyncio.Event()

    async def after_the_first() -> None:
        stop.set()

    counts = asyncio.run(Collector(monitor, source).run(stop, after_the_first))
    assert not counts.ended
    assert stored(monitor) == ["0"]
    assert gathered(monitor, source).received == 99


def test_somebody_can_cancel_the_job(monitor: Monitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("klda.monitor.collect.POLL", 0.0)

    async def cancel() -> None:
        [job] = [job for job in monitor.records.jobs.newest() if job.state in ("waiting", "running")]
        monitor.records.jobs.cancel(job.id)

    source = Scripted(*(received(row(str(n))) for n in range(100)))
    counts = asyncio.run(Collector(monitor, source).run(asyncio.Event(), cancel))
    assert counts.received < 5
    assert monitor.records.jobs.newest()[0].state == "cancelled"


def test_a_second_collector_is_turned_away(monitor: Monitor) -> None:
    with monitor.folder.writer(), pytest.raises(StoreError, match="is writing here"):
        asyncio.run(collect(monitor, asyncio.Event()))


def test_a_failure_is_told_and_remembered(monitor: Monitor, monkeypatch: pytest.MonkeyPatch) -> None:
    collector = Collector(monitor, Scripted(received(row("a"))))

    def full(*_: object, **__: object) -> None:
        raise StoreError("no room")

    monkeypatch.setattr(collector._store, "append", full)
    with pytest.raises(StoreError, match="no room"):
        asyncio.run(collector.run(asyncio.Event()))
    assert monitor.records.jobs.newest()[0].error == "no room"
    gathered(monitor, Scripted(received(row("a"))))
    assert stored(monitor) == ["a"]


def test_counts_that_a_crash_left_behind_catch_up(monitor: Monitor) -> None:
    store = monitor.posts()
    store.append(batch_of([row("a")]), [("hospital",)], source="scripted", batch=1, cursor="1")
    assert monitor.records.volume.total() == 0
    gathered(monitor, Scripted([]))
    assert monitor.records.volume.total() == 1
