"""The paper's benchmark: nouns of posts that are expected to go viral, when most of their posts share one topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from klda.advice.assemble import assemble
from klda.advice.evidence import Evidence
from klda.advice.explanation import Finding
from klda.advice.proposal import Proposal
from klda.advice.situation import Situation
from klda.advice.word_counts import word_counts
from klda.baselines.nouns import nouns_by
from klda.baselines.places import Tagger
from klda.baselines.ranked import columns_by_stem, fitting
from klda.baselines.virality import Virality
from klda.text.corpus import Corpus
from klda.text.matching import Matcher
from klda.text.shards import load_corpus
from klda.types import Keyword, KeywordSet, Progress, silent

NOTHING_RECOMMENDED = "no noun of the posts expected to go viral stays within one topic: the list stays"
MOST_LEARNT = 16
"""Classifiers that are kept; a case of ten weeks needs eleven."""


@dataclass
class Viral:
    """The most frequent nouns of posts predicted to go viral that stay within one topic.

    `training` is another corpus (or the folder of one) to learn virality from, for a history without counts of
    reposts; only features that both have are used then.
    """

    training: Corpus | Path | str | None = None
    n_nouns: int = 15
    topic_share: float = 0.6
    """A noun stays when more than this share of its posts belongs to one topic."""
    n_topics: int = 5
    tagger: Tagger = "pattern"

    name = "viral"

    def propose(
        self,
        situation: Situation,
        *,
        generator: np.random.Generator,
        progress: Progress = silent,
    ) -> Proposal:
        """The nouns in place of the current list, as in the paper; the current list when there are none."""
        evidence = Evidence.of(situation)
        found = self.recommended(evidence.history, situation.current, generator=generator)
        progress("viral", 1, 1)
        return self.proposal(situation, found)

    def proposal(self, situation: Situation, found: Sequence[Keyword]) -> Proposal:
        """The proposal of these recommended nouns."""
        evidence = Evidence.of(situation)
        ranked, missing = columns_by_stem(evidence, found)
        notes = [] if found else [NOTHING_RECOMMENDED]
        if missing:
            words = ", ".join(keyword.text for keyword in missing)
            notes.append(f"`viral` recommends {words} too, which {'is' if len(missing) == 1 else 'are'} no candidate")
        chosen = fitting(evidence, situation.budget, ranked if len(ranked) else evidence.current)
        picked = f"frequent in posts expected to go viral, over {self.topic_share:.0%} of its posts in one topic"
        findings = {column: Finding(picked) for column in ranked.tolist()}
        return assemble(self.name, evidence, chosen=chosen, ranked=ranked, findings=findings, notes=notes)

    def recommended(self, history: Corpus, current: KeywordSet, *, generator: np.random.Generator) -> list[Keyword]:
        """The nouns that the last window's posts with a current keyword recommend, most frequent first."""
        seed = int(generator.integers(2**31))
        last = history.window(-1)
        last = last.take(last.carrying(current))
        if not len(last):  # the list caught nothing: there is no post to predict anything of
            return []
        viral = self._virality(history).predict(last.posts, last.documents.post)
        spreading = last.take(np.flatnonzero(viral))
        counts = word_counts(spreading)
        found = nouns_by(counts, spreading, self.n_nouns, self.tagger)
        if not found:
            return []
        from klda.model.lda import fit_lda  # brings torch

        topics = fit_lda(last.documents, len(last.vocabulary), self.n_topics, seed=seed)
        topic = topics.infer(last.documents).argmax(axis=1)  # (D,)
        carried = Matcher(KeywordSet(tuple(found))).match_many(last.posts.texts(last.documents.post))
        shares = [_largest_share(topic[carried.rows[carried.values == column]]) for column in range(len(found))]
        return [noun for noun, share in zip(found, shares, strict=True) if share > self.topic_share]

    def _virality(self, history: Corpus) -> Virality:
        decision = history.windows[-1].end
        if self.training is not None:
            given = self.training
            return learnt(given, decision) if isinstance(given, Corpus) else _learn(load_corpus(given), decision)
        rows = np.concatenate([history.documents.post, history.apart.post])
        return Virality.learn(history.posts, rows, decision)


@lru_cache(maxsize=MOST_LEARNT)
def learnt(training: Corpus, decision: datetime) -> Virality:
    """The classifier that is learnt from a corpus; kept, because a replay needs the same one for every subject."""
    return _learn(training, decision)


def _learn(training: Corpus, decision: datetime) -> Virality:
    return Virality.learn(training.posts, np.arange(len(training.posts)), decision)


def _largest_share(topic: NDArray[np.int64]) -> float:
    """The share of the most common topic among posts."""
    return float(np.bincount(topic).max() / len(topic)) if len(topic) else 0.0
