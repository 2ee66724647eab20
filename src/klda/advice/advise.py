"""`advise`: from what is known to a proposal. Every command, monitor, page and replay asks here.

The way: situation → candidates (`terms`) → `features` → `relevance` → `choose` → `reasons`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from klda.advice.assemble import assemble
from klda.advice.budget import check_some
from klda.advice.choices import Choices, frontier_of, outlook_words, with_words
from klda.advice.choose import DIAL, Scores, covered_by, worth
from klda.advice.constants import FEWEST_JUDGES, LEAST_KEPT, ROOM, SHORTLIST, THIN_POSTS
from klda.advice.evidence import Evidence
from klda.advice.features import NAMES, Features, features_of
from klda.advice.prediction import (
    ITERATIONS,
    N_TOPICS,
    N_WORDS,
    Fit,
    expected,
    predicted_words,
    recent_posts,
    train_model,
)
from klda.advice.proposal import Proposal
from klda.advice.reasons import note
from klda.advice.relevance import relevance, weighed
from klda.advice.situation import Situation
from klda.advice.spelling import no_post_has
from klda.advice.terms import Terms, terms_of
from klda.advice.topics import Topics, topics_of
from klda.advice.verdicts import explained, findings_of, notes_on, only_common
from klda.advice.volume import patterns
from klda.arrays import Bools, Floats, Ints
from klda.errors import DataError, TrainingError
from klda.text.corpus import Corpus
from klda.text.stopwords import STOP_WORDS
from klda.types import Budget, KeywordSet, Progress, silent

if TYPE_CHECKING:
    from klda.model.klda import KLDA


@dataclass
class KLDAPolicy:
    """Adds words that are likely on the subject and bring new posts; drops keywords that are not.

    The chance of a word comes from counts, from the posts that it would newly bring, and from what it means. `subject`
    says in words what the list is about. `founding` are the keywords first asked for. `novelty` runs from 0 (close
    relatives of the list) to 1 (rising and new words). `top` words are named for each keyword. `use_vectors` lets the
    meaning of words count. `sample_share` of the posts without a keyword is known. With `predict`, a topic model of
    `n_topics` that is trained for `iterations` on `n_words` says what words the list will bring.
    """

    top: int = 2
    novelty: float = 0.5
    founding: KeywordSet | None = None
    subject: str | None = None
    use_vectors: bool = True
    sample_share: float = 1.0
    predict: bool = False
    n_topics: int = N_TOPICS
    iterations: int = ITERATIONS
    n_words: int = N_WORDS
    model: KLDA | None = None
    """A trained model, which spares the training."""
    fit: Fit | None = None
    """Trains a model elsewhere, on Ray for example; here if left out."""

    name = "klda"
    finds_candidates = True
    """It looks at every word by itself; candidates that are given narrow the choice."""

    def propose(
        self,
        situation: Situation,
        *,
        generator: np.random.Generator,
        progress: Progress = silent,
    ) -> Proposal:
        """The list that brings most on the subject within the budget."""
        situation = replace(
            situation,
            candidates=situation.candidates - situation.current,
            founding=self.founding,
            subject=self.subject,
            novelty=self.novelty,
            top=self.top,
            sample_share=self.sample_share,
            use_vectors=self.use_vectors,
        )
        predict = partial(self.predicted, generator=generator, progress=progress)
        return advise(situation, predict=predict if self.predict or self.model else None, progress=progress)

    def predicted(
        self, history: Corpus, shown: Ints, *, generator: np.random.Generator, progress: Progress
    ) -> tuple[Floats, Topics]:
        """The words that each candidate of a history will bring, and topics; `shown` are those on a list. # (Q, V)"""
        seed = int(generator.integers(2**31))
        rows = recent_posts(history, shown, seed)
        posts = history.take(rows)
        model = self.model or self._trained(posts, seed, progress)
        found = expected(model, posts, generator)
        at, first = patterns(history.observed)
        return predicted_words(found, history), topics_of(found, posts, at[rows], len(first))

    def _trained(self, history: Corpus, seed: int, progress: Progress) -> KLDA:
        return train_model(
            history,
            n_topics=self.n_topics,
            iterations=self.iterations,
            n_words=self.n_words,
            seed=seed,
            fit=self.fit,
            progress=progress,
        )


