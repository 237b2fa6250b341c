"""The memory of temporaries: kept by the process while an epoch runs, given back after a long one.

A join makes and frees columns of some MiB without end. glibc gives freed memory back to the system as soon
as much of it lies at the end of the heap, and the system has to find and clear it again for the next column.
So the heap keeps what is freed until an epoch has ended. Where the C library is another one, nothing is done.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
from typing import Any

import numpy as np

from ... import memory

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # parameters of mallopt
_FROM_HEAP = 16 << 20  # bytes of an array up to which it comes from the heap


@functools.cache
def _library() -> ctypes.CDLL | None:
    """The C library, told to keep what is freed; None if it is not glibc."""
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version  # noqa: B018 (only glibc has it)
        library.mallopt(_ARENA_MAX, 1)  # what one thread frees, any other takes
        library.mallopt(_TRIM_THRESHOLD, -1)
        library.mallopt(_MMAP_THRESHOLD, _FROM_HEAP)
    except (OSError, AttributeError, TypeError):
        return None
    return library


def give_back_pages(array: np.ndarray[Any, Any]) -> None:
    """Gives the pages of an array that lies in one piece, and is not read again, back to the system."""
    library = _library()
    if library is not None:
        start, page = array.ctypes.data, mmap.PAGESIZE
        first, last = -(-start // page) * page, (start + array.nbytes) // page * page
        if last > first:
            library.madvise(ctypes.c_void_p(first), ctypes.c_size_t(last - first), mmap.MADV_DONTNEED)


class kept_memory(memory.given_back):
    """As `given_back`; inside, freed memory stays with the process."""

    __slots__ = ()

    def __init__(self) -> None:
        _library()
