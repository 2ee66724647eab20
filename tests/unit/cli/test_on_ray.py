from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from klda.cli.inputs import Reading
from klda.cli.on_ray import FileReading, source_files
from klda.ray.input_files import on_this_machine

ROW = {"id": "1", "text": "a hospital bed", "created_utc": 1767607200, "language": "de", "n": 1}


@pytest.mark.parametrize(
    ("by", "mapping", "kept"),
    [
        (["language"], {}, ["language"]),
        (["n"], {}, []),  # no field of a post
        (["date"], {}, []),  # the files say it more exactly
        (["n", "language"], {"likes": "n"}, ["n", "language"]),
    ],
)
def test_posts_of_a_delta_table_have_the_fields_that_it_is_partitioned_by(
    tmp_path: Path, by: list[str], mapping: dict[str, str], kept: list[str]
):
    row = ROW | {"date": "2026-01-06"} if by == ["date"] else ROW
    write_deltalake(tmp_path / "table", pa.Table.from_pylist([row]), partition_by=by)
    files = source_files([tmp_path / "table"], mapping)
    assert [name for file in files for name, _ in file.constants] == kept
    with on_this_machine(files) as here:
        (batch,) = FileReading(Reading(mapping))(here).batches()
    (post,) = batch.to_pylist()
    wanted: dict[str, Any] = {"language": "de", "likes": 1 if mapping else None}
    assert {name: post[name] for name in wanted} == wanted
    assert post["time"].isoformat().startswith("2026-01-05")
