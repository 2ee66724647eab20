"""Actions of both the pages and the API: make, run and delete a monitor, and decide about its proposals."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from fastapi import HTTPException

from klda.advice.choices import Choices
from klda.errors import DataError, InputError, StoreError
from klda.monitor.background import cancel
from klda.monitor.create import create
from klda.monitor.decide import approve, edit, reject
from klda.monitor.forget import delete
from klda.monitor.monitor import Monitor
from klda.monitor.saved_choices import path_of, read_choices, with_posts
from klda.store import SavedProposal
from klda.store.sql.journal import OPEN
from klda.types import KeywordSet
from klda.web.forms import MOST_KEYWORDS, MOST_LETTERS, MonitorForm, name_taken, settings_of
from klda.web.studio import Studio

PROPOSAL = r"^[0-9a-f]{16}$"
MOST_NOTE = 2_000

Verdict = Literal["approve", "edit", "reject"]

PATIENCE = 10.0
"""Seconds to wait until a process has started or ended, so that the next page shows it."""
_STEP = 0.1
_started: list[subprocess.Popen[bytes]] = []


def start_running(monitor: Monitor, identity: str) -> None:
    """Starts `klda monitor run` in a process of its own."""
    if monitor.folder.being_written:
        raise DataError(f"monitor {monitor.name} is running already")
    home = str(monitor.folder.path.parent.absolute())
    command = [sys.executable, "-m", "klda", "monitor", "run", monitor.name, "--home", home, "--format", "json"]
    _started[:] = [process for process in _started if process.poll() is None]
    nowhere = subprocess.DEVNULL  # if it fails, the monitor's folder says why
    try:
        process = subprocess.Popen(  # noqa: S603 - our own program, and a name that we made
            command, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True
        )
    except OSError as error:
        raise StoreError(f"the process could not be started ({error}); try again") from error
    _started.append(process)
    monitor.records.journal.note(identity, "run", monitor.name)
    _wait_until(lambda: monitor.folder.being_written or process.poll() is not None)


def stop_running(monitor: Monitor, identity: str) -> None:
    """Asks the collecting process to store its posts and to end."""
    collecting = [job for job in monitor.records.jobs.newest(20) if job.kind == "collect" and job.state in OPEN]
    if not monitor.folder.being_written or not collecting:
        raise DataError(f"monitor {monitor.name} is not running")
    cancel(monitor, collecting[0].id, asked_by=identity)
    _wait_until(lambda: not monitor.folder.being_written)


def _wait_until(it_is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not it_is_so() and time.monotonic() < end:
        time.sleep(_STEP)


def delete_monitor(studio: Studio, name: str, identity: str) -> None:
    """Deletes a monitor for good. `DataError` while a process or a job works for it."""
    monitor = studio.monitor(name)
    if monitor.folder.being_written:
        raise DataError(f"monitor {name} is collecting; stop that first")
    working = [job for job in monitor.records.jobs.newest(20) if job.state in OPEN]
    if working:
        raise DataError(f"a job of monitor {name} is running ({working[0].kind}); wait for it, or cancel it first")
    delete(monitor, deleted_by=identity)
    studio.forget(name)


def make_monitor(studio: Studio, form: MonitorForm, identity: str) -> str:
    """The name of a new monitor. `WrongFields` if the form cannot be used."""
    settings = settings_of(form, private=studio.settings.private_sources)
    if studio.has(form.name):
        raise name_taken()
    try:
        create(studio.settings.home, form.name, settings, created_by=identity)
    except InputError as error:  # another request was faster
        raise name_taken() from error
    return form.name


def the_proposal(monitor: Monitor, name: str) -> SavedProposal:
    """The proposal with this id. HTTP 404 if there is none."""
    try:
        return monitor.records.proposals.get(name)
    except DataError as error:
        raise HTTPException(404, f"there is no proposal {name!r}") from error


def the_choices(monitor: Monitor, saved: SavedProposal) -> Choices | None:
    """The choices behind a proposal, or None if they are not kept. The file is read once, and stays in memory."""
    path = path_of(monitor, saved.id)
    return with_posts(_read(path), monitor, saved.proposal) if path.is_file() else None


def weighable(monitor: Monitor, saved: SavedProposal) -> Choices:
    """The same. HTTP 409 if they are not kept."""
    found = the_choices(monitor, saved)
    if found is None:
        raise HTTPException(
            409, "the choices behind this proposal are no longer kept; only newer proposals have the dial and what-if"
        )
    return found


@lru_cache(maxsize=8)
def _read(path: Path) -> Choices:
    return read_choices(path)  # a file never changes: the id of a proposal is in its name


def decide(
    monitor: Monitor, saved: SavedProposal, verdict: Verdict, *, identity: str, note: str, keywords: Sequence[str]
) -> None:
    """Records a decision under the name of the person, and activates the keywords."""
    if saved.state != "waiting":
        raise DataError(f"proposal {saved.id} no longer waits: it is {saved.state}")
    if verdict == "approve":
        approve(monitor, saved.id, decided_by=identity, note=note)
    elif verdict == "reject":
        reject(monitor, saved.id, decided_by=identity, note=note)
    else:
        if len(keywords) > MOST_KEYWORDS or any(len(keyword) > MOST_LETTERS for keyword in keywords):
            raise InputError(f"a list has at most {MOST_KEYWORDS} keywords of at most {MOST_LETTERS} characters")
        edit(monitor, _known(monitor, saved, keywords), saved.id, decided_by=identity, note=note)


def _known(monitor: Monitor, saved: SavedProposal, keywords: Sequence[str]) -> KeywordSet:
    """The keywords with the forms of the candidates. Other keywords match as typed."""
    choices = the_choices(monitor, saved)
    candidates = KeywordSet() if choices is None else choices.candidates
    typed = KeywordSet.of(*keywords)
    return KeywordSet(tuple(candidates[candidates.index(k)] if k in candidates else k for k in typed))
