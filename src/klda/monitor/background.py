"""Long work in a process of its own, so that whoever asked for it need not wait: `python -m klda.monitor.background`.

The request lies in the records, the progress goes there, and whoever wants it to stop says so there. A job ends within
a second or two of that, between two steps of whatever it is doing; files appear whole or not at all, so that nothing
is left half-written.
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
from klda.store.sql.job_records import OPEN

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
"""What can be asked for; each loads what it takes when it runs."""
MOST_OPEN = 4
"""Jobs of a monitor that may go on at once: each is a process, and asking for more and more must not start them."""
_LOOK = 0.5  # seconds between two looks whether somebody wants the work to stop


def start(monitor: Monitor, kind: str, *, asked_by: str, **request: Any) -> str:
    """The id of a job that has begun in a process of its own; DataError where too many have not ended."""
    if kind not in KINDS:
        raise SettingError(f"work of kind {kind!r} is not known; there are {', '.join(KINDS)}")
    if sum(job.state in OPEN and job.kind in KINDS for job in recent(monitor)) >= MOST_OPEN:
        raise DataError(f"{MOST_OPEN} jobs of monitor {monitor.name} go on already; wait for one, or cancel it")
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
        Thread(target=process.wait, daemon=True).start()  # so that it does not stay behind as a zombie
    return job


def cancel(monitor: Monitor, job: str, *, asked_by: str) -> None:
    """Asks a job to stop; one that has ended stays as it is."""
    asked = monitor.records.jobs.get(job)
    if asked.state in OPEN:
        monitor.records.jobs.cancel(job)
        monitor.records.journal.note(asked_by, "cancel", asked.kind, job=job)


def work(folder: Path, job: str) -> int:
    """Does a job that waits; the exit code of the process."""
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
                with suppress(KldaError):  # where it came too early or too late for whoever records it
                    jobs.finish(job, error=str(failure) or "interrupted")
                raise
    except (KldaError, KeyboardInterrupt):
        return 1  # why, stands in the records
    return 0


@contextmanager
def _interrupted_by_cancel(monitor: Monitor, job: str) -> Iterator[None]:
    """Interrupts the work as Ctrl-C would when somebody asks for it, also where it is silent for long."""
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
