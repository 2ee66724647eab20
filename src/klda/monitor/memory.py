"""Memory that libraries keep for later, given back: a collector runs for months, and each commit is like the last.

Arrow and the C library hold on to what was freed, each thread in a place of its own; over thousands of commits by a
dozen threads these places fill up, one after the other, and a process that needs no more than before grows.
"""

from __future__ import annotations

import ctypes

import pyarrow as pa

_ARENA_MAX = -8  # the name of the setting in glibc's malloc.h
_ARENAS = 2


def share_arenas() -> None:
    """Lets all threads of this process allocate from two arenas, where the C library has such; call it at the start."""
    setting = getattr(ctypes.CDLL(None), "mallopt", None)
    if setting is not None:
        setting(_ARENA_MAX, _ARENAS)


def give_back() -> None:
    """Returns to the system what was freed; takes a few milliseconds."""
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
