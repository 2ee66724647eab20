"""What is known about each term: numbers that may be missing (NaN), the same for candidates and current keywords."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from klda.advice.constants import FEWEST_OUTSIDE, LEAST_CONTAINED, MOST_CONTEXT_WORDS, SURE_POSTS, UNSEEN_WEIGHT
from klda.advice.terms import Terms
from klda.arrays import Bools, Floats, Ints
from klda.text.general_frequency import general_frequencies
from klda.text.vectors import word_vectors

COUNTS = (
    "lift",
    "beside",
    "posts",
    "partners",
    "rise",
    "rarity",
    "hashtag",
    "phrase",
    "cohesion",
    "contains",
    "founding",
)
CONTEXT = ("context_list",)
MEANING = ("meaning", "meaning_nearest", "meaning_subject")
POSTS_MEANING = ("context_meaning", "context_subject")
COMPANY = ("company",)
"""Known after a first look (`company`)."""
NAMES = (*COUNTS, *CONTEXT, *MEANING, *POSTS_MEANING, *COMPANY)


@dataclass(frozen=True)
class Features:
    """What is known about each term."""

    values: Floats  # (T, F)  NaN where a feature is not known
    posts: Floats  # (T,)  posts with the term in a recent window, on average
    new: Floats  # (T,)  those of them without a current keyword, unseen ones too; of a current one, without another
    beside: Floats  # (T,)  share of its posts that carry a current keyword; of a current one, another
    unseen: Floats  # (T,)  new posts to be expected though a sample shows none; 0 where it shows some, or all is known
    rise: Floats  # (T,)  log ratio of its share of posts, last window to earlier ones
    nearest: Ints  # (T,)  the current keyword beside which it stands most; by meaning where it stands beside none

    @property
    def outside_known(self) -> bool:
        """Whether enough posts without the list are known; otherwise a filter let nothing else in."""
        return bool(np.isfinite(self.values[:, NAMES.index("lift")]).any())

    def with_company(self, company: Floats) -> Features:
        """The same with the company that each term keeps (T,)."""
        values = self.values.copy()
        values[:, NAMES.index("company")] = np.where(self.unseen > 0, np.nan, company)
        return replace(self, values=values)

    def take(self, columns: Ints) -> Features:
        """The features of some terms."""
        return Features(*(getattr(self, field.name)[columns] for field in fields(self)))


def features_of(
    terms: Terms,
    language: str = "en",
    subject: str | None = None,
    use_vectors: bool = True,
    trusted: Bools | None = None,
    sample_share: float = 1.0,
) -> Features:
    """The features of every term, measured against the current keywords, or those of them that are `trusted` (n,).

    A keyword of the list is measured against the rest of it. Of posts that no list brought only `sample_share` is
    known; each stands for as many as that leaves out.
    """
    found = np.full((len(terms), len(NAMES)), np.nan)
    columns = {name: i for i, name in enumerate(NAMES)}
    each = np.arange(terms.n_current) if trusted is None else np.flatnonzero(trusted)
    listed = terms.posts[:, each]
    n_listed = np.asarray(listed.sum(axis=1)).ravel()  # (D,) keywords of the list that a post carries
    weight = np.where(terms.collected, 1.0, 1 / sample_share)  # (D,) posts that each stands for
    n_posts = np.asarray(terms.posts.sum(axis=0)).ravel().astype(np.float64)  # (T,) as seen
    posts = np.asarray(terms.posts.T @ weight).ravel()  # (T,) as there are
    beside_each = (terms.posts.T @ listed).toarray()  # (T, n)
    inside = (n_listed > 0).astype(np.float32)
    beside = np.asarray(terms.posts.T @ inside).ravel().astype(np.float64)
    n_inside = float(inside.sum())
    own_only = np.asarray(listed.T @ (n_listed == 1).astype(np.float32)).ravel()  # (n,)
    beside[each] = posts[each] - own_only
    beside_each[each, np.arange(len(each))] = 0
    n_all = float(weight.sum())
    n_outside = np.full(len(terms), n_all - n_inside)
    inside_of = np.full(len(terms), n_inside)
    inside_of[each] = n_inside - own_only
    n_outside[each] = n_all - inside_of[each]
    outside = posts - beside
    sure = n_posts / (n_posts + SURE_POSTS)  # what few posts show is pulled towards nothing
    known = np.count_nonzero(~terms.collected) >= FEWEST_OUTSIDE  # otherwise a filter let nothing else in
    if known:
        found[:, columns["beside"]] = sure * np.log((beside + 0.5) / (outside + 0.5))
        lift = np.log((beside + 0.5) / (inside_of + 1)) - np.log((outside + 0.5) / (n_outside + 1))
        found[:, columns["lift"]] = sure * lift
    found[:, columns["posts"]] = _standard(np.log(np.maximum(n_posts, 0.5)))
    found[:, columns["partners"]] = np.log1p((beside_each > 0).sum(axis=1)) / np.log1p(max(len(each), 2))
    rise = np.full(len(terms), np.nan)
    n_last = float(terms.last.sum())
    if terms.n_earlier and n_last:
        in_last = np.asarray(terms.posts.T @ terms.last.astype(np.float32)).ravel()
        rise = np.log((in_last + 1) / (n_last + 1)) - np.log((terms.earlier + 1) / (terms.n_earlier + 1))
    found[:, columns["rise"]] = rise
    frequency = general_frequencies(terms.keywords, language)
    if frequency is not None:
        found[:, columns["rarity"]] = -np.log(frequency)
    found[:, columns["hashtag"]] = [k.in_words[0] in "#$" for k in terms.keywords]
    found[:, columns["phrase"]] = [" " in k.in_words for k in terms.keywords]
    found[:, columns["cohesion"]] = _cohesion(terms, n_posts)
    found[:, columns["founding"]] = terms.founding
    found[:, columns["contains"]] = _contains(terms, each)
    if known and n_inside:
        found[:, columns["context_list"]] = sure * _context_list(terms, inside.astype(np.float64), each)
    nearest = each[beside_each.argmax(axis=1)] if len(each) else np.zeros(len(terms), dtype=np.int64)
    vectors = word_vectors([k.in_words for k in terms.keywords], language) if use_vectors else None
    if vectors is not None:
        named = word_vectors([subject], language) if subject else None
        meaning, closest = _meaning(vectors, each, named)
        found[:, [columns[name] for name in MEANING]] = _standard(meaning)
        nearest = np.where(beside > 0, nearest, closest)
        if known and n_inside:
            of_posts = _context_meaning(terms, inside, n_listed, each, named, language)
            found[:, [columns[name] for name in POSTS_MEANING]] = sure[:, None] * of_posts
    unseen = _unseen(beside, outside, sample_share)
    of_new_posts = np.isin(NAMES, POSTS_MEANING)
    found[(unseen > 0)[:, None] & of_new_posts] = np.nan
    per = 1 / max(terms.n_windows, 1)
    share = beside / np.maximum(posts, 1.0)
    return Features(found, posts * per, (outside + unseen) * per, share, unseen * per, rise, nearest)


def _unseen(beside: Floats, outside: Floats, sample_share: float) -> Floats:
    """New posts that are to be expected of terms of which a sample shows none, by the posts beside the list. # (T,)

    What is new is taken to be as much as what is beside the list, a guess that weighs as half a post that is seen: a
    term with thousands of posts beside the list would show in the sample if it had as many elsewhere.

    >>> _unseen(np.array([10.0, 1000.0, 10.0]), np.array([0.0, 0.0, 100.0]), 0.01).round(1)
    array([ 8.3, 47.6,  0. ])
    """
    if sample_share >= 1:
        return np.zeros(len(beside))
    guess = UNSEEN_WEIGHT / (sample_share + UNSEEN_WEIGHT / np.maximum(beside, 1e-9))
    return np.where(outside > 0, 0.0, guess)


def _contains(terms: Terms, listed: Ints) -> list[bool]:
    """Whether a term has a keyword of the list inside: *#freeiranhostages* and *iran*. # (T,)"""
    names = {int(c): terms.keywords[c].in_words.casefold().lstrip("#$") for c in listed.tolist()}
    long = {c: name for c, name in names.items() if len(name) >= LEAST_CONTAINED}
    texts = ["".join(k.in_words.casefold().split()) for k in terms.keywords]
    return [any(name in text and c != column for c, name in long.items()) for column, text in enumerate(texts)]


