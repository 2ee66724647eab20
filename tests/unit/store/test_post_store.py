from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from deltalake import DeltaTable

from klda.errors import DataError, StoreError
from klda.posts.schema import POST_SCHEMA, HasBatches, to_batch
from klda.store.delta.delta_log import Position
from klda.store.delta.post_store import PostStore
from klda.text.windows import Windowing
from klda.types import Post
from tests.unit.store.conftest import MONDAY, Add, ids, posts, reopened


def test_posts_come_back_as_they_went_in(store: PostStore) -> None:
    whole = Post(
        id="1",
        time=MONDAY,
        text="a 🦠 b\nc",
        author="x",
        language="en",
        repost_of="",
        hashtags=("a", "b"),
        reposts=1,
        likes=2,
        replies=3,
        quotes=4,
        followers=5,
        following=6,
        author_posts=7,
        author_likes=8,
        label="virus",
    )
    bare = Post(id="2", time=MONDAY + timedelta(days=8, microseconds=7), text="")
    store.append(to_batch([whole, bare]), [["a"], ["b"]], source="s", batch=1, cursor="c")
    found = store.read()
    assert isinstance(found, HasBatches)
    assert all(batch.schema.equals(POST_SCHEMA) for batch in found.batches())
    table = found.table()
    assert sorted((table[0], table[1]), key=lambda post: post.id) == [whole, bare]


def test_a_source_starts_without_a_position_and_then_stands_after_its_last_batch(store: PostStore, add: Add) -> None:
    assert store.position("stream") is None
    add("a")
    add("b")
    assert store.position("stream") == Position(2, "after 2") == reopened(store).position("stream")
    assert store.position("other") is None


def test_the_same_batch_twice_is_stored_once(store: PostStore) -> None:
    attempts = [
        attempt.append(posts("a", "b"), [["m"]] * 2, source="s", batch=1, cursor="1").committed
        for attempt in (store, store, reopened(store))
    ]
    assert attempts == [True, False, False]
    assert ids(store) == ["a", "b"]
    assert store.position("s") == Position(1, "1")
    assert not store.append(posts("z"), [["m"]], source="s", batch=1, cursor="other").committed


def test_a_batch_that_skips_a_number_is_refused(store: PostStore) -> None:
    with pytest.raises(StoreError, match="batch 3 of s cannot follow batch 0"):
        store.append(posts("a"), [["m"]], source="s", batch=3, cursor="1")


def test_an_empty_batch_moves_the_cursor_on(store: PostStore, add: Add) -> None:
    add("a")
    add()
    assert store.position("stream") == Position(2, "after 2")
    assert ids(store) == ["a"]


def test_posts_brought_again_are_dropped_also_after_a_restart(store: PostStore, add: Add) -> None:
    add("a", "b")
    again = reopened(store).append(posts("b", "c", "c"), [["m"]] * 3, source="stream", batch=2, cursor="2")
    assert (again.posts, again.duplicates) == (1, 2)
    assert ids(store) == ["a", "b", "c"]


def test_only_the_newest_ids_are_remembered(store: PostStore, add: Add) -> None:
    for name in "abcdefgh":
        add(name)
    store.compact()
    late = reopened(store, remembered=3)
    again = late.append(posts("a", "f", "g", "h"), [["m"]] * 4, source="stream", batch=9, cursor="9")
    assert (again.posts, again.duplicates) == (1, 3)


def test_sources_are_numbered_apart_and_may_share_ids(store: PostStore, add: Add) -> None:
    add("1", source="x")
    add("1", source="mastodon")
    add("2", source="x")
    assert ids(store) == ["1", "1", "2"]
    assert (store.position("x"), store.position("mastodon")) == (Position(2, "after 2"), Position(1, "after 1"))
    assert store.delete(["1"], source="x") == 1
    assert ids(store) == ["1", "2"]


def test_late_posts_land_in_their_own_window(store: PostStore, add: Add) -> None:
    add("new", week=2)
    add("late", week=0)
    sizes = store.windows()
    assert [(size.window.start, size.posts) for size in sizes] == [(MONDAY, 1), (MONDAY + timedelta(weeks=2), 1)]
    assert ids(store, windows=sizes[0].window) == ["late"]
    assert ids(store, windows=[size.window for size in sizes]) == ["late", "new"]
    assert ids(store, windows=[]) == []


