from __future__ import annotations

import numpy as np
import pytest

from klda.evaluation import truth as module
from klda.evaluation.open_loop import ceiling
from klda.evaluation.truth import TruthReading, TruthSettings, corrected_ranking, measure_truth, raw_ranking
from klda.model.lda import mean_word_distribution
from klda.types import KeywordSet

QUICK = TruthSettings(seeds=2, iterations=20, equal_samples=3)


@pytest.fixture(scope="module")
def test_week(archive):
    candidates = KeywordSet.of("hospital", "nurse", "doctor", "patients", "race", "horse", "stream", "today")
    positions = archive.collect(6, candidates)
    return archive.seen(positions, [candidates], first_window=6, candidates=candidates, min_count=1)


def test_a_keyword_is_extended_by_words_of_its_own_subject(test_week):
    ranked = raw_ranking(test_week, KeywordSet.of("nurse"), TruthSettings(seeds=3, iterations=50))
    assert {"horse", "race"}.isdisjoint(ranked["nurse"][:1])


def slow_ranking(test, current, settings):
    """The paper's two criteria on LDA of each candidate's posts, as docs/explanation/evaluation.md has them."""
    texts = test.candidates.texts
    posts = [[d for d in range(len(test)) if j in test.observed[d]] for j in range(len(texts))]
    frequent = [j for j, mine in enumerate(posts) if len(mine) / len(test) > settings.min_frequency]
    words = {
        j: mean_word_distribution(
            test.documents.take(np.array(posts[j])),
            len(test.vocabulary),
            settings.n_topics,
            seeds=settings.seeds,
            iterations=settings.iterations,
        )
        for j in range(len(texts))
        if j in frequent or texts[j] in current
    }
    edge = np.median([np.sort(a)[::-1][100] for a in words.values()])

    def qualifies(last, new):
        gained = ((new > edge) & (last / new < 0.5)).sum()
        lost = ((last > edge) & (new / last < 0.5)).sum()
        return gained - lost >= 0

    found = {}
    for keyword in current.texts:
        last = words[texts.index(keyword)]
        away = {j: (last * np.log(last / words[j])).sum() for j in frequent if qualifies(last, words[j])}
        away.pop(texts.index(keyword), None)
        found[keyword] = tuple(texts[j] for j in sorted(away, key=away.__getitem__))
    return found


@pytest.mark.parametrize("min_frequency", [0.005, 0.08], ids=["all are frequent", "some are rare, a current one too"])
def test_the_raw_truth_is_the_papers_criteria_on_each_candidates_posts(test_week, min_frequency):
    current = KeywordSet.of("nurse", "horse")
    settings = TruthSettings(seeds=2, iterations=10, min_frequency=min_frequency)
    carrying = np.bincount(test_week.observed.values) / len(test_week)
    assert (carrying > min_frequency).all() == (min_frequency < 0.01)
    assert raw_ranking(test_week, current, settings) == slow_ranking(test_week, current, settings)


def test_the_corrected_truth_measures_every_candidate_on_equally_many_posts(test_week, monkeypatch):
    sizes = []

    def uniform(test, posts, settings, seeds):
        sizes.append(len(np.unique(posts)))
        return np.full(len(test.vocabulary), 1 / len(test.vocabulary))

    monkeypatch.setattr(module, "_distribution", uniform)
    corrected_ranking(test_week, KeywordSet.of("nurse"), QUICK, np.random.default_rng(0))
    rarest = np.bincount(test_week.observed.values).min()
    assert sizes == [rarest] * (QUICK.equal_samples * len(test_week.candidates))


def test_the_ceiling_compares_halves_of_the_window_that_share_no_post(test_week, monkeypatch):
    parts = []

    def noted(test, *_):
        parts.append(set(test.documents.post.tolist()))
        return {}

    monkeypatch.setattr(module, "raw_ranking", noted)
    monkeypatch.setattr(module, "corrected_ranking", noted)
    measure_truth(test_week, KeywordSet.of("nurse"), generator=np.random.default_rng(0))
    for whole, one, other in (parts[:3], parts[3:]):
        assert one.isdisjoint(other)
        assert one | other == whole
        assert abs(len(one) - len(other)) <= 1


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
    assert ceiling(TruthReading(lists, (lists, lists)), 2) == 1.0
    assert ceiling(TruthReading(lists, (lists, {"a": ("u", "v")})), 2) == 0.0


def test_the_ceiling_is_the_mean_of_both_ways():
    halves = {"a": ("x", "y", "z")}, {"a": ("x",)}
    assert ceiling(TruthReading({}, halves), 3) == pytest.approx((1 / 3 + 1) / 2)
