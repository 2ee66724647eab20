"""A file that is not there is said at once: before the libraries of learning and of tables are loaded."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from klda.cli import output as progress

MISSING = {
    "recommend": "recommend gone.parquet -k a",
    "recommend with a sample": "recommend here.csv -k a --sample gone.parquet",
    "recommend with a model": "recommend -k a --model gone",
    "recommend with keywords": "recommend here.csv -k @gone.txt",
    "recommend on Ray": "recommend gone.parquet -k a --engine ray",
    "prepare": "prepare gone.parquet -k a --out corpus",
    "prepare with keywords": "prepare here.csv -k @gone.txt --out corpus",
    "train": "train gone --model model",
    "topics": "topics gone",
    "rules": "rules gone.json --platform x-v2",
    "backtest": "backtest gone.parquet --subjects here.csv",
    "backtest of subjects": "backtest here.csv --subjects gone.json",
    "study": "study gone.parquet --subjects here.csv",
    "monitor": "monitor create one -k a --source replay:gone.parquet",
    "monitor with settings": "monitor create one --settings gone.toml",
}
ASK = """
import sys
from klda.cli.app import main
sys.argv = ["klda", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    heavy = {"torch", "sklearn", "scipy", "klda.policies.recommend", "klda.monitor.monitor_settings"} & set(sys.modules)
    print(end.code, sorted(heavy))
"""


@pytest.mark.parametrize("command", MISSING.values(), ids=MISSING)
def test_a_missing_file_is_named_before_anything_heavy_is_loaded(tmp_path: Path, command: str) -> None:
    (tmp_path / "here.csv").write_text("id,time,text\n")
    done = subprocess.run(
        [sys.executable, "-c", ASK, *command.split()], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "2 []", done.stdout + done.stderr
    assert done.stderr.startswith("error: ")
    assert "gone" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_something_is_shown_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(progress, "console", Console(file=screen, force_terminal=True, width=80))
    with progress.starting():
        assert "starting" in screen.getvalue()
    screen.truncate(0)
    with progress.progress_bar() as report:
        assert "starting" in screen.getvalue()
        report("read posts", 1, 2)
    with progress.starting(quiet=True):
        pass
