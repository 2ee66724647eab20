"""One writer at a time: a lock that the kernel takes from a process when it dies, however it dies."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from klda.errors import StoreError

LOOK = 0.1
"""Seconds in which whoever only looks at the lock has let go of it; who holds it for longer writes."""


@contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Holds the lock on a file; StoreError where another process or another part of this one holds it.

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
        if handle in _held:  # not in a child that was forked meanwhile
            _held.discard(handle)
            fcntl.flock(handle, fcntl.LOCK_UN)
            os.close(handle)


def is_held(path: Path) -> bool:
    """Whether somebody holds the lock now; those who look do not see one another."""
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
    """Takes the lock; BlockingIOError where somebody keeps it."""
    until = time.monotonic() + LOOK
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # a page may be looking at it in this moment
            if time.monotonic() >= until:
                raise
        time.sleep(LOOK / 20)


def _holder(path: Path) -> str:
    with suppress(OSError):
        return path.read_text(encoding="ascii", errors="replace").strip() or "unknown"
    return "unknown"


_held: set[int] = set()


def _let_go() -> None:
    """A forked child shares the lock of its parent and would keep it beyond the parent's death; so it closes it."""
    while _held:
        os.close(_held.pop())


os.register_at_fork(after_in_child=_let_go)
