"""`klda train` that is interrupted or killed, and taken up again."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from klda.model.klda import KLDA
from klda.simulation import World, write

OPTIONS = ("--topics", "3", "--max-iterations", "200", "--format", "json")


@pytest.fixture
def corpus(klda: Callable[..., Any], tmp_path: Path) -> Path:
    posts = write(World(weeks=2, posts_per_week=300, seed=1), tmp_path / "posts.parquet")
    assert klda("prepare", posts, "-k", "health,hospital,doctor", "-o", tmp_path / "corpus").exit_code == 0
    return tmp_path / "corpus"


def _train(corpus: Path, model: Path, *more: str) -> list[str]:
    return ["train", str(corpus), "--model", str(model), *OPTIONS, *more]


def test_a_run_that_is_interrupted_and_then_killed_ends_at_the_same_model(
    corpus: Path, klda: Callable[..., Any], tmp_path: Path
):
    undisturbed, model = tmp_path / "undisturbed", tmp_path / "my model"
    assert klda(*_train(corpus, undisturbed)).exit_code == 0
    for how in (signal.SIGINT, signal.SIGKILL):
        command = [sys.executable, "-m", "klda", *_train(corpus, model, "--resume")]
        said, code = _ended(command, model / "checkpoint.json", how)
        assert not (model / "model.json").exists(), "it was over before it could be ended"
        if how is signal.SIGINT:
            assert code == 130
            assert shlex.join(["klda", *_train(corpus, model, "--resume")]) in said
    assert klda(*_train(corpus, model, "--resume")).exit_code == 0
    whole, resumed = KLDA.load(undisturbed), KLDA.load(model)
    assert resumed.history_ == whole.history_
    for name, tensor in resumed.parameters_.tensors().items():
        assert torch.equal(tensor, whole.parameters_.tensors()[name]), name


def _ended(command: list[str], record: Path, how: signal.Signals) -> tuple[str, int]:
    """What a run says, and its exit code, when it gets a signal as soon as it has come further than its record."""
    before = _checks(record)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while _checks(record) <= before + 1 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(how)
    _, said = process.communicate(timeout=60)
    return said, process.returncode


def _checks(record: Path) -> int:
    """How many checks a run had made when it wrote its record."""
    return len(json.loads(record.read_text())["facts"]["position"]["history"]) if record.exists() else 0
