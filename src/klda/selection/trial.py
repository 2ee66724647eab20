"""What a word on trial turns out to be, by the posts that it alone brings.

A word comes onto the list because it is seen beside the first keywords. That can be an accident of one of them: beside
`spring` and `training` stands `breakers`, and its posts are about a film. Once it is listed, all of its posts are
known. Those without a first keyword tell: do they hold the words by which posts of the subject stand out from the rest
of the stream, more often than posts of the rest do?
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from klda.selection.arrays import Bools, Floats
from klda.selection.company import LEAST_COMPANY


class Trial(NamedTuple):
    """A logistic model of the share of a word's further posts on the subject; fitted by `benchmarks.judgement`."""

    level: float
    rarity: float
    """For each power of ten by which the word is rarer."""
    company: float
    """For each unit of the logarithm of how likely its posts are on the subject by the first keywords in them."""
    speaking: float
    """For each unit of the logarithm of how many of its posts without one speak of the subject."""


TRIED = Trial(-3.89, 0.92, 0.83, 0.83)
TRIED_ALONE = Trial(1.47, 0.0, 0.98, 0.78)
"""The same in a language in which it is not known how rare words are."""
WORTH_POSTS = 20.0
"""Posts of the stream at large that go into the words of the subject, which few posts tell."""
LEAST_SAID, MOST_SAID = -1.5, 3.0
"""What a single word can say against and for a post, as logarithms of odds."""
BY_CHANCE = 0.1
"""Share of the posts of the stream at large that are taken to speak of the subject."""
FEW_POSTS = 3.0
"""Posts like those of the stream at large that count beside a word's own."""


def subject_words(believed: Floats, together: float, outside: Floats, n_outside: int) -> Floats:
    """How much each word speaks for a post to be on the subject: logarithms of how much more often it is said. # (V,)

    `believed` (V,) are posts with each word, each counted by the chance that it is on the subject, and `together` all
    such posts; `outside` (V,) are the posts with each word among `n_outside` that no list collected.

    >>> subject_words(np.array([30.0, 20.0, 0.0]), 100.0, np.array([10, 100, 100]), 1_000).round(1)
    array([ 3. ,  0.6, -1.5])
    """
    said = (outside + 0.5) / (n_outside + 1.0)
    more = np.log(believed + WORTH_POSTS * said) - np.log(together + WORTH_POSTS) - np.log(said)
    return np.asarray(np.clip(more, LEAST_SAID, MOST_SAID))


def speak_of_it(scores: Floats, outside: Floats) -> Bools:
    """Which posts hold more words of the subject, by their sum (n,), than nine in ten `outside` (m,) do. # (n,)

    >>> speak_of_it(np.array([0.5, 2.0]), np.arange(11) / 10)
    array([False,  True])
    """
    return np.asarray(scores > np.quantile(outside, 1.0 - BY_CHANCE))


def share_after_trial(
    posts: Floats, believed: Floats, alone: Floats, speaking: Floats, frequency: Floats | None
) -> Floats:
    """The share of each word's posts without a first keyword that are expected to be on the subject. # (n,)

    Of the `posts` (n,) that each brought, `believed` (n,) are on the subject by the first keywords in them; `alone`
    (n,) carry none, and `speaking` (n,) of those hold words of the subject. `frequency` (n,) is how common the words
    are in the language at large, None if that is not known.

    >>> posts, believed, alone = np.full(2, 50.0), np.full(2, 3.0), np.full(2, 40.0)
    >>> share_after_trial(posts, believed, alone, np.array([25.0, 2.0]), np.full(2, 1e-6)).round(2)
    array([0.27, 0.05])
    """
    company, speaking = log_trial(posts, believed, alone, speaking)
    by, rarity = (TRIED_ALONE, 0.0) if frequency is None else (TRIED, -np.log10(frequency))
    return np.asarray(expit(by.level + by.rarity * rarity + by.company * company + by.speaking * speaking))


def log_trial(posts: Floats, believed: Floats, alone: Floats, speaking: Floats) -> tuple[Floats, Floats]:
    """Logarithms of how likely posts are on the subject by the first keywords, and of how many speak of it. # (n,) × 2

    Both as far as they are sure: a word with few posts is taken to be like the stream at large.
    """
    company = np.log((believed + 1.0) / (posts + 10.0) + LEAST_COMPANY)
    said = np.log((speaking + FEW_POSTS * BY_CHANCE) / (alone + FEW_POSTS))
    return np.asarray(company), np.asarray(said)
