"""The figures of `benchmarks.quality`: single numbers that stand for whole tables."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

Plain = dict[str, Any]
TOPS = (2, 3)
"""Candidates that each current keyword gets."""
SHOCK = 2.0
"""A week of shock has so many times as many posts on the subject as its median week."""


def open_figures(reading: Plain) -> Plain:
    """The figures to reach: each the least over the sizes of lists."""
    policies = reading["policies"]

    def least(one: str, other: str | None, measure: str) -> float | None:
        if "klda" not in policies or (other and other not in policies):
            return None
        values = [policies[one][measure][str(top)]["mean"] for top in TOPS]
        if other:
            values = [
                _ratio(v, policies[other][measure][str(top)]["mean"]) for v, top in zip(values, TOPS, strict=True)
            ]
        return None if any(value is None for value in values) else round(min(values), 3)

    return {
        "skill": least("klda", None, "skill"),
        "skill_vs_counting": least("klda", "counting", "skill"),
        "skill_vs_counting_scored": least("klda", "counting-scored", "skill"),
        "accuracy_vs_viral": least("klda", "viral", "accuracy"),
        "coverage_vs_viral": least("klda", "viral", "coverage"),
    }


def closed_figures(summary: Plain) -> Plain:
    """F1 of the default, and how far it comes from `static` towards the lists that know next week's labels.

    One of these is chosen as a whole; words that are best each by themselves (`singly`) make a weaker list.
    """
    policies = summary["policies"]
    f1 = {name: found["f1"]["mean"] for name, found in policies.items() if found["f1"]["mean"] is not None}

    def way(reference: str) -> float | None:
        if not {"klda", "static", reference} <= f1.keys():
            return None
        share = _ratio(f1["klda"] - f1["static"], f1[reference] - f1["static"])
        return None if share is None else round(share, 3)

    return {
        "closed_loop_f1": f1.get("klda"),
        "closed_loop_gap": way("labels-next-week"),
        "closed_loop_gap_singly": way("labels-next-week-singly"),
        "shock_recall": shock_recall(summary),
    }


def shock_recall(summary: Plain) -> float | None:
    """Recall of the default ÷ that of `static`, in weeks with twice a subject's usual number of posts, the median."""
    ours, theirs = [], []
    for found in summary["subjects"].values():
        if not {"klda", "static"} <= found.keys():
            continue
        before = found["static"]["weeks"]
        posts = [w["precision"] * w["volume"] / w["recall"] if w["recall"] else 0.0 for w in before]  # on the subject
        for week, n, now in zip(before, posts, found["klda"]["weeks"], strict=True):
            if n and n >= SHOCK * median(posts):  # in a week without any there is nothing to find
                ours.append(now["recall"])
                theirs.append(week["recall"])
    ratio = _ratio(mean(ours), mean(theirs))
    return None if ratio is None else round(ratio, 3)


def _ratio(one: float | None, other: float | None) -> float | None:
    return None if one is None or not other or other <= 0 else one / other


def mean(values: Sequence[float]) -> float | None:
    """The mean, None of nothing."""
    return round(sum(values) / len(values), 4) if values else None
