"""Gibbs chains on keyword sets: the paper's estimate of ∇ log Z, kept beside the exact gradient of
`prior`."""

from __future__ import annotations

import torch
from torch import Tensor

from klda.model import prior


def start_chains(
    n_keywords: int, generator: torch.Generator, *, n_chains: int = 100, allow_empty: bool = False
) -> Tensor:
    """Chains that start uniformly over all keyword sets. # (C, Q) bool

    >>> start_chains(3, torch.Generator().manual_seed(0), n_chains=5).shape
    torch.Size([5, 3])
    """
    if allow_empty:
        shape = (n_chains, n_keywords)
        return torch.rand(shape, generator=generator, device=generator.device) < 0.5
    level = torch.zeros(n_keywords, device=generator.device)  # θ = c makes every non-empty set equally likely
    return prior.sample(level, 0.0, n_chains, generator)


def gibbs_steps(
    state: Tensor,
    theta: Tensor,
    penalty: float,
    steps: int,
    generator: torch.Generator,
    *,
    allow_empty: bool = False,
) -> Tensor:
    """The chains after so many steps; in each, every chain redraws one coordinate of its own choice. # (C,
    Q) bool

    >>> generator = torch.Generator().manual_seed(0)
    >>> chains = start_chains(3, generator, n_chains=5)
    >>> bool(gibbs_steps(chains, torch.full((3,), 30.0), 2.0, 50, generator).all())
    True
    """
    n_chains, n_keywords = state.shape
    device = state.device
    rate = torch.sigmoid(theta.detach() - penalty)  # (Q,)
    state = state.clone()
    coordinates = torch.randint(n_keywords, (steps, n_chains), generator=generator, device=device)
    uniform = torch.rand(steps, n_chains, dtype=rate.dtype, generator=generator, device=device)
    drawn = uniform < rate[coordinates]
    if allow_empty:  # then no draw depends on another: what was drawn last for a coordinate stands
        number = torch.arange(1, steps + 1, device=device).expand(n_chains, -1)  # (C, steps)
        last = torch.zeros(n_chains, n_keywords, dtype=torch.long, device=device)
        last = last.scatter_reduce(1, coordinates.t(), number, "amax")  # (C, Q)  0 where nothing was drawn
        return torch.where(last > 0, drawn.t().gather(1, (last - 1).clamp_min(0)), state)
    size = state.sum(1)  # (C,)
    chain = torch.arange(n_chains, device=device)
    for coordinate, wanted in zip(coordinates, drawn, strict=True):
        others = size - state[chain, coordinate].long()
        present = wanted | (others == 0)  # the last keyword of a set cannot leave it
        state[chain, coordinate] = present
        size = others + present.long()
    return state


def gibbs_schedule(iteration: int, *, period: int = 100, long: int = 1000) -> int:
    """m_t, the Gibbs steps before training iteration t = 1, 2, …: many every so often, otherwise one.

    >>> [gibbs_schedule(t) for t in (1, 99, 100, 101, 200)]
    [1, 1, 1000, 1, 1000]
    """
    return long if iteration % period == 0 else 1


def negative_phase(state: Tensor, *, dtype: torch.dtype = torch.float32) -> Tensor:
    """The chains' estimate of ∇_θ log Z. # (C, Q) → (Q,)

    ∇_θ log p̃(z) = z, so it is the share of chains that hold each keyword.

    >>> negative_phase(torch.tensor([[True, False], [True, True]]))
    tensor([1.0000, 0.5000])
    """
    return state.to(dtype).mean(0)
