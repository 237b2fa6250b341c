"""Constants of a program that are nested values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..codegen.functiontable import RECURSION_DEPTH
from ..errors.diagnostics import DDlogError
from ..errors.sessions import NestedTooDeeply
from ..syntax.nesting import deep_recursion


@contextmanager
def nested_constants() -> Iterator[None]:
    """Room on Python's stack for constants that nest as deeply as values of functions. Raises DDlogError for
    one that nests more deeply."""
    try:
        with deep_recursion(RECURSION_DEPTH):
            yield
    except RecursionError:
        raise DDlogError([NestedTooDeeply()]) from None
