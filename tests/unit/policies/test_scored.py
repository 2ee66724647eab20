from __future__ import annotations

import numpy as np
import pytest

from klda.policies.counting import Counting
from klda.policies.scored import FOUNDING, POST_PRICE
from klda.policies.subject import Subject
from klda.types import KeywordSet, silent
from tests.unit.policies.few_posts import evidence_of, weekly

WORDS = ("nurse", "doctor", "strike", "race")


def problem_of(founding: str):
    """The choice of a list whose current keywords are a nurse and a doctor, one of which was there first."""
    week = [f"nurse ward night {i}" for i in range(20)] + [f"doctor clinic day {i}" for i in range(20)]
    week += [f"strike pay ward clinic {i}" for i in range(10)] + [f"race horse bet {i}" for i in range(10)]
    evidence = evidence_of(weekly(week, week, keywords=WORDS), "nurse", "doctor")
    policy, subject = Counting(), Subject.of(evidence, KeywordSet.of(founding))
    words = policy.estimate(evidence, subject.background, generator=np.random.default_rng(0), progress=silent)
    worth = np.zeros(len(WORDS))
    return policy._problem(evidence, subject, words, np.empty(0, dtype=np.int64), worth), evidence


def test_a_keyword_first_asked_for_is_worth_something_by_itself():
    (nurse_first, evidence), (doctor_first, _) = problem_of("nurse"), problem_of("doctor")
    rate = evidence.volume.mean / evidence.union.posts(evidence.current)
    off_topic = 0.05  # the two subjects differ a little, and with them how much their posts speak for the subject
    gain = doctor_first.price[0] - nurse_first.price[0]
    assert gain == pytest.approx(FOUNDING + POST_PRICE * rate[0], abs=off_topic)
    assert gain > FOUNDING
