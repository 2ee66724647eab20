"""What tests have done on the nodes of a cluster; each process there imports this file, so it imports little."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from klda.cli.on_ray import FileReading, TaskPosts
from klda.errors import DataError


class SlowReading(FileReading):
    """Takes long enough for a node to be lost in the middle."""

    def __call__(self, files: Sequence[tuple[Path, bool]]) -> TaskPosts:
        time.sleep(0.5)
        return super().__call__(files)


def double(number: int) -> int:
    """Twice the number; an error of ours for a negative one."""
    if number < 0:
        raise DataError(f"{number} is negative")
    return 2 * number
