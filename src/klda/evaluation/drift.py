"""An anchor against drift: how far the words of a list are from the subject that people first asked for."""

from __future__ import annotations

import numpy as np

from klda.arrays import Floats
from klda.baselines.divergences import jensen_shannon
from klda.errors import SettingError

FOUNDING_WINDOWS = 2
"""The first windows, whose words define the founding subject."""


def anchored_target(last: Floats, founding: Floats, anchor: float = 0.5) -> Floats:
    """The word distribution that a list should retain: (1 − anchor) · last window + anchor · founding subject. # (V,)

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
