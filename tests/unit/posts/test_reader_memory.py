"""Reading takes as much memory for a long file, or a long line, as for a short one."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from klda.posts import read_posts
from tests.unit.posts.posts_on_disk import good, read, written


def peak_of(path: Path) -> int:
    """The most memory that reading a file takes at any one time, as Python and Arrow count it."""
    arrow = 0
    tracemalloc.start()
    for _ in read_posts(path).batches():
        arrow = max(arrow, pa.total_allocated_bytes())
    python = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return python + arrow


@pytest.mark.parametrize("kind", ["jsonl", "csv", "json", "parquet"])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("klda.posts.reader.BATCH_ROWS", 1_000)
    monkeypatch.setattr("klda.posts.columnar.TABLE_ROWS", 1_000)
    monkeypatch.setattr("klda.posts.files.CHUNK", 100_000)

    def write(count: int) -> Path:
        rows = [{"id": str(i % 900), "time": "2026-01-05T10:00:00Z", "text": f"{i} " + "x" * 300} for i in range(count)]
        path = tmp_path / f"{count}.{kind}"
        if kind == "parquet":
            pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=2_000)
        elif kind == "csv":
            written(path, "id,time,text\n" + "".join(",".join(row.values()) + "\n" for row in rows))
        elif kind == "json":
            written(path, json.dumps(rows))
        else:
            written(path, "\n".join(map(json.dumps, rows)))
        return path

    small, large = write(4_000), write(16_000)
    peak_of(small)  # first use of the libraries
    assert peak_of(large) < peak_of(small) * 1.25


def test_a_line_of_100_mb_is_passed_over_without_being_held(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.write(good(1).encode() + b'{"text": "')
        for _ in range(100):
            file.write(b"a" * 1_000_000)
        file.write(b'"}\n' + good(1, start=1).encode())
    assert peak_of(path) < 45_000_000
    assert dict(read(path).report.bad) == {"line over 10 MB": 1}