@pytest.mark.parametrize("length", ["30m", "1h", "7d"])
def test_times_far_apart_are_no_obstacle(tmp_path: Path, length: str) -> None:
    store = PostStore(tmp_path / "posts", Windowing(length))
    stray = [datetime(1, 2, 1, tzinfo=UTC), MONDAY, datetime(9998, 1, 1, tzinfo=UTC)]
    batch = to_batch(Post(id=str(i), time=time, text="x") for i, time in enumerate(stray))
    store.append(batch, [["m"]] * 3, source="s", batch=1, cursor="c")
    assert [size.window.start <= time < size.window.end for size, time in zip(store.windows(), stray, strict=True)] == [
        True
    ] * 3


def test_the_sample_lies_apart_and_in_the_same_commit(store: PostStore) -> None:
    store.append(posts("a"), [["m"]], source="s", batch=1, cursor="1", sample=posts("a", "b"))
    assert (ids(store), ids(store, sample=True)) == (["a"], ["a", "b"])
    assert [(size.posts, size.sample) for size in store.windows()] == [(1, 2)]
    assert store.version == 1
    assert store.delete(["a"]) == 1
    assert (ids(store), ids(store, sample=True)) == ([], ["b"])


def test_keywords_must_be_given_for_each_post(store: PostStore) -> None:
    with pytest.raises(DataError, match="2 posts come with keywords for 1"):
        store.append(posts("a", "b"), [["m"]], source="s", batch=1, cursor="1")


def test_many_small_batches_are_joined_without_being_asked(store: PostStore, add: Add) -> None:
    names = [f"{number:03}" for number in range(70)]
    for name in names:
        add(name)
    assert len(DeltaTable(store.uri).file_uris()) < 20
    assert ids(store) == names
    assert reopened(store).position("stream") == Position(70, "after 70")


def test_the_position_survives_everything_that_maintenance_does(store: PostStore, add: Add) -> None:
    add("a", "b")
    add("c", week=5)
    store.compact()
    store.delete(["a"])
    store.expire(MONDAY + timedelta(weeks=2))
    store.vacuum(timedelta(0))
    DeltaTable(store.uri).optimize.z_order(["time"])  # somebody else's tool, which leaves no note of ours
    assert reopened(store).position("stream") == Position(2, "after 2")


def test_a_reader_keeps_its_version_while_others_write(store: PostStore, add: Add) -> None:
    add("a")
    reader = reopened(store).read()
    add("b")
    store.compact()
    assert sorted(name for batch in reader.batches() for name in batch.column("id").to_pylist()) == ["a"]
    assert ids(store) == ["a", "b"]


def test_counts_follow_from_the_log(store: PostStore, add: Add) -> None:
    add("a", "b", keywords=("mask", "drug"))
    seen = store.version
    add("c", keywords=("mask",))
    store.compact()
    store.delete(["a"])
    changes = store.changes(seen)
    assert changes is not None
    assert [change.version for change in changes] == list(range(seen + 1, store.version + 1))
    found = [[(count.keyword, count.posts, count.alone) for count in change.counts] for change in changes]
    assert found == [[("", 1, 0), ("mask", 1, 1)], [], [("", -1, 0), ("drug", -1, 0), ("mask", -1, 0)]]
    window = store.windows()[0].window
    assert [(c.keyword, c.posts, c.alone) for c in store.count(window)] == [("", 2, 0), ("drug", 1, 0), ("mask", 2, 1)]
    assert store.changes(store.version) == []


def test_a_table_that_cannot_be_opened_is_a_clear_error(tmp_path: Path) -> None:
    place = tmp_path / "posts"
    (place / "_delta_log").mkdir(parents=True)
    (place / "_delta_log" / f"{0:020}.json").write_text("{ broken")
    with pytest.raises(StoreError, match="posts: the posts cannot be opened"):
        PostStore(place, Windowing())
