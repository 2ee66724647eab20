"""The keyword prior p_kw, exactly: energy, partition function and its gradient, probability, sampling.

p̃(z) = exp(zᵀθ − c (1ᵀz − 1)) is linear in z, so the sum over all keyword sets factorises. With x = θ − c and
s = Σ_j softplus(x_j): log Z = c + s when the empty set is allowed, c + log(eˢ − 1) when it is not. Under
p_kw the keywords are independent with rates σ(x_j), conditioned on at least one being there. c only shifts θ.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

# Below this s, two keywords together are beyond the precision of a float64: Z is the sum over single keywords.
_SINGLE_KEYWORDS = 1e-12

# Uniform numbers drawn at once; a large sample of many keywords needs no (n, Q) array of doubles.
_CHUNK = 1 << 22


def energy(z: Tensor, theta: Tensor, penalty: float) -> Tensor:
    """log p̃(z) of binary or relaxed keyword vectors. # (..., Q), (Q,) → (...)

    >>> energy(torch.tensor([[1, 0], [1, 1]]), torch.tensor([0.5, 1.0]), 2.0)
    tensor([ 0.5000, -0.5000])
    """
    relaxed = z.to(theta.dtype)
    return relaxed @ theta - penalty * (relaxed.sum(-1) - 1)


def log_partition(theta: Tensor, penalty: float, *, allow_empty: bool = False) -> Tensor:
    """log Z(θ), a differentiable scalar.

    >>> log_partition(torch.zeros(2), 0.0).exp()  # {1}, {2}, {1, 2}
    tensor(3.)
    """
    x = theta - penalty  # (Q,)
    s = -logsigmoid(-x).sum()
    return penalty + s if allow_empty else penalty + s + _log_nonempty(x, s)


def log_partition_gradient(theta: Tensor, penalty: float, *, allow_empty: bool = False) -> Tensor:
    """∇_θ log Z: the probability that each keyword is in the set. # (Q,)

    >>> log_partition_gradient(torch.zeros(2), 0.0)
    tensor([0.6667, 0.6667])
    """
    x = theta - penalty  # (Q,)
    if allow_empty:
        return torch.sigmoid(x)
    s = -logsigmoid(-x).sum()
    return torch.exp(logsigmoid(x) - _log_nonempty(x, s))


def log_probability(z: Tensor, theta: Tensor, penalty: float, *, allow_empty: bool = False) -> Tensor:
    """log p_kw(z); −∞ for an empty set where none is allowed. # (..., Q), (Q,) → (...)

    >>> log_probability(torch.tensor([1, 0]), torch.zeros(2), 0.0).exp()
    tensor(0.3333)
    """
    value = energy(z, theta, penalty) - log_partition(theta, penalty, allow_empty=allow_empty)
    return value if allow_empty else torch.where((z != 0).any(-1), value, -torch.inf)


def sample(theta: Tensor, penalty: float, n: int, generator: torch.Generator) -> Tensor:
    """n independent non-empty keyword sets, drawn exactly and without rejection. # (n, Q) bool

    The first keyword of a set is drawn from its own distribution, given that there is one; those after it are
    independent of it. So the cost does not grow when nearly all the mass lies on the empty set.

    >>> sample(torch.full((3,), -50.0), 2.0, 4, torch.Generator().manual_seed(0)).sum(1)
    tensor([1, 1, 1, 1])
    """
    x = (theta - penalty).detach().double()  # (Q,)
    absent = logsigmoid(-x)  # (Q,)
    none_before = absent.cumsum(0) - absent
    first_is = torch.softmax(logsigmoid(x) + none_before, 0)
    first = torch.multinomial(first_is, n, replacement=True, generator=generator)  # (n,)
    position = torch.arange(len(x), device=x.device)
    rate = torch.sigmoid(x)
    z = torch.empty(n, len(x), dtype=torch.bool, device=x.device)
    rows = max(1, _CHUNK // len(x))
    for chunk in range(0, n, rows):
        start = first[chunk : chunk + rows, None]
        uniform = torch.rand(len(start), len(x), dtype=x.dtype, device=x.device, generator=generator)
        z[chunk : chunk + rows] = (position == start) | ((position > start) & (uniform < rate))
    return z


def frequency_penalty(theta: Tensor, empirical: Tensor) -> Tensor:
    """‖softmax(θ) − empirical‖², where the empirical keyword frequencies sum to 1; a scalar.

    >>> frequency_penalty(torch.zeros(2), torch.tensor([1.0, 0.0]))
    tensor(0.5000)
    """
    return (torch.softmax(theta, 0) - empirical).square().sum()


def _log_nonempty(x: Tensor, s: Tensor) -> Tensor:
    """log(1 − e^(−s)): that independent keywords are not all absent; exact for tiny s too."""
    return torch.log(-torch.expm1(-s)) if bool(s > _SINGLE_KEYWORDS) else torch.logsumexp(x, 0) - s
