"""From word distributions and counts to keywords: pure functions of arrays."""

from klda.selection.algorithm2 import FREQUENCY_THRESHOLD, Extensions, extend, extend_scored, rank_extensions
from klda.selection.anchor import (
    HeldBack,
    anchored_target,
    commonness,
    distinctive,
    held_back,
    subject_distance,
    subject_evidence,
)
from klda.selection.budget import Limits
from klda.selection.calibration import calibrated_forecast, running_forecasts
from klda.selection.choose import ChosenSet, choose_set
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
from klda.selection.frontier import Frontier, trace_frontier
from klda.selection.high_frequency import (
    gained_counts,
    gained_words,
    high_frequency_distance,
    high_frequency_threshold,
    lost_counts,
    lost_words,
)
from klda.selection.interval import Interval
from klda.selection.joint import chances, extend_jointly
from klda.selection.overlap import Share, UnionVolume
from klda.selection.sampling_noise import ExpectedScores, expected_scores
from klda.selection.sets import SetProblem, SetScore, set_problem
from klda.selection.word_distribution import from_counts, from_topics, mixture

__all__ = [
    "DIVERGENCES",
    "FREQUENCY_THRESHOLD",
    "ChosenSet",
    "Divergence",
    "ExpectedScores",
    "Extensions",
    "Frontier",
    "HeldBack",
    "Interval",
    "Limits",
    "SetProblem",
    "SetScore",
    "Share",
    "UnionVolume",
    "anchored_target",
    "calibrated_forecast",
    "carrying_any",
    "chances",
    "choose_set",
    "commonness",
    "distinctive",
    "divergence",
    "document_counts",
    "expected_scores",
    "extend",
    "extend_jointly",
    "extend_scored",
    "forecast_posts",
    "frequencies",
    "frequency",
    "from_counts",
    "from_topics",
    "gained_counts",
    "gained_words",
    "held_back",
    "high_frequency_distance",
    "high_frequency_threshold",
    "lost_counts",
    "lost_words",
    "mixture",
    "rank_extensions",
    "running_forecasts",
    "set_problem",
    "subject_distance",
    "subject_evidence",
    "trace_frontier",
    "union_window_counts",
    "window_counts",
]