def _cohesion(terms: Terms, posts: Floats) -> Floats:
    """The share of its rarest word's posts that a phrase has, as a logarithm; 0 for a single word. # (T,)

    *first responders* has nearly all posts of *responders*. *keep small businesses* has few of *keep*.
    """
    phrases = np.flatnonzero([" " in k.in_words for k in terms.keywords])
    own = terms.own[phrases]
    of_word = np.asarray(terms.words.sum(axis=0)).ravel()
    rarest = np.full(len(phrases), np.inf)
    np.minimum.at(rarest, np.repeat(np.arange(len(phrases)), np.diff(own.indptr)), of_word[own.indices])
    found = np.zeros(len(terms))
    known = np.isfinite(rarest)  # the words of a phrase may be too rare for the vocabulary
    at = phrases[known]
    found[at] = np.minimum(np.log((posts[at] + 0.5) / (rarest[known] + 0.5)), 0.0)
    return found


def _context_meaning(
    terms: Terms,
    inside: NDArray[np.float32],
    n_listed: NDArray[np.float32],
    listed: Ints,
    subject: NDArray[np.float32] | None,
    language: str,
) -> Floats:
    """Do the posts that a term would newly bring mean what the list's posts mean, and what the subject means? # (T, 2)

    A post means the mean of its words, words of the list and of the term itself left out.
    """
    vectors = word_vectors(list(terms.displays), language)  # (V, dimensions)
    assert vectors is not None
    words = vectors.copy()
    words[np.unique(terms.own[listed].indices)] = 0.0
    words[0] = 0.0
    sums = terms.words @ words  # (D, dimensions)
    sums -= sums.mean(axis=0)
    length = np.maximum(np.linalg.norm(sums, axis=1), 1e-6)
    centre = (sums[inside > 0] / length[inside > 0][:, None]).sum(axis=0)
    centre /= max(float(np.linalg.norm(centre)), 1e-6)
    found = np.full((len(terms), 2), np.nan)
    own = terms.own @ words  # (T, dimensions)
    for column, aim in enumerate((centre, None if subject is None else subject[0])):
        if aim is None:
            continue
        score = (sums @ aim) / length  # (D,)
        own_score = own @ aim
        spread = score.std() + 1e-9

        def mean_over(
            mask: NDArray[np.float32],
            score: NDArray[np.float32] = score,
            own_score: NDArray[np.float32] = own_score,
            spread: float = float(spread),
        ) -> Floats:
            n = np.asarray(terms.posts.T @ mask).ravel()
            total = np.asarray(terms.posts.T @ (mask * score)).ravel()
            total -= own_score * np.asarray(terms.posts.T @ (mask / length)).ravel()
            return np.asarray(total / (n + 2) / spread, dtype=np.float64)

        found[:, column] = mean_over(1 - inside)
        found[listed, column] = mean_over((n_listed == 1).astype(np.float32))[listed]
    return found


