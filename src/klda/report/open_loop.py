"""What the report on an open-loop backtest shows, from its summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from klda.report.charts.curves import CEILING, Point, curves, with_colour
from klda.report.charts.skill import SkillRow, skill
from klda.report.charts.theme import Spec
from klda.report.phrases import measured
from klda.report.results import EMPTY, ResultGrid, cell

Plain = Mapping[str, Any]
READINGS = {"raw": "raw truth", "corrected": "corrected truth"}
MEASURES = ("accuracy", "coverage", "skill")


@dataclass(frozen=True)
class CaseView:
    """One case: what was true and what everyone said, for each current keyword."""

    subject: str
    week: str
    note: str
    keywords: tuple[str, ...]
    truth: tuple[tuple[str, tuple[str, ...]], ...]
    """Name of the reading, and the words for each keyword."""
    answers: tuple[tuple[str, tuple[str, ...]], ...]
    """Policy, and its words for each keyword, or one text for all."""


@dataclass(frozen=True)
class OpenView:
    """Everything on the page."""

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
    """Whether some policies have no colour of their own."""
    cases: tuple[CaseView, ...]
    pictures: Mapping[str, Spec]


def open_view(summary: Plain) -> OpenView:
    """The view of what `open_summary` found."""
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
        results=tuple(_results(part, READINGS[name], order, tops) for name, part in readings.items()),
        paired=tuple(_paired(summary, order, t) for t in tops),
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


def _results(part: Plain, reading: str, order: Sequence[str], tops: Sequence[int]) -> ResultGrid:
    rows = tuple(
        (
            name,
            tuple(cell(part["policies"][name][measure].get(str(top))) for top in tops for measure in MEASURES),
        )
        for name in order
        if name in part["policies"]
    )
    ceilings = tuple(
        cell(part["ceiling"][str(top)] if measure == "accuracy" else None) for top in tops for measure in MEASURES
    )
    columns = ("policy", *(f"{measure} top {top}" for top in tops for measure in MEASURES))
    return ResultGrid(f"Against the {reading}", columns, (*rows, ("ceiling", ceilings)))


def _paired(summary: Plain, order: Sequence[str], top: int) -> ResultGrid:
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
