"""Letting a monitor run: collecting in a process of its own, which goes on when the studio is stopped."""

from __future__ import annotations

import subprocess
import sys

from klda.errors import DataError, StoreError
from klda.monitor.background import cancel
from klda.monitor.monitor import Monitor
from klda.store.jobs import OPEN

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


def stop_running(monitor: Monitor, identity: str) -> None:
    """Asks the process that collects to store what it has, and to end."""
    collecting = [job for job in monitor.records.jobs.newest(20) if job.kind == "collect" and job.state in OPEN]
    if not monitor.folder.being_written or not collecting:
        raise DataError(f"monitor {monitor.name} is not running")
    cancel(monitor, collecting[0].id, asked_by=identity)
