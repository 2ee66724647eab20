from __future__ import annotations

import numpy as np
import pytest

from klda.advice.evidence import FEWEST_APART, UNSEEN, Evidence
from tests.unit.policies.few_posts import evidence_of, weekly


def filtered(n_sampled: int) -> Evidence:
    """What the list *privacy* collected in two weeks, half of it with *court*, and some posts of a sample."""
    week = [f"privacy and the court {i}" for i in range(10)] + [f"privacy matters {i}" for i in range(10)]
    sample = [f"nothing in particular {i}" for i in range(n_sampled // 2)]
    return evidence_of(weekly(week + sample, week + sample, keywords=("privacy", "court")), "privacy")


def test_a_filter_shows_all_posts_of_its_keywords_and_some_of_other_words():
    evidence = filtered(FEWEST_APART)
    assert evidence.unseen == UNSEEN
    assert evidence.volume.mean.tolist() == pytest.approx([20.0, 10.0 * (1 + UNSEEN)])
    privacy, court, both = ([0], [1], [0, 1])
    posts = [evidence.union.posts(np.array(columns)) for columns in (privacy, court, both)]
    assert posts == pytest.approx([20.0, 30.0, 20.0 + 10.0 * UNSEEN])


def test_without_a_sample_nothing_is_counted_on_that_was_not_seen():
    evidence = filtered(FEWEST_APART - 2)
    assert evidence.unseen == 0
    assert evidence.volume.mean.tolist() == pytest.approx([20.0, 10.0])
    assert evidence.union.posts(np.array([0, 1])) == pytest.approx(20.0)
