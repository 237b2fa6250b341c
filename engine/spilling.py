"""Large arrays on disk, where they lie.

    pages of an array ──► a file without a name ──► mapped at the same addresses, by this process alone

An array stays the same object at the same place, so all that refers to it, and every kernel, goes on. The
system drops its pages when it needs room, and reads them again. Pages that are written afterwards are memory
again. A file goes with its array, and with the process however that ends.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
from collections.abc import Iterable, Iterator
from gc import get_referents
from pathlib import Path
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from . import thresholds
from .schema import Array

_FIXED = 0x10  # MAP_FIXED
_FEW = 10_000  # items of a collection that holds arrays
_OWN = __name__.rpartition(".")[0]
_PRESENT, _OF_FILE = np.uint64(1 << 63), np.uint64(1 << 61)  # bits of an entry of `pagemap`


def spill(roots: Iterable[Any], apart: tuple[type, ...], directory: str | Path) -> None:
    """Moves the large arrays that objects of the engine refer to, but for those of the classes `apart`, to
    disk: their pieces of which at least half is memory. Nobody may write them meanwhile. Raises OSError if
    the disk is full; then some are moved."""
    with open("/proc/self/pagemap", "rb", buffering=0) as pages:
        for array in large(roots, apart):
            for at, size in _pieces(array):
                if 2 * _in_memory(pages.fileno(), at, size) >= size:
                    _move(at, size, directory)


def _pieces(array: Array) -> Iterator[tuple[int, int]]:
    """The addresses and sizes of the pieces of an array, in whole pages."""
    page, most = mmap.PAGESIZE, thresholds.SPILLED_PIECE
    first = array.__array_interface__["data"][0]
    end = (first + array.nbytes) // page * page
    for at in range(-(-first // page) * page, end, most):
        yield at, min(most, end - at)


def takes_arrays(directory: str | Path) -> bool:
    """Whether this system can move arrays to a folder: one that this process may write to, on a disk and not
    in memory."""
    from tempfile import TemporaryFile

    try:
        with TemporaryFile(dir=directory), open("/proc/self/mountinfo") as mounts:
            device = os.stat(directory).st_dev
            number = f"{os.major(device)}:{os.minor(device)}"
            kinds = {each[2]: each[each.index("-") + 1] for each in map(str.split, mounts)}
    except OSError:  # of another system, too
        return False
    return kinds.get(number) not in ("tmpfs", "ramfs")


def local_folder() -> str | None:
    """The folder for arrays of a worker: that of Spark, where it runs on an executor, or else `TMPDIR`; None
    if neither takes any."""
    from tempfile import gettempdir

    folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    return next(filter(takes_arrays, [*filter(None, folders), gettempdir()]), None)


def large(roots: Iterable[Any], apart: tuple[type, ...]) -> list[Array]:
    """The arrays of at least a piece, the largest first."""
    found, seen, left = list[Array](), set[int](), list(roots)
    while left:
        each = left.pop()
        if id(each) in seen or isinstance(each, (type, *apart)):
            continue
        seen.add(id(each))
        if isinstance(each, np.ndarray):
            if isinstance(each.base, np.ndarray):
                left.append(each.base)
            elif each.flags.owndata and each.nbytes >= thresholds.SPILLED_PIECE:
                found.append(each)
        elif isinstance(each, FunctionType):
            left.extend(each.__closure__ or ())
        elif isinstance(each, dict | list | tuple | set):
            left.extend(get_referents(each) if len(each) <= _FEW else ())
        elif isinstance(each, CellType | MethodType | functools.partial) or (
            type(each).__module__.startswith(_OWN)
        ):
            left.extend(get_referents(each))
    return sorted(found, key=lambda array: -array.nbytes)


def _in_memory(pages: int, at: int, size: int) -> int:
    """The bytes of a stretch that no file has."""
    page = mmap.PAGESIZE
    entries = np.frombuffer(os.pread(pages, size // page * 8, at // page * 8), np.uint64)
    return page * int(np.count_nonzero((entries & (_PRESENT | _OF_FILE)) == _PRESENT))


def _move(at: int, size: int, directory: str | Path) -> None:
    from tempfile import TemporaryFile

    with TemporaryFile(dir=directory, buffering=0) as file:
        left = memoryview((ctypes.c_char * size).from_address(at)).cast("B")
        try:
            while left:
                left = left[file.write(left) :]
        except OSError as error:
            raise OSError(error.errno, error.strerror, directory) from None
        shown = mmap.PROT_READ | mmap.PROT_WRITE
        if _map()(at, size, shown, mmap.MAP_PRIVATE | _FIXED, file.fileno(), 0) != at:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), directory)


@functools.cache
def _map() -> Any:
    found = ctypes.CDLL(None, use_errno=True).mmap
    found.restype = ctypes.c_void_p
    size, number = ctypes.c_size_t, ctypes.c_int
    found.argtypes = ctypes.c_void_p, size, number, number, number, ctypes.c_long
    return found
