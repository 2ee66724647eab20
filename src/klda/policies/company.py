"""Judging words without labels: which keywords belong, which candidates a sample speaks for, and what is news."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from klda.corpus.corpus import Corpus
from klda.policies.evidence import FEWEST_APART, Evidence
from klda.policies.incidence import candidates_in
from klda.policies.listed import active, ever_listed, frequencies, outside, windows_listed
from klda.policies.trial import after_trial
from klda.policies.word_counts import recency
from klda.selection.arrays import Bools, Floats, Ints
from klda.selection.company import (
    BESIDE,
    DOUBT,
    FEWEST_KEYWORDS,
    OTHERS,
    Company,
    as_in_the_language,
    chance_on_subject,
    company,
    company_by_chance,
    less_company,
    share_by_sample,
    share_in_usual_company,
    share_on_subject,
    shared_bursts,
    worth_listing,
)
from klda.selection.frequency import window_counts

HALF_LIFE = 4.0
"""Windows after which the company that a keyword kept counts half."""
FEWEST_TAGGED, LEAST_TAGGED = 4, 0.01
"""Posts that a hashtag in use has, older ones counted less, and their share of all."""
MAIN = 0.5
"""Share of the first keywords' posts from which on one of them is what the list is about."""
MOST_NAMED = 3
"""Keywords that a reason names."""
MOST_TRIED = 3
"""Words that a sample speaks for and that are worth trying at once."""
EVERYDAY = 2e-4
"""A word that makes up so much of the language at large is no news, whatever it does."""


@dataclass(frozen=True)
class Judged:
    """The current and the first keywords, and tags tried before, judged by the posts that they brought; all (n,)."""

    columns: Ints
    share: Floats
    """Share of its posts that are expected to be on the subject."""
    company: Company
    worth: Bools
    """Whether it makes the list better by its posts."""
    in_place: Bools
    """Whether it is a first keyword that keeps company as the others do."""
    needed: float
    """The share of posts on the subject that a further keyword needs to make the list better."""
    speaking: Floats
    """Share of its posts without a first keyword that speak of the subject; NaN where that was not asked."""

    def out_of_place(self) -> dict[int, str]:
        """Why some of them would make the list worse by the posts that they bring, by column."""
        return self._said(~(self.worth | self.in_place), "brings more noise than news")

    def back_in_place(self, current: Ints) -> dict[int, str]:
        """What speaks for those that may stay and are not on the list, by column: they were before."""
        back = (self.worth | self.in_place) & ~np.isin(self.columns, current)
        return self._said(back, "on the list before, and worth its posts")

    def _said(self, rows: Bools, verdict: str) -> dict[int, str]:
        carry = np.where(self.company.first, "another", "one")
        return {
            int(self.columns[row]): (
                f"{verdict}, judged by how common a word it is and by its company: {self.company.rate[row]:.0%} of its "
                f"posts carry {carry[row]} of the first keywords" + self._spoken(int(row))
            )
            for row in np.flatnonzero(rows)
        }

    def _spoken(self, row: int) -> str:
        asked = not np.isnan(self.speaking[row])
        return f", and {self.speaking[row]:.0%} of the others speak of the subject" if asked else ""


