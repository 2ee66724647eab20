from __future__ import annotations

import pytest
import torch

from klda.model import prior, samplers
from tests.unit.model import slow_reference as slow


@pytest.mark.parametrize("allow_empty", [True, False])
def test_chains_start_uniformly_over_all_sets(allow_empty: bool) -> None:
    n = 20_000
    generator = torch.Generator().manual_seed(1)
    chains = samplers.start_chains(3, generator, n_chains=n, allow_empty=allow_empty)
    states = torch.tensor(slow.states(3, allow_empty=allow_empty)).bool()
    seen = (chains[:, None, :] == states).all(-1).double().mean(0)
    p = 1 / len(states)
    assert float(seen.sum()) == pytest.approx(1.0)
    assert torch.all((seen - p).abs() < 4 * (p * (1 - p) / n) ** 0.5)


@pytest.mark.parametrize("allow_empty", [True, False])
def test_the_chains_mean_is_the_gradient_of_log_z_within_its_standard_error(allow_empty: bool) -> None:
    theta, penalty, n = torch.tensor([1.0, -1.0, 2.0, 0.0, 3.0], dtype=torch.float64), 2.0, 20_000
    generator = torch.Generator().manual_seed(2)
    chains = samplers.start_chains(len(theta), generator, n_chains=n, allow_empty=allow_empty)
    chains = samplers.gibbs_steps(chains, theta, penalty, 120, generator, allow_empty=allow_empty)
    exact = prior.log_partition_gradient(theta, penalty, allow_empty=allow_empty)
    estimate = samplers.negative_phase(chains, dtype=torch.float64)
    assert torch.all((estimate - exact).abs() < 4 * (exact * (1 - exact) / n).sqrt())


def test_gibbs_steps_leave_the_exact_distribution_unchanged() -> None:
    theta, penalty, n = torch.tensor([-1.0, 0.5, -2.0], dtype=torch.float64), 1.0, 40_000
    generator = torch.Generator().manual_seed(3)
    chains = prior.sample(theta, penalty, n, generator)
    chains = samplers.gibbs_steps(chains, theta, penalty, 3, generator)
    states = torch.tensor(slow.states(3))
    seen = (chains[:, None, :] == states.bool()).all(-1).double().mean(0)
    p = prior.log_probability(states, theta, penalty).exp()
    assert torch.all((seen - p).abs() < 4 * (p * (1 - p) / n).sqrt())


def test_a_step_changes_at_most_one_keyword_of_each_chain_and_not_the_input() -> None:
    generator = torch.Generator().manual_seed(4)
    before = samplers.start_chains(12, generator)
    kept = before.clone()
    after = samplers.gibbs_steps(before, torch.zeros(12), 2.0, 1, generator)
    assert before.shape == (100, 12)
    assert torch.equal(before, kept)
    assert int((before ^ after).sum(1).max()) == 1


@pytest.mark.parametrize("allow_empty", [True, False])
def test_rare_keywords_empty_the_chains_only_where_that_is_allowed(allow_empty: bool) -> None:
    generator = torch.Generator().manual_seed(5)
    chains = samplers.start_chains(3, generator, allow_empty=allow_empty)
    sizes = samplers.gibbs_steps(chains, torch.full((3,), -30.0), 2.0, 200, generator, allow_empty=allow_empty)
    assert set(sizes.sum(1).tolist()) == ({0} if allow_empty else {1})


def test_steps_taken_at_once_are_those_taken_one_by_one() -> None:
    theta = torch.tensor([1.0, -1.0, 2.0, 0.0, 3.0])
    start = samplers.start_chains(5, torch.Generator().manual_seed(5), n_chains=50, allow_empty=True)
    found = samplers.gibbs_steps(start, theta, 2.0, 7, torch.Generator().manual_seed(6), allow_empty=True)
    generator = torch.Generator().manual_seed(6)
    coordinates = torch.randint(5, (7, 50), generator=generator)
    uniform = torch.rand(7, 50, generator=generator)
    expected = start.clone()
    for step in range(7):
        for chain in range(50):
            at = int(coordinates[step, chain])
            expected[chain, at] = bool(uniform[step, chain] < torch.sigmoid(theta[at] - 2.0))
    assert torch.equal(found, expected)
