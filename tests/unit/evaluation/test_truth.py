from __future__ import annotations

import numpy as np
import pytest

from klda.evaluation.open_loop import ceiling
from klda.evaluation.truth import Reading, TruthSettings, corrected_ranking, measure_truth, raw_ranking
from klda.types import KeywordSet

QUICK = TruthSettings(seeds=2, iterations=20, equal_samples=3)


@pytest.fixture(scope="module")
def test_week(archive):
    candidates = KeywordSet.of("hospital", "nurse", "doctor", "patients", "race", "horse", "stream", "today")
    positions = archive.collect(6, candidates)
    return archive.seen(positions, [candidates], first_window=6, candidates=candidates, min_count=3)


def test_a_keyword_is_extended_by_words_of_its_own_subject(test_week):
    ranked = raw_ranking(test_week, KeywordSet.of("nurse"), TruthSettings(seeds=3, iterations=50))
    assert {"horse", "race"}.isdisjoint(ranked["nurse"][:1])


def test_a_keyword_never_extends_itself_and_rare_ones_extend_nothing(test_week):
    current = KeywordSet.of("nurse", "horse")
    for ranking in (
        raw_ranking(test_week, current, QUICK),
        corrected_ranking(test_week, current, QUICK, np.random.default_rng(0)),
    ):
        assert set(ranking) == {"nurse", "horse"}
        assert all(keyword not in words for keyword, words in ranking.items())
    strict = TruthSettings(seeds=1, iterations=10, equal_samples=1, min_frequency=0.99)
    assert raw_ranking(test_week, current, strict) == {"nurse": (), "horse": ()}


def test_the_same_seed_gives_the_same_truth(test_week):
    one, two = (
        measure_truth(test_week, KeywordSet.of("nurse"), generator=np.random.default_rng(5), settings=QUICK)
        for _ in "ab"
    )
    assert one == two


def test_the_ceiling_is_one_when_the_halves_agree_and_nought_when_they_share_nothing():
    lists = {"a": ("x", "y", "z")}
    assert ceiling(Reading(lists, (lists, lists)), 2) == 1.0
    assert ceiling(Reading(lists, (lists, {"a": ("u", "v")})), 2) == 0.0
