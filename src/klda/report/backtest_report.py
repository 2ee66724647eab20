"""The report on a backtest, as one HTML file: tables with intervals, and curves over the windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from klda.report.charts.policy_skill import CEILING, Point, SkillRow, curves, skill, with_colour
from klda.report.charts.theme import Spec
from klda.report.page import page, write_page
from klda.report.wording import EMPTY, ResultGrid, cell, measured


def render_backtest(summary: Mapping[str, Any], *, title: str) -> str:
    """The page of a backtest in open or closed loop, from the summary by `klda.evaluation.backtest_summary`.

    Names of subjects, keywords and errors are always shown as text.
    """
    if "ceiling" in summary:
        opened = open_view(summary)
        return page("open_loop.html", opened.pictures, title=title, view=opened)
    closed = closed_view(summary)
    return page("closed_loop.html", closed.pictures, title=title, view=closed)


def write_backtest(summary: Mapping[str, Any], path: Path | str, *, title: str) -> None:
    """Writes the page. The old file is replaced at once, so a file is always complete."""
    write_page(render_backtest(summary, title=title), path)


READINGS = {"raw": "raw truth", "corrected": "corrected truth"}
OPEN_MEASURES = ("accuracy", "coverage", "skill")


@dataclass(frozen=True)
class CaseView:
    """One case: the truth and the answers of all policies, for each current keyword."""

    subject: str
    week: str
    note: str
    keywords: tuple[str, ...]
    truth: tuple[tuple[str, tuple[str, ...]], ...]
    """The name of the truth, and its words for each keyword."""
    answers: tuple[tuple[str, tuple[str, ...]], ...]
    """The policy, and its words for each keyword, or one text for all."""


@dataclass(frozen=True)
class OpenView:
    """The content of the page."""

    verdict: str
    n_cases: int
    n_left_out: int
    n_comparisons: int
    tops: tuple[int, ...]
    tiles: tuple[tuple[str, str, str], ...]
    results: tuple[ResultGrid, ...]
    paired: tuple[ResultGrid, ...]
    coloured: tuple[str, ...]
    grey: bool
    """Whether some policies are grey because there are not enough colours."""
    cases: tuple[CaseView, ...]
    pictures: Mapping[str, Spec]


def open_view(summary: Plain) -> OpenView:
    """The content for a summary by `open_summary`."""
    tops = tuple(int(top) for top in summary["ceiling"])
    top = str(max(tops)) if tops else ""
    readings = {"raw": summary, "corrected": summary["corrected"]}
    order = sorted(summary["policies"], key=lambda name: -_mean(summary["policies"][name]["accuracy"].get(top)))
    coloured = with_colour(order, reference="random")
    return OpenView(
        verdict=summary["verdict"],
        n_cases=summary["n_cases"],
        n_left_out=summary["n_left_out"],
        n_comparisons=summary["n_comparisons"],
        tops=tops,
        tiles=_tiles(summary, order, top),
        results=tuple(_open_results(part, READINGS[name], order, tops) for name, part in readings.items()),
        paired=tuple(_open_paired(summary, order, t) for t in tops),
        coloured=coloured,
        grey=len(order) > len(coloured),
        cases=tuple(_case(case, int(top or 1)) for case in summary["cases"]),
        pictures=_pictures(summary, readings, order, coloured, tops),
    )


def _tiles(summary: Plain, order: Sequence[str], top: str) -> tuple[tuple[str, str, str], ...]:
    found = []
    if order:
        best = order[0]
        found.append((f"Most accurate, top {top}", *measured(summary["policies"][best]["accuracy"][top]), best))
        found.append((f"Ceiling, top {top}", *measured(summary["ceiling"][top]), "halves of the week"))
    if "random" in order:
        chance = summary["policies"]["random"]["accuracy"][top]
        found.append((f"Chance, top {top}", *measured(chance), "drawn at random"))
    return tuple((name, mean, f"{spread}, {note}" if spread else note) for name, mean, spread, note in found)


def _open_results(part: Plain, reading: str, order: Sequence[str], tops: Sequence[int]) -> ResultGrid:
    rows = tuple(
        (
            name,
            tuple(cell(part["policies"][name][measure].get(str(top))) for top in tops for measure in OPEN_MEASURES),
        )
        for name in order
        if name in part["policies"]
    )
    ceilings = tuple(
        cell(part["ceiling"][str(top)] if measure == "accuracy" else None) for top in tops for measure in OPEN_MEASURES
    )
    columns = ("policy", *(f"{measure} top {top}" for top in tops for measure in OPEN_MEASURES))
    return ResultGrid(f"Against the {reading}", columns, (*rows, ("ceiling", ceilings)))


def _open_paired(summary: Plain, order: Sequence[str], top: int) -> ResultGrid:
    """Differences in accuracy between each policy (row) and each other one (column)."""
    rows = []
    for name in order:
        cells = []
        for other in order:
            gain = summary["paired"].get(name, {}).get(other, {}).get(str(top))
            cells.append(cell(gain, difference=True) if name != other else EMPTY)
        rows.append((name, tuple(cells)))
    return ResultGrid(f"Accuracy, top {top}: row minus column", ("policy", *order), tuple(rows))


def _pictures(
    summary: Plain, readings: Mapping[str, Plain], order: Sequence[str], coloured: Sequence[str], tops: Sequence[int]
) -> dict[str, Spec]:
    pictures: dict[str, Spec] = {}
    for top in tops:
        rows = [
            SkillRow(name, READINGS[reading], found["mean"], found["low"], found["high"])
            for reading, part in readings.items()
            for name, entry in part["policies"].items()
            for found in [entry["skill"].get(str(top))]
            if name != "random" and found and None not in found.values()
        ]
        if rows:
            shown = [name for name in order if any(row.policy == name for row in rows)]
            pictures[f"skill-{top}"] = skill(rows, shown, list(READINGS.values()))
    for top in tops:
        points = _weekly(summary["cases"], order, str(top))
        if points:
            pictures[f"weeks-{top}"] = curves(points, coloured, measure=f"accuracy, top {top}", dashed=CEILING)
    return pictures


def _weekly(cases: Sequence[Plain], order: Sequence[str], top: str) -> list[Point]:
    """Accuracy in each test week, the mean over the subjects that count; the ceiling likewise."""
    found: dict[tuple[str, str], list[float]] = {}
    for case in cases:
        if not case.get("counts"):
            continue
        values = {CEILING: case["ceiling"]["raw"].get(top)}
        for name in order:
            values[name] = case["answers"].get(name, {}).get("scores", {}).get(f"raw/{top}", {}).get("accuracy")
        for name, value in values.items():
            if value is not None:
                found.setdefault((case["week"], name), []).append(value)
    return [Point(week, name, sum(values) / len(values)) for (week, name), values in sorted(found.items())]


def _case(case: Plain, top: int) -> CaseView:
    keywords = tuple(case.get("current", ()))
    note = case.get("error", "")
    if not note and not case.get("counts"):
        note = f"does not count: {case.get('n_eligible', 0)} frequent candidates"
    answers: list[tuple[str, tuple[str, ...]]] = []
    for name, answer in case.get("answers", {}).items():
        proposed = answer.get("proposed", [])
        if "error" in answer:
            answers.append((name, (answer["error"],)))
        elif isinstance(proposed, Mapping):
            answers.append((name, tuple(_words(proposed.get(keyword, ()), top) for keyword in keywords)))
        else:
            answers.append((name, (_words(proposed, len(proposed)),)))
    truth = tuple(
        (READINGS[reading], tuple(_words(lists.get(keyword, ()), top) for keyword in keywords))
        for reading, lists in case.get("truth", {}).items()
    )
    return CaseView(case["subject"], case["week"], note, keywords, truth, tuple(answers))


def _words(words: Sequence[str], top: int) -> str:
    return ", ".join(words[:top]) or "none"


def _mean(estimate: Mapping[str, float | None] | None) -> float:
    mean = estimate["mean"] if estimate else None
    return -1.0 if mean is None else mean


Plain = Mapping[str, Any]
CLOSED_MEASURES = ("recall", "precision", "f1", "volume", "retention", "novelty", "drift")
LABELLED = ("f1", "recall", "volume", "drift")
UNLABELLED = ("retention", "novelty", "volume", "drift")
NAMES = {"f1": "F1", "volume": "posts"}
HEIGHT = 150


@dataclass(frozen=True)
class SubjectView:
    """One subject: its pictures, and the last list of each policy."""

    name: str
    pictures: tuple[tuple[str, str], ...]
    """The names of pictures, and the measure that each shows."""
    lists: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]
    """Policy, its means, and its last list."""


@dataclass(frozen=True)
class ClosedView:
    """The content of the page."""

    verdict: str
    n_windows: int
    n_comparisons: int
    labelled: bool
    measures: tuple[str, ...]
    results: ResultGrid
    paired: ResultGrid | None
    coloured: tuple[str, ...]
    grey: bool
    """Whether some policies are grey because there are not enough colours."""
    dashed: str
    """The policy `static`, if it was run; otherwise empty."""
    subjects: tuple[SubjectView, ...]
    pictures: Mapping[str, Spec]


def closed_view(summary: Plain) -> ClosedView:
    """The content for a summary by `closed_summary`."""
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
        results=_closed_results(entries, order),
        paired=_closed_paired(summary["paired"], order, labelled),
        coloured=coloured,
        grey=len(set(order) - {"static"}) > len(coloured),
        dashed="static" if "static" in order else "",
        subjects=tuple(subjects),
        pictures=pictures,
    )


def _closed_results(entries: Plain, order: Sequence[str]) -> ResultGrid:
    known = [m for m in CLOSED_MEASURES if any(entries[name][m]["mean"] is not None for name in order)]
    rows = tuple((name, tuple(cell(entries[name][m]) for m in known)) for name in order)
    columns = ("policy", *(NAMES.get(m, m) for m in known))
    return ResultGrid("Mean over subjects and windows, with 95 % intervals", columns, rows)


def _closed_paired(paired: Plain, order: Sequence[str], labelled: bool) -> ResultGrid | None:
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
