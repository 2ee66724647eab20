"""What ranking policies share: they score every candidate, and the best fill the next list within the budget."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from klda.advice.assemble import assemble
from klda.advice.budget import check_some
from klda.advice.evidence import Evidence
from klda.advice.explanation import Finding
from klda.advice.proposal import Proposal
from klda.advice.situation import Situation
from klda.arrays import Floats, Ints
from klda.errors import DataError
from klda.text.corpus import Corpus
from klda.text.languages import stem_words
from klda.text.tokens import tokenise
from klda.types import Budget, Keyword, Progress, silent


@dataclass(frozen=True)
class Ranking:
    """A score for every candidate, the higher the better, and why in words."""

    scores: Floats  # (Q,)
    reasons: Sequence[str]  # Q of them
    affinity: Floats | None = None  # (n, Q)
    """How well each candidate goes with each current keyword, where a policy can tell."""


@dataclass
class RankingPolicy:
    """Proposes the best candidates by a score. Policies differ in the score.

    `top` is how many each current keyword contributes to the list when the budget does not say.
    """

    top: int = 2

    name = ""

    @abstractmethod
    def rank(self, evidence: Evidence, *, generator: np.random.Generator, progress: Progress) -> Ranking:
        """The score of every candidate."""

    def propose(
        self,
        situation: Situation,
        *,
        generator: np.random.Generator,
        progress: Progress = silent,
    ) -> Proposal:
        """The candidates of the highest scores in place of the current list, as many as the budget allows."""
        evidence = Evidence.of(situation)
        ranking = self.rank(evidence, generator=generator, progress=progress)
        return proposal_of(self.name, evidence, situation.budget, ranking, self.top)


def proposal_of(
    name: str, evidence: Evidence, budget: Budget, ranking: Ranking, top: int, notes: Sequence[str] = ()
) -> Proposal:
    """The proposal that a ranking leads to.

    Each current keyword gets the `top` candidates that go with it best, itself aside, or the best of all where the
    ranking is the same for every keyword.
    """
    order = best_first(ranking.scores, evidence.frequency)
    lists = {}
    for row, column in enumerate(evidence.current.tolist()):
        own = order if ranking.affinity is None else best_first(ranking.affinity[row], ranking.scores)
        lists[evidence.candidates[column].text] = evidence.keywords(own[own != column][:top]).texts
    return assemble(
        name,
        evidence,
        chosen=fitting(evidence, budget, order, budget.max_keywords or top * len(evidence.current)),
        ranked=order,
        per_keyword=lists,
        findings=_findings(evidence, ranking),
        notes=notes,
    )


def best_first(scores: Floats, ties: Floats) -> Ints:
    """Columns by falling score; where scores are equal, by falling `ties`.

    >>> best_first(np.array([1.0, 3.0, 1.0]), ties=np.array([0.0, 0.0, 1.0]))
    array([1, 2, 0])
    """
    return np.lexsort((-ties, -scores))


def posts_of_list(evidence: Evidence) -> Corpus:
    """The posts of the last window that carry a current keyword."""
    found = evidence.last.take(evidence.last.carrying(evidence.keywords(evidence.current)))
    if not len(found):
        names = ", ".join(evidence.keywords(evidence.current).texts)
        raise DataError(
            f"no post from {evidence.history.windows[-1]} on carries any of the keywords {names}; "
            "give only the posts before"
        )
    return found


def _findings(evidence: Evidence, ranking: Ranking) -> dict[int, Finding]:
    """The reason for each candidate, with the current keyword that it goes with best, if that is known."""
    findings = {}
    for column, reason in enumerate(ranking.reasons):
        extends = None
        if ranking.affinity is not None and column not in evidence.current:
            extends = evidence.candidates[int(evidence.current[ranking.affinity[:, column].argmax()])].text
        findings[column] = Finding(reason, extends=extends)
    return findings


def stems_of(keyword: Keyword, language: str) -> tuple[str, ...]:
    """The stems of a keyword's words, by which candidates are told apart: `#jobs` is matched by `job` too.

    >>> stems_of(Keyword("#jobs"), "en") == stems_of(Keyword("job"), "en")
    True
    """
    return tuple(stem_words([word.lstrip("#") or word for word in tokenise(keyword.text)], language))


def columns_by_stem(evidence: Evidence, found: Iterable[Keyword]) -> tuple[Ints, tuple[Keyword, ...]]:
    """The candidates of the same stems as these keywords, each once and in their order; and the keywords without one.

    A candidate may stand for its stem in another form: a typed *drugs* for the noun *drug*.
    """
    language = evidence.history.vocabulary.language
    column: dict[tuple[str, ...], int] = {}
    for at, candidate in enumerate(evidence.candidates):
        column.setdefault(stems_of(candidate, language), at)
    places: dict[int, None] = {}
    missing = []
    for keyword in found:
        same = keyword in evidence.candidates
        at = evidence.candidates.index(keyword) if same else column.get(stems_of(keyword, language), -1)
        if at < 0:
            missing.append(keyword)
        else:
            places[at] = None
    return np.array(list(places), dtype=np.int64), tuple(missing)


def fitting(evidence: Evidence, budget: Budget, order: Ints, size: int | None = None) -> Ints:
    """Required keywords, then candidates in this order, each that still fits the budget, up to `size` in all."""
    limits, union, n = evidence.limits(budget), evidence.union, len(evidence.candidates)
    chosen = np.unique(limits.required)
    limits.check_required(union.posts(chosen), n)
    for column in order[~np.isin(order, chosen)].tolist():
        if len(chosen) >= min(size or n, budget.max_keywords or n):
            break
        longer = np.append(chosen, column)
        if limits.excess(longer, union.posts(longer), n) is None:
            chosen = longer
    check_some(chosen)
    return chosen


def left_out(evidence: Evidence, budget: Budget, chosen: Ints) -> dict[int, Finding]:
    """The finding on each current keyword that the budget keeps off a list."""
    limits, n = evidence.limits(budget), len(evidence.candidates)
    found = {}
    for column in np.setdiff1d(evidence.current, chosen).tolist():
        together = np.append(chosen, column)
        why = limits.why_not(column, together, evidence.union.posts(together), n)
        if why is not None:
            found[column] = Finding(why)
    return found
