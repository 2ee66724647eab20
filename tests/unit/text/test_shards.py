from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klda.errors import DataError, FormatError, SettingError
from klda.text import shards, storage
from klda.text.corpus import Corpus, every
from klda.text.documents import Words
from klda.text.joining import merged_vocabulary, vocabulary_of, word_counts
from klda.text.recipe import Recipe
from klda.text.shards import ShardedCorpus, assemble, load_corpus, local_shard, n_documents
from klda.text.storage import save_corpus
from klda.text.text_settings import TextSettings
from klda.text.windows import Windowing
from klda.types import Keyword, KeywordSet, Post
from tests.unit.text.same import assert_same

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
KEYWORDS = KeywordSet.of("wind", Keyword("mask", ("mask", "masks")))
OPTIONS: dict[str, Any] = {
    "candidates": KeywordSet.of("#tag1", "rain"),
    "window": Windowing("1d", zone="Europe/Berlin"),
    "settings": TextSettings(min_count=3),
}
WORDS = (
    "mask",
    "masks",
    "masked",
    "wind",
    "winds",
    "rain",
    "rains",
    "#tag1",
    "#tag2",
    "sun",
    "suns",
    "é👍",
    "the",
    "日本",
)


def make_posts(n: int = 90) -> list[Post]:
    draw = np.random.default_rng(0)
    return [
        Post(
            str(i),
            MONDAY + timedelta(hours=int(draw.integers(0, 200))),
            " ".join([*draw.choice(WORDS, 4), f"word{draw.integers(0, 30)}"]),
            likes=i,
        )
        for i in range(n)
    ]


def save_parts(posts: Sequence[Post], cuts: Sequence[int], folder: Path) -> list[Path]:
    """Local shards of the posts, cut at these places; empty ones are left out, as preparing would."""
    parts = []
    for start, stop in pairwise([0, *sorted(cuts), len(posts)]):
        if start < stop:
            parts.append(folder / f"part{start}")
            save_corpus(local_shard(posts[start:stop], Recipe(KEYWORDS, **OPTIONS)), parts[-1])
    return parts


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 400), st.lists(st.sampled_from(WORDS), min_size=1)), min_size=1, max_size=30
    ),
    cuts=st.lists(st.integers(0, 30), max_size=4),
    stem=st.booleans(),
    memory=st.sampled_from([1 << 30, 2000]),
)
@settings(max_examples=30)
def test_shards_together_equal_the_corpus_made_at_once(
    rows: list[tuple[int, list[str]]], cuts: list[int], stem: bool, memory: int
) -> None:
    posts = [Post(str(i), MONDAY + timedelta(hours=at), " ".join(words)) for i, (at, words) in enumerate(rows)]
    with tempfile.TemporaryDirectory() as folder:
        parts = save_parts(posts, [min(cut, len(posts)) for cut in cuts], Path(folder))
        assemble(parts, Path(folder) / "out", Recipe(KEYWORDS, **OPTIONS, stem_keywords=stem), memory=memory)
        assert_same(
            Corpus.from_posts(posts, KEYWORDS, stem_keywords=stem, **OPTIONS), load_corpus(Path(folder) / "out")
        )


def test_every_shard_is_a_corpus_with_the_words_and_windows_of_all(tmp_path: Path) -> None:
    posts = make_posts()
    opened = assemble(save_parts(posts, [20, 50], tmp_path), tmp_path / "out", Recipe(KEYWORDS, **OPTIONS))
    whole = Corpus.from_posts(posts, KEYWORDS, **OPTIONS)
    assert [len(shard.posts) for shard in opened] == [20, 30, 40] == [entry.posts for entry in opened.shards]
    assert sum(entry.tokens for entry in opened.shards) == whole.documents.n_tokens
    assert sum(entry.pairs for entry in opened.shards) == len(whole.observed.values)
    for shard in opened:
        assert shard.vocabulary == whole.vocabulary
        assert shard.windows == whole.windows
        assert shard.history == whole.history


def test_words_may_be_merged_elsewhere_and_tasks_done_in_any_way(tmp_path: Path) -> None:
    posts = make_posts()
    parts = save_parts(posts, [40], tmp_path)
    counts = word_counts(parts[0] / "vocabulary.parquet").vstack(word_counts(parts[1] / "vocabulary.parquet"))
    merged = vocabulary_of(counts, OPTIONS["settings"])
    assert merged == merged_vocabulary([part / "vocabulary.parquet" for part in parts], OPTIONS["settings"])
    assemble(
        parts,
        tmp_path / "out",
        Recipe(KEYWORDS, **OPTIONS),
        vocabulary=merged,
        map_tasks=lambda task, items: [(task(item), task(item))[1] for item in items],  # each done twice
    )
    assert_same(Corpus.from_posts(posts, KEYWORDS, **OPTIONS), load_corpus(tmp_path / "out"))


def test_a_history_names_the_keywords_of_each_window(tmp_path: Path) -> None:
    parts = save_parts(make_posts(), [40], tmp_path)
    n_windows = load_corpus(assemble(parts, tmp_path / "out", Recipe(KEYWORDS)).folder).n_windows
    history = [KeywordSet.of(str(i)) for i in range(n_windows)]
    assemble(parts, tmp_path / "out", Recipe(KEYWORDS, history=history))
    assert load_corpus(tmp_path / "out").history == tuple(history)
    with pytest.raises(SettingError, match="1 keyword sets"):
        assemble(parts, tmp_path / "out", Recipe(KEYWORDS, history=history[:1]))


