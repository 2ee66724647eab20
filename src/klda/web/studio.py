"""What every page and resource works on: the home, its monitors held open, and who is asking.

A monitor is opened once and kept: opening takes the database's write lock for a moment, which no reader should. Its
database is shared by all threads; settings are read again when their file changes.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import ExitStack
from threading import Lock
from typing import Annotated

from fastapi import Depends, HTTPException, Path, Request

from klda.monitor.monitor import Monitor, opened_in
from klda.store import MonitorFolder, list_monitors
from klda.web.settings import StudioSettings

NAME = r"^[a-z0-9][a-z0-9_-]{0,62}$"


class Studio:
    """The monitors of a home, open for as long as the studio is."""

    def __init__(self, settings: StudioSettings) -> None:
        self.settings = settings
        self._lock = Lock()
        self._open: dict[str, tuple[float, Monitor, ExitStack]] = {}

    def monitors(self) -> list[Monitor]:
        """All monitors, by name."""
        return [self._opened(folder) for folder in list_monitors(self.settings.home)]

    def monitor(self, name: str) -> Monitor:
        """The monitor of this name; an answer of 404 where there is none."""
        folder = next((f for f in list_monitors(self.settings.home) if f.name == name), None)
        if folder is None:
            self._forget(name)
            raise HTTPException(404, f"there is no monitor {name!r}")
        return self._opened(folder)

    def has(self, name: str) -> bool:
        """Whether there is a monitor of this name."""
        return any(folder.name == name for folder in list_monitors(self.settings.home))

    def stamp(self, name: str | None = None) -> Hashable:
        """What changes when anything does that pages show of a monitor, or of all of them."""
        monitors = self.monitors() if name is None else [self.monitor(name)]
        return tuple(
            (one.name, one.folder.settings.stat().st_mtime, one.folder.being_written, one.records.database.stamp())
            for one in monitors
        )

    def close(self) -> None:
        """Gives all databases back."""
        with self._lock:
            for _, _, stack in self._open.values():
                stack.close()
            self._open.clear()

    def _opened(self, folder: MonitorFolder) -> Monitor:
        changed = folder.settings.stat().st_mtime
        with self._lock:
            known = self._open.get(folder.name)
            if known is not None and known[0] == changed:
                return known[1]
            stack = ExitStack()
            monitor = stack.enter_context(opened_in(folder))
            if known is not None:
                known[2].close()
            self._open[folder.name] = (changed, monitor, stack)
            return monitor

    def _forget(self, name: str) -> None:
        with self._lock:
            known = self._open.pop(name, None)
        if known is not None:
            known[2].close()


def _studio(request: Request) -> Studio:
    studio: Studio = request.app.state.studio
    return studio


def _monitor(
    studio: TheStudio, name: Annotated[str, Path(pattern=NAME, description="Name of the monitor.")]
) -> Monitor:
    return studio.monitor(name)


def _identity(request: Request) -> str:
    """Who the token belongs to, or who runs the studio where none is asked for."""
    return str(request.scope["state"]["identity"])


TheStudio = Annotated[Studio, Depends(_studio)]
TheMonitor = Annotated[Monitor, Depends(_monitor)]
"""The monitor that `{name}` of the path names; a dependency that runs in the thread pool."""
Identity = Annotated[str, Depends(_identity)]
