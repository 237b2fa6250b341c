"""Functions implemented in Python, and what they may know of the types that they are called at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..core import Function
from ..stdlib.typed import Signature
from ..types import TypeDef


def bound_extern(
    implementation: Callable[..., Any], declared: Function, typedefs: Mapping[str, TypeDef]
) -> Any:
    """The implementation, made for its signature (see stdlib/typed.py)."""
    signature = Signature(tuple(each.type for each in declared.parameters), declared.result, typedefs)
    if getattr(implementation, "specialises", False):
        return implementation(signature)
    if getattr(implementation, "takes_signature", False):
        return partial(implementation, signature=signature)
    return implementation
