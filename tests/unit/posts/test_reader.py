"""Reading files: what is recognised, what is chosen, and that nothing is lost."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from klda.errors import InputError, SettingError
from klda.posts import read_posts
from klda.posts.schema import POST_SCHEMA, HasBatches
from tests.unit.posts.posts_on_disk import GOOD, START, good, read, written


def test_windows_line_ends_byte_order_mark_blank_lines_and_a_missing_last_line_end(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + good(2).replace("\n", "\r\n\r\n").encode() + good(1, start=2).strip().encode()
    report = read(written(tmp_path / "a.jsonl", content)).report
    assert (report.lines, report.posts, dict(report.skipped)) == (5, 3, {"keep-alive": 2})


def test_a_reader_says_what_it_reads(tmp_path: Path) -> None:
    for name in "abcde":
        written(tmp_path / f"{name}.jsonl", good(1))
    assert repr(read_posts(tmp_path / "a.jsonl")) == f"<PostReader of {tmp_path / 'a.jsonl'}>"
    assert repr(read_posts(tmp_path)).endswith("c.jsonl and 2 more>")


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
    with pytest.raises(InputError, match=r"among id, when_, words; .*--map time=when_, in Python"):
        read_posts(path.rename(tmp_path / "a"))  # its name says nothing, as of a file that was handed in
    # What is in use already, or holds ids, is not suggested.
    for header in ("id,created_at,author", "id,created_at,reply_to_id", "id,created_at,likes,conversationId"):
        row = "1,2026-01-05T10:00:00Z" + ",2" * (header.count(",") - 1)
        with pytest.raises(InputError, match=r"no column for text .*--map text=COLUMN, in Python"):
            read_posts(written(tmp_path / "b.csv", f"{header}\n{row}\n"))
    reader = read(tmp_path / "a", mapping={"time": "when_", "text": "words"})
    assert [post.text for post in reader] == ["hello"]


@pytest.mark.parametrize(
    "content", ["a,b\n1,2\r3,4\n", "a" * 200_000 + ",b\n1,2\n"], ids=["a stray return", "a column without end"]
)
def test_what_only_looks_like_a_table_is_refused_with_a_clear_line(tmp_path: Path, content: str) -> None:
    with pytest.raises(InputError, match=r"a\.txt: neither JSON, CSV with a header, nor Parquet"):
        read_posts(written(tmp_path / "a.txt", content))


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


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_found(tmp_path: Path, delimiter: str) -> None:
    lines = [["Tweet ID", "created_at", "full_text"], ["7", "2026-01-05T10:00:00Z", "hello"]]
    path = written(tmp_path / "a.txt", "\n".join(map(delimiter.join, lines)))
    assert [(post.id, post.text) for post in read_posts(path)] == [("7", "hello")]


def test_pretty_printed_objects_are_read(tmp_path: Path) -> None:
    content = "\n".join(json.dumps(json.loads(GOOD % (i, i)), indent=2) for i in range(3))
    assert read(written(tmp_path / "a.json", content)).report.posts == 3


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
