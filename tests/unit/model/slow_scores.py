"""The probability of a whole document, straight from the equations: by plain LDA, and the proper score of KLDA.

Conventions are those of `slow_reference`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from scipy.special import gammaln

from tests.unit.model.slow_reference import Array, e_step, expected_log_weights, keyword_log_probability

# --- plain LDA (Blei, Ng, Jordan 2003) ------------------------------------------------------------


def lda_bound(tokens: Sequence[int], gamma: Array, phi: Array, alpha: Array, beta: Array) -> float:
    """The evidence lower bound of one document, equation 15 of the LDA paper, line by line."""
    n_topics = len(alpha)
    log_weights = expected_log_weights(gamma)
    topics, positions = range(n_topics), range(len(tokens))
    line1 = gammaln(sum(alpha)) - sum(gammaln(alpha[i]) for i in topics)
    line1 += sum((alpha[i] - 1) * log_weights[i] for i in topics)
    line2 = sum(phi[n, i] * log_weights[i] for n in positions for i in topics)
    line3 = sum(phi[n, i] * math.log(beta[i, tokens[n]]) for n in positions for i in topics)
    line4 = -gammaln(sum(gamma)) + sum(gammaln(gamma[i]) for i in topics)
    line4 -= sum((gamma[i] - 1) * log_weights[i] for i in topics)
    line5 = -sum(phi[n, i] * math.log(phi[n, i]) for n in positions for i in topics if phi[n, i] > 0)
    return float(line1 + line2 + line3 + line4 + line5)


def lda_e_step(tokens: Sequence[int], alpha: Array, beta: Array, iterations: int) -> tuple[Array, Array]:
    """(φ, γ) of plain LDA, figure 6 of the LDA paper."""
    return e_step(tokens, (), (), beta, alpha, iterations)


def lda_likelihood(tokens: Sequence[int], alpha: Array, beta: Array) -> float:
    """log p(tokens | α, β) exactly: the sum over all K^N topic assignments, η integrated out."""
    total = 0.0
    for assignment in itertools.product(range(len(alpha)), repeat=len(tokens)):
        log_probability = gammaln(sum(alpha)) - gammaln(sum(alpha) + len(tokens))
        for k in range(len(alpha)):
            log_probability += gammaln(alpha[k] + assignment.count(k)) - gammaln(alpha[k])
        for word, k in zip(tokens, assignment, strict=True):
            log_probability += math.log(beta[k, word])
        total += math.exp(log_probability)
    return math.log(total)


# --- the proper score of a document ---------------------------------------------------------------


def subsets(items: Sequence[int]) -> list[tuple[int, ...]]:
    """Every non-empty subset."""
    return [s for size in range(1, len(items) + 1) for s in itertools.combinations(items, size)]


def joint_score(
    tokens: Sequence[int],
    chosen: Sequence[int],
    keyword_word: Sequence[int],
    theta: Array,
    penalty: float,
    rest: float,
) -> float:
    """log p(tokens, z), z having the `chosen` keywords; `rest` is the log probability of the other tokens.

    log p_kw(z) − log(N! / (N − n)!) + Σ_j log m_j + rest: each keyword stands once, at a place drawn
    uniformly from those still free, and any of its m_j occurrences may be the one. `keyword_word[j]` is the
    one word of keyword j, all different.
    """
    z = [1 if j in chosen else 0 for j in range(len(theta))]
    score = keyword_log_probability(z, theta, penalty)
    score -= math.lgamma(len(tokens) + 1) - math.lgamma(len(tokens) - len(chosen) + 1)
    for j in chosen:
        score += math.log(list(tokens).count(keyword_word[j]))
    return score + rest


def without_one_each(tokens: Sequence[int], words: Sequence[int]) -> list[int]:
    """The tokens left when one occurrence of each of these words is taken out."""
    left = list(tokens)
    for word in words:
        left.remove(word)
    return left


def document_score(
    tokens: Sequence[int],
    keyword_word: Sequence[int],
    theta: Array,
    penalty: float,
    topic_word: dict[tuple[int, ...], Array],
    topic_prior: Array,
    *,
    bound_iterations: int | None = None,
) -> float:
    """log p(tokens), z summed out over the non-empty subsets of the keywords in the document.

    `topic_word` maps each keyword set (ascending tuple) to its (K, V) matrix. The probability of the other
    tokens is exact, or with `bound_iterations` the LDA bound after so many E-step rounds (then the score is
    a lower bound). Over all V^N ordered documents of one length N ≥ Q the exact exponentials sum to 1.
    """
    present = [j for j in range(len(theta)) if keyword_word[j] in tokens]
    total = 0.0
    for chosen in subsets(present):
        others = without_one_each(tokens, [keyword_word[j] for j in chosen])
        beta = topic_word[chosen]
        if bound_iterations is None:
            rest = lda_likelihood(others, topic_prior, beta)
        else:
            phi, gamma = lda_e_step(others, topic_prior, beta, bound_iterations)
            rest = lda_bound(others, gamma, phi, topic_prior, beta)
        total += math.exp(joint_score(tokens, chosen, keyword_word, theta, penalty, rest))
    return math.log(total) if total > 0 else -math.inf
