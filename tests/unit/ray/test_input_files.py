from __future__ import annotations

from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from klda.errors import InputError
from klda.ray import input_files
from klda.ray.input_files import SourceFile, delta_files, grouped, is_delta, on_this_machine, remote_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.jsonl", "a/c.jsonl", ".hidden", "a/.also/d.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    return tmp_path


def test_files_at_an_address_are_sorted_hidden_ones_left_out_and_can_be_copied_here(folder: Path):
    found = remote_files(f"file://{folder}")
    assert [file.path for file in found] == [f"file://{folder}/a/c.jsonl", f"file://{folder}/b.jsonl"]
    with on_this_machine([*found, SourceFile(str(folder / "b.jsonl"), True, 1)]) as here:
        assert [path.read_text(encoding="utf-8") for path, _ in here] == ["a/c.jsonl", "b.jsonl", "b.jsonl"]
        assert [named for _, named in here] == [False, False, True]
    assert [path.exists() for path, _ in here] == [False, False, True]


def test_one_file_at_an_address_counts_as_named(folder: Path):
    assert remote_files(f"file://{folder}/b.jsonl") == [SourceFile(f"file://{folder}/b.jsonl", True, 7)]


def test_an_address_without_anything_is_named(folder: Path):
    with pytest.raises(InputError, match="nothing-here: there is no such file"):
        remote_files(f"file://{folder}/nothing-here")


def test_a_delta_table_is_its_last_version(tmp_path: Path):
    table = tmp_path / "table"
    write_deltalake(table, pa.table({"id": ["1", "2"]}))
    write_deltalake(table, pa.table({"id": ["3"]}), mode="overwrite")
    assert is_delta(table)
    assert is_delta(f"file://{table}")
    assert not is_delta(tmp_path)
    (found,) = delta_files(table)
    with on_this_machine([found]) as ((path, named),):
        assert pq.read_table(path).column("id").to_pylist() == ["3"]
    assert named
    assert found.size > 0


def test_what_a_delta_table_is_partitioned_by_is_a_column_of_its_files(tmp_path: Path):
    rows = [
        {"id": str(i), "language": language, "day": date(2026, 1, 1 + i % 2)}
        for i, language in enumerate(["en", "pt BR/x", "50%", None] * 3)
    ]
    for start in (0, 6):
        part = pa.Table.from_pylist(rows[start : start + 6])
        write_deltalake(tmp_path / "table", part, partition_by=["language", "day"], mode="append")
    found = delta_files(tmp_path / "table")
    assert [file.path for file in found] == sorted(file.path for file in found)
    with on_this_machine(found) as here:
        tables = [pq.ParquetFile(path).read() for path, _ in here]
    read = [row for table in tables for row in table.to_pylist()]
    assert sorted(read, key=lambda row: int(row["id"])) == rows
    (unneeded,) = {file.constants for file in delta_files(tmp_path / "table", lambda own, partitions: [])}
    assert unneeded == ()


def test_a_damaged_file_of_a_partitioned_table_is_left_for_the_reader(tmp_path: Path):
    file = tmp_path / "part.parquet"
    file.write_bytes(b"PAR1 no more")
    with on_this_machine([SourceFile(str(file), True, 12, (("language", pa.scalar("en")),))]) as here:
        assert here == [(file, True)]


def test_small_neighbours_share_a_task_and_keep_their_order(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(input_files, "GROUP_BYTES", 10)
    files = [SourceFile(str(i), True, size) for i, size in enumerate([4, 5, 3, 30, 1, 2])]
    assert [[file.size for file in group] for group in grouped(files)] == [[4, 5], [3], [30], [1, 2]]