def judged(evidence: Evidence, first: Ints, *, sampled: bool = False) -> Judged:
    """The current and the `first` keywords, and hashtags tried before, judged; `sampled` is whether a sample is known.

    Without one, what was added was news, and is judged like a word that somebody chose.
    """
    tried = np.intersect1d(ever_listed(evidence), np.flatnonzero(_is_tag(evidence)))
    keywords = np.union1d(np.union1d(evidence.current, first), tried)  # (n,) columns
    history, is_first = evidence.history, np.isin(keywords, first)
    carried = candidates_in(history)[:, keywords].toarray() > 0  # (D, n)
    weight = recency(history, HALF_LIFE)  # (D,)
    known = company(carried, is_first, active(evidence, keywords), weight)
    common = _commonness(evidence, keywords, first)
    by_company = ~is_first & (sampled | _is_tag(evidence)[keywords])  # hardly a tag is in a table of words: rare it is
    share = np.where(by_company, share_on_subject(known, *common, OTHERS), share_on_subject(known, *common))
    speaking = np.full(len(keywords), np.nan)
    if sampled and FEWEST_KEYWORDS <= len(first) < len(keywords):
        found = after_trial(evidence, keywords[~is_first], keywords[is_first], share[is_first], weight)
        if found is not None:
            share[~is_first], speaking[~is_first] = found
    is_current = np.isin(keywords, evidence.current)
    posts = np.where(is_current | is_first, known.posts, 0.0)  # a tag that is not on the list brings nothing to it now
    worth, needed = worth_listing(posts, share, is_first & is_current, len(first))
    frequency, by_chance = common
    a_window = known.posts / np.maximum(windows_listed(evidence, keywords, HALF_LIFE), 1e-9)
    # Who hears of all subjects may trust how common a word is; who hears of one only has to be sure.
    everywhere = frequency is not None and as_in_the_language(known, a_window, frequency, by_chance)
    in_place = ~less_company(known, by_chance, 0.0 if everywhere else DOUBT)
    if not everywhere:  # a word that brings most of the posts finds little company once it is in the news
        in_place |= a_window > MAIN * a_window[is_first].sum()
    return Judged(keywords, share, known, worth, is_first & in_place, needed, speaking)


@dataclass(frozen=True)
class Sighted:
    """The other candidates, judged by where they are seen, where posts without a keyword are known too; all (n,)."""

    columns: Ints
    share: Floats
    """Share of its posts that are expected to be on the subject."""
    company: Company
    needed: float
    """The share that it takes to make the list better."""

    def unproven(self) -> dict[int, str]:
        """Why some of them would make the list worse by their posts, by column."""
        return self._said(self.share < self.needed, "would bring more noise than news")

    def proven(self) -> dict[int, str]:
        """What speaks for the others, by column."""
        return self._said(self.share >= self.needed, "worth its posts")

    def to_try(self, n_first: int) -> Ints:
        """Columns of the surest of them, the surest first: on the list they show what they are.

        None with few first keywords, whose posts do not tell well what the subject is.
        """
        if n_first < FEWEST_KEYWORDS:
            return self.columns[:0]
        surest = np.argsort(-self.share, kind="stable")[:MOST_TRIED]
        return self.columns[surest[self.share[surest] >= self.needed]]

    def _said(self, rows: Bools, verdict: str) -> dict[int, str]:
        return {
            int(self.columns[row]): (
                f"{verdict}, judged by how common a word it is and by where it is seen: "
                f"{self.company.rate[row]:.0%} of its known posts carry one of the first keywords"
            )
            for row in np.flatnonzero(rows)
        }


def sighted(evidence: Evidence, first: Ints, listed: Judged) -> Sighted:
    """The candidates that were not `judged`, where posts without a keyword are known too."""
    others = np.setdiff1d(np.arange(len(evidence.candidates)), listed.columns)
    carried = candidates_in(evidence.history)  # (D, Q)
    weight = recency(evidence.history, HALF_LIFE)  # (D,)
    beside = np.asarray(carried[:, first].sum(axis=1)).ravel() > 0  # (D,)
    known = Company(
        np.asarray(weight @ carried).ravel()[others],
        np.asarray((weight * beside) @ carried).ravel()[others],
        np.zeros(len(others), dtype=np.bool_),
    )
    share = share_on_subject(known, *_commonness(evidence, others, first), OTHERS)
    # Of a sample, company says too much: all posts with a keyword are known, of the others only some.
    share = np.minimum(share, _by_sample(evidence, listed, carried, weight)[others])
    return Sighted(others, share, known, listed.needed)


def _by_sample(evidence: Evidence, listed: Judged, carried: csr_array, weight: Floats) -> Floats:
    """The share of posts on the subject, by lift over posts that no list collected; 1 where few are known. # (Q,)"""
    history = evidence.history
    beyond = outside(evidence, carried, listed.columns)  # (D,)
    n_outside = int(beyond.sum()) + len(history.apart)
    if n_outside < FEWEST_APART:
        return np.ones(len(evidence.candidates))
    believed = weight * chance_on_subject(carried[:, listed.columns], listed.share)  # (D,)
    return share_by_sample(
        np.asarray(believed @ carried),
        float(believed.sum()),
        np.asarray(beyond.astype(np.float64) @ carried),
        n_outside,
        frequencies(evidence, np.arange(len(evidence.candidates))),
    )


