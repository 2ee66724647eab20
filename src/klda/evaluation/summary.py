"""Backtests summed up: means over cases with intervals, skill, paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from klda.arrays import Floats
from klda.evaluation.intervals import Grid, interval
from klda.evaluation.metrics import skill
from klda.evaluation.result_cache import Plain
from klda.evaluation.verdict import CURRENT, closed_verdict, labelled_verdict, open_verdict
from klda.types import Estimate

CHANCE = "random"
"""The policy that is the zero of every skill."""
LABEL_MEASURES = ("recall", "precision", "f1", "volume")
LOOP_MEASURES = ("recall", "precision", "f1", "volume", "retention", "novelty", "drift")


def open_summary(cases: Sequence[Plain], policies: Sequence[str], tops: Sequence[int], *, seed: int = 0) -> Plain:
    """Every policy's accuracy, coverage and skill over the cases that count, by raw and by corrected truth."""
    counted = [case for case in cases if case.get("counts")]
    raw = _reading_summary(counted, policies, tops, "raw", seed)
    return (
        {"verdict": open_verdict(raw)}
        | raw
        | {
            "corrected": _reading_summary(counted, policies, tops, "corrected", seed),
            "n_cases": len(counted),
            "n_left_out": len(cases) - len(counted),
            "unanswered": unanswered(counted, policies),
            "cases": list(cases),
        }
    )


def unanswered(cases: Sequence[Plain], policies: Sequence[str]) -> Plain:
    """By policy that could not answer in all cases: in how many of how many it did, and what it said first."""
    found: Plain = {}
    for name in policies:
        answers = [case["answers"][name] for case in cases if name in case.get("answers", {})]
        errors = [answer["error"] for answer in answers if "error" in answer]
        if errors:
            found[name] = {"answered": len(answers) - len(errors), "cases": len(answers), "error": errors[0]}
    return found


def _reading_summary(
    cases: Sequence[Plain], policies: Sequence[str], tops: Sequence[int], reading: str, seed: int
) -> Plain:
    asked = dict.fromkeys((*policies, CHANCE))  # chance is what skill is held against, also where nobody asked for it
    answered = [name for name in asked if any(_scores(case, name, reading, tops[0]) for case in cases)]
    names = [name for name in policies if name in answered]
    result: Plain = {
        "policies": {name: {"accuracy": {}, "coverage": {}, "keyword_accuracy": {}, "skill": {}} for name in names},
        "ceiling": {},
        "paired": {name: {} for name in names},
        "n_comparisons": len(names) * (len(names) - 1) * len(tops),
    }
    for top in tops:
        grid = _grid(cases, answered, reading, top)
        result["ceiling"][str(top)] = plain(mean(grid, "ceiling", seed))
        for name in names:
            entry = result["policies"][name]
            for measure in ("accuracy", "coverage", "keyword_accuracy"):
                entry[measure][str(top)] = plain(mean(grid, f"{name}/{measure}", seed))
            entry["skill"][str(top)] = plain(_skill(grid, name, seed)) if CHANCE in answered else None
            for other in names:
                if other != name:
                    gain = _difference(grid, f"{name}/accuracy", f"{other}/accuracy", seed)
                    result["paired"][name].setdefault(other, {})[str(top)] = plain(gain)
    return result


def _grid(cases: Sequence[Plain], names: Sequence[str], reading: str, top: int) -> Grid:
    rows = []
    for case in cases:
        measured = {"ceiling": _nan(case["ceiling"][reading].get(str(top)))}
        for name in names:
            scores = _scores(case, name, reading, top)
            measured |= {f"{name}/{measure}": _nan(value) for measure, value in scores.items()}
        rows.append((case["subject"], case["week"], measured))
    return Grid.of(rows)


def _scores(case: Plain, name: str, reading: str, top: int) -> Mapping[str, float | None]:
    scores: Mapping[str, float | None] = case["answers"].get(name, {}).get("scores", {}).get(f"{reading}/{top}", {})
    return scores


def _skill(grid: Grid, name: str, seed: int) -> Estimate:
    """Skill on the cases that the policy answered: chance and ceiling are those of the same cases."""
    measures = (f"{name}/accuracy", f"{CHANCE}/accuracy", "ceiling")

    def statistic(means: Mapping[str, Floats]) -> Floats:
        values = zip(*(means[measure] for measure in measures), strict=True)
        return np.array([skill(float(p), float(r), float(c)) for p, r, c in values])

    return interval(grid.together(*measures), statistic, generator=np.random.default_rng(seed))


