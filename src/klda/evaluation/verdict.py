"""What a backtest found, in one sentence of plain English."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CURRENT = "static"
"""The policy whose next list is the current one."""
JUDGED = "klda"
"""The policy that the sentence is about, where it was asked."""
REFERENCES = (CURRENT, "random", "truth-last-week", "labels-last-week", "labels-next-week", "labels-next-week-singly")
"""Yardsticks: the sentence is about none of them, unless nobody else was asked."""

Plain = Mapping[str, Any]


def open_verdict(summary: Plain) -> str:
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


def labelled_verdict(summary: Plain) -> str:
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


def closed_verdict(summary: Plain) -> str:
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


def _compared(said: str, estimate: Plain, even: float) -> str:
    """What was found, and whether its interval leaves out that there is no difference."""
    low, high = estimate["low"], estimate["high"]
    if low is None or high is None:
        return f"{said}, but there are too few cases to say whether that is chance."
    if low > even or high < even:
        return f"{said}, and the difference is clear (95% interval {_span(estimate)})."
    return f"{said}, but chance may explain the difference (95% interval {_span(estimate)})."


def _span(estimate: Plain) -> str:
    return f"{estimate['low']:.2f} to {estimate['high']:.2f}"


def _policy(policies: Plain) -> str | None:
    """The policy to speak of: klda, or else the first that is no yardstick."""
    if JUDGED in policies:
        return JUDGED
    return next((name for name in policies if name not in REFERENCES), next(iter(policies), None))
