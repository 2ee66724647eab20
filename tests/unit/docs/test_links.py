"""Links and anchors within the repository lead somewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.docs.pages import PAGES, ROOT, SITE, headings, links, name_of


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path):
    for target in links(page):
        if "://" not in target:
            path, _, anchor = target.partition("#")
            there = (page.parent / path).resolve() if path else page
            assert there.exists(), f"{name_of(page)} links to {target}"
            assert not anchor or anchor in headings(there), f"{name_of(page)} links to {target}"


@pytest.mark.parametrize("page", SITE, ids=name_of)
def test_pages_of_the_site_link_to_no_file_outside_it(page: Path):
    paths = {target: (page.parent / target).resolve() for target in links(page) if "://" not in target}
    assert [target for target, path in paths.items() if not path.is_relative_to(ROOT / "docs")] == []


def test_every_picture_is_shown_somewhere():
    shown = {(page.parent / target).resolve() for page in PAGES for target in links(page)}
    assert set((ROOT / "docs" / "pictures").iterdir()) <= shown
