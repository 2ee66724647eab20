from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klda.errors import SettingError
from klda.selection import Limits, UnionVolume, choose_set, set_problem
from tests.unit.selection.strategies import end_to_end, random_distributions, random_documents, seeds

N = 7
dials = st.sampled_from([0.0, 0.3, 0.5, 1.0])


def _problem(seed, n=N, n_words=15, n_documents=40, **options):
    generator = np.random.default_rng(seed)
    words = random_distributions(seed, n + 2, n_words)
    volume = UnionVolume.of(*end_to_end(random_documents(seed, n_documents, n)), generator.gamma(2.0, 5.0, size=n))
    return set_problem(words[:n], volume, words[n], words[n + 1] * 0.3, target_posts=30.0, **options)


def _limits(seed, problem):
    """Limits of every kind at once, which the required keyword keeps."""
    generator = np.random.default_rng(seed)
    required = generator.integers(0, N, size=1)
    return Limits(
        max_keywords=int(generator.integers(1, 5)),
        max_posts=float(problem.volume.posts(required) + generator.uniform(0, 40)),
        max_terms=8.0,
        terms=generator.integers(1, 4, size=N).astype(float),
        required=required,
        forbidden=np.array([(required[0] + 1) % N]),
    )


def _best_of_all(problem, limits, novelty):
    values = []
    for n in range(N + 1):
        for chosen in combinations(range(N), n):
            keywords = np.array(chosen, dtype=np.int64)
            score = problem.score(keywords)
            if limits.allow(keywords, score.posts, N):
                values.append(problem.value(score, novelty))
    return max(values)


@settings(max_examples=40)
@given(seed=seeds, novelty=dials, free=st.booleans())
def test_the_choice_is_within_the_limits_and_close_to_the_best_of_all_sets(seed, novelty, free):
    problem = _problem(seed)
    limits = Limits(max_keywords=3) if free else _limits(seed, problem)
    result = choose_set(problem, limits, novelty=novelty)
    best = _best_of_all(problem, limits, novelty)
    assert limits.allow(result.keywords, result.score.posts, N)
    assert result.value <= best + 1e-9
    assert result.value >= (1 - 1 / math.e) * best - 1e-9 if best > 0 else result.value >= best - 1e-9


def test_the_choice_is_almost_always_the_best_of_all_sets():
    hits = []
    for seed in range(30):
        problem = _problem(seed)
        limits = _limits(seed, problem)
        hits.append(choose_set(problem, limits).value >= _best_of_all(problem, limits, 0.5) - 1e-9)
    assert np.mean(hits) > 0.85


@settings(max_examples=40)
@given(seed=seeds, novelty=dials)
def test_a_proposal_is_never_worth_less_than_the_current_list(seed, novelty):
    problem = _problem(seed)
    current = np.random.default_rng(seed).choice(N, size=3, replace=False)
    result = choose_set(problem, Limits(max_keywords=3), novelty=novelty, current=current)
    assert result.value >= problem.value(problem.score(current), novelty) - 1e-9


@pytest.fixture
def trap():
    """Keywords 2 and 3 look best one by one and no single exchange helps, yet 0 and 1 are better; 4 brings nothing."""
    words = np.array(
        [
            [0.5, 0.5, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.5, 0.5, 0.0],
            [0.42, 0.08, 0.42, 0.08, 0.0],
            [0.0, 0.4, 0.0, 0.4, 0.2],
            [0.0, 0.0, 0.0, 0.0, 1.0],
        ]
    )
    return set_problem(
        words,
        UnionVolume.disjoint(np.array([5.0, 5.0, 6.0, 5.0, 1.0])),
        np.array([0.25, 0.25, 0.25, 0.25, 0.0]),
        np.zeros(5),
        target_posts=10.0,
        price=np.array([0.0, 0.0, 0.0, 0.0, 0.001]),
        cost_weight=0.0,
    )


def test_a_current_list_that_the_search_would_not_find_is_kept(trap):
    limits, current = Limits(max_keywords=2), np.array([0, 1])
    assert sorted(choose_set(trap, limits, novelty=0.0).keywords) == [2, 3]
    assert choose_set(trap, limits, novelty=0.0, current=current).keep.tolist() == [0, 1]


