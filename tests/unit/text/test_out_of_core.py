from __future__ import annotations

from pathlib import Path

import pytest

from klda.errors import DataError, InputError, SettingError
from klda.posts.schema import HasBatches, PostTable, to_batch
from klda.text import out_of_core
from klda.text.corpus import Corpus
from klda.text.recipe import Recipe
from klda.text.shards import load_corpus
from tests.unit.text.same import assert_same
from tests.unit.text.test_shards import KEYWORDS, OPTIONS, make_posts


class Batches(HasBatches):
    """Posts in batches of a few, so that shards can be cut between them."""

    def __init__(self, rows: int, fail: bool = False) -> None:
        self.rows, self.fail = rows, fail

    def batches(self):  # type: ignore[no-untyped-def]
        posts = make_posts()
        for start in range(0, len(posts), self.rows):
            yield to_batch(posts[start : start + self.rows])
        if self.fail:
            raise OSError("the disk is gone")


def test_preparing_on_disk_equals_preparing_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(out_of_core, "MOST_TEXT", 700)
    told: list[tuple[str, int]] = []
    opened = out_of_core.prepare(
        Batches(8),
        Recipe(KEYWORDS, **OPTIONS),
        tmp_path / "out",
        workers=2,
        memory=2 << 30,
        progress=lambda stage, done, *_, **__: told.append((stage, done)),
    )
    assert len(opened) > 2
    assert_same(Corpus.from_posts(make_posts(), KEYWORDS, **OPTIONS), load_corpus(tmp_path / "out"))
    assert ("prepare", 90) in told
    assert ("recode", len(opened)) in told
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_shards_are_cut_by_the_bytes_of_their_texts(tmp_path: Path) -> None:
    cut = [rows for _, rows in out_of_core.spilled(Batches(10), tmp_path, 1)]
    assert cut == [1] * 90, "long posts are cut within a batch, too"
    sizes = [
        (PostTable.open(path).table.column("text").nbytes, rows)
        for path, rows in out_of_core.spilled(Batches(4), tmp_path, 1000)
    ]
    assert all(size <= 1000 for size, _ in sizes)
    assert sum(rows for _, rows in sizes) == 90
    assert len(sizes) < 90 / 4


def test_what_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="the disk is gone"):
        out_of_core.prepare(Batches(40, fail=True), Recipe(KEYWORDS), tmp_path / "out", workers=1)
    assert list(tmp_path.iterdir()) == []


def test_no_posts_too_little_memory_and_a_folder_in_use_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no posts"):
        out_of_core.prepare([], Recipe(KEYWORDS), tmp_path / "out", workers=1)
    with pytest.raises(SettingError, match="at least 512 MiB"):
        out_of_core.prepare([], Recipe(KEYWORDS), tmp_path / "out", memory=1 << 20)
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="not a corpus"):
        out_of_core.prepare([], Recipe(KEYWORDS), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