def breaking(evidence: Evidence, first: Ints) -> Ints:
    """Columns of candidates that burst in the last window beside several `first` keywords that are still listed."""
    history = evidence.history
    windows = history.documents.window.astype(np.int64)
    observed = history.observed.values.astype(np.int64)
    counts = window_counts(history.observed.indptr, observed, windows, history.n_windows, len(evidence.candidates))
    listed = np.intersect1d(first, evidence.current)
    about = windows[np.asarray(candidates_in(history)[:, listed].sum(axis=1)).ravel() > 0]
    posts = np.bincount(about, minlength=history.n_windows).astype(np.float64)
    beside = _beside(evidence.last, listed, BESIDE)
    bursting = shared_bursts(counts.astype(np.float64), beside, len(listed), posts)
    found = np.setdiff1d(np.flatnonzero(bursting), evidence.current)
    frequency = frequencies(evidence, found)
    return found if frequency is None else found[frequency < EVERYDAY]


def untried_tags(evidence: Evidence, first: Ints, needed: float) -> Ints:
    """Columns of hashtags in use beside several `first` keywords that are still listed, themselves never listed.

    Who tags a post says what it is about, so a tag need not be news to be tried. But one that is an ordinary word says
    no more than the word: with the usual company, its share of posts on the subject has to come up to what is `needed`.
    """
    in_use = _is_tag(evidence) & tags_in_use(candidates_in(evidence.history), evidence.history)
    listed = np.intersect1d(first, evidence.current)
    shared = _beside(evidence.history, listed, 1) >= min(2, len(first))
    found = np.setdiff1d(np.flatnonzero(in_use & shared), ever_listed(evidence))
    frequency = frequencies(evidence, found)
    return found if frequency is None else found[share_in_usual_company(len(found), frequency, OTHERS) > needed]


def tags_in_use(carried: csr_array, posts: Corpus) -> Bools:
    """Which hashtags are carried (D, n) by enough of these posts, older ones counted less, to be tried. # (n,)"""
    weight = recency(posts, HALF_LIFE)  # (D,)
    return np.asarray(weight @ carried >= max(FEWEST_TAGGED, LEAST_TAGGED * float(weight.sum())))


def beside_which(evidence: Evidence, column: int, first: Ints, posts: Corpus, least: int = 1) -> str:
    """The current ones of the `first` keywords beside which a candidate stands in these posts, the most often first."""
    listed = np.intersect1d(first, evidence.current)
    carried = candidates_in(posts)
    together = np.asarray((carried[:, [column]].T @ carried[:, listed]).toarray()).ravel()  # (n,)
    often = listed[np.argsort(-together, kind="stable")][: np.count_nonzero(together >= least)]
    names = [evidence.candidates[int(c)].text for c in often[:MOST_NAMED]]
    more = len(often) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _is_tag(evidence: Evidence) -> Bools:
    return np.array([keyword.text.startswith("#") for keyword in evidence.candidates])


def _beside(posts: Corpus, listed: Ints, least: int) -> Ints:
    """Beside how many of these keywords each candidate stands, in at least so many posts. # (Q,)"""
    carried = candidates_in(posts)  # (D, Q)
    return np.asarray(((carried.T @ carried[:, listed]).toarray() >= least).sum(axis=1))


def _commonness(evidence: Evidence, columns: Ints, first: Ints) -> tuple[Floats | None, Floats | float]:
    """How common these candidates are in the language, and what company of `first` ones they have by chance."""
    frequency, together = frequencies(evidence, columns), frequencies(evidence, first)
    if frequency is None or together is None:
        return None, 0.0
    documents = evidence.history.documents
    words_a_post = float(documents.counts.sum() / max(len(documents), 1))
    return frequency, company_by_chance(frequency, np.isin(columns, first), float(together.sum()), words_a_post)
