"""How many posts a keyword will bring next window, from its counts in past windows.

The level is the mean of past counts, each window weighing half as much as one `half_life` windows later: unbiased, at
home with zeros, and quick after a shock. Around it counts vary as a negative binomial, whose variance

    (1 + g) · (level + φ · level²)

has a Poisson part and a part that grows with the level, as news come in waves; g is what estimating the level adds.
φ is learnt from how wrong the same forecast was on past windows, and short histories borrow it from all keywords
together, so that a keyword with a single window behind it gets an honest, wide interval too. A set of keywords is
forecast as one series, the posts that carried any of them (`union_window_counts`): overlap and common shocks are then
in the data.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betainc, nbdtrik

from klda.advice.interval import COVERAGE, Interval
from klda.arrays import Floats
from klda.errors import DataError, SettingError

_TYPICAL_DISPERSION = 0.2
"""φ before anything is known: counts vary by nearly half from window to window."""
_PRIOR_WINDOWS = 4.0
"""How many past errors that belief, and then the keywords' common φ, are worth."""
_WORST_ERROR = 4.0
"""Squared relative error at which one window is cut off, so that one explosion does not set everyone's φ."""


HALF_LIFE = 1.5
"""Windows after which a past count weighs half."""


def level_weights(n_windows: int, half_life: float = HALF_LIFE) -> Floats:
    """The weight of each past window in the expected posts, the latest last; they sum to 1. # (T,)

    >>> level_weights(3, half_life=1.0).round(3)
    array([0.143, 0.286, 0.571])
    """
    kept = 0.5 ** (np.arange(n_windows)[::-1] / half_life)
    return np.asarray(kept / kept.sum())


def forecast_posts(counts: Floats, *, half_life: float = HALF_LIFE, coverage: float = COVERAGE) -> Interval:
    """Expected posts of each keyword in the next window, with an interval, from past counts (Q, T). # each (Q,)

    The last column is the latest window.

    >>> steady = forecast_posts(np.array([[20, 22, 19, 20, 21], [0, 0, 0, 0, 0]]))
    >>> steady.at(0), steady.at(1)
    (Estimate(mean=20.453, low=12.0, high=31.0), Estimate(mean=0.0, low=0.0, high=1.0))
    """
    if counts.ndim != 2 or counts.shape[1] == 0:
        raise DataError(f"a forecast needs counts of at least one window for each keyword, got shape {counts.shape}")
    if half_life <= 0:
        raise SettingError(f"half_life must be above 0, got {half_life}")
    kept = 0.5 ** (1 / half_life)
    weighted, weight, weight_squared = counts[:, 0].astype(np.float64), 1.0, 1.0
    error, evidence = np.zeros(len(counts)), np.zeros(len(counts))
    for count in counts[:, 1:].T:
        level, noise = weighted / weight, weight_squared / weight**2
        # squared errors beyond Poisson, over level², weighted so that tiny levels say nothing about φ
        scale = (level + 1 / _TYPICAL_DISPERSION) ** 2
        error += np.minimum((count - level) ** 2 / scale, _WORST_ERROR) - level * (1 + noise) / scale
        evidence += level**2 * (1 + noise) / scale
        weighted = kept * weighted + count
        weight, weight_squared = kept * weight + 1, kept**2 * weight_squared + 1

    common = (_PRIOR_WINDOWS * _TYPICAL_DISPERSION + error.sum()) / (_PRIOR_WINDOWS + evidence.sum())
    own = (_PRIOR_WINDOWS * max(common, 0.0) + error) / (_PRIOR_WINDOWS + evidence)
    dispersion = np.maximum(own, 0.0)

    mean = weighted / weight
    level = (weighted + 0.5) / weight  # half a post more than seen: no post so far is not proof of none to come
    noise = weight_squared / weight**2
    size = level / (noise + (1 + noise) * dispersion * level)
    low, high = (_quantile(q, size, size / (size + level)) for q in ((1 - coverage) / 2, (1 + coverage) / 2))
    return Interval(mean, np.minimum(low, mean), np.maximum(high, mean))


def _quantile(share: float, size: Floats, chance: Floats) -> Floats:
    """The least count up to which a negative binomial has such a share. # as size

    Written out, for `scipy.stats` takes a second to import, in every process.
    """
    near = np.nan_to_num(np.ceil(nbdtrik(share, size, chance)), nan=0.0).clip(min=0.0)
    # between whole numbers rounding may put it on either side
    near = np.where((near > 0) & (betainc(size, np.maximum(near, 1.0), chance) >= share), near - 1, near)
    return np.asarray(np.where(betainc(size, near + 1, chance) < share, near + 1, near))
