"""What the policies share that know each candidate's words: Algorithm 2's lists, and a set chosen under the budget."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from klda.corpus.common_words import COMMON_WORDS
from klda.corpus.corpus import Corpus
from klda.policies.assemble import Finding, assemble
from klda.policies.choices import MOST_WORDS, Choices, Seen
from klda.policies.evidence import Evidence
from klda.policies.findings import explain, roles
from klda.policies.proposal import FrontierPoint, Proposal
from klda.policies.subject import Subject
from klda.policies.uncertainty import measured_smoothing
from klda.policies.word_counts import keyword_tokens
from klda.selection.algorithm2 import Extensions, extend, extend_scored
from klda.selection.anchor import held_back
from klda.selection.arrays import Bools, Floats, Ints
from klda.selection.budget import Limits, check_some
from klda.selection.frontier import Frontier, trace_frontier
from klda.selection.high_frequency import high_frequency_threshold
from klda.selection.sets import SetProblem, set_problem
from klda.selection.word_distribution import mixture
from klda.types import Budget, KeywordSet, Progress, silent

POST_PRICE = 0.1
"""What as many posts as today's list brings cost, in shares of retention or new ground."""
OFF_TOPIC_PRICE = 0.1
"""What they cost on top when nothing in them speaks for the subject."""

KEPT_POSTS = 0.1
"""What they are worth beyond their words when a current keyword brings them: people know its posts, and chose it."""
FOUNDING = 0.05
"""What each keyword first asked for is worth by itself. It is the subject: without this, lists on real posts ran away
into common words within weeks. It goes when the budget has no room, or when it is forbidden."""
COMMON = 0.25
"""A candidate is common everywhere when at least so much of its use is outside the subject (½ would be alike). On
simulated subjects, with a 1 % sample of the rest, ¼ kept out chatter and let the words of a breaking story in."""


class Verdict(NamedTuple):
    """What a policy thinks of candidates beyond the words that they bring."""

    held: dict[int, str]
    """Why some may not be on the list, by column."""
    worth: Floats
    """What each is worth by itself, in shares of retention or new ground. # (Q,)"""
    speaks: dict[int, str]
    """What speaks for some that are not on the list, by column."""


@dataclass
class ScoredPolicy:
    """Proposes from a word distribution for every candidate; what differs between policies is how it is estimated.

    Each current keyword gets the list of candidates that Algorithm 2 finds for it, `top` of them. The next list is
    chosen as a whole: it should retain the subject's words, open new ground as far as `novelty` (0 to 1) asks for it,
    and cost little. What it should retain is a mixture of the last window and the subject as first asked for, in the
    proportion `anchor`; candidates further than `max_distance` from the latter, or common everywhere, are held back.
    """

    top: int = 2
    divergence: str = "kl"
    novelty: float = 0.5
    anchor: float = 0.5
    max_distance: float = 0.75
    founding: KeywordSet | None = None
    """The keywords first asked for; those of the first window unless given."""

    name = ""
    scored_as_measured = True
    """Whether scores are those expected under next window's sample size, rather than the estimates' own."""

    @abstractmethod
    def estimate(
        self, evidence: Evidence, background: Floats, *, generator: np.random.Generator, progress: Progress
    ) -> Floats:
        """The words that each candidate is expected to bring in the next window. # (Q, V)"""

    def propose(
        self,
        history: Corpus,
        current: KeywordSet,
        candidates: KeywordSet,
        budget: Budget,
        *,
        generator: np.random.Generator,
        progress: Progress = silent,
    ) -> Proposal:
        """The best list within the budget, with Algorithm 2's lists for each current keyword beside it."""
        evidence = Evidence.of(history, current, candidates, budget)
        subject = Subject.of(evidence, self.founding)
        words = self.estimate(evidence, subject.background, generator=generator, progress=progress)  # (Q, V)
        extensions = self.extensions(evidence, words, generator)

        distances = subject.distances(words)
        held, worth, speaks = self.verdict(evidence, subject, distances)
        problem = self._problem(evidence, subject, words, np.array(list(held), dtype=np.int64), worth)
        limits = evidence.limits(budget)
        limits = replace(limits, forbidden=np.union1d(limits.forbidden, list(held)).astype(np.int64))
        curve = trace_frontier(problem, limits, current=evidence.current)
        chosen = curve.at(self.novelty).keywords
        check_some(chosen)
        said = explain(evidence, words, extensions, distances, divergence=self.divergence, generator=generator)
        said |= {column: said.get(column, Finding()).after(why) for column, why in speaks.items()}
        listed = tuple(
            c for c in dict.fromkeys([*evidence.current.tolist(), *_listed(extensions, self.top)]) if c in held
        )
        # candidates that no measure can compare with the list are told by what they hold, as those on it are
        alone = [column for column in chosen.tolist() if column not in said]
        role = roles([*evidence.current.tolist(), *alone], distances, problem, chosen, limits)
        brought = mixture(words[chosen], np.maximum(evidence.volume.mean[chosen], 0.5))
        proposal = assemble(
            self.name,
            evidence,
            chosen=chosen,
            ranked=ranking(extensions),
            per_keyword=extension_lists(evidence, extensions, self.top),
            findings=said | role,
            held={column: held[column] for column in listed},
            distance_from_subject=round(float(subject.distances(brought[None, :])[0]), 3),
            frontier=_points(curve, evidence),
            notes=[*_notes(extensions, subject), *_no_room(evidence, problem, limits)],
        )
        kept = _most_used(words)
        vocabulary = evidence.history.vocabulary
        choices = Choices(
            candidates=evidence.candidates,
            current=evidence.current,
            novelty=self.novelty,
            problem=problem,
            limits=limits,
            settings=curve.settings,
            sets=tuple(found.keywords for found in curve.sets),
            words=words[:, kept],
            vocabulary=tuple(vocabulary.display(int(word)) if word else "" for word in kept),
            own=_own_words(evidence)[:, kept],
            threshold=high_frequency_threshold(words),
            findings=tuple(said.get(column, Finding()) for column in range(len(evidence.candidates))),
            distances=distances,
            held=held,
            listed=listed,
            frequency=evidence.frequency,
            volume=evidence.volume,
            seen=Seen.of(evidence.history),
            length=evidence.length,
        )
        return replace(proposal, together=extensions.chance is not None, choices=choices)

    def extensions(self, evidence: Evidence, words: Floats, generator: np.random.Generator) -> Extensions:
        """The candidates that qualify to extend each current keyword, the best first."""
        if not self.scored_as_measured:
            return extend(words, evidence.frequency, evidence.current, top=None, divergence=self.divergence)
        prior, strength = measured_smoothing(words.shape[1])
        found, _ = extend_scored(
            words,
            evidence.frequency,
            evidence.current,
            keyword_tokens(evidence.last),
            prior=prior,
            strength=strength,
            generator=generator,
            top=None,
            divergence=self.divergence,
        )
        return found

    def verdict(self, evidence: Evidence, subject: Subject, distances: Floats) -> Verdict:
        """Candidates that are too far from the subject, or common everywhere, may not be added."""
        free = np.concatenate([subject.protected, evidence.current, evidence.required])
        stopped = held_back(distances, self.max_distance, common=subject.common, common_limit=COMMON, protected=free)
        known = {
            column: "common everywhere: a word that posts on any subject use"
            for column, keyword in enumerate(evidence.candidates)
            if keyword.text.casefold() in COMMON_WORDS and column not in free
        }
        held = known | {found.candidate: found.reason for found in stopped}
        return Verdict(held, np.zeros(len(evidence.candidates)), {})

    def _problem(self, evidence: Evidence, subject: Subject, words: Floats, held: Ints, worth: Floats) -> SetProblem:
        """The choice of a set: what to retain, and what new ground the candidates near the subject open."""
        today = max(evidence.union.posts(evidence.current), 1.0)
        rates, relevance = evidence.volume.mean / today, subject.relevance(words, self.anchor)  # (Q,), (Q,)
        near = rates * relevance
        near[held] = 0.0
        price = OFF_TOPIC_PRICE * rates * (1 - relevance) - worth
        price[evidence.current] -= KEPT_POSTS * rates[evidence.current]
        first = np.intersect1d(subject.protected, evidence.current)
        price[first] -= FOUNDING + POST_PRICE * rates[first]
        return set_problem(
            words,
            evidence.union,
            subject.target(self.anchor),
            subject.new_ground(words, near, self.anchor),
            target_posts=today,
            price=price,
            cost_weight=POST_PRICE,
        )


