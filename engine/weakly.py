"""Methods that do not keep their object: what a part calls of its owner must not tie both into a cycle.

A session that nobody holds then gives its memory back at once, and not when the collector happens to run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast
from weakref import WeakMethod

P = ParamSpec("P")
R = TypeVar("R")


def weakly(method: Callable[P, R]) -> Callable[P, R]:
    """A function that calls a bound method, whose object others must keep as long as it is called."""
    found = WeakMethod(method)

    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return cast("Callable[P, R]", found())(*args, **kwargs)

    return call
