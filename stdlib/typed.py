"""The mark of library functions whose meaning depends on the types that they are called at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ..types import BigInt, Bit, Float, Signed, Type, TypeDef
from ..values import Fault

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Signature:
    """The types of one instance of a function. `typedefs` declares the named ones."""

    parameters: tuple[Type, ...]
    result: Type
    typedefs: Mapping[str, TypeDef]


def typed(function: F) -> F:
    """Marks a function that takes its instance's Signature as the keyword `signature`."""
    function.takes_signature = True  # type: ignore[attr-defined]
    return function


def specialised(function: F) -> F:
    """Marks a function that, given an instance's Signature, returns the implementation for it."""
    function.specialises = True  # type: ignore[attr-defined]
    return function


def demand_number(type: Type, function: str) -> None:
    """Raises Fault where a function of numbers is called at another type."""
    if not isinstance(type, BigInt | Bit | Signed | Float):
        raise Fault(f"{function} needs numbers, and these are values of type {type}")