def advise(
    situation: Situation,
    *,
    predict: Callable[[Corpus, Ints], tuple[Floats, Topics]] | None = None,
    progress: Progress = silent,
) -> Proposal:
    """The keywords to use next, and why.

    `predict` gives the words (Q, V) that each candidate of a corpus will bring, and topics, for what-if; without it,
    recent words are counted.
    """
    progress("looking at words", 0, 3)
    first = situation.founding or situation.history.history[0]
    extra = _named(situation, first)
    terms = terms_of(situation.history, situation.current, extra - situation.current, first)
    progress("looking at words", 1, 3)
    if not terms.posts[:, : terms.n_current].nnz and not terms.earlier[: terms.n_current].any():
        raise DataError(no_post_has(situation.current, situation.history.vocabulary))
    features, chance = judged(
        terms,
        situation.history.vocabulary.language,
        situation.subject,
        use_vectors=situation.use_vectors,
        sample_share=situation.sample_share,
    )
    progress("looking at words", 2, 3)
    columns = _shortlist(situation, terms, features, chance, extra)
    wanted = KeywordSet(tuple(terms.keywords[c] for c in columns.tolist()))
    evidence = Evidence.of(replace(situation, candidates=wanted))
    at = _positions(evidence.candidates, terms, columns)
    scores = Scores(
        chance=chance[at],
        rise=features.rise[at],
        union=evidence.union,
        covers=covered_by(tuple(evidence.candidates)),
        current=evidence.current,
        outside_known=features.outside_known,
        unseen=features.unseen[at],
        unsure=evidence.current[unsure(terms, features, situation.history.vocabulary.language)],
    )
    limits = evidence.limits(with_room(situation.budget, len(situation.current)))
    if only_common(evidence):
        limits = replace(limits, max_keywords=len(np.union1d(evidence.current, limits.required)))
    sets = tuple(scores.choose(limits, float(setting)) for setting in DIAL)
    chosen = scores.choose(limits, situation.novelty)
    check_some(chosen)
    findings = findings_of(evidence, features.take(at), scores)
    order = np.lexsort((-features.new[at], -scores.chance))
    notes = notes_on(evidence, terms, scores, limits, chosen)
    predicted, topics = None, None
    if predict is not None:
        try:
            predicted, topics = predict(evidence.history, np.union1d(evidence.current, chosen))
        except TrainingError:
            notes.append(note("no_model"))
    words = outlook_words(evidence, predicted)
    choices = Choices(
        candidates=evidence.candidates,
        current=evidence.current,
        novelty=situation.novelty,
        scores=scores,
        limits=limits,
        settings=DIAL,
        sets=sets,
        words=words.words,
        vocabulary=words.vocabulary,
        own=words.own,
        threshold=words.threshold,
        findings=findings,
        frequency=evidence.frequency,
        volume=evidence.volume,
        seen=evidence.seen,
        length=evidence.length,
        topics=topics,
        history=evidence.history,
        ask=lambda words: _choices_with(situation, words),
    )
    progress("looking at words", 3, 3)
    proposal = assemble(
        KLDAPolicy.name,
        evidence,
        chosen=chosen,
        ranked=order,
        per_keyword=_per_keyword(evidence, features.take(at), order, situation.top),
        findings=with_words(choices, explained(findings, scores, limits, chosen)),
        frontier=frontier_of(choices),
        notes=notes,
    )
    return replace(proposal, choices=choices)


def _named(situation: Situation, first: KeywordSet) -> KeywordSet:
    """Words that are always judged: the first keywords, those of later lists, required ones and those asked about.

    The keywords of earlier lists are needed to know which posts a list collected.
    """
    named = first
    for active in () if len(situation.candidates) else situation.history.history:
        named = named | active
    return named | situation.budget.required | situation.candidates | situation.asked


