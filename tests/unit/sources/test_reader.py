"""Reading files: nothing is lost, nothing but our own errors escapes, and memory does not grow."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from klda.corpus.posts import POST_SCHEMA, HasBatches
from klda.errors import InputError, SettingError
from klda.sources import PostReader, read_posts

GOOD = '{"id": "%d", "time": "2026-01-05T10:00:00Z", "text": "post number %d", "author": "anna"}\n'
START = datetime(2026, 1, 5, tzinfo=UTC)


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(path: Path, **options: object) -> PostReader:
    """A reader that has read everything."""
    reader = read_posts(path, **options)  # type: ignore[arg-type]
    posts = list(reader)
    assert reader.report.lines == reader.report.accounted
    assert reader.report.posts == len(posts)
    return reader


def good(count: int, start: int = 0) -> str:
    return "".join(GOOD % (i, i) for i in range(start, start + count))


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


def test_windows_line_ends_byte_order_mark_blank_lines_and_a_missing_last_line_end(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + good(2).replace("\n", "\r\n\r\n").encode() + good(1, start=2).strip().encode()
    report = read(written(tmp_path / "a.jsonl", content)).report
    assert (report.lines, report.posts, dict(report.skipped)) == (5, 3, {"keep-alive": 2})


def test_duplicates_are_dropped_within_and_across_files_and_the_first_wins(tmp_path: Path) -> None:
    other = GOOD.replace("post number", "another text for") % (1, 1)
    written(tmp_path / "a.jsonl", good(3) + other)
    written(tmp_path / "b.jsonl", other + good(2, start=2))
    reader = read_posts(tmp_path)
    assert [post.text for post in reader] == [f"post number {i}" for i in range(4)]
    assert reader.report.duplicates == 3


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet", "a.json", "a"])
def test_packed_files_are_recognised_whatever_their_name(tmp_path: Path, pack: object, name: str) -> None:
    rows = [{"id": str(i), "time": START, "text": f"post {i}"} for i in range(5)]
    if name == "a.parquet":
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / "plain")
        plain = (tmp_path / "plain").read_bytes()
    elif name == "a.csv":
        plain = b"id;time;text\n" + b"".join(b"%d;2026-01-05T10:00:00Z;hi\n" % i for i in range(5))
    elif name == "a.json":
        plain = json.dumps([row | {"time": START.isoformat()} for row in rows]).encode()
    else:
        plain = good(5).encode()
    path = written(tmp_path / f"{name}.packed", pack(plain))  # type: ignore[operator]
    assert read(path).report.posts == 5


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


def test_a_folder_is_read_in_order_without_hidden_and_foreign_files(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / ".cache").mkdir()
    written(tmp_path / "inner" / "b", good(1, start=1))
    written(tmp_path / "a.ndjson", good(1))
    written(tmp_path / ".hidden.jsonl", good(1, start=2))
    written(tmp_path / ".cache" / "c.jsonl", good(1, start=3))
    written(tmp_path / "README", "Nothing to see here.\n")
    written(tmp_path / "empty.jsonl", "")
    reader = read(tmp_path)
    assert [post.id for post in reader] == ["0", "1"]
    assert dict(reader.report.skipped) == {"unknown format": 1}


def test_a_missing_or_unknown_file_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.jsonl: there is no such file"):
        read_posts(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="neither JSON"):
        read_posts(written(tmp_path / "letter.txt", "Dear all,\n"))
    with pytest.raises(InputError, match="no file to read"):
        read_posts([])


def test_an_empty_file_has_no_lines(tmp_path: Path) -> None:
    assert read(written(tmp_path / "a.jsonl", "")).report.lines == 0
    assert read(written(tmp_path / "a.jsonl.gz", gzip.compress(b""))).report.lines == 0


def test_tables_without_a_text_column_are_refused_with_the_columns_they_have(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "id,when_,words\n1,2026-01-05T10:00:00Z,hello\n")
    with pytest.raises(InputError, match=r"a\.csv: no column for time, text among id, when_, words; .*mapping="):
        read_posts(path)
    reader = read(path, mapping={"time": "when_", "text": "words"})
    assert [post.text for post in reader] == ["hello"]


def test_a_mapping_leads_into_nested_records_and_goes_before_what_is_recognised(tmp_path: Path) -> None:
    record = {
        "id_str": "1",
        "created_at": "2026-01-05T10:00:00Z",
        "text": "a",
        "user": {"name": "anna"},
        "t": {"de": "b"},
    }
    path = written(tmp_path / "a.jsonl", json.dumps(record))
    [post] = read_posts(path, mapping={"author": "user.name", "text": "t.de"})
    assert (post.author, post.text, post.id) == ("anna", "b", "1")


def test_unknown_settings_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", good(1))
    for options, message in (
        ({"mapping": {"words": "text"}}, "mapping names 'words'"),
        ({"reposts": "maybe"}, "reposts must be"),
        ({"timezone": "Mars/Olympus"}, "timezone='Mars/Olympus'"),
        ({"timezone": "../etc"}, "timezone="),
        ({"languages": ["und"]}, "languages="),
    ):
        with pytest.raises(SettingError, match=message):
            read_posts(path, **options)  # type: ignore[arg-type]


def test_a_stated_zone_is_taken_for_times_without_one(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "id,time,text\n1,2026-07-05 12:00:00,a\n2,2026-07-05T10:00:00Z,b\n")
    assert dict(read(path).report.bad) == {"time without zone": 1}
    first, second = read_posts(path, timezone="Europe/Berlin")
    assert first.time == second.time


def test_without_an_id_column_equal_posts_get_equal_ids(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "time,text\n" + "2026-01-05T10:00:00Z,a\n" * 2 + "2026-01-05T10:00:01Z,a\n")
    report = read(path).report
    assert (report.posts, report.duplicates) == (2, 1)


def test_languages_are_filtered_by_the_stated_or_else_the_guessed_one(tmp_path: Path) -> None:
    texts = [
        ("en-US", "x"),
        ("de", "y"),
        (None, "The committee will discuss the budget on Thursday."),
        (None, "Der Ausschuss wird am Donnerstag über den Haushalt beraten."),
        ("und", "Das ist wirklich eine sehr schöne Geschichte, findest du nicht?"),
    ]
    rows = [{"id": i, "time": 1767607200, "text": text, "lang": tag} for i, (tag, text) in enumerate(texts)]
    path = written(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))
    reader = read(path, languages=["EN"])
    assert [post.id for post in reader] == ["0", "2"]
    assert dict(reader.report.skipped) == {"language": 3}


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


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_found(tmp_path: Path, delimiter: str) -> None:
    lines = [["Tweet ID", "created_at", "full_text"], ["7", "2026-01-05T10:00:00Z", "hello"]]
    path = written(tmp_path / "a.txt", "\n".join(map(delimiter.join, lines)))
    assert [(post.id, post.text) for post in read_posts(path)] == [("7", "hello")]


def test_a_broken_json_array_keeps_what_was_read(tmp_path: Path) -> None:
    rows = [json.loads(GOOD % (i, i)) for i in range(20)]
    for cut in (json.dumps(rows)[:-200], json.dumps(rows)[:-1], json.dumps(rows) + "]"):
        report = read(written(tmp_path / "a.json", cut)).report
        assert report.posts >= 15
        assert dict(report.bad) == {"damaged file": 1}


def test_pretty_printed_objects_are_read(tmp_path: Path) -> None:
    content = "\n".join(json.dumps(json.loads(GOOD % (i, i)), indent=2) for i in range(3))
    assert read(written(tmp_path / "a.json", content)).report.posts == 3


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


def test_batches_have_the_one_schema_and_a_reader_can_be_read_twice(tmp_path: Path) -> None:
    written(tmp_path / "a.jsonl", good(20_000))
    reader = read_posts(tmp_path)
    assert isinstance(reader, HasBatches)
    for _ in range(2):
        assert sum(batch.num_rows for batch in reader.batches() if batch.schema.equals(POST_SCHEMA)) == 20_000
        assert reader.report.posts == 20_000


def test_the_sum_holds_at_every_moment_and_progress_ends_at_the_total(tmp_path: Path) -> None:
    written(tmp_path / "a.jsonl", (good(500) + "\n{\n" + good(1)) * 40)
    told: list[tuple[int, int | None]] = []

    def progress(stage: str, done: int, total: int | None = None, **facts: float) -> None:
        told.append((done, total))

    reader = read_posts(tmp_path, progress=progress)
    for _ in reader.batches():
        assert reader.report.lines == reader.report.accounted
    assert told[-1][0] == told[-1][1] == (tmp_path / "a.jsonl").stat().st_size
    assert told == sorted(told)


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
    monkeypatch.setattr("klda.sources.reader.BATCH_ROWS", 1_000)
    monkeypatch.setattr("klda.sources.parquet.BATCH_ROWS", 1_000)
    monkeypatch.setattr("klda.sources.files.CHUNK", 100_000)

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


@pytest.mark.archive
@pytest.mark.parametrize("name", ["congress_2016_engagement", "crisislex"])
def test_the_archives_are_read_whole(name: str) -> None:
    path = Path(__file__).parents[4] / "shared" / "data" / f"{name}.parquet"
    if not path.exists():
        pytest.skip("the archives are not here")
    reader = read_posts(path)
    assert sum(batch.num_rows for batch in reader.batches()) == reader.report.posts
    assert reader.report.lines == reader.report.accounted == pq.read_metadata(path).num_rows
    assert not reader.report.bad


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_a_file_that_vanishes_before_it_is_read_is_named(tmp_path: Path, name: str) -> None:
    pq.write_table(pa.table({"id": ["1"], "time": [START], "text": ["a"]}), tmp_path / "a.parquet")
    written(tmp_path / "a.jsonl", good(1))
    reader = read_posts(tmp_path / name)
    (tmp_path / name).unlink()
    with pytest.raises(InputError, match=name):
        list(reader)
