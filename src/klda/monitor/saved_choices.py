"""Saves the choices behind a proposal, for the dial and for what-if.

Each is one safetensors file with JSON in its header. No code in it can run. It has words and numbers, no posts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as packed

from klda.advice.advise import KLDAPolicy, advise
from klda.advice.budget import Limits
from klda.advice.choices import Choices
from klda.advice.choose import Scores, covered_by
from klda.advice.explanation import Finding
from klda.advice.proposal import Proposal
from klda.advice.situation import Situation
from klda.advice.topics import Topics
from klda.advice.volume import Seen
from klda.errors import DataError, FormatError, KldaError
from klda.monitor.monitor import Monitor
from klda.monitor.monitor_settings import MonitorSettings
from klda.monitor.training_data import Learning, learning
from klda.store import SavedProposal
from klda.types import Estimate, Keyword, KeywordSet, silent

VERSION = 4
KEPT = 12
"""Number of proposals whose choices are kept. Older ones are decided."""


def choices_of(proposal: Proposal, known: Learning, settings: MonitorSettings) -> Choices | None:
    """The choices behind a proposal, with topics. None if nothing can be weighed.

    Other policies than `klda` leave no choices. Their candidates are then weighed as `klda` does.
    """
    if proposal.choices is not None:
        return proposal.choices
    situation = _situation(proposal, known, settings, proposal.ranked - proposal.current)
    predict = partial(KLDAPolicy().predicted, generator=np.random.default_rng(settings.seed), progress=silent)
    try:
        found = advise(situation, predict=predict).choices
    except DataError:  # the proposal stands without what-if
        return None
    return None if found is None else replace(found, is_own=False, exclusions=proposal.current.exclusions)


def with_posts(choices: Choices, monitor: Monitor, proposal: Proposal) -> Choices:
    """The choices behind a proposal, which can also look up further words in its stored posts."""

    def ask(words: KeywordSet) -> Choices:
        assert proposal.window is not None
        end = datetime.fromisoformat(proposal.window)
        last = monitor.windowing.holding(end - timedelta(microseconds=1))
        known = learning(monitor, last)
        situation = _situation(
            proposal, known, monitor.settings, choices.candidates - choices.keywords(choices.current)
        )
        found = advise(situation.asking(words)).choices
        assert found is not None
        found = replace(found, is_own=choices.is_own, novelty=choices.novelty, exclusions=choices.exclusions)
        return found.with_topics_of(choices)

    return choices if proposal.window is None else replace(choices, ask=ask)


def _situation(proposal: Proposal, known: Learning, settings: MonitorSettings, candidates: KeywordSet) -> Situation:
    """The situation as the policy `klda` would see it, with these candidates only."""
    return Situation(
        history=known.corpus,
        current=proposal.current,
        budget=settings.budget.budget(),
        founding=settings.first_keywords(),
        subject=settings.subject,
        candidates=candidates,
        novelty=settings.novelty,
        sample_share=settings.sample or 1.0,
        use_vectors=bool(settings.policy_settings.get("use_vectors", True)),
    ).without_exclusions


def save_choices(monitor: Monitor, proposal: str, choices: Choices) -> None:
    """Saves the choices behind a proposal, and deletes the oldest ones. The file is written whole or not at all."""
    folder = _folder(monitor)
    folder.mkdir(exist_ok=True)
    path = path_of(monitor, proposal)
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_bytes(packed(_arrays(choices), {"klda": json.dumps(_facts(choices), ensure_ascii=False)}))
    unfinished.replace(path)
    newest = {saved.id for saved in monitor.records.proposals.newest(KEPT)} | {proposal}
    for old in folder.glob("*.safetensors"):
        if old.stem not in newest:
            old.unlink(missing_ok=True)


def load_choices(monitor: Monitor, proposal: str) -> Choices:
    """The choices behind a proposal. DataError if they are no longer kept."""
    path = path_of(monitor, monitor.records.proposals.get(proposal).id)  # an id from the records, not from a request
    if not path.is_file():
        raise DataError(f"the choices behind proposal {proposal} are no longer kept; make a new proposal")
    return read_choices(path)


def with_choices(monitor: Monitor, saved: SavedProposal) -> Proposal:
    """A saved proposal with its choices, if they are kept."""
    try:
        return replace(saved.proposal, choices=load_choices(monitor, saved.id))
    except KldaError:
        return saved.proposal


def read_choices(path: Path) -> Choices:
    """The choices in a file."""
    try:
        with safe_open(path, framework="numpy") as file:
            facts = json.loads((file.metadata() or {})["klda"])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no mapping
        if facts["version"] != VERSION:
            raise FormatError(f"{path}: written by another version of klda; make the proposal again")
        return _choices(arrays, facts)
    except (OSError, SafetensorError, ValueError, KeyError, TypeError) as error:
        raise FormatError(f"{path}: damaged ({error}); make the proposal again") from error


def path_of(monitor: Monitor, proposal: str) -> Path:
    """The path of the choices behind a proposal. The id must be known to the records."""
    return _folder(monitor) / f"{proposal}.safetensors"


def _folder(monitor: Monitor) -> Path:
    return monitor.folder.path / "choices"


def _arrays(choices: Choices) -> dict[str, np.ndarray[Any, Any]]:
    scores, limits = choices.scores, choices.limits
    arrays: dict[str, np.ndarray[Any, Any]] = {
        "current": choices.current,
        "scores.chance": scores.chance,
        "scores.rise": scores.rise,
        "scores.unsure": scores.unsure,
        "scores.unseen": scores.unseen,
        "limits.terms": limits.terms_of(len(choices.candidates)),
        "limits.required": limits.required,
        "limits.forbidden": limits.forbidden,
        "settings": choices.settings,
        "words": choices.words.astype(np.float32),
        "own": choices.own,
        "frequency": choices.frequency,
        "seen.pattern": choices.seen.pattern,
        "seen.keyword": choices.seen.keyword,
        "seen.posts": choices.seen.posts,
    }
    if choices.topics is not None:
        topics = choices.topics
        arrays |= {
            "topics.shares": topics.shares,
            "topics.of_candidate": topics.of_candidate,
            "topics.words": topics.words.astype(np.float32),
            "topics.own": topics.own,
            "topics.telling": topics.telling,
        }
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def _facts(choices: Choices) -> dict[str, Any]:
    limits = choices.limits
    return {
        "version": VERSION,
        "candidates": [[keyword.text, list(keyword.forms)] for keyword in choices.candidates],
        "exclusions": list(choices.exclusions.texts),
        "novelty": choices.novelty,
        "is_own": choices.is_own,
        "outside_known": choices.scores.outside_known,
        "sets": [columns.tolist() for columns in choices.sets],
        "vocabulary": list(choices.vocabulary),
        "threshold": choices.threshold,
        "findings": [asdict(finding) for finding in choices.findings],
        "limits": [limits.max_keywords, limits.max_posts, limits.max_terms],
        "length": choices.length.total_seconds(),
        "topics": None if choices.topics is None else list(choices.topics.vocabulary),
    }


def _choices(arrays: Mapping[str, np.ndarray[Any, Any]], facts: Mapping[str, Any]) -> Choices:
    candidates = KeywordSet(tuple(Keyword(text, tuple(forms)) for text, forms in facts["candidates"]))
    max_keywords, max_posts, max_terms = facts["limits"]
    topics = facts["topics"]
    seen = Seen(arrays["seen.pattern"], arrays["seen.keyword"], arrays["seen.posts"])
    return Choices(
        candidates=candidates,
        current=arrays["current"],
        novelty=facts["novelty"],
        scores=Scores(
            chance=arrays["scores.chance"],
            rise=arrays["scores.rise"],
            unsure=arrays["scores.unsure"],
            unseen=arrays["scores.unseen"],
            union=seen.union(len(candidates)),
            covers=covered_by(tuple(candidates)),
            current=arrays["current"],
            outside_known=facts["outside_known"],
        ),
        limits=Limits(
            max_keywords,
            max_posts,
            max_terms,
            arrays["limits.terms"],
            arrays["limits.required"],
            arrays["limits.forbidden"],
        ),
        settings=arrays["settings"],
        sets=tuple(np.array(columns, dtype=np.int64) for columns in facts["sets"]),
        words=arrays["words"].astype(np.float64),
        vocabulary=tuple(facts["vocabulary"]),
        own=arrays["own"],
        threshold=facts["threshold"],
        findings=tuple(map(_finding, facts["findings"])),
        frequency=arrays["frequency"],
        volume=seen.forecast(len(candidates)),
        seen=seen,
        length=timedelta(seconds=facts["length"]),
        topics=None if topics is None else _topics(arrays, topics),
        exclusions=KeywordSet.of(*facts.get("exclusions", ())),
        is_own=facts["is_own"],
    )


def _topics(arrays: Mapping[str, np.ndarray[Any, Any]], vocabulary: Sequence[str]) -> Topics:
    shares, of_candidate, words, own, telling = (
        arrays[f"topics.{name}"] for name in ("shares", "of_candidate", "words", "own", "telling")
    )
    return Topics(shares, of_candidate, words.astype(np.float64), tuple(vocabulary), own, telling)


def _finding(plain: Mapping[str, Any]) -> Finding:
    estimates = {
        name: Estimate(**plain[name]) if plain[name] else None for name in ("divergence", "high_frequency_distance")
    }
    words = {name: tuple(plain[name]) for name in ("gained", "lost")}
    return Finding(**(dict(plain) | estimates | words))
