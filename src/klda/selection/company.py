"""What a filter shows about itself: which keywords are worth their posts, and which words break out beside several.

A collector that sees nothing but its own posts cannot tell which of them are on the subject. Two things speak for a
keyword all the same: that its posts often carry another keyword of the list, as those with `privacy` do and those with
`facebook` hardly ever; and that it is rare in the language at large, so that who says it means it. And a word that
bursts beside most of the keywords at once is news of the subject, while one that bursts beside a single keyword is
that keyword's own affair. Of other words a filter shows nothing, but a sample of the stream does: those that posts of
the subject hold and the sample hardly has belong to the subject.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit

from klda.selection.arrays import Bools, Floats, Ints


class Judgement(NamedTuple):
    """A logistic model of the share of a word's posts that are on the subject; fitted by `benchmarks.judgement`."""

    level: float
    rarity: float
    """For each power of ten by which the word is rarer."""
    company: float
    """For each unit of the logarithm of its company in excess of chance."""


class Sighting(NamedTuple):
    """A logistic model of the same for a word that is not on the list, seen beside it and in a sample of the stream."""

    level: float
    rarity: float
    lift: float
    """For each unit of the logarithm of how much more often posts of the subject hold it than those of the sample."""
    believed: float
    """For each unit of the logarithm of its posts that are believed to be on the subject."""


LISTED = Judgement(-5.51, 1.20, 0.58)
"""Of words that somebody put on the list: people choose words that mean something."""
OTHERS = Judgement(-4.96, 0.89, 0.69)
"""Of other words, such as a sample shows beside the subject: they have to show company."""
LISTED_ALONE = Judgement(0.94, 0.0, 1.07)
"""Of listed words in a language in which it is not known how rare words are."""
SIGHTED = Sighting(-7.91, 0.63, 0.60, 0.38)
"""Of words that are not on the list, where a sample of the stream shows what is said elsewhere."""
SIGHTED_ALONE = Sighting(-5.50, 0.0, 0.80, 0.23)
"""The same in a language in which it is not known how rare words are."""
LEAST_COMPANY = 0.005
USUAL_COMPANY = 0.08
"""What a word of whose company nothing is known is taken to keep: a single keyword has no other to keep it with."""
ASSUMED_RECALL = 0.25
"""Share of its subject's posts that a list is taken to bring; it cannot be seen."""
FEWEST_KEYWORDS = 4
LEAST_KEPT = 0.5
"""Of the first keywords, at least so many and so much stay, whatever is thought of them."""
DOUBT = 2.0
"""Standard errors."""
LIKE_LANGUAGE, LIKE_RARITY = 0.65, 0.2
"""Correlations from which on keywords come as in the language at large, and the rarer ones in more company."""
LEAST_ROOM = 0.02
LEAST_BELIEVED = 0.05
"""Posts that count as believed to be on the subject for a word that has none."""
BURST = 6.0
"""Standard deviations above the windows before."""
FEWEST_BURSTING = 8
BESIDE = 2
"""Posts in which a bursting word must be seen beside a keyword for that keyword to count."""


@dataclass(frozen=True)
class Company:
    """How many posts each keyword brought, and how many of them carried another of the first keywords; all (n,)."""

    posts: Floats
    accompanied: Floats
    first: Bools
    """Whether it is one of the first keywords itself."""

    @property
    def rate(self) -> Floats:
        """Share of posts in company. # (n,)"""
        return np.asarray(self.accompanied / np.maximum(self.posts, 1.0))

    @property
    def cautious_rate(self) -> Floats:
        """The same as far as it is sure: a keyword with few posts has the benefit of the doubt. # (n,)"""
        return np.asarray((self.accompanied + 1.0) / (self.posts + 10.0))


def company(observed: Bools, first: Bools, active: Bools, weight: Floats) -> Company:
    """The company of keywords in posts that they themselves brought.

    `observed` (D, n) says which keywords posts carry, `first` (n,) which keywords the subject was first asked for with,
    `active` (D, n) which were on the list when a post was collected, `weight` (D,) how much a post counts.

    >>> posts = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1]], dtype=bool)
    >>> company(posts, np.ones(3, bool), np.ones((4, 3), bool), np.ones(4)).rate
    array([0.5, 1. , 0. ])
    """
    others = (observed & first).sum(axis=1)[:, None] - (observed & first)  # (D, n)
    counted = weight[:, None] * (observed & active)  # (D, n)
    return Company(counted.sum(axis=0), (counted * (others > 0)).sum(axis=0), first)


def share_on_subject(
    known: Company, frequency: Floats | None, by_chance: Floats | float = 0.0, judgement: Judgement = LISTED
) -> Floats:
    """The share of each keyword's posts that are expected to be on the subject. # (n,)

    `frequency` (n,) is how common the keywords are in the language at large, None where that is not known; `by_chance`
    the company that they would have anyway.

    >>> posts, beside = np.array([100.0, 100.0, 100.0]), np.array([30.0, 2.0, 2.0])
    >>> known = Company(posts, beside, np.ones(3, bool))
    >>> share_on_subject(known, np.array([1e-5, 1e-5, 1e-4])).round(2)
    array([0.44, 0.18, 0.06])
    """
    return _share(log_company(known, by_chance), frequency, judgement)


