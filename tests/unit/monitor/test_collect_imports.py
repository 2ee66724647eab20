from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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
