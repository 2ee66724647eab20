"""The simulated world: reproducible, bounded, and true to the truth it claims."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import numpy as np
import orjson
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from klda.corpus.posts import POST_SCHEMA, HasBatches
from klda.corpus.simulation import Subject, Thread, World, write
from klda.corpus.simulation.truth import words_in
from klda.corpus.simulation.urn import Urn
from klda.corpus.tokens import cut, tokens_of
from klda.errors import SettingError

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


# Reproducible and of any size


def test_the_same_seed_gives_the_same_posts() -> None:
    first, second = (pa.Table.from_batches(list(World(2, 300, seed=7).batches())) for _ in range(2))
    assert first.equals(second)


def test_another_seed_gives_other_posts() -> None:
    texts = [[post.text for post in World(1, 300, seed=seed).posts()] for seed in (0, 1)]
    assert texts[0] != texts[1]


@pytest.mark.parametrize("rows", [1, 700, 100_000])
def test_the_size_of_batches_changes_nothing(rows: int) -> None:
    world = World(weeks=1, posts_per_week=9000)
    batches = list(world.batches(rows))
    assert max(batch.num_rows for batch in batches) <= rows
    whole = pa.Table.from_batches(list(world.batches()))
    assert pa.Table.from_batches(batches).combine_chunks().equals(whole.combine_chunks())


def test_later_weeks_do_not_change_earlier_ones() -> None:
    short, long = World(2, 200, emergence=1), World(5, 200, emergence=1)
    assert list(short.posts()) == list(islice(long.posts(), 400))


@settings(max_examples=30)
@given(weeks=st.integers(1, 3), per_week=st.integers(1, 60), seed=st.integers(0, 2**32))
def test_any_size_gives_exactly_as_many_valid_posts(weeks: int, per_week: int, seed: int) -> None:
    world = World(weeks, per_week, seed)
    table = pa.Table.from_batches(list(world.batches()))
    table.validate(full=True)
    assert table.schema.equals(POST_SCHEMA)
    assert table.num_rows == len(world) == weeks * per_week
    assert all(table[field.name].null_count == 0 for field in POST_SCHEMA if not field.nullable)


def test_a_world_is_a_source_of_batches() -> None:
    assert isinstance(World(), HasBatches)


def test_memory_does_not_grow_with_the_number_of_posts() -> None:
    peaks = []
    for weeks in (1, 5):
        before = pa.total_allocated_bytes()
        world = World(weeks, posts_per_week=20_000)
        peaks.append(max(pa.total_allocated_bytes() - before for _ in world.batches()))
    assert 0 < peaks[1] < 1.5 * peaks[0]


@pytest.mark.parametrize(
    ("given_settings", "named"),
    [
        ({"weeks": 0}, "weeks"),
        ({"posts_per_week": 0}, "posts_per_week"),
        ({"seed": -1}, "seed"),
        ({"start": datetime(2026, 1, 5)}, "time zone"),
        ({"subjects": ()}, "subject"),
    ],
)
def test_a_setting_out_of_range_is_named(given_settings: dict[str, object], named: str) -> None:
    with pytest.raises(SettingError, match=named):
        World(**given_settings)  # type: ignore[arg-type]


def test_an_unknown_subject_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SettingError, match=r"golf.*health"):
        World().word_distribution("golf", 0)


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


def test_a_world_can_have_subjects_of_ones_own() -> None:
    chess = Subject("chess", ("chess",), "chess, player~s", (Thread("opening~s, endgame~s", "sharp", "castle"),))
    world = World(weeks=1, posts_per_week=500, subjects=(chess,))
    assert {post.label for post in world.posts()} == {"chess", "chatter"}
    assert "chess" in world.best_keywords("chess", 0, 3)
    with pytest.raises(SettingError, match="emerges"):
        _ = world.emerging


# Files


@pytest.mark.parametrize("name", ["world.parquet", "world.jsonl", "world.jsonl.gz", "world.jsonl.zst"])
def test_a_world_can_be_written_in_every_format(tmp_path: Path, name: str) -> None:
    world = World(weeks=2, posts_per_week=150)
    done: list[int] = []
    path = write(world, tmp_path / "new" / name, lambda stage, n, total=None, **facts: done.append(n))
    raw = path.read_bytes()
    rows = pq.read_table(path).to_pylist() if name.endswith("parquet") else _lines(raw, name)
    assert [entry.name for entry in path.parent.iterdir()] == [name]
    assert done[-1] == len(rows) == 300
    for row, post in zip(rows, world.posts(), strict=True):
        time = row["time"] if isinstance(row["time"], datetime) else datetime.fromisoformat(row["time"])
        assert (row["id"], time, row["text"], row["retweets"]) == (post.id, post.time, post.text, post.reposts)
        assert (row["x_is_repost"], row["lang"], row["label"]) == (post.is_repost, "en", post.label)
        assert tuple(row["hashtags"]) == post.hashtags
    write(world, path)
    assert path.read_bytes() == raw


def _lines(raw: bytes, name: str) -> list[dict[str, object]]:
    if name.endswith(".gz"):
        raw = gzip.decompress(raw)
    elif name.endswith(".zst"):
        raw = zstandard.ZstdDecompressor().stream_reader(raw).read()
    return [orjson.loads(line) for line in raw.splitlines()]


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "world.jsonl"
    path.write_text("old")

    def stop(stage: str, done: int, total: int | None = None, **facts: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(World(1, 100), path, stop)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"world\.xls.*\.parquet"):
        write(World(), tmp_path / "world.xls")


# Drawing


def test_an_urn_draws_each_distribution_by_its_weights() -> None:
    urn = Urn.of([([1, 2, 3], [1.0, 0.0, 3.0]), ([4], [5.0]), ([5, 6], [1.0, 1.0])])
    drawn = urn.draw(np.repeat([0, 1, 2], 20_000), np.random.default_rng(0)).reshape(3, -1)
    assert set(drawn[0]) == {1, 3}
    assert set(drawn[1]) == {4}
    assert_allclose([(drawn[0] == 3).mean(), (drawn[2] == 5).mean()], [0.75, 0.5], atol=0.02)
