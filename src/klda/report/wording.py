"""Numbers and decisions as text for people, and the marking of keywords in texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite

from klda.advice.proposal import Proposal
from klda.errors import SettingError
from klda.query import SearchTerm, written
from klda.safe_text import visible
from klda.text.matching import Matcher
from klda.types import Budget, Estimate, Keyword, KeywordSet

_AROUND_WORDS = re.compile(r"([#@]?\w(?:\S*\w)?)")


def count(number: float) -> str:
    """A number of posts as text.

    >>> count(12345.6), count(float("nan"))
    ('12,346', '–')
    """
    return f"{number:,.0f}" if isfinite(number) else "–"


def percent(share: float) -> str:
    """A share as text, with two significant digits below 10 %.

    >>> percent(0.1234), percent(0.0123), percent(0.00012)
    ('12%', '1.2%', '0.012%')
    """
    if not isfinite(share):
        return "–"
    value = 100 * share
    return f"{value:.0f}%" if abs(value) >= 10 or value == 0 else f"{value:.2g}%"


def between(estimate: Estimate) -> str:
    """The interval of an estimate as text.

    >>> between(Estimate(1200, 900.4, 1500))
    '900–1,500'
    """
    return f"{count(estimate.low)}–{count(estimate.high)}"


def decimal(number: float) -> str:
    """A score as text, with two decimal places."""
    return f"{number:.2f}" if isfinite(number) else "–"


def summary(proposal: Proposal, budget: Budget) -> str:
    """The proposal in one or two sentences.

    >>> health = KeywordSet.of("health")
    >>> summary(Proposal("static", health, keep=health, expected_posts=Estimate(90, 80, 99)), Budget())
    'Keep 1 keyword. The new list should bring about 90 posts a window (80–99).'
    """
    done = [
        (verb, len(part)) for verb, part in (("keep", proposal.keep), ("add", proposal.add), ("drop", proposal.drop))
    ]
    parts = [f"{verb} {n}" for verb, n in done if n]
    if not parts:
        return "Nothing to change."
    nouns = "keyword" if sum(n for _, n in done) == 1 else "keywords"
    first, *rest = parts
    text = f"{first.capitalize()} {nouns}" + (f", {', '.join(rest[:-1])}" if len(rest) > 1 else "")
    text += f" and {rest[-1]}" if rest else ""
    forecast = proposal.expected_posts
    if forecast is None:
        return text + "."
    about = "at least" if proposal.at_least else "about"
    range_ = "" if proposal.at_least else f" ({between(forecast)})"
    text += f". The new list should bring {about} {count(forecast.mean)} posts a window{range_}"
    if budget.max_posts:
        text += f", {percent(forecast.mean / budget.max_posts)} of the budget of {count(budget.max_posts)}"
    return text + "."


def marked(text: str, keyword: Keyword) -> list[tuple[str, bool]]:
    """The text in pieces, each with whether it is part of a match of the keyword.

    >>> marked("A virus, in my computer", Keyword("computer virus"))
    [('A ', False), ('virus', True), (', in my ', False), ('computer', True)]
    """
    text, matcher = visible(text), _words(keyword)
    if matcher is None:
        return [(text, False)]
    pieces = _AROUND_WORDS.split(text)  # alternately separators and words
    found = matcher.match_many(pieces).lengths > 0
    runs: list[tuple[str, bool]] = []
    for piece, hit in zip(pieces, found.tolist(), strict=True):
        if runs and not hit and not runs[-1][1]:
            runs[-1] = (runs[-1][0] + piece, False)
        elif piece:
            runs.append((piece, hit))
    return runs


@lru_cache(maxsize=1024)
def _words(keyword: Keyword) -> Matcher | None:
    try:
        asked = (query.words for query in keyword.queries if not query.excludes)
        words = (word for own in asked for text in own for word in visible(text).split())
        return Matcher(KeywordSet(tuple(Keyword(word, (written(SearchTerm((word,))),)) for word in words)))
    except SettingError:
        return None  # a form without words matches nothing


def measured(estimate: Mapping[str, float | None] | None, *, signed: bool = False) -> tuple[str, str]:
    """A measured mean and its interval as two texts; the second is empty without an interval.

    >>> measured({"mean": 0.301, "low": 0.25, "high": 0.36}), measured(None)
    (('0.30', '0.25–0.36'), ('–', ''))
    >>> measured({"mean": 0.05, "low": -0.01, "high": 0.11}, signed=True)
    ('+0.05', '−0.01 to +0.11')
    """
    if estimate is None or estimate["mean"] is None:
        return "–", ""
    mean, low, high = estimate["mean"], estimate["low"], estimate["high"]
    digits = 0 if abs(mean) >= 100 else 2

    def written(value: float) -> str:
        rounded = round(value, digits) + 0.0  # a difference of zero has no sign
        return format(rounded, f"{'+' if signed and rounded else ''},.{digits}f").replace("-", "−")

    if low is None or high is None:
        return written(mean), ""
    return written(mean), f"{written(low)}{' to ' if signed or low < 0 else '–'}{written(high)}"


@dataclass(frozen=True)
class Cell:
    """A mean and its interval as texts."""

    mean: str
    interval: str = ""
    clear: bool = False
    """Whether it is a difference with an interval that excludes zero."""


EMPTY = Cell("")


@dataclass(frozen=True)
class ResultGrid:
    """A table of results; the first column names the row."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


def cell(estimate: Mapping[str, float | None] | None, *, difference: bool = False) -> Cell:
    """An estimate as a table cell; a difference has a sign.

    >>> cell({"mean": 0.05, "low": 0.01, "high": 0.09}, difference=True)
    Cell(mean='+0.05', interval='+0.01 to +0.09', clear=True)
    """
    mean, interval = measured(estimate, signed=difference)
    low, high = (estimate["low"], estimate["high"]) if estimate else (None, None)
    clear = difference and low is not None and high is not None and (low > 0 or high < 0)
    return Cell(mean, interval, clear)
