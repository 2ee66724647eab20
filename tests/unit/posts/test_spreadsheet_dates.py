"""Dates as spreadsheets write them: understood where one shows which number is the day, else refused with a way out."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from klda import read_posts
from klda.errors import InputError, SettingError

SECOND_OF_JANUARY = datetime(2026, 1, 2, 10, 30, tzinfo=UTC)


def csv(folder: Path, *times: str) -> Path:
    path = folder / "posts.csv"
    path.write_text("id,created_at,text\n" + "".join(f'{i},"{t}",hello {i}\n' for i, t in enumerate(times)))
    return path


@pytest.mark.parametrize(
    ("first", "telling"),
    [
        ("02/01/2026 10:30", "13/01/2026 09:00"),
        ("2/1/2026 10:30:00", "31/1/2026 9:00:00"),
        ("01/02/2026 10:30", "01/13/2026 09:00"),
        ("1/2/2026 10:30 AM", "1/13/2026 9:00 PM"),
        ("1/2/26 10:30", "1/13/26 9:00"),
        ("02-01-2026 10:30", "13-01-2026 09:00"),
        ("02.01.2026 10:30", "03.01.2026 09:00"),
        ("2026/01/02 10:30", "2026/01/03 09:00"),
    ],
)
def test_one_day_above_twelve_settles_the_whole_file(tmp_path: Path, first: str, telling: str) -> None:
    path = csv(tmp_path, first, telling)
    frame = pl.read_csv(path)
    parquet = tmp_path / "posts.parquet"
    frame.write_parquet(parquet)
    for source in (path, parquet, frame, pd.read_csv(path)):
        posts = list(read_posts(source, timezone="UTC"))
        assert posts[0].time == SECOND_OF_JANUARY
        assert len(posts) == 2


def test_a_date_alone_is_the_beginning_of_its_day(tmp_path: Path) -> None:
    posts = list(read_posts(csv(tmp_path, "02/01/2026", "13/01/2026"), timezone="Europe/Berlin"))
    assert posts[0].time == datetime(2026, 1, 1, 23, tzinfo=UTC)


def test_times_without_a_zone_still_need_one(tmp_path: Path) -> None:
    reader = read_posts(csv(tmp_path, "02/01/2026 10:30", "13/01/2026 09:00"))
    assert list(reader) == []
    assert dict(reader.report.bad) == {"time without zone": 2}
    stated, _ = read_posts(csv(tmp_path, "02/01/2026 10:30 Z", "13/01/2026 09:00 +02:00"))
    assert stated.time == SECOND_OF_JANUARY


def test_dates_that_tell_nothing_are_refused_with_the_options_that_do(tmp_path: Path) -> None:
    path = csv(tmp_path, "02/01/2026 10:30", "03/01/2026 10:30")
    with pytest.raises(InputError) as told:
        list(read_posts(path, timezone="UTC"))
    message = str(told.value)
    assert message.startswith(f"{path}: dates such as '02/01/2026 10:30'")
    assert '--date-format "%d/%m/%Y %H:%M" if the day comes first, "%m/%d/%Y %H:%M" if the month does' in message
    with pytest.raises(InputError, match="the frame, column 'created_at': dates such as"):
        read_posts(pl.read_csv(path), timezone="UTC")


@pytest.mark.parametrize(
    ("written", "date_format"),
    [
        ("02/01/2026 10:30", "%d/%m/%Y %H:%M"),
        ("01/02/2026 10:30 AM", "%m/%d/%Y %I:%M %p"),
        ("2 January 2026, 10:30", "%d %B %Y, %H:%M"),
    ],
)
def test_a_date_format_reads_files_and_frames(tmp_path: Path, written: str, date_format: str) -> None:
    path = csv(tmp_path, written)
    lines = tmp_path / "posts.jsonl"
    pl.read_csv(path).write_ndjson(lines)
    for source in (path, lines, pl.read_csv(path)):
        (post,) = read_posts(source, timezone="UTC", date_format=date_format)
        assert post.time == SECOND_OF_JANUARY


@pytest.mark.parametrize("wrong", ["dd/mm/yyyy", "%d/%m", "%H:%M", "", "%Q%Y"])
def test_a_date_format_without_a_whole_date_is_refused_before_anything_is_read(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(SettingError, match=r"write it like %d/%m/%Y %H:%M"):
        read_posts(csv(tmp_path, "02/01/2026"), date_format=wrong)


def test_a_line_with_an_impossible_date_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    reader = read_posts(csv(tmp_path, "13/01/2026 10:00", "01/13/2026 10:00", "2026-01-02T10:30:00Z"), timezone="UTC")
    assert [post.id for post in reader] == ["0", "2"]
    assert "--date-format" in str(reader.report.examples[0])
