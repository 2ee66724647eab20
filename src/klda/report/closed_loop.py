"""What the report on a closed-loop backtest shows, from its summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from klda.report.charts.curves import Point, curves, with_colour
from klda.report.charts.theme import Spec
from klda.report.phrases import measured
from klda.report.results import ResultGrid, cell

Plain = Mapping[str, Any]
MEASURES = ("recall", "precision", "f1", "volume", "retention", "novelty", "drift")
LABELLED = ("f1", "recall", "volume", "drift")
UNLABELLED = ("retention", "novelty", "volume", "drift")
NAMES = {"f1": "F1", "volume": "posts"}
HEIGHT = 150


@dataclass(frozen=True)
class SubjectView:
    """One subject: its pictures, and each policy's last list."""

    name: str
    pictures: tuple[tuple[str, str], ...]
    """Names of pictures, and what each shows."""
    lists: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]
    """Policy, its means, and its last list."""


@dataclass(frozen=True)
class ClosedView:
    """Everything on the page."""

    verdict: str
    n_windows: int
    n_comparisons: int
    labelled: bool
    measures: tuple[str, ...]
    results: ResultGrid
    paired: ResultGrid | None
    coloured: tuple[str, ...]
    grey: bool
    """Whether some policies have no colour of their own."""
    dashed: str
    """The static list, where it was run."""
    subjects: tuple[SubjectView, ...]
    pictures: Mapping[str, Spec]


def closed_view(summary: Plain) -> ClosedView:
    """The view of what `closed_summary` found."""
    entries = summary["policies"]
    labelled = any(entry["f1"]["mean"] is not None for entry in entries.values())
    shown = LABELLED if labelled else UNLABELLED
    order = sorted(entries, key=lambda name: -(entries[name][shown[0]]["mean"] or 0.0))
    coloured = with_colour(order, reference="static")
    pictures: dict[str, Spec] = {}
    subjects = []
    for number, (subject, found) in enumerate(summary["subjects"].items()):
        names = []
        for measure in shown:
            points = _points(found, order, measure)
            if points:
                name, text = f"subject-{number}-{measure}", NAMES.get(measure, measure)
                number_format = ",d" if measure == "volume" else ".2f"
                pictures[name] = curves(
                    points, coloured, measure=text, number=number_format, height=HEIGHT, dashed="static"
                )
                names.append((name, text))
        lists = tuple(
            (name, tuple(_number(found[name][m]) for m in shown), tuple(found[name]["last_list"]))
            for name in order
            if name in found
        )
        subjects.append(SubjectView(subject, tuple(names), lists))
    windows = {week["window"] for found in summary["subjects"].values() for e in found.values() for week in e["weeks"]}
    return ClosedView(
        verdict=summary["verdict"],
        n_windows=len(windows),
        n_comparisons=summary["n_comparisons"],
        labelled=labelled,
        measures=tuple(NAMES.get(measure, measure) for measure in shown),
        results=_results(entries, order),
        paired=_paired(summary["paired"], order, labelled),
        coloured=coloured,
        grey=len(set(order) - {"static"}) > len(coloured),
        dashed="static" if "static" in order else "",
        subjects=tuple(subjects),
        pictures=pictures,
    )


def _results(entries: Plain, order: Sequence[str]) -> ResultGrid:
    known = [m for m in MEASURES if any(entries[name][m]["mean"] is not None for name in order)]
    rows = tuple((name, tuple(cell(entries[name][m]) for m in known)) for name in order)
    columns = ("policy", *(NAMES.get(m, m) for m in known))
    return ResultGrid("Mean over subjects and windows, with 95 % intervals", columns, rows)


def _paired(paired: Plain, order: Sequence[str], labelled: bool) -> ResultGrid | None:
    if not labelled or not paired:
        return None
    rows = []
    for name in order:
        gains = paired.get(name, {}).get("static")
        if gains:
            cells = tuple(cell(gains[m], difference=True) for m in ("f1", "recall"))
            rows.append((name, cells))
    return ResultGrid("Difference from the static list, window by window", ("policy", "F1", "recall"), tuple(rows))


def _points(found: Plain, order: Sequence[str], measure: str) -> list[Point]:
    return [
        Point(week["window"], name, week[measure])
        for name in order
        if name in found
        for week in found[name]["weeks"]
        if week[measure] is not None
    ]


def _number(value: float | None) -> str:
    return measured({"mean": value, "low": None, "high": None})[0]
