"""How well KLDA of earlier weeks predicts the next week's words, for `benchmarks.quality`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from klda.cli.archives import OpenReplay
from klda.cli.output import progress_bar
from klda.evaluation.backtest import BacktestSettings, tasks
from klda.evaluation.parallel import Map
from klda.evaluation.perplexity import EARLIER, LAST, SAME, SCORES, UNIGRAM, gap_closed
from klda.evaluation.studies import StudyTask, run_study
from klda.evaluation.subjects import Subject

Plain = dict[str, Any]


def fit(
    replay: OpenReplay,
    subjects: Sequence[Subject],
    week: int,
    spread: Map,
    weeks: int,
    training: Plain | None = None,
    *,
    quiet: bool = False,
) -> Plain:
    """How far KLDA of earlier windows comes from their unigram towards the same-window LDA, over subjects.

    Both were collected with all candidates, as both of the paper's were collected in one way: with history `static` the
    models would be asked for posts that a filter never showed them.
    """
    settings = BacktestSettings(policies=(), history="full", weeks=weeks)
    work = tasks(replay.archive, replay.corpus, replay.results(settings), subjects, settings, [week])
    with progress_bar(quiet=quiet) as progress:
        studies = [StudyTask("perplexity", task, training or {}) for task in work]
        found = list(run_study(studies, map=spread, progress=progress))
    known = [case for case in found if "error" not in case]
    if not known:
        return {"gap_closed": None}
    models = {
        model: {score: fmean(case["models"][model][score] for case in known) for score in SCORES}
        for model in known[0]["models"]
    }
    completion = {model: found["completion"] for model, found in models.items()}
    closed = gap_closed(completion[EARLIER], completion[UNIGRAM], completion[SAME])  # of means, as in `klda study`
    return {
        "gap_closed": None if math.isnan(closed) else round(closed, 4),
        "ahead_of_last_lda": round(completion[EARLIER] - completion[LAST], 4),
        "fit": {model: {score: round(value, 4) for score, value in found.items()} for model, found in models.items()},
        "fit_cases": len(known),
    }
