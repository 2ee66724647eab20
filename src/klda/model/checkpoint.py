"""The only part of the model that touches files: tensors as safetensors, everything else as JSON; nothing can run code.

A record is two files, NAME.json and the tensors it names by their checksum. The JSON is replaced last, in one step, so
a reader (or a run that was killed while writing) always finds one whole record, the old or the new.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as parse_tensors
from safetensors.torch import save as tensor_bytes

from klda.errors import FormatError

VERSION = 1
RAY = "ray"
"""Beside a model: the folder in which Ray Train keeps the checkpoints of its run."""
TRAINED = "trained"
"""In that folder: the model, once the run is over."""

# The first is there as soon as a run begins.
_LEFT_BY_RAY = (".validate_storage_marker", "checkpoint_manager_snapshot.json", f"{TRAINED}/model.json")

_TENSORS = re.compile(r"\w+-[0-9a-f]{16}\.safetensors(\.partial)?")  # partial: left behind by a process that was killed


def write(folder: Path, name: str, tensors: Mapping[str, torch.Tensor], facts: Mapping[str, Any]) -> None:
    """Puts a record into a folder, in place of one of the same name."""
    folder.mkdir(parents=True, exist_ok=True)
    content = tensor_bytes({key: tensor.detach().cpu().contiguous() for key, tensor in tensors.items()})
    digest = hashlib.sha256(content).hexdigest()
    weights = f"{name}-{digest[:16]}.safetensors"
    _replace(folder / weights, content)
    record = {"version": VERSION, "tensors": weights, "sha256": digest, "facts": facts}
    _replace(folder / f"{name}.json", json.dumps(record, ensure_ascii=False, indent=1).encode())
    for old in folder.glob(f"{name}-*.safetensors*"):
        if old.name != weights:
            old.unlink()


def read(folder: Path, name: str) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Tensors and facts of a record; a FormatError when it is missing, damaged, foreign or newer."""
    path = folder / f"{name}.json"
    try:
        record = json.loads(path.read_bytes())
        version, weights, digest, facts = (record[key] for key in ("version", "tensors", "sha256", "facts"))
        if version > VERSION:
            raise FormatError(f"{path}: written by a newer version of klda (format {version}); upgrade klda")
        if Path(weights).name != weights:
            raise FormatError(f"{path}: names a file outside its folder ({weights}); do not use it")
        content = (folder / weights).read_bytes()
    except NotADirectoryError as error:
        raise FormatError(f"{folder}: is a file; give the folder of a {name}, as klda train writes it") from error
    except FileNotFoundError as error:
        raise FormatError(f"{error.filename}: missing; {folder} holds no complete {name}") from error
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(f"{path}: damaged or not from klda ({error!r})") from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise FormatError(f"{folder / weights}: damaged, its checksum differs from the one in {path.name}")
    try:
        with torch.device("cpu"):  # else they would go to whatever device is the default
            return parse_tensors(content), facts
    except SafetensorError as error:
        raise FormatError(f"{folder / weights}: not readable as safetensors ({error})") from error


def exists(folder: Path, name: str) -> bool:
    """Whether a folder holds a record of this name."""
    return (folder / f"{name}.json").exists()


def is_model(folder: Path) -> bool:
    """Whether a folder holds a model, finished or begun, trained here or by Ray (in a folder inside it)."""
    return is_ray_run(folder / RAY) or any(_TENSORS.fullmatch(path.name) for path in folder.iterdir())


def is_ray_run(folder: Path) -> bool:
    """Whether Ray Train wrote a folder; the name `ray` alone does not tell."""
    return any((folder / name).is_file() for name in _LEFT_BY_RAY)


def _replace(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
