"""How the text of an option becomes keywords."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from klda.cli.app import app
from klda.cli.arguments import parse_keywords
from klda.errors import QueryError
from klda.simulation import World, write


@pytest.mark.parametrize("text", ['rust\n"computer virus"\n# a comment\nc++\n', "\ufeffrust\n computer  virus \nc++"])
def test_a_file_of_keywords_has_one_a_line_with_or_without_quotes(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keywords.txt"
    path.write_text(text, encoding="utf-8")
    quoted = '"' in text
    assert parse_keywords(f"@{path}").texts == ("rust", '"computer virus"' if quoted else "computer virus", "c++")


@pytest.mark.parametrize("bare", [["--budget"], ["--budget", "--seed", "1"]])
def test_a_budget_named_without_a_number_means_up_to_ten_more(tmp_path: Path, bare: list[str]) -> None:
    posts = tmp_path / "posts.parquet"
    write(World(weeks=3, posts_per_week=300), posts)
    options = ["recommend", str(posts), "-k", "health,hospital", "--policy", "frequent", "--format", "json"]

    def answer(*more: str) -> Any:
        result = CliRunner().invoke(app, [*options, *more])
        assert result.exception is None, result.output
        return json.loads(result.stdout)["next"]

    seed = bare[1:]
    assert answer(*bare) == answer(*seed)
    assert len(answer(*seed, "--budget", "3")) == 3
    refused = CliRunner().invoke(app, [*options, "--budget", "1.5"])
    assert refused.exit_code == 2


def test_curly_quotes_in_a_file_of_keywords_are_quotes(tmp_path: Path) -> None:
    file = tmp_path / "keywords.txt"
    file.write_text('“health”\n"computer virus"\n„Krankenhaus“\nplain words\n“one”, two\n', encoding="utf-8")
    expected = ("health", '"computer virus"', "Krankenhaus", "plain words", "one", "two")
    assert parse_keywords(f"@{file}").texts == expected
    assert parse_keywords("“one, two”,three").texts == ('"one, two"', "three")


def test_commas_separate_keywords_in_a_file_too(tmp_path: Path) -> None:
    file = tmp_path / "keywords.txt"
    file.write_text("apple AND (iphone, OR ios), pear\n-pie\n", encoding="utf-8")
    assert parse_keywords(f"@{file}").texts == ('apple AND ("iphone," OR ios)', "pear", "-pie")


def test_an_error_names_the_option_or_the_line_and_points_at_the_character(tmp_path: Path) -> None:
    file = tmp_path / "keywords.txt"
    file.write_text("pear\napple AND (ios\n", encoding="utf-8")
    for text, where in (("pear, apple AND (ios", "--keywords"), (f"@{file}", f"--keywords {file}, line 2")):
        with pytest.raises(QueryError) as caught:
            parse_keywords(text)
        assert str(caught.value).splitlines() == [
            f"{where}: a parenthesis is not closed; add a )",
            "  apple AND (ios",
            "            ^",
        ]
