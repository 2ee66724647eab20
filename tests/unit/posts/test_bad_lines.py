"""A bad line is counted with its place and reason, costs no other line, and ends a strict reading."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from klda.errors import InputError
from klda.posts import read_posts
from tests.unit.posts.posts_on_disk import START, good, read, written

BAD_LINES: dict[str, bytes] = {
    "broken JSON": b'{"id": "x", "text": "cut',
    "not an object": b'"just text"',
    "no id": b'{"id": null, "time": "2026-01-05T10:00:00Z", "text": "a"}',
    "no text": b'{"id": "x", "time": "2026-01-05T10:00:00Z"}',
    "no time": b'{"id": "x", "text": "a"}',
    "time without zone": b'{"id": "x", "time": "2026-01-05T10:00:00", "text": "a"}',
    "unreadable time": b'{"id": "x", "time": "yesterday", "text": "a"}',
    "time out of range": b'{"id": "x", "time": "9999-01-05T10:00:00Z", "text": "a"}',
    "NUL bytes": b'{"id": "x", "time": "2026-01-05T10:00:00Z", "text": "a\\u0000b"}',
    "invalid UTF-8": b'{"id": "x", "time": "2026-01-05T10:00:00Z", "text": "\xff\xfe"}',
    "line over 10 MB": b'{"id": "x", "text": "' + b"a" * 10_000_000 + b'"}',
}


@pytest.mark.parametrize("reason", BAD_LINES)
def test_a_bad_line_is_counted_with_file_line_and_reason(tmp_path: Path, reason: str) -> None:
    path = written(tmp_path / "posts.jsonl", good(2).encode() + BAD_LINES[reason] + b"\n" + good(2, start=2).encode())
    report = read(path).report
    assert (report.lines, report.posts, dict(report.bad)) == (5, 4, {reason: 1})
    [example] = report.examples
    assert (example.file, example.line, example.reason) == (str(path), 3, reason)
    assert example.hint


@pytest.mark.parametrize("reason", BAD_LINES)
def test_strict_reading_hands_out_what_came_before_and_names_file_line_and_reason(tmp_path: Path, reason: str) -> None:
    path = written(tmp_path / "posts.jsonl", good(2).encode() + BAD_LINES[reason] + b"\n" + good(2, start=2).encode())
    reader = read_posts(path, strict=True)
    ids = []
    with pytest.raises(InputError, match=rf"posts\.jsonl, line 3: {reason}.*; \w+"):
        ids.extend(post.id for post in reader)
    assert reader.report.lines == reader.report.accounted == 3


def test_strict_reading_names_the_field_and_what_to_do(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", '{"id": 1, "time": "2026-01-05T10:00:00", "text": "a"}')
    with pytest.raises(
        InputError, match=r"line 1: time without zone in field 'time' \('2026-01-05T10:00:00'\); .*timezone="
    ):
        list(read_posts(path, strict=True))


def test_raw_nul_bytes_are_told_apart_from_broken_json(tmp_path: Path) -> None:
    assert dict(read(written(tmp_path / "a.jsonl", good(1) + "\0\0\0\n")).report.bad) == {"NUL bytes": 1}


def test_examples_are_limited_but_counts_are_not(tmp_path: Path) -> None:
    report = read(written(tmp_path / "a.jsonl", "{\n{x\n" * 200)).report
    assert report.bad["broken JSON"] == 400
    assert len(report.examples) == 100


def test_csv_survives_stray_quotes_wrong_cell_counts_and_invalid_bytes(tmp_path: Path) -> None:
    rows = [
        b"id,time,text",
        b"1,2026-01-05T10:00:00Z,one",
        b'2,2026-01-05T10:00:00Z,"never closed',
        b"3,2026-01-05T10:00:00Z,three",
        b"4,2026-01-05T10:00:00Z,too,many",
        b"5,2026-01-05T10:00:00Z,\xff",
        b"",
        b'6,2026-01-05T10:00:00Z,"six ""6"""',
    ]
    report = (reader := read(written(tmp_path / "a.csv", b"\r\n".join(rows)))).report
    assert dict(report.bad) == {"broken row": 1, "wrong number of columns": 1, "invalid UTF-8": 1}
    assert dict(report.skipped) == {"keep-alive": 1}
    assert (report.examples[0].line, report.examples[0].reason) == (3, "broken row")
    assert [post.text for post in reader] == ["one", "three", 'six "6"']


def test_a_cut_off_first_line_does_not_hide_the_lines_after_it(tmp_path: Path) -> None:
    for first in ("{", "[", '[{"id": 1,', '{"id": 1,', '{"a'):
        content = first + "\n" + good(3) if first != "[" else '[{"id"\n' + good(3)
        report = read(written(tmp_path / "a.jsonl", content)).report
        assert (report.posts, dict(report.bad)) == (3, {"broken JSON": 1})


def test_parquet_and_json_lines_agree_on_every_problem(tmp_path: Path) -> None:
    times = ["2026-01-05T10:00:00Z", "2026-01-05", None, "soon", "", 5, 1767607200, 1767607200000, True]
    rows = [
        {
            "id": i,
            "time": str(time) if isinstance(time, int) else time,
            "text": text,
            "author": author,
            "is_retweet": flag,
        }
        for i, (time, text, author, flag) in enumerate(
            [(time, "words", "anna", None) for time in times]
            + [(times[0], text, "", True) for text in ("", " \u3000\u2028", None, "a\0b", "\x1f", "fine")]
            + [(times[0], "same", author, False) for author in ("", None, "berta")]
        )
    ]
    written(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    lines, table = (read(tmp_path / name) for name in ("a.jsonl", "a.parquet"))
    assert list(lines) == list(table)
    assert dict(lines.report.bad) == dict(table.report.bad)
    assert [(e.line, e.reason, e.field) for e in lines.report.examples] == [
        (e.line, e.reason, e.field) for e in table.report.examples
    ]


def test_strict_parquet_hands_out_the_rows_before_the_bad_one(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"id": ["1", "2", "3"], "time": [START] * 3, "text": ["a", None, "c"]}), tmp_path / "a.parquet"
    )
    reader = read_posts(tmp_path / "a.parquet", strict=True)
    posts = reader.batches()
    assert next(posts).num_rows == 1
    with pytest.raises(InputError, match=r"a\.parquet, line 2: no text in field 'text'"):
        next(posts)
    assert reader.report.lines == reader.report.accounted == 2