def extension_lists(evidence: Evidence, extensions: Extensions, top: int) -> dict[str, tuple[str, ...]]:
    """For each current keyword the `top` candidates that extend it."""
    current = evidence.keywords(extensions.current)
    return {k.text: evidence.keywords(row[:top]).texts for k, row in zip(current, extensions.ranked, strict=True)}


def ranking(extensions: Extensions) -> Ints:
    """All candidates: first those that extend a current keyword, by their best place in a list, then by divergence.

    Where the chance to extend the list is known, by that alone.
    """
    nearest = extensions.divergence.min(axis=0)  # (Q,)
    if extensions.chance is not None:
        return np.lexsort((nearest, -extensions.chance))
    place = np.full(len(nearest), np.inf)
    for row in extensions.ranked:
        place[row] = np.minimum(place[row], np.arange(len(row)))
    return np.lexsort((nearest, place))


def _most_used(words: Floats) -> Ints:
    """The words that matter to some candidate, at most so many, in the order of the vocabulary."""
    return np.sort(np.argsort(-words.max(axis=0), kind="stable")[:MOST_WORDS])


def _own_words(evidence: Evidence) -> Bools:
    """Which words are a candidate's own. # (Q, V)"""
    own = evidence.history.keyword_words
    found = np.zeros((len(evidence.candidates), len(evidence.history.vocabulary)), dtype=np.bool_)
    found[own.rows, own.values] = True
    return found


def _listed(extensions: Extensions, top: int) -> list[int]:
    """The candidates in the lists of current keywords, each once."""
    return list(dict.fromkeys(int(column) for row in extensions.ranked for column in row[:top]))


def _notes(extensions: Extensions, subject: Subject) -> list[str]:
    notes = []
    if extensions.fell_back:
        notes.append("no candidate qualifies to extend a current keyword")
    if subject.outside is None:
        notes.append(
            "nearly all posts were collected with the current list, so what is common elsewhere is not known, and "
            "the posts that new keywords bring are a guess: look at an unfiltered sample"
        )
    return notes


def _no_room(evidence: Evidence, problem: SetProblem, limits: Limits) -> list[str]:
    """A note when the budget alone does not let stay what may stay of the list."""
    wanted = np.setdiff1d(evidence.current, limits.forbidden)
    over = limits.over(wanted, problem.score(wanted).posts, len(problem))
    if over is None:
        return []
    return [f"what could stay of the list does not fit the budget ({over}): allow more if all of it should"]


def _points(curve: Frontier, evidence: Evidence) -> list[FrontierPoint]:
    return [
        FrontierPoint(
            novelty=round(float(setting), 3),
            retention=round(chosen.score.retention, 4),
            new_ground=round(chosen.score.novelty, 4),
            expected_posts=round(chosen.score.posts, 1),
            keywords=evidence.keywords(chosen.keywords).texts,
        )
        for setting, chosen in zip(curve.settings, curve.sets, strict=True)
    ]
