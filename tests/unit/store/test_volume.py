from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from deltalake import DeltaTable
from hypothesis import given, settings
from hypothesis import strategies as st

from klda.posts.schema import to_batch
from klda.store.delta.post_store import PostStore
from klda.store.delta.rows import ALL, negative, packed, post_rows, tally, unpacked
from klda.store.sql.records import Records
from klda.text.windows import Windowing
from klda.types import Post
from tests.unit.store.conftest import MONDAY, posts

Add = Callable[..., bool]


def volume(records: Records, period: str = "window", **options: object) -> list[tuple[str, int, int]]:
    points = records.volume.series(period, **options)  # type: ignore[arg-type]
    return [(point.keyword, point.posts, point.alone) for point in points]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 400), st.lists(st.sampled_from("abc"), max_size=3), st.booleans()), max_size=30)
)
def test_a_tally_equals_counting_by_hand(stream: list[tuple[int, list[str], bool]]) -> None:
    batch = to_batch(Post(id="x", time=MONDAY + timedelta(hours=hours), text="") for hours, _, _ in stream)
    table = post_rows(batch, [words for _, words, _ in stream], source="s", batch=1, windowing=Windowing())
    found = {(c.window, c.start, c.keyword): (c.posts, c.alone) for c in tally(table)}
    expected: dict[tuple[str, object, str], tuple[int, int]] = {}
    for row in table.to_pylist():
        carried = set(row["keywords"])
        for keyword in (ALL, *carried):
            place = (row["window"], row["time"].replace(minute=0, second=0), keyword)
            n, alone = expected.get(place, (0, 0))
            expected[place] = (n + 1, alone + (carried == {keyword}))
    assert found == expected
    assert unpacked(packed(tally(table))) == tally(table)
    assert [-count.posts for count in negative(tally(table))] == [count.posts for count in tally(table)]


def test_volume_follows_each_batch_by_hour_day_and_window(store: PostStore, records: Records, add: Add) -> None:
    add("a", "b", keywords=("mask", "drug"))
    records.volume.catch_up(store)
    add("c", keywords=("mask",))
    add("d", keywords=("mask",), week=1)
    records.volume.catch_up(store)
    week = MONDAY + timedelta(weeks=1)
    for period in ("hour", "day", "window"):
        assert volume(records, period, until=week) == [("", 3, 0), ("drug", 2, 0), ("mask", 3, 1)]
        assert volume(records, period, since=week, keywords=["mask"]) == [("mask", 1, 1)]
    assert records.volume.total() == 4


def test_catching_up_again_adds_nothing(store: PostStore, records: Records, add: Add) -> None:
    add("a")
    for _ in range(3):
        records.volume.catch_up(store)
    store.compact()
    records.volume.catch_up(store)
    assert records.volume.total() == 1


def test_a_crash_between_posts_and_counts_is_made_up_for(store: PostStore, records: Records, add: Add) -> None:
    add("a")
    records.volume.catch_up(store)
    for name in "bcd":  # as many times the process died before it counted
        add(name)
    records.volume.catch_up(PostStore(store.uri, Windowing()))
    assert records.volume.total() == 4


def test_deleted_posts_are_taken_out_and_expired_ones_stay_counted(
    store: PostStore, records: Records, add: Add
) -> None:
    add("a", "b")
    add("c", week=9)
    records.deletions.note("stream", ["a", "unknown", "a"])
    records.deletions.note("stream", ["a"])
    assert sorted(records.deletions.pending()) == [("stream", "a", False, False), ("stream", "unknown", False, False)]
    assert records.deletions.carry_out(store) == 1
    assert records.deletions.pending() == []
    store.expire(MONDAY + timedelta(weeks=2))
    records.volume.catch_up(store)
    assert volume(records, keywords=["mask"]) == [("mask", 1, 1), ("mask", 1, 1)]


def test_where_the_log_has_expired_posts_are_counted_again(store: PostStore, records: Records, add: Add) -> None:
    add("old", week=0)
    records.volume.catch_up(store)
    store.expire(MONDAY + timedelta(weeks=1))
    for name in "abc":
        add(name, week=2, keywords=("mask", "drug"))
    DeltaTable(store.uri).create_checkpoint()
    for entry in sorted((Path(store.uri) / "_delta_log").glob("*.json"))[:-1]:
        entry.unlink()
    fresh = PostStore(store.uri, Windowing())
    records.volume.catch_up(fresh)
    records.volume.catch_up(fresh)
    assert volume(records) == [("", 1, 0), ("mask", 1, 1), ("", 3, 0), ("drug", 3, 0), ("mask", 3, 0)]
    assert volume(records, "hour") == volume(records, "day") == volume(records)


@pytest.mark.parametrize(
    ("length", "zone"), [("6h", "UTC"), ("30m", "UTC"), ("1d", "Asia/Kolkata"), ("7d", "America/New_York")]
)
def test_hours_and_days_that_begin_before_a_window_are_counted_again_once(
    tmp_path: Path, records: Records, length: str, zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = PostStore(tmp_path / "own", Windowing(length, zone))
    many = [str(number) for number in range(0, 3000, 7)]  # a post each 7 minutes, for two days and some hours
    times = [MONDAY + timedelta(hours=18, minutes=40 + int(name)) for name in many]
    batch = to_batch(Post(id=name, time=time, text="") for name, time in zip(many, times, strict=True))
    store.append(batch, [["m"]] * len(many), source="s", batch=1, cursor="")
    records.volume.catch_up(store)
    periods = ("hour", "day", "window")
    counted = {period: volume(records, period) for period in periods}
    monkeypatch.setattr(store, "changes", lambda since: None)
    for _ in range(2):
        records.volume.catch_up(store)
        assert {period: volume(records, period) for period in periods} == counted


def test_a_day_keeps_what_its_expired_windows_brought_when_it_is_counted_again(
    tmp_path: Path, records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = PostStore(tmp_path / "own", Windowing("6h"))
    hours = {"early": 1, "late": 7, "later": 8}
    batch = to_batch(Post(id=name, time=MONDAY + timedelta(hours=n), text="") for name, n in hours.items())
    store.append(batch, [["m"]] * 3, source="s", batch=1, cursor="")
    records.volume.catch_up(store)
    store.expire(MONDAY + timedelta(hours=6))
    monkeypatch.setattr(store, "changes", lambda since: None)
    records.volume.catch_up(store)
    assert volume(records, "day", keywords=["m"]) == [("m", 3, 3)]
    assert volume(records, "window", keywords=["m"]) == [("m", 1, 1), ("m", 2, 2)]


def test_the_sample_is_counted_as_a_whole(store: PostStore, records: Records) -> None:
    store.append(posts("a"), [["mask"]], source="s", batch=1, cursor="", sample=posts("a", "b", "c"))
    records.volume.catch_up(store)
    assert volume(records, sample=True) == [("", 3, 0)]
    assert (records.volume.total(), records.volume.total(sample=True)) == (1, 3)


@pytest.mark.parametrize("length", ["30m", "7d"])
def test_windows_of_any_length_add_up_to_the_same_hours(tmp_path: Path, records: Records, length: str) -> None:
    store = PostStore(tmp_path / "own", Windowing(length))
    store.append(posts(*map(str, range(100))), [["m"]] * 100, source="s", batch=1, cursor="")
    records.volume.catch_up(store)
    assert volume(records, "hour", keywords=[ALL]) == [("", 60, 0), ("", 40, 0)]
    assert sum(n for _, n, _ in volume(records, keywords=[ALL])) == 100
