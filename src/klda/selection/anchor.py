"""An anchor against drift: the subject people first asked for, and the words that are common everywhere.

A policy that only follows last window walks away from its subject step by step, mostly into common words. So what must
be retained is a mixture of last window and the founding subject; each candidate's distance from that subject is
known; and what is said as often outside the subject as inside it is no sign of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from klda.errors import SettingError
from klda.selection.arrays import Floats, Ints
from klda.selection.divergences import jensen_shannon


@dataclass(frozen=True)
class HeldBack:
    """A candidate that must not be proposed, and why, in words."""

    candidate: int
    reason: str


def anchored_target(last: Floats, founding: Floats, anchor: float = 0.5) -> Floats:
    """What a list should retain: (1 − anchor) · last window + anchor · founding subject. # (V,)

    >>> anchored_target(np.array([1.0, 0.0]), np.array([0.0, 1.0]), anchor=0.25)
    array([0.75, 0.25])
    """
    if not 0 <= anchor <= 1:
        raise SettingError(f"anchor must lie between 0 and 1, got {anchor}")
    return (1 - anchor) * last + anchor * founding


def subject_distance(distributions: Floats, subject: Floats) -> Floats:
    """Distance of each word distribution (Q, V) from a subject's (V,): 0 the same words, 1 none in common. # (Q,)

    The square root of the Jensen–Shannon divergence in bits, which is a metric. For a set, give its mixture.

    >>> subject_distance(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 0.0]))
    array([0., 1.])
    """
    return np.asarray(np.sqrt(jensen_shannon(subject[None, :], distributions)[0] / np.log(2)))


def subject_evidence(distributions: Floats, subject: Floats, background: Floats) -> Floats:
    """How much more like the subject than like the background a candidate's words are, in nats a word. # (Q,)

    The expected log-likelihood ratio Σ p log(subject / background), which is KL(p ‖ background) − KL(p ‖ subject).
    Above 0 the words speak for the subject, below 0 for the background. Both references must be smoothed.

    >>> subject, background = np.array([0.8, 0.2]), np.array([0.5, 0.5])
    >>> subject_evidence(np.array([[0.9, 0.1], [0.5, 0.5]]), subject, background).round(2)
    array([ 0.33, -0.22])
    """
    return np.asarray(distributions @ (np.log(subject) - np.log(background)))


def commonness(inside: Floats, n_inside: float, outside: Floats, n_outside: float) -> Floats:
    """How common each word is outside the subject against inside: 0 only inside, ½ alike, 1 only outside.

    `inside` and `outside` (Q,) count the documents that carry the word among `n_inside` of the subject and `n_outside`
    of an unfiltered sample or of other subjects. It is the chance that a document with the word is of the outside, if
    both were equally large. Half a document more is counted on either side, so that unseen is not impossible.

    >>> commonness(np.array([50, 100]), 1_000, np.array([0, 1_000]), 10_000).round(2)
    array([0. , 0.5])
    """
    if n_inside <= 0 or n_outside <= 0:
        raise SettingError(f"commonness needs documents on both sides, got {n_inside} inside and {n_outside} outside")
    here, there = (inside + 0.5) / (n_inside + 1), (outside + 0.5) / (n_outside + 1)
    return np.asarray(there / (here + there))


def distinctive(subject: Floats, background: Floats) -> Floats:
    """The part of each word's probability that the background does not explain, max(0, subject − background). # (V,)

    It sums to the total variation between the two; a word as common everywhere has none.

    >>> distinctive(np.array([0.7, 0.2, 0.1]), np.array([0.4, 0.4, 0.2])).round(2)
    array([0.3, 0. , 0. ])
    """
    return np.maximum(subject - background, 0.0)


def held_back(
    distances: Floats,
    limit: float,
    *,
    common: Floats | None = None,
    common_limit: float = 0.4,
    protected: Ints | None = None,
) -> tuple[HeldBack, ...]:
    """Candidates beyond `limit` from the founding subject, or too common everywhere, each with its reason.

    `distances` (Q,) are those of `subject_distance`, `common` (Q,) those of `commonness`; `protected` candidates (the
    keywords of the founding list, those that people require) are never held back.

    >>> held_back(np.array([0.3, 0.9]), limit=0.8)
    (HeldBack(candidate=1, reason='far from the founding subject: distance 0.90, limit 0.80'),)
    """
    far = distances > limit
    everywhere = np.zeros_like(far) if common is None else common > common_limit
    stopped = far | everywhere
    if protected is not None:
        stopped[protected] = False
    reasons = []
    for q in np.flatnonzero(stopped):
        parts = []
        if far[q]:
            parts.append(f"far from the founding subject: distance {distances[q]:.2f}, limit {limit:.2f}")
        if common is not None and everywhere[q]:
            parts.append(f"common everywhere: {common[q]:.0%} of its use is off the subject, limit {common_limit:.0%}")
        reasons.append(HeldBack(int(q), "; ".join(parts)))
    return tuple(reasons)
