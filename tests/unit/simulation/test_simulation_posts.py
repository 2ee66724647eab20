"""The posts of the simulated world: as a platform gives them, with the statistics of archives, true to their truth."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from klda.simulation import World
from klda.simulation.known_truth import words_in
from klda.text.tokens import cut, tokens_of

WORLD = World(weeks=11, posts_per_week=4000, seed=3)


@pytest.fixture(scope="module")
def posts() -> pl.DataFrame:
    table = pl.DataFrame(pl.from_arrow(pa.Table.from_batches(list(WORLD.batches()))))
    start = pl.lit(WORLD.start).cast(pl.Datetime("us", "UTC"))
    return table.with_columns(
        week=(pl.col("time") - start).dt.total_days() // 7,
        words=pl.Series(words_in(table["text"].to_list())),
        original=pl.col("repost_of").is_null(),
    )


def distance(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.abs(first - second).sum() / 2)


def f1(posts: pl.DataFrame, subject: str, keywords: Sequence[str]) -> float:
    found = posts["words"].list.eval(pl.element().is_in(list(keywords)).any()).list.first()
    on_topic = posts["label"] == subject
    return 2 * (found & on_topic).sum() / (found.sum() + on_topic.sum())


# Posts as a platform would give them


def test_ids_are_unique_and_rise_with_time(posts: pl.DataFrame) -> None:
    assert posts["id"].n_unique() == len(posts)
    assert posts["id"].is_sorted()
    assert posts["time"].is_sorted()


def test_each_week_holds_its_posts(posts: pl.DataFrame) -> None:
    assert posts["week"].value_counts(sort=True)["count"].to_list() == [4000] * 11
    assert posts["time"].max() < WORLD.start + timedelta(weeks=11)  # type: ignore[operator]


def test_a_start_in_another_zone_is_the_same_moment() -> None:
    berlin = datetime.fromisoformat("2026-01-05T01:00+01:00")
    first = next(World(1, 50, start=berlin).posts())
    assert first == next(World(1, 50).posts())
    assert first.time.tzinfo == UTC


def test_nights_are_quiet_and_evenings_busy(posts: pl.DataFrame) -> None:
    by_hour = np.bincount(posts["time"].dt.hour().to_numpy(), minlength=24)
    assert by_hour[[2, 3, 4]].sum() * 3 < by_hour[[18, 19, 20]].sum()


def test_reposts_repeat_an_earlier_post(posts: pl.DataFrame) -> None:
    reposts = posts.filter(~pl.col("original"))
    assert 0.15 < len(reposts) / len(posts) < 0.25
    pairs = reposts.join(posts.filter("original"), left_on="repost_of", right_on="id", suffix="_of")
    assert len(pairs) == len(reposts)
    assert (pairs["time_of"] <= pairs["time"]).all()
    assert (pairs["text"] == "RT @" + pairs["author_of"] + ": " + pairs["text_of"]).all()
    assert (pairs["label"] == pairs["label_of"]).all()
    assert (pairs["hashtags"] == pairs["hashtags_of"]).all()


def test_hashtags_are_those_in_the_text(posts: pl.DataFrame) -> None:
    assert (posts["text"].str.extract_all(r"#(\w+)").list.eval(pl.element().str.slice(1)) == posts["hashtags"]).all()
    assert 0.2 < (posts["hashtags"].list.len() > 0).mean() < 0.5  # type: ignore[operator]


def test_texts_are_sentences(posts: pl.DataFrame) -> None:
    texts = posts.filter("original")["text"]
    assert not texts.str.contains(r"[{}]|  |^ | $").any()
    assert texts.str.contains(r"^(@\w+ )*[A-Z0-9]").all()
    assert 40 < texts.str.len_chars().mean() < 140  # type: ignore[operator]
    assert texts.n_unique() > 0.9 * len(texts)


def test_mentions_links_and_emoji_occur_now_and_then(posts: pl.DataFrame) -> None:
    texts = posts.filter("original")["text"]
    for pattern in (r"@\w", r"https://\S+\.example/", r"\p{Extended_Pictographic}"):
        assert 0.02 < texts.str.contains(pattern).mean() < 0.4  # type: ignore[operator]


# The statistics of real archives


def test_words_follow_zipf_and_the_tail_never_ends(posts: pl.DataFrame) -> None:
    def counts(texts: pl.Series) -> np.ndarray:
        return np.sort(np.bincount(tokens_of(cut(texts.to_arrow())).texts.values))[::-1]

    whole, half = counts(posts["text"]), counts(posts["text"][: len(posts) // 2])
    rank = np.arange(10, 5000)
    slope = np.polyfit(np.log(rank), np.log(whole[rank]), 1)[0]
    assert -1.7 < slope < -0.9
    assert 1.4 < len(whole) / len(half) < 2


def test_a_few_authors_write_much_and_have_most_followers(posts: pl.DataFrame) -> None:
    written = posts["author"].value_counts(sort=True)["count"]
    assert written.head(len(written) // 10).sum() > 0.35 * len(posts)
    followers = posts.unique("author")["followers"].sort(descending=True)
    assert followers.head(len(followers) // 10).sum() > 0.5 * followers.sum()


def test_reach_and_heat_drive_reposts(posts: pl.DataFrame) -> None:
    originals = posts.filter("original")
    correlation = originals.select(pl.corr("followers", "reposts", method="spearman")).item()
    assert 0.5 < correlation < 0.95
    assert 0.05 < (originals["reposts"] >= 10).mean() < 0.3  # type: ignore[operator]
    breaking = originals.filter(pl.col("week") == WORLD.emerging.week, label="health")
    new = breaking["words"].list.eval(pl.element().is_in(list(WORLD.emerging.words)).any()).list.first()
    median = breaking.with_columns(new=new).group_by("new").agg(pl.col("reposts").median()).sort("new")["reposts"]
    assert median[1] > 1.5 * median[0]


def test_misspellings_and_synonyms_occur(posts: pl.DataFrame) -> None:
    words = posts["words"].explode().value_counts()
    seen = dict(zip(words["words"], words["count"], strict=True))
    assert 0 < seen["hosptial"] < 0.2 * seen["hospital"]
    assert 0 < seen["physicians"] < seen["doctors"]


# The truth


def test_labels_are_the_subjects_in_their_shares(posts: pl.DataFrame) -> None:
    assert set(posts["label"]) == {"chatter", *(subject.name for subject in WORLD.subjects)}
    originals = posts.filter("original", week=4)
    for subject in WORLD.subjects:
        assert (originals["label"] == subject.name).mean() == pytest.approx(
            WORLD.subject_share(subject.name, 4), abs=0.03
        )


def test_the_word_distribution_is_what_the_posts_say() -> None:
    world = World(weeks=1, posts_per_week=60_000)
    table = pl.DataFrame(pl.from_arrow(pa.Table.from_batches(list(world.batches()))))
    texts = table.filter(pl.col("repost_of").is_null(), label="racing")["text"].str.replace_all(r"https://\S+", "")
    index = {word: i for i, word in enumerate(world.vocabulary)}
    seen = np.bincount(
        [index[word] for words in words_in(texts.to_list()) for word in words if word in index],
        minlength=len(index),
    )
    truth = world.word_distribution("racing", 0)
    assert_allclose(truth.sum(), 1)
    noise = np.sqrt(truth * (1 - truth) / seen.sum())
    assert distance(seen / seen.sum(), truth) < 0.04
    # counts of words are nearly binomial, so hardly any word may lie far outside
    assert (np.abs(seen / seen.sum() - truth) > 4 * noise + 1 / seen.sum()).mean() < 0.005


def test_labels_are_told_apart_by_their_words(posts: pl.DataFrame) -> None:
    names = [subject.name for subject in WORLD.subjects]
    truths = np.array([np.mean([WORLD.word_distribution(name, week) for week in (0, 5, 10)], axis=0) for name in names])
    index = {word: i for i, word in enumerate(WORLD.vocabulary)}
    score = np.log(truths + 1e-6)
    sample = posts.filter(pl.col("label") != "chatter").sample(2000, seed=0)
    guesses = [
        names[int(score[:, [index[w] for w in words if w in index]].sum(axis=1).argmax())] for words in sample["words"]
    ]
    assert (sample["label"] == pl.Series(guesses)).mean() > 0.85  # type: ignore[operator]


def test_subjects_drift_over_the_weeks() -> None:
    for subject in WORLD.subjects:
        first, second, last = (WORLD.word_distribution(subject.name, week) for week in (0, 1, 9))
        assert distance(first, last) > 2 * distance(first, second)


def test_the_emerging_words_are_new(posts: pl.DataFrame) -> None:
    story = WORLD.emerging
    assert (story.subject, story.week, story.words[0]) == ("health", 5, "redlung")
    carries = pl.col("words").list.eval(pl.element().is_in(list(story.words)).any()).list.first()
    carried = posts.with_columns(carries=carries)
    assert not carried.filter(pl.col("week") < 5)["carries"].any()
    by_week = carried.filter(pl.col("week") >= 5, label="health").group_by("week").agg(pl.col("carries").mean())
    shares = by_week.sort("week")["carries"].to_list()
    assert 0.05 < shares[0] < shares[2] < shares[5] < 0.8


def test_what_emerges_is_first_met_beside_words_already_followed(posts: pl.DataFrame) -> None:
    story = WORLD.emerging
    health = next(subject for subject in WORLD.subjects if subject.name == story.subject)
    bridge = pl.col("words").list.set_intersection(list(health.keywords)).list.len() > 0
    new = pl.col("words").list.set_intersection(list(story.words)).list.len() > 0
    assert posts.filter(bridge & new).height > 50


def test_emergence_can_be_moved_and_left_out() -> None:
    early, never = World(4, 2000, emergence=1), World(4, 2000, emergence=4)
    assert early.emerging.week == 1
    assert any("redlung" in post.text for post in early.posts())
    assert not any("redlung" in post.text.lower() for post in never.posts())


def test_the_best_keywords_beat_the_founding_ones(posts: pl.DataFrame) -> None:
    week = posts.filter("original", week=10)
    for subject in WORLD.subjects:
        best = WORLD.best_keywords(subject.name, 10, len(subject.keywords))
        assert f1(week, subject.name, best) > f1(week, subject.name, subject.keywords) > 0.1
    assert set(WORLD.best_keywords("health", 10, 5)) & set(WORLD.emerging.words)
    assert not set(WORLD.best_keywords("health", 4, 50)) & set(WORLD.emerging.words)


def test_founding_keywords_are_words_of_the_world() -> None:
    for subject in WORLD.subjects:
        assert set(subject.keywords) <= set(WORLD.vocabulary)
