"""How the text of an option becomes keywords."""

from __future__ import annotations

from pathlib import Path

import pytest

from klda.cli.arguments import parse_keywords


@pytest.mark.parametrize("text", ['rust\n"computer virus"\n# a comment\nc++\n', "\ufeffrust\n computer  virus \nc++"])
def test_a_file_of_keywords_has_one_a_line_with_or_without_quotes(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keywords.txt"
    path.write_text(text, encoding="utf-8")
    assert parse_keywords(f"@{path}").texts == ("rust", "computer virus", "c++")
