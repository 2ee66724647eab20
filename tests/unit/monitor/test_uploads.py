"""Uploads: looked at before anything is made of them, and no way to fill the memory or the disk."""

from __future__ import annotations

import gzip
import json
import os
import time
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from klda.errors import DataError, InputError, SettingError
from klda.monitor import uploads
from klda.monitor.create import create_from_upload, fill
from klda.monitor.monitor import opened
from klda.monitor.monitor_settings import MonitorSettings
from klda.monitor.uploads import check_size
from klda.store import list_monitors
from tests.unit.monitor.uploading import VALUES, sent


def test_an_upload_is_looked_at_before_anything_is_made_of_it(world: Path, tmp_path: Path) -> None:
    upload = sent(tmp_path, world.read_bytes())
    seen = uploads.preview(tmp_path, upload)
    assert (seen.posts, seen.bad, len(seen.first)) == (2000, {}, uploads.SHOWN_POSTS)
    assert seen.begins < seen.ends
    assert "health" in seen.suggestions
    assert uploads.preview(tmp_path, upload) == seen
    assert (uploads.file_of(tmp_path, upload).parent.stat().st_mode & 0o777) == 0o700


def test_what_an_older_version_remembered_of_a_file_still_counts(world: Path, tmp_path: Path) -> None:
    upload = sent(tmp_path, world.read_bytes())
    seen = uploads.preview(tmp_path, upload)
    known = uploads.file_of(tmp_path, upload).with_name("preview.json")
    older = {name: value for name, value in json.loads(known.read_text()).items() if name != "language"}
    known.write_text(json.dumps(older))
    assert uploads.preview(tmp_path, upload) == seen


def test_a_file_that_is_too_large_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="larger than 10 bytes"):
        sent(tmp_path, b"x" * 11, limit=10)
    assert list((tmp_path / ".uploads").iterdir()) == []


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    upload = sent(tmp_path, gzip.compress(b" " * 50_000_000, 9))
    with pytest.raises(InputError, match="the file unpacks to more than"):
        uploads.preview(tmp_path, upload)
    with pytest.raises(InputError, match="gone"):
        uploads.file_of(tmp_path, upload)


def test_a_parquet_bomb_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"text": pa.array(["x" * 100_000] * 2_000)}), path, use_dictionary=False)
    with pytest.raises(InputError, match="2,000 rows"):
        check_size(path, times=10)


def _repeated(values: list[object], rows: int) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(values))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("in_lists", [False, True])
def test_a_text_that_is_stored_once_counts_as_often_as_it_is_meant(
    packed: bool, in_lists: bool, tmp_path: Path
) -> None:
    rows, path = 2_000, tmp_path / "bomb.parquet"
    texts: pa.Array = _repeated(["x" * 900_000], rows)
    if in_lists:
        texts = pa.ListArray.from_arrays(pa.array(range(rows + 1), pa.int32()), texts)
    ids = pa.array([str(n) for n in range(rows)])
    pq.write_table(pa.table({"id": ids, "time": pa.array([1767607200] * rows), "text": texts}), path)
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(InputError, match="2,000 rows"):
        check_size(path)


def test_values_of_a_fixed_length_count_as_often_as_they_occur(tmp_path: Path) -> None:
    path = tmp_path / "bomb.parquet"
    value = pa.array([b"x" * 900_000], pa.binary(900_000))
    indices = pa.array([0] * 2_000, pa.int32())
    pq.write_table(pa.table({"text": pa.DictionaryArray.from_arrays(indices, value)}), path)
    with pytest.raises(InputError, match="2,000 rows"):
        check_size(path)


def test_a_plain_parquet_file_is_let_in(tmp_path: Path) -> None:
    path = tmp_path / "posts.parquet"
    tags = pa.array([["flu"], [], None, ["a", "b"]] * 500)
    texts = pa.array([f"post {n % 40}" for n in range(2_000)])
    pq.write_table(pa.table({"id": pa.array(range(2_000)), "text": texts, "time": texts, "hashtags": tags}), path)
    check_size(path)  # raises for one that is too large
    assert pq.read_metadata(path).num_rows == 2_000


