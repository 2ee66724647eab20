from __future__ import annotations

import asyncio

import pytest

import klda.monitor.collect as batches
from klda.errors import KldaError, SettingError, SourceError, StoreError
from klda.monitor.collect import Collector, collect
from klda.monitor.monitor import Monitor
from klda.monitor.overview import overview
from klda.posts.formats.outcome import batch_of
from klda.streams import Gap
from klda.types import KeywordSet
from tests.unit.monitor.conftest import MONDAY, WEEK, Make, Scripted, gathered, received, row, stored


class Refusing(Scripted):
    """A source that refuses keywords for as long as an error stands against them."""

    error: KldaError | None = None

    async def update_keywords(self, keywords: KeywordSet) -> None:
        if self.error is not None and "ward" in keywords:
            raise self.error
        await super().update_keywords(keywords)


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
