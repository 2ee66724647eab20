from __future__ import annotations

import re

import pytest

from klda.cli.output import print_csv
from klda.safe_text import csv_text, visible
from tests.unit.report.hostile import ATTACKS

FORMULAS = [
    "=1+1",
    "+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "  =1",
    "＝1+1",
    "＋1",
    "－1",
    "＠A1",
    "\x00=1",
    "\u202e=1",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_hidden_is_left(attack: str) -> None:
    assert not re.search("[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\x00-\x08\x1b\ud800-\udfff]", visible(attack))


def test_direction_marks_are_shown() -> None:
    assert visible("photo\u202egnp.exe") == "photo⇄gnp.exe"


@pytest.mark.parametrize("cell", FORMULAS)
def test_no_cell_is_a_formula(cell: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_csv(["a"], [[cell]])
    for text in (csv_text(["a"], [[cell]]), capsys.readouterr().out):
        written = text.partition("\n")[2].lstrip('"')
        assert written.startswith(("'", "⇄"))


def test_numbers_and_harmless_texts_stay_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    print_csv(["posts", "keyword"], [[-2, "covid-19"]])
    assert capsys.readouterr().out == "posts,keyword\n-2,covid-19\n"
