from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from klda.errors import SettingError, StoreError
from klda.store.delta.post_store import PostStore
from klda.store.delta.stored_posts import export, guarded

Add = Callable[..., bool]


def test_an_export_appears_whole_under_its_name(store: PostStore, tmp_path: Path, add: Add) -> None:
    add("a", "b", keywords=("mask", "drug"))
    assert export(store.read(), tmp_path / "out.parquet") == 2
    assert pq.read_table(tmp_path / "out.parquet").column("keywords").to_pylist() == [["mask", "drug"]] * 2
    assert export(store.read(), tmp_path / "out.JSONL") == 2
    assert {path.name for path in tmp_path.iterdir()} == {"posts", "out.parquet", "out.JSONL"}


def test_an_empty_window_exports_an_empty_file(store: PostStore, tmp_path: Path) -> None:
    for name in ("out.parquet", "out.jsonl"):
        assert export(store.read(), tmp_path / name) == 0
        assert (tmp_path / name).exists()


def test_a_foreign_ending_or_folder_is_a_clear_error(store: PostStore, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"exported as \.parquet or \.jsonl"):
        export(store.read(), tmp_path / "out.csv")
    for name in ("out.parquet", "out.jsonl"):
        with pytest.raises(StoreError, match="nothing was exported"):
            export(store.read(), tmp_path / "nowhere" / name)


def test_files_that_vanish_under_a_reader_are_a_clear_error(store: PostStore, add: Add) -> None:
    add("a")
    found = store.read()
    for path in Path(store.uri).rglob("*.parquet"):
        path.unlink()
    with pytest.raises(StoreError, match="the posts cannot be read"):
        list(found.batches())


def test_a_panic_inside_delta_becomes_an_error_of_ours_and_a_request_to_stop_does_not() -> None:
    panic = type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})
    expected = r"posts cannot be written .*No space left.*free space on the disk"
    with pytest.raises(StoreError, match=expected), guarded("posts", "be written"):
        raise panic("No space left on device (os error 28)")
    with pytest.raises(KeyboardInterrupt), guarded("posts", "be written"):
        raise KeyboardInterrupt
