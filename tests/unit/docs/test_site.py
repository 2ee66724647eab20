"""The site builds without a warning, and works without network."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.docs.pages import build


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    done = build(folder)
    assert done.returncode == 0, done.stderr
    assert not re.search("WARNING|ERROR", done.stderr), done.stderr
    return folder


def test_pages_load_nothing_from_elsewhere(site: Path):
    loaded = re.compile(r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=\"?(https?:)?//[^\s>]+")
    found = {page.name: loaded.search(page.read_text(encoding="utf-8")) for page in site.rglob("*.html")}
    assert {name: match[0] for name, match in found.items() if match} == {}
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(\"?https?:", sheet.read_text(encoding="utf-8")), sheet.name


def test_the_python_reference_shows_parameters_and_examples(site: Path):
    page = (site / "reference" / "python-api.html").read_text(encoding="utf-8")
    assert 'id="klda.recommend"' in page
    assert "topic_floor" in page
    assert "<blockquote>" not in page, "an example of a docstring is not in a code block"


def test_no_program_is_part_of_the_site(site: Path):
    assert not list(site.rglob("*.py"))


def test_lists_are_lists_and_tables_are_tables(site: Path):
    """GitHub is laxer than the site: it needs no blank line before a list."""
    for page in site.rglob("*.html"):
        for paragraph in re.findall(r"<p>(.*?)</p>", page.read_text(encoding="utf-8"), re.DOTALL):
            assert not re.search(r"^(?:- |\d+\. |\|)", paragraph, re.MULTILINE), f"{page.name}: {paragraph[:200]}"
