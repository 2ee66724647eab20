"""The finding on each word: a code and numbers. `reasons` puts them into words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from klda.advice.budget import Limits
from klda.advice.choose import Scores
from klda.advice.constants import CLOSE_COMPANY, CLOSE_MEANING, LEAST_RELEVANCE, RISING, THIN_POSTS
from klda.advice.evidence import Evidence
from klda.advice.explanation import Finding
from klda.advice.features import MEANING, NAMES, Features
from klda.advice.reasons import Fact, in_words, note
from klda.advice.terms import Terms
from klda.arrays import Ints
from klda.text.stopwords import COMMON_WORDS, STOP_WORDS


def findings_of(evidence: Evidence, features: Features, scores: Scores) -> tuple[Finding, ...]:
    """The finding on every candidate, before a list is chosen; `explained` adds what the chosen list changes."""
    current = evidence.current.tolist()
    new = scores.union.added(evidence.current)
    # no post was seen, but there may be some
    unseen = (new == 0) & ((not scores.outside_known) | (scores.new(new) > 0))
    found = []
    for column in range(len(evidence.candidates)):
        facts: dict[str, Fact] = {
            "chance": round(float(scores.chance[column]), 3),
            "beside": round(float(features.beside[column]), 3),
            "times": round(float(np.exp(np.nan_to_num(features.rise[column]))), 1),
            "nearest": evidence.candidates[current[int(features.nearest[column])]].text if current else "",
        }
        code = _code(features, scores, column, column in current)
        found.append(
            Finding(
                text=in_words(code, facts),
                code=code,
                facts=facts,
                relevance=float(facts["chance"]),
                new_posts=None if column in current or unseen[column] else round(float(new[column]), 1),
                extends=None if column in current else str(facts["nearest"]) or None,
            )
        )
    return tuple(found)


def explained(findings: Sequence[Finding], scores: Scores, limits: Limits, chosen: Ints) -> dict[int, Finding]:
    """The findings for a chosen list: which words it drops or does not add, and why."""
    said = dict(enumerate(findings))
    off = scores.below()
    for column, finding in enumerate(findings):
        if column in chosen:
            continue
        together = np.append(chosen, column)
        why = limits.over(together, scores.union.posts(together), len(scores.chance))
        dropped = column in scores.current
        facts: dict[str, Fact] = {}
        if column in limits.forbidden:
            code = "forbidden"
        elif not scores.union.expected[column]:
            code = "no_posts"
        elif off[column]:
            code = "off" if dropped else "not_added" if scores.chance[column] < LEAST_RELEVANCE else "too_loud"
        elif why is not None:
            code, facts = "dropped_room" if dropped else "no_room", {"room": why}
        else:
            code = "nothing_new"
        both = {**finding.facts, **facts}
        said[column] = replace(finding, code=code, facts=both, text=in_words(code, both))
    return said


def _code(features: Features, scores: Scores, column: int, listed: bool) -> str:
    """The code of the best reason for a word."""
    chance, close = scores.chance[column], features.beside[column] >= CLOSE_COMPANY
    if listed:
        if not scores.union.expected[column]:
            return "kept_silent"
        if len(scores.current) == 1:
            return "kept_alone"
        if not scores.outside_known:
            return "kept_unknown"
        if column in scores.unsure:
            return "kept_unsure"
        if chance < LEAST_RELEVANCE:
            return "kept_doubt"
        return "kept_beside" if close else "kept"
    if not features.posts[column]:
        return "no_posts"
    if close and scores.outside_known:  # without other posts every word stands beside the list
        return "beside"
    if features.values[column, NAMES.index(MEANING[1])] >= CLOSE_MEANING:
        return "meaning"
    if features.rise[column] >= RISING and chance >= LEAST_RELEVANCE:
        return "rising"
    return "context" if features.values[column, NAMES.index("company")] > 0 else "likely"


def notes_on(evidence: Evidence, terms: Terms, scores: Scores, limits: Limits, chosen: Ints) -> list[str]:
    """Notes for the reader: why nothing is added, thin data, common words, lower bounds."""
    notes = []
    added = np.setdiff1d(chosen, evidence.current)
    current = evidence.keywords(evidence.current)
    if not len(added):
        notes.append(_why_nothing(evidence, terms, scores, limits, chosen))
    n_carrying = len(evidence.history.carrying(current))
    if n_carrying < THIN_POSTS:
        notes.append(note("thin", n=n_carrying))
    if not terms.n_earlier:
        notes.append(note("one_window"))
    common = [word for word in current.texts if word.casefold() in COMMON_WORDS | _stop_words(evidence)]
    if common:
        notes.append(note("common", words=", ".join(common)))
    if not scores.outside_known:
        n_outside = int(np.count_nonzero(~terms.collected))
        notes.append(note("lower_bound", n=n_outside) if n_outside else note("list_only"))
    return notes


def only_common(evidence: Evidence) -> bool:
    """Whether every current keyword is a function word, *the* say, that tells no subject."""
    return {keyword.text.casefold() for keyword in evidence.keywords(evidence.current)} <= _stop_words(evidence)


def _why_nothing(evidence: Evidence, terms: Terms, scores: Scores, limits: Limits, chosen: Ints) -> str:
    if only_common(evidence):
        return note("only_common")
    free = np.ones(len(scores.chance), dtype=np.bool_)
    free[np.concatenate([evidence.current, limits.forbidden])] = False
    n_others = len(terms) - terms.n_current
    if not n_others:
        return note("nothing_known")
    likely = np.flatnonzero(free & ~scores.below() & (scores.union.expected > 0))
    if not len(likely):
        return note("nothing_likely", n=n_others)
    brings = likely[scores.new(scores.union.added(chosen))[likely] > 0] if scores.outside_known else likely
    if not len(brings):
        return note("nothing_new")
    first = brings[np.argsort(-scores.chance[brings], kind="stable")][:3]
    return note("no_room", words=", ".join(evidence.keywords(first).texts))


def _stop_words(evidence: Evidence) -> frozenset[str]:
    return STOP_WORDS.get(evidence.history.vocabulary.language, frozenset())
