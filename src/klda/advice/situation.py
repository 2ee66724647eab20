"""What is known when somebody asks for advice."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from klda.text.corpus import Corpus
from klda.types import Budget, KeywordSet


@dataclass(frozen=True)
class Situation:
    """What is known when somebody asks for advice, and what they ask for."""

    history: Corpus
    """Posts so far: only the list's, a sample beside them, or everything. Posts without a keyword are in `apart`."""
    current: KeywordSet
    budget: Budget = field(default_factory=Budget)
    founding: KeywordSet | None = None
    """The keywords that the subject was first asked for with; the first window's unless given."""
    subject: str | None = None
    """The subject in words, where somebody said it."""
    candidates: KeywordSet = KeywordSet()
    """The only words that may be added. Without any, a policy that finds candidates looks at every recent word."""
    asked: KeywordSet = KeywordSet()
    """Words that somebody asks about: they are weighed, however rare or unlikely."""
    novelty: float = 0.5
    top: int = 2
    """Words that are named for each current keyword."""
    sample_share: float = 1.0
    """The share of posts without a current keyword that is known, where they are a sample of the stream."""
    use_vectors: bool = True
    """Whether what words mean counts, where vectors are known."""

    @property
    def without_exclusions(self) -> Situation:
        """The same question about the posts that the list's exclusions let through, without the exclusions."""
        return replace(
            self,
            history=self.history.without_excluded(self.current.exclusions),
            current=self.current.included,
            founding=None if self.founding is None else self.founding.included,
            budget=replace(self.budget, required=self.budget.required.included),
            candidates=self.candidates.included,
            asked=self.asked.included,
        )

    def asking(self, words: KeywordSet) -> Situation:
        """The same, with further words to be weighed; exclusions among them leave posts out."""
        history = self.history.without_excluded(words.exclusions)
        return replace(self, history=history, asked=self.asked | words.included)
