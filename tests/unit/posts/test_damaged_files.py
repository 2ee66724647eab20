"""Of a damaged file, packed or not, what lies before the damage is read, and the damage is counted."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from klda.errors import InputError
from klda.posts import read_posts
from tests.unit.posts.posts_on_disk import GOOD, START, good, read, written


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_cut_off_packed_file_keeps_what_was_read_and_counts_the_damage(tmp_path: Path, pack: object) -> None:
    packed = pack(good(60_000).encode())  # type: ignore[operator]
    path = written(tmp_path / "a.jsonl.gz", packed[: len(packed) * 3 // 4])
    report = read(path).report
    assert 10_000 < report.posts < 60_000
    assert dict(report.bad) == {"damaged file": 1}
    assert report.examples[0].line == report.lines
    with pytest.raises(InputError, match="damaged file"):
        list(read_posts(path, strict=True))


def test_a_packed_table_cut_off_in_its_header_is_damaged_not_foreign(tmp_path: Path) -> None:
    packed = gzip.compress(b"id,time,text\n1,2026-01-05T10:00:00Z,a\n")
    assert dict(read(written(tmp_path / "a.csv.gz", packed[:12])).report.bad) == {"damaged file": 1}


def test_damaged_parquet_is_one_bad_record(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["1"], "time": [START], "text": ["a"]}), tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    for name, content in (("cut.parquet", whole[:-20]), ("cut.parquet.gz", gzip.compress(whole)[:-40])):
        assert dict(read(written(tmp_path / name, content)).report.bad) == {"damaged file": 1}


def test_damage_inside_parquet_keeps_the_rows_before_it(tmp_path: Path) -> None:
    rows = 100_000
    table = pa.table({"id": [str(i) for i in range(rows)], "time": [START] * rows, "text": ["some words"] * rows})
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=40_000, compression="gzip", use_dictionary=False)
    content = bytearray(path.read_bytes())
    middle = pq.ParquetFile(path).metadata.row_group(2).column(0).data_page_offset
    content[middle : middle + 200] = b"\xff" * 200
    report = read(written(path, bytes(content))).report
    assert report.posts >= 40_000
    assert dict(report.bad) == {"damaged file": 1}


def test_a_broken_json_array_keeps_what_was_read(tmp_path: Path) -> None:
    rows = [json.loads(GOOD % (i, i)) for i in range(20)]
    for cut in (json.dumps(rows)[:-200], json.dumps(rows)[:-1], json.dumps(rows) + "]"):
        report = read(written(tmp_path / "a.json", cut)).report
        assert report.posts >= 15
        assert dict(report.bad) == {"damaged file": 1}


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_a_file_that_vanishes_before_it_is_read_is_named(tmp_path: Path, name: str) -> None:
    pq.write_table(pa.table({"id": ["1"], "time": [START], "text": ["a"]}), tmp_path / "a.parquet")
    written(tmp_path / "a.jsonl", good(1))
    reader = read_posts(tmp_path / name)
    (tmp_path / name).unlink()
    with pytest.raises(InputError, match=name):
        list(reader)
