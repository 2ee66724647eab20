"""`klda train` whose training diverges: it starts again with a smaller step."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from klda.errors import DivergedError
from klda.model.klda import KLDA
from klda.model.runs import step_of
from klda.simulation import World, write

STEP = KLDA().learning_rate
OPTIONS = ("--topics", "3", "--max-iterations", "5", "--format", "json")


@pytest.fixture
def corpus(klda: Callable[..., Any], tmp_path: Path) -> Path:
    posts = write(World(weeks=2, posts_per_week=300, seed=1), tmp_path / "posts.parquet")
    assert klda("prepare", posts, "-k", "health,hospital,doctor", "-o", tmp_path / "corpus").exit_code == 0
    return tmp_path / "corpus"


@pytest.fixture
def diverges_above(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Makes training diverge with steps above one."""
    fit = KLDA.fit

    def set_limit(limit: float) -> None:
        def unstable(self: KLDA, *given: Any, **named: Any) -> KLDA:
            fit(self, *given, **named)
            if self.learning_rate > limit:
                raise DivergedError("the held-out bound went to -1e+09 a token")
            return self

        monkeypatch.setattr(KLDA, "fit", unstable)

    return set_limit


def test_training_that_diverges_starts_again_with_a_smaller_step(
    corpus: Path, klda: Callable[..., Any], tmp_path: Path, diverges_above: Callable[[float], None]
) -> None:
    diverges_above(STEP / 2)
    done = klda("train", corpus, "--model", tmp_path / "model", *OPTIONS)
    assert done.exit_code == 0
    assert f"starts again with a smaller step ({STEP / 4:g})" in done.stderr
    assert json.loads(done.stdout)["n_topics"] == 3
    assert KLDA.load(tmp_path / "model").learning_rate == STEP / 4


def test_a_run_that_began_again_goes_on_with_the_step_it_had(
    corpus: Path, klda: Callable[..., Any], tmp_path: Path, diverges_above: Callable[[float], None]
) -> None:
    diverges_above(STEP / 2)
    klda("train", corpus, "--model", tmp_path / "model", *OPTIONS)
    assert step_of(tmp_path / "model") == STEP / 4
    done = klda("train", corpus, "--model", tmp_path / "model", *OPTIONS, "--resume")
    assert done.exit_code == 0
    assert "starts again" not in done.stderr
    assert KLDA.load(tmp_path / "model").learning_rate == STEP / 4


def test_training_that_diverges_with_every_step_says_so(
    corpus: Path, klda: Callable[..., Any], tmp_path: Path, diverges_above: Callable[[float], None]
) -> None:
    diverges_above(0.0)
    done = klda("train", corpus, "--model", tmp_path / "model", *OPTIONS)
    assert done.exit_code == DivergedError.exit_code
    assert done.stderr.count("starts again with a smaller step") == 2
    assert not (tmp_path / "model" / "model.json").exists()
