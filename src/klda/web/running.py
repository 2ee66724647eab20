"""Letting a monitor run: collecting in a process of its own, which goes on when the studio is stopped."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

from klda.errors import DataError, StoreError
from klda.monitor.background import cancel
from klda.monitor.monitor import Monitor
from klda.store.jobs import OPEN

PATIENCE = 10.0
"""Seconds for which an answer waits until a process has begun or ended, so that the page which follows shows it."""
_STEP = 0.1
_started: list[subprocess.Popen[bytes]] = []


def start_running(monitor: Monitor, identity: str) -> None:
    """Begins what `klda monitor run` does."""
    if monitor.folder.being_written:
        raise DataError(f"monitor {monitor.name} is running already")
    home = str(monitor.folder.path.parent.absolute())
    command = [sys.executable, "-m", "klda", "monitor", "run", monitor.name, "--home", home, "--format", "json"]
    _started[:] = [process for process in _started if process.poll() is None]
    nowhere = subprocess.DEVNULL  # where it fails, `failure` says why
    try:
        process = subprocess.Popen(  # noqa: S603 - our own program, and a name that we made
            command, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True
        )
    except OSError as error:
        raise StoreError(f"the process could not be started ({error}); see to the cause and try again") from error
    _started.append(process)
    monitor.records.journal.note(identity, "run", monitor.name)
    _wait_until(lambda: monitor.folder.being_written or process.poll() is not None)


def stop_running(monitor: Monitor, identity: str) -> None:
    """Asks the process that collects to store what it has, and to end."""
    collecting = [job for job in monitor.records.jobs.newest(20) if job.kind == "collect" and job.state in OPEN]
    if not monitor.folder.being_written or not collecting:
        raise DataError(f"monitor {monitor.name} is not running")
    cancel(monitor, collecting[0].id, asked_by=identity)
    _wait_until(lambda: not monitor.folder.being_written)


def _wait_until(it_is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not it_is_so() and time.monotonic() < end:
        time.sleep(_STEP)
