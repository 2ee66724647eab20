from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

import pytest

from klda.monitor.calendar import close
from klda.monitor.collect import Collector
from klda.monitor.forget import sweep_models, vacuum
from klda.monitor.monitor import Monitor
from klda.monitor.propose import propose
from klda.posts.formats.outcome import Row
from klda.store import SavedProposal
from tests.unit.monitor.conftest import MONDAY, WEEK, Make, Scripted, received, row

WORDS = ["ward", "nurse", "patient", "visit", "bed", "night", "shift", "drug", "test", "queue"]
SMALL = {"iterations": 20, "n_topics": 2}


def posts(weeks: int, per_week: int = 80) -> Iterator[Row]:
    """Posts about a hospital; each week has a word of its own."""
    for week in range(weeks):
        for n in range(per_week):
            own = f"news{chr(97 + week)}" if n % 4 == 0 else WORDS[n % 7]
            text = f"{'hospital' if n % 2 else 'doctor'} {WORDS[n % 10]} {WORDS[(n // 3) % 10]} {own} @desk{n % 5}"
            yield row(f"{week}-{n}", text, week=week + n / per_week * 0.9)


@pytest.fixture
def weeks(make: Make) -> Callable[..., AbstractContextManager[Monitor]]:
    def made(**settings: Any) -> AbstractContextManager[Monitor]:
        return make(
            posts(4),
            policy_settings=SMALL,
            sample=0.0,
            candidates={"sources": ["history", "nouns"], "size": 6},
            **settings,
        )

    return made


def proposed(monitor: Monitor, weeks: int) -> list[SavedProposal]:
    """The proposals from the second window on, one after the other."""
    collector = Collector(monitor, Scripted(received(*posts(weeks))))
    asyncio.run(collector.run(asyncio.Event()))
    windows = close(monitor, MONDAY + weeks * WEEK)
    return [propose(monitor, window) for window in windows[1:]]


def test_each_proposal_names_the_model_it_was_made_with(weeks: Make) -> None:
    with weeks() as monitor:
        made = proposed(monitor, 3)
        kept = {model.id: model for model in monitor.records.journal.models()}
        assert [saved.model in kept for saved in made] == [True, True]
        for model in kept.values():
            folder = monitor.folder.path / model.path
            assert sum(file.stat().st_size for file in folder.iterdir()) == model.facts["bytes"]
            assert any(file.suffix == ".safetensors" for file in folder.iterdir())
            assert model.facts["training"] == "scratch"
            assert model.facts["shape"]["n_topics"] == 2
            assert model.facts["bound"] <= 0  # a post may hold nothing but candidates


def test_a_model_that_goes_on_learns_from_the_new_window_and_names_the_one_before(weeks: Make) -> None:
    from klda.model.klda import KLDA

    with weeks(training="continue") as monitor:
        made = proposed(monitor, 4)
        second, third, fourth = (
            {m.id: m for m in monitor.records.journal.models()}[str(saved.model)] for saved in made
        )
        assert [m.facts["training"] for m in (second, third, fourth)] == ["scratch", "continue", "continue"]
        assert [third.facts["from"], fourth.facts["from"]] == [second.id, third.id]
        before, after = (KLDA.load(monitor.folder.path / model.path) for model in (second, third))
        known = before.vocabulary_.words
        assert after.vocabulary_.words[: len(known)] == known
        assert "newsc" in after.vocabulary_
        assert "newsc" not in before.vocabulary_


def test_proposing_again_from_a_window_goes_on_from_the_model_before_it(weeks: Make) -> None:
    with weeks(training="continue") as monitor:
        first, second = proposed(monitor, 3)
        again = propose(monitor)
        models = {model.id: model for model in monitor.records.journal.models()}
        assert models[str(again.model)].facts["from"] == models[str(second.model)].facts["from"] == first.model


def test_a_model_that_cannot_be_read_is_passed_over(weeks: Make) -> None:
    with weeks(training="continue") as monitor:
        first, _ = proposed(monitor, 3)
        [model] = [m for m in monitor.records.journal.models() if m.id == first.model]
        (monitor.folder.path / model.path / "model.json").write_text("{}")
        again = propose(monitor)
        assert {m.id: m for m in monitor.records.journal.models()}[str(again.model)].facts["training"] == "scratch"


def test_only_the_newest_models_are_kept(weeks: Make) -> None:
    with weeks(keep_models=1) as monitor:
        *_, last = proposed(monitor, 4)
        [kept] = monitor.records.journal.models()
        assert kept.id == last.model
        assert [path.name for path in monitor.folder.models.iterdir()] == [kept.path.rpartition("/")[2]]


def test_models_go_with_the_windows_that_expire_and_with_files_that_nobody_recorded(weeks: Make) -> None:
    with weeks() as monitor:
        proposed(monitor, 3)
        lost = monitor.folder.models / "half-written"
        lost.mkdir()
        assert sweep_models(monitor, timedelta(hours=1)) == 0, "somebody may be about to record it"
        os.utime(lost, (time.time() - 7200, time.time() - 7200))
        assert sweep_models(monitor, timedelta(hours=1)) == 1
        vacuum(monitor, "1d")
        assert monitor.records.journal.models() == []
        assert list(monitor.folder.models.iterdir()) == []
