"""A monitor whose posts lie on object storage, over the real protocol: the whole loop, two writers, a killed writer."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from klda.errors import StoreError
from klda.monitor.calendar import close
from klda.monitor.collect import Collector
from klda.monitor.create import create
from klda.monitor.export import export
from klda.monitor.forget import vacuum
from klda.monitor.monitor import Monitor, opened
from klda.monitor.monitor_settings import MonitorSettings
from klda.monitor.propose import propose
from klda.posts.schema import to_batch
from klda.store import PostStore
from klda.streams import Deleted
from klda.text.windows import Windowing
from klda.types import Post
from tests.servers import s3
from tests.unit.monitor.conftest import MONDAY, WEEK, Scripted, received, row, write_posts

STREAM, BATCH = 600, 30


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with s3.running() as started:
        yield started


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "tests")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3.SECRET)
    monkeypatch.setenv("AWS_REGION", s3.REGION)


def options(address: str) -> dict[str, str]:
    return {"aws_endpoint_url": address, "aws_allow_http": "true"}


def made(folder: Path, address: str) -> Path:
    """A home with one monitor, whose posts lie in the bucket."""
    values = {
        "subject": "health",
        "keywords": ["hospital"],
        "source": f"replay:{write_posts(folder / 'posts.jsonl', [row('first')])}",
        "policy": "counting",
        "sample": 0.0,
        "storage": {"posts": f"s3://{s3.BUCKET}/{folder.name}", "options": options(address)},
    }
    create(folder / "home", "health", MonitorSettings.of(values), created_by="ann")
    return folder / "home"


def ids(store: PostStore) -> Counter[str]:
    return Counter(name for batch in store.read().batches() for name in batch.column("id").to_pylist())


def collect(monitor: Monitor, *bursts: list[object]) -> None:
    asyncio.run(Collector(monitor, Scripted(*bursts)).run(asyncio.Event()))  # type: ignore[arg-type]


def test_the_whole_loop_runs_and_what_is_deleted_leaves_the_bucket(tmp_path: Path, address: str) -> None:
    words = ["ward", "nurse", "patient", "visit", "night", "shift", "drug"]
    rows = [
        row(f"{week}-{n}", f"hospital {words[n % 7]} {words[n % 5]} {week}-{n}-whisper", week=week + n / 100)
        for week in (0, 1)
        for n in range(40)
    ]
    with opened(made(tmp_path, address), "health") as monitor:
        collect(monitor, received(*rows))
        assert [window.start for window in close(monitor, MONDAY + 2 * WEEK)] == [MONDAY, MONDAY + WEEK]
        assert propose(monitor).proposal.current.texts == ("hospital",)
        assert export(monitor, tmp_path / "all.jsonl") == 80
        collect(monitor, received(*rows), [Deleted("1-7")])
        assert vacuum(monitor, grace=timedelta(0)).files > 0
        assert set(ids(monitor.posts())) == {one.id for one in rows} - {"1-7"}
        assert monitor.records.volume.total() == 79
        assert vacuum(monitor, "1d").windows, "both windows are older than a day"
        assert not ids(monitor.posts())
        everywhere = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
        assert not any(s3.SECRET.encode() in held for held in (*everywhere, *s3.content(address).values()))


def test_a_deleted_post_is_in_no_object_of_the_bucket(tmp_path: Path, address: str) -> None:
    store = PostStore(f"s3://{s3.BUCKET}/{tmp_path.name}", Windowing(), storage_options=options(address))
    posts = [Post(name, MONDAY, f"text of {name}", f"author of {name}") for name in ("kept", "gone")]
    store.append(to_batch(posts), [["text"]] * 2, source="stream", batch=1, cursor="1")
    assert store.delete(["gone"]) == 1
    store.vacuum(timedelta(0))
    data = {name: held for name, held in s3.content(address, tmp_path.name).items() if name.endswith("zstd.parquet")}
    assert len(data) == 1
    assert list(ids(store)) == ["kept"]


def test_of_two_writers_at_once_one_stores_each_batch(tmp_path: Path, address: str) -> None:
    place = f"s3://{s3.BUCKET}/{tmp_path.name}"
    stores = [PostStore(place, Windowing(), storage_options=options(address)) for _ in range(2)]

    def write(store: PostStore, source: str) -> list[bool]:
        done = []
        for number in range(1, 9):
            batch = to_batch([Post(f"{source}-{number}", MONDAY, "text", "a")])
            done.append(store.append(batch, [["text"]], source=source, batch=number, cursor=str(number)).committed)
        return done

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(write, stores, ("one", "two"))
    assert all(first + second)
    fresh = PostStore(place, Windowing(), storage_options=options(address))
    assert ids(fresh) == Counter(f"{source}-{n}" for source in ("one", "two") for n in range(1, 9))
    assert [fresh.position(source) for source in ("one", "two")] == [
        store.position(s) for store, s in zip(stores, ("one", "two"), strict=True)
    ]


def stream(place: str, address: str) -> None:
    """Stores a stream from where it stands, as a process that does not know how often it was killed before."""
    store = PostStore(place, Windowing(), storage_options=options(address))
    print("up", flush=True)
    last = store.position("stream")
    batch, at = (last.batch, int(last.cursor)) if last else (0, 0)
    at = max(0, at - BATCH // 2)
    while at < STREAM:
        posts = to_batch(Post(str(n), MONDAY + timedelta(minutes=n), f"text {n}", "a") for n in range(at, at + BATCH))
        batch, at = batch + 1, at + BATCH
        store.append(posts, [["text"]] * BATCH, source="stream", batch=batch, cursor=str(at))


def test_a_writer_that_is_killed_again_and_again_loses_and_doubles_nothing(tmp_path: Path, address: str) -> None:
    place = f"s3://{s3.BUCKET}/{tmp_path.name}"
    code = "import sys; from tests.integration.test_object_storage import stream; stream(*sys.argv[1:])"
    kills = 0
    while True:
        command = [sys.executable, "-c", code, place, address]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "up\n"
            if kills < 3:
                time.sleep(0.15 + 0.11 * kills)
                process.send_signal(signal.SIGKILL)
            if process.wait() == 0:
                break
        kills += 1
    found = ids(PostStore(place, Windowing(), storage_options=options(address)))
    assert kills >= 2
    assert {str(n) for n in range(STREAM)} <= set(found)
    assert max(found.values()) == 1


def test_a_bucket_that_is_not_there_is_named_and_no_secret_is(tmp_path: Path, address: str) -> None:
    with pytest.raises(StoreError, match=r"s3://nowhere/posts: the posts cannot be opened") as failure:
        PostStore("s3://nowhere/posts", Windowing(), storage_options=options(address)).append(
            to_batch([Post("1", datetime(2026, 1, 5, tzinfo=UTC), "text", "a")]),
            [["text"]],
            source="s",
            batch=1,
            cursor="",
        )
    assert s3.SECRET not in str(failure.value)
