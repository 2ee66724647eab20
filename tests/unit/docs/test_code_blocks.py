"""What a page says to type works: Python runs, commands parse, and output is what is printed today."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer.main

from docs.printed import PAGES as PRINTED
from docs.printed import printed
from klda.cli.app import app
from klda.evaluation.subjects import load_subjects
from klda.monitor.monitor_settings import MonitorSettings
from klda.simulation import World, write
from tests.unit.docs.pages import HISTORY, PAGES, ROOT, blocks, name_of

NEED_A_MONITOR = {"docs/how-to/monitor.md"}
"""Their Python works on a monitor that a reader has; it is compiled, and its imports are looked up."""
COMMANDS = typer.main.get_command(app)
_BLOCKS = [(page, language, code) for page in PAGES for language, code in blocks(page)]
_PYTHON = [page for page in PAGES if any(language == "python" for language, _ in blocks(page))]


def _lines() -> Iterator[tuple[Path, str]]:
    """Every command line in a code block."""
    for page, language, code in _BLOCKS:
        if language in ("sh", "") and page not in HISTORY:
            for line in code.replace("\\\n", " ").splitlines():
                yield from ((page, part.strip()) for part in re.split(r"&&|;|\|(?=\s)", line.partition("  #")[0]))


def _inline() -> Iterator[tuple[Path, str]]:
    """Every piece of inline code that begins like a command of ours."""
    for page in set(PAGES) - set(HISTORY):
        for code in re.findall(r"`(klda [^`]+)`", page.read_text(encoding="utf-8")):
            yield page, code


def _command(words: list[str]) -> tuple[Any, list[str]]:
    """The command that the words name, and what follows its name."""
    command: Any = COMMANDS
    while words and words[0] in (children := getattr(command, "commands", {})):
        command, words = children[words[0]], words[1:]
    return command, words


@pytest.mark.parametrize("page", _PYTHON, ids=name_of)
def test_python_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    code = "\n".join(code for language, code in blocks(page) if language == "python")
    tree = ast.parse(code, name_of(page))
    if name_of(page) in NEED_A_MONITOR:
        for node in (n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)):
            module = importlib.import_module(node.module or "")
            assert all(hasattr(module, alias.name) for alias in node.names)
        return
    page_module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", page_module)  # where dataclasses look for the names of a class
    monkeypatch.chdir(tmp_path)
    if '"posts.parquet"' in code:
        write(World(weeks=4, posts_per_week=500), tmp_path / "posts.parquet")
    exec(compile(tree, name_of(page), "exec"), page_module.__dict__)
    if page.name == "python.md":
        written = {path.name for path in tmp_path.iterdir()} - {"posts.parquet"}
        assert written == {"next.json", "report.html", "corpus", "model"}


@pytest.mark.parametrize(
    ("page", "line"),
    [pytest.param(page, line, id=f"{name_of(page)}: {line}") for page, line in _lines() if line.startswith("klda ")],
)
def test_commands_parse(page: Path, line: str):
    if line == "klda --help":
        return
    command, rest = _command(shlex.split(line)[1:])
    assert not getattr(command, "commands", {}), f"there is no command {line}"
    try:
        command.make_context(line, rest)
    except Exception as error:
        if "does not exist" not in str(error):  # the reader has the files, this test has not
            pytest.fail(f"{name_of(page)}: {line}: {error!r}")


def test_commands_in_sentences_exist():
    for page, code in _inline():
        command, rest = _command(code.split()[1:])
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert command is not COMMANDS or code.split()[1].isupper() or code.split()[1] in ("COMMAND", "…"), (
            f"{name_of(page)}: there is no command {code}"
        )
        wanted = [word.strip("[].,") for word in rest if word.strip("[]").startswith("--")]
        unknown = [word for word in wanted if word not in {*known, "--help"}]
        assert not unknown, f"{name_of(page)}: {code}"


def test_targets_of_make_exist():
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in set(PAGES) - set(HISTORY):
        for target in re.findall(r"(?:^|`)make (\w+)(?=[`\s])", page.read_text(encoding="utf-8"), re.MULTILINE):
            assert target in targets, f"{name_of(page)}: make {target}"


def test_programs_of_benchmarks_exist():
    for page in set(PAGES) - set(HISTORY):
        for name in re.findall(r"python -m (benchmarks(?:\.\w+)?)", page.read_text(encoding="utf-8")):
            assert importlib.util.find_spec(name), f"{name_of(page)}: {name}"


def test_settings_of_monitors_hold():
    for page in PAGES:
        for language, code in blocks(page):
            if language == "toml" and "keywords" in code and "[[subjects]]" not in code:
                assert MonitorSettings.of(tomllib.loads(code)), name_of(page)


def test_files_of_subjects_hold(tmp_path: Path):
    found = 0
    for page in PAGES:
        for language, code in blocks(page):
            if "subjects" in code and language in ("toml", "json"):
                path = tmp_path / f"subjects.{language}"
                path.write_text(code, encoding="utf-8")
                assert load_subjects(path), name_of(page)
                found += 1
    assert found >= 2


@pytest.mark.slow
@pytest.mark.parametrize("page", PRINTED, ids=name_of)
def test_output_is_what_is_printed(page: Path):
    text = page.read_text(encoding="utf-8")
    assert printed(text) == text, "run `make docs`"
