"""The page: whole, self-contained, and deaf to whatever the posts say."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from klda.advice.proposal import Proposal
from klda.errors import InputError
from klda.report.content import Report
from klda.report.proposal_report import render, write
from klda.types import KeywordSet
from tests.unit.report.hostile import ATTACKS, tampered
from tests.unit.report.sample import REPORT, WEEKS

SMALL = replace(
    REPORT,
    activity=tuple(row for row in REPORT.activity if row.window in WEEKS[-2:]),
    proposal=replace(REPORT.proposal, reasons=REPORT.proposal.reasons[4:13], frontier=REPORT.proposal.frontier[3:6]),
)


class Page(HTMLParser):
    """What a browser would make of the page: its elements, scripts, styles and visible text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: set[tuple[str, frozenset[str]]] = set()
        self.attributes: list[tuple[str, str]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.styles: list[str] = []
        self.text = ""
        self._inside = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add((tag, frozenset(name for name, _ in attrs)))
        self.attributes += [(name, value or "") for name, value in attrs]
        self._inside = tag
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            attributes, source = self.scripts[-1]
            self.scripts[-1] = (attributes, source + data)
        elif self._inside == "style":
            self.styles.append(data)
        else:
            self.text += data

    def handle_comment(self, data: str) -> None:
        self.elements.add(("comment", frozenset()))

    def unknown_decl(self, data: str) -> None:
        self.elements.add(("declaration", frozenset()))

    @property
    def running(self) -> list[str]:
        return [source for attributes, source in self.scripts if "type" not in attributes]

    @property
    def specs(self) -> dict[str, Any]:
        return {str(a["id"]): json.loads(source) for a, source in self.scripts if "type" in a}


@cache
def sample() -> str:
    return render(REPORT)


@cache
def page_of_the_sample() -> Page:
    return Page(sample())


@cache
def hostile_page(*attacks: str) -> Page:
    return Page(render(tampered(SMALL, attacks)))


def test_every_part_of_the_sample_is_on_the_page() -> None:
    page = page_of_the_sample()
    for reason in REPORT.proposal.reasons:
        assert reason.keyword.text in page.text
        assert reason.text in page.text
        for post in reason.examples:
            assert post.text in page.text
    for text in ("11,150", "10,100–12,400", "6 April 2020", "16%", *REPORT.proposal.notes, "7 of 10", "93,214"):
        assert text in page.text
    assert {name.removeprefix("spec-") for name in page.specs} == {
        *("expected", "topics", "words", "evolution", "collected", "frontier")
    }


@settings(max_examples=2, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@example(attacks=list(ATTACKS))
@given(attacks=st.lists(st.sampled_from(ATTACKS) | st.text(max_size=30), min_size=1, max_size=12))
def test_no_text_becomes_an_element_an_attribute_or_a_script(attacks: list[str]) -> None:
    benign, page = page_of_the_sample(), hostile_page(*attacks)
    assert page.elements <= benign.elements
    assert page.running == benign.running
    assert page.styles == benign.styles
    assert page.specs.keys() <= benign.specs.keys()


def test_an_emoji_that_a_label_is_cut_at_does_not_spoil_the_picture() -> None:
    page = Page(render(tampered(SMALL, ["😷" * 40])))
    assert page.elements <= page_of_the_sample().elements
    assert "😷" * 40 in page.text


def test_attacks_are_shown_as_text() -> None:
    page = Page(render(tampered(SMALL, ATTACKS[:5])))
    for attack in ATTACKS[:5]:
        assert attack in page.text


def test_no_hidden_character_reaches_the_page() -> None:
    page = Page(render(tampered(SMALL, ["\u202egnp.exe\u2066", "\u2028\x00\x1b\x85", "\ud800"])))
    seen = page.text + "".join(value for _, value in page.attributes) + json.dumps(page.specs, ensure_ascii=False)
    assert not re.search("[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\x00\x1b\x85\ud800-\udfff]", seen)
    assert "⇄gnp.exe" in seen


@pytest.mark.parametrize("made", [page_of_the_sample, partial(hostile_page, *ATTACKS)], ids=["sample", "hostile"])
def test_the_page_loads_nothing_and_links_nowhere(made: Callable[[], Page]) -> None:
    page = made()
    loading = {"src", "href", "xlink:href", "srcset", "action", "formaction", "data", "poster", "background"}
    assert not [pair for pair in page.attributes if pair[0] in loading or pair[0].startswith("on")]
    assert not re.search(r"url\(|@import|https?:", "".join(page.styles))
    policy = next(value for _, value in page.attributes if "default-src" in value)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy


def test_the_page_stays_small() -> None:
    assert len(sample().encode()) < 2_000_000


def test_the_same_report_gives_the_same_page() -> None:
    assert render(REPORT) == sample()


def test_a_bare_proposal_still_makes_a_page() -> None:
    health = KeywordSet.of("health")
    page = Page(render(Report(Proposal("static", health, keep=health), title="Health", subject="health")))
    assert "Keep 1 keyword." in page.text
    assert page.specs == {}


def test_numbers_that_are_not_known_leave_no_trace_of_nan() -> None:
    nothing = replace(REPORT.proposal.expected_posts, mean=float("nan"), high=float("inf"))
    reasons = tuple(replace(reason, expected_posts=nothing) for reason in REPORT.proposal.reasons)
    page = Page(render(replace(SMALL, proposal=replace(SMALL.proposal, reasons=reasons, expected_posts=nothing))))
    assert "nan" not in page.text.split()
    assert "NaN" not in json.dumps(page.specs)


def test_charts_say_what_they_show() -> None:
    assert all(spec["description"] for spec in page_of_the_sample().specs.values())
    labels = [value for name, value in page_of_the_sample().attributes if name == "aria-label"]
    assert any("Retention against new ground" in label for label in labels)


def test_writing_replaces_the_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    write(SMALL, path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InputError, match="No space left"):
        write(SMALL, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing/report\.html"):
        write(SMALL, tmp_path / "missing" / "report.html")
