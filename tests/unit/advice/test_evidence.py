"""How many posts a list brings: counted once, whatever is known of the posts that no list brought."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from klda.advice.constants import FEWEST_OUTSIDE, THIN_POSTS
from klda.advice.evidence import Evidence
from klda.advice.volume import recent_spans
from klda.types import KeywordSet
from tests.unit.baselines.few_posts import evidence_of, weekly


def filtered(n_sampled: int) -> Evidence:
    """What the list *privacy* collected in two weeks, half of it with *court*, and some posts of a sample."""
    week = [f"privacy and the court {i}" for i in range(10)] + [f"privacy matters {i}" for i in range(10)]
    sample = [f"the court of nothing in particular {i}" for i in range(n_sampled // 2)]
    corpus = weekly(week + sample, week + sample, keywords=("privacy", "court"))
    return evidence_of(corpus.with_history([KeywordSet.of("privacy")] * 2), "privacy")


def test_a_sampled_post_stands_for_those_that_the_sample_leaves_out():
    evidence = replace(filtered(10), sample_share=0.1)
    assert evidence.volume.mean.tolist() == pytest.approx([20.0, 10.0 + 5 / 0.1])
    assert evidence.union.posts(np.array([0, 1])) == pytest.approx(20.0 + 5 / 0.1)


def test_posts_of_a_keyword_that_was_active_stand_for_themselves_alone():
    evidence = filtered(10)
    both = KeywordSet.of("privacy", "court")
    evidence = replace(evidence, history=evidence.history.with_history([both, both]), sample_share=0.1)
    assert evidence.volume.mean.tolist() == pytest.approx([20.0, 15.0])


def test_the_forecast_of_a_set_is_the_same_number_for_the_choice_and_for_people():
    evidence = filtered(40)
    for columns in (np.array([0]), np.array([1]), np.array([0, 1])):
        assert evidence.expected_posts(columns).mean == pytest.approx(evidence.union.posts(columns), abs=0.05)
    assert evidence.volume.mean.tolist() == pytest.approx(evidence.union.expected.tolist())


def test_posts_without_a_keyword_are_known_from_a_hundred_on():
    assert filtered(FEWEST_OUTSIDE).outside_known
    assert not filtered(FEWEST_OUTSIDE - 2).outside_known


def test_a_thin_last_week_is_pooled_with_the_one_before():
    weeks = [[f"privacy {i}" for i in range(n)] for n in (THIN_POSTS, THIN_POSTS, 2)]
    corpus = weekly(*weeks, keywords=("privacy",))
    assert recent_spans(corpus, KeywordSet.of("privacy")) == (0, 1)
    evidence = evidence_of(corpus, "privacy")
    assert evidence.volume.mean[0] > 2, "two posts are not all that is known"