def closed_summary(results: Sequence[Plain], policies: Sequence[str], *, seed: int = 0) -> Plain:
    """Every policy's measures over subjects and windows; the first window, the same for all, is left out."""
    place = {name: i for i, name in enumerate(policies)}
    # Loops come in the order in which they end; what is drawn for a subject must not hang on that.
    results = sorted(results, key=lambda result: (result["subject"], place.get(result["policy"], len(place))))
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for result in results:
        for week in result["weeks"][1:]:
            cell = rows.setdefault((result["subject"], week["window"]), {})
            cell |= {f"{result['policy']}/{m}": _nan(week[m]) for m in LOOP_MEASURES}
    grid = Grid.of([(subject, window, measured) for (subject, window), measured in rows.items()])
    found = [name for name in policies if f"{name}/volume" in grid.measures]
    n_comparisons = len(found) - 1 if "static" in found else 0
    summary: Plain = {"policies": {}, "paired": {}, "subjects": {}, "n_comparisons": n_comparisons}
    for name in found:
        summary["policies"][name] = {m: plain(mean(grid, f"{name}/{m}", seed)) for m in LOOP_MEASURES}
        if name != "static" and "static" in found:
            gains = {m: _difference(grid, f"{name}/{m}", f"static/{m}", seed) for m in ("f1", "recall")}
            summary["paired"][name] = {"static": {m: plain(gain) for m, gain in gains.items()}}
    for result in results:
        weeks = result["weeks"][1:]
        means = {m: _plain_mean([_nan(week[m]) for week in weeks]) for m in LOOP_MEASURES}
        entry = summary["subjects"].setdefault(result["subject"], {})
        entry[result["policy"]] = means | {
            "cap": result["cap"],
            "last_list": weeks[-1]["keywords"] if weeks else [],
            "weeks": [
                {"window": week["window"], "relevant": week["relevant"]} | {m: _rounded(week[m]) for m in LOOP_MEASURES}
                for week in weeks
            ],
        }
    return {"verdict": closed_verdict(summary)} | summary


def labelled_summary(cases: Sequence[Plain], policies: Sequence[str], *, seed: int = 0) -> Plain:
    """How good every policy's next list is by labels, against the current list (`static`) and all other policies.

    `ratio` is that of mean F1 to mean F1 of the current list, over all cases; `subject_ratio` is the mean over subjects
    of each one's own ratio, `least_ratio` the least of them, of the subject `least_subject`.
    """
    cases = sorted(cases, key=lambda case: (case["week"], case["subject"]))
    asked = [name for name in policies if any(name in case["answers"] for case in cases)]
    silent = {name for name in asked if all("error" in case["answers"].get(name, {"error": ""}) for case in cases)}
    names = [name for name in asked if name not in silent]
    rows = []
    for case in cases:
        answers = {name: case["answers"][name] for name in names if name in case["answers"]}
        measured = {f"{name}/{m}": _nan(answer[m]) for name, answer in answers.items() for m in LABEL_MEASURES}
        rows.append((case["subject"], case["week"], measured))
    grid = Grid.of(rows)
    subjects = {
        subject: _of_subject([case for case in cases if case["subject"] == subject], names)
        for subject in dict.fromkeys(case["subject"] for case in cases)
    }
    entries: Plain = {}
    for name in names:
        ratios = {s: found[name]["ratio"] for s, found in subjects.items() if found[name]["ratio"] is not None}
        least = min(ratios, key=lambda subject: ratios[subject], default=None)
        entries[name] = {m: plain(mean(grid, f"{name}/{m}", seed)) for m in LABEL_MEASURES} | {
            "ratio": plain(_ratio(grid, f"{name}/f1", f"{CURRENT}/f1", seed)) if CURRENT in names else None,
            "subject_ratio": _rounded(_plain_mean(list(ratios.values()))),
            "least_ratio": None if least is None else ratios[least],
            "least_subject": least,
        }
    pairs = {
        name: {other: plain(_difference(grid, f"{name}/f1", f"{other}/f1", seed)) for other in names if other != name}
        for name in names
    }
    return {
        "verdict": labelled_verdict({"policies": entries}),
        "policies": entries,
        "paired": pairs,
        "subjects": subjects,
        "n_cases": len(cases),
        "n_comparisons": len(names) * (len(names) - 1) // 2,
        "unanswered": unanswered(cases, policies),
        "cases": cases,
    }


def _of_subject(cases: Sequence[Plain], names: Sequence[str]) -> Plain:
    """The means of one subject, and its ratio of mean F1 to that of the current list."""
    found: Plain = {}
    for name in names:
        answers = [case["answers"][name] for case in cases if name in case["answers"]]
        found[name] = {m: _rounded(_plain_mean([_nan(answer[m]) for answer in answers])) for m in LABEL_MEASURES}
    before = found.get(CURRENT, {}).get("f1")
    for entry in found.values():
        entry["ratio"] = round(entry["f1"] / before, 4) if before and entry["f1"] is not None else None
    return found


def mean(grid: Grid, measure: str, seed: int) -> Estimate:
    """The mean of a measure over the cases that count, with its interval; NaN for one that was never taken."""
    if measure not in grid.measures:
        return Estimate(float("nan"), float("nan"), float("nan"))
    return interval(grid, lambda means: means[measure], generator=np.random.default_rng(seed))


def _difference(grid: Grid, one: str, other: str, seed: int) -> Estimate:
    both = grid.together(one, other)
    return interval(both, lambda means: means[one] - means[other], generator=np.random.default_rng(seed))


def _ratio(grid: Grid, one: str, other: str, seed: int) -> Estimate:
    both = grid.together(one, other)
    with np.errstate(divide="ignore", invalid="ignore"):
        return interval(both, lambda means: means[one] / means[other], generator=np.random.default_rng(seed))


def _plain_mean(values: Sequence[float]) -> float | None:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _nan(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def plain(estimate: Estimate) -> dict[str, float | None]:
    """An estimate as plain data; None where it is not known."""
    values = {"mean": estimate.mean, "low": estimate.low, "high": estimate.high}
    return {name: None if np.isnan(value) else round(value, 4) for name, value in values.items()}
