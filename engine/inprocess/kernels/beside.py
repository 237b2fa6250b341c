"""The program of the processes that compile kernels (`ahead`)."""

from __future__ import annotations

import json
import select
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress

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
    parts,
    paths,
    postings,
    producttime,
    ranks,
    scan,
)
from .ahead import Signature
from .signatures import numba_type, signatures


def compile_known(requests: Callable[[], Iterator[Signature]], wait: bool = False) -> int:
    """Compiles the kernels of known signatures that have no code yet, and before each what is requested.
    Those that another process compiles are left to it, unless `wait` is set. Returns the number of those with
    code. Whoever requests what cannot be compiled learns of it by an exception."""
    compiler.compile_by_numba()
    kernels = {(each.__module__, each.__name__): found for each, found in compiler.compiled.items()}

    def find(signature: Signature) -> bool:
        module, kernel, types = signature
        return kernels[f"{__package__}.{module}", kernel].find(tuple(map(numba_type, types)), wait)

    done = 0
    for signature in signatures():
        for requested in requests():
            find(requested)
        with suppress(Exception):  # a signature that is known no more
            done += find(signature)
    return done


def compile_all() -> tuple[str, str | None]:
    """Compiles all kernels of known signatures, on all cores. Returns the folder where they are kept, and why
    they cannot be, if so."""
    folder = codefiles.writable()
    if folder is None:
        return ", ".join(codefiles.folders()), "no kernels can be kept there"
    for each in ahead.begin():
        each.wait()
    compile_known(lambda: iter(()), wait=True)
    faults = [each.fault for each in compiler.compiled.values() if each.fault]
    return folder, faults[0] if faults else None


def _requests() -> Iterator[Signature]:
    """What the process that began this one has asked for by now. Ends this process with it."""
    while select.select([sys.stdin], [], [], 0)[0]:
        line = sys.stdin.buffer.raw.readline()  # type: ignore[union-attr]
        if not line:
            sys.exit()
        module, kernel, types = json.loads(line)
        yield module, kernel, types


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what is asked for is waited for
    compile_known(_requests)
