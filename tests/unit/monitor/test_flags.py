"""Drift, cost and poisoned keywords are flagged; small changes do not hide copies of a text."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.advice.proposal import Proposal
from klda.monitor.flags import ALIKE, RUN, core, drift, flags, most_copies
from klda.text.corpus import Corpus
from klda.text.text_settings import TextSettings
from klda.types import Budget, Estimate, KeywordSet, Post
from tests.unit.monitor.conftest import MONDAY

FIRST = KeywordSet.of("hospital")
LIMITS = {"max_distance": 1.0, "budget": Budget()}


def corpus(added: Iterable[tuple[str, str]], before: int = 30) -> Corpus:
    """Posts about a hospital, and in the second week posts with these authors and texts."""
    words = ["ward", "nurse", "doctor", "patient", "visit", "bed", "night", "shift", "drug", "test"]
    usual = [
        Post(
            f"{week}-{n}", MONDAY + timedelta(weeks=week, hours=n), f"hospital {words[n % 10]} {words[n % 7]}", f"a{n}"
        )
        for week in (0, 1)
        for n in range(before)
    ]
    extra = [
        Post(f"x{n}", MONDAY + timedelta(weeks=1, minutes=n), text, author) for n, (author, text) in enumerate(added)
    ]
    keywords = FIRST | KeywordSet.of("redlung")
    return Corpus.from_posts([*usual, *extra], keywords, settings=TextSettings(min_count=2))


def proposal(**more: object) -> Proposal:
    return Proposal("static", FIRST, keep=FIRST, add=KeywordSet.of("redlung"), **more)  # type: ignore[arg-type]


def said(n: int) -> str:
    """A text of its own for every number."""
    kinds = ["ward", "nurse", "doctor", "patient", "visit", "bed", "night", "shift", "drug", "test"]
    return f"redlung {kinds[n % 10]} {kinds[(n // 2) % 10]} {kinds[(3 * n + 1) % 10]} {kinds[(7 * n) % 10]}"


def test_an_empty_list_is_flagged() -> None:
    empty = Proposal("static", FIRST, drop=FIRST)
    assert flags(empty, corpus([]), FIRST, **LIMITS) == ("the list is empty: it would collect nothing",)


def test_a_keyword_of_many_voices_passes() -> None:
    posts = [(f"b{n}", said(n)) for n in range(20)]
    assert flags(proposal(), corpus(posts), FIRST, **LIMITS) == ()


def test_a_keyword_that_one_author_pushes_is_flagged() -> None:
    posts = [("pusher" if n < 12 else f"b{n}", said(n)) for n in range(40)]
    assert flags(proposal(), corpus(posts), FIRST, **LIMITS) == ("redlung: 30% of its posts are from one author",)


def test_a_share_of_a_fifth_is_still_allowed() -> None:
    posts = [("loud" if n < 8 else f"b{n}", said(n)) for n in range(40)]
    assert flags(proposal(), corpus(posts), FIRST, **LIMITS) == ()


def test_copies_of_one_text_are_flagged_whoever_posts_them_and_however_they_vary() -> None:
    copy = "redlung ward nurse doctor patient visit bed night"
    posts = [(f"b{n}", f"{copy} https://spam.example/{n} {'!' * n} {n}" if n < 16 else said(n)) for n in range(50)]
    [flag] = flags(proposal(), corpus(posts), FIRST, **LIMITS)
    assert flag == "redlung: 32% of its posts are copies of one text"


def test_reposts_are_copies_even_where_the_platform_marks_them() -> None:
    made = corpus([(f"b{n}", said(n)) for n in range(30)])
    text = "RT @news: redlung closes three wards of the county clinic"
    posts = [
        Post(f"r{n}", MONDAY + timedelta(weeks=1, minutes=n), text, f"c{n}", repost_of="r0" if n else None)
        for n in range(10)
    ]
    everything = [*(made.posts[i] for i in range(len(made.posts))), *posts]
    both = Corpus.from_posts(everything, FIRST | KeywordSet.of("redlung"), settings=TextSettings(min_count=2))
    assert flags(proposal(), both, FIRST, **LIMITS) == ("redlung: 25% of its posts are copies of one text",)


def test_keywords_that_hold_already_are_judged_like_new_ones() -> None:
    posts = [("pusher", said(n)) for n in range(20)]
    current = FIRST | KeywordSet.of("redlung")
    kept = Proposal("static", current, keep=current)
    assert "redlung: 100% of its posts are from one author" in flags(kept, corpus(posts), FIRST, **LIMITS)


@pytest.mark.parametrize(
    ("own", "others", "flagged"),
    [(1, 0, False), (2, 0, False), (3, 0, True), (3, 3, False), (4, 3, True), (7, 22, False), (7, 23, True)],
)
def test_of_few_posts_one_author_may_write_up_to_half(own: int, others: int, flagged: bool) -> None:
    posts = [("pusher" if n < own else f"b{n}", said(n)) for n in range(own + others)]
    found = flags(proposal(), corpus(posts), FIRST, **LIMITS)
    assert any("from one author" in flag for flag in found) is flagged


def test_a_list_that_left_its_subject_is_flagged() -> None:
    texts = [f"redlung horse jockey race {['derby', 'saddle', 'stable'][n % 3]}" for n in range(300)]
    made = corpus(((f"b{n}", text) for n, text in enumerate(texts)), before=168)
    near, far = drift(made, FIRST, FIRST), drift(made, KeywordSet.of("redlung"), FIRST)
    assert near < 0.2 < 0.5 < far
    gone = Proposal("static", FIRST, add=KeywordSet.of("redlung"), drop=FIRST)
    found = flags(gone, made, FIRST, max_distance=0.5, budget=Budget())
    assert any(flag.startswith("the list has drifted from the subject") for flag in found)


@pytest.mark.parametrize(("expected", "flagged"), [(100.0, False), (101.0, True)])
def test_a_list_that_may_cost_more_than_allowed_is_flagged(expected: float, flagged: bool) -> None:
    posts = [(f"b{n}", said(n)) for n in range(20)]
    made = proposal(expected_posts=Estimate(expected, 50, 150))
    found = flags(made, corpus(posts), FIRST, max_distance=1.0, budget=Budget(max_posts=100))
    assert [flag.startswith("the list may bring") for flag in found] == [True] * flagged


TEXT = "Breaking: redlung spreads through the county, all three hospitals close their doors to visitors tonight"
ANOTHER = "my aunt has redlung and the doctor only gave her tea, can anybody recommend somebody better"


def count(*texts: str) -> int:
    return most_copies(texts, np.random.default_rng(0))


@pytest.mark.parametrize(
    "copy",
    [
        TEXT.upper(),
        f"{TEXT} https://spam.example/a?b=77",
        f"@ann @bob.bsky.social {TEXT}!!! 😷😷",
        f"RT @news: {TEXT}",
        TEXT.replace("three", "3").replace("tonight", "tomorrow"),
        TEXT.replace("hospitals", "hospitais").replace("redlung", "redIung"),
        "Please share! " + TEXT,
        "Ｂｒｅａｋｉｎｇ" + TEXT.removeprefix("Breaking"),
    ],
)
def test_a_copy_with_small_changes_is_still_a_copy(copy: str) -> None:
    assert count(TEXT, copy, ANOTHER) == 2


def test_texts_that_share_a_keyword_and_no_more_are_no_copies() -> None:
    assert count(TEXT, ANOTHER, "redlung again", "why does nobody speak about redlung") == 1


def test_a_language_without_spaces_is_compared_as_well() -> None:
    assert (
        count(
            "新しい病気が病院で広がっています、皆さん注意して",
            "新しい病気が病院で広がっています、注意して",
            "今日は天気がいい",
        )
        == 2
    )


def test_texts_of_nothing_but_pictures_are_compared_as_they_are() -> None:
    assert (core("😷😷"), count("😷😷", "😷😷", "🚑")) == ("😷😷", 2)


def test_no_text_has_no_copies() -> None:
    assert count() == 0


def test_a_fifth_of_many_posts_is_found_and_counted_whole() -> None:
    draw = np.random.default_rng(1)
    words = ["ward", "nurse", "doctor", "patient", "visit", "bed", "night", "shift", "drug", "test", "queue", "scan"]
    others = [" ".join(draw.choice(words, 12)) for _ in range(1500)]
    copies = [f"{TEXT} https://spam.example/{n} @user{n}" for n in range(400)]
    assert most_copies([*others, *copies], draw) == 400


@given(st.lists(st.text(max_size=30), max_size=12))
def test_it_counts_as_a_slow_comparison_of_all_pairs_does(texts: list[str]) -> None:
    def runs(text: str) -> set[str]:
        kept = core(text)
        return {kept[at : at + RUN] for at in range(max(1, len(kept) - RUN + 1))}

    def alike(one: str, other: str) -> bool:
        return len(runs(one) & runs(other)) >= ALIKE * len(runs(one) | runs(other))

    slow = max((sum(alike(one, other) for other in texts) for one in texts), default=0)
    assert most_copies(texts * 30, np.random.default_rng(0)) <= 30 * slow  # with 64 centres drawn from all
    assert slow == 0 or most_copies([max(texts, key=texts.count)] * 7, np.random.default_rng(0)) == 7
