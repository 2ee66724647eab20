"""What happens to a collector in `benchmarks.crash`: its stream is watched, its keywords change, its disk is full."""

from __future__ import annotations

import asyncio
import resource
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.loopback import number_of
from klda.monitor.collect import POLL
from klda.monitor.monitor import Monitor
from klda.types import KeywordSet
from tests.servers.jetstream import Connection

SWAP = 2.0
"""Seconds between two changes of the keywords."""
FOLLOWED = 2 * POLL
"""Seconds after a change within which a collector has surely followed it."""
DISK = "128m"
ROOM = 4_096
"""Bytes that every file may have where no disk can be mounted: enough for an error."""


@dataclass
class Stream:
    """Looks at every frame before it is sent: when each post came first, and whether a point is reached."""

    posts: int
    point: int = 0
    is_reached: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.first_sent: NDArray[np.float64] = np.full(self.posts, np.inf)

    def __call__(self, connection: Connection) -> None:
        """Takes note of the frame that comes next; never breaks off."""
        number = number_of(connection.cursor or 0) + connection.sent
        if self.first_sent[number] == np.inf:
            self.first_sent[number] = time.time()
        if number >= self.point:
            self.is_reached.set()

    def aim(self, point: int) -> asyncio.Event:
        """What is set once the server gets to this post."""
        self.point, self.is_reached = point, asyncio.Event()
        return self.is_reached


@dataclass
class Swapping:
    """Keywords of which a few are always active, and others come and go."""

    fixed: Sequence[str]
    pool: list[str]
    swaps: int = 0

    def __post_init__(self) -> None:
        self.active, self.waiting = self.pool[4:], self.pool[:4]
        self.spans: list[tuple[str, float, float]] = [(word, -np.inf, np.inf) for word in self.fixed]
        self._since = dict.fromkeys(self.active, -np.inf)

    @property
    def keywords(self) -> list[str]:
        """The list that holds now."""
        return [*self.fixed, *self.active]

    async def run(self, monitor: Monitor) -> None:
        """Changes the monitor's keywords for ever, one at a time, as somebody who decides does in another process."""
        while True:
            await asyncio.sleep(SWAP)
            going, coming = self.active[0], self.waiting[0]
            self.active, self.waiting = [*self.active[1:], coming], [*self.waiting[1:], going]
            before = time.time()
            new = KeywordSet.of(*self.keywords)
            await asyncio.to_thread(monitor.records.keywords.switch, new, decided_by="benchmark")
            self.spans.append((going, self._since.pop(going), before))
            self._since[coming] = time.time() + FOLLOWED
            self.swaps += 1

    def all_spans(self) -> list[tuple[str, float, float]]:
        """Every keyword with a time in which it was active, up to now."""
        return [*self.spans, *((word, since, np.inf) for word, since in self._since.items())]


@dataclass
class Disk:
    """A place that can be filled: a small disk of its own, or, where none can be mounted, a limit on every file."""

    folder: Path
    mounted: bool = False

    @classmethod
    @contextmanager
    def mount(cls, folder: Path) -> Iterator[Disk]:
        """A disk at a folder, for as long as the block lasts."""
        command = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(folder)]
        mounted = shutil.which("mount") is not None and not subprocess.run(command, capture_output=True).returncode
        try:
            yield cls(folder, mounted)
        finally:
            if mounted:
                subprocess.run(["umount", str(folder)], check=True)

    @property
    def kind(self) -> str:
        """How it is filled."""
        return f"a tmpfs of {DISK} filled to the brim" if self.mounted else "a limit on the size of files"

    def fill(self, process: ForkServerProcess) -> None:
        """Leaves no room for what a process still wants to write."""
        if not self.mounted:
            assert process.pid is not None
            _, hard = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (ROOM, hard))
            return
        with suppress(OSError), (self.folder / "ballast").open("ab", buffering=0) as file:
            while True:
                file.write(bytes(1 << 12))

    def empty(self) -> None:
        """Makes room again."""
        (self.folder / "ballast").unlink(missing_ok=True)
