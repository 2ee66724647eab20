"""Deleting a monitor, for the page and for the API alike."""

from __future__ import annotations

from klda.errors import DataError
from klda.monitor.delete import delete
from klda.store.jobs import OPEN
from klda.web.studio import Studio


def delete_monitor(studio: Studio, name: str, identity: str) -> None:
    """Deletes a monitor for good; `DataError` while something works for it."""
    monitor = studio.monitor(name)
    if monitor.folder.being_written:
        raise DataError(f"monitor {name} is collecting; stop that first")
    working = [job for job in monitor.records.jobs.newest(20) if job.state in OPEN]
    if working:
        raise DataError(f"a job of monitor {name} is under way ({working[0].kind}); wait for it, or cancel it first")
    delete(monitor, deleted_by=identity)
    studio.forget(name)
