"""The tables of a backtest, the same for the command, notebooks and frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from klda.cells import estimate_text
from klda.evaluation.backtest_summary import LABEL_MEASURES
from klda.evaluation.paper_tables import Table

OPEN_MEASURES = ("accuracy", "coverage", "skill")


def result_tables(summary: Mapping[str, Any]) -> list[Table]:
    """The tables of a backtest, whatever its loop."""
    if "ceiling" in summary:
        return open_tables(summary)
    return labelled_tables(summary) if "n_cases" in summary else closed_tables(summary)[:1]


def open_tables(summary: Mapping[str, Any]) -> list[Table]:
    """A table for each reading of the truth and each size of lists."""
    tables = []
    for reading, part in (("raw truth", summary), ("corrected truth", summary["corrected"])):
        for top, ceiling in part["ceiling"].items():
            rows = [(name, *(entry[m][top] for m in OPEN_MEASURES)) for name, entry in part["policies"].items()]
            title = f"{n_cases(summary)}, top {top}, {reading}; ceiling {estimate_text(ceiling)}"
            tables.append(Table(title, ("policy", *OPEN_MEASURES), tuple(rows)))
    return tables


def closed_tables(summary: Mapping[str, Any]) -> list[Table]:
    """A table over all subjects, and one for each."""
    columns = ("policy", *_closed_measures(summary))
    parts = {"Closed loop, mean over subjects and windows": summary["policies"]} | dict(summary["subjects"])
    return [
        Table(title, columns, tuple((name, *(entry[m] for m in columns[1:])) for name, entry in entries.items()))
        for title, entries in parts.items()
    ]


def labelled_tables(summary: Mapping[str, Any]) -> list[Table]:
    """How good the next lists are, how they compare with the current one, and the first policy with the others."""
    entries = summary["policies"]
    ratios = ("ratio", "subject_ratio", "least_ratio", "least_subject")
    first = next(iter(entries), "")
    return [
        Table(
            f"The next list by labels, {n_cases(summary)}",
            ("policy", "recall", "precision", "F1", "posts"),
            tuple((name, *(entry[m] for m in LABEL_MEASURES)) for name, entry in entries.items()),
        ),
        Table(
            "F1 of the next list ÷ F1 of the current one (static)",
            ("policy", "F1 ÷ now", "by subject", "lowest subject", ""),
            tuple((name, *(entry[key] for key in ratios)) for name, entry in entries.items()),
        ),
        Table(
            f"F1 of {first} less that of others",
            ("policy", "difference"),
            tuple(summary["paired"].get(first, {}).items()),
        ),
    ]


def n_cases(summary: Mapping[str, Any]) -> str:
    """How many cases there are, in words.

    >>> n_cases({"n_cases": 1}), n_cases({"subjects": {"a": {}, "b": {}}})
    ('1 case', '2 cases')
    """
    n = summary["n_cases"] if "n_cases" in summary else len(summary["subjects"])
    return f"{n:,} case" if n == 1 else f"{n:,} cases"


def measured(summary: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, float | None]]]:
    """Yields every policy, measure and estimate."""
    if "ceiling" in summary:
        for reading, part in (("", summary), (", corrected", summary["corrected"])):
            for name, entry in part["policies"].items():
                for measure, top in product(OPEN_MEASURES, part["ceiling"]):
                    if entry[measure][top] is not None:
                        yield name, f"{measure} top {top}{reading}", entry[measure][top]
        return
    measures = (*LABEL_MEASURES, "ratio") if "n_cases" in summary else _closed_measures(summary)
    for name, entry in summary["policies"].items():
        yield from ((name, measure, entry[measure]) for measure in measures if entry[measure] is not None)


def _closed_measures(summary: Mapping[str, Any]) -> tuple[str, ...]:
    """The measures of a closed loop: those by labels, if there are labels."""
    labelled = any(entry["recall"]["mean"] is not None for entry in summary["policies"].values())
    return (*(("recall", "precision", "f1") if labelled else ("retention", "novelty")), "volume", "drift")
