from __future__ import annotations

import ctypes
from collections.abc import Iterator

import pyarrow as pa
import pytest

from klda.monitor.collect import give_back, hold_little


@pytest.fixture(autouse=True)
def _pool() -> Iterator[None]:
    before = pa.default_memory_pool()
    yield
    pa.set_memory_pool(before)


def test_what_is_in_use_outlives_giving_memory_back() -> None:
    before = pa.array(range(10_000))
    hold_little()
    between = pa.array(range(10_000))
    give_back()
    give_back()
    assert before == between == pa.array(range(10_000))


def test_arrow_takes_its_memory_where_all_threads_can_give_it_back() -> None:
    hold_little()
    assert pa.default_memory_pool().backend_name == "system"


def test_a_c_library_that_has_no_such_calls_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    before = pa.default_memory_pool().backend_name
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    hold_little()
    give_back()
    assert pa.default_memory_pool().backend_name == before
