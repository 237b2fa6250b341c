"""Values to JSON.

A struct is an object of its fields; a constructor of a union is `{"Name": {fields}}`, or just `"Name"` when
it has no fields; an Option is `null` or the value in it, or `{"some": …}` if that would be something else.
Tuples, Vec and Set are arrays. A Map with string keys is an object, any other Map an array of pairs. A
JsonValue is the JSON that it stands for. Infinities, NaN and integers beyond 64 bits, which other readers of
JSON change, are strings, and so are the values of types that are written as text. Attributes of the program
can rename a field, let it be absent, or make a map the array of its values. They can rename a constructor,
write its name beside the fields, or leave its name out.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final

from .. import values
from ..types import BigInt, Bit, Constructor, Float, JsonField, Opaque, Signed, String, Tuple, Type, User
from . import local_name
from .anyjson import JSON_VALUE, to_any_json
from .numbers import decimal, shortest
from .shapes import OPTION_WORDS, collection_of, forms_of, is_option, shape_of, variant
from .structs import TypeDefs

EXACT_INTEGERS: Final = range(-(1 << 63), 1 << 64)
"""The integers that readers of JSON keep."""


def json_text(data: Any) -> str:
    """The JSON text of what `to_json` returns."""
    return json.dumps(data, ensure_ascii=False)


def to_json(value: Any, type: Type, typedefs: TypeDefs) -> Any:
    """The objects that `json_text` writes for a value. `from_json` reads them back."""
    match type:
        case Float(width) if math.isfinite(value):
            return value if width == 64 else float(shortest(value, width))
        case Float(width):
            return shortest(value, width)
        case BigInt() | Bit() | Signed():
            return value if value in EXACT_INTEGERS else decimal(value)
        case Tuple():
            return [to_json(item, of, typedefs) for item, of in zip(value, type.items, strict=True)]
        case User():
            return _user_to_json(value, type, typedefs)
        case Opaque(name, (_, of)) if local_name(name) == "Group":
            return [to_json(item, of, typedefs) for item in value.values]
    collection = collection_of(type)
    if collection is not None:
        items = [to_json(item, collection.element, typedefs) for item in value]
        keyed = collection.kind == "Map" and isinstance(collection.element, Tuple)
        return dict(items) if keyed and collection.element.items[0] == String() else items  # type: ignore[union-attr]
    return value if isinstance(value, bool | int | str) else values.show(value, type, typedefs)


def _user_to_json(value: Any, type: User, typedefs: TypeDefs) -> Any:
    if type == JSON_VALUE:
        return to_any_json(value)
    shape = shape_of(type, typedefs)
    text = None if shape.typedef.text is None else shape.typedef.text.write(value)
    if text is not None:
        return text
    chosen, fields = values.taken_apart(value, type, typedefs)
    if is_option(type):
        return _present(to_json(fields[0], type.args[0], typedefs), type) if fields else None
    name, tag = variant(chosen), shape.typedef.tag
    if tag:
        return {tag: name} | _fields_to_json(fields, chosen, typedefs)
    if not shape.is_union or (tag == "" and fields):
        return _fields_to_json(fields, chosen, typedefs)
    if not fields:
        return name if tag is None else None
    return {name: _fields_to_json(fields, chosen, typedefs)}


def _present(data: Any, type: User) -> Any:
    """The data of a present Option: those of its value, in an object if they read as another Option."""
    taken = data is None or (data == "None" and type.args[0] != String())
    if isinstance(data, dict) and len(data) == 1 and next(iter(data)) in OPTION_WORDS:
        taken = True
    return {"some": data} if taken else data


def _fields_to_json(fields: Any, constructor: Constructor, typedefs: TypeDefs) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for field, form, (_, type) in zip(fields, forms_of(constructor), constructor.fields, strict=True):
        made |= members(field, form, type, typedefs)
    return made


def members(value: Any, form: JsonField, type: Type, typedefs: TypeDefs) -> dict[str, Any]:
    """The entries that a field adds to the object of its struct: itself, or its own fields. Raises
    ValueError."""
    if not form.flatten:
        return {form.name: field_to_json(value, form, type, typedefs)}
    if is_option(type):
        return members(value[1], form, type.args[0], typedefs) if value[0] else {}
    data = to_json(value, type, typedefs)
    if isinstance(data, str) and isinstance(type, User):
        return {data: None}
    if not isinstance(data, dict | None):
        raise ValueError(f"{values.show(value, type, typedefs)} has no fields that could stand among others")
    return data or {}


def field_to_json(value: Any, form: JsonField, type: Type, typedefs: TypeDefs) -> Any:
    """The objects that `json_text` writes for a field, in its form."""
    if form.key is not None and isinstance(type, Opaque):
        return [to_json(held, type.args[1], typedefs) for _, held in value]
    data = to_json(value, type, typedefs)
    return json_text(data) if form.nested else data
