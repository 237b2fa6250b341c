"""The plain Python form of the values in Arrow tables and data frames.

Structs and tuples are dictionaries, an Option is its value or None, wide integers are decimals, and unions
are their record text.
"""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np

from .. import values
from ..types import BigInt, Bit, Bool, Float, Signed, String, Tuple, Type, User
from ..values.fromjson import from_json
from ..values.shapes import UUID_TYPE, collection_of, is_option, shape_of, some_maker
from ..values.textforms import text_form, written
from .columns import TypeDefs, cell_reader


def from_plain(item: Any, type: Type, typedefs: TypeDefs) -> Any:
    """The value of a plain form, of a form of JSON, or of a text. Raises ValueError."""
    if isinstance(item, np.ndarray):
        item = item.tolist()
    match type:
        case User() if is_option(type):
            return _from_optional(item, type, typedefs)
        case _ if item is None:
            raise ValueError(f"expected {type}, found null")
        case String():
            return values.check(item, type, typedefs)
        case _ if isinstance(item, str):
            return cell_reader(type, typedefs)(item)
        case BigInt() | Bit() | Signed():
            return values.check(_whole(item), type, typedefs)
        case Bool() | Float():
            return values.check(item, type, typedefs)
        case Tuple(items):
            if isinstance(item, dict) and list(item) == [str(i) for i in range(len(items))]:
                item = list(item.values())
            if isinstance(item, list | tuple) and len(item) == len(items):
                return tuple(from_plain(each, of, typedefs) for each, of in zip(item, items, strict=True))
        case User():
            shape = shape_of(type, typedefs)
            fields = dict(shape.constructors[0].fields)
            if not shape.is_union and isinstance(item, dict) and item.keys() == fields.keys():
                make = shape.make(shape.constructors[0])
                return make(*(from_plain(item[name], of, typedefs) for name, of in fields.items()))
    if type == UUID_TYPE and isinstance(item, bytes) and len(item) == 16:
        from uuid import UUID

        item = UUID(bytes=item)  # as polars has them
    form = text_form(type, typedefs)
    if form is not None and written(item, form) is not None:
        return values.check(item, type, typedefs)
    collection = collection_of(type)
    if collection is not None:
        elements = list(item.items()) if isinstance(item, dict) else item
        if isinstance(elements, list):
            return collection.build([from_plain(each, collection.element, typedefs) for each in elements])
    return from_json(item, type, typedefs)


def _from_optional(item: Any, type: User, typedefs: TypeDefs) -> Any:
    """A missing value or the bare one, or the Option in JSON's form or as text."""
    if item is None or (isinstance(item, dict) and len(item) == 1 and {"None", "Some"} & item.keys()):
        return from_json(item, type, typedefs)
    if isinstance(item, str) and not is_optional_string(type):
        try:
            return cell_reader(type, typedefs)(item)
        except ValueError:
            pass
    return some_maker(type, typedefs)(from_plain(item, type.args[0], typedefs))


def _whole(item: Any) -> Any:
    """The integer that a whole float or decimal is."""
    if isinstance(item, float) and item.is_integer():
        return int(item)
    if not isinstance(item, int | float):
        from decimal import Decimal

        if isinstance(item, Decimal) and item.is_finite() and item == item.to_integral_value():
            return int(item)
    return item


def is_optional_string(type: Type) -> TypeGuard[User]:
    """Whether a table's text is the bare value of an Option, and not the text of the Option."""
    return is_option(type) and type.args[0] == String()