def test_the_digest_is_that_of_the_content(tmp_path: Path) -> None:
    posts = make_posts()
    digests = []
    for name, some in (("one", posts), ("two", posts), ("three", posts[:-1])):
        (tmp_path / name).mkdir()
        digests.append(
            assemble(save_parts(some, [40], tmp_path / name), tmp_path / name / "out", Recipe(KEYWORDS)).digest
        )
    assert digests[0] == digests[1] != digests[2]


def test_a_failed_assembly_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = save_parts(make_posts(), [40], tmp_path)
    before = assemble(parts, tmp_path / "out", Recipe(KEYWORDS)).digest

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(shards, "_write_manifest", fail)
    with pytest.raises(OSError, match="disk full"):
        assemble(parts[:1], tmp_path / "out", Recipe(KEYWORDS))
    assert ShardedCorpus.open(tmp_path / "out").digest == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "part0", "part40"]


def test_nothing_to_assemble_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no posts"):
        assemble([], tmp_path / "out", Recipe(KEYWORDS))


def test_posts_are_linked_where_the_disk_can_and_copied_where_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = save_parts(make_posts(), [], tmp_path)
    assemble(parts, tmp_path / "linked", Recipe(KEYWORDS))
    assert (tmp_path / "linked/shards/00000/posts.arrow").stat().st_nlink == 2

    def refuse(*_: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(storage.os, "link", refuse)
    assemble(parts, tmp_path / "copied", Recipe(KEYWORDS))
    assert (tmp_path / "copied/shards/00000/posts.arrow").stat().st_nlink == 1
    assert_same(load_corpus(tmp_path / "linked"), load_corpus(tmp_path / "copied"))


def test_a_corpus_of_shards_can_be_saved_whole_in_their_place(tmp_path: Path) -> None:
    assemble(save_parts(make_posts(), [40], tmp_path), tmp_path / "out", Recipe(KEYWORDS))
    corpus = load_corpus(tmp_path / "out")
    save_corpus(corpus, tmp_path / "out")
    assert not shards.is_sharded(tmp_path / "out")
    assert_same(corpus, load_corpus(tmp_path / "out"))


@pytest.mark.parametrize("cuts", [[], [30, 60]])
@pytest.mark.parametrize("sharded", [True, False])
def test_a_stretch_of_the_documents_is_that_of_the_whole(tmp_path: Path, cuts: list[int], sharded: bool) -> None:
    assemble(save_parts(make_posts(), cuts, tmp_path), tmp_path / "out", Recipe(KEYWORDS))
    whole = load_corpus(tmp_path / "out")
    if not sharded:
        save_corpus(whole, tmp_path / "out")
    seen = []

    def rows(window: Words) -> slice:
        seen.append(window.tolist())
        return slice(10, 25)

    assert_same(load_corpus(tmp_path / "out", rows), whole.take(slice(10, 25)))
    assert seen == [whole.documents.window.tolist()]
    assert_same(load_corpus(tmp_path / "out", every), whole.without_apart())
    assert n_documents(tmp_path / "out") == len(whole)


def test_a_stretch_reads_only_the_shards_that_it_lies_in(tmp_path: Path) -> None:
    posts = sorted(make_posts(), key=lambda post: post.time)
    corpus = assemble(save_parts(posts, [30, 60], tmp_path), tmp_path / "out", Recipe(KEYWORDS))
    second, third = corpus.shard(1), corpus.shard(2)
    arrays = tmp_path / "out/shards/00002/arrays.arrow"
    content = bytearray(arrays.read_bytes())
    content[content.index(third.documents.words.tobytes())] ^= 1
    arrays.write_bytes(content)
    start = len(corpus.shard(0))
    found = corpus.joined(lambda _: slice(start, start + len(second)))
    np.testing.assert_array_equal(found.documents.words, second.documents.words)
    with pytest.raises(FormatError, match="00002"):
        corpus.joined(lambda _: slice(start, start + len(second) + 1))


@pytest.mark.parametrize("damage", ["gone", "garbage", "changed"])
@pytest.mark.parametrize("name", ["shards.json", "vocabulary.parquet", "shards/00001/arrays.arrow"])
def test_damage_is_refused(tmp_path: Path, name: str, damage: str) -> None:
    assemble(save_parts(make_posts(), [40], tmp_path), tmp_path / "out", Recipe(KEYWORDS))
    path = tmp_path / "out" / name
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    elif damage == "garbage":
        path.write_bytes(b"\x00" * len(content))
    else:
        middle = len(content) // 2
        path.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    with pytest.raises(FormatError, match="out"):
        load_corpus(tmp_path / "out")


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    assemble(save_parts(make_posts(), [40], tmp_path), tmp_path / "out", Recipe(KEYWORDS))
    manifest = tmp_path / "out" / "shards.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"version": 99}))
    with pytest.raises(FormatError, match="99"):
        ShardedCorpus.open(tmp_path / "out")
    with pytest.raises(FormatError, match="not a folder of shards"):
        ShardedCorpus.open(tmp_path / "part0")
