from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Timer

import pytest

from klda.errors import StoreError
from klda.store.monitor_folders import is_held, only_writer

_HOLD = """
import sys, time
from pathlib import Path
from klda.store.monitor_folders import only_writer
with only_writer(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""

_FORK = """
import os, sys, time
from pathlib import Path
from klda.store.monitor_folders import only_writer
with only_writer(Path(sys.argv[1])):
    if os.fork() == 0:
        print("child lives", flush=True)
        sys.stdin.read()  # until the test closes it
        os._exit(0)
    time.sleep(600)
"""


def test_a_second_writer_is_turned_away_and_told_who_writes(tmp_path: Path) -> None:
    with only_writer(tmp_path / "lock"):
        assert is_held(tmp_path / "lock")
        with pytest.raises(StoreError, match=f"process {os.getpid()} is writing"), only_writer(tmp_path / "lock"):
            pass
        assert is_held(tmp_path / "lock")
    with only_writer(tmp_path / "lock"):
        pass


def test_a_look_at_the_lock_keeps_no_writer_out_and_is_not_taken_for_one(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with lock.open("w") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        assert not is_held(lock)
        Timer(0.02, fcntl.flock, (looking, fcntl.LOCK_UN)).start()
        with only_writer(lock):
            assert is_held(lock)


def test_an_error_gives_the_lock_back(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), only_writer(tmp_path / "lock"):
        raise ZeroDivisionError
    assert not is_held(tmp_path / "lock")


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(tmp_path / "lock")], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(StoreError, match=f"process {process.pid} is writing"), only_writer(tmp_path / "lock"):
            pass
        process.send_signal(signal.SIGKILL)
        process.wait()
    with only_writer(tmp_path / "lock"):
        pass


def test_a_forked_child_does_not_keep_the_lock_of_its_dead_parent(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _FORK, str(tmp_path / "lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "child lives\n"
        assert is_held(tmp_path / "lock")
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not is_held(tmp_path / "lock")


def test_a_lock_where_there_is_no_folder_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="lock file cannot be opened"), only_writer(tmp_path / "no" / "lock"):
        pass
    assert not is_held(tmp_path / "no" / "lock")
