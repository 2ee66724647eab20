"""Reasons: a code and numbers for each word, and the one place that puts them into plain English."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from klda.advice.assemble import Finding
from klda.advice.choose import Scores
from klda.advice.evidence import Evidence
from klda.advice.features import MEANING, NAMES, Features
from klda.advice.terms import Terms
from klda.corpus.common_words import COMMON_WORDS
from klda.corpus.stopwords import STOP_WORDS
from klda.selection.arrays import Ints
from klda.selection.budget import Limits

Fact = float | str

CLOSE_COMPANY = 0.5
"""Share of a word's posts beside the list from which on that is said first."""
CLOSE_MEANING = 2.0
"""Standard scores of meaning from which on a word is called close in meaning."""
RISING = 0.7
"""Log ratio from which on a word is called rising: twice its earlier share."""
THIN = 30
"""Posts with a keyword below which advice is said to be uncertain."""

SENTENCES = {
    "beside": "{beside:.0%} of its posts also mention your keywords",
    "meaning": "Close in meaning to {nearest}",
    "context": "The posts it adds read like yours",
    "rising": "Used {times:.0f} times as often as before",
    "likely": "Likely on the subject ({chance:.0%})",
    "kept": "On the subject ({chance:.0%} likely)",
    "kept_beside": "{beside:.0%} of its posts also mention your other keywords",
    "kept_doubt": "Kept because you chose it; only {chance:.0%} likely on the subject",
    "kept_alone": "Kept: it is the whole list",
    "kept_unknown": "Kept: without other posts nobody sees how noisy it is",
    "off": "Not about the subject: {beside:.0%} of its posts mention your other keywords",
    "no_posts": "No known post has it",
    "not_added": "Not added: only {chance:.0%} likely on the subject",
    "nothing_new": "Not added: your list already brings its posts",
    "no_room": "Not added: {room}",
    "dropped_room": "Dropped: {room}",
    "forbidden": "Not allowed by your settings",
}
"""What each code says; no full stop."""


def in_words(code: str, facts: Mapping[str, Fact]) -> str:
    """The sentence of a code.

    >>> in_words("beside", {"beside": 0.97})
    '97% of its posts also mention your keywords'
    """
    return SENTENCES[code].format(**facts)


def findings_of(evidence: Evidence, features: Features, scores: Scores) -> tuple[Finding, ...]:
    """The finding on every candidate, whatever list is chosen; `explained` says what a list makes of it."""
    current = evidence.current.tolist()
    new = scores.union.share(evidence.current).added_posts if len(current) else scores.union.expected
    found = []
    for column in range(len(evidence.candidates)):
        facts: dict[str, Fact] = {
            "chance": round(float(scores.chance[column]), 3),
            "beside": round(float(features.beside[column]), 3),
            "times": round(float(np.exp(np.nan_to_num(features.rise[column]))), 1),
            "nearest": evidence.candidates[current[int(features.nearest[column])]].text if current else "",
        }
        code = _code(facts, features, scores, column, column in current)
        found.append(
            Finding(
                text=in_words(code, facts),
                code=code,
                facts=facts,
                relevance=facts["chance"],  # type: ignore[arg-type]
                new_posts=None if column in current or not scores.outside_known else round(float(new[column]), 1),
                extends=None if column in current else str(facts["nearest"]) or None,
            )
        )
    return tuple(found)


def explained(findings: Sequence[Finding], scores: Scores, limits: Limits, chosen: Ints) -> dict[int, Finding]:
    """The findings with what a chosen list makes of them: dropped, not added, for want of what."""
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
        elif off[column]:
            code = "off" if dropped else "not_added"
        elif why is not None:
            code, facts = "dropped_room" if dropped else "no_room", {"room": why}
        else:
            code = "nothing_new"
        both = {**finding.facts, **facts}
        said[column] = replace(finding, code=code, facts=both, text=in_words(code, both))
    return said


def _code(facts: Mapping[str, Fact], features: Features, scores: Scores, column: int, listed: bool) -> str:
    """What speaks most for a word."""
    beside, chance = float(facts["beside"]), float(facts["chance"])
    if not features.posts[column]:
        return "no_posts"
    if listed:
        if len(scores.current) == 1:
            return "kept_alone"
        if chance < 0.5 and scores.outside_known:
            return "kept_doubt"
        if not scores.outside_known:
            return "kept_unknown"
        return "kept_beside" if beside >= CLOSE_COMPANY else "kept"
    if beside >= CLOSE_COMPANY:
        return "beside"
    meaning = features.values[column, NAMES.index(MEANING[1])]
    if meaning >= CLOSE_MEANING:
        return "meaning"
    if features.rise[column] >= RISING and chance >= 0.5:
        return "rising"
    context = features.values[column, NAMES.index("context")]
    return "context" if context > 0 else "likely"


def notes_on(evidence: Evidence, terms: Terms, chosen: Ints, outside_known: bool) -> list[str]:
    """What a reader should know about what was read: thin data, a common word, nothing to add."""
    notes = []
    n_carrying = len(evidence.history.carrying(evidence.keywords(evidence.current)))
    if n_carrying < THIN:
        notes.append(f"Only {n_carrying} posts carry a keyword, so this advice is uncertain.")
    if terms.n_windows < 2:
        notes.append("All posts lie in one window, so nothing is known about what is rising.")
    language = evidence.history.vocabulary.language
    everywhere = COMMON_WORDS | STOP_WORDS.get(language, frozenset())
    common = [k.text for k in evidence.keywords(evidence.current) if k.text.casefold() in everywhere]
    if common:
        notes.append(f"{', '.join(common)}: common everywhere; posts on any subject use it.")
    if not outside_known:
        notes.append(
            "Nearly all posts were collected with your keywords. How many posts a new word brings is not known: "
            "the numbers are a lower bound."
        )
    added = len(np.setdiff1d(chosen, evidence.current))
    if not added:
        notes.append(
            f"Nothing worth adding: none of {len(terms) - terms.n_current:,} words is likely enough on the subject."
        )
    return notes
