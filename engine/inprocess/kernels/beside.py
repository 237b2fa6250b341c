"""The program of the processes that compile kernels (`ahead`)."""

from __future__ import annotations

import json
import select
import sys
from collections.abc import Callable, Iterator
from itertools import chain

from . import (  # noqa: F401
    addition,
    ahead,
    bits,
    codefiles,
    compiler,
    expansion,
    following,
    hashing,
    iterations,
    packing,
    paths,
    postings,
    producttime,
    ranks,
    scan,
)
from .ahead import Signature
from .signatures import numba_type, signatures


def compile_known(requests: Callable[[], Iterator[Signature]], wait: bool = False) -> str | None:
    """Compiles the kernels of known signatures that have no code yet, and before each the requested kernels.
    Kernels that another process compiles are left to it, unless `wait` is set. Ends where code cannot be
    kept, and returns why. A request for what cannot be compiled raises what numba raises."""
    compiler.compile_by_numba()
    kernels = {(each.__module__, each.__name__): found for each, found in compiler.compiled.items()}
    if not kernels:
        return "a setting of Numba turns compilation off"
    for signature in signatures():
        for module, kernel, types in chain(requests(), (signature,)):
            found = kernels[f"{__package__}.{module}", kernel]
            found.find(tuple(map(numba_type, types)), wait)
            if found.fault:
                return found.fault
    return None


def compile_all() -> tuple[str, str | None]:
    """Compiles all kernels of known signatures, on all cores. Returns the folder where they are kept, and why
    they cannot be, if so."""
    folder = codefiles.writable()
    if folder is None:
        return ", ".join(codefiles.folders()), "no kernels can be kept there"
    for each in ahead.begin() or ():
        each.wait()
    return folder, compile_known(lambda: iter(()), wait=True)


def _requests() -> Iterator[Signature]:
    """The signatures of kernels for which the parent process has asked by now. When that process has ended,
    ends behind the last of them: the next process then finds the kernels that this one lacked."""
    while select.select([sys.stdin], [], [], 0)[0]:
        line = sys.stdin.buffer.raw.readline()  # type: ignore[union-attr]
        if not line:
            sys.exit()
        module, kernel, types = json.loads(line)
        yield module, kernel, types


if __name__ == "__main__":
    if sys.argv[1:] == [codefiles.sources()]:  # if not, the code would be of other kernels
        compile_known(_requests)