def judged(
    terms: Terms,
    language: str = "en",
    subject: str | None = None,
    *,
    use_vectors: bool = True,
    sample_share: float = 1.0,
) -> tuple[Features, Floats]:
    """The features of every term and the chance that it belongs, measured against the keywords that belong. # (T,)

    A keyword that does not belong would make its relatives look good: *soldiers* on a list about Iran. So keywords are
    measured first, each against the rest, and the other terms then against those that may stay.
    """
    features = weighed(terms, features_of(terms, language, subject, use_vectors, sample_share=sample_share))
    chance = relevance(features)
    listed = chance[: terms.n_current].copy()
    trusted = (listed >= LEAST_KEPT) | (listed == listed.max(initial=0.0)) | unsure(terms, features, language)
    if trusted.all():
        return features, chance
    features = weighed(terms, features_of(terms, language, subject, use_vectors, trusted, sample_share))
    chance = relevance(features)
    chance[: terms.n_current] = listed  # what few keywords say of each other says little
    return features, chance


def with_room(budget: Budget, n_current: int) -> Budget:
    """The budget, with room for a few more keywords where it sets no number.

    >>> with_room(Budget(), 3).max_keywords
    13
    """
    return budget if budget.max_keywords is not None else replace(budget, max_keywords=n_current + ROOM)


def _choices_with(situation: Situation, words: KeywordSet) -> Choices:
    """The same choices, with further words as candidates."""
    choices = advise(situation.asking(words)).choices
    assert choices is not None
    return choices


def _shortlist(situation: Situation, terms: Terms, features: Features, chance: Floats, extra: KeywordSet) -> Ints:
    """Current keywords, words that were named, and the best of all others. # (n,)"""
    named = {keyword.text for keyword in extra}
    given = np.array([keyword.text in named for keyword in terms.keywords])
    new = features.new if features.outside_known else features.posts
    value, rising = (worth(chance, new, features.rise, novelty) for novelty in (situation.novelty, 1.0))
    free = ~given & (new > 0)
    free[: terms.n_current] = False
    if len(situation.candidates):
        free[:] = False
    best = [np.argsort(-np.where(free, score, -np.inf), kind="stable")[:SHORTLIST] for score in (value, rising)]
    others = np.unique(np.concatenate(best))
    return np.concatenate([np.arange(terms.n_current), np.flatnonzero(given), others[free[others]]])


def unsure(terms: Terms, features: Features, language: str) -> Bools:
    """Current keywords that the rest of the list cannot judge. # (n,)

    It has too few recent posts to tell what the list is about. Or no subject in words is told, and there are too few
    others, or the keyword alone brings more posts than all of them. A function word is told without posts.
    """
    listed = terms.posts[:, : terms.n_current]
    carried = np.asarray(listed.sum(axis=1)).ravel()  # (D,) keywords of each post
    alone = np.asarray(listed.T @ (carried == 1)).ravel()  # (n,) posts that only this keyword brings
    common = STOP_WORDS.get(language, frozenset())
    plain = [keyword.text.casefold() not in common for keyword in terms.keywords[: terms.n_current]]
    rest = np.count_nonzero(carried) - alone  # (n,)
    told = np.isfinite(features.values[: terms.n_current, NAMES.index("meaning_subject")])
    others = terms.n_current - 1
    split = ~told & ((others < FEWEST_JUDGES) | (rest < alone))  # it may be the others that do not belong
    return np.asarray(((rest < THIN_POSTS) | split) & np.array(plain, dtype=np.bool_))


def _positions(candidates: KeywordSet, terms: Terms, columns: Ints) -> Ints:
    """The term of each candidate. # (Q,)"""
    place = {terms.keywords[c].text: c for c in reversed(columns.tolist())}
    return np.array([place[keyword.text] for keyword in candidates], dtype=np.int64)


def _per_keyword(evidence: Evidence, features: Features, order: Ints, top: int) -> dict[str, tuple[str, ...]]:
    """For each current keyword the words that stand beside it more than beside any other, likely ones first."""
    lists: dict[str, list[str]] = {evidence.candidates[c].text: [] for c in evidence.current.tolist()}
    names = list(lists)
    for column in order.tolist():
        if column not in evidence.current and names:
            lists[names[int(features.nearest[column])]].append(evidence.candidates[column].text)
    return {name: tuple(words[:top]) for name, words in lists.items()}
