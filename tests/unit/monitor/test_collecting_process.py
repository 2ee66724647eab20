"""The process that collects runs for months: it gives memory back, and loads no library that only learning needs."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

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


HEAVY = ("torch", "sklearn", "scipy")

_PROGRAM = """
import sys
from pathlib import Path
from typer.testing import CliRunner
from klda.cli.app import app
for words in sys.argv[2].split(";"):
    result = CliRunner().invoke(app, ["monitor", *words.split(), "--home", sys.argv[1]], catch_exceptions=False)
    assert result.exit_code == 0, result.output
print(*[name for name in sys.argv[3:] if name in sys.modules])
"""


@pytest.mark.parametrize("command", ["collect health --format json", "show health;list"])
def test_collecting_brings_in_no_library_that_only_learning_needs(tmp_path: Path, command: str) -> None:
    file = tmp_path / "posts.jsonl"
    file.write_text('{"id": "1", "time": "2026-01-05T00:00:00Z", "text": "the hospital", "author": "a"}\n')
    create = f"create health --keywords hospital --source replay:{file}"
    arguments = [sys.executable, "-c", _PROGRAM, str(tmp_path / "home"), f"{create};{command}", *HEAVY]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