def test_what_brings_nothing_is_dropped_from_a_current_list_that_is_better_than_what_the_search_finds(trap):
    limits = Limits(max_terms=2, terms=np.array([1.0, 1.0, 1.0, 1.0, 0.0]))
    result = choose_set(trap, limits, novelty=0.0, current=np.array([0, 1, 4]))
    assert sorted(result.keywords) == [0, 1]


@given(seed=seeds)
@settings(max_examples=20)
def test_keep_add_and_drop_account_for_every_keyword_once(seed):
    current = np.random.default_rng(seed).choice(N, size=3, replace=False)
    result = choose_set(_problem(seed), Limits(max_keywords=4), current=current)
    assert sorted([*result.keep, *result.add]) == sorted(result.keywords)
    assert sorted([*result.keep, *result.drop]) == sorted(current)


def test_the_same_problem_gives_the_same_set():
    problem = _problem(12, n=150, n_words=60, n_documents=400)
    first, second = (choose_set(problem, Limits(max_keywords=12), novelty=0.4) for _ in range(2))
    assert first.keywords.tolist() == second.keywords.tolist()
    assert first.value == second.value


def test_looking_at_few_candidates_chooses_what_looking_at_all_does(monkeypatch):
    problem = _problem(5, n=150, n_words=60, n_documents=0)
    lazy = choose_set(problem, Limits(max_keywords=10))
    monkeypatch.setattr("klda.selection.choose._BATCH", 1_000)
    assert choose_set(problem, Limits(max_keywords=10)).keywords.tolist() == lazy.keywords.tolist()


def test_of_two_equal_keywords_the_earlier_is_taken():
    words = random_distributions(1, 1, 6)
    problem = set_problem(
        np.repeat(words, 3, axis=0), UnionVolume.disjoint(np.full(3, 5.0)), words[0], np.zeros(6), target_posts=5.0
    )
    assert choose_set(problem, Limits(max_keywords=1), novelty=0.0).keywords.tolist() == [0]


def test_a_keyword_that_costs_more_than_it_brings_is_dropped():
    on, off = np.array([0.5, 0.5, 0.0, 0.0]), np.array([0.0, 0.0, 0.5, 0.5])
    volume = UnionVolume.disjoint(np.array([10.0, 10.0]))
    problem = set_problem(np.array([on, off]), volume, on, np.zeros(4), target_posts=10.0)
    result = choose_set(problem, novelty=0.0, current=np.array([0, 1]))
    assert result.keep.tolist() == [0]
    assert result.drop.tolist() == [1]


def test_a_required_keyword_stays_however_poor_it_is():
    problem = replace(_problem(3), price=np.array([5.0, *[0.0] * (N - 1)]))
    assert 0 not in choose_set(problem, Limits(max_keywords=2)).keywords
    assert 0 in choose_set(problem, Limits(max_keywords=2, required=np.array([0]))).keywords


def test_a_keyword_required_twice_takes_one_place():
    result = choose_set(_problem(3), Limits(max_keywords=1, required=np.array([2, 2])))
    assert result.keywords.tolist() == [2]


def test_many_cheap_keywords_win_over_one_that_takes_the_whole_budget():
    words = np.eye(4)
    words = np.vstack([np.full(4, 0.25), words])
    volume = UnionVolume.disjoint(np.array([10.0, 2.5, 2.5, 2.5, 2.5]))
    target = np.array([0.3, 0.3, 0.2, 0.2])
    problem = set_problem(words, volume, target, np.zeros(4), target_posts=10.0, cost_weight=0.0)
    result = choose_set(problem, Limits(max_posts=10), novelty=0.0)
    assert result.value == pytest.approx(max(0.9, problem.value(problem.score(np.array([0])), 0.0)))


def test_required_keywords_beyond_the_budget_are_an_error():
    with pytest.raises(SettingError, match="required keywords alone"):
        choose_set(_problem(0), Limits(max_keywords=1, required=np.array([0, 1])))
