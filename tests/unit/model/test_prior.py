from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from klda.model import prior
from tests.unit.model import slow_reference as slow

thetas = st.lists(st.floats(-30, 30), min_size=1, max_size=8)
penalties = st.floats(-3, 5)


def tensor(values: list[float] | np.ndarray) -> torch.Tensor:
    return torch.as_tensor(np.asarray(values), dtype=torch.float64)


def all_states(n_keywords: int, allow_empty: bool) -> torch.Tensor:
    return torch.tensor(slow.states(n_keywords, allow_empty=allow_empty))


@settings(max_examples=40, deadline=None)
@given(thetas, penalties, st.booleans())
def test_closed_form_is_the_sum_over_all_sets(theta: list[float], penalty: float, allow_empty: bool) -> None:
    expected = slow.log_partition(np.array(theta), penalty, allow_empty=allow_empty)
    assert float(prior.log_partition(tensor(theta), penalty, allow_empty=allow_empty)) == pytest.approx(
        expected, rel=1e-11, abs=1e-11
    )


@pytest.mark.parametrize("allow_empty", [True, False])
def test_closed_form_holds_for_twelve_keywords(allow_empty: bool) -> None:
    theta = np.random.default_rng(0).normal(0, 2, 12)
    expected = slow.log_partition(theta, 2.0, allow_empty=allow_empty)
    assert float(prior.log_partition(tensor(theta), 2.0, allow_empty=allow_empty)) == pytest.approx(expected)


@settings(max_examples=40, deadline=None)
@given(thetas, penalties, st.booleans())
def test_gradient_is_that_of_automatic_differentiation(theta: list[float], penalty: float, allow_empty: bool) -> None:
    leaf = tensor(theta).requires_grad_()
    prior.log_partition(leaf, penalty, allow_empty=allow_empty).backward()
    closed = prior.log_partition_gradient(leaf.detach(), penalty, allow_empty=allow_empty)
    torch.testing.assert_close(leaf.grad, closed, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("allow_empty", [True, False])
def test_gradient_is_that_of_finite_differences(allow_empty: bool) -> None:
    theta, step = tensor([0.3, -4.0, 2.5, 1.0]), 1e-5
    gradient = prior.log_partition_gradient(theta, 2.0, allow_empty=allow_empty)
    for j in range(len(theta)):
        shift = step * torch.eye(len(theta), dtype=torch.float64)[j]
        up, down = (prior.log_partition(t, 2.0, allow_empty=allow_empty) for t in (theta + shift, theta - shift))
        assert float((up - down) / (2 * step)) == pytest.approx(float(gradient[j]), rel=1e-7)


@settings(max_examples=40, deadline=None)
@given(thetas, penalties, st.booleans())
def test_probabilities_of_all_sets_sum_to_one(theta: list[float], penalty: float, allow_empty: bool) -> None:
    z = all_states(len(theta), allow_empty)
    total = prior.log_probability(z, tensor(theta), penalty, allow_empty=allow_empty).exp().sum()
    assert float(total) == pytest.approx(1.0, abs=1e-10)


def test_the_empty_set_is_impossible_unless_allowed() -> None:
    empty, theta = torch.zeros(3), tensor([0.0, 1.0, 2.0])
    assert float(prior.log_probability(empty, theta, 2.0)) == -math.inf
    assert math.isfinite(float(prior.log_probability(empty, theta, 2.0, allow_empty=True)))


def test_the_penalty_only_shifts_theta() -> None:
    theta, z = tensor([0.2, -1.0, 3.0]), all_states(3, False)
    torch.testing.assert_close(prior.log_probability(z, theta, 2.0), prior.log_probability(z, theta - 2.0, 0.0))


@pytest.mark.parametrize("level", [-5000.0, -800.0, -60.0, -29.0, 60.0, 5000.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_extreme_energies_stay_finite_and_differentiable(level: float, dtype: torch.dtype) -> None:
    theta = torch.full((4,), level, dtype=dtype, requires_grad=True)
    value = prior.log_partition(theta, 2.0)
    value.backward()
    assert theta.grad is not None
    # Far down only single keywords count (Z = Σ e^θ), far up only the full set does.
    expected = level + math.log(4) if level < 0 else 4 * level - 3 * 2.0
    assert value.item() == pytest.approx(expected, rel=1e-6)
    gradient = torch.full((4,), 0.25 if level < 0 else 1.0, dtype=dtype)
    precision = {"rtol": 1e-4 if dtype == torch.float32 else 1e-11, "atol": 0.0}
    torch.testing.assert_close(theta.grad, gradient, **precision)
    torch.testing.assert_close(prior.log_partition_gradient(theta.detach(), 2.0), gradient, **precision)


def test_the_two_branches_for_rare_keywords_meet() -> None:
    around = math.log(1e-12 / 5) + np.linspace(-0.01, 0.01, 9)
    values = np.array([float(prior.log_partition(tensor([x] * 5), 0.0)) for x in around])
    np.testing.assert_allclose(values, around + math.log(5), rtol=0, atol=2e-12)


@pytest.mark.parametrize("shift", [0.0, -40.0])
def test_exact_sampler_draws_each_set_as_often_as_it_is_probable(shift: float) -> None:
    theta, penalty, n = tensor([1.0, 2.5, -0.5]) + shift, 1.5, 40_000
    z = prior.sample(theta, penalty, n, torch.Generator().manual_seed(4))
    states = all_states(3, False)
    seen = (z[:, None, :] == states.bool()).all(-1).double().mean(0)
    p = prior.log_probability(states, theta, penalty).exp()
    error = (p * (1 - p) / n).sqrt()
    assert torch.all((seen - p).abs() <= 4 * error + 1e-12)


def test_exact_sampler_serves_thousands_of_keywords() -> None:
    theta = torch.linspace(-9, -5, 5000)
    z = prior.sample(theta, 2.0, 3000, torch.Generator().manual_seed(0))
    expected = prior.log_partition_gradient(theta, 2.0).sum()
    assert bool(z.any(1).all())
    assert float(z.sum(1).double().mean()) == pytest.approx(float(expected), rel=0.05)


def test_same_seed_same_sample() -> None:
    theta = tensor([0.1, 0.2])
    first, second = (prior.sample(theta, 1.0, 50, torch.Generator().manual_seed(9)) for _ in range(2))
    assert torch.equal(first, second)


def test_frequency_penalty_vanishes_where_theta_is_the_log_frequency() -> None:
    empirical = tensor([0.5, 0.3, 0.2])
    assert float(prior.frequency_penalty(empirical.log() + 7.0, empirical)) == pytest.approx(0.0, abs=1e-15)
    assert float(prior.frequency_penalty(tensor([0.0, 0.0, 0.0]), empirical)) > 0.01