def share_in_usual_company(n: int, frequency: Floats | None, judgement: Judgement = LISTED) -> Floats:
    """The same for `n` words of whose company nothing is known yet. # (n,)

    >>> share_in_usual_company(2, np.array([1e-6, 1e-4])).round(2)
    array([0.56, 0.11])
    """
    return _share(np.full(n, np.log(USUAL_COMPANY + LEAST_COMPANY)), frequency, judgement)


def _share(log_company: Floats, frequency: Floats | None, judgement: Judgement) -> Floats:
    if frequency is None:
        judgement, frequency = LISTED_ALONE, np.ones_like(log_company)
    rarity = -np.log10(frequency)
    return np.asarray(expit(judgement.level + judgement.rarity * rarity + judgement.company * log_company))


def log_company(known: Company, by_chance: Floats | float = 0.0) -> Floats:
    """The logarithm of each keyword's company in excess of chance. # (n,)"""
    rate = known.cautious_rate
    if np.count_nonzero(known.first) == 1:
        rate = np.where(known.first, USUAL_COMPANY, rate)
    return np.asarray(np.log(np.maximum(rate - by_chance, 0.0) + LEAST_COMPANY))


def chance_on_subject(carried: Bools | csr_array, share: Floats) -> Floats:
    """The chance that each post is on the subject, by the keywords that it carries (D, n) and their shares (n,). # (D,)

    >>> chance_on_subject(np.array([[1, 1], [1, 0], [0, 0]], dtype=bool), np.array([0.5, 0.2])).round(2)
    array([0.6, 0.5, 0. ])
    """
    return np.asarray(1.0 - np.exp(carried @ np.log1p(-share)))


def share_by_sample(
    believed: Floats, together: float, outside: Floats, n_outside: int, frequency: Floats | None
) -> Floats:
    """The share of each word's posts that are expected to be on the subject, where a sample shows the rest. # (n,)

    `believed` (n,) are the collected posts with each word, each counted by the chance that it is on the subject, and
    `together` all such posts; `outside` (n,) are the posts with each word among `n_outside` sampled ones that the list
    did not collect; `frequency` (n,) is how common the words are in the language at large, None if that is not known.

    >>> share_by_sample(np.array([8.0, 8.0]), 100.0, np.array([0, 30]), 1_000, np.array([1e-6, 1e-4])).round(2)
    array([0.43, 0.02])
    """
    lift, log_believed = log_sighting(believed, together, outside, n_outside)
    seen, rarity = (SIGHTED_ALONE, 0.0) if frequency is None else (SIGHTED, -np.log10(frequency))
    return np.asarray(expit(seen.level + seen.rarity * rarity + seen.lift * lift + seen.believed * log_believed))


def log_sighting(believed: Floats, together: float, outside: Floats, n_outside: int) -> tuple[Floats, Floats]:
    """Logarithms of each word's lift over the sample, and of its posts believed to be on the subject. # (n,), (n,)"""
    log_believed = np.log(believed + LEAST_BELIEVED)
    lift = log_believed - np.log(together + 1.0) - np.log((outside + 0.5) / (n_outside + 1.0))
    return np.asarray(lift), np.asarray(log_believed)


def company_by_chance(frequency: Floats, first: Bools, together: float, words_a_post: float) -> Floats:
    """The share of posts with each keyword that carry another of the first ones by chance. # (n,)

    `frequency` (n,) is how common the keywords are, `together` how common the first ones are in all, and `first` (n,)
    says which keywords are among them. Common words come together anyway, the more so the longer the posts.

    >>> company_by_chance(np.array([1e-2, 1e-5]), np.array([True, True]), 1e-2 + 1e-5, words_a_post=10).round(3)
    array([0.   , 0.095])
    """
    return np.asarray(1.0 - np.exp(-words_a_post * np.maximum(together - np.where(first, frequency, 0.0), 0.0)))


