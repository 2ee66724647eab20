"""Processes that work beside another."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from klda.errors import KldaError
from klda.text.processes import spawned

WAITS = """
import os, sys, time
from klda.text.processes import spawned

def nothing():
    pass

def stay(_):
    print(os.getpid(), flush=True)
    time.sleep(600)

if __name__ == "__main__":
    with spawned(2, nothing) as pool:
        list(pool.map(stay, range(6)))
"""


def test_processes_end_with_the_one_that_was_killed(tmp_path: Path) -> None:
    script = tmp_path / "waits.py"
    script.write_text(WAITS)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        workers = [int(running.stdout.readline()) for _ in range(2)]
        assert all(_alive(worker) for worker in workers)
        running.send_signal(signal.SIGKILL)
        deadline = time.monotonic() + 30
        while any(_alive(worker) for worker in workers) and time.monotonic() < deadline:
            time.sleep(0.05)
    assert not any(_alive(worker) for worker in workers)


@pytest.mark.parametrize("working", [False, True])
def test_an_interrupt_ends_processes_at_once_and_without_a_word(tmp_path: Path, working: bool) -> None:
    script = tmp_path / "waits.py"
    script.write_text(WAITS if working else WAITS.replace("    pass", "    print(flush=True); time.sleep(1)"))
    running = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a terminal tells all processes of a command
    )
    assert running.stdout is not None
    assert running.stdout.readline()
    os.killpg(running.pid, signal.SIGINT)
    _, told = running.communicate(timeout=60)
    assert told.count("Traceback") == 1, "that of the process that was asked to stop"


def test_a_process_that_was_killed_is_told_with_what_to_do() -> None:
    with pytest.raises(KldaError, match="lack of memory; lower --workers"), spawned(1, gc.disable) as pool:
        pool.submit(signal.raise_signal, signal.SIGKILL).result()


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process}/stat")  # one that ended and that nobody waits for is still listed
    return not (status.exists() and status.read_text().rpartition(") ")[2].startswith("Z"))
