from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from klda.posts.schema import to_batch
from klda.store.delta.post_store import PostStore
from klda.store.sql.database import Database
from klda.store.sql.records import Records
from klda.text.windows import Windowing
from klda.types import Post
from tests.unit.store import postgres

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
Add = Callable[..., bool]
"""What the fixture `add` is."""


def posts(*ids: str, week: int = 0, author: str = "bob") -> pa.RecordBatch:
    return to_batch(
        Post(id=name, time=MONDAY + timedelta(weeks=week, minutes=i), text=f"text of {name}", author=author)
        for i, name in enumerate(ids)
    )


@pytest.fixture
def store(tmp_path: Path) -> PostStore:
    return PostStore(tmp_path / "posts", Windowing())


@pytest.fixture
def add(store: PostStore) -> Add:
    """Appends posts that all carry the keyword `mask`, as the next batch."""

    def append(*ids: str, week: int = 0, source: str = "stream", keywords: tuple[str, ...] = ("mask",)) -> bool:
        last = store.position(source)
        number = last.batch + 1 if last else 1
        batch = posts(*ids, week=week)
        return store.append(
            batch, [keywords] * len(ids), source=source, batch=number, cursor=f"after {number}"
        ).committed

    return append


def ids(store: PostStore, **arguments: object) -> list[str]:
    found = store.read(**arguments)  # type: ignore[arg-type]
    return sorted(name for batch in found.batches() for name in batch.column("id").to_pylist())


def files(store: PostStore) -> list[Path]:
    return sorted(path for path in Path(store.uri).rglob("*") if path.is_file())


def reopened(store: PostStore, **arguments: object) -> PostStore:
    return PostStore(store.uri, store.windowing, **arguments)  # type: ignore[arg-type]


server = pytest.fixture(scope="session")(postgres.running)


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "state.db")
    server: postgres.Server = request.getfixturevalue("server")
    server.clear()
    return server.address


class Clock:
    """A clock that moves on by a minute each time it is asked."""

    def __init__(self) -> None:
        self.time = MONDAY

    def __call__(self) -> datetime:
        self.time += timedelta(minutes=1)
        return self.time


@pytest.fixture
def records(address: str) -> Iterator[Records]:
    opened = Records(Database(address), "health", clock=Clock())
    yield opened
    opened.close()
