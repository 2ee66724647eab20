"""The expected KL of next window without drawing it: a closed form over words, for thousands of candidates.

Let c ~ Poisson(n p) be the count of a word next window, a = μ b its smoothing and s = c + a, so that the smoothed
distribution is s / N with N = n + μ. Given that the totals come out as expected,

    KL(i ‖ j) = (1 / N_i) Σ_w s_i (log s_i − log s_j) + log(N_j / N_i).

Words are independent, and so are the samples of two keywords, so the expectation needs only E[s log s] and E[s] of one
and E[log s] of the other: one matrix product. The variance of the sum is a handful of such products; counts whose total
is fixed vary less than Poisson counts, by cov(sum, total)² / n for each of the two totals. The moments of a word are
exact sums where its rate is small and a seven-point quadrature where it is large. As with draws, the interval is of
sampling alone; how far windows differ beyond it is for `klda.selection.calibration` to tell.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammaln

from klda.errors import SettingError
from klda.selection.arrays import Floats, Ints, row_blocks
from klda.selection.interval import COVERAGE, Interval

Moments = Callable[[Floats], list[Floats]]

_RARE, _RARE_TERMS = 0.5, 9  # P(c ≥ 9) < 1e-8 at a rate of 0.5
_BANDS = ((3.0, 20), (12.0, 42))  # rates up to here need so many terms: what is left out has a probability below 1e-9


def expected_kl(
    distributions: Floats,
    tokens: Floats,
    current: Ints,
    *,
    prior: Floats,
    strength: float,
    coverage: float = COVERAGE,
) -> Interval:
    """Expected KL, with its interval, between next window's smoothed estimates. # (n, Q)

    `distributions` (Q, V) are predicted, `tokens` (Q,) the words expected in each keyword's posts, `prior` (V,) and
    `strength` the smoothing of the truth. Agrees with `expected_scores` at a fraction of its cost; a keyword and
    itself share one sample, so their KL is 0.

    >>> words = np.array([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1]])
    >>> result = expected_kl(words, np.array([1e9, 1e9]), np.array([0]), prior=np.full(3, 1 / 3), strength=1.0)
    >>> bool(np.isclose(result.mean[0, 1], 0.7 * np.log(0.7 / 0.6) + 0.2 * np.log(0.2 / 0.3)))
    True
    """
    if strength <= 0 or not (prior > 0).all():
        raise SettingError("the expected KL is infinite without smoothing; give a strength and a prior above 0")
    offset = strength * prior  # (V,)
    totals = tokens + strength  # (Q,)
    rate = tokens[current, None] * distributions[current]  # (n, V)
    s = rate + offset  # E[s]
    s_log, ss_log, square_s_log = poisson_means(rate, offset, _own_moments)
    own_covariance = (ss_log - s * s_log).sum(axis=1)  # of Σ s log s with the total  (n,)
    own_variance = (square_s_log - s_log**2).sum(axis=1)  # of Σ s log s  (n,)

    mean, variance = np.empty((len(current), len(distributions))), np.empty((len(current), len(distributions)))
    for rows in row_blocks(len(distributions), len(offset), elements=1 << 17):
        other = tokens[rows, None] * distributions[rows]  # (b, V)
        log, square_log, other_s_log = poisson_means(other, offset, _other_moments)
        mean[:, rows] = s_log.sum(axis=1, keepdims=True) - s @ log.T
        cross = -2 * (ss_log - s_log * s) @ log.T + (s * s + rate) @ square_log.T - (s * s) @ np.square(log).T
        with_own_total = own_covariance[:, None] - rate @ log.T
        with_other_total = s @ (other_s_log - (other + offset) * log).T
        variance[:, rows] = (
            own_variance[:, None]
            + cross
            - with_own_total**2 / np.maximum(tokens[current, None], 1.0)
            - with_other_total**2 / np.maximum(tokens[None, rows], 1.0)
        )
    mean = mean / totals[current, None] + np.log(totals[None, :] / totals[current, None])
    deviation = np.sqrt(np.maximum(variance, 0.0)) / totals[current, None]
    itself = np.arange(len(current)), current
    mean[itself], deviation[itself] = 0.0, 0.0
    return Interval.normal(mean, deviation, coverage)


def poisson_means(rate: Floats, offset: Floats, moments: Moments) -> list[Floats]:
    """E[f(c + a)] for c ~ Poisson(rate), for each f of `moments`; rates (n, V), offsets a (V,). # each (n, V)

    >>> [square] = poisson_means(np.array([[0.1, 3.0, 50.0]]), np.zeros(3), lambda s: [np.square(s)])
    >>> square.round(2)
    array([[1.10000e-01, 1.20000e+01, 2.55006e+03]])
    """
    small = np.minimum(rate, _RARE)
    probability = np.exp(-small)
    results = [probability * moment for moment in moments(offset)]
    for k in range(1, _RARE_TERMS):  # most words of most keywords: a dense pass with one table of moments a term
        probability *= small / k
        for result, moment in zip(results, moments(k + offset), strict=True):
            result += probability * moment
    lower = _RARE
    for upper, terms in (*_BANDS, (np.inf, None)):
        at, word = np.nonzero((rate > lower) & (rate <= upper))
        count, weight = _quadrature(rate[at, word]) if terms is None else _support(rate[at, word], terms)
        for result, moment in zip(results, moments(count + offset[word, None]), strict=True):
            result[at, word] = np.einsum("ct,ct->c", weight, moment)
        lower = upper
    return results


def _support(rate: Floats, terms: int) -> tuple[Floats, Floats]:
    """Counts from 0, and their Poisson probabilities. # (1, terms), (cells, terms)"""
    count = np.arange(terms, dtype=np.float64)[None, :]
    return count, np.exp(count * np.log(rate)[:, None] - rate[:, None] - gammaln(count + 1))


def _quadrature(rate: Floats) -> tuple[Floats, Floats]:
    """Gauss–Hermite nodes bent to the skewness of the Poisson (Cornish–Fisher), and weights. # (cells, 7) each"""
    node, weight = np.polynomial.hermite_e.hermegauss(7)
    count = rate[:, None] + np.sqrt(rate)[:, None] * node + (node**2 - 1) / 6
    return count, np.broadcast_to(weight / weight.sum(), count.shape)


def _own_moments(s: Floats) -> list[Floats]:
    s_log = s * np.log(s)
    return [s_log, s * s_log, s_log * s_log]


def _other_moments(s: Floats) -> list[Floats]:
    log = np.log(s)
    return [log, log * log, s * log]
