"""Long jobs in a process of their own, so that pages need not wait: `python -m klda.monitor.background`.

The database holds the request and the progress. A request to cancel goes there too. The job then ends within a
second or two, between two of its steps. Files are written whole or not at all.
"""

from __future__ import annotations

import _thread
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

from klda.errors import DataError, KldaError, SettingError
from klda.monitor.jobs import recent
from klda.monitor.monitor import Monitor, opened
from klda.store.sql.journal import OPEN

Work = Callable[[Monitor, str, Mapping[str, Any]], object]


def _create(monitor: Monitor, job: str, _: Mapping[str, Any]) -> object:
    from klda.monitor.create import fill

    return fill(monitor, job=job)


def _propose(monitor: Monitor, job: str, _: Mapping[str, Any]) -> object:
    from klda.monitor.propose import propose

    return propose(monitor, job=job)


def _backtest(monitor: Monitor, job: str, request: Mapping[str, Any]) -> object:
    from klda.monitor.own_backtest import backtest

    return backtest(monitor, request, job=job)


def _topics(monitor: Monitor, job: str, _: Mapping[str, Any]) -> object:
    from klda.monitor.window_topics import learn_topics

    return learn_topics(monitor, job=job)


KINDS: Mapping[str, Work] = {"create": _create, "propose": _propose, "backtest": _backtest, "topics": _topics}
"""Kinds of jobs. Each function imports its libraries when it runs."""
MOST_OPEN = 4
"""Jobs that one monitor may run at once. Each is a process, so the number needs a limit."""
_LOOK = 0.5  # seconds between two checks for a cancellation


def start(monitor: Monitor, kind: str, *, asked_by: str, **request: Any) -> str:
    """The id of a job that was started in a process of its own. DataError if too many jobs are running."""
    if kind not in KINDS:
        raise SettingError(f"there is no job of kind {kind!r}; choose one of {', '.join(KINDS)}")
    if sum(job.state in OPEN and job.kind in KINDS for job in recent(monitor)) >= MOST_OPEN:
        raise DataError(f"{MOST_OPEN} jobs of monitor {monitor.name} are running; wait for one, or cancel one")
    job = monitor.records.jobs.add(kind, **request)
    monitor.records.journal.note(asked_by, "start", kind, job=job)
    command = [sys.executable, "-m", "klda.monitor.background", str(monitor.folder.path.absolute()), job]
    try:
        process = subprocess.Popen(  # noqa: S603 - our own program, and ids that we made
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
        )
    except OSError as error:
        monitor.records.jobs.finish(job, error=f"the process could not be started ({error})")
    else:
        Thread(target=process.wait, daemon=True).start()  # collects the exit code, so that no zombie process remains
    return job


def cancel(monitor: Monitor, job: str, *, asked_by: str) -> None:
    """Asks a job to stop. Does nothing if it has ended."""
    asked = monitor.records.jobs.get(job)
    if asked.state in OPEN:
        monitor.records.jobs.cancel(job)
        monitor.records.journal.note(asked_by, "cancel", asked.kind, job=job)


def work(folder: Path, job: str) -> int:
    """The exit code of a process that runs a waiting job."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        with opened(folder.parent, folder.name) as monitor:
            jobs = monitor.records.jobs
            asked = jobs.get(job)
            jobs.report(job, "starting", 0)
            try:
                with _interrupted_by_cancel(monitor, job):
                    KINDS[asked.kind](monitor, job, asked.result.get("request", {}))
            except (Exception, KeyboardInterrupt) as failure:
                with suppress(KldaError):  # the database may not be reachable
                    jobs.finish(job, error=str(failure) or "interrupted")
                raise
    except (KldaError, KeyboardInterrupt):
        return 1  # the database holds the reason
    return 0


@contextmanager
def _interrupted_by_cancel(monitor: Monitor, job: str) -> Iterator[None]:
    """Interrupts the block, as Ctrl-C would, when somebody cancels the job."""
    over = Event()

    def watch() -> None:
        while not over.wait(_LOOK):
            with suppress(KldaError):
                if monitor.records.jobs.get(job).cancelled and not over.is_set():
                    _thread.interrupt_main()
                    return

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


if __name__ == "__main__":
    sys.exit(work(Path(sys.argv[1]), sys.argv[2]))
