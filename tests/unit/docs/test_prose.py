"""Plain English: short sentences, short lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
import typer.main

from klda.cli.app import app
from tests.unit.docs.pages import GENERATED, HISTORY, PAGES, ROOT, cells, n_words, name_of, running_text, sentences

LONGEST, LONGEST_ON_AVERAGE = 35, 18
WIDEST = 160
LONGEST_FIRST_PAGE = 120
WRITTEN = [page for page in PAGES if page not in (*GENERATED, *HISTORY)]


def _helps(command: Any, name: str) -> Iterator[tuple[str, str]]:
    yield name, command.help or ""
    yield from ((f"{name} {p.name}", getattr(p, "help", None) or "") for p in command.params)
    for child, below in getattr(command, "commands", {}).items():
        yield from _helps(below, f"{name} {child}")


@pytest.mark.parametrize("page", WRITTEN, ids=name_of)
def test_no_sentence_is_long(page: Path):
    long = [(n_words(one), one) for one in (*running_text(page), *cells(page)) if n_words(one) > LONGEST]
    assert not long


@pytest.mark.parametrize("page", WRITTEN, ids=name_of)
def test_sentences_are_short_on_average(page: Path):
    lengths = [n_words(one) for one in running_text(page)]
    assert not lengths or mean(lengths) < LONGEST_ON_AVERAGE


def test_the_first_page_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= LONGEST_FIRST_PAGE


def test_no_help_text_has_a_long_sentence():
    helps = list(_helps(typer.main.get_command(app), "klda"))
    assert [(name, one) for name, text in helps for one in sentences(text) if n_words(one) > LONGEST] == []
    assert mean(n_words(one) for _, text in helps for one in sentences(text)) < LONGEST_ON_AVERAGE


@pytest.mark.parametrize("page", [page for page in PAGES if page not in HISTORY], ids=name_of)
def test_no_line_is_wide(page: Path):
    """Rows of tables are excepted, for Markdown cannot break them; so are code, which stands as a program prints it."""
    wide, code = [], False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        code ^= line.lstrip().startswith("```")
        if len(line) > WIDEST and not code and not line.startswith(("|", "<!--")):
            wide.append((number, line))
    assert not wide
