"""Methods that do not keep their object: what a part calls of its owner must not tie both into a cycle.

A session that nobody holds then gives its memory back at once, and not when the collector happens to run.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import ParamSpec, TypeVar, cast
from weakref import ref

P = ParamSpec("P")
R = TypeVar("R")


def weakly(method: Callable[P, R]) -> Callable[P, R]:
    """A function that calls a bound method, whose object others must keep as long as it is called."""
    bound = cast(MethodType, method)
    owner, function = ref(bound.__self__), bound.__func__

    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        found: R = function(owner(), *args, **kwargs)
        return found

    return call
