"""What the studio asks of a monitor made of an upload: work in the background, backtests, the choices of a proposal."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from klda.advice.choices import reselect, what_if
from klda.errors import DataError, SettingError
from klda.monitor import background
from klda.monitor.collect import collect
from klda.monitor.create import create_from_upload, fill
from klda.monitor.forget import vacuum
from klda.monitor.jobs import GRACE, recent, recorded, the_job
from klda.monitor.monitor import Monitor, opened
from klda.monitor.own_backtest import asked, backtest, result, results
from klda.monitor.saved_choices import load_choices, read_choices
from klda.store import Appended, PostStore, list_monitors
from klda.store.sql.records import now
from klda.types import silent
from tests.unit.monitor.uploading import VALUES, sent


@pytest.fixture(scope="module")
def home(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one monitor that was made of an upload."""
    place = tmp_path_factory.mktemp("home")
    upload = sent(place, world.read_bytes())
    create_from_upload(place, "health", upload, VALUES, created_by="ann")
    with opened(place, "health") as made:
        fill(made)
    return place


@pytest.fixture
def monitor(home: Path) -> Iterator[Monitor]:
    with opened(home, "health") as one:
        yield one


def test_a_monitor_is_made_of_an_upload(monitor: Monitor) -> None:
    assert monitor.records.volume.total() > 0
    waiting = monitor.records.proposals.waiting()
    assert waiting is not None
    assert waiting.proposal.current.texts == ("health", "hospital", "doctor")
    assert {job.kind for job in recent(monitor)} >= {"collect", "create", "topics"}
    assert monitor.records.topics.latest() is not None
    assert monitor.records.journal.entries(action="create")[0].who == "ann"


# The file that was handed in


def test_the_file_is_gone_once_its_posts_are_stored_and_nobody_misses_it(monitor: Monitor) -> None:
    assert not monitor.folder.upload.exists()
    counts = asyncio.run(collect(monitor, asyncio.Event()))
    assert (counts.ended, counts.received) == (True, 0)


