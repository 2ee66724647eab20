from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from klda.corpus.posts import to_batch
from klda.corpus.windows import Windowing
from klda.store.posts import PostStore
from klda.types import Post

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)


def posts(*ids: str, week: int = 0, author: str = "bob") -> pa.RecordBatch:
    return to_batch(
        Post(id=name, time=MONDAY + timedelta(weeks=week, minutes=i), text=f"text of {name}", author=author)
        for i, name in enumerate(ids)
    )


@pytest.fixture
def store(tmp_path: Path) -> PostStore:
    return PostStore(tmp_path / "posts", Windowing())


@pytest.fixture
def add(store: PostStore) -> Callable[..., bool]:
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
