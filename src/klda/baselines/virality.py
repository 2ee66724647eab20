"""Which posts will be passed on: a classifier on ten facts about a post and its author, learnt from older posts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from klda.errors import DataError
from klda.posts.schema import PostTable, microseconds

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingClassifier

VIRAL_REPOSTS = 10
"""A post counts as viral when it was passed on at least this often."""
MATURITY = timedelta(days=28)
"""Younger posts are not learnt from, because they may still be reposted."""
SPAN = timedelta(days=91)
"""Three months before the decision, from which the classifier learns."""

_MICROSECONDS_TO_MATURITY = MATURITY // timedelta(microseconds=1)

OTHERS = "name posts that can teach it (--training, or training= in Python), or take another policy"
"""The advice if nothing can be learnt from the posts themselves."""
MOST_USERS = 255
"""Users that are told apart, those with the most posts: the classifier has no more categories. Others are unknown."""

_IN_TEXT = {
    "urls": r"https?://\S",
    "mentions": r"(?:^|[^\w/])@\w",
    "hashtags": r"(?:^|[^\w/&])#\w",
    "emojis": r"[\x{1F000}-\x{1FAFF}\x{2600}-\x{27BF}]",
}
_ON_AUTHOR = {
    "following": "following",
    "followers": "followers",
    "favourites": "author_likes",
    "posts of the user": "author_posts",
}
FEATURES = ("user", "text length", *_IN_TEXT, *_ON_AUTHOR)
"""The ten facts, in the order of the columns."""


@dataclass(frozen=True)
class PostFeatures:
    """The ten facts of some posts; facts that a platform does not give are missing."""

    user: NDArray[np.object_]  # (n,)
    numbers: NDArray[np.float64]  # (n, 9)

    @classmethod
    def of(cls, posts: PostTable, rows: NDArray[np.int64]) -> PostFeatures:
        """The features of the posts at these rows."""
        text = posts.column("text", rows)
        in_text = [pc.utf8_length(text)]
        in_text += [pc.count_substring_regex(text, pattern) for pattern in _IN_TEXT.values()]
        numbers = [np.asarray(column.to_numpy(), dtype=np.float64) for column in in_text]
        numbers += [posts.counts(name, rows) for name in _ON_AUTHOR.values()]
        user = np.array(posts.column("author", rows).fill_null("").to_pylist(), dtype=object)
        return cls(user, np.column_stack(numbers))

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which of the ten are known for at least one post. # (10,)"""
        return np.append((self.user != "").any(), np.isfinite(self.numbers).any(axis=0))


class Virality:
    """Predicts which posts will be passed on at least ten times.

    Learnt from one archive and used on another, it looks only at the features that both have.
    """

    def __init__(self, examples: PostFeatures, viral: NDArray[np.bool_], seed: int = 0) -> None:
        self.examples = examples
        self.viral = viral
        self.seed = seed
        self._classifiers: dict[bytes, HistGradientBoostingClassifier] = {}  # by the features that are looked at

    @classmethod
    def learn(cls, posts: PostTable, rows: NDArray[np.int64], decision: datetime, seed: int = 0) -> Virality:
        """The classifier learnt from posts at these rows that are between 28 days and three months old at the decision.

        If all posts are older, as in another archive, the last three months of posts are used. Reposts are left out,
        because their count is that of the original post.
        """
        time = np.asarray(posts.column("time", rows).cast("int64").to_numpy())
        original = np.asarray(pc.is_null(posts.column("repost_of", rows)).to_numpy())
        reposts = posts.counts("reposts", rows)
        mature = time <= microseconds(decision - MATURITY)
        usable = mature & original & np.isfinite(reposts)
        viral = reposts >= VIRAL_REPOSTS
        if usable.any():
            end = min(microseconds(decision), int(time[usable].max()) + _MICROSECONDS_TO_MATURITY)
            usable &= time > end - SPAN // timedelta(microseconds=1)
        if not usable.any():
            why = (
                "no post carries a count of reposts" if not np.isfinite(reposts).any() else "no post is 28 days old yet"
            )
            raise DataError(f"virality cannot be learnt: {why}; {OTHERS}")
        if len(np.unique(viral[usable])) == 1:
            share = "all" if viral[usable][0] else "none"
            raise DataError(
                f"virality cannot be learnt: of {usable.sum():,} posts at least 28 days old {share} have "
                f"{VIRAL_REPOSTS} reposts or more; {OTHERS}"
            )
        return cls(PostFeatures.of(posts, rows[usable]), viral[usable], seed)

    def predict(self, posts: PostTable, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each of these posts is expected to become viral. # (len(rows),)"""
        from threadpoolctl import threadpool_limits

        new = PostFeatures.of(posts, rows)
        both = self.examples.known & new.known
        with threadpool_limits(1):  # its threads spin: beside other work they cost many times what they save
            classifier = self._classifier(both)
            predicted: NDArray[np.bool_] = classifier.predict(_columns(new, both, self._busiest)).astype(np.bool_)
        return predicted

    @cached_property
    def _busiest(self) -> NDArray[np.object_]:
        """The users with the most posts."""
        users, counts = np.unique(self.examples.user, return_counts=True)
        busiest: NDArray[np.object_] = users[np.argsort(-counts, kind="stable")[:MOST_USERS]]
        return busiest

    def _classifier(self, both: NDArray[np.bool_]) -> HistGradientBoostingClassifier:
        """The classifier on these features (10,), which is trained once."""
        from sklearn.ensemble import HistGradientBoostingClassifier  # scikit-learn takes a second to import

        known = self._classifiers.get(both.tobytes())
        if known is not None:
            return known
        lone = min(self.viral.sum(), (~self.viral).sum()) == 1  # cannot be held out to stop early and learnt from too
        classifier = HistGradientBoostingClassifier(
            categorical_features=[0] if both[0] else None,
            early_stopping=False if lone else "auto",
            random_state=self.seed,
        )
        self._classifiers[both.tobytes()] = classifier.fit(_columns(self.examples, both, self._busiest), self.viral)
        return classifier


def _columns(features: PostFeatures, both: NDArray[np.bool_], users: NDArray[np.object_]) -> NDArray[np.float64]:
    """The features known on both sides as numbers; a user is one of `users` or missing. # (n, both.sum())"""
    code = {user: float(i) for i, user in enumerate(users)}
    user = np.array([code.get(name, np.nan) for name in features.user])
    return np.column_stack([user, features.numbers])[:, both]
