"""JSON to values. `tojson.py` describes the form.

A struct may also be an array of its fields, and a present Option `{"Some": …}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from .. import values
from ..syntax.digits import to_float, to_int, whole_number
from ..types import (
    BigInt,
    Bit,
    Bool,
    Constructor,
    Float,
    FunctionType,
    JsonField,
    KeyOf,
    Opaque,
    Signed,
    String,
    Tuple,
    Type,
    User,
    unwrapped,
)
from . import local_name
from .anyjson import JSON_VALUE, from_any_json
from .cells import WRITTEN_WORDS, read_integer
from .closures import no_written_form
from .flatfields import ABSENT, shares_of
from .numbers import brief
from .shapes import Shape, collection_of, forms_of, is_option, shape_of
from .structs import TypeDefs
from .textforms import from_written, written


def decode_json(text: str) -> Any:
    """The JSON of a text, with integers of any length. Raises ValueError."""
    try:
        if text.startswith("\ufeff"):
            return json.loads(text)  # which says what is wrong
        return STRICT.decode(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, whose names must be different."""
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(
            f"{next(json.dumps(n) for n in names if names.count(n) > 1)} is there twice in an object"
        )
    return made


_SHOWN = 60  # characters of a text in a message
_INTEGER = re.compile(r"-?[0-9]+")


class _Strict(json.JSONDecoder):
    def __init__(self) -> None:
        super().__init__(parse_int=to_int, parse_float=to_float, object_pairs_hook=_object)

    def __reduce__(self) -> tuple[type[_Strict], tuple[()]]:
        """Executors make one of their own."""
        return _Strict, ()


STRICT = _Strict()
"""Reads integers of any length, and no object that has a name twice."""


def from_json(data: Any, type: Type, typedefs: TypeDefs) -> Any:
    """The value of `type` for decoded JSON. Raises ValueError."""
    match type:
        case Float() if isinstance(data, str) and data in WRITTEN_WORDS:
            return values.check(float(data), type, typedefs)
        case BigInt() | Bit() | Signed() if (
            isinstance(data, str) and _is_wide(type) and _INTEGER.fullmatch(data)
        ):
            return read_integer(data, type)
        case BigInt() | Bit() | Signed() if isinstance(data, float):
            return values.check(whole_number(data), type, typedefs)
        case Tuple():
            items = _array(data, type)
            if len(items) != len(type.items):
                raise ValueError(f"expected {type}, found an array of {len(items)}")
            return tuple(from_json(item, of, typedefs) for item, of in zip(items, type.items, strict=True))
        case User():
            return _user_from_json(data, type, typedefs)
        case FunctionType():
            raise ValueError(no_written_form(type))
        case BigInt() | Bit() | Bool() | Float() | Signed() | String() if data is None:
            raise ValueError(f"expected {type}, found null")
    collection = collection_of(type)
    if collection is None:
        return values.check(data, type, typedefs)
    if collection.kind == "Map" and isinstance(data, dict):
        assert isinstance(collection.element, Tuple)
        data = [[_named_key(key, collection.element.items[0]), value] for key, value in data.items()]
    return collection.build([from_json(item, collection.element, typedefs) for item in _array(data, type)])


def _named_key(name: str, type: Type) -> Any:
    """The key of a map that JSON writes as the name in an object: a number or a truth value as its text."""
    match unwrapped(type):
        case BigInt() | Bit() | Signed() if _INTEGER.fullmatch(name):
            return to_int(name)
        case Bool() if name in ("false", "true"):
            return name == "true"
    return name


def _is_wide(type: BigInt | Bit | Signed) -> bool:
    return isinstance(type, BigInt) or type.width > 64


def _array(data: Any, type: Type) -> list[Any]:
    if not isinstance(data, list):
        raise ValueError(f"expected {type}, found {_describe(data)}")
    return data


def _user_from_json(data: Any, type: User, typedefs: TypeDefs) -> Any:
    shape = shape_of(type, typedefs)
    if type.name == "json::JsonWrapper" and isinstance(data, str):
        return shape.make(shape.constructors[0])(from_json(decode_json(data), type.args[0], typedefs))
    form = shape.typedef.text
    text = None if form is None else written(data, form)
    if form is not None and text is not None:
        return from_written(text, form, type)
    if shape.typedef.tag == "":
        return _untagged_from_json(data, shape, type, typedefs)
    data = _untied(data, shape)
    if not shape.is_union:
        (only,) = shape.constructors
        if (
            isinstance(data, dict)
            and len(data) == 1
            and next(iter(data)) in (only.name, local_name(only.name))
        ):
            inner = next(iter(data.values()))
            if next(iter(data)) not in [form.name for form in forms_of(only)]:
                data = inner
        return _constructor_from_json(data, shape, only, typedefs)
    bare_string = is_option(type) and type.args[0] == String()
    if isinstance(data, str) and not bare_string:
        chosen = shape.constructor(data)
        if chosen is not None and not chosen.fields:
            return shape.make(chosen)()
    if isinstance(data, dict) and len(data) == 1:
        ((name, inner),) = data.items()
        named = shape.constructor(name)
        if named is not None:
            return _constructor_from_json(inner, shape, named, typedefs)
    if type == JSON_VALUE:
        return from_any_json(data)
    if is_option(type):
        none, some = shape.constructors
        if data is None:
            return shape.make(none)()
        if isinstance(data, dict) and list(data) == ["some"]:
            with suppress(ValueError):
                return shape.make(some)(from_json(data["some"], type.args[0], typedefs))
        return shape.make(some)(from_json(data, type.args[0], typedefs))
    known = ", ".join(local_name(each.name) for each in shape.constructors)
    raise ValueError(f"expected {type}, as an object with one of {known}; found {_describe(data)}")


