"""A folder as a source: lines while they grow, other files when they are finished, each post once."""

from __future__ import annotations

import asyncio
import gzip
from codecs import BOM_UTF8
from contextlib import aclosing, suppress
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

import orjson
import polars as pl
import pytest

from klda.errors import SettingError
from klda.streams.folder import Folder
from klda.streams.protocol import Deleted, Event, Received


def line(number: int) -> bytes:
    return orjson.dumps({"id": number, "time": "2026-01-05T10:00:00Z", "text": f"post {number}"}) + b"\n"


class IdleError(Exception):
    """Raised in place of waiting for the next look."""


def taken(folder: Folder, cursor: str | None = None) -> tuple[list[str], str | None]:
    """The ids that are there to be taken until there is nothing more to do, and the cursor after them."""

    found, at = handed_out(folder, cursor)
    return [event.row.id for event in found if isinstance(event, Received)], at


def handed_out(folder: Folder, cursor: str | None) -> tuple[list[Event], str | None]:
    """What there is to be taken until there is nothing more to do, and the cursor after it."""

    async def take() -> tuple[list[Event], str | None]:
        found: list[Event] = []
        at = cursor
        with suppress(IdleError), patch("klda.streams.folder.asyncio.sleep", side_effect=IdleError):
            async with aclosing(folder.bursts(cursor)) as bursts:
                async for burst in bursts:
                    found += burst.events
                    at = burst.cursor
        return found, at

    return asyncio.run(take())


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path, every=0.01, settle=0.0)


def test_complete_lines_are_taken_and_the_rest_when_it_is_complete(tmp_path: Path) -> None:
    folder = Folder(tmp_path, every=0.01, settle=3600)
    file = tmp_path / "posts.jsonl"
    file.write_bytes(line(1) + line(2)[:20])
    ids, cursor = taken(folder)
    assert ids == ["1"]
    with file.open("ab") as more:
        more.write(line(2)[20:] + line(3))
    ids, cursor = taken(folder, cursor)
    assert ids == ["2", "3"]
    assert taken(folder, cursor)[0] == []


def test_a_last_line_without_line_feed_is_taken_once_the_file_rests(folder: Folder, tmp_path: Path) -> None:
    file = tmp_path / "posts.jsonl"
    file.write_bytes(line(1) + line(2).rstrip())
    ids, cursor = taken(folder)
    assert ids == ["1", "2"]
    with file.open("ab") as more:
        more.write(b"\n" + line(3) + line(4)[:10])
    ids, cursor = taken(folder, cursor)
    assert ids == ["3"]
    assert taken(folder, cursor)[0] == [], "half a line is never taken"


def test_a_byte_order_mark_costs_no_post(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(BOM_UTF8 + line(1) + line(2))
    (tmp_path / "b.jsonl").write_bytes(BOM_UTF8 + line(3).rstrip())
    ids, cursor = taken(folder)
    assert sorted(ids) == ["1", "2", "3"]
    assert taken(folder, cursor)[0] == []
    assert not folder.health.bad


def test_files_that_are_renamed_into_place_are_taken_whole_and_unfinished_names_left_alone(
    folder: Folder, tmp_path: Path
) -> None:
    table = pl.DataFrame({"id": ["5", "6"], "time": [datetime(2026, 1, 5, tzinfo=UTC)] * 2, "text": ["five", "six"]})
    table.write_parquet(tmp_path / "posts.parquet.partial")
    (tmp_path / ".hidden.jsonl").write_bytes(line(9))
    ids, cursor = taken(folder)
    assert ids == []
    (tmp_path / "posts.parquet.partial").rename(tmp_path / "posts.parquet")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "old.jsonl.gz").write_bytes(gzip.compress(line(7) + line(8)))
    ids, cursor = taken(folder, cursor)
    assert sorted(ids) == ["5", "6", "7", "8"]
    assert taken(folder, cursor)[0] == []


