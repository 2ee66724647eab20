"""Peak memory of a program and all processes that it starts: RssAnon + RssShmem, looked at twenty times a second.

Pages of mapped files do not count: the kernel takes them back when it needs them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

EVERY = 0.05


def run_watched(module: str, point: dict[str, Any]) -> tuple[dict[str, Any], float]:
    """What a module's `main` prints as JSON for a point, and the megabytes that its processes held together at most.

    The module is imported rather than run: processes that it starts would import a main module, and all that it needs,
    before they can begin.
    """
    command = [sys.executable, "-c", f"from {module} import main; main()", json.dumps(point)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        peak = [0.0]
        ended = threading.Event()
        watcher = threading.Thread(target=_watch, args=(run.pid, peak, ended))
        watcher.start()
        try:
            printed, _ = run.communicate()
        finally:
            ended.set()
            watcher.join()
    if run.returncode:
        raise RuntimeError(f"{module} {point} ended with {run.returncode}")
    return json.loads(printed.splitlines()[-1]), peak[0]


def _watch(pid: int, peak: list[float], ended: threading.Event) -> None:
    while not ended.wait(EVERY):
        peak[0] = max(peak[0], tree_megabytes(pid))


def tree_megabytes(pid: int) -> float:
    """What a process and all below it hold now."""
    try:
        root = psutil.Process(pid)
        family = [root.pid, *(child.pid for child in root.children(recursive=True))]
    except psutil.NoSuchProcess:
        return 0.0
    return sum(map(_megabytes, family))


def _megabytes(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:  # it has just ended
        return 0.0
    held = (int(line.split()[1]) for line in lines if line.startswith(("RssAnon:", "RssShmem:")))
    return sum(held) / 1024
