"""Texts of strangers: shown as text, and no markup, link, formula or trick."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from klda.web.rendering import MOST_SHOWN, pieces
from tests.unit.report.hostile import ATTACKS
from tests.unit.web.conftest import Browse
from tests.unit.web.home import make_home


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_text_becomes_markup_link_or_trick(attack: str) -> None:
    for piece in pieces(attack, ["window"]):
        if piece.kind == "link":
            assert piece.text.startswith(("http://", "https://"))


def test_of_an_endless_post_the_beginning_is_shown() -> None:
    shown = "".join(piece.text for piece in pieces("flu " * 1_000_000, ["flu"]))
    assert len(shown) == MOST_SHOWN + 1
    assert shown.endswith("…")


def test_pages_of_a_hostile_monitor_hold_no_markup_of_strangers(browse: Browse, tmp_path: Path) -> None:
    make_home(tmp_path / "hostile", ATTACKS)
    browser = browse(home=tmp_path / "hostile")
    for path in ("/", "/monitors/health", "/monitors/health/history", "/jobs"):
        page = browser.get(path)
        assert page.status_code == 200
        for needle in ("<img", "<svg/", "<b>", "</title></head><body>", "<!--", "onerror=window.hacked=1>"):
            assert needle not in page.text.replace("\\u003c", "")
        assert "window.hacked = 1</script>" not in page.text
        assert not re.search("[\u202a-\u202e\u2066-\u2069]", page.text)
        assert not re.search(r'href="(?!https?://|/|#)', page.text)
    table = browser.get("/api/v1/monitors/health/history.csv")
    assert table.headers["content-type"].startswith("text/csv")
    assert "attachment" in table.headers["content-disposition"]
