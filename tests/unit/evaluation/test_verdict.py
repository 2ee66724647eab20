"""The verdict of a backtest: one sentence that says who was better, and whether chance may explain it."""

from __future__ import annotations

from typing import Any

import pytest

from klda.evaluation.backtest_summary import closed_verdict, labelled_verdict, open_verdict


def estimate(mean: float | None, low: float | None = None, high: float | None = None) -> dict[str, float | None]:
    return {"mean": mean, "low": low, "high": high}


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (estimate(1.28, 1.05, 1.52), "1.28 times the F1 of the current list, and the difference is clear"),
        (estimate(0.8, 0.7, 0.9), "0.80 times the F1 of the current list, and the difference is clear"),
        (estimate(1.28, 0.95, 1.52), "1.28 times the F1 of the current list, but chance may explain the difference"),
        (estimate(1.28), "too few cases to say whether that is chance"),
        (estimate(None), "There is no verdict"),
    ],
)
def test_next_lists_are_compared_with_the_current_one(ratio: dict[str, Any], said: str) -> None:
    verdict = labelled_verdict({"policies": {"random": {"ratio": None}, "klda": {"ratio": ratio}}})
    assert said in verdict
    assert verdict.count(". ") == 0, "one sentence"


@pytest.mark.parametrize(
    ("gain", "said"),
    [
        (estimate(0.1, 0.05, 0.15), "F1 0.10 higher than the first list, and the difference is clear"),
        (estimate(-0.1, -0.15, 0.05), "F1 0.10 lower than the first list, but chance may explain"),
    ],
)
def test_a_closed_loop_is_compared_with_the_first_list(gain: dict[str, Any], said: str) -> None:
    judged = {"f1": estimate(0.5)}
    summary = {"policies": {"static": judged, "klda": judged}, "paired": {"klda": {"static": {"f1": gain}}}}
    assert said in closed_verdict(summary)
    assert "add the policy static" in closed_verdict({"policies": {"klda": judged}, "paired": {}})
    assert "no labels" in closed_verdict({"policies": {"klda": {"f1": estimate(None)}}, "paired": {}})


@pytest.mark.parametrize(
    ("skill", "said"),
    [
        (estimate(0.4, 0.3, 0.5), "clearly better than chance: skill 0.40, 95% interval 0.30 to 0.50"),
        (estimate(-0.4, -0.5, -0.3), "clearly worse than chance"),
        (estimate(0.1, -0.1, 0.3), "which chance alone may explain"),
        (estimate(0.1), "too few cases"),
    ],
)
def test_an_open_loop_is_compared_with_chance(skill: dict[str, Any], said: str) -> None:
    summary = {"policies": {"klda": {"accuracy": {"2": estimate(0.36)}, "skill": {"2": skill}}}}
    assert open_verdict(summary).startswith("36% of the words that klda proposed were right (top 2)")
    assert said in open_verdict(summary)


def test_a_policy_is_spoken_of_rather_than_a_yardstick() -> None:
    entry = {"ratio": estimate(1.1, 0.9, 1.3)}
    assert labelled_verdict({"policies": {"static": entry, "frequent": entry}}).startswith("frequent's")
    assert "no policy but the current list" in labelled_verdict({"policies": {"static": entry}})


def test_without_an_answer_there_is_no_verdict() -> None:
    empty: dict[str, Any] = {"policies": {}, "paired": {}}
    for verdict in (open_verdict(empty), closed_verdict(empty), labelled_verdict(empty)):
        assert verdict.startswith("There is no verdict, because")
