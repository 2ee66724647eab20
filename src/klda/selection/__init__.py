"""From word distributions and counts to keywords: pure functions of arrays."""

from klda.selection.algorithm2 import FREQUENCY_THRESHOLD, Extensions, extend, extend_scored, rank_extensions
from klda.selection.anchor import anchored_target, subject_distance
from klda.selection.budget import Limits
from klda.selection.calibration import calibrated_forecast, running_forecasts
from klda.selection.divergences import DIVERGENCES, Divergence, divergence
from klda.selection.forecast import forecast_posts
from klda.selection.frequency import (
    carrying_any,
    document_counts,
    frequencies,
    frequency,
    union_window_counts,
    window_counts,
)
from klda.selection.high_frequency import (
    gained_counts,
    gained_words,
    high_frequency_distance,
    high_frequency_threshold,
    lost_counts,
    lost_words,
)
from klda.selection.interval import Interval
from klda.selection.overlap import UnionVolume
from klda.selection.sampling_noise import ExpectedScores, expected_scores
from klda.selection.word_distribution import from_counts, from_topics, mixture

__all__ = [
    "DIVERGENCES",
    "FREQUENCY_THRESHOLD",
    "Divergence",
    "ExpectedScores",
    "Extensions",
    "Interval",
    "Limits",
    "UnionVolume",
    "anchored_target",
    "calibrated_forecast",
    "carrying_any",
    "divergence",
    "document_counts",
    "expected_scores",
    "extend",
    "extend_scored",
    "forecast_posts",
    "frequencies",
    "frequency",
    "from_counts",
    "from_topics",
    "gained_counts",
    "gained_words",
    "high_frequency_distance",
    "high_frequency_threshold",
    "lost_counts",
    "lost_words",
    "mixture",
    "rank_extensions",
    "running_forecasts",
    "subject_distance",
    "union_window_counts",
    "window_counts",
]