def _standard(values: Floats) -> Floats:
    """Standard scores among all terms of the situation: what is usual differs between archives. # as given"""
    known = ~np.isnan(values).all(axis=0)
    with np.errstate(invalid="ignore"):
        mean = np.nanmean(np.where(known, values, 0.0), axis=0)
        spread = np.nanstd(np.where(known, values, 0.0), axis=0)
    return np.asarray((values - mean) / np.maximum(spread, 1e-9))


def _context_list(terms: Terms, inside: Floats, listed: Ints) -> Floats:
    """Do the list's posts that have a term read like the list's posts, keywords and the term itself masked? # (T,)

    A post speaks for the subject by the mean log ratio of its words in posts with and without the list.
    """
    words = terms.words
    with_list = np.asarray(words.T @ inside).ravel()
    without = np.asarray(words.sum(axis=0)).ravel() - with_list
    ratio = np.log((with_list + 1) / (inside.sum() + 2)) - np.log((without + 1) / (len(inside) - inside.sum() + 2))
    ratio *= (with_list + without) / (with_list + without + 5)  # rare words speak softly
    ratio = np.clip(ratio, -MOST_CONTEXT_WORDS, MOST_CONTEXT_WORDS)
    listed_words = np.unique(terms.own[listed].indices)
    ratio[listed_words] = 0.0
    length = np.asarray(words.sum(axis=1)).ravel()
    weight = 1 / (length + 3)
    score = (words @ ratio) * weight  # (D,)
    outside_posts = inside == 0
    centre, spread = score[outside_posts].mean(), score[outside_posts].std() + 1e-9
    own = np.asarray(terms.own @ ratio).ravel()  # (T,)
    n = np.asarray(terms.posts.T @ inside).ravel()
    total = np.asarray(terms.posts.T @ (inside * score)).ravel()
    total -= own * np.asarray(terms.posts.T @ (inside * weight)).ravel()
    # two posts of nobody's subject stand in, so that a single post does not decide
    return np.asarray(((total + 2 * centre) / (n + 2) - centre) / spread)


def _meaning(vectors: NDArray[np.float32], listed: Ints, subject: NDArray[np.float32] | None) -> tuple[Floats, Ints]:
    """Cosine with the list as a whole, with the nearest keyword, with the subject in words; the nearest keyword.

    A keyword of the list is compared with the others. # (T, 3), (T,)
    """
    found = np.full((len(vectors), 3), np.nan)
    nearest = np.zeros(len(vectors), dtype=np.int64)
    each = vectors[listed]
    whole = np.repeat(each.sum(axis=0)[None, :], len(vectors), axis=0)
    whole[listed] -= each
    length = np.linalg.norm(whole, axis=1)
    found[:, 0] = np.where(length > 1e-6, (vectors * whole).sum(axis=1) / np.maximum(length, 1e-6), np.nan)
    if len(listed):
        pairs = vectors @ each.T  # (T, n)
        pairs[listed, np.arange(len(listed))] = -1
        found[:, 1], nearest = pairs.max(axis=1), listed[pairs.argmax(axis=1)]
    if len(listed) == 1:
        found[listed, :2] = np.nan
    if subject is not None:
        found[:, 2] = vectors @ subject[0]
    found[~vectors.any(axis=1)] = np.nan
    return found, nearest
