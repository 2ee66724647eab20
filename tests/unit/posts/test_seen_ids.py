"""Deduplication agrees with a set of ids and keeps its promise on memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.posts import seen_ids as dedup
from klda.posts.seen_ids import SeenIds


def slowly(batches: list[list[str]]) -> list[list[bool]]:
    """The obvious way."""
    seen: set[str] = set()
    answers = []
    for batch in batches:
        answers.append([])
        for name in batch:
            answers[-1].append(name not in seen)
            seen.add(name)
    return answers


@given(st.lists(st.lists(st.text(max_size=3) | st.integers(0, 60).map(str), max_size=40), max_size=12))
def test_first_meetings_are_told_as_by_a_set(batches: list[list[str]]) -> None:
    seen = SeenIds()
    answers = [seen.add(pa.array(batch, type=pa.string())).tolist() for batch in batches]
    assert answers == slowly(batches)
    assert len(seen) == len({name for batch in batches for name in batch})


@given(st.lists(st.lists(st.integers(0, 300).map(str), max_size=40), max_size=12), st.integers(0, 2000))
def test_a_limit_on_memory_changes_no_answer(batches: list[list[str]], memory: int) -> None:
    seen = SeenIds(memory)
    answers = [seen.add(pa.array(batch, type=pa.string())).tolist() for batch in batches]
    assert answers == slowly(batches)


def test_what_is_beyond_the_limit_lies_in_files() -> None:
    seen = SeenIds(memory=48_000)
    for start in range(0, 40_000, 500):
        assert seen.add(pa.array([str(i) for i in range(start, start + 500)])).all()
    assert len(seen) == 40_000
    assert seen.nbytes <= 48_000


@given(
    batches=st.lists(st.lists(st.integers(0, 400), max_size=60), max_size=30),
    bits=st.integers(0, 6),
    block=st.integers(1, 9),
)
def test_ids_that_share_part_of_their_digest_are_told_apart(batches: list[list[int]], bits: int, block: int) -> None:
    """With few distinct high parts every search has to walk; with small blocks every merge takes several steps."""

    def digests(ids: pa.Array) -> tuple[np.ndarray, np.ndarray]:
        number = ids.cast(pa.int64()).to_numpy()
        return (number % 2**bits).astype(np.uint64), number.astype(np.uint32)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dedup, "digests", digests)
        patch.setattr(dedup, "BLOCK", block)
        seen = SeenIds()
        names = [[str(number) for number in batch] for batch in batches]
        answers = [seen.add(pa.array(batch, type=pa.string())).tolist() for batch in names]
    assert answers == slowly(names)


def test_an_id_costs_less_than_16_bytes_at_any_moment() -> None:
    count, step = 1_000_000, 8_192 * 2
    seen = SeenIds()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for start in range(0, count, step):
        seen.add(pa.array(np.arange(start, min(start + step, count))).cast(pa.string()))
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    assert len(seen) == count
    assert seen.nbytes == 12 * count
    assert peak < 16 * count + 2**20  # the batch at hand


def test_parts_of_a_digest_collide_no_more_often_than_chance() -> None:
    ids = pa.array([f"at://did:plc:abcdefgh/app.bsky.feed.post/{i}" for i in range(200_000)])
    high, low = dedup.digests(ids)
    expected = 200_000**2 / 2 / 2**32  # 4.7 pairs for 32 bits
    for part in (high >> np.uint64(32), high & np.uint64(2**32 - 1), low, (high & np.uint64(2**32 - 1)) ^ low):
        assert part.size - np.unique(part).size < expected + 6 * expected**0.5
