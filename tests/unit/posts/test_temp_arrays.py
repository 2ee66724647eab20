from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from klda.posts.temp_arrays import nameless


def test_an_array_on_a_full_disk_is_an_error_and_does_not_end_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(OSError, match="No space left"):
        nameless(3, np.int32, tmp_path)


def test_the_room_of_an_array_is_taken_before_it_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    monkeypatch.setattr(os, "posix_fallocate", lambda _file, _start, size: taken.append(size), raising=False)
    assert nameless(1000, np.int64, tmp_path).nbytes == 8000
    assert taken == [8000]


def test_a_disk_that_cannot_promise_room_holds_arrays_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: int) -> None:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(os, "posix_fallocate", unknown, raising=False)
    array = nameless(3, np.int32, tmp_path)
    array[1:] = 7
    assert array.tolist() == [0, 7, 7]
