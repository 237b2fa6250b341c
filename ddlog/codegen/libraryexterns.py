"""Extern functions of the library, each bound to the types that it is called at."""

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
    """The implementation for one signature, passed as stdlib/typed.py describes."""
    signature = Signature(tuple(each.type for each in declared.parameters), declared.result, typedefs)
    if getattr(implementation, "specialises", False):
        return implementation(signature)
    if getattr(implementation, "takes_signature", False):
        return partial(implementation, signature=signature)
    return implementation
