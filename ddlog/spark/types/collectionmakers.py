"""Functions that make collections of arrays and bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...types import Opaque, Type
from ...values import Map, Set, Vec, local_name


def collection_maker(type: Type) -> Callable[[Any], Any]:
    """The function that builds a Vec, Set or Map from its elements in order."""
    assert isinstance(type, Opaque)
    match local_name(type.name):
        case "Vec":
            return Vec
        case "Set":
            return Set.ordered
    return Map.ordered