def _untagged_from_json(data: Any, shape: Shape, type: User, typedefs: TypeDefs) -> Any:
    """The value of the first constructor whose fields the data are."""
    reasons = []
    for each in shape.constructors:
        try:
            return _constructor_from_json({} if data is None else data, shape, each, typedefs)
        except ValueError as error:
            reasons.append(str(error))
    raise ValueError(f"expected {type}: {'; '.join(reasons)}")


def _untied(data: Any, shape: Shape) -> Any:
    """An object with a tag as the object of the others under the constructor's name."""
    tag = shape.typedef.tag
    if tag is None or not isinstance(data, dict) or not isinstance(data.get(tag), str):
        return data
    return {data[tag]: {key: value for key, value in data.items() if key != tag}}


def _constructor_from_json(data: Any, shape: Shape, chosen: Constructor, typedefs: TypeDefs) -> Any:
    return shape.make(chosen)(*fields_from_json(data, chosen.fields, chosen.name, typedefs, chosen.json))


def fields_from_json(
    data: Any,
    fields: tuple[tuple[str, Type], ...],
    name: str,
    typedefs: TypeDefs,
    forms: Sequence[JsonField] = (),
) -> tuple[Any, ...]:
    """Typed fields from an object by name, an array by position, or, of one field, the bare value."""
    names = [form.name for form in forms] or [field for field, _ in fields]
    if isinstance(data, dict):
        optional = {form.name for form in forms if form.optional or form.flatten}
        optional |= {each for each, (_, of) in zip(names, fields, strict=True) if is_option(of)}
        given, others = shares_of(fields, forms or [JsonField(each) for each in names], typedefs)(data)
        if unknown := next(iter(others), None):
            raise ValueError(f"{name} has no field {unknown!r}; it has {', '.join(names) or 'none'}")
        if missing := next((each for each in names if each not in data and each not in optional), None):
            raise ValueError(f"{name}: missing field {missing!r}")
        data = given
    elif any(form.flatten for form in forms):
        raise ValueError(f"{name}: expected an object, found {_describe(data)}")
    elif not isinstance(data, list) and len(fields) == 1:
        data = [data]
    if not isinstance(data, list) or len(data) != len(fields):
        raise ValueError(f"{name}: expected {len(fields)} fields, found {_describe(data)}")
    return tuple(
        field_from_json(item, form, of, typedefs)
        for item, form, (_, of) in zip(data, forms or map(JsonField, names), fields, strict=True)
    )


def field_from_json(data: Any, form: JsonField, type: Type, typedefs: TypeDefs) -> Any:
    """The value of a field. Raises ValueError."""
    try:
        if data is ABSENT:
            return values.default_value(type, typedefs)
        if form.flatten:
            return _flattened(data, type, typedefs)
        if form.nested and isinstance(data, str):
            return from_json(decode_json(data), type, typedefs)
        if form.raw and not isinstance(data, str | None):
            data = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        if form.key is not None and isinstance(data, list):
            return _keyed(data, form.key, type, typedefs)
        return from_json(data, type, typedefs)
    except ValueError as error:
        raise ValueError(f"{form.name}: {error}") from None


def _flattened(part: dict[str, Any], type: Type, typedefs: TypeDefs) -> Any:
    """The value of a flattened field, from its part of the object around it."""
    if is_option(type):
        shape = shape_of(type, typedefs)
        none, some = shape.constructors
        return shape.make(some)(_flattened(part, type.args[0], typedefs)) if part else shape.make(none)()
    if isinstance(type, User) and type.name == "json::JsonValue":
        return from_json({"JsonObject": {"o": part}}, type, typedefs)
    if list(part.values()) == [None] and isinstance(type, User):
        ((name, _),) = part.items()
        chosen = shape_of(type, typedefs).constructor(name)
        if chosen is not None and not chosen.fields:
            return from_json(name, type, typedefs)
    return from_json(part, type, typedefs)


def _keyed(items: list[Any], key: KeyOf, type: Type, typedefs: TypeDefs) -> Any:
    """A map from the array of its values."""
    assert isinstance(type, Opaque)
    held = [from_json(item, type.args[1], typedefs) for item in items]
    try:
        return values.Map([(key(value), value) for value in held])
    except values.Fault as fault:
        raise ValueError(f"{key.name}: {fault.message}") from None


def _describe(data: Any) -> str:
    match data:
        case None:
            return "null"
        case dict():
            return "an object"
        case list():
            return f"an array of {len(data)}"
        case str():
            return f'"{data}"' if len(data) <= _SHOWN else f'"{data[:_SHOWN]}…"'
        case bool() | float():
            return str(data).lower()
    return brief(data)
