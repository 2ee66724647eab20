"""Corpora of a few written posts, one window a week, and the candidates of several simulated subjects."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache

from klda.advice.evidence import Evidence
from klda.advice.situation import Situation
from klda.simulation import World
from klda.text.corpus import Corpus
from klda.text.text_settings import TextSettings
from klda.types import KeywordSet, Post

START = datetime(2026, 1, 5, tzinfo=UTC)
SUBJECT = ("privacy", "spying", "leak", "warrant", "wiretap")
SUBJECTS = ("health", "racing", "climate")


def weekly(*weeks: list[str], keywords: tuple[str, ...]) -> Corpus:
    """The posts of each week, all words known."""
    posts = [
        Post(id=f"{week}.{i}", time=START + timedelta(days=7 * week, minutes=i), text=text)
        for week, texts in enumerate(weeks)
        for i, text in enumerate(texts)
    ]
    return Corpus.from_posts(posts, KeywordSet.of(*keywords), settings=TextSettings(min_count=1))


def evidence_of(corpus: Corpus, *current: str) -> Evidence:
    return Evidence.of(Situation(history=corpus, current=KeywordSet.of(*current), candidates=corpus.candidates))


@cache
def several_subjects() -> tuple[Corpus, KeywordSet, dict[str, tuple[str, ...]]]:
    """A simulated corpus, a list on the first of the subjects, and five further words of each subject."""
    world = World(weeks=3, posts_per_week=2500)
    best = {subject: world.best_keywords(subject, week=2, n=9) for subject in SUBJECTS}
    current, words = best["health"][:4], {subject: found[4:] for subject, found in best.items()}
    candidates = KeywordSet.of(*current, *(word for found in words.values() for word in found))
    corpus = Corpus.from_posts(world, candidates)
    first = KeywordSet.of(*current)
    return corpus.with_history([first] * corpus.n_windows), first, words


def subject_week(news: str = "") -> list[str]:
    """Posts in which the words of a subject come together, and a word of everything that comes alone."""
    pairs = [f"{one} {other} {news} again" for one in SUBJECT for other in SUBJECT if one < other]
    alone = [f"{word} in the morning paper number {i}" for word in SUBJECT for i in range(6)]
    return pairs + alone + [f"facebook photo of my lunch {i} thanks" for i in range(20)]


def names(corpus: Corpus, columns: Iterable[int]) -> set[str]:
    """The candidates in these columns."""
    return {corpus.candidates[int(column)].text for column in columns}
