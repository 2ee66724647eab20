"""Labelled open loop: all earlier posts are known, and the labels of the test week judge the next list.

The current list is the subject's first one. Each policy proposes the next, by the call and the defaults of
`klda recommend`, with room for as many keywords as there are now and ten more. Nothing is capped.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from time import perf_counter
from typing import Any

import numpy as np

from klda.advice.advise import with_room
from klda.advice.policy import Policy
from klda.arrays import Ints
from klda.baselines.candidates import assemble_candidates
from klda.baselines.viral import Viral
from klda.errors import DataError
from klda.evaluation.archive import Archive
from klda.evaluation.asking import ask_next
from klda.evaluation.closed_loop import STATIC, against_labels
from klda.evaluation.references import LAST_WEEK, NEXT_WEEK, ORACLES, RETRIEVAL
from klda.evaluation.retrieval import retrieved
from klda.evaluation.subjects import Subject
from klda.text.corpus import Corpus
from klda.types import Budget, KeywordSet

REFERENCES = (STATIC, *ORACLES)
"""What needs no policy: the current list, and what is chosen by labels."""


@dataclass(frozen=True)
class LabelledCase:
    """One subject and one test week."""

    archive: Archive
    subject: Subject
    test_window: int
    weeks: int
    training: str | None = None
    """Folder of a corpus with repost counts, for `viral`."""

    @property
    def budget(self) -> Budget:
        """Room for the current list and ten more, the same for every policy."""
        return with_room(Budget(), len(self.subject.keywords))

    @cached_property
    def known(self) -> Corpus:
        """All posts of the weeks before the test week, matched against the current list."""
        current = self.subject.keywords
        posts = everything(self.archive, self.test_window - self.weeks, self.test_window).with_candidates(current)
        return posts.with_history([current] * posts.n_windows)

    @cached_property
    def known_to_others(self) -> Corpus:
        """The same, matched against candidates: for policies that find none by themselves, the same for all."""
        viral = Viral(training=self.training) if self.training else None
        generator = np.random.default_rng(self.test_window)
        found = assemble_candidates(self.known, self.subject.keywords, viral=viral, generator=generator)
        return self.known.with_candidates(found.keywords)

    def next_list(self, policy: Policy | str, generator: np.random.Generator) -> KeywordSet:
        """The list that follows the current one."""
        if isinstance(policy, str):
            return self._reference(policy, generator)
        known = self.known if getattr(policy, "finds_candidates", False) else self.known_to_others
        current, candidates = self.subject.keywords, known.candidates
        proposal = ask_next(policy, known, current, self.budget, candidates=candidates, generator=generator)
        return proposal.next_keywords

    def measured(self, keywords: KeywordSet) -> dict[str, Any]:
        """The list, its posts in the test week, and recall, precision and F1 by the subject's labels."""
        return self._scores(keywords, self.archive.collect(self.test_window, keywords))

    def measured_retrieval(self) -> dict[str, Any]:
        """The same of posts that no list brings: those of the test week that mean what the subject's posts mean."""
        return self._scores(KeywordSet(), retrieved(self.archive, self.test_window, self.subject, self._room))

    def _scores(self, keywords: KeywordSet, caught: Ints) -> dict[str, Any]:
        found = against_labels(self.archive, self.subject.labels, self.test_window, caught)
        return {"keywords": list(keywords.texts), "volume": len(caught)} | found

    @property
    def _room(self) -> int:
        return self.budget.max_keywords or len(self.subject.keywords)

    def _reference(self, name: str, generator: np.random.Generator) -> KeywordSet:
        if name == STATIC:
            return self.subject.keywords
        choices, window = (NEXT_WEEK, self.test_window) if name in NEXT_WEEK else (LAST_WEEK, self.test_window - 1)
        return choices[name](self.archive, window, self.subject, self._room, generator) or self.subject.keywords


@lru_cache(maxsize=1)
def everything(archive: Archive, first: int, end: int) -> Corpus:
    """All posts of some windows as `klda recommend` reads them; cases of one week follow each other."""
    positions = np.concatenate([archive.positions(window) for window in range(first, end)])
    lists = [archive.corpus.candidates] * (end - first)
    return archive.read(positions, lists, first_window=first)


def answered(case: LabelledCase, policy: Policy | str, generator: np.random.Generator) -> dict[str, Any]:
    """The scores of the next list. If a policy cannot answer, the current list is scored, with the error."""
    start = perf_counter()
    try:
        found = case.measured_retrieval() if policy == RETRIEVAL else case.measured(case.next_list(policy, generator))
    except DataError as error:
        return case.measured(case.subject.keywords) | {"error": str(error)}
    return found | {"seconds": round(perf_counter() - start, 2)}
