"""Asking a policy in a replay: the same call, with the same defaults, as `klda recommend` and monitors make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from klda.advice.policy import Policy
from klda.advice.proposal import Proposal
from klda.baselines.places import USUAL_SOURCES
from klda.evaluation.subjects import Subject
from klda.policies.recommend import recommend
from klda.policies.registry import accepted
from klda.policies.registry import policy as policy_named
from klda.text.corpus import Corpus
from klda.types import Budget, KeywordSet


def policy_of(
    name: str,
    subject: Subject,
    settings: Mapping[str, Any] | None = None,
    *,
    sample_share: float = 1.0,
    training: Corpus | str | None = None,
    **usual: Any,
) -> Policy:
    """The policy of this name, with the settings that a monitor on the subject would give it.

    Variants of one policy have the same name, a ~ and a word of their own; they differ in their `settings`. `usual`
    settings are given to every policy that has them. `training` is a corpus with repost counts, or its folder.

    >>> asked = policy_of("klda~near", Subject("voting_by_mail", KeywordSet.of("ballot")), {"novelty": 0.0})
    >>> asked.subject, asked.founding.texts, asked.novelty
    ('voting by mail', ('ballot',), 0.0)
    """
    told = {"subject": subject.in_words, "founding": subject.keywords, "sample_share": sample_share}
    known = told | {"training": training} | usual
    plain = name.partition("~")[0]
    return policy_named(plain, **(accepted(plain, known) | dict(settings or {})))


def ask_next(
    policy: Policy,
    known: Corpus,
    current: KeywordSet,
    budget: Budget,
    *,
    candidates: KeywordSet | None = None,
    sources: Sequence[str] = USUAL_SOURCES,
    sample: Corpus | None = None,
    training: str | None = None,
    generator: np.random.Generator,
) -> Proposal:
    """The policy's proposal for the next window, made from the known posts.

    Policies that find candidates by themselves get neither candidates nor sources.
    """
    finds = getattr(policy, "finds_candidates", False)
    return recommend(
        known,
        current,
        policy=policy,
        candidates=None if finds else candidates,
        sources=USUAL_SOURCES if finds else sources,
        sample=None if finds else sample,
        training=training,
        budget=budget,
        seed=int(generator.integers(2**31)),
    )