def test_uploads_cannot_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MOST_WAITING", 2)
    sent(tmp_path, b"x")
    uploads.discard(tmp_path, sent(tmp_path, b"x"))
    sent(tmp_path, b"x")
    with pytest.raises(InputError, match="2 uploads already wait"):
        sent(tmp_path, b"x")


@pytest.mark.parametrize("content", [b"\x00\x01\x02 nothing", b"{}\n{}\n", b""])
def test_a_file_without_posts_is_refused_without_a_path_in_the_message(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        uploads.preview(tmp_path, sent(tmp_path, content))
    assert str(tmp_path) not in str(caught.value)


def test_a_file_without_posts_is_refused_with_the_place_and_what_to_do(tmp_path: Path) -> None:
    upload = sent(tmp_path, b"id,time,text\n1,yesterday,hello\n")
    with pytest.raises(InputError, match=r"the file, line 2: unreadable time.*write times like"):
        uploads.preview(tmp_path, upload)


@pytest.mark.parametrize("name", ["../health", "a" * 31, "..", "", "a" * 32])
def test_no_name_of_an_upload_is_a_path(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        uploads.file_of(tmp_path, name)


def test_uploads_that_nobody_wants_are_swept_away(tmp_path: Path) -> None:
    sent(tmp_path, b"x")
    assert uploads.sweep(tmp_path) == 0
    assert uploads.sweep(tmp_path, kept=timedelta(seconds=-1)) == 1


def test_posts_of_one_window_make_no_monitor(world: Path, tmp_path: Path) -> None:
    upload = sent(tmp_path, world.read_bytes())
    with pytest.raises(DataError, match="one window"):
        create_from_upload(tmp_path, "health", upload, VALUES | {"window": "700d"}, created_by="ann")
    assert list_monitors(tmp_path) == []


def test_an_upload_is_not_served_after_its_day(world: Path, tmp_path: Path) -> None:
    upload = sent(tmp_path, world.read_bytes())
    folder = uploads.file_of(tmp_path, upload).parent
    days_ago = time.time() - 5 * 86_400
    os.utime(folder, (days_ago, days_ago))
    with pytest.raises(InputError, match="uploads are kept for a day"):
        uploads.preview(tmp_path, upload)
    assert uploads.sweep(tmp_path) == 1
    assert not folder.exists()


def spreadsheet(*months: int) -> bytes:
    """Posts of the first nine days of months: their dates may begin with the day or the month."""
    days = [(month, day) for month in months for day in range(1, 10)]
    lines = [f"{month}-{day}-{n},0{day}/0{month}/2026 10:00,health news {n}" for month, day in days for n in range(4)]
    return "\n".join(["id,time,text", *lines]).encode()


def test_a_spreadsheet_is_read_in_the_format_and_zone_that_come_with_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="add the date format") as refused:
        uploads.preview(tmp_path, sent(tmp_path, spreadsheet(1, 2)), timezone="Europe/Berlin")
    assert "Python" not in str(refused.value)
    upload = sent(tmp_path, spreadsheet(1, 2))
    seen = uploads.preview(tmp_path, upload, timezone="Europe/Berlin", date_format="%d/%m/%Y %H:%M")
    assert (seen.begins.isoformat(), seen.ends.isoformat()) == (
        "2026-01-01T09:00:00+00:00",
        "2026-02-09T09:00:00+00:00",
    )
    folder = create_from_upload(tmp_path, "health", upload, VALUES, created_by="ann")
    with opened(tmp_path, "health") as monitor:
        fill(monitor)
        assert monitor.records.volume.total() == seen.posts
    assert MonitorSettings.load(folder.settings).source["date_format"] == "%d/%m/%Y %H:%M"


@pytest.mark.parametrize(("option", "value"), [("timezone", "Mars"), ("date_format", "%H:%M")])
def test_a_wrong_format_or_zone_is_refused_and_leaves_nothing(option: str, value: str, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=value) as refused:
        uploads.preview(tmp_path, sent(tmp_path, spreadsheet(1)), **{option: value})
    assert "--" not in str(refused.value)
    assert list((tmp_path / ".uploads").iterdir()) == []
