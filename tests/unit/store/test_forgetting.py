"""What is to go is gone: deleted posts, windows past their time, names of people, and what a crash left."""

from __future__ import annotations

import os
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from klda.posts.schema import to_batch
from klda.store.delta.delta_log import Position
from klda.store.delta.post_store import PostStore
from klda.store.delta.pseudonyms import Pseudonyms
from klda.text.windows import Windowing
from klda.types import Post
from tests.unit.store.conftest import MONDAY, Add, files, ids, posts, reopened


def test_a_deleted_post_is_gone_from_the_files_of_every_version(store: PostStore) -> None:
    secret = to_batch(
        [Post(id="a", time=MONDAY, text="never to be seen again"), Post(id="b", time=MONDAY, text="stays")]
    )
    store.append(secret, [["m"]] * 2, source="s", batch=1, cursor="1")
    before = files(store)
    assert store.delete(["a", "nowhere"]) == 1
    assert ids(store) == ["b"]
    data = [path for path in before if path.suffix == ".parquet"]
    assert all(path.exists() for path in data), "those who still read an older version can"
    assert store.vacuum() == 0
    assert store.vacuum(timedelta(0)) == len(data)
    assert not any(path.exists() for path in data)
    assert ids(store) == ["b"]
    for path in files(store):
        if path.suffix == ".parquet" and "_delta_log" not in path.parts:
            assert pq.read_table(path, partitioning=None).column("text").to_pylist() == ["stays"]
        assert b"never" not in path.read_bytes()
    assert store.delete(["a"]) == 0


def test_many_deletions_are_carried_out_and_counted(
    store: PostStore, monkeypatch: pytest.MonkeyPatch, add: Add
) -> None:
    monkeypatch.setattr("klda.store.delta.post_store._DELETED_AT_ONCE", 3)
    names = [str(n) for n in range(20)]
    store.append(posts(*names), [["m"]] * 20, source="s", batch=1, cursor="1", sample=posts(*names[::2]))
    add("0", week=3)
    seen = store.version
    assert store.delete(names[:10]) == 11
    assert (ids(store), ids(store, sample=True)) == (sorted(names[10:]), sorted(names[10::2]))
    counts = [count for change in store.changes(seen) or [] for count in change.counts]
    lost = Counter((count.keyword, count.sample) for count in counts for _ in range(-count.posts))
    assert lost == {("", False): 11, ("m", False): 10, ("mask", False): 1, ("", True): 5}


def test_posts_are_deleted_again_and_again_and_the_newest_are_known_after_that(store: PostStore, add: Add) -> None:
    for source in ("one", "other"):
        add(*(f"{source} {n}" for n in range(5)), source=source)
    store.compact()
    for n in range(3):  # each time from files that the time before has written
        assert store.delete([f"one {n}", f"other {n}"]) == 2
        assert store.delete([f"other {n}"], source="one") == 0
    assert ids(store) == ["one 3", "one 4", "other 3", "other 4"]
    assert store.ids_by(["bob"], source="one") == ["one 3", "one 4"]
    again = reopened(store).append(posts("one 3", "one 5"), [["mask"]] * 2, source="one", batch=2, cursor="")
    assert (again.posts, again.duplicates) == (1, 1)


def test_of_edited_posts_the_newest_row_stays_and_the_others_are_counted_out(store: PostStore) -> None:
    for number, (names, edited) in enumerate([("a", ""), ("ab", "a"), ("b", "b")], 1):
        both, keywords = posts(*names), [["m"]] * len(names)
        again = store.append(both, keywords, source="s", batch=number, cursor="", sample=both, edited=edited)
        assert (again.posts, again.duplicates) == (len(names), 0)
    seen = store.version
    assert store.delete("abc", source="s", but_newest=True) == 2
    for part in (False, True):
        rows = [row for batch in store.read(sample=part).rows() for row in batch.to_pylist()]
        assert sorted((row["id"], row["batch"]) for row in rows) == [("a", 2), ("b", 3)]
    counts = [count for change in store.changes(seen) or [] for count in change.counts]
    assert sum(count.posts for count in counts if count.keyword == "m") == -2
    assert store.delete("ab", but_newest=True) == 0


