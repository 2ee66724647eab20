"""Proposing: learn from the windows that have closed, and say which keywords to use in the next one, and why."""

from __future__ import annotations

import inspect
from typing import Any

from klda.advice.policy import Policy
from klda.errors import DataError, SettingError
from klda.monitor.choices import choices_of, save_choices
from klda.monitor.close import close, closed
from klda.monitor.examples import check_examples
from klda.monitor.flags import flags
from klda.monitor.forecast import with_forecast
from klda.monitor.jobs import recorded
from klda.monitor.models import RecordedKLDA, earlier_model, keep_model
from klda.monitor.monitor import Monitor
from klda.monitor.rules import check_rules
from klda.monitor.settings import MonitorSettings
from klda.monitor.training_data import learning
from klda.policies.recommend import recommend
from klda.policies.registry import policy as policy_named
from klda.store import SavedProposal
from klda.text.vocabulary import Vocabulary
from klda.types import KeywordSet, Progress, Window, silent


def propose(
    monitor: Monitor, window: Window | None = None, *, progress: Progress = silent, job: str | None = None
) -> SavedProposal:
    """The proposal for the window after this one (the last that has ended, unless said); it waits for a decision.

    Windows that have ended are closed first, unless one is named.

    job: the job that this is, where it has been recorded already.
    """
    with recorded(monitor, "propose", progress, job=job) as (report, result):
        made = propose_within(monitor, window, report)
        result["proposal"] = made.id
        return made


def propose_within(monitor: Monitor, window: Window | None, progress: Progress) -> SavedProposal:
    """The same as part of other work."""
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
    """The policy of the settings; what all monitors have is passed on to those policies that have a use for it."""
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
    """Why the platform could not take a list, as a flag; none where it can, and of an empty list, which has its own."""
    try:
        if keywords.included:
            check_rules(settings, keywords)
    except SettingError as error:
        return (str(error),)
    return ()


def _vocabulary(policy: Policy) -> Vocabulary | None:
    """The words of the model that a policy goes on from."""
    earlier = policy.earlier if isinstance(policy, RecordedKLDA) else None
    return earlier.model.vocabulary_ if earlier else None


def _last_ended(monitor: Monitor) -> Window:
    close(monitor)
    windows = closed(monitor)
    if not windows:
        raise DataError(f"monitor {monitor.name}: no window has closed yet; collect, and wait until one ends")
    return windows[-1]
