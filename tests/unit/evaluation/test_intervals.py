from __future__ import annotations

import numpy as np
import pytest

from klda.evaluation.intervals import Grid, interval


def cases(values):
    return [(f"s{i}", f"w{j}", {"x": float(v)}) for (i, j), v in np.ndenumerate(values)]


def mean(grid, seed=0, **options):
    return interval(grid, lambda m: m["x"], generator=np.random.default_rng(seed), **options)


def test_the_centre_is_the_plain_mean_of_the_cases_that_count():
    values = np.array([[0.1, 0.2], [0.3, np.nan]])
    assert mean(Grid.of(cases(values))).mean == pytest.approx(0.2)


def test_a_difference_between_subjects_widens_the_interval_more_than_resampling_cases_would():
    values = np.repeat(np.array([[0.0], [1.0], [0.0], [1.0]]), 50, axis=1)
    result = mean(Grid.of(cases(values)))
    naive = 1.96 * values.std() / np.sqrt(values.size)
    assert result.high - result.low > 4 * naive


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    generator = np.random.default_rng(1)
    hits = 0
    for trial in range(200):
        subject = generator.normal(0, 1, (15, 1))
        week = generator.normal(0, 1, (1, 15))
        noise = generator.normal(0, 1, (15, 15))
        result = mean(Grid.of(cases(subject + week + noise)), seed=trial, n_draws=300)
        hits += result.low <= 0 <= result.high
    assert 0.86 <= hits / 200 <= 0.99


def test_an_interval_is_one_of_95_percent_unless_said_otherwise():
    values = np.random.default_rng(4).normal(size=(1, 400))
    error = values.std() / np.sqrt(values.size)
    for level, reach in ((0.95, 1.96), (0.8, 1.28)):
        result = mean(Grid.of(cases(values)), level=level, n_draws=4000)
        assert (result.high - result.low) / 2 == pytest.approx(reach * error, rel=0.06)
    assert mean(Grid.of(cases(values)), n_draws=4000) == mean(Grid.of(cases(values)), level=0.95, n_draws=4000)


def test_paired_differences_are_tighter_than_each_side_alone():
    generator = np.random.default_rng(2)
    base = generator.normal(0, 1, (6, 8))
    both = [(f"s{i}", f"w{j}", {"a": v + 0.1, "b": v}) for (i, j), v in np.ndenumerate(base)]
    grid = Grid.of(both)
    paired = interval(grid, lambda m: m["a"] - m["b"], generator=np.random.default_rng(0))
    alone = interval(grid, lambda m: m["a"], generator=np.random.default_rng(0))
    assert paired.low == pytest.approx(0.1)
    assert paired.high - paired.low < 0.01 * (alone.high - alone.low)


def test_the_same_seed_gives_the_same_interval():
    grid = Grid.of(cases(np.random.default_rng(3).random((4, 5))))
    assert mean(grid, seed=7) == mean(grid, seed=7)
    assert mean(grid, seed=7) != mean(grid, seed=8)


def test_a_ratio_that_is_often_undefined_has_no_interval():
    values = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    often = interval(
        Grid.of(cases(values)), lambda m: 1 / np.where(m["x"] > 0, m["x"], np.nan), generator=np.random.default_rng(0)
    )
    assert often.mean == pytest.approx(3)
    assert np.isnan(often.low)
    assert np.isnan(often.high)


def test_a_single_case_has_no_interval():
    alone = mean(Grid.of(cases(np.array([[0.4]]))))
    assert alone.mean == 0.4
    assert np.isnan(alone.low)
    assert np.isnan(alone.high)
