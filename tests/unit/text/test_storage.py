from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from klda.errors import FormatError, InputError
from klda.text import storage
from klda.text.corpus import Corpus
from klda.text.shards import load_corpus
from klda.text.storage import save_corpus
from klda.text.text_settings import TextSettings
from klda.text.windows import Windowing
from klda.types import Keyword, KeywordSet, Post
from tests.unit.text.same import assert_same


def make_corpus(n: int = 60) -> Corpus:
    monday = datetime(2026, 1, 5, tzinfo=UTC)
    posts = [
        Post(
            str(i),
            monday + timedelta(hours=7 * i),
            f"{'masks' if i % 3 else 'rain'} and wind {i % 5} é👍 #tag{i % 2}",
            likes=i,
        )
        for i in range(n)
    ]
    return Corpus.from_posts(
        posts,
        KeywordSet.of("wind", Keyword("mask", ("mask", "masks"))),
        candidates=KeywordSet.of("#tag1", "rain"),
        window=Windowing("1d", zone="Europe/Berlin", align=datetime(2026, 1, 1, 6, tzinfo=UTC)),
        settings=TextSettings(min_count=3),
    )


def test_a_loaded_corpus_equals_the_saved_one(tmp_path: Path) -> None:
    corpus = make_corpus()
    save_corpus(corpus, tmp_path / "corpus")
    assert_same(corpus, load_corpus(tmp_path / "corpus"))


def test_arrays_are_mapped_and_cannot_be_written_to(tmp_path: Path) -> None:
    save_corpus(make_corpus(), tmp_path / "corpus")
    words = load_corpus(tmp_path / "corpus").documents.words
    assert not words.flags.writeable
    assert not words.flags.owndata


def test_the_same_posts_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        save_corpus(make_corpus(), tmp_path / name)
    for path in sorted((tmp_path / "one").iterdir()):
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_a_corpus_can_be_saved_where_it_was_loaded_from(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    save_corpus(make_corpus(), folder)
    loaded = load_corpus(folder)
    save_corpus(loaded, folder)
    assert_same(loaded, load_corpus(folder))
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


def test_a_failed_save_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "corpus"
    corpus = make_corpus()
    save_corpus(corpus, folder)

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(storage, "_write_arrays", fail)
    with pytest.raises(OSError, match="disk full"):
        save_corpus(make_corpus(20), folder)
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]
    assert_same(corpus, load_corpus(folder))


@pytest.mark.parametrize("renames", [1, 2])
def test_ctrl_c_while_a_corpus_takes_the_place_of_another_loses_neither(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renames: int
) -> None:
    folder = tmp_path / "corpus"
    old, new = make_corpus(), make_corpus(20)
    save_corpus(old, folder)
    rename, done = Path.rename, []

    def interrupted(self: Path, target: Path) -> Path:
        renamed = rename(self, target)
        done.append(target)
        if len(done) == renames:
            raise KeyboardInterrupt
        return renamed

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save_corpus(new, folder)
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]
    assert_same(old if renames == 1 else new, load_corpus(folder))


def test_a_folder_that_is_no_corpus_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="not a corpus"):
        save_corpus(make_corpus(), tmp_path)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="nowhere"):
        load_corpus(tmp_path / "nowhere")
    (tmp_path / "posts.parquet").touch()
    with pytest.raises(FormatError, match=r"posts\.parquet: not a corpus .*klda prepare"):
        load_corpus(tmp_path / "posts.parquet")


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    save_corpus(make_corpus(), tmp_path / "corpus")
    manifest = tmp_path / "corpus" / "corpus.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"version": 99}))
    with pytest.raises(FormatError, match="99"):
        load_corpus(tmp_path / "corpus")


@pytest.mark.parametrize("name", ["corpus.json", "arrays.arrow", "posts.arrow", "vocabulary.parquet"])
@pytest.mark.parametrize("damage", ["cut", "gone", "garbage"])
def test_damage_is_refused_and_the_file_named(tmp_path: Path, name: str, damage: str) -> None:
    save_corpus(make_corpus(), tmp_path / "corpus")
    path = tmp_path / "corpus" / name
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(content[: len(content) // 2] if damage == "cut" else b"\x00" * len(content))
    with pytest.raises(FormatError, match=name):
        load_corpus(tmp_path / "corpus")


@pytest.mark.parametrize("key", ["windows", "settings", "candidates", "history", "windowing", "bytes"])
def test_a_manifest_without_a_part_is_refused(tmp_path: Path, key: str) -> None:
    save_corpus(make_corpus(), tmp_path / "corpus")
    path = tmp_path / "corpus" / "corpus.json"
    path.write_text(json.dumps({k: v for k, v in json.loads(path.read_text()).items() if k != key}))
    with pytest.raises(FormatError, match=key):
        load_corpus(tmp_path / "corpus")
