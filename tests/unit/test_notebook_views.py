"""What notebooks show of proposals, corpora and models: the facts, and no text of a stranger as markup."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from typing import Any

import pytest

from klda.advice.explanation import Reason
from klda.advice.proposal import Proposal
from klda.cells import html_paragraph, html_table
from klda.model.klda import KLDA
from klda.simulation import World
from klda.text.corpus import Corpus
from klda.types import Estimate, Keyword, KeywordSet, Post
from tests.unit.report.hostile import ATTACKS

TAGS = {"p", "strong", "table", "caption", "thead", "tr", "th", "td"}
KEYWORDS = KeywordSet.of("health", "hospital")
COLOUR = re.compile(r"colou?r|background|#[0-9a-f]{3}|rgb", re.IGNORECASE)


class Page(HTMLParser):
    """The tags, attributes and cells of a view."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str | None]] = set()
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(attrs)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def checked(html: str) -> list[str]:
    """The texts of a view that has no tag, attribute or colour but those of a plain table."""
    page = Page(html)
    assert page.tags <= TAGS
    assert page.attributes <= {("style", "text-align:left"), ("style", "text-align:right")}
    assert "http" not in html.replace("http://strangers", "")
    assert not any(COLOUR.search(value or "") for _, value in page.attributes)
    return [text for text in page.texts if text.strip()]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus.from_posts(World(weeks=3, posts_per_week=400), KEYWORDS)


def proposal(word: str = "redlung", why: str = "Rising.") -> Proposal:
    term = Keyword(word, (word,))  # as it stands, whatever it looks like
    added = Reason(term, "add", why, expected_posts=Estimate(1250.4, 1, 2), new_posts=90.6)
    kept = Reason(Keyword("health"), "keep", "On the subject.")
    return Proposal(
        "klda", KEYWORDS, keep=KEYWORDS, add=KeywordSet((term,)), reasons=(kept, added), notes=("few posts",)
    )


def test_a_proposal_is_its_first_sentence_and_the_table_of_the_command() -> None:
    texts = checked(proposal()._repr_html_())
    assert texts[:2] == ["Add redlung.", "Note: Few posts"]
    assert texts[2:7] == ["action", "keyword", "posts", "new", "why"]
    assert texts[7:] == ["add", "redlung", "1,250", "91", "Rising.", "keep", "health", "–", "–", "On the subject."]


@pytest.mark.parametrize("attack", ATTACKS)
def test_words_of_strangers_are_text(attack: str) -> None:
    view = proposal(f"x{attack}", f"Because {attack}")
    texts = checked(view._repr_html_())
    assert len(texts) == 17
    view._repr_html_().encode()
    assert "\x1b" not in repr(view)
    assert "\u202e" not in repr(view)
    view = replace(view, notes=(attack or "note", "x"), policy=f"http://strangers{attack}")
    assert checked(view._repr_html_())


def test_an_empty_proposal_has_a_view() -> None:
    assert checked(Proposal("static", KEYWORDS, keep=KEYWORDS)._repr_html_())[0] == "Keep the list as it is."


def test_a_corpus_is_a_line_and_a_table_of_facts(corpus: Corpus) -> None:
    assert len(repr(corpus).splitlines()) == 1
    texts = checked(corpus._repr_html_())
    facts = dict(zip(texts[1::2], texts[2::2], strict=True))
    assert facts["documents"] == f"{len(corpus):,}"
    assert facts["windows"] == "3 of 7d"
    assert facts["candidates"] == "2: health, hospital"


def test_a_hostile_candidate_of_a_corpus_is_text() -> None:
    word = "<img/src=x>"
    start = datetime(2026, 1, 5, tzinfo=UTC)
    posts = [Post(id=str(n), time=start + timedelta(days=n), text=f"health {word} ward") for n in range(20)]
    assert any(word in text for text in checked(Corpus.from_posts(posts, ["health", word])._repr_html_()))


def test_a_model_shows_its_parameters_and_when_fitted_its_topics(corpus: Corpus) -> None:
    model = KLDA(n_topics=2, pretraining_iterations=20, max_iterations=5, held_out=0)
    assert repr(model).startswith("KLDA(")
    assert "n_topics=2" in repr(model)
    assert "topic 1" not in repr(model)
    assert checked(model._repr_html_())[1] == "Not fitted yet."
    model.fit(corpus)
    words = [word for word, _ in model.topics(8)[1]]
    assert repr(model).splitlines()[2] == f"  topic 2: {', '.join(words)}"
    assert checked(model._repr_html_())[-1] == ", ".join(words)
    bundle: dict[str, Any] = model._repr_mimebundle_()
    assert bundle == {"text/plain": repr(model), "text/html": model._repr_html_()}


@pytest.mark.parametrize("attack", ATTACKS)
def test_any_cell_and_title_is_text(attack: str) -> None:
    checked(html_table([f"a{attack}"], [[attack], [None]], title=attack) + html_paragraph(attack, strong=True))
