"""The folders of monitors, one each under a home folder, and the lock that lets one process write at a time.

<home>/<name>/
  klda.toml    settings
  posts/       the table of posts, unless they lie on object storage
  state.db     the records, unless they lie in PostgreSQL
  models/      trained models
  choices/     the candidates of the newest proposals
  backtests/   the results of backtests
  jobs/        the locks of running jobs
  key          the secret behind pseudonyms, readable by its owner only
  posts.upload the file from which the monitor was created, until all its posts are in the table
  lock         held by the one process that writes
  failure.txt  the reason, if collecting failed
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from klda.errors import InputError, SettingError, StoreError
from klda.store.delta.post_store import PostStore
from klda.store.delta.pseudonyms import Pseudonyms
from klda.store.sql.records import Records, now
from klda.text.windows import Windowing

LOOK = 0.1
"""Seconds to wait for the lock. `is_held` takes it for a shorter time; a process that holds it for longer writes."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


@dataclass(frozen=True)
class MonitorFolder:
    """The folder of one monitor."""

    path: Path

    @property
    def name(self) -> str:
        """The monitor's name."""
        return self.path.name

    @property
    def settings(self) -> Path:
        """The file of settings."""
        return self.path / "klda.toml"

    @property
    def models(self) -> Path:
        """The folder of trained models."""
        return self.path / "models"

    @property
    def upload(self) -> Path:
        """The uploaded file from which the monitor was created; deleted when all its posts are stored."""
        return self.path / "posts.upload"

    @property
    def failure(self) -> Path:
        """The file with the reason why collecting failed; it exists only after a failure."""
        return self.path / "failure.txt"

    @property
    def being_written(self) -> bool:
        """Whether a process holds the lock."""
        return is_held(self.path / "lock")

    def writer(self) -> AbstractContextManager[None]:
        """The lock for the process that writes; StoreError if another process holds it."""
        return only_writer(self.path / "lock")

    def posts(
        self,
        windowing: Windowing,
        *,
        uri: str | None = None,
        storage_options: Mapping[str, str] | None = None,
        pseudonymise: bool = False,
    ) -> PostStore:
        """The store of posts, in this folder or at an address on object storage."""
        names = Pseudonyms.open(self.path / "key") if pseudonymise else None
        return PostStore(uri or self.path / "posts", windowing, storage_options=storage_options, pseudonyms=names)

    def records(self, address: str | None = None, *, clock: Callable[[], datetime] = now) -> Records:
        """The records, in this folder or in a PostgreSQL database."""
        return Records(address or self.path / "state.db", self.name, clock=clock)


def create_monitor(home: Path, name: str, settings: str) -> MonitorFolder:
    """A new monitor with these settings, the text of its `klda.toml`. The folder appears complete or not at all.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = create_monitor(Path(folder), "health", "subject = 'health'")
    ...     [monitor.name for monitor in list_monitors(Path(folder))], made.settings.read_text()
    (['health'], "subject = 'health'")
    """
    target = home / _checked(name)
    if target.exists():
        raise InputError(f"monitor {name!r} exists already in {home}; choose another name")
    beside = home / f".{name}-{secrets.token_hex(4)}"
    try:
        (beside / "models").mkdir(parents=True)
        (beside / "klda.toml").write_text(settings, encoding="utf-8")
        beside.rename(target)
    except OSError as error:
        shutil.rmtree(beside, ignore_errors=True)
        raise StoreError(f"{target}: the monitor cannot be created ({error})") from error
    return MonitorFolder(target)


def open_monitor(home: Path, name: str) -> MonitorFolder:
    """The monitor of this name."""
    found = MonitorFolder(home / _checked(name))
    if not found.settings.is_file():
        known = ", ".join(monitor.name for monitor in list_monitors(home)) or "none yet"
        raise InputError(f"monitor {name!r} is not in {home} (there: {known}); create it with `klda monitor create`")
    return found


def list_monitors(home: Path) -> list[MonitorFolder]:
    """All monitors of a home, by name."""
    if not home.is_dir():
        return []
    folders = (path for path in sorted(home.iterdir()) if _NAME.fullmatch(path.name))
    return [monitor for monitor in map(MonitorFolder, folders) if _has_settings(monitor)]


def _has_settings(monitor: MonitorFolder) -> bool:
    try:
        return monitor.settings.is_file()
    except PermissionError:
        return True  # a folder without read permission is listed; opening it reports the reason


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise SettingError(f"monitor name {name!r}: use up to 63 lower-case letters, digits, - and _, as in covid-2026")
    return name


@contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Holds the lock on a file; StoreError if another process, or another part of this one, holds it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with only_writer(Path(folder) / "lock"):
    ...         held = is_held(Path(folder) / "lock")
    ...     held, is_held(Path(folder) / "lock")
    (True, False)
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(f"{path}: the lock file cannot be opened ({error})") from error
    _held.add(handle)
    try:
        try:
            _take(handle)
        except BlockingIOError as error:
            raise StoreError(
                f"{path.parent}: process {_holder(path)} is writing here; stop it, or wait until it ends"
            ) from error
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        if handle in _held:  # not in a forked child
            _held.discard(handle)
            fcntl.flock(handle, fcntl.LOCK_UN)
            os.close(handle)


def is_held(path: Path) -> bool:
    """Whether a process holds the lock; several checks at once do not disturb one another."""
    try:
        handle = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _take(handle: int) -> None:
    """Takes the lock; BlockingIOError if another process keeps it."""
    until = time.monotonic() + LOOK
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # `is_held` may be checking it just now
            if time.monotonic() >= until:
                raise
        time.sleep(LOOK / 20)


def _holder(path: Path) -> str:
    with suppress(OSError):
        return path.read_text(encoding="ascii", errors="replace").strip() or "unknown"
    return "unknown"


_held: set[int] = set()


def _let_go() -> None:
    """Closes the locks in a forked child, which would otherwise hold them after the parent has ended."""
    while _held:
        os.close(_held.pop())


os.register_at_fork(after_in_child=_let_go)
