from __future__ import annotations

import json

import numpy as np
import pytest

from klda.evaluation.backtest_summary import LOOP_MEASURES, closed_summary, labelled_summary, open_summary

POLICIES = ("ours", "theirs", "random")


def case(subject, week, *, ours, theirs, random, ceiling):
    """One case; a policy that could not answer has no score."""

    def scores(accuracy):
        found = {"accuracy": accuracy, "coverage": accuracy, "keyword_accuracy": accuracy}
        return {} if accuracy is None else {"raw/2": found, "corrected/2": found}

    answers = {name: {"scores": scores(a)} for name, a in zip(POLICIES, (ours, theirs, random), strict=True)}
    readings = {"raw": {"2": ceiling}, "corrected": {"2": ceiling}}
    return {"subject": subject, "week": week, "counts": True, "answers": answers, "ceiling": readings}


@pytest.fixture
def answered_in_part():
    """Six cases, of which `theirs` answers only the three easy ones, less well than `ours` each time."""
    easy = [case("easy", week, ours=0.6, theirs=0.5, random=0.3, ceiling=0.7) for week in "123"]
    hard = [case("hard", week, ours=0.2, theirs=None, random=0.1, ceiling=0.5) for week in "123"]
    return open_summary([*easy, *hard], POLICIES, [2])


def test_a_difference_is_of_the_cases_that_both_policies_answered(answered_in_part):
    assert answered_in_part["paired"]["ours"]["theirs"]["2"]["mean"] == pytest.approx(0.1)
    assert answered_in_part["paired"]["theirs"]["ours"]["2"]["mean"] == pytest.approx(-0.1)


def test_skill_is_held_against_chance_and_ceiling_of_the_cases_that_were_answered(answered_in_part):
    policies = answered_in_part["policies"]
    assert policies["theirs"]["skill"]["2"]["mean"] == pytest.approx((0.5 - 0.3) / (0.7 - 0.3))
    assert policies["ours"]["skill"]["2"]["mean"] == pytest.approx((0.4 - 0.2) / (0.6 - 0.2))
    assert policies["random"]["skill"]["2"]["mean"] == 0


def test_skill_is_known_where_nobody_asked_for_chance():
    cases = [case("a", "1", ours=0.6, theirs=0.5, random=0.3, ceiling=0.7)]
    found = open_summary(cases, ("ours",), [2])
    assert list(found["policies"]) == ["ours"]
    assert found["policies"]["ours"]["skill"]["2"]["mean"] == pytest.approx(0.75)


def test_a_policy_that_could_not_answer_is_told_with_its_reason():
    cases = [case("a", week, ours=0.6, theirs=None, random=0.1, ceiling=0.7) for week in "12"]
    cases[0]["answers"]["theirs"] = {"error": "no reposts", "scores": {}}
    found = open_summary(cases, POLICIES, [2])
    assert found["unanswered"] == {"theirs": {"answered": 1, "cases": 2, "error": "no reposts"}}


def test_policies_that_never_answered_the_same_case_are_not_compared():
    cases = [
        case("a", "1", ours=0.6, theirs=None, random=0.1, ceiling=0.7),
        case("b", "1", ours=None, theirs=0.5, random=0.1, ceiling=0.7),
    ]
    paired = open_summary(cases, POLICIES, [2])["paired"]["ours"]["theirs"]["2"]
    assert paired == {"mean": None, "low": None, "high": None}


@pytest.fixture
def loops():
    generator = np.random.default_rng(0)
    return [
        {
            "subject": subject,
            "policy": policy,
            "cap": 9,
            "weeks": [
                {"window": f"2026-01-{week:02}", "keywords": [], "relevant": 9}
                | dict(zip(LOOP_MEASURES, row, strict=True))
                for week, row in enumerate(generator.random((5, len(LOOP_MEASURES))).tolist(), start=1)
            ],
        }
        for subject in ("health", "climate", "jobs")
        for policy in ("klda", "static")
    ]


def test_loops_sum_up_to_the_same_whichever_ended_first(loops):
    in_order, as_they_ended = (json.dumps(closed_summary(one, ("static", "klda"))) for one in (loops, loops[::-1]))
    assert in_order == as_they_ended


def test_the_first_window_of_a_loop_counts_for_nobody(loops):
    found = closed_summary(loops, ("static", "klda"))
    later = {
        policy: np.mean([week["f1"] for one in loops if one["policy"] == policy for week in one["weeks"][1:]])
        for policy in ("static", "klda")
    }
    assert found["policies"]["klda"]["f1"]["mean"] == pytest.approx(later["klda"], abs=1e-4)
    assert found["paired"]["klda"]["static"]["f1"]["mean"] == pytest.approx(later["klda"] - later["static"], abs=2e-4)
    assert all(len(entry["klda"]["weeks"]) == 4 for entry in found["subjects"].values())


def labelled_case(subject, week, **f1):
    answers = {name: {"f1": value, "recall": value, "precision": value, "volume": 9} for name, value in f1.items()}
    return {"subject": subject, "week": week, "answers": answers}


@pytest.fixture
def labelled():
    """Two subjects: on one the next list doubles F1 of the current one, on the other it has nine tenths of it."""
    good = [labelled_case("good", week, klda=0.4, static=0.2) for week in "12"]
    bad = [labelled_case("bad", week, klda=f1 * 0.9, static=f1) for week, f1 in (("1", 0.3), ("2", 0.5))]
    return [*good, *bad]


def test_a_next_list_is_held_against_the_current_one(labelled):
    found = labelled_summary(labelled, ("klda", "static"))
    entry = found["policies"]["klda"]
    assert entry["ratio"]["mean"] == pytest.approx((0.4 + 0.4 + 0.27 + 0.45) / (0.2 + 0.2 + 0.3 + 0.5), abs=1e-4)
    assert entry["subject_ratio"] == pytest.approx((2.0 + 0.9) / 2)
    assert (entry["least_ratio"], entry["least_subject"]) == (pytest.approx(0.9), "bad")
    assert found["paired"]["klda"]["static"]["mean"] == pytest.approx((0.2 + 0.2 - 0.03 - 0.05) / 4)
    assert found["policies"]["static"]["ratio"]["mean"] == 1.0
    assert found["subjects"]["good"]["klda"]["f1"] == pytest.approx(0.4)
    json.dumps(found, allow_nan=False)


def test_a_policy_that_never_answered_has_no_row_and_is_told(labelled):
    for case in labelled:
        case["answers"]["viral"] = case["answers"]["static"] | {"error": "no reposts"}
    found = labelled_summary(labelled, ("klda", "viral", "static"))
    assert set(found["policies"]) == {"klda", "static"}
    assert found["unanswered"] == {"viral": {"answered": 0, "cases": 4, "error": "no reposts"}}


def test_a_week_without_a_post_on_the_subject_counts_for_nobody(labelled):
    silent = labelled_case("good", "3", klda=None, static=None)
    with_it, without = (labelled_summary(cases, ("klda", "static")) for cases in ([*labelled, silent], labelled))
    assert with_it["policies"]["klda"]["f1"]["mean"] == without["policies"]["klda"]["f1"]["mean"]
    assert with_it["subjects"]["good"]["klda"]["ratio"] == without["subjects"]["good"]["klda"]["ratio"]
