"""What the posts of a word on trial tell."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from klda.selection.trial import (
    LEAST_SAID,
    MOST_SAID,
    share_after_trial,
    speak_of_it,
    subject_words,
)

COUNTS = st.floats(0, 1e4)


def _share(posts: float, believed: float, alone: float, speaking: float, frequency: float | None = 1e-6) -> float:
    common = None if frequency is None else np.array([frequency])
    return float(share_after_trial(*(np.array([n]) for n in (posts, believed, alone, speaking)), common)[0])


@given(COUNTS, st.floats(0, 1), st.floats(0, 1), st.sampled_from([None, 1e-7, 1e-4]))
def test_the_more_posts_speak_of_the_subject_the_surer_a_word_is(
    posts: float, alone: float, speaking: float, frequency: float | None
) -> None:
    by_itself = posts * alone
    some = _share(posts, 0.0, by_itself, speaking * by_itself, frequency)
    assert 0.0 < some < 1.0
    assert _share(posts, 0.0, by_itself, by_itself, frequency) >= some


def test_a_common_word_has_to_show_more() -> None:
    assert _share(50.0, 3.0, 40.0, 20.0, 1e-4) < 0.3 * _share(50.0, 3.0, 40.0, 20.0, 1e-6)


def test_company_of_keywords_that_are_unsure_themselves_counts_little() -> None:
    """All posts of the first are beside a keyword with one in twenty on the subject, of the other beside a sure one."""
    assert _share(50.0, 2.5, 0.0, 0.0) < 0.5 * _share(50.0, 25.0, 0.0, 0.0)


def test_a_single_post_is_hardly_held_against_a_word() -> None:
    assert _share(1.0, 0.0, 1.0, 0.0) > 2 * _share(40.0, 0.0, 40.0, 0.0)


@given(st.lists(st.tuples(COUNTS, st.integers(0, 500)), min_size=1, max_size=20), st.floats(0, 1e4))
def test_no_word_decides_by_itself(counts: list[tuple[float, int]], together: float) -> None:
    believed, outside = (np.array(column, dtype=np.float64) for column in zip(*counts, strict=True))
    says = subject_words(believed, together, outside, 500)
    assert ((says >= LEAST_SAID) & (says <= MOST_SAID)).all()


def test_a_word_that_is_said_everywhere_alike_says_nothing() -> None:
    says = subject_words(np.array([10.0, 40.0]), 100.0, np.array([100, 100]), 1_000)
    assert abs(says[0]) < 0.01
    assert says[1] > 1.0


def test_one_in_ten_posts_of_the_stream_speaks_of_the_subject_by_chance() -> None:
    outside = np.random.default_rng(0).normal(size=10_000)
    assert abs(speak_of_it(outside, outside).mean() - 0.1) < 0.001
