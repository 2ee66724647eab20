from __future__ import annotations

import errno
import json
import os
import pickle
from pathlib import Path

import pytest
import torch

from klda.errors import FormatError
from klda.model import checkpoint

TENSORS = {"a": torch.arange(6.0).view(2, 3), "b": torch.tensor([True, False])}


def test_a_record_comes_back_as_it_was(tmp_path: Path):
    checkpoint.write(tmp_path / "new", "model", TENSORS, {"text": "naïve", "n": 3})
    tensors, facts = checkpoint.read(tmp_path / "new", "model")
    assert facts == {"text": "naïve", "n": 3}
    assert all(torch.equal(tensors[name], TENSORS[name]) for name in TENSORS)


def test_a_new_record_replaces_the_old_and_leaves_nothing_behind(tmp_path: Path):
    checkpoint.write(tmp_path, "model", TENSORS, {})
    checkpoint.write(tmp_path, "model", {"a": torch.zeros(1)}, {"second": True})
    assert checkpoint.read(tmp_path, "model")[1] == {"second": True}
    assert len(list(tmp_path.iterdir())) == 2


def test_a_write_that_dies_before_its_end_leaves_the_old_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    checkpoint.write(tmp_path, "model", TENSORS, {"first": True})
    replace = Path.replace

    def die_at_json(self: Path, target: Path) -> Path:
        if target.suffix == ".json":
            raise KeyboardInterrupt
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", die_at_json)
    with pytest.raises(KeyboardInterrupt):
        checkpoint.write(tmp_path, "model", {"a": torch.zeros(1)}, {})
    monkeypatch.undo()
    assert checkpoint.read(tmp_path, "model")[1] == {"first": True}


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        checkpoint.write(tmp_path, "model", TENSORS, {})
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_a_model_that_was_begun_and_goes_with_the_next(tmp_path: Path):
    left = tmp_path / "model-0123456789abcdef.safetensors.partial"
    left.write_bytes(b"half")
    assert checkpoint.is_model(tmp_path)
    checkpoint.write(tmp_path, "model", TENSORS, {})
    assert not left.exists()


@pytest.mark.parametrize("damage", ["cut", "flip", "gone", "json", "deep", "pickle", "newer", "elsewhere"])
def test_a_damaged_or_foreign_record_gives_our_error(tmp_path: Path, damage: str):
    checkpoint.write(tmp_path, "model", TENSORS, {})
    weights = next(tmp_path.glob("*.safetensors"))
    record = tmp_path / "model.json"
    content = weights.read_bytes()
    if damage == "cut":
        weights.write_bytes(content[:-3])
    elif damage == "flip":
        weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    elif damage == "gone":
        weights.unlink()
    elif damage == "json":
        record.write_text("{")
    elif damage == "deep":
        record.write_text("[" * 100_000)
    elif damage == "pickle":
        record.write_bytes(pickle.dumps({"version": 1}))
    else:
        facts = json.loads(record.read_text())
        facts |= {"version": 99} if damage == "newer" else {"tensors": "../" + weights.name}
        record.write_text(json.dumps(facts))
    with pytest.raises(FormatError, match="model"):
        checkpoint.read(tmp_path, "model")


def test_a_record_that_is_not_there_is_named(tmp_path: Path):
    assert not checkpoint.exists(tmp_path, "model")
    with pytest.raises(FormatError, match="missing"):
        checkpoint.read(tmp_path, "model")


@pytest.mark.parametrize("name", [".validate_storage_marker", "checkpoint_manager_snapshot.json", "trained/model.json"])
def test_a_folder_called_ray_is_a_model_only_where_ray_wrote_it(tmp_path: Path, name: str):
    left = tmp_path / "ray" / name
    left.parent.mkdir(parents=True)
    (tmp_path / "ray" / "rays.txt").write_text("of light")
    assert not checkpoint.is_model(tmp_path)
    left.write_text("{}")
    assert checkpoint.is_model(tmp_path)


def test_a_file_in_place_of_the_folder_is_told(tmp_path: Path):
    file = tmp_path / "posts.jsonl"
    file.touch()
    with pytest.raises(FormatError, match="is a file; give the folder of a model"):
        checkpoint.read(file, "model")