@pytest.mark.parametrize("as_uri", [False, True])
def test_what_a_crash_left_behind_goes_with_the_next_vacuum(tmp_path: Path, as_uri: bool) -> None:
    place = tmp_path / "my posts"
    store = PostStore(place.as_uri() if as_uri else place, Windowing())
    store.append(posts("a"), [["m"]], source="s", batch=1, cursor="1")
    whole = next(place.rglob("*.parquet"))
    left = [whole.with_name("part-1.zstd.parquet#1"), whole.with_name("part-2.zstd.parquet")]
    for path in left:
        path.write_bytes(b"half")
    store.vacuum()
    assert all(path.exists() for path in left), "it may still be being written"
    assert store.vacuum(timedelta(0)) == 2
    assert not any(path.exists() for path in left)
    assert whole.exists()


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(hostile=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_ids_are_never_read_as_sql(tmp_path_factory: pytest.TempPathFactory, hostile: str) -> None:
    store = PostStore(tmp_path_factory.mktemp("hostile") / "posts", Windowing())
    batch = to_batch(Post(id=name, time=MONDAY, text="x") for name in (hostile, "' OR 1=1 --", hostile + "'"))
    store.append(batch, [["m"]] * 3, source="s", batch=1, cursor="1")
    assert store.delete([hostile]) == 1
    assert ids(store) == sorted(["' OR 1=1 --", hostile + "'"])


def test_windows_expire_whole_once_they_have_ended(store: PostStore, add: Add) -> None:
    for week in range(3):
        add(str(week), week=week)
    assert store.expire(MONDAY + timedelta(weeks=2, hours=-1)) == [store.windowing.holding(MONDAY)]
    assert ids(store) == ["1", "2"]
    assert store.expire(MONDAY) == []


def test_the_log_expires_within_seven_days_and_nothing_is_lost_with_it(store: PostStore, add: Add) -> None:
    for name in "abc":
        add(name)
    store.delete(["a"])
    entries = list((Path(store.uri) / "_delta_log").glob("*.json"))
    store.vacuum(timedelta(0))
    long_ago = (datetime.now(UTC) - timedelta(days=5, hours=1)).timestamp()
    for entry in files(store):
        os.utime(entry, (long_ago, long_ago))
    store.vacuum(timedelta(0))
    assert not any(entry.exists() for entry in entries)
    late = reopened(store)
    assert late.changes(0) is None
    assert late.position("stream") == Position(3, "after 3")
    assert ids(late) == ["b", "c"]


def test_with_pseudonyms_no_name_is_stored(tmp_path: Path) -> None:
    key = tmp_path / "key"
    store = PostStore(tmp_path / "posts", Windowing(), pseudonyms=Pseudonyms.open(key))
    batch = to_batch(
        [
            Post(id="at://did:bob/1", time=MONDAY, text="x", author="did:bob"),
            Post(id="2", time=MONDAY, text="hello @bob", author="did:eve", repost_of="at://did:bob/1"),
            Post(id="3", time=MONDAY, text="y", author="did:bob", repost_of=""),
            Post(id="4", time=MONDAY, text="z"),
        ]
    )
    store.append(batch, [["m"]] * 4, source="s", batch=1, cursor="1")
    table = store.read().table()
    found = {table[row].text: table[row] for row in range(4)}
    assert found["x"].author == found["y"].author != found["hello @bob"].author
    assert found["hello @bob"].repost_of == found["x"].id
    assert (found["y"].repost_of, found["z"].author) == ("", None)
    assert not any(b"did:" in path.read_bytes() for path in files(store))
    again = PostStore(store.uri, Windowing(), pseudonyms=Pseudonyms.open(key))
    assert again.append(batch, [["m"]] * 4, source="s", batch=2, cursor="2").duplicates == 4
    assert again.delete(["at://did:bob/1"]) == 1
