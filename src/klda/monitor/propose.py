"""Makes a proposal: learns from the closed windows, and says which keywords to use in the next one, and why."""

from __future__ import annotations

import inspect
from dataclasses import replace
from datetime import timedelta
from typing import Any

from klda.advice.evidence import columns_of
from klda.advice.explanation import Reason
from klda.advice.policy import Policy
from klda.advice.proposal import Proposal
from klda.advice.reasons import posts_in_words
from klda.advice.volume import Seen, weights
from klda.errors import DataError, SettingError
from klda.monitor.calendar import close, closed
from klda.monitor.flags import flags
from klda.monitor.forget import check_examples
from klda.monitor.jobs import recorded
from klda.monitor.models import RecordedKLDA, earlier_model, keep_model
from klda.monitor.monitor import Monitor
from klda.monitor.monitor_settings import MonitorSettings
from klda.monitor.rules import check_rules
from klda.monitor.saved_choices import choices_of, save_choices
from klda.monitor.training_data import Learning, learning
from klda.policies.recommend import recommend
from klda.policies.registry import policy as policy_named
from klda.store import SavedProposal
from klda.text.vocabulary import Vocabulary
from klda.types import Estimate, KeywordSet, Progress, Window, silent


def propose(
    monitor: Monitor, window: Window | None = None, *, progress: Progress = silent, job: str | None = None
) -> SavedProposal:
    """The proposal for the window after this one. The default is the last window that has ended.

    Windows that have ended are closed first, unless a window is given. The proposal then waits for a decision.

    job: the id of this job, if it is already recorded.
    """
    with recorded(monitor, "propose", progress, job=job) as (report, result):
        made = propose_within(monitor, window, report)
        result["proposal"] = made.id
        return made


def propose_within(monitor: Monitor, window: Window | None, progress: Progress) -> SavedProposal:
    """The same, as a part of another job."""
    return _propose(monitor, window or _last_ended(monitor), progress)


def _propose(monitor: Monitor, last: Window, progress: Progress) -> SavedProposal:
    settings, records = monitor.settings, monitor.records
    policy = _policy(monitor, last)
    known = learning(monitor, last, vocabulary=_vocabulary(policy), progress=progress)
    budget, first = settings.budget.budget(), settings.first_keywords()
    sources = [name for name in settings.candidates.sources if name != "sample" or known.sample is not None]
    proposal = recommend(
        known.corpus,
        records.keywords.active(),
        policy=policy,
        sources=sources,
        n_candidates=settings.candidates.size,
        budget=budget,
        sample=known.sample,
        seed=settings.seed,
        progress=progress,
    )
    proposal = with_forecast(proposal, known)
    against = flags(
        proposal, known.corpus, first, max_distance=settings.max_distance, budget=budget, seed=settings.seed
    )
    against += _not_for_its_platform(settings, proposal.next_keywords)
    choices = choices_of(proposal, known, settings)
    model = keep_model(monitor, last, policy) if isinstance(policy, RecordedKLDA) else None
    name = records.proposals.save(proposal, flags=against, model=model)
    check_examples(monitor, (e for reason in proposal.reasons for e in reason.examples), known.corpus.windows)
    if choices is not None:
        save_choices(monitor, name, choices)
    records.journal.note("klda", "propose", name, window=proposal.window, flags=list(against))
    return records.proposals.get(name)


def _policy(monitor: Monitor, last: Window) -> Policy:
    """The policy of the settings. Common settings are passed on to policies that take them."""
    settings = monitor.settings
    common = {
        "novelty": settings.novelty,
        "founding": settings.first_keywords(),
        "subject": settings.subject,
        "predict": True,
        "sample_share": settings.sample or 1.0,
    }
    takes = inspect.signature(type(policy_named(settings.policy))).parameters
    given: dict[str, Any] = {name: value for name, value in common.items() if name in takes}
    if settings.policy == RecordedKLDA.name:
        policy = RecordedKLDA(**(given | settings.policy_settings))
        policy.earlier = earlier_model(monitor, last, policy.shape())
        return policy
    return policy_named(settings.policy, **(given | settings.policy_settings))


def _not_for_its_platform(settings: MonitorSettings, keywords: KeywordSet) -> tuple[str, ...]:
    """A flag if the platform could not take a list. An empty list has a flag of its own."""
    try:
        if keywords.included:
            check_rules(settings, keywords)
    except SettingError as error:
        return (str(error),)
    return ()


def _vocabulary(policy: Policy) -> Vocabulary | None:
    """The words of the model that the policy continues."""
    earlier = policy.earlier if isinstance(policy, RecordedKLDA) else None
    return earlier.model.vocabulary_ if earlier else None


def _last_ended(monitor: Monitor) -> Window:
    close(monitor)
    windows = closed(monitor)
    if not windows:
        raise DataError(f"monitor {monitor.name}: no window has closed yet; collect, and wait until one ends")
    return windows[-1]


def with_forecast(proposal: Proposal, learning: Learning) -> Proposal:
    """The proposal with the expected posts of each keyword, and of the next list as a whole.

    Collected posts show a new keyword only beside an old one. The unfiltered sample shows it alone too. The policy
    `klda` counts this way itself, so its proposals are returned unchanged. So are all proposals without a sample.
    """
    if learning.sample is None or not proposal.reasons or proposal.choices is not None:
        return proposal
    keywords = proposal.next_keywords | proposal.current | (reason.keyword for reason in proposal.reasons)
    for active in learning.corpus.history:
        keywords = keywords | active.included
    corpus = learning.corpus.with_candidates(keywords)
    current = columns_of(keywords, proposal.current)
    seen = Seen.of(corpus, weights(corpus, current, learning.share or 1.0))
    each, length = seen.forecast(len(keywords)), corpus.windows[-1].length
    now = seen.expected(current)
    then = seen.expected(columns_of(keywords, proposal.next_keywords)) if proposal.next_keywords else None
    reasons = tuple(_said(reason, each.at(keywords.index(reason.keyword)), length) for reason in proposal.reasons)
    return replace(proposal, reasons=reasons, expected_posts=then, posts_now=now, at_least=False)


def _said(reason: Reason, posts: Estimate, length: timedelta) -> Reason:
    """The reason with another number of expected posts, in its words too."""
    return replace(reason, expected_posts=posts, volume=posts_in_words(posts, length))
