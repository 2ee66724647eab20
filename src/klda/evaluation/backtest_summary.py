"""Backtests summed up: means over cases with intervals, skill, paired differences, and a verdict in one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from klda.arrays import Floats
from klda.evaluation.intervals import Grid, interval
from klda.evaluation.metrics import skill
from klda.evaluation.references import ORACLES
from klda.evaluation.result_cache import Plain
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
    """For each policy that failed in some case: the cases that it answered, all its cases, and its first error."""
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
    asked = dict.fromkeys((*policies, CHANCE))  # skill needs chance, also if it was not asked for
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
    of their ratios, `least_ratio` the lowest of them, and `least_subject` its subject.
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


CURRENT = "static"
"""The policy whose next list is the current one."""
JUDGED = "klda"
"""The verdict is about this policy if it was asked."""
REFERENCES = (CURRENT, "random", "truth-last-week", *ORACLES)
"""Yardsticks: the verdict is about them only if no other policy was asked."""

Summary = Mapping[str, Any]


def open_verdict(summary: Summary) -> str:
    """Whether the proposed words were better than words chosen at random.

    >>> entry = {"accuracy": {"2": {"mean": 0.36}}, "skill": {"2": {"mean": 0.42, "low": 0.3, "high": 0.55}}}
    >>> open_verdict({"policies": {"klda": entry}}).split(", which is ")[1]
    'clearly better than chance: skill 0.42, 95% interval 0.30 to 0.55.'
    """
    name = _policy(summary["policies"])
    if name is None:
        return "There is no verdict, because no policy could answer in a case that counts."
    entry = summary["policies"][name]
    top, accuracy = next(((top, found) for top, found in entry["accuracy"].items()), ("", None))
    if accuracy is None or accuracy["mean"] is None:
        return f"There is no verdict, because no case counts in which {name} answered."
    said = f"{accuracy['mean']:.0%} of the words that {name} proposed were right (top {top})"
    skill = entry["skill"].get(top)
    if skill is None or skill["mean"] is None:
        return f"{said}; how good chance would have been is not known."
    if skill["low"] is None or skill["high"] is None:
        return f"{said}; there are too few cases to compare that with chance (skill {skill['mean']:.2f})."
    how = f"skill {skill['mean']:.2f}, 95% interval {_span(skill)}"
    if skill["low"] > 0:
        return f"{said}, which is clearly better than chance: {how}."
    if skill["high"] < 0:
        return f"{said}, which is clearly worse than chance: {how}."
    return f"{said}, which chance alone may explain: {how}."


def labelled_verdict(summary: Summary) -> str:
    """How the next lists compare with the current one by F1.

    >>> entry = {"ratio": {"mean": 1.28, "low": 0.95, "high": 1.6}}
    >>> labelled_verdict({"policies": {"klda": entry}}).split(", but ")[1]
    'chance may explain the difference (95% interval 0.95 to 1.60).'
    """
    name = _policy(summary["policies"])
    ratio = None if name is None else summary["policies"][name]["ratio"]
    if ratio is None or ratio["mean"] is None:
        return "There is no verdict, because no case has both a next list and a current list that finds something."
    if name == CURRENT:
        return "There is no verdict, because no policy but the current list itself was compared."
    return _compared(f"{name}'s next lists had {ratio['mean']:.2f} times the F1 of the current list", ratio, even=1.0)


def closed_verdict(summary: Summary) -> str:
    """How lists that owned the filter compare with the first list, by F1 where labels tell it.

    >>> gain = {"static": {"f1": {"mean": 0.1, "low": 0.05, "high": 0.15}}}
    >>> f1 = {"f1": {"mean": 0.5}}
    >>> print(closed_verdict({"policies": {"klda": f1, "static": f1}, "paired": {"klda": gain}}))
    klda's lists had an F1 0.10 higher than the first list, and the difference is clear (95% interval 0.05 to 0.15).
    """
    policies = summary["policies"]
    name = _policy(policies)
    if name is None or name == CURRENT:
        return "There is no verdict, because no policy but the first list itself was compared."
    if policies[name]["f1"]["mean"] is None:
        return f"There is no verdict on {name}, because the archive has no labels that say what is on the subject."
    gain = summary["paired"].get(name, {}).get(CURRENT, {}).get("f1")
    if gain is None or gain["mean"] is None:
        return (
            f"{name}'s lists had an F1 of {policies[name]['f1']['mean']:.2f}; add the policy {CURRENT} to compare it."
        )
    way = "higher" if gain["mean"] >= 0 else "lower"
    return _compared(f"{name}'s lists had an F1 {abs(gain['mean']):.2f} {way} than the first list", gain, even=0.0)


def _compared(said: str, estimate: Summary, even: float) -> str:
    """The finding, and whether its interval excludes no difference."""
    low, high = estimate["low"], estimate["high"]
    if low is None or high is None:
        return f"{said}, but there are too few cases to say whether that is chance."
    if low > even or high < even:
        return f"{said}, and the difference is clear (95% interval {_span(estimate)})."
    return f"{said}, but chance may explain the difference (95% interval {_span(estimate)})."


def _span(estimate: Summary) -> str:
    return f"{estimate['low']:.2f} to {estimate['high']:.2f}"


def _policy(policies: Summary) -> str | None:
    """The policy that the verdict is about: klda, else the first that is no yardstick."""
    if JUDGED in policies:
        return JUDGED
    return next((name for name in policies if name not in REFERENCES), next(iter(policies), None))
