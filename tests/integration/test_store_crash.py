"""The store under a process that is killed at any moment, a full disk, and readers that do not wait."""

from __future__ import annotations

import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from klda.errors import StoreError
from klda.posts.schema import to_batch
from klda.store import Position, PostStore, Records
from klda.text.windows import Windowing
from klda.types import Post

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
STREAM = 6000
BATCH = 40
STEP_BACK = 25


def stream(start: int, end: int) -> pa.RecordBatch:
    """Some posts of an endless stream, whose cursor is the number of the next post."""
    return to_batch(
        Post(id=str(n), time=MONDAY + timedelta(minutes=11 * n), text=random.Random(n).randbytes(60).hex())
        for n in range(start, end)
    )


def collect(folder: str) -> None:
    """Collects the whole stream, as a process that does not know how often it was killed before."""
    store = PostStore(Path(folder) / "posts", Windowing())
    records = Records(Path(folder) / "state.db", "crash")
    records.volume.catch_up(store)
    print("up", flush=True)
    place = store.position("stream")
    batch, at = (place.batch, int(place.cursor)) if place else (0, 0)
    at = max(0, at - STEP_BACK)
    while at < STREAM:
        end = min(at + BATCH, STREAM)
        batch += 1
        store.append(
            stream(at, end),
            [["all"]] * (end - at),
            source="stream",
            batch=batch,
            cursor=str(end),
            sample=stream(at, at + 1),
        )
        records.volume.catch_up(store)
        if batch % 25 == 0:
            store.vacuum()
        at = end


def run_collector(folder: Path) -> subprocess.Popen[str]:
    code = "import sys; from tests.integration.test_store_crash import collect; collect(sys.argv[1])"
    return subprocess.Popen([sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_a_collector_that_is_killed_again_and_again_loses_and_doubles_nothing(tmp_path: Path) -> None:
    draw = random.Random(5)
    kills = 0
    while True:
        with run_collector(tmp_path) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "up\n"
            if kills < 8:
                time.sleep(draw.uniform(0, 0.5))
                process.send_signal(signal.SIGKILL)
            ended = process.wait()
        if ended == 0:
            break
        assert ended == -signal.SIGKILL
        kills += 1
    store, records = PostStore(tmp_path / "posts", Windowing()), Records(tmp_path / "state.db", "crash")
    stored = Counter(name for batch in store.read().batches() for name in batch.column("id").to_pylist())
    assert kills > 5
    assert set(stored) == {str(n) for n in range(STREAM)}
    assert max(stored.values()) == 1
    assert records.volume.total() == STREAM
    assert records.volume.total(sample=True) == len(store.read(sample=True))
    store.vacuum(timedelta(0))
    known = {Path(uri) for uri in DeltaTable(store.uri).file_uris()}
    left = {path for path in (tmp_path / "posts").rglob("*") if path.is_file() and "_delta_log" not in path.parts}
    assert left == known, "what a crash left behind is gone"
    records.close()


@contextmanager
def file_limit(folder: Path) -> Iterator[None]:
    """No file may grow beyond a few kilobytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """The folder lies on a disk of its own with little room, which then grows."""
    if shutil.which("mount") is None or subprocess.run(_mount(folder, "size=1m"), capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here; the file limit is tested")
    yield
    subprocess.run(_mount(folder, "remount,size=64m"), check=True)


def _mount(folder: Path, options: str) -> list[str]:
    return ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    yield place
    if place.is_mount():
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("short_of_room", [file_limit, small_disk])
def test_a_full_disk_is_a_clear_error_and_nothing_half_written_counts(
    folder: Path, tmp_path: Path, short_of_room: Callable[[Path], AbstractContextManager[None]]
) -> None:
    records = Records(tmp_path / "state.db", "full")
    done = 0

    def add(store: PostStore, rows: int) -> None:
        posts, cursor = stream(done, done + rows), str(done + rows)
        number = (store.position("s") or Position(0, "")).batch + 1
        store.append(posts, [["all"]] * rows, source="s", batch=number, cursor=cursor)

    with short_of_room(folder):
        store = PostStore(folder / "posts", Windowing())
        error = None
        for rows in range(100, 3000, 100):
            try:
                add(store, rows)
            except StoreError as caught:
                error = caught
                break
            done += rows
        assert "the posts cannot be written" in str(error)
        fresh = PostStore(store.uri, Windowing())
        assert len(fresh.read()) == done > 0
        assert fresh.position("s") == store.position("s")
    for again in (store, fresh):
        add(again, 3000)
        done += 3000
        records.volume.catch_up(again)
    stored = [name for batch in store.read().batches() for name in batch.column("id").to_pylist()]
    assert sorted(stored, key=int) == [str(n) for n in range(done)]
    assert records.volume.total() == done
    records.close()


def test_readers_always_see_whole_batches_while_one_writes(tmp_path: Path) -> None:
    store = PostStore(tmp_path / "posts", Windowing())
    writing = True

    def read(_: int) -> list[int]:
        own, seen = PostStore(store.uri, Windowing()), []
        while writing:
            ids = [name for batch in own.read().batches() for name in batch.column("id").to_pylist()]
            assert len(set(ids)) == len(ids)
            seen.append(len(ids))
        return seen

    with ThreadPoolExecutor(2) as pool:
        readers = pool.map(read, range(2))
        try:
            for number in range(1, 80):  # enough for a compaction in between
                store.append(
                    stream(10 * number, 10 * number + 10), [["all"]] * 10, source="s", batch=number, cursor=str(number)
                )
        finally:
            writing = False
        for seen in readers:
            assert seen == sorted(seen)
            assert all(n % 10 == 0 for n in seen)
            assert len(set(seen)) > 1
