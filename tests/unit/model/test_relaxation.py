from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from klda.model.keyword_sets import enumerate_rows, log_weights
from klda.model.samplers import binary_gumbel, categorical_gumbel, gumbel, temperature_at
from tests.unit.model.test_keyword_sets import CPU, _batch, _everything, _sets


def test_cold_gumbel_draws_agree_with_enumeration_on_average():
    batch = _batch()
    logits = torch.tensor([0.4, -0.6, 0.2, 1.0, -1.0, 0.3], dtype=torch.float64)
    generator = torch.Generator().manual_seed(0)
    noise = gumbel((2, 20_000 * len(logits)), logits, generator)
    draws = (binary_gumbel(logits.repeat(20_000), 0.01, noise) > 0.5).view(20_000, -1).double()
    choice = _everything(batch)
    rows = enumerate_rows(batch, choice, allow_empty=True, device=CPU)
    weight, _ = log_weights(rows, logits, choice, batch, allow_empty=True)
    for row, (document, subset) in enumerate(_sets(rows, batch)):
        pairs = slice(int(batch.pair_start[document]), int(batch.pair_start[document + 1]))
        wanted = torch.tensor([float(k in subset) for k in batch.pair_keyword[pairs]], dtype=torch.float64)
        share = (draws[:, pairs] == wanted).all(1).double().mean()
        assert float(share) == pytest.approx(float(weight[row].exp()), abs=0.015)


def test_relaxed_values_lie_between_zero_and_one_and_have_a_gradient():
    logits = torch.zeros(50, requires_grad=True)
    y = binary_gumbel(logits, 0.5, gumbel((2, len(logits)), logits, torch.Generator().manual_seed(0)))
    assert ((y > 0) & (y < 1)).all()
    y.sum().backward()
    assert (logits.grad > 0).all()


def test_categorical_draws_are_binary_follow_the_rates_and_pass_a_gradient():
    logits = torch.tensor([3.0, -6.0], requires_grad=True)
    document, keyword = torch.tensor([0, 0]), torch.tensor([0, 2])
    generator = torch.Generator().manual_seed(0)
    noise = (gumbel((1, 3, 3), logits, generator) for _ in range(2000))
    draws = torch.stack([categorical_gumbel(logits, document, keyword, 0.1, drawn) for drawn in noise])
    rounded = draws.detach().round()
    torch.testing.assert_close(draws.detach(), rounded, atol=1e-5, rtol=0)
    rate = torch.tensor([0.953, 0.5, 0.0025])
    chance = 1 - (1 - rate[[0, 2]] / rate.sum()) ** 3
    torch.testing.assert_close(rounded.mean(0), chance, atol=0.03, rtol=0)
    draws.sum().backward()
    assert (logits.grad != 0).all()


def test_the_temperature_falls_to_its_floor():
    values = [temperature_at(t) for t in (0, 1000, 10_000, 20_000)]
    assert values[0] == 1
    assert values[1] == pytest.approx(np.exp(-0.1))
    assert values[2:] == [pytest.approx(np.exp(-1)), 0.25]


@pytest.mark.parametrize(("logit", "total", "drawn"), [(-1.0, 0.7, 1.0), (-3.0, 0.17, 0.0)])
def test_a_candidate_is_drawn_where_its_share_of_all_draws_comes_to_one_half(logit, total, drawn):
    """Two candidates, one of which the document carries; without noise its share is the same in both draws."""
    rate = 1 / (1 + math.exp(-logit))
    assert 2 * rate / (rate + 0.5) == pytest.approx(total, abs=0.01)
    nothing, place = torch.zeros(1, 2, 2), torch.zeros(1, dtype=torch.long)
    assert categorical_gumbel(torch.tensor([logit]), place, place, 1.0, nothing).tolist() == [drawn]
