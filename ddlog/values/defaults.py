"""The value that a type has by default."""

from __future__ import annotations

from typing import Any

from ..types import BigInt, Bit, Bool, Float, Opaque, Signed, String, Tuple, Type, User
from .collections import Map, Set, Vec
from .structs import Fault, TypeDefs, constructors_of, local_name, make


def default_value(type: Type, typedefs: TypeDefs) -> Any:
    """Zero, false, empty, or the first constructor with default fields."""
    match type:
        case Bool():
            return False
        case BigInt() | Bit() | Signed():
            return 0
        case Float():
            return 0.0
        case String():
            return ""
        case Tuple(items):
            return tuple(default_value(item, typedefs) for item in items)
        case User(name, args):
            first = constructors_of(typedefs[name], args)[0]
            return make(typedefs[name], first, [default_value(of, typedefs) for _, of in first.fields])
        case Opaque(name, args):
            match local_name(name):
                case "Vec":
                    return Vec()
                case "Set":
                    return Set()
                case "Map":
                    return Map()
    raise Fault(f"the type {type} has no default value")
