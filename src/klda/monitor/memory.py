"""Memory that libraries keep for later, given back: a collector runs for months, and each commit is like the last.

Arrow and the C library hold on to what was freed, each thread in a place of its own; over thousands of commits by a
dozen threads these places fill up, one after the other, and a process that needs no more than before grows. Arrow's own
allocator was seen to keep 25 MB for no array at all, however often it was asked to give back
(docs/history/benchmarks.md).
"""

from __future__ import annotations

import ctypes

import pyarrow as pa

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8  # names of settings in glibc's malloc.h
_LARGE = 1 << 18
_ARENAS = 2


def hold_little() -> None:
    """Lets this process keep little of what it has freed, where the C library has a say in it; call it at the start.

    Arrow takes its memory from the C library, all threads share two arenas, and blocks of 256 KiB and more go back to
    the system when they are freed.
    """
    setting = getattr(ctypes.CDLL(None), "mallopt", None)
    if setting is not None:
        setting(_ARENA_MAX, _ARENAS)
        setting(_MMAP_THRESHOLD, _LARGE)
        pa.set_memory_pool(pa.system_memory_pool())


def give_back() -> None:
    """Returns to the system what was freed; takes a few milliseconds."""
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
