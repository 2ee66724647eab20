from __future__ import annotations

import math

import pytest
import torch

from klda.model import prior, samplers
from tests.unit.model import slow_reference as slow


@pytest.mark.parametrize("n_keywords", [1, 2, 5, 9])
def test_the_proposal_is_a_distribution_over_non_empty_sets(n_keywords: int) -> None:
    sizes = torch.tensor([sum(z) for z in slow.states(n_keywords)])
    assert float(samplers.log_proposal(sizes, n_keywords).exp().sum()) == pytest.approx(1.0)


def test_subsets_are_drawn_as_the_proposal_says() -> None:
    n = 60_000
    subsets, _ = samplers.draw_subsets(4, n, torch.Generator().manual_seed(0))
    z = torch.zeros(n, 5, dtype=torch.long).scatter_(1, subsets % 5, 1)[:, :4]  # the padding is column 5
    states = torch.tensor(slow.states(4))
    seen = (z[:, None, :] == states).all(-1).double().mean(0)
    p = samplers.log_proposal(states.sum(1), 4).exp()
    assert torch.all((seen - p).abs() < 4 * (p * (1 - p) / n).sqrt())


def test_subsets_hold_no_keyword_twice() -> None:
    subsets, sizes = samplers.draw_subsets(8, 5000, torch.Generator().manual_seed(1))
    for subset, size in zip(subsets.tolist(), sizes.tolist(), strict=True):
        members = [j for j in subset if j >= 0]
        assert len(set(members)) == len(members) == size
        assert max(members) < 8


@pytest.mark.parametrize("allow_empty", [True, False])
@pytest.mark.parametrize(("n_keywords", "spread"), [(1, 1.0), (3, 1.0), (10, 1.0), (40, 0.5), (5000, 0.1)])
def test_the_estimate_lies_within_its_standard_error(n_keywords: int, spread: float, allow_empty: bool) -> None:
    generator = torch.Generator().manual_seed(7)
    theta = spread * torch.randn(n_keywords, dtype=torch.float64, generator=generator)
    penalty = 2.0 if n_keywords <= 40 else 8.0
    estimate = samplers.estimate_log_partition(theta, penalty, generator, allow_empty=allow_empty)
    exact = float(prior.log_partition(theta, penalty, allow_empty=allow_empty))
    assert estimate.effective_sample_size >= samplers.TRUSTED_SAMPLE
    assert abs(estimate.log_partition - exact) < 4 * estimate.standard_error + 1e-12


def test_a_poor_proposal_warns() -> None:
    theta = torch.full((40,), -6.0)
    theta[::8] = 8.0  # the mass lies on one set of five, which a uniform choice hardly ever hits
    with pytest.warns(samplers.UnreliableEstimateWarning, match="effective"):
        estimate = samplers.estimate_log_partition(theta, 2.0, torch.Generator().manual_seed(0))
    assert estimate.effective_sample_size < samplers.TRUSTED_SAMPLE


def test_huge_energies_overflow_nowhere() -> None:
    theta = torch.tensor([900.0, 900.0])
    estimate = samplers.estimate_log_partition(theta, 2.0, torch.Generator().manual_seed(0))
    assert estimate.log_partition == pytest.approx(1798.0 + math.log1p(2 * math.exp(-898)), abs=0.1)
