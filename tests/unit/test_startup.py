"""What is not loaded before it is needed; how long it takes is for `benchmarks/startup.py` to say."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from benchmarks import startup

LEARNING = {"torch", "sklearn", "scipy", "tomotopy"}
TABLES = {"numpy", "pandas", "polars", "pyarrow", "deltalake"}
REST = {"altair", "fastapi", "httpx", "jinja2", "sqlalchemy", "textblob", "wordfreq"}
HEAVY = LEARNING | TABLES | REST

NAMED = "import klda; [getattr(klda, name) for name in ('Budget', 'Keyword', 'KeywordSet', 'Post', 'Window')]"
COMMAND = "import sys; from klda.cli.app import app; app(sys.argv[1:], standalone_mode=False)"


def _loaded(program: str, *arguments: str) -> set[str]:
    """Top-level modules that a program has loaded when it ends."""
    program += "\nimport sys; print('\\n' + ' '.join({name.partition('.')[0] for name in sys.modules}))"
    command = [sys.executable, "-c", program, *arguments]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1].split())


def test_importing_klda_loads_no_package_of_others() -> None:
    assert _loaded("import klda") & (HEAVY | {"rich", "typer"}) == set()


def test_values_load_no_package_of_others() -> None:
    assert _loaded(NAMED) & HEAVY == set()


@pytest.mark.parametrize("command", ["--help", "--version", "recommend --help", "monitor --help", "serve --help"])
def test_help_loads_nothing_heavy(command: str) -> None:
    loaded = _loaded(COMMAND, *command.split())
    assert "typer" in loaded
    assert loaded & HEAVY == set()


def test_the_benchmark_prints_ratios(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["startup", "--turns", "1"])
    startup.main()
    found = json.loads(capsys.readouterr().out)
    assert found.keys() == {"import_over_pass", "help_over_pass", "seconds"}
    assert found["seconds"].keys() == startup.PROGRAMS.keys()
