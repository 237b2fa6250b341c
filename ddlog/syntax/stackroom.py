"""Room on Python's stack for recursions over trees and values.

All threads have one limit of recursion, so it is raised for the first that needs room, and lowered when the
last has left.
"""

from __future__ import annotations

import os
import sys
from threading import RLock

_LOCK = RLock()  # one that a finalizer may enter while its thread has it
_inside = set[int]()  # empty only while the limit is the one outside
_outside = 0  # the limit while nobody is inside


class deep_recursion:
    """Room on Python's stack, for `with`: by default for expressions that nest as deeply as is allowed.
    A class, as every change of an input comes here."""

    __slots__ = ("_depth",)

    def __init__(self, depth: int = 20_000) -> None:
        self._depth = depth

    def __enter__(self) -> None:
        global _outside
        if not _inside and sys.getrecursionlimit() >= self._depth:
            return
        with _LOCK:
            limit = sys.getrecursionlimit()
            if not _inside:
                _outside = limit
            _inside.add(id(self))
            if limit < self._depth:
                sys.setrecursionlimit(self._depth)

    def __exit__(self, *ending: object) -> None:
        if (this := id(self)) not in _inside:
            return
        with _LOCK:
            try:
                if len(_inside) == 1:
                    sys.setrecursionlimit(_outside)
            except RecursionError:  # a thread came in more deeply than the limit outside
                pass
            finally:
                _inside.discard(this)

    __del__ = __exit__  # after a Ctrl-C between the beginning of a `with` and its block


def _renew_lock() -> None:
    """Gives a child a lock that no other thread of its parent holds."""
    global _LOCK
    _LOCK = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