def test_a_fill_that_was_killed_goes_on_and_then_the_file_goes(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("klda.monitor.collect.MOST_EVENTS", 100)  # several commits
    create_from_upload(tmp_path, "health", sent(tmp_path, world.read_bytes()), VALUES, created_by="ann")
    append = PostStore.append

    def dying(store: PostStore, *given: Any, **options: Any) -> Appended:
        if options["batch"] == 2:
            raise KeyboardInterrupt
        return append(store, *given, **options)

    def dying_at_once(_: Monitor) -> None:
        raise KeyboardInterrupt

    with opened(tmp_path, "health") as made:
        with monkeypatch.context() as patch:
            patch.setattr(PostStore, "append", dying)
            with pytest.raises(KeyboardInterrupt):
                fill(made)
        assert made.folder.upload.exists()
        some = sum(size.sample for size in made.posts().windows())  # which has room for all
        with monkeypatch.context() as patch:
            patch.setattr("klda.monitor.create.close", dying_at_once)
            with pytest.raises(KeyboardInterrupt):
                fill(made)
        assert not made.folder.upload.exists()
        fill(made)
        assert made.records.proposals.waiting() is not None
        handed_in = made.records.journal.entries(action="create")[0].detail["posts"]
        assert 0 < some < sum(size.sample for size in made.posts().windows()) == handed_in


def test_a_file_that_nobody_took_in_goes_when_all_its_posts_are_too_old(world: Path, tmp_path: Path) -> None:
    create_from_upload(tmp_path, "health", sent(tmp_path, world.read_bytes()), VALUES, created_by="ann")
    with opened(tmp_path, "health") as made:
        vacuum(made)
        vacuum(made, "2d")
        assert made.folder.upload.exists()
        vacuum(replace(made, clock=lambda: now() + timedelta(days=3)), "2d")
        assert not made.folder.upload.exists()


# The choices behind a proposal


def test_kept_choices_give_the_proposal_again(monitor: Monitor) -> None:
    saved = monitor.records.proposals.waiting()
    assert saved is not None
    choices = load_choices(monitor, saved.id)
    found = reselect(choices, monitor.settings.novelty)
    assert (found.keep, found.add, found.drop) == (saved.proposal.keep, saved.proposal.add, saved.proposal.drop)
    assert found.reasons == tuple(replace(reason, examples=()) for reason in saved.proposal.reasons)
    assert found.expected_posts == saved.proposal.expected_posts


def test_topics_shift_with_the_list(monitor: Monitor) -> None:
    saved = monitor.records.proposals.waiting()
    assert saved is not None
    choices = load_choices(monitor, saved.id)
    same = what_if(choices, saved.proposal.current.texts)
    other = what_if(choices, choices.candidates.texts[-3:])
    assert all(topic.now == pytest.approx(topic.then) for topic in same.topics)
    assert sum(topic.then for topic in other.topics) == pytest.approx(1.0)
    assert any(topic.now != pytest.approx(topic.then) for topic in other.topics)


def test_a_file_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "foreign.safetensors"
    path.write_bytes(b"\x80\x04pickle")
    with pytest.raises(Exception, match="damaged"):
        read_choices(path)


# Work in the background


def test_a_job_of_a_dead_process_is_recognised(monitor: Monitor) -> None:
    jobs = monitor.records.jobs
    later = replace(monitor, clock=lambda: monitor.clock() + 2 * GRACE)
    with recorded(monitor, "propose", silent) as (report, _):
        report("working", 1, 2)
        alive = jobs.newest(1)[0].id
        assert the_job(later, alive).state == "running"
    assert jobs.get(alive).state == "done"
    dead = jobs.add("propose")
    assert the_job(monitor, dead).state == "waiting"
    found = the_job(later, dead)
    assert found.state == "failed"
    assert found.error is not None
    assert "process died" in found.error


def test_work_in_another_process_can_be_watched_and_stopped(monitor: Monitor) -> None:
    job = background.start(monitor, "backtest", asked_by="ann", loop="open", policies=["klda"], tests=2)
    background.cancel(monitor, job, asked_by="bob")
    until = time.monotonic() + 60
    while (found := the_job(monitor, job)).state in ("waiting", "running"):
        assert time.monotonic() < until
        time.sleep(0.1)
    assert found.state == "cancelled"
    assert not (monitor.folder.path / "backtests").exists() or not list(
        (monitor.folder.path / "backtests").glob(f"*{job}*")
    )
    assert [entry.who for entry in monitor.records.journal.entries(action="cancel")] == ["bob"]


def test_a_monitor_whose_making_is_stopped_never_was(world: Path, tmp_path: Path) -> None:
    create_from_upload(tmp_path, "health", sent(tmp_path, world.read_bytes()), VALUES, created_by="ann")
    with opened(tmp_path, "health") as made:
        job = made.records.jobs.add("create")
        made.records.jobs.cancel(job)
        assert background.work(made.folder.path, job) == 1
    assert list_monitors(tmp_path) == []
    assert list(tmp_path.glob(".health*")) == []


def test_a_monitor_has_few_jobs_at_once(monitor: Monitor, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []

    def begin(command: object, **_: object) -> SimpleNamespace:
        started.append(command)
        return SimpleNamespace(wait=lambda: 0)

    monkeypatch.setattr(background.subprocess, "Popen", begin)
    jobs = [background.start(monitor, "topics", asked_by="ann") for _ in range(background.MOST_OPEN)]
    with pytest.raises(DataError, match="are running"):
        background.start(monitor, "topics", asked_by="ann")
    assert len(started) == background.MOST_OPEN
    for job in jobs:
        monitor.records.jobs.finish(job)
    monitor.records.jobs.finish(background.start(monitor, "topics", asked_by="ann"))


def test_unknown_work_is_refused(monitor: Monitor) -> None:
    with pytest.raises(SettingError, match="create, propose"):
        background.start(monitor, "dance", asked_by="ann")


# Backtests


def test_a_backtest_runs_on_the_own_past_and_is_kept(monitor: Monitor) -> None:
    summary = backtest(monitor, {"policies": ["frequent", "random"], "tests": 1})
    kept = results(monitor)[0]
    assert json.loads(json.dumps(summary)) == kept.summary
    assert kept.request.policies == ("frequent", "random")
    assert result(monitor, kept.id) == kept
    assert [path.name for path in (monitor.folder.path / "backtests").iterdir()] == [f"{kept.id}.json"]


def test_a_closed_loop_runs_on_the_unfiltered_sample(monitor: Monitor, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = backtest(monitor, {"loop": "closed", "policies": ["static"]})
    assert summary["policies"]["static"]["novelty"]["mean"] == 0
    monkeypatch.setattr("klda.monitor.own_backtest.FEWEST_A_WINDOW", 1000)
    with pytest.raises(DataError, match="closed loop needs 1000"):
        backtest(monitor, {"loop": "closed", "policies": ["static"]})


@pytest.mark.parametrize("wrong", [{"policies": ["nobody"]}, {"policies": []}, {"tests": 0}, {"more": 1}])
def test_a_backtest_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(SettingError):
        asked(wrong)
