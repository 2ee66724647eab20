"""The end of a monitor: its posts, records and folder go, wherever they lie."""

from __future__ import annotations

import secrets
import shutil
from datetime import UTC, datetime, timedelta

from klda.monitor.monitor import Monitor


def delete(monitor: Monitor, *, deleted_by: str) -> None:
    """Deletes a monitor for good; refused while somebody collects for it. After a crash it can be called again.

    The folder goes last: for as long as it is there, the monitor is listed, and can be deleted once more. In a database
    that it shared with others the audit log stays, and with it the name.
    """
    with monitor.folder.writer():
        monitor.records.journal.note(deleted_by, "delete", monitor.name)
        if monitor.settings.storage.posts is not None:
            posts = monitor.posts()
            posts.expire(datetime.max.replace(tzinfo=UTC))
            posts.vacuum(timedelta(0))
        monitor.records.erase()
        remove(monitor)


def remove(monitor: Monitor) -> None:
    """Deletes the folder of a monitor; it vanishes from the list at once."""
    gone = monitor.folder.path.with_name(f".{monitor.name}-{secrets.token_hex(4)}")
    monitor.records.close()
    monitor.folder.path.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)
