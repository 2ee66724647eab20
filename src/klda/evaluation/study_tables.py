"""The tables of all studies, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from klda.arrays import Floats
from klda.errors import DataError
from klda.evaluation.backtest_summary import mean, plain
from klda.evaluation.divergence_study import CHANCE
from klda.evaluation.intervals import Grid, interval
from klda.evaluation.paper_tables import Cell, Table, data_tables, paper_tables, recommendation_tables
from klda.evaluation.performance import LITERAL, PAPERS, Performance, claims
from klda.evaluation.perplexity import EARLIER, LAST, SAME, SCORES, UNIGRAM, UNTRAINED, gap_closed
from klda.evaluation.result_cache import Plain
from klda.types import Estimate

MODEL_NAMES = {
    UNTRAINED: "KLDA, no training at all",
    UNIGRAM: "unigram of the weeks before",
    EARLIER: "KLDA trained on the weeks before",
    LAST: "LDA on the last week before",
    SAME: "LDA on the test week, cross-fitted",
}
GAP = "share of the gap closed"
TOPIC_MEASURES = ("npmi", "c_v", "diversity")


def study_tables(study: str, cases: Sequence[Plain], tops: Sequence[int], *, seed: int = 0) -> list[Table]:
    """The tables of a study; cases with an error are left out."""
    known = [case for case in cases if "error" not in case]
    if not known:
        raise DataError("no case could be studied: " + "; ".join(sorted({case["error"] for case in cases})))
    if study == "tables":
        return paper_tables(known, tops, seed=seed)
    if study == "paper":
        return preset_tables(known, tops, seed=seed)
    return perplexity_tables(known, seed=seed) if study == "perplexity" else divergence_tables(known, tops, seed=seed)


def preset_tables(cases: Sequence[Plain], tops: Sequence[int], *, seed: int = 0) -> list[Table]:
    """Tables 1 to 6 in the paper's order and layout, then means over all cases with intervals, and the paper's claims.

    >>> preset_tables([], (2, 3))
    []
    """
    if not cases:
        return []
    measured = [case | case["perplexity"] for case in cases if "error" not in case["perplexity"]]
    perplexity = [printed_table(measured, seed), *perplexity_tables(measured, seed=seed)] if measured else []
    literal = [case | case["literal"] for case in cases if "overlap" in case.get("literal", {})]
    performance = Performance.of(cases, tops, seed)
    return [
        *data_tables(cases),
        *perplexity,
        *recommendation_tables(cases, tops, by_keyword=(LITERAL,), recommending=PAPERS, seed=seed),
        performance.table(),
        performance.differences(),
        *(divergence_tables(literal, tops, seed=seed) if literal else []),
        claims(performance, perplexity[0] if perplexity else None, literal, tops, seed),
    ]


def printed_table(cases: Sequence[Plain], seed: int) -> Table:
    """Table 4 as the paper prints it: each subject's mean over test weeks, and the mean over all cases."""
    names = {
        SAME: "LDA on the last week of the history, in sample",
        EARLIER: "KLDA trained on the weeks before it",
        UNTRAINED: "no training at all",
    }
    title = f"Table 4. Perplexity as printed, {_number_of(cases)}"
    notes = (
        "LDA is scored on the posts that it was fitted to, and KLDA by a bound that is no log probability; "
        "the tables that follow compare them fairly.",
    )
    measured = [case["printed"] for case in cases]
    return replace(_models_table(title, cases, measured, names, (EARLIER, UNTRAINED, SAME), seed), notes=notes)


def perplexity_tables(cases: Sequence[Plain], *, seed: int = 0) -> list[Table]:
    """Table 4: each score of each model by subject, the share of the gap closed, and the quality of topics."""
    tables = [_scores_table(cases, score, seed) for score in SCORES]
    grid = _grid(
        cases, [{f"{m}/{q}": v for m, all_ in case["topics"].items() for q, v in all_.items()} for case in cases]
    )
    rows: list[tuple[Cell, ...]] = [
        (MODEL_NAMES[model], *(plain(mean(grid, f"{model}/{measure}", seed)) for measure in TOPIC_MEASURES))
        for model in cases[0]["topics"]
    ]
    return [*tables, Table("Topics, judged on the test week", ("", *TOPIC_MEASURES), tuple(rows))]


def _scores_table(cases: Sequence[Plain], score: str, seed: int) -> Table:
    """One score: a column for each subject, its test weeks averaged, and the mean with its interval."""
    measured = [{model: case["models"][model][score] for model in MODEL_NAMES} for case in cases]
    title = f"Table 4. {score.replace('_', ' ').capitalize()} per word, {_number_of(cases)}"
    return _models_table(title, cases, measured, MODEL_NAMES, (EARLIER, UNIGRAM, SAME), seed)


def _models_table(
    title: str,
    cases: Sequence[Plain],
    measured: Sequence[Mapping[str, float]],
    names: Mapping[str, str],
    gap: tuple[str, str, str],
    seed: int,
) -> Table:
    """A row for each model, and the share of the gap that one closes between two others, which `gap` names."""
    grid = _grid(cases, measured)
    subjects = tuple(dict.fromkeys(case["subject"] for case in cases))
    of_subject = {
        subject: {
            model: float(
                np.mean([m[model] for case, m in zip(cases, measured, strict=True) if case["subject"] == subject])
            )
            for model in names
        }
        for subject in subjects
    }
    rows: list[tuple[Cell, ...]] = [
        (name, *(round(of_subject[subject][model], 4) for subject in subjects), plain(mean(grid, model, seed)))
        for model, name in names.items()
    ]
    closed = [gap_closed(*(found[model] for model in gap)) for found in of_subject.values()]
    known = [None if np.isnan(share) else round(share, 4) for share in closed]
    rows.append((GAP, *known, plain(_gap_of_means(grid, gap, seed))))
    return Table(title, ("", *subjects, "mean"), tuple(rows))


def divergence_tables(cases: Sequence[Plain], tops: Sequence[int], *, seed: int = 0) -> list[Table]:
    """The share of KL's words that each other divergence chooses too, by estimate of word distributions."""
    tables = []
    for source, first in cases[0]["overlap"].items():
        measured = [
            {
                f"{name}/{top}": np.nan if share is None else share
                for name, found in case["overlap"][source].items()
                for top, share in found.items()
            }
            for case in cases
        ]
        grid = _grid(cases, measured)
        rows: list[tuple[Cell, ...]] = [
            ("random orders" if name == CHANCE else name, *(plain(mean(grid, f"{name}/{top}", seed)) for top in tops))
            for name in first
        ]
        title = f"Words in common with the lists of KL, from {source}, {_number_of(cases)}"
        tables.append(Table(title, ("divergence", *(f"top {top}" for top in tops)), tuple(rows)))
    return tables


def _number_of(cases: Sequence[Plain]) -> str:
    return f"{len(cases)} case{'s' if len(cases) != 1 else ''}"


def _grid(cases: Sequence[Plain], measured: Sequence[Mapping[str, float]]) -> Grid:
    return Grid.of([(case["subject"], case["week"], values) for case, values in zip(cases, measured, strict=True)])


def _gap_of_means(grid: Grid, gap: tuple[str, str, str], seed: int) -> Estimate:
    """The share of the gap that is closed on average: a ratio of means, not a mean of ratios."""

    def statistic(means: Mapping[str, Floats]) -> Floats:
        values = zip(*(means[model] for model in gap), strict=True)
        return np.array([gap_closed(float(model), float(low), float(high)) for model, low, high in values])

    return interval(grid, statistic, generator=np.random.default_rng(seed))