def test_a_file_that_still_changes_is_waited_for(tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text("id,time,text\n1,2026-01-05T10:00:00Z,one\n")
    assert taken(Folder(tmp_path, every=0.01, settle=3600))[0] == []
    assert taken(Folder(tmp_path, every=0.01, settle=0))[0] == ["1"]


def test_a_table_that_grew_brings_only_what_is_new(folder: Folder, tmp_path: Path) -> None:
    file = tmp_path / "posts.csv"
    file.write_text("id,time,text\n1,2026-01-05T10:00:00Z,one\n")
    _, cursor = taken(folder)
    with file.open("a") as more:
        more.write("2,2026-01-05T10:00:00Z,two\n")
    assert taken(folder, cursor)[0] == ["2"]


def test_a_file_replaced_under_its_name_is_read_anew(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "posts.jsonl").write_bytes(line(1) + line(2))
    _, cursor = taken(folder)
    (tmp_path / "new").write_bytes(line(3) + line(4) + line(5))
    (tmp_path / "new").replace(tmp_path / "posts.jsonl")
    assert taken(folder, cursor)[0] == ["3", "4", "5"]


def test_a_stop_in_the_middle_of_a_file_costs_and_doubles_nothing(tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text(
        "id,time,text\n" + "".join(f"{i},2026-01-05T10:00:00Z,post {i}\n" for i in range(3000))
    )

    async def first() -> tuple[list[str], str | None]:
        async with aclosing(Folder(tmp_path, every=0.01, settle=0).bursts(None)) as bursts:
            burst = await anext(bursts)
            return [event.row.id for event in burst.events if isinstance(event, Received)], burst.cursor

    ids, cursor = asyncio.run(first())
    assert 0 < len(ids) < 3000
    rest, _ = taken(Folder(tmp_path, every=0.01, settle=0), cursor)
    assert ids + rest == [str(i) for i in range(3000)]


def test_foreign_files_and_broken_lines_are_counted_and_passed_over(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (tmp_path / "posts.jsonl").write_bytes(line(1) + b"{broken\n\xff\xfe\n" + line(2))
    (tmp_path / "empty.jsonl").write_bytes(b"")
    ids, cursor = taken(folder)
    assert ids == ["1", "2"]
    assert folder.health.skipped["unknown format"] == 1
    assert sum(folder.health.bad.values()) == 2
    (tmp_path / "empty.jsonl").write_bytes(line(3))
    assert taken(folder, cursor)[0] == ["3"]


def test_what_lines_delete_or_edit_is_followed(folder: Folder, tmp_path: Path) -> None:
    post = {"collection": "app.bsky.feed.post", "rkey": "k1"}
    created = post | {"operation": "create", "record": {"text": "post"}}
    frame = {"did": "did:plc:a", "time_us": 1_767_607_200_000_000, "kind": "commit"}
    gone = {"did": "did:plc:b", "kind": "account", "account": {"active": False, "status": "deleted"}}
    status = {"id": "101", "created_at": "2026-01-05T10:00:00Z", "content": "<p>first</p>", "account": {"acct": "a"}}
    (tmp_path / "posts.jsonl").write_bytes(
        b"\n".join(
            map(
                orjson.dumps,
                [
                    frame | {"commit": created},
                    frame | {"commit": post | {"operation": "delete"}},
                    gone,
                    {"event": "update", "payload": status},
                    {"event": "status.update", "payload": status | {"content": "second"}},
                    {"event": "delete", "payload": "101"},
                    {"delete": {"status": {"id_str": "7"}}},
                ],
            )
        )
        + b"\nevent: delete\ndata: 102\n"
    )
    name = "at://did:plc:a/app.bsky.feed.post/k1"
    told = [(e.row.text, e.edited) if isinstance(e, Received) else e for e in handed_out(folder, None)[0]]
    assert told == [
        ("post", False),
        Deleted(name),
        Deleted("did:plc:b", author=True),
        ("first", False),
        ("second", True),
        Deleted("101"),
        Deleted("7"),
        Deleted("102"),
    ]
    assert folder.health.deleted == 5


def test_a_folder_must_exist_and_a_cursor_be_one_of_its_own(folder: Folder, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="no such folder"):
        Folder(tmp_path / "nowhere")
    with pytest.raises(SettingError, match="cursor"):
        taken(folder, "[1, 2]")


def test_a_renamed_file_is_not_read_again_and_its_successor_is(folder: Folder, tmp_path: Path) -> None:
    log = tmp_path / "posts.jsonl"
    log.write_bytes(line(1) + line(2))
    ids, cursor = taken(folder)
    log.rename(tmp_path / "posts-1.jsonl")
    log.write_bytes(line(3) + line(4) + line(5))
    ids, cursor = taken(Folder(tmp_path, every=0.01, settle=0), cursor)
    assert ids == ["3", "4", "5"]
    with (tmp_path / "posts-1.jsonl").open("ab") as late:
        late.write(line(6))
    assert taken(Folder(tmp_path, every=0.01, settle=0), cursor)[0] == ["6"]


@pytest.mark.parametrize("name", ["posts.jsonl", "posts.csv"])
def test_a_file_that_is_written_anew_with_more_at_its_end_brings_what_is_new(
    name: str, folder: Folder, tmp_path: Path
) -> None:
    def content(n: int) -> bytes:
        lines = [line(i) if name.endswith("jsonl") else f"{i},2026-01-05T10:00:00Z,{i}\n".encode() for i in range(n)]
        return b"".join([b"" if name.endswith("jsonl") else b"id,time,text\n", *lines])

    (tmp_path / name).write_bytes(content(3))
    ids, cursor = taken(folder)
    assert ids == ["0", "1", "2"]
    (tmp_path / ".copy").write_bytes(content(5))
    (tmp_path / ".copy").replace(tmp_path / name)
    assert taken(folder, cursor)[0] == ["3", "4"]


def test_a_cursor_that_names_inodes_still_holds(folder: Folder, tmp_path: Path) -> None:
    file = tmp_path / "posts.jsonl"
    file.write_bytes(line(1) + line(2))
    earlier = orjson.dumps({"posts.jsonl": [file.stat().st_ino, -1, len(line(1))]}).decode()
    assert taken(folder, earlier)[0] == ["2"]


SPREADSHEET = "id,time,text\n1,05/01/2026 10:00,health\n2,06/01/2026 11:00,drug\n"


def test_dates_of_a_spreadsheet_are_read_in_the_stated_format_and_zone(tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text(SPREADSHEET)
    (tmp_path / "posts.jsonl").write_text('{"id": 3, "time": "07/01/2026 12:00", "text": "mask"}\n')
    folder = Folder(tmp_path, settle=0.0, timezone="Europe/Berlin", date_format="%d/%m/%Y %H:%M")
    found, _ = handed_out(folder, None)
    times = {event.row.id: event.post.time for event in found if isinstance(event, Received)}
    assert times == {str(day - 4): datetime(2026, 1, day, day + 4, tzinfo=UTC) for day in (5, 6, 7)}


def test_without_a_format_ambiguous_dates_bring_no_post(tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text(SPREADSHEET)
    folder = Folder(tmp_path, settle=0.0, timezone="UTC")
    assert taken(folder)[0] == []
    assert dict(folder.health.skipped) == {"unknown format": 1}
