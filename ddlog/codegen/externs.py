"""Functions implemented in Python, and what they may know of the types that they are called at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..core import Function
from ..stdlib.typed import Signature
from ..types import TypeDef


def bound_extern(implementation: Callable[..., Any], declared: Function, typedefs: Mapping[str, TypeDef]) -> Any:
    """The implementation, given its signature as the keyword `signature` if it is marked `@typed`."""
    if not getattr(implementation, "takes_signature", False):
        return implementation
    parameters = tuple(each.type for each in declared.parameters)
    return partial(implementation, signature=Signature(parameters, declared.result, typedefs))
