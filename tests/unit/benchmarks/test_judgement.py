"""Fitting the numbers by which words are judged."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import expit

from benchmarks.judgement import Rows, Stream, fitted, observations
from klda.evaluation.subjects import Subject
from klda.types import KeywordSet


def test_the_fit_recovers_the_model_that_the_shares_were_drawn_from() -> None:
    generator = np.random.default_rng(0)
    features = generator.normal(size=(6_000, 2))
    posts = generator.integers(5, 200, size=6_000).astype(np.float64)
    hits = generator.binomial(posts.astype(np.int64), expit(-1.5 + 0.8 * features[:, 0] - 0.3 * features[:, 1]))
    rows = Rows(features, hits.astype(np.float64), posts, np.array([f"subject {i % 12}" for i in range(6_000)]))
    found = fitted(rows, ["one", "other"])
    assert (found["level"], found["one"], found["other"]) == pytest.approx((-1.5, 0.8, -0.3), abs=0.02)
    assert all(b["predicted"] == pytest.approx(b["share"], abs=0.05) for b in found["calibration"])
    assert 0 < found["explained"] < 1


def test_what_is_observed_of_a_word_comes_before_the_week_that_judges_it() -> None:
    """Two keywords, of which one comes with the subject; a third word is in the subject's posts and in no others."""
    week = np.array([[1, 0, 1], [1, 0, 1], [0, 1, 0], [0, 1, 0], [0, 0, 0]] * 4, dtype=np.float64)
    week = np.hstack([np.zeros((20, 1)), week])  # the placeholder
    labels = np.array(["on", "on", "off", "off", "off"] * 4, dtype=object)
    stream = Stream(
        [csr_array(week)] * 5, [csr_array(week)] * 5, [labels] * 5, np.full(4, 1e-5), {"a": 1, "b": 2, "c": 3}, 2.0
    )
    found = dict(observations(stream, Subject("s", KeywordSet.of("a", "b"), frozenset({"on"}))))
    np.testing.assert_array_equal(found["listed"].hits / found["listed"].posts, [1.0, 0.0])
    np.testing.assert_array_equal(found["sighted"].hits / found["sighted"].posts, [1.0])
