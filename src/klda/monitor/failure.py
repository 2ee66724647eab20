"""Why collecting ended, for those who did not see it end: it may fail before the records can tell, or without them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from klda.store import MonitorFolder, open_monitor

_LONGEST = 2_000  # characters: a page shows them


@contextmanager
def leaving_failure(home: Path, name: str) -> Iterator[None]:
    """Leaves in the folder of a monitor what ended the block; nothing where it ended well, and nothing meanwhile."""
    file = open_monitor(home, name).failure
    with suppress(OSError):
        file.unlink()
    try:
        yield
    except Exception as error:
        with suppress(OSError):  # what went wrong first is what to tell
            file.write_text(" ".join((str(error) or type(error).__name__).split())[:_LONGEST] + "\n", encoding="utf-8")
        raise
    with suppress(OSError):  # of somebody who tried to start a second one
        file.unlink()


def failure(folder: MonitorFolder) -> str | None:
    """Why collecting ended; None where it goes on, ended well, or never began."""
    if folder.being_written:
        return None
    try:
        return folder.failure.read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        return None
