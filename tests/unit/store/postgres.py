"""A PostgreSQL of our own for tests: a fresh folder, a Unix socket, no network."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest


def programs() -> Path | None:
    """The folder of initdb and pg_ctl: the machine's own, or those of the package `pgserver`."""
    own = [path.parent for path in sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))]
    found = shutil.which("pg_ctl")
    package = importlib.util.find_spec("pgserver")
    places = [*own, *([Path(found).parent] if found else [])]
    if package is not None and package.origin is not None:
        places.append(Path(package.origin).parent / "pginstall" / "bin")
    return next((place for place in places if (place / "initdb").exists()), None)


def running() -> Iterator[Server]:
    """Yields a server, which goes afterwards; a test that asks for one is skipped where there is none."""
    binaries = programs()
    if binaries is None:
        pytest.skip("NO POSTGRESQL on this machine: nothing is tested against it; install pgserver or postgresql")
    started = Server(binaries)
    yield started
    started.remove()


class Server:
    """A running server; as root it runs as another user, because PostgreSQL refuses root."""

    def __init__(self, binaries: Path) -> None:
        self._binaries = binaries
        self._folder = Path(tempfile.mkdtemp(prefix="klda-pg-"))  # short: a socket's path may have 107 bytes
        self._user = None
        if os.geteuid() == 0:
            known = {entry.pw_name for entry in pwd.getpwall()}
            self._user = next(name for name in ("postgres", "nobody") if name in known)
            shutil.chown(self._folder, self._user)
        self._run("initdb", "-U", "klda", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
        self.start()

    @property
    def address(self) -> str:
        return f"postgresql://klda@/postgres?host={self._folder}"

    def start(self) -> None:
        self._run("pg_ctl", "start", "-w", "-l", str(self._folder / "log"), "-o", self._options)

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "stop", "-w", "-m", mode)

    def remove(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self._folder)

    def clear(self) -> None:
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")

    @property
    def _options(self) -> str:
        return f"-c listen_addresses='' -c fsync=off -k {self._folder}"

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._binaries / program, "-D", self._folder / "data", *arguments],
            check=True,
            user=self._user,
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
        )
