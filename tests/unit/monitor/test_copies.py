from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.monitor.flags import ALIKE, RUN, core, most_copies

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
