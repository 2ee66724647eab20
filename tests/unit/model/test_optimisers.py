from __future__ import annotations

import torch
from torch import nn

from klda.model.optimisers import RaggedRMSprop, add_weight_decay, fused_adam


def test_visiting_few_parameters_at_a_time_equals_dense_rmsprop():
    generator = torch.Generator().manual_seed(0)
    dense = nn.Parameter(torch.randn(20, generator=generator, dtype=torch.float64))
    ragged = RaggedRMSprop(dense.detach().clone(), learning_rate=0.005)
    stock = torch.optim.RMSprop([dense], lr=0.005, alpha=0.99, eps=1e-8)
    for iteration in range(1, 200):
        index = torch.randperm(20, generator=generator)[:3]
        gradient = torch.randn(3, generator=generator, dtype=torch.float64)
        dense.grad = torch.zeros(20, dtype=torch.float64).index_put((index,), gradient)
        stock.step()
        ragged.step(index, gradient, iteration)
    torch.testing.assert_close(ragged.values, dense.detach(), rtol=1e-10, atol=1e-12)


def test_without_the_missed_decay_the_two_would_part():
    values = [torch.zeros(1, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)]
    gradient, index = torch.ones(1, dtype=torch.float64), torch.tensor([0])
    results = []
    for gap, value in zip((1, 50), values, strict=True):
        optimiser = RaggedRMSprop(value)
        optimiser.step(index, gradient, 1)
        optimiser.step(index, gradient, 1 + gap)
        results.append(float(optimiser.values))
    assert results[0] != results[1]


def test_fused_adam_is_adam():
    start = torch.linspace(-1, 1, 7)
    fused, plain = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    optimisers = [fused_adam([fused], 0.01), torch.optim.Adam([plain], lr=0.01)]
    for step in range(20):
        for parameter, optimiser in zip((fused, plain), optimisers, strict=True):
            parameter.grad = torch.cos(parameter.detach() * (step + 1))
            optimiser.step()
    torch.testing.assert_close(fused, plain)


def test_weight_decay_adds_the_gradient_of_the_squared_weights_only():
    parameter = nn.Parameter(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    parameter.grad = torch.zeros(2, 2)
    add_weight_decay([(parameter, slice(0, -1))], 0.1)
    torch.testing.assert_close(parameter.grad, torch.tensor([[0.2, 0.4], [0.0, 0.0]]))
