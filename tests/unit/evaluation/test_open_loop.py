from __future__ import annotations

import numpy as np
import pytest

from klda.evaluation.open_loop import HISTORIES, PolicyAnswer, open_loop_case, score
from klda.posts.schema import microseconds

WEEKS, TEST = 4, 6


@pytest.fixture(scope="module", params=HISTORIES)
def case(request, archive, health):
    generator = np.random.default_rng(0)
    return open_loop_case(
        archive, health, TEST, weeks=WEEKS, history=request.param, n_candidates=15, generator=generator
    )


def test_nothing_of_the_test_week_is_in_the_history(archive, case):
    window = archive.corpus.windows[TEST]
    begin, end = microseconds(window.start), microseconds(window.end)
    assert len(case.history) > 0
    assert case.history.documents.time.max() < begin
    assert case.history.documents.window.max() == WEEKS - 1
    assert len(case.history.apart) == 0
    assert case.test.documents.time.min() >= begin
    assert case.test.documents.time.max() < end


def test_a_full_history_has_every_post_that_carries_a_candidate_and_others_what_their_lists_collected(archive, case):
    weeks = range(TEST - WEEKS, TEST)
    everything = np.concatenate([archive.collect(week, case.candidates) for week in weeks])
    lists = zip(weeks, case.history.history, strict=True)
    listed = np.concatenate([archive.collect(week, keywords) for week, keywords in lists])
    found = set(case.history.documents.post.tolist())
    assert found in (set(archive.documents.post[some].tolist()) for some in (everything, listed))
    assert set(case.test.documents.post) == set(archive.documents.post[archive.collect(TEST, case.candidates)])


def test_to_propose_nothing_where_there_was_something_to_find_is_wrong():
    silent = PolicyAnswer("silent", {"flu": (), "mask": ()}, (), 0.0)
    assert score(silent, {"flu": ("fever",), "mask": ()}, 2) == {
        "accuracy": 0.0,
        "coverage": 0.0,
        "keyword_accuracy": 0.0,
    }


def test_where_nothing_was_to_be_found_there_is_no_score():
    found = score(PolicyAnswer("eager", {"flu": ("fever",)}, ("fever",), 0.0), {"flu": ()}, 2)
    assert all(np.isnan(value) for value in found.values())