def worth_listing(posts: Floats, share: Floats, kept: Bools, n_first: int) -> tuple[Bools, float]:
    """Keywords that make a list better by their posts, and the share on the subject that it takes. # (n,), ()

    F1 is 2 h / (n + R) for n posts, h of them among the R on the subject. To add posts raises it when more than F1 / 2
    of them are on the subject. So keywords, with `posts` (n,) each, are taken from the surest `share` (n,) down until
    that fails. Of the `n_first` first keywords some stay in any case: the surest of those still listed, `kept` (n,).

    >>> posts, share = np.array([50.0, 40.0, 60.0, 30.0, 900.0]), np.array([0.5, 0.4, 0.3, 0.3, 0.02])
    >>> worth_listing(posts, share, np.ones(5, bool), 5)[0]
    array([ True,  True,  True,  True, False])
    """
    least = max(FEWEST_KEYWORDS, int(np.ceil(LEAST_KEPT * n_first)))
    worth = np.zeros(len(share), dtype=np.bool_)
    collected = hits = needed = 0.0
    for row in np.argsort(-share, kind="stable"):
        stays = kept[row] and np.count_nonzero(worth & kept) < least
        if stays or share[row] > needed:
            worth[row] = True
            collected += max(float(posts[row]), 0.5)
            hits += float(share[row]) * max(float(posts[row]), 0.5)
            precision = hits / collected
            needed = precision * ASSUMED_RECALL / (precision + ASSUMED_RECALL)
    return worth, needed


def as_in_the_language(known: Company, a_window: Floats, frequency: Floats, by_chance: Floats | float = 0.0) -> bool:
    """Whether the first keywords come as they do in the language at large: the stream is then one of all subjects.

    `a_window` (n,) are the posts that each brings in a window, `frequency` (n,) is how common it is. Where all subjects
    are talked of, common words bring the most posts, and those posts the least company; where the stream is about the
    subject of the list, neither holds.

    >>> common, posts = np.array([1e-4, 3e-5, 1e-5, 3e-6]), np.array([900.0, 300.0, 90.0, 30.0])
    >>> known = Company(posts, np.array([9.0, 9.0, 18.0, 12.0]), np.ones(4, bool))
    >>> as_in_the_language(known, posts, common), as_in_the_language(known, posts[::-1], common)
    (True, False)
    """
    first = known.first
    if np.count_nonzero(first) < FEWEST_KEYWORDS:
        return False
    rarity = -np.log(frequency[first])
    alike = _correlation(np.log1p(a_window[first]), -rarity) > LIKE_LANGUAGE
    return bool(alike and _correlation(log_company(known, by_chance)[first], rarity) > LIKE_RARITY)


def _correlation(one: Floats, other: Floats) -> float:
    one, other = one - one.mean(), other - other.mean()
    scale = float(np.sqrt((one @ one) * (other @ other)))
    return float(one @ other) / scale if scale else 0.0


def less_company(known: Company, by_chance: Floats | float = 0.0, doubt: float = DOUBT) -> Bools:
    """Which of the first keywords keep less company than is usual among the others, by so many standard errors. # (n,)

    How common a word is tells much of it on a platform of all subjects and little where the subject is a large part of
    what is said: there all of its words are in place, and keep company alike. A keyword with most of the posts finds
    fewer to keep company with, so its company is taken by the posts that the others have.

    >>> posts, beside = np.array([400.0, 200.0, 100.0, 300.0]), np.array([120.0, 70.0, 30.0, 6.0])
    >>> less_company(Company(posts, beside, np.ones(4, bool)))
    array([False, False, False,  True])
    """
    posts = known.posts * known.first  # (n,)
    room = np.maximum(1.0 - posts / max(posts.sum(), 1.0), LEAST_ROOM)  # share of the posts that are the others'
    rate = np.maximum(known.cautious_rate - by_chance, 0.0) / room
    weight = np.sqrt(posts)
    rest = weight.sum() - weight
    usual = np.divide((weight * rate).sum() - weight * rate, rest, out=np.zeros_like(rest), where=rest > 0)
    most = known.accompanied + doubt * np.sqrt(known.accompanied + 1.0)
    at_most = (most / np.maximum(known.posts, 1.0) - by_chance) / room
    return np.asarray(known.first & (at_most < usual))


def shared_bursts(counts: Floats, beside: Ints, n_listed: int, posts: Floats) -> Bools:
    """Words that burst in the last window beside at least half of the keywords, and at least two. # (Q,)

    `counts` (Q, windows) are posts a window; `beside` (Q,) is beside how many of the `n_listed` first keywords that are
    still on the list each word was seen in the last window, at least `BESIDE` times. `posts` (windows,) are those of
    these keywords together: where twice as much is said of the subject, a word that is said twice as often is no news.

    >>> counts, posts = np.array([[0, 1, 30], [0, 1, 30], [20, 22, 30], [40, 40, 90]]), np.array([100, 100, 200])
    >>> shared_bursts(counts, np.array([4, 1, 4, 4]), n_listed=6, posts=posts)
    array([ True, False, False, False])
    """
    if counts.shape[1] < 3:
        return np.zeros(len(counts), dtype=np.bool_)
    growth = max(1.0, float(posts[-1]) / max(float(posts[-7:-1].mean()), 1.0))
    before = growth * counts[:, -7:-1].mean(axis=1)
    rise = (counts[:, -1] - before) / np.sqrt(before + 1.0)
    return np.asarray((rise > BURST) & (counts[:, -1] >= FEWEST_BURSTING) & (beside >= max(2, (n_listed + 1) // 2)))
