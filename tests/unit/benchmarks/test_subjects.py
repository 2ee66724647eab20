"""Subjects made from an archive's labels."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from benchmarks.subjects import FEWEST_HITS, GROUPS, TUNE, first_list


def test_the_first_list_holds_the_words_that_tell_the_subject_best() -> None:
    relevant = np.arange(40) < 20
    sure, common, rare = relevant, np.ones(40, dtype=bool), np.arange(40) < FEWEST_HITS - 1
    outside = ~relevant
    words = csr_array(np.column_stack([common, rare, outside, sure]).astype(float))
    names = np.array(["common", "rare", "outside", "sure"])
    assert first_list(words, names, relevant) == ["sure", "common"]


def test_half_of_the_groups_are_for_tuning_and_no_subreddit_is_in_two() -> None:
    assert set(TUNE.split()) <= set(GROUPS)
    assert len(TUNE.split()) == len(GROUPS) // 2
    everyone = [name for group in GROUPS.values() for name in group.split()]
    assert len(everyone) == len(set(everyone))
