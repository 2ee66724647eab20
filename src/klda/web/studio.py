"""The home folder with its open monitors, and who is asking: the basis of all pages and resources.

A monitor is opened once and stays open, because opening takes the write lock of its database for a moment. All threads
share the database. Settings are read again when their file changes. A monitor that cannot be opened or read does not
hide the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from contextlib import ExitStack
from threading import Lock
from typing import Annotated, TypeVar

from fastapi import Depends, HTTPException, Path, Request

from klda.errors import StoreError
from klda.monitor.monitor import Monitor, opened_in
from klda.monitor.overview import Unreadable, each
from klda.store import MonitorFolder, list_monitors
from klda.web.studio_settings import StudioSettings

T = TypeVar("T")

NAME = r"^[a-z0-9][a-z0-9_-]{0,62}$"
PAUSE = 5.0
"""Seconds before pages about all monitors ask again a database that did not answer."""


class Studio:
    """The monitors in a home folder, open as long as the studio runs."""

    def __init__(self, settings: StudioSettings) -> None:
        self.settings = settings
        self._lock = Lock()
        self._open: dict[str, tuple[float, Monitor, ExitStack]] = {}
        self._silent: dict[str, tuple[float, StoreError]] = {}

    def each(self, look: Callable[[Monitor], T]) -> list[T | Unreadable]:
        """The result of `look` for each monitor, by name. For those that cannot be opened or read: the reason."""
        return each(self.settings.home, lambda folder: self._looked(folder, look))

    def monitor(self, name: str) -> Monitor:
        """The monitor of this name. HTTP 404 if there is none."""
        folder = next((f for f in list_monitors(self.settings.home) if f.name == name), None)
        if folder is None:
            self.forget(name)
            raise HTTPException(404, f"there is no monitor {name!r}")
        return self._opened(folder)

    def has(self, name: str) -> bool:
        """Whether there is a monitor of this name."""
        return any(folder.name == name for folder in list_monitors(self.settings.home))

    def stamp(self, name: str | None = None) -> Hashable:
        """A stamp that changes when the content of pages about a monitor, or about all monitors, does."""
        return tuple(self.each(_stamp)) if name is None else _stamp(self.monitor(name))

    def close(self) -> None:
        """Closes all databases."""
        with self._lock:
            for _, _, stack in self._open.values():
                stack.close()
            self._open.clear()

    def _looked(self, folder: MonitorFolder, look: Callable[[Monitor], T]) -> T:
        until, error = self._silent.get(folder.name, (0.0, None))
        if error is not None and time.monotonic() < until:
            raise error.with_traceback(None)
        try:
            return look(self._opened(folder))
        except StoreError as error:
            self.forget(folder.name)  # closed, so that the next look opens it, which fails sooner than reading
            self._silent[folder.name] = time.monotonic() + PAUSE, error
            raise

    def _opened(self, folder: MonitorFolder) -> Monitor:
        changed = folder.settings.stat().st_mtime
        with self._lock:
            known = self._open.get(folder.name)
        if known is not None and known[0] == changed:
            return known[1]
        stack = ExitStack()  # without the lock: a database may take long to answer
        monitor = stack.enter_context(opened_in(folder))
        with self._lock:
            known = self._open.get(folder.name)
            if known is None or known[0] != changed:
                self._open[folder.name] = (changed, monitor, stack)
        if known is None:
            return monitor
        if known[0] == changed:  # another thread was faster
            stack.close()
            return known[1]
        known[2].close()
        return monitor

    def forget(self, name: str) -> None:
        """Closes the database of a monitor. It is opened again on the next request."""
        with self._lock:
            known = self._open.pop(name, None)
        if known is not None:
            known[2].close()


def _stamp(monitor: Monitor) -> Hashable:
    folder = monitor.folder
    return monitor.name, folder.settings.stat().st_mtime, folder.being_written, monitor.records.database.stamp()


def _studio(request: Request) -> Studio:
    studio: Studio = request.app.state.studio
    return studio


def _monitor(
    studio: TheStudio, name: Annotated[str, Path(pattern=NAME, description="Name of the monitor.")]
) -> Monitor:
    return studio.monitor(name)


def _identity(request: Request) -> str:
    """The owner of the token, or the user who runs the studio without tokens."""
    return str(request.scope["state"]["identity"])


TheStudio = Annotated[Studio, Depends(_studio)]
TheMonitor = Annotated[Monitor, Depends(_monitor)]
"""The monitor that `{name}` in the path names. The dependency runs in the thread pool."""
Identity = Annotated[str, Depends(_identity)]
