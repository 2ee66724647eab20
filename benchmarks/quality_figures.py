"""The figures of `benchmarks.quality`: single numbers that stand for whole tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

Plain = dict[str, Any]
TOPS = (2, 3)
"""Candidates that each current keyword gets."""
WITH_AND_WITHOUT = {"klda": "", "klda~without vectors": "_without_vectors"}
"""The default as it is and without what words mean, and the end of the names of its figures."""
SHOCK = 2.0
"""A week of shock has so many times as many posts on the subject as its median week."""


def open_figures(summary: Plain, reading: str) -> Plain:
    """The figures to reach by one reading of the truth, `raw` or `corrected`, each the least over sizes of lists."""
    policies = (summary if reading == "raw" else summary[reading])["policies"]

    def skill(policy: str, top: int) -> float | None:
        found = policies.get(policy, {}).get("skill", {}).get(str(top))
        return None if found is None else found["mean"]

    def ratio_to_viral(measure: str, top: int) -> float | None:
        """Of means over the cases that both answered: `viral` is silent where nothing tells what is reposted."""
        answers = [case["answers"] for case in summary["cases"] if case["counts"]]
        found = [
            [by.get(name, {}).get("scores", {}).get(f"{reading}/{top}", {}).get(measure) for name in ("klda", "viral")]
            for by in answers
        ]
        both = [pair for pair in found if None not in pair]
        return _ratio(mean([ours for ours, _ in both]), mean([theirs for _, theirs in both]))

    def least(values: Iterable[float | None]) -> float | None:
        known = list(values)
        return None if None in known else round(min(value for value in known if value is not None), 3)

    return {
        "skill": least(skill("klda", top) for top in TOPS),
        "skill_vs_counting": least(_ratio(skill("klda", top), skill("counting", top)) for top in TOPS),
        "skill_vs_counting_scored": least(_ratio(skill("klda", top), skill("counting-scored", top)) for top in TOPS),
        "accuracy_vs_viral": least(ratio_to_viral("accuracy", top) for top in TOPS),
        "coverage_vs_viral": least(ratio_to_viral("coverage", top) for top in TOPS),
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
        **{f"closed_loop_f1{suffix}": f1.get(name) for name, suffix in WITH_AND_WITHOUT.items()},
        "closed_loop_gap": way("labels-next-week"),
        "closed_loop_gap_singly": way("labels-next-week-singly"),
        "shock_recall": shock_recall(summary),
    }


def labelled_figures(summary: Plain) -> Plain:
    """How far next lists of the default are ahead of the current ones and of all baselines, with and without vectors.

    `next_list_lead` is the low end of the paired interval against the baseline that comes nearest.
    """
    found: Plain = {}
    for name, suffix in WITH_AND_WITHOUT.items():
        if name in summary["policies"]:
            entry = summary["policies"][name]
            ahead = {other: gain for other, gain in summary["paired"][name].items() if _is_baseline(other)}
            lows = [gain["low"] for gain in ahead.values()]
            found |= {
                f"next_list_f1{suffix}": entry["f1"]["mean"],
                f"next_list_ratio{suffix}": entry["ratio"] and entry["ratio"]["mean"],
                f"next_list_subject_ratio{suffix}": entry["subject_ratio"],
                f"next_list_least_ratio{suffix}": entry["least_ratio"],
                f"next_list_lead{suffix}": min(lows) if lows and None not in lows else None,
            }
    return found


def _is_baseline(name: str) -> bool:
    return "~" not in name and not name.startswith("labels-")


def shock_recall(summary: Plain) -> float | None:
    """Recall of the default ÷ that of `static`, in weeks with twice a subject's usual number of posts, the median."""
    ours, theirs = [], []
    for found in summary["subjects"].values():
        if not {"klda", "static"} <= found.keys():
            continue
        before = found["static"]["weeks"]
        posts = [week["relevant"] or 0 for week in before]
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
