"""Nested values: the constants of a program, and values that are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from ...codegen.functiontable import RECURSION_DEPTH
from ...errors.diagnostics import DDlogError
from ...errors.sessions import NestedTooDeeply
from ...syntax.stackroom import deep_recursion

_Value = TypeVar("_Value")
_Result = TypeVar("_Result")


@contextmanager
def nested_values() -> Iterator[None]:
    """Room on Python's stack for values that nest as deeply as those of functions. Raises DDlogError for one
    that nests more deeply."""
    try:
        with deep_recursion(RECURSION_DEPTH):
            yield
    except RecursionError:
        raise DDlogError([NestedTooDeeply()]) from None


def in_room(function: Callable[[_Value], _Result]) -> Callable[[_Value], _Result]:
    """The same function; it gets room on the stack for the nested values that need it."""

    def called(value: _Value) -> _Result:
        try:
            return function(value)
        except RecursionError:
            with nested_values():
                return function(value)

    return called
