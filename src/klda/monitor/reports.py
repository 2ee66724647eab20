"""Reports on proposals, in the monitor's folder: each shows posts, and goes when one of these is to be forgotten.

The name of a report says which proposal it shows, and in which state: a proposal that has lost an example has another
digest, and whatever was written before is removed. So nothing has to be searched, and a crash leaves nothing behind
that the next round would not find.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

from klda.errors import DataError
from klda.monitor.monitor import Monitor
from klda.store import SavedProposal
from klda.types import Window


def report_path(monitor: Monitor, saved: SavedProposal) -> Path:
    """Where the report on a proposal lies, as the proposal stands now."""
    digest = sha256(saved.proposal.to_json().encode()).hexdigest()[:16]
    return _folder(monitor) / f"{saved.id}-{digest}.html"


def report_window(monitor: Monitor, saved: SavedProposal) -> Window:
    """The window that a proposal was made from."""
    if saved.proposal.window is None:
        raise DataError(f"proposal {saved.id} names no window; make it again with `klda monitor propose`")
    return monitor.windowing.holding(datetime.fromisoformat(saved.proposal.window) - timedelta(microseconds=1))


def withdraw_reports(monitor: Monitor) -> int:
    """Removes the reports that show what their proposal no longer does, and returns how many."""
    written = list(_folder(monitor).glob("*")) if _folder(monitor).is_dir() else []
    if not written:
        return 0
    valid = {report_path(monitor, saved) for saved in monitor.records.proposals.newest(limit=100_000)}
    stale = [path for path in written if path not in valid]
    for path in stale:
        path.unlink(missing_ok=True)
    return len(stale)


def _folder(monitor: Monitor) -> Path:
    return monitor.folder.path / "reports"
