from __future__ import annotations

import json
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest

from klda import Corpus, read_posts
from klda.errors import SettingError
from klda.evaluation.archive import Archive, capped
from klda.evaluation.subjects import Subject, check_labels
from klda.text.matching import Matcher
from klda.types import KeywordSet, Post


def test_a_filter_collects_exactly_the_posts_that_match(archive):
    keywords = KeywordSet.of("hospital", "nurse")
    caught = set(archive.collect(2, keywords).tolist())
    matcher = Matcher(keywords)
    for position in archive.positions(2).tolist():
        text = archive.corpus.posts[int(archive.documents.post[position])].text
        assert (position in caught) == bool(matcher.match(text))


def test_a_post_with_several_labels_counts_for_each():
    labels = ["AAPL,GOOG", "GOOG", "MSFT, AAPL", None, "GOO"]
    days = [datetime(2026, 1, 5, hour, tzinfo=UTC) for hour in range(len(labels))]
    posts = [
        Post(str(i), day, f"stock {i}", label=label) for i, (day, label) in enumerate(zip(days, labels, strict=True))
    ]
    archive = Archive(Corpus.from_posts(posts, ["stock"]))
    assert archive.on_topic(frozenset({"AAPL"}), 0).tolist() == [0, 2]
    assert archive.on_topic(frozenset({"GOOG"}), 0).tolist() == [0, 1]
    assert archive.on_topic(frozenset({"MSFT", "GOOG"}), 0).tolist() == [0, 1, 2]
    check_labels([Subject("apple", KeywordSet.of("stock"), frozenset({"AAPL"}))], archive.labels)
    with pytest.raises(SettingError, match="most frequent of its 4 labels are AAPL, GOOG"):
        check_labels([Subject("tesla", KeywordSet.of("stock"), frozenset({"TSLA"}))], archive.labels)


def test_a_list_of_labels_is_read_like_labels_with_commas(tmp_path):
    rows = [{"id": "1", "time": "2026-01-05T10:00:00Z", "text": "stock", "label": ["AAPL", "GOOG"]}]
    (tmp_path / "posts.jsonl").write_text(json.dumps(rows[0]) + "\n")
    for source in (tmp_path / "posts.jsonl", pa.Table.from_pylist(rows)):
        assert [post.label for post in read_posts(source)] == ["AAPL,GOOG"]


def test_beyond_the_cap_a_uniform_sample_is_kept():
    kept = capped(np.arange(10, 60), 5, np.random.default_rng(0))
    assert len(set(kept.tolist())) == 5
    assert set(kept.tolist()) <= set(range(10, 60))
    assert np.array_equal(capped(np.arange(4), 5, np.random.default_rng(0)), np.arange(4))


def test_what_was_not_collected_is_not_seen(archive):
    first, second = KeywordSet.of("hospital"), KeywordSet.of("nurse")
    positions = np.concatenate([archive.collect(1, first), archive.collect(2, second)])
    seen = archive.seen(positions, [first, second], first_window=1)
    assert len(seen) + len(seen.apart) == len(positions)
    assert seen.n_windows == 2
    assert seen.windows == archive.corpus.windows[1:3]
    assert seen.history == (first, second)
    times = archive.documents.time[positions]
    assert np.array_equal(np.sort(times), seen.documents.time)


def test_no_word_is_known_before_it_was_collected(archive, world):
    """The emerging story's words occur in the archive, not in what was collected before it broke."""
    before = world.emerging.week
    keywords = KeywordSet.of("hospital", "nurse")
    positions = np.concatenate([archive.collect(w, keywords) for w in range(before)])
    seen = archive.seen(positions, [keywords] * before, min_count=1)
    assert "redlung" in archive.corpus.vocabulary
    assert "redlung" not in seen.vocabulary


def test_labels_say_what_is_on_topic(archive):
    inside = archive.on_topic(frozenset({"health"}), 3)
    assert len(inside)
    assert set(archive.labels[inside]) == {"health"}
    assert set(archive.documents.window[inside]) == {3}
