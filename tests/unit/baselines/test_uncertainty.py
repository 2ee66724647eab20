from __future__ import annotations

from functools import cache, partial

import numpy as np
import pytest

from klda.advice.evidence import Evidence
from klda.advice.high_frequency import high_frequency_distance, high_frequency_threshold
from klda.advice.reasons import SAMPLING_NOISE_ONLY
from klda.advice.situation import Situation
from klda.advice.word_counts import keyword_word_matrix
from klda.arrays import row_blocks
from klda.baselines import uncertainty
from klda.baselines.divergences import kl
from klda.baselines.uncertainty import (
    Forecast,
    Measured,
    forecast_measurement,
    measure,
    measured_words,
)
from klda.policies.registry import policy
from klda.simulation import World
from klda.text.corpus import Corpus
from klda.types import KeywordSet
from tests.unit.baselines.few_posts import weekly

WEEKS = 8


@cache
def world(seed: int) -> tuple[Corpus, KeywordSet]:
    """A platform with a story that breaks half-way, matched against twenty words of the subject that it is about."""
    made = World(weeks=WEEKS, posts_per_week=1500, seed=seed, emergence=4)
    words = made.best_keywords(made.emerging.subject, week=0, n=20)
    return Corpus.from_posts(made, KeywordSet.of(*words)), KeywordSet.of(*words[:3])


def evidence(history: Corpus, current: KeywordSet) -> Evidence:
    return Evidence.of(Situation(history=history, current=current, candidates=history.candidates))


def inside(forecast: Forecast, happened: Measured) -> tuple[list[bool], list[bool]]:
    """For each pair, whether the divergence and R that came out lie in their intervals."""
    pairs = (forecast.divergence, happened.divergence), (forecast.distance, happened.distance)
    known = np.isfinite(happened.divergence) & np.isfinite(forecast.divergence.mean)
    found = [((i.low <= value) & (value <= i.high))[known].tolist() for i, value in pairs]
    return found[0], found[1]


def shares(first: int) -> tuple[float, float]:
    """How many intervals held over several platforms and weeks, from the windows `first` weeks back on."""
    divergences, distances = [], []
    for seed in range(3):
        corpus, current = world(seed)
        for week in (5, 6, 7):
            known = evidence(corpus.span(max(0, week - first), week), current)
            forecast = forecast_measurement(known, generator=np.random.default_rng(seed))
            happened = measure(keyword_word_matrix(corpus.window(week)), known.current, forecast.threshold)
            divergence, distance = inside(forecast, happened)
            divergences += divergence
            distances += distance
    assert len(divergences) > 400
    return float(np.mean(divergences)), float(np.mean(distances))


def test_of_ten_intervals_about_nine_hold_on_platforms_that_change():
    divergence, distance = shares(first=WEEKS)
    assert 0.75 < divergence < 0.98
    assert 0.75 < distance < 0.98


def test_sampling_noise_alone_would_not_hold():
    divergence, distance = shares(first=1)
    assert divergence < 0.5
    assert distance < 0.5


def test_two_windows_are_enough_to_test_forecasts():
    divergence, distance = shares(first=2)
    assert divergence > 0.75
    assert distance > 0.75


@pytest.mark.parametrize("name", ["counting", "counting-scored"])
def test_with_one_window_the_proposal_says_that_intervals_hold_sampling_noise_only(name):
    corpus, current = world(0)
    for weeks, said in ((1, True), (3, False)):
        history = corpus.span(-weeks)
        advice = policy(name).propose(
            Situation(history=history, current=current, candidates=history.candidates),
            generator=np.random.default_rng(0),
        )
        assert (SAMPLING_NOISE_ONLY in advice.notes) is said
        shown = [r.divergence for r in advice.reasons if r.divergence]
        assert all(e.low < e.mean < e.high for e in shown)


def test_keywords_that_were_never_seen_before_have_intervals_that_say_so():
    before = [f"nurse ward night shift number {i}" for i in range(12)] + [f"ward clinic bed {i}" for i in range(12)]
    now = [f"mask nurse ward shortage {i}" for i in range(12)] + [f"mask clinic queue {i}" for i in range(12)]
    for first, said in ((before, True), (now, False)):
        corpus = weekly(first, now, keywords=("mask", "nurse", "clinic", "ward"))
        advice = policy("counting").propose(
            Situation(corpus, KeywordSet.of("mask"), candidates=corpus.candidates), generator=np.random.default_rng(0)
        )
        assert (SAMPLING_NOISE_ONLY in advice.notes) is said


def test_a_keyword_without_posts_has_no_forecast_and_takes_none_from_others():
    corpus, current = world(1)
    silent = corpus.with_candidates(corpus.candidates | KeywordSet.of("neverwritten"))
    with_it = forecast_measurement(evidence(silent, current), generator=np.random.default_rng(0))
    without = forecast_measurement(evidence(corpus, current), generator=np.random.default_rng(0))
    assert np.isnan(with_it.divergence.mean[:, -1]).all()
    np.testing.assert_allclose(with_it.divergence.high[:, :-1], without.divergence.high)


def test_all_policies_forecast_the_same_measurement():
    corpus, current = world(2)
    advice = {
        name: policy(name).propose(
            Situation(history=corpus, current=current, candidates=corpus.candidates), generator=np.random.default_rng(0)
        )
        for name in ("counting", "counting-scored")
    }
    forecasts = [
        {(r.keyword.text, r.extends): r.divergence for r in proposal.reasons if r.extends}
        for proposal in advice.values()
    ]
    both = forecasts[0].keys() & forecasts[1].keys()
    assert both
    assert all(forecasts[0][pair] == forecasts[1][pair] for pair in both)


def test_measuring_a_block_of_candidates_at_a_time_gives_what_measuring_all_does(monkeypatch):
    corpus, current = world(0)
    counts = keyword_word_matrix(corpus.window(-1))
    columns = evidence(corpus, current).current
    words = measured_words(counts.toarray())
    threshold = high_frequency_threshold(words[counts.sum(axis=1) > 0])
    monkeypatch.setattr(uncertainty, "row_blocks", partial(row_blocks, elements=3 * counts.shape[1]))
    found = measure(counts, columns, threshold)
    known = np.isfinite(found.divergence)
    assert known.any()
    np.testing.assert_allclose(found.divergence[known], kl(words[columns], words)[known], rtol=1e-10)
    distance = high_frequency_distance(words[columns], words, threshold)
    np.testing.assert_array_equal(found.distance[known], distance[known])
    assert forecast_measurement(evidence(corpus, current), generator=np.random.default_rng(0)).threshold == threshold
