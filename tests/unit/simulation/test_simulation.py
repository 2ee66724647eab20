"""The simulated world: reproducible, of any size and subject, in every format."""

from __future__ import annotations

import gzip
from datetime import datetime
from itertools import islice
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from klda.errors import SettingError
from klda.posts.schema import POST_SCHEMA, HasBatches
from klda.simulation import SimulatedSubject, Thread, World, write
from klda.simulation.urn import Urn

# Reproducible and of any size


def test_the_same_seed_gives_the_same_posts() -> None:
    first, second = (pa.Table.from_batches(list(World(2, 300, seed=7).batches())) for _ in range(2))
    assert first.equals(second)


def test_another_seed_gives_other_posts() -> None:
    texts = [[post.text for post in World(1, 300, seed=seed).posts()] for seed in (0, 1)]
    assert texts[0] != texts[1]


@pytest.mark.parametrize("rows", [1, 700, 100_000])
def test_the_size_of_batches_changes_nothing(rows: int) -> None:
    world = World(weeks=1, posts_per_week=9000)
    batches = list(world.batches(rows))
    assert max(batch.num_rows for batch in batches) <= rows
    whole = pa.Table.from_batches(list(world.batches()))
    assert pa.Table.from_batches(batches).combine_chunks().equals(whole.combine_chunks())


def test_later_weeks_do_not_change_earlier_ones() -> None:
    short, long = World(2, 200, emergence=1), World(5, 200, emergence=1)
    assert list(short.posts()) == list(islice(long.posts(), 400))


@settings(max_examples=30)
@given(weeks=st.integers(1, 3), per_week=st.integers(1, 60), seed=st.integers(0, 2**32))
def test_any_size_gives_exactly_as_many_valid_posts(weeks: int, per_week: int, seed: int) -> None:
    world = World(weeks, per_week, seed)
    table = pa.Table.from_batches(list(world.batches()))
    table.validate(full=True)
    assert table.schema.equals(POST_SCHEMA)
    assert table.num_rows == len(world) == weeks * per_week
    assert all(table[field.name].null_count == 0 for field in POST_SCHEMA if not field.nullable)


def test_a_world_is_a_source_of_batches() -> None:
    assert isinstance(World(), HasBatches)


def test_memory_does_not_grow_with_the_number_of_posts() -> None:
    peaks = []
    for weeks in (1, 5):
        before = pa.total_allocated_bytes()
        world = World(weeks, posts_per_week=20_000)
        peaks.append(max(pa.total_allocated_bytes() - before for _ in world.batches()))
    assert 0 < peaks[1] < 1.5 * peaks[0]


@pytest.mark.parametrize(
    ("given_settings", "named"),
    [
        ({"weeks": 0}, "weeks"),
        ({"posts_per_week": 0}, "posts_per_week"),
        ({"seed": -1}, "seed"),
        ({"start": datetime(2026, 1, 5)}, "time zone"),
        ({"subjects": ()}, "subject"),
    ],
)
def test_a_setting_out_of_range_is_named(given_settings: dict[str, object], named: str) -> None:
    with pytest.raises(SettingError, match=named):
        World(**given_settings)  # type: ignore[arg-type]


def test_an_unknown_subject_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SettingError, match=r"golf.*health"):
        World().word_distribution("golf", 0)


def test_a_world_can_have_subjects_of_ones_own() -> None:
    chess = SimulatedSubject(
        "chess", ("chess",), "chess, player~s", (Thread("opening~s, endgame~s", "sharp", "castle"),)
    )
    world = World(weeks=1, posts_per_week=500, subjects=(chess,))
    assert {post.label for post in world.posts()} == {"chess", "chatter"}
    assert "chess" in world.best_keywords("chess", 0, 3)
    with pytest.raises(SettingError, match="emerges"):
        _ = world.emerging


# Files


@pytest.mark.parametrize("name", ["world.parquet", "world.jsonl", "world.jsonl.gz", "world.jsonl.zst"])
def test_a_world_can_be_written_in_every_format(tmp_path: Path, name: str) -> None:
    world = World(weeks=2, posts_per_week=150)
    done: list[int] = []
    path = write(world, tmp_path / "new" / name, lambda stage, n, total=None, **facts: done.append(n))
    raw = path.read_bytes()
    rows = pq.read_table(path).to_pylist() if name.endswith("parquet") else _lines(raw, name)
    assert [entry.name for entry in path.parent.iterdir()] == [name]
    assert done[-1] == len(rows) == 300
    for row, post in zip(rows, world.posts(), strict=True):
        time = row["time"] if isinstance(row["time"], datetime) else datetime.fromisoformat(row["time"])
        assert (row["id"], time, row["text"], row["retweets"]) == (post.id, post.time, post.text, post.reposts)
        assert (row["x_is_repost"], row["lang"], row["label"]) == (post.is_repost, "en", post.label)
        assert tuple(row["hashtags"]) == post.hashtags
    write(world, path)
    assert path.read_bytes() == raw


def _lines(raw: bytes, name: str) -> list[dict[str, object]]:
    if name.endswith(".gz"):
        raw = gzip.decompress(raw)
    elif name.endswith(".zst"):
        raw = zstandard.ZstdDecompressor().stream_reader(raw).read()
    return [orjson.loads(line) for line in raw.splitlines()]


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "world.jsonl"
    path.write_text("old")

    def stop(stage: str, done: int, total: int | None = None, **facts: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(World(1, 100), path, stop)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"world\.xls.*\.parquet"):
        write(World(), tmp_path / "world.xls")


# Drawing


def test_an_urn_draws_each_distribution_by_its_weights() -> None:
    urn = Urn.of([([1, 2, 3], [1.0, 0.0, 3.0]), ([4], [5.0]), ([5, 6], [1.0, 1.0])])
    drawn = urn.draw(np.repeat([0, 1, 2], 20_000), np.random.default_rng(0)).reshape(3, -1)
    assert set(drawn[0]) == {1, 3}
    assert set(drawn[1]) == {4}
    assert_allclose([(drawn[0] == 3).mean(), (drawn[2] == 5).mean()], [0.75, 0.5], atol=0.02)
