from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from klda.baselines.virality import FEATURES, PostFeatures, Virality
from klda.errors import DataError
from klda.posts.schema import PostTable
from klda.types import Post

DECISION = datetime(2026, 3, 1, tzinfo=UTC)


def post(number: int, days_old: float, reposts: int | None, **facts: object) -> Post:
    return Post(id=str(number), time=DECISION - timedelta(days=days_old), text="what a day", reposts=reposts, **facts)  # type: ignore[arg-type]


def everything(table: PostTable) -> np.ndarray:
    return np.arange(len(table))


def popular_authors(n_authors: int = 20) -> PostTable:
    """Every other post comes from many followers and is passed on; with an even number of authors they differ in it."""
    return PostTable.of(
        post(i, 40, 50 if i % 2 else 0, author=f"a{i % n_authors}", followers=10_000 if i % 2 else 10)
        for i in range(400)
    )


def test_ten_features_are_read_off_a_post():
    text = "Hi @you, see https://a.b/c #one #two 👍 👍🏽"
    table = PostTable.of(
        [Post("1", DECISION, text, author="me", following=1, followers=2, author_likes=3, author_posts=4)]
    )
    found = PostFeatures.of(table, everything(table))
    assert len(FEATURES) == 10
    assert found.user.tolist() == ["me"]
    assert dict(zip(FEATURES[1:], found.numbers[0].tolist(), strict=True)) == {
        "text length": len(text),
        "urls": 1,
        "mentions": 1,
        "hashtags": 2,
        "emojis": pytest.approx(3, abs=1),  # a skin tone may count as a sign of its own
        "following": 1,
        "followers": 2,
        "favourites": 3,
        "posts of the user": 4,
    }


def test_it_learns_from_the_three_months_before_the_decision():
    popular_then = [post(i, 200, 50 if i % 2 else 0, followers=10_000 if i % 2 else 10) for i in range(100)]
    unpopular_now = [post(i, 60, 0 if i % 2 else 50, followers=10_000 if i % 2 else 10) for i in range(100, 200)]
    table = PostTable.of([*popular_then, *unpopular_now])
    learnt = Virality.learn(table, everything(table), DECISION)
    assert len(learnt.viral) == 100
    assert learnt.predict(PostTable.of([post(1, 0, None, followers=10_000)]), np.arange(1)).tolist() == [False]


def test_an_archive_that_ended_long_before_teaches_by_its_own_last_three_months():
    table = PostTable.of([post(i, 2000 + i, 50 if i % 2 else 0, followers=i) for i in range(200)])
    learnt = Virality.learn(table, everything(table), DECISION)
    assert len(learnt.viral) == (91 - 28)


def test_the_classifier_is_trained_once(monkeypatch):
    from sklearn.ensemble import HistGradientBoostingClassifier

    fits = []
    fit = HistGradientBoostingClassifier.fit
    monkeypatch.setattr(HistGradientBoostingClassifier, "fit", lambda self, *a: fits.append(1) or fit(self, *a))
    table = popular_authors()
    learnt = Virality.learn(table, everything(table), DECISION)
    first, second = (learnt.predict(table, everything(table)) for _ in range(2))
    assert fits == [1]
    assert first.tolist() == second.tolist()


def test_missing_facts_are_unknown_rather_than_zero():
    table = PostTable.of([post(1, 40, 0)])
    known = PostFeatures.of(table, everything(table)).known
    assert dict(zip(FEATURES, known.tolist(), strict=True)) == {
        name: name in ("text length", "urls", "mentions", "hashtags", "emojis") for name in FEATURES
    }


def test_only_posts_at_least_28_days_old_teach():
    young = [post(i, 27.9, 50) for i in range(30)]
    old = [post(i + 30, 28.0, 50 if i % 2 else 0) for i in range(30)]
    table = PostTable.of(young + old)
    learnt = Virality.learn(table, everything(table), DECISION)
    assert len(learnt.viral) == 30
    assert learnt.viral.mean() == 0.5


def test_posts_that_pass_another_on_do_not_teach():
    table = PostTable.of([*(post(i, 40, 50 * (i % 2)) for i in range(10)), post(10, 40, 900, repost_of="1")])
    assert len(Virality.learn(table, everything(table), DECISION).viral) == 10


def test_ten_reposts_make_a_post_viral():
    table = PostTable.of([post(1, 40, 9), post(2, 40, 10)])
    assert Virality.learn(table, everything(table), DECISION).viral.tolist() == [False, True]


@pytest.mark.parametrize(
    ("posts", "message"),
    [
        ([post(1, 40, None)], "no post carries a count"),
        ([post(1, 3, 50), post(2, 3, 0)], "28 days"),
        ([post(1, 40, 0), post(2, 40, 3)], "none have"),
    ],
)
def test_it_says_why_virality_cannot_be_learnt(posts, message):
    table = PostTable.of(posts)
    with pytest.raises(DataError, match=message):
        Virality.learn(table, everything(table), DECISION)


def test_it_learns_what_makes_posts_viral():
    table = popular_authors()
    new = PostTable.of([post(1, 1, None, followers=12_000), post(2, 1, None, followers=8)])
    assert Virality.learn(table, everything(table), DECISION).predict(new, everything(new)).tolist() == [True, False]


def test_learnt_on_one_archive_it_uses_the_features_that_another_has():
    table = popular_authors()
    new = PostTable.of([post(1, 1, None, author="a1"), post(2, 1, None, author="a2")])  # no followers known here
    assert Virality.learn(table, everything(table), DECISION).predict(new, everything(new)).tolist() == [True, False]


@pytest.mark.parametrize("common", [0, 50])
def test_a_single_example_of_a_kind_among_very_many_ends_nothing(common):
    """From ten thousand posts on, the classifier would hold some of each kind out, which takes two of each."""
    table = PostTable.of(post(i, 40, common if i else 50 - common) for i in range(10_001))
    new = PostTable.of([post(1, 1, None)])
    found = Virality.learn(table, everything(table), DECISION).predict(new, everything(new))
    assert found.tolist() == [common == 50]


def test_users_who_are_unknown_are_judged_by_the_rest():
    table = popular_authors(n_authors=7)
    new = PostTable.of([post(1, 1, None, author="stranger", followers=12_000)])
    assert Virality.learn(table, everything(table), DECISION).predict(new, everything(new)).tolist() == [True]
